//! A session to read. Bounded: long texts are cut, and of a long session the last
//! part is shown; both say so, and `export` has the whole.

use std::fmt::Write as _;

use host_journal::{CallStatus, TerminateReason};
use host_message::Display;
use host_text::{clip, counted, visible};

use super::list::local;
use crate::list::end_word;
use crate::steps::steps;
use crate::transcript::{Call, Entry, Message, Transcript, What};

/// Maximum number of entries that are shown: the last ones.
const ENTRIES: usize = 300;

/// The longest message, in characters.
const MESSAGE: usize = 4_000;

/// The longest outcome of a call, in characters.
const OUTCOME: usize = 600;

/// The longest difference, in characters.
const DIFFERENCE: usize = 2_000;

/// The page.
pub fn text(transcript: &Transcript) -> String {
    let Transcript { id, began, workspace, model, usage, torn_bytes, entries, .. } = transcript;
    let mut text = format!("session {id}\n");
    // A string takes everything, here and below.
    for (name, value) in [("workspace", workspace.as_deref()), ("model", model.as_deref())] {
        let _ = writeln!(text, "{name:<9} {}", value.unwrap_or("-"));
    }
    let began = began.map_or_else(|| "-".to_owned(), local);
    let _ = writeln!(text, "began     {began}\ntokens    {} in, {} out", usage.input, usage.output);
    let left_out = entries.len().saturating_sub(ENTRIES);
    if left_out > 0 {
        let _ = writeln!(text, "\n… {left_out} earlier entries are not shown; to see all: host session export {id}");
    }
    for entry in entries.iter().skip(left_out) {
        text.push('\n');
        one(&mut text, entry);
    }
    if *torn_bytes > 0 {
        let _ = writeln!(text, "\nthe last entry was cut off; its {} are ignored", counted(torn_bytes, "byte"));
    }
    visible(&text).into_owned()
}

fn one(text: &mut String, Entry { time, agent, what }: &Entry) {
    let agent = agent.as_deref().unwrap_or_default();
    let when = local(*time);
    // A string takes everything.
    let _ = match what {
        What::RunStarted { name, model } => writeln!(text, "── {agent}: a run of {name} with {model}, {when}"),
        What::Resumed { model } => writeln!(text, "── resumed with {model}, {when}"),
        What::User(said) => {
            lines(text, "> ", &message(said));
            Ok(())
        }
        What::Model(said) => {
            if !said.thoughts.is_empty() {
                lines(text, "~ ", &clip(&said.thoughts, OUTCOME));
            }
            lines(text, "", &message(said));
            Ok(())
        }
        What::Call(call) => {
            shown_call(text, call);
            Ok(())
        }
        What::CommandLine { command, line, .. } => writeln!(text, "── {command} ran {line}"),
        What::HistoryReplaced { messages } => {
            let messages = counted(messages.len(), "message");
            writeln!(text, "── {agent}: the conversation so far was replaced by {messages}")
        }
        What::TakenBack { messages } => {
            let left = counted(messages, "message");
            writeln!(text, "── {agent}: the last prompt was removed; {left} remain")
        }
        What::ModelChosen { model } => writeln!(text, "── model: {model}"),
        What::RecoveryStarted { reason } => {
            writeln!(text, "── {agent}: {}; the model was asked to wrap up", limit(*reason))
        }
        What::Withdrawn => {
            writeln!(text, "── {agent}: this request was cancelled or failed; it is not part of the conversation")
        }
        What::Error { message } => writeln!(text, "error: {}", clip(message, OUTCOME)),
        What::RunEnded { terminate_reason, turns, usage } => {
            let end = end_word(*terminate_reason);
            let turns = counted(turns, "turn");
            writeln!(text, "── {agent}: {end}, {turns}, {} tokens in, {} out, {when}", usage.input, usage.output)
        }
    };
}

fn message(said: &Message) -> String {
    let mut text = clip(&said.text, MESSAGE).into_owned();
    for kind in &said.data {
        let _ = write!(text, "\n[{kind}]");
    }
    text
}

fn shown_call(text: &mut String, call: &Call) {
    let mark = match call.outcome.as_ref().map(|outcome| outcome.status) {
        _ if call.failed() => "✗",
        Some(CallStatus::Success) => "✓",
        Some(CallStatus::Error { .. }) => "✗",
        Some(CallStatus::Cancelled | CallStatus::Interrupted) => "■",
        None => "●",
    };
    let named = [mark, &call.name, &call.title].join(" ");
    let made = if call.parent.is_some() { "  ↳ " } else { "" };
    let _ = writeln!(text, "{made}{} ({})", named.trim_end(), call.ending());
    let Some(outcome) = &call.outcome else { return };
    let difference = match &outcome.display {
        Some(Display::Difference { unified, .. }) => Some(unified),
        Some(Display::Summary(_) | Display::Checklist { .. }) | None => None,
    };
    // A change that was made speaks for itself; why one was not is in the response.
    let is_success = outcome.status == CallStatus::Success;
    if let (Some(Display::Checklist { items }), true) = (&outcome.display, is_success) {
        for step in steps(items) {
            lines(text, "  ", &format!("{} {}", step.mark(), step.text));
        }
    } else if difference.is_none() || !is_success {
        lines(text, "  ", &clip(&outcome.response, OUTCOME));
    }
    if let Some(unified) = difference {
        lines(text, "  ", &clip(unified, DIFFERENCE));
    }
    for kind in &outcome.data {
        let _ = writeln!(text, "  [{kind}]");
    }
}

fn limit(reason: TerminateReason) -> &'static str {
    match reason {
        TerminateReason::Timeout => "the time limit passed",
        TerminateReason::MaxTurns => "the turn limit was reached",
        TerminateReason::ErrorNoCompleteTaskCall => "a reply had no call",
        TerminateReason::Goal | TerminateReason::Aborted | TerminateReason::Error => "the run ended",
    }
}

fn lines(text: &mut String, before: &str, said: &str) {
    for line in said.trim_end().lines() {
        let _ = writeln!(text, "{before}{line}");
    }
}

//! A session as a document that reads well where Markdown is shown. Calls are folded away, the
//! changes that they made are not.

use std::fmt::{self, Write as _};

use host_journal::CallStatus;
use host_message::Display;
use host_text::{counted, fenced, inline_code, visible};

use super::list::local;
use crate::list::end_word;
use crate::transcript::{Call, Entry, Message, Transcript, What};

/// The document.
pub fn text(transcript: &Transcript) -> String {
    let Transcript { id, began, workspace, model, usage, torn_bytes, entries, .. } = transcript;
    // A string takes everything, here and below.
    let mut text = format!("# Session {id}\n\n");
    for (name, value) in [("Workspace", workspace), ("Model", model)] {
        if let Some(value) = value {
            let _ = writeln!(text, "- {name}: {}", inline_code(value));
        }
    }
    if let Some(began) = began {
        let _ = writeln!(text, "- Began: {}", local(*began));
    }
    let _ = writeln!(text, "- Tokens: {} in, {} out", usage.input, usage.output);
    for entry in entries {
        text.push('\n');
        one(&mut text, entry);
    }
    if *torn_bytes > 0 {
        let _ = writeln!(text, "\n*The last entry was cut off; its {} are ignored.*", counted(torn_bytes, "byte"));
    }
    visible(&text).into_owned()
}

fn one(text: &mut String, Entry { time, agent, what }: &Entry) {
    let agent = agent.as_deref().unwrap_or_default();
    let _ = match what {
        What::RunStarted { name, model } => {
            writeln!(
                text,
                "---\n\n*{}: a run of {} with {}, {}*",
                inline_code(agent),
                inline_code(name),
                inline_code(model),
                local(*time)
            )
        }
        What::Resumed { model } => writeln!(text, "---\n\n*Resumed with {}, {}*", inline_code(model), local(*time)),
        What::User(said) => of_user(text, said),
        What::Model(said) => of_model(text, said),
        What::Call(call) => {
            written_call(text, call);
            Ok(())
        }
        What::CommandLine { command, line, .. } => {
            writeln!(text, "*{} ran* {}", inline_code(command), inline_code(line))
        }
        What::HistoryReplaced { messages } => {
            let _ = writeln!(text, "*The conversation so far was replaced by {}:*", counted(messages.len(), "message"));
            for message in messages {
                let _ = writeln!(text, "\n{}", fenced("", &message.visible_text()));
            }
            Ok(())
        }
        What::TakenBack { messages } => {
            let left = counted(messages, "message");
            writeln!(text, "*The last prompt was removed with everything after it; {left} remain.*")
        }
        What::ModelChosen { model } => writeln!(text, "*Model: {}*", inline_code(model)),
        What::RecoveryStarted { reason } => {
            writeln!(text, "*Limit reached ({}); the model was asked to wrap up.*", end_word(*reason))
        }
        What::Withdrawn => {
            writeln!(text, "*This request was cancelled or failed; it is not part of the conversation.*")
        }
        What::Error { message } => writeln!(text, "**Error:**\n\n{}", fenced("", message)),
        What::RunEnded { terminate_reason, turns, usage } => {
            let end = end_word(*terminate_reason);
            let turns = counted(turns, "turn");
            writeln!(text, "*{}: {end}, {turns}, {} tokens in, {} out*", inline_code(agent), usage.input, usage.output)
        }
    };
}

fn of_user(text: &mut String, said: &Message) -> fmt::Result {
    writeln!(text, "## User\n")?;
    said.text.lines().try_for_each(|line| writeln!(text, "> {line}"))?;
    kinds(text, &said.data)
}

fn of_model(text: &mut String, Message { text: said, thoughts, data }: &Message) -> fmt::Result {
    writeln!(text, "## Model")?;
    if !thoughts.is_empty() {
        let thoughts = fenced("", thoughts);
        writeln!(text, "\n<details>\n<summary>Thoughts</summary>\n\n{thoughts}\n\n</details>")?;
    }
    if !said.is_empty() {
        writeln!(text, "\n{}", said.trim_end())?;
    }
    kinds(text, data)
}

fn written_call(text: &mut String, call: &Call) {
    let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    let name = escaped(&call.name);
    let title = if call.title.is_empty() { String::new() } else { format!(" {}", escaped(&call.title)) };
    let made = if call.parent.is_some() { "↳ " } else { "" };
    let _ = writeln!(text, "<details>\n<summary>{made}<code>{name}</code>{title} ({})</summary>\n", call.ending());
    let _ = writeln!(text, "{}", fenced("json", &arguments));
    let Some(outcome) = &call.outcome else {
        let _ = writeln!(text, "\n</details>");
        return;
    };
    let _ = writeln!(text, "\n{}", fenced("", &outcome.response));
    let _ = kinds(text, &outcome.data);
    let _ = writeln!(text, "\n</details>");
    if let Some(Display::Difference { path, unified }) = &outcome.display {
        let made = if outcome.status == CallStatus::Success { "" } else { " (proposed, not applied)" };
        let _ = writeln!(text, "\n{}{made}\n\n{}", inline_code(path), fenced("diff", unified));
    }
}

fn kinds(text: &mut String, data: &[String]) -> fmt::Result {
    data.iter().try_for_each(|kind| writeln!(text, "\n*[{}]*", inline_code(kind)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(['\n', '\r'], " ")
}

//! Messages about the events of a run, for every frontend.

use host_agent::CompressionStatus;
use host_journal::{CheckResult, Fact, HookResult};
use host_text::{clip, exact, visible_line};
use host_tool::HookEvent;

/// The longest reason of a hook that is shown, in characters.
const MAX_REASON: usize = 500;

/// What a user reads about a fact wherever it has no form of its own, in a line; `None` for most.
pub fn fact(fact: &Fact) -> Option<String> {
    match fact {
        Fact::HookEnded { event, hook: name, result, reason, message, .. } => {
            hook(*event, name, *result, reason, message.as_deref())
        }
        Fact::CheckEnded { command, result, reason, .. } => check(command, *result, reason),
        // Written out: of a new kind of fact every frontend shows what is said here.
        Fact::Session { .. }
        | Fact::Resumed { .. }
        | Fact::RunStarted { .. }
        | Fact::Content { .. }
        | Fact::HistoryReplaced { .. }
        | Fact::TakenBack { .. }
        | Fact::ModelChosen { .. }
        | Fact::Usage { .. }
        | Fact::RecoveryStarted { .. }
        | Fact::Withdrawn { .. }
        | Fact::Discarded { .. }
        | Fact::NestedCall { .. }
        | Fact::CallStarted { .. }
        | Fact::CallSettled { .. }
        | Fact::CommandLine { .. }
        | Fact::Error { .. }
        | Fact::RunEnded { .. } => None,
    }
}

/// A retry of a request: why, when, and which attempt it is.
pub fn again(reason: &str, wait_ms: u64, attempt: u32, attempts: u32) -> String {
    let when = match wait_ms {
        0 => "retrying".to_owned(),
        wait => format!("retrying in {}.{} s", wait / 1000, wait % 1000 / 100),
    };
    format!("{}; {when} (attempt {attempt} of {attempts})", visible_line(reason))
}

/// A switch to another model.
pub fn switched(model: &str, reason: &str) -> String {
    format!("`{}` answers from now on: {}", exact(model), visible_line(reason))
}

/// A compression of a long conversation.
pub fn compressed(status: CompressionStatus, before: u64, after: u64, reason: Option<&str>) -> String {
    let what = match status {
        CompressionStatus::Summarised => "its beginning was summarised",
        CompressionStatus::Shortened => "long tool outputs were cut",
        CompressionStatus::LeftOut => "its oldest messages were left out, since they did not fit the model's window",
        CompressionStatus::Inflated => "the model's summary was not shorter; nothing was changed",
        CompressionStatus::Empty => "the model's summary was empty; nothing was changed",
        CompressionStatus::Failed => "it could not be summarised",
        CompressionStatus::Nothing => "nothing to compact yet",
    };
    let why = reason.map(|reason| format!(": {}", visible_line(reason))).unwrap_or_default();
    let size = if after == before { format!("{before} tokens") } else { format!("{before} tokens, now {after}") };
    format!("the conversation is long (about {size}): {what}{why}")
}

/// What came of a hook that kept something from happening, changed something or failed, and what it wants to be read;
/// `None` of another one.
fn hook(event: HookEvent, hook: &str, result: HookResult, reason: &str, message: Option<&str>) -> Option<String> {
    let what = match result {
        HookResult::Asked => "asks for your approval",
        HookResult::Changed => "changed a call",
        HookResult::Denied if event == HookEvent::UserPromptSubmit => "denied the prompt",
        HookResult::Denied if matches!(event, HookEvent::Stop | HookEvent::SubagentStop) => "wants more to be done",
        HookResult::Denied if event == HookEvent::PostToolUse => "reports",
        HookResult::Denied => "denied it",
        HookResult::Stopped => "ended the run",
        HookResult::FailedClosed => "failed, which counts as a denial",
        HookResult::Failed => "failed",
        HookResult::Nothing | HookResult::Context | HookResult::Allowed => "",
    };
    let mut words = match (what, message) {
        ("", None) => return None,
        ("", Some(_)) => format!("hook `{hook}` ({})", event.name()),
        (what, _) => format!("hook `{hook}` ({}) {what}", event.name()),
    };
    if !what.is_empty() && !reason.is_empty() {
        words.push_str(&format!(": {}", visible_line(&clip(reason, MAX_REASON))));
    }
    if let Some(message) = message {
        words.push_str(&format!(": {}", visible_line(&clip(message, MAX_REASON))));
    }
    Some(words)
}

/// A check that did not pass.
fn check(command: &str, result: CheckResult, reason: &str) -> Option<String> {
    let failed = match result {
        CheckResult::Passed => return None,
        CheckResult::Failed => "failed",
        CheckResult::TimedOut => "did not end",
        CheckResult::NotStarted => "did not start",
    };
    Some(format!("check `{}` {failed}: {}", visible_line(&clip(command, MAX_REASON)), visible_line(reason)))
}

/// A check that runs.
pub fn checking(command: &str) -> String {
    format!("checking with `{}`", visible_line(&clip(command, MAX_REASON)))
}

/// A hook that takes long.
pub fn hook_waiting(event: HookEvent, hook: &str) -> String {
    format!("waiting for the hook `{hook}` ({})", event.name())
}

/// A loop of the model.
pub fn repetition(repeated: &str) -> String {
    format!("the model is repeating itself: {}", visible_line(repeated))
}

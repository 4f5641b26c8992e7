//! What a hook answered: by how it ended, and by the JSON that it printed.
//!
//! Exit code 2 denies, with standard error as the reason. With exit code 0, output that begins with `{` is an answer,
//! and has to be a valid one; other output is context after `SessionStart` and `UserPromptSubmit`, and ignored
//! elsewhere. Any other end is a failure. The shapes are Claude Code's and Gemini CLI's; a field that is known has to
//! have its type, and others are ignored.

use std::path::PathBuf;

use host_plugin::{HookEnd, HookPrinted};
use host_text::{clip, exact, one_line};
use host_tool::{HookDecision, HookEvent, MAX_HOOK_TEXT};
use serde_json::{Map, Value};

use super::names::Convention;

/// How much of standard error is part of a failure, in characters.
const MAX_ERRORS: usize = 500;

/// An answer, or a part of it.
type Object = Map<String, Value>;

/// What one hook said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) decision: Option<(HookDecision, String)>,
    /// The arguments in place of the call's, by the names of the convention.
    pub(super) arguments: Option<Object>,
    pub(super) context: Option<String>,
    /// What the model gets in place of the output.
    pub(super) output: Option<String>,
    /// Why the run must end.
    pub(super) stop: Option<String>,
    /// What the user should read.
    pub(super) message: Option<String>,
}

/// Why a hook failed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HookFailure {
    /// It ended with an error.
    #[error("it ended with exit code {code}{}", and_errors(.errors))]
    Code {
        /// The exit code.
        code: i32,
        /// What it printed on standard error.
        errors: String,
    },
    /// A signal ended it.
    #[error("it was ended by signal {signal}{}", and_errors(.errors))]
    Signal {
        /// The signal.
        signal: i32,
        /// What it printed on standard error.
        errors: String,
    },
    /// It took too long.
    #[error("it took too long")]
    TimedOut,
    /// It printed too much.
    #[error("it printed too much")]
    TooMuch,
    /// It cannot be started.
    #[error("it cannot be started: {0}")]
    NotStarted(String),
    /// Its answer is invalid.
    #[error("its answer is invalid: {}", one_line(&.0.to_string(), 200))]
    Answer(AnswerFault),
    /// The arguments in the answer of a component are invalid.
    #[error(transparent)]
    Arguments(ArgumentsFault),
    /// The component failed.
    #[error("{0}")]
    Component(String),
    /// One of its programs is not the one of the beginning.
    #[error("`{}` has changed since the session began; start a new one", exact(&.0.display().to_string()))]
    Changed(PathBuf),
    /// Its programs cannot be compared.
    #[error("{0}")]
    Unchecked(String),
}

/// Why the answer of a program is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AnswerFault {
    /// It is not a JSON object.
    #[error("{0}")]
    Json(String),
    /// There is no such decision.
    #[error("`{key}` is `{}`: there are `allow`, `ask` and `deny`", one_line(.text, 40))]
    Decision {
        /// The key.
        key: &'static str,
        /// The text.
        text: String,
    },
    /// A value is not text.
    #[error("`{0}` is not text")]
    NotText(&'static str),
    /// A value is no flag.
    #[error("`{0}` is neither `true` nor `false`")]
    NotAFlag(&'static str),
    /// A value is no object.
    #[error("`{0}` is not an object")]
    NotAnObject(&'static str),
}

/// Why the arguments in the answer of a component are invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentsFault {
    /// They are no object.
    #[error("its arguments are not a JSON object")]
    NotAnObject,
    /// They are not JSON.
    #[error("its arguments are not JSON: {0}")]
    NotJson(String),
}

/// What a hook printed on standard error, behind how it ended.
fn and_errors(errors: &str) -> String {
    match errors.trim() {
        "" => String::new(),
        errors => format!(": {}", one_line(&clip(errors, MAX_ERRORS), MAX_ERRORS)),
    }
}

/// Returns what a hook said by its end. The error says why it failed.
pub(super) fn of_program(
    convention: Convention,
    event: HookEvent,
    sent: &Object,
    end: &HookEnd,
    printed: &HookPrinted,
) -> Result<Said, HookFailure> {
    let errors = String::from_utf8_lossy(&printed.errors);
    let printed_errors = || errors.clone().into_owned();
    match end {
        HookEnd::Code(0) => {}
        HookEnd::Code(2) => return Ok(denied(convention, event, &errors)),
        HookEnd::Code(code) => return Err(HookFailure::Code { code: *code, errors: printed_errors() }),
        HookEnd::Signal(signal) => return Err(HookFailure::Signal { signal: *signal, errors: printed_errors() }),
        HookEnd::TimedOut => return Err(HookFailure::TimedOut),
        HookEnd::TooMuch => return Err(HookFailure::TooMuch),
        HookEnd::NotStarted(why) => return Err(HookFailure::NotStarted(why.to_string())),
    }
    let output = String::from_utf8_lossy(&printed.output);
    match output.trim() {
        "" => Ok(Said::default()),
        json if json.starts_with('{') => {
            let answer = serde_json::from_str::<Object>(json).map_err(|error| AnswerFault::Json(error.to_string()));
            let said = answer.and_then(|answer| parse(convention, event, sent, &answer));
            said.map_err(HookFailure::Answer)
        }
        text if matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit) => {
            Ok(Said { context: Some(text.to_owned()), ..Said::default() })
        }
        _ => Ok(Said::default()),
    }
}

/// What a hook said that denies.
fn denied(convention: Convention, event: HookEvent, reason: &str) -> Said {
    let reason = clip(reason.trim(), MAX_HOOK_TEXT).into_owned();
    match (convention, event) {
        // There it hides the output of the call.
        (Convention::Gemini, HookEvent::PostToolUse) => Said { output: Some(reason), ..Said::default() },
        _ => Said { decision: Some((HookDecision::Deny, reason)), ..Said::default() },
    }
}

/// Reads an answer.
pub(super) fn parse(
    convention: Convention,
    event: HookEvent,
    sent: &Object,
    answer: &Object,
) -> Result<Said, AnswerFault> {
    let empty = Object::new();
    let specific = object(answer, "hookSpecificOutput")?.unwrap_or(&empty);
    let mut said = Said { message: text(answer, "systemMessage")?, ..Said::default() };
    if flag(answer, "continue")? == Some(false) {
        said.stop = Some(text(answer, "stopReason")?.or(text(answer, "reason")?).unwrap_or_default());
    }
    flag(answer, "suppressOutput")?;
    let of_all = decision(answer, "decision")?.zip(Some(text(answer, "reason")?.unwrap_or_default()));
    said.context = text(specific, "additionalContext")?;
    match event {
        HookEvent::PreToolUse => {
            let reason = text(specific, "permissionDecisionReason")?.unwrap_or_default();
            said.decision = decision(specific, "permissionDecision")?.zip(Some(reason)).or(of_all);
            said.arguments = match (object(specific, "updatedInput")?, object(specific, "tool_input")?) {
                (Some(whole), _) => Some(whole.clone()),
                // There it is merged with the arguments of the call.
                (None, Some(part)) => Some(sent.clone().into_iter().chain(part.clone()).collect()),
                (None, None) => None,
            };
        }
        HookEvent::PermissionRequest => {
            let own = object(specific, "decision")?.unwrap_or(&empty);
            let reason = text(own, "message")?.unwrap_or_default();
            if flag(own, "interrupt")? == Some(true) {
                said.stop = Some(reason.clone());
            }
            said.decision = decision(own, "behavior")?.zip(Some(reason)).or(of_all);
            said.arguments = object(own, "updatedInput")?.cloned();
        }
        HookEvent::PostToolUse => {
            said.output = text(specific, "tool_output")?;
            match of_all {
                Some((HookDecision::Deny, reason)) => {
                    let denied = denied(convention, event, &reason);
                    said.decision = denied.decision;
                    said.output = denied.output.or(said.output);
                }
                Some((HookDecision::Allow | HookDecision::Ask, _)) | None => {}
            }
        }
        HookEvent::UserPromptSubmit | HookEvent::Stop | HookEvent::SubagentStop | HookEvent::PreCompact => {
            said.decision = of_all.filter(|(decision, _)| *decision == HookDecision::Deny);
        }
        // Nothing can be kept from happening.
        HookEvent::SessionStart | HookEvent::SessionEnd | HookEvent::Notification => said.stop = None,
    }
    Ok(said)
}

fn decision(answer: &Object, key: &'static str) -> Result<Option<HookDecision>, AnswerFault> {
    match text(answer, key)?.as_deref() {
        None => Ok(None),
        Some("allow" | "approve") => Ok(Some(HookDecision::Allow)),
        Some("ask") => Ok(Some(HookDecision::Ask)),
        Some("deny" | "block") => Ok(Some(HookDecision::Deny)),
        Some(other) => Err(AnswerFault::Decision { key, text: other.to_owned() }),
    }
}

fn text(answer: &Object, key: &'static str) -> Result<Option<String>, AnswerFault> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(AnswerFault::NotText(key)),
    }
}

fn flag(answer: &Object, key: &'static str) -> Result<Option<bool>, AnswerFault> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(AnswerFault::NotAFlag(key)),
    }
}

fn object<'a>(answer: &'a Object, key: &'static str) -> Result<Option<&'a Object>, AnswerFault> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(AnswerFault::NotAnObject(key)),
    }
}

#[cfg(test)]
mod tests;

//! Calls that the model made before in this conversation, word for word: what it has read is not sent again, and what
//! failed in the same way is said to.
//!
//! Promises: a result is left out only if the same text is still in the conversation, and was returned by a call of the
//! same tool with the same arguments. So compression, which takes texts away, brings them back with the next call.
//!
//! Deliberately not here: rounds of calls without progress, which end a run (`loops`).

use std::collections::HashMap;
use std::sync::Arc;

use host_message::{CallId, Content, FunctionCall, Part, PartData, ResponseBody};
use host_tool::{CallFailure, FailureKind, Outcome, Tool};

/// The shortest text that is left out. Of less than this the note would save nothing.
const MIN_TEXT: usize = 400;

/// The note in place of a text that the conversation has.
const SAME: &str = "Nothing has changed: the result is the same, to the letter, as that of your earlier call with these \
                    arguments, which is above in this conversation.";

/// The note behind a failure that the model has seen before.
const FAILED_AGAIN: &str = "This call has failed in the same way before. Do not make it a third time: look at what is \
                            there now, for instance by reading the file again, and change the call.";

/// How a call ended, as far as a second one like it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It looked at something, and changed nothing.
    Read,
    /// What it is about is not as the model thinks.
    Stale,
    /// In another way, which says nothing about a second call.
    Otherwise,
}

impl Ended {
    /// How the call of this tool ended.
    pub(super) fn of(outcome: &Outcome, tool: Option<&Arc<dyn Tool>>) -> Self {
        match outcome {
            Outcome::Success(_) if tool.is_some_and(|tool| tool.spec().annotations.read_only) => Self::Read,
            Outcome::Error(CallFailure { kind: FailureKind::Conflict | FailureKind::NotFound, .. }) => Self::Stale,
            Outcome::Success(_) | Outcome::Error(_) | Outcome::Cancelled { .. } => Self::Otherwise,
        }
    }
}

/// What calls of one reply returned when they were made before.
#[derive(Debug, Default)]
pub(super) struct EarlierResults(HashMap<CallId, ResponseBody>);

impl EarlierResults {
    /// Finds for each of the calls its last full result in the conversation, if it was made before.
    pub(super) fn of(calls: &[FunctionCall], conversation: &[Content]) -> Self {
        let mut found = HashMap::new();
        for (asked, answered) in conversation.iter().zip(conversation.iter().skip(1)) {
            for earlier in asked.function_calls() {
                for call in calls.iter().filter(|call| call.name == earlier.name && call.arguments == earlier.arguments)
                {
                    let body = answered.parts.iter().find_map(|part| match &part.data {
                        PartData::FunctionResponse(response) if response.id == earlier.id => Some(&response.body),
                        _ => None,
                    });
                    match body {
                        Some(ResponseBody::Output(text)) if text == SAME => {}
                        Some(body) => drop(found.insert(call.id.clone(), body.clone())),
                        None => {}
                    }
                }
            }
        }
        Self(found)
    }

    /// Puts a note into the place of a result that the conversation has, or behind a failure that it has.
    pub(super) fn shorten(&self, id: &CallId, ended: Ended, parts: &mut [Part]) {
        let Some(before) = self.0.get(id) else { return };
        // Data has no text to compare, and is sent again.
        let is_text = parts.len() == 1;
        let Some(PartData::FunctionResponse(response)) = parts.first_mut().map(|part| &mut part.data) else { return };
        match (&mut response.body, before) {
            (ResponseBody::Output(now), ResponseBody::Output(before))
                if ended == Ended::Read && is_text && now.len() >= MIN_TEXT && now == before =>
            {
                *now = SAME.to_owned();
            }
            (ResponseBody::Error(now), ResponseBody::Error(before)) if ended == Ended::Stale => {
                let first = before.strip_suffix(FAILED_AGAIN).map_or(before.as_str(), str::trim_end);
                if now == first {
                    now.push_str("\n\n");
                    now.push_str(FAILED_AGAIN);
                }
            }
            (ResponseBody::Output(_) | ResponseBody::Error(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use host_message::{Role, ToolName};
    use serde_json::{Map, Value};

    use super::*;

    fn call(id: &str, path: &str) -> FunctionCall {
        let arguments = Map::from_iter([("path".to_owned(), Value::from(path))]);
        FunctionCall::new(CallId::new(id), ToolName::new("read_file"), arguments)
    }

    fn exchange(call: &FunctionCall, body: ResponseBody) -> [Content; 2] {
        let asked = Content { role: Role::Model, parts: vec![PartData::FunctionCall(call.clone()).into()] };
        let answered = Content { role: Role::User, parts: vec![PartData::FunctionResponse(call.respond(body)).into()] };
        [asked, answered]
    }

    /// What the model gets for a call of `path` that returns `now`, after this conversation.
    fn told(conversation: &[[Content; 2]], path: &str, ended: Ended, now: ResponseBody) -> ResponseBody {
        let asked = call("now", path);
        let repeated = EarlierResults::of(std::slice::from_ref(&asked), &conversation.concat());
        let mut parts = vec![PartData::FunctionResponse(asked.respond(now)).into()];
        repeated.shorten(&asked.id, ended, &mut parts);
        match parts.pop().map(|part: Part| part.data) {
            Some(PartData::FunctionResponse(response)) => response.body,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn repeated_reading_of_an_unchanged_file_is_answered_in_one_line() {
        let text = |word: &str| ResponseBody::Output(word.repeat(MIN_TEXT));
        let before = [exchange(&call("1", "a"), text("x"))];
        assert_eq!(told(&before, "a", Ended::Read, text("x")), ResponseBody::Output(SAME.to_owned()));
        // A third time, too: what counts is the text.
        let twice = [before[0].clone(), exchange(&call("2", "a"), ResponseBody::Output(SAME.to_owned()))];
        assert_eq!(told(&twice, "a", Ended::Read, text("x")), ResponseBody::Output(SAME.to_owned()));
        // It changed in between, and changed back: the last text that the model saw is another one.
        let back = [before[0].clone(), exchange(&call("2", "a"), text("y"))];
        for (conversation, path, ended, now) in [
            (&before[..], "a", Ended::Read, text("y")),
            (&before[..], "b", Ended::Read, text("x")),
            (&before[..], "a", Ended::Otherwise, text("x")),
            (&back[..], "a", Ended::Read, text("x")),
            // Compressed away.
            (&twice[1..], "a", Ended::Read, text("x")),
            (&[][..], "a", Ended::Read, text("x")),
        ] {
            assert_eq!(told(conversation, path, ended, now.clone()), now, "{path}");
        }
        let short = ResponseBody::Output("x".to_owned());
        assert_eq!(told(&[exchange(&call("1", "a"), short.clone())], "a", Ended::Read, short.clone()), short);
    }

    #[test]
    fn failure_that_is_repeated_is_said_to_be() {
        let failed = |why: &str| ResponseBody::Error(why.to_owned());
        let again = failed(&format!("not there\n\n{FAILED_AGAIN}"));
        let before = [exchange(&call("1", "a"), failed("not there"))];
        assert_eq!(told(&before, "a", Ended::Stale, failed("not there")), again);
        assert_eq!(told(&[exchange(&call("1", "a"), again.clone())], "a", Ended::Stale, failed("not there")), again);
        assert_eq!(told(&before, "a", Ended::Stale, failed("denied")), failed("denied"));
        assert_eq!(told(&before, "b", Ended::Stale, failed("not there")), failed("not there"));
        // A denial, say: reading the file again changes nothing about it.
        assert_eq!(told(&before, "a", Ended::Otherwise, failed("not there")), failed("not there"));
    }
}

//! Pairs the calls of a session with their ends, each by its agent and its id: the one reader that does.
//!
//! Ids are unique in an agent's conversation, and two agents may use the same one. Only calls that are open are kept,
//! so that a long session with large outputs can be read through.
//!
//! Deliberately not here: whether a log makes sense as a conversation ([`Recorded`](crate::Recorded)).

use std::collections::HashMap;
use std::sync::Arc;

use host_message::{AgentId, CallId, FunctionCall, PromptId};
use jiff::Timestamp;

use crate::{CallEnd, Fact, Logged};

/// A call of a session.
#[derive(Clone, Debug)]
pub struct LoggedCall {
    /// Its number in the session, from 0, in the order in which calls were asked for.
    pub number: usize,
    /// The request whose reply asked for it.
    pub prompt: PromptId,
    /// The call that made it; `None` for one of the model's.
    pub parent: Option<CallId>,
    /// The call as the model wrote it.
    pub call: FunctionCall,
    /// When it began, or was asked for if it did not begin.
    pub time: Timestamp,
    /// Why it may run, a line each; empty if it did not begin.
    pub because: Vec<String>,
    /// How it ended; `None` if it has not.
    pub end: Option<Arc<CallEnd>>,
}

/// The calls that are open, while the facts of a session are read.
#[derive(Debug, Default)]
pub struct Calls {
    open: HashMap<(AgentId, CallId), LoggedCall>,
    asked: usize,
}

impl Calls {
    /// Takes in the next fact, and returns the call that ended with it.
    pub fn take_in(&mut self, Logged { time, fact }: &Logged) -> Option<LoggedCall> {
        if let Fact::Content { prompt, content } = fact {
            for call in content.function_calls() {
                let (number, end) = (self.asked, None);
                self.asked += 1;
                let (time, prompt, because) = (*time, prompt.clone(), Vec::new());
                // By agent and id: two agents may use one id.
                let key = (prompt.agent.clone(), call.id.clone());
                let (call, parent) = (call.clone(), None);
                self.open.insert(key, LoggedCall { number, prompt, parent, call, time, because, end });
            }
        }
        if let Fact::NestedCall { prompt, parent, call } = fact {
            let number = self.asked;
            self.asked += 1;
            let (key, parent) = ((prompt.agent.clone(), call.id.clone()), Some(parent.clone()));
            let (prompt, call) = (prompt.clone(), FunctionCall::clone(call));
            let (because, end) = (Vec::new(), None);
            self.open.insert(key, LoggedCall { number, prompt, parent, call, time: *time, because, end });
        }
        if let Fact::CallStarted { prompt, call_id, because, .. } = fact {
            // A call that no message has is passed over here; whether a log makes sense is decided elsewhere.
            let call = self.open.get_mut(&(prompt.agent.clone(), call_id.clone()))?;
            // When it began, and not when the model asked for it: between the two the user may have been asked.
            call.time = *time;
            call.because.clone_from(because);
        }
        let Fact::CallSettled { prompt, call_id, end } = fact else { return None };
        let call = self.open.remove(&(prompt.agent.clone(), call_id.clone()))?;
        Some(LoggedCall { end: Some(Arc::clone(end)), ..call })
    }

    /// Returns the calls without an end, in the order in which they were asked for.
    pub fn into_open(self) -> Vec<LoggedCall> {
        let mut open: Vec<LoggedCall> = self.open.into_values().collect();
        open.sort_by_key(|call| call.number);
        open
    }
}

#[cfg(test)]
mod tests {
    use host_message::{Content, Part, PartData, Role, ToolName};

    use super::*;
    use crate::CallStatus;

    fn logged(second: i64, fact: Fact) -> Logged {
        Logged { time: Timestamp::from_second(second).expect("a time"), fact }
    }

    fn prompt(agent: &str) -> PromptId {
        PromptId { agent: AgentId::new(agent), turn: 0 }
    }

    fn asks(agent: &str, ids: &[&str]) -> Fact {
        let call = |id: &&str| {
            Part::from(PartData::FunctionCall(FunctionCall::new(
                CallId::new(*id),
                ToolName::new("t"),
                Default::default(),
            )))
        };
        let content = Content { role: Role::Model, parts: ids.iter().map(call).collect() };
        Fact::Content { prompt: prompt(agent), content: Arc::new(content) }
    }

    fn ended(agent: &str, id: &str, status: CallStatus) -> Fact {
        let end = Arc::new(CallEnd::left_behind(status, Part::text("")));
        Fact::CallSettled { prompt: prompt(agent), call_id: CallId::new(id), end }
    }

    #[test]
    fn calls_of_two_agents_with_one_id_are_two() {
        let mut calls = Calls::default();
        assert!(calls.take_in(&logged(1, asks("main", &["a", "b"]))).is_none());
        assert!(calls.take_in(&logged(2, asks("main/x-1", &["a"]))).is_none());
        let (call_id, name, because) = (CallId::new("a"), ToolName::new("t"), vec!["granted".to_owned()]);
        let title = String::new();
        let started = Fact::CallStarted { prompt: prompt("main/x-1"), call_id, name, because, title };
        assert!(calls.take_in(&logged(3, started)).is_none());
        let of_main = calls.take_in(&logged(4, ended("main", "a", CallStatus::Cancelled))).expect("it ended");
        assert_eq!((of_main.number, of_main.time.as_second(), of_main.because.len()), (0, 1, 0));
        assert!(of_main.end.is_some_and(|end| end.status == CallStatus::Cancelled));
        let of_helper = calls.take_in(&logged(5, ended("main/x-1", "a", CallStatus::Success))).expect("it ended");
        assert_eq!((of_helper.number, of_helper.time.as_second(), of_helper.because.len()), (2, 3, 1));
        let nested = FunctionCall::new(CallId::new("b.1"), ToolName::new("t"), Default::default());
        let made = Fact::NestedCall { prompt: prompt("main"), parent: CallId::new("b"), call: Arc::new(nested) };
        assert!(calls.take_in(&logged(6, made)).is_none());
        let nested = calls.take_in(&logged(6, ended("main", "b.1", CallStatus::Success))).expect("it ended");
        assert_eq!((nested.number, nested.parent), (3, Some(CallId::new("b"))));
        assert!(calls.take_in(&logged(6, ended("main", "a", CallStatus::Success))).is_none(), "it had ended");
        assert_eq!(calls.into_open().iter().map(|call| call.number).collect::<Vec<_>>(), [1]);
    }
}

//! The host side of `host:cap/tools`: calls of other tools of the session.
//!
//! Promises: a call is made only with a grant that covers its tool; how many calls a call makes, and how much it gets
//! from them, is limited and told; the time that they take does not count as the guest's own.
//!
//! Deliberately not here: what decides about the calls and runs them (`tool_caller`).

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::bindings::denial::denial;
use crate::bindings::tools as wit;
use crate::counted;
use crate::limits::{HOST_CALL_FUEL, MAX_VALUES};
use crate::store::StoreData;
use crate::tool_caller::{ToolAnswer, ToolCallError, ToolRequest};

/// The most calls of other tools that one call makes: as many as run of one reply of a model. Protects the user, the
/// session log and the machine from a script that loops.
const MAX_TOOL_CALLS: usize = 256;

/// The most text that all calls of one call return to it. Protects the memory of the host and the guest.
const MAX_TOOL_TEXT: usize = 64 << 20;

/// The most JSON of arguments of one call. Protects the session log, which has them.
const MAX_ARGUMENTS: usize = 1 << 20;

type Answered = Result<wit::Answer, wit::Error>;

impl wit::Host for StoreData {
    async fn call(&mut self, call: wit::ToolCall) -> wasmtime::Result<Answered> {
        let mut answers = self.make_calls(vec![call]).await;
        Ok(answers.pop_front().unwrap_or_else(lost))
    }

    async fn call_all(&mut self, calls: Vec<wit::ToolCall>) -> wasmtime::Result<Vec<Answered>> {
        Ok(self.make_calls(calls).await.into())
    }
}

impl StoreData {
    /// Makes calls; one answer for each, in their order.
    async fn make_calls(&mut self, calls: Vec<wit::ToolCall>) -> VecDeque<Answered> {
        let admitted: Vec<Result<ToolRequest, wit::Error>> = calls.into_iter().map(|call| self.admit(call)).collect();
        let (mut requests, mut refused) = (Vec::new(), Vec::new());
        for admitted in admitted {
            refused.push(match admitted {
                Ok(request) => {
                    requests.push(request);
                    None
                }
                Err(error) => Some(self.denials.noting::<(), _>(Err(error)).err()),
            });
        }
        let mut made: VecDeque<Answered> = self.make_admitted(requests).await.into();
        let next = |refused: Option<Option<wit::Error>>| match refused.flatten() {
            Some(error) => Err(error),
            None => made.pop_front().unwrap_or_else(lost),
        };
        refused.into_iter().map(next).collect()
    }

    /// Checks one call, and counts it.
    fn admit(&mut self, call: wit::ToolCall) -> Result<ToolRequest, wit::Error> {
        let wit::ToolCall { tool, arguments } = call;
        let permit = self.call.grants.permit_tool(&self.plugin, &tool);
        let permit = permit.map_err(|refused| wit::Error::Denied(denial(&refused, self.shared.wording)))?;
        if arguments.len() > MAX_ARGUMENTS {
            let why = format!("the arguments have {} bytes, over the limit of {MAX_ARGUMENTS}", arguments.len());
            return Err(wit::Error::Invalid(why));
        }
        let arguments = object(&arguments)
            .map_err(|why| wit::Error::Invalid(format!("the arguments are not a JSON object: {why}")))?;
        if self.made.count >= MAX_TOOL_CALLS {
            return Err(wit::Error::Unavailable(format!(
                "`{tool}` was not called: one call makes at most {MAX_TOOL_CALLS} calls of other tools; return what there is, \
                 and make the others in a next one"
            )));
        }
        self.made.count += 1;
        Ok(ToolRequest { permit, arguments })
    }

    async fn make_admitted(&mut self, requests: Vec<ToolRequest>) -> Vec<Answered> {
        if requests.is_empty() {
            return Vec::new();
        }
        let Some(caller) = self.call.tools.clone() else {
            let why =
                "no tool can be called here: the call is not one of a session's agent, or was made by another call";
            return requests.iter().map(|_| Err(wit::Error::Unavailable(why.to_owned()))).collect();
        };
        let answers = {
            let _waits = self.made.clock.pause();
            caller.call_all(requests).await
        };
        // What one host call copies into the guest is limited too, so that many large answers at once are not.
        let mut copied = 0_usize;
        answers.into_iter().map(|answer| self.result_of(answer, &mut copied)).collect()
    }

    /// Returns an answer as the guest gets it, within the limits.
    fn result_of(&mut self, answer: Result<ToolAnswer, ToolCallError>, copied: &mut usize) -> Answered {
        let ToolAnswer { text, structured } = answer.map_err(failed)?;
        let size = text.len() + structured.as_ref().map_or(0, String::len);
        self.made.bytes = self.made.bytes.saturating_add(size);
        *copied = copied.saturating_add(size);
        if self.made.bytes > MAX_TOOL_TEXT || *copied > HOST_CALL_FUEL {
            return Err(wit::Error::Failed(format!(
                "the call was made, and its result of {size} bytes is not handed over: all results at once are at most {} MiB, \
                 and all of one call {} MiB; ask for less",
                HOST_CALL_FUEL >> 20,
                MAX_TOOL_TEXT >> 20
            )));
        }
        Ok(wit::Answer { text, structured })
    }
}

fn object(arguments: &str) -> Result<Map<String, Value>, String> {
    match counted::read(arguments, MAX_VALUES) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is a value of a different kind".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn lost() -> Answered {
    Err(wit::Error::Failed("the call was lost".to_owned()))
}

fn failed(error: ToolCallError) -> wit::Error {
    match error {
        ToolCallError::NotFound(why) => wit::Error::NotFound(why),
        ToolCallError::Invalid(why) => wit::Error::Invalid(why),
        ToolCallError::Refused(why) => wit::Error::Refused(why),
        ToolCallError::Cancelled => wit::Error::Cancelled,
        ToolCallError::Failed(why) => wit::Error::Failed(why),
        ToolCallError::Unavailable(why) => wit::Error::Unavailable(why),
    }
}

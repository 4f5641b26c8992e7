//! Assembles function calls from the pieces that the Chat Completions API sends.
//!
//! In the format, a call's first piece has index, id and name, and the others its index and more of the arguments'
//! text. Servers leave out the id or the index, give every call the index 0, repeat id and name in each piece, or send
//! a whole call at once with the arguments as an object. All these cases are distinguished here.

use std::fmt;

use host_message::{CallId, FunctionCall, Part, PartData, ToolName};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::CallPiece;
use crate::text::clip;

/// The most calls of one reply; protects the host from a server that begins new ones endlessly.
const MAX_CALLS: usize = 1_000;

/// The calls of one reply.
#[derive(Default)]
pub(super) struct Calls {
    pending: Vec<Pending>,
    /// Whether a call beyond the limit has begun.
    too_many: bool,
}

/// One piece of a call as it is sent.
#[derive(Deserialize)]
pub(super) struct WirePiece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Default, Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<Arguments>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Arguments {
    Text(String),
    Object(Map<String, Value>),
}

/// A call that is not complete.
#[derive(Default)]
struct Pending {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// A call that cannot be read.
pub(crate) struct Malformed {
    name: String,
    why: String,
}

/// Builds a call from all its pieces; `arguments` is the text of a JSON object.
///
/// # Errors
///
/// If there is no name, or the arguments are not a JSON object.
pub(crate) fn whole(id: String, name: String, arguments: &str) -> Result<Part, Malformed> {
    if name.is_empty() {
        return Err(Malformed { name, why: "it has no name".to_owned() });
    }
    // A call without arguments comes as nothing, as `null`, or as the object that it should be.
    let arguments = match arguments.trim() {
        "" | "null" => Map::new(),
        text => serde_json::from_str(text)
            .map_err(|error| Malformed { name: clip(&name), why: clip(&error.to_string()) })?,
    };
    Ok(PartData::FunctionCall(FunctionCall::new(CallId::new(id), ToolName::new(name), arguments)).into())
}

impl Malformed {
    /// Creates the error for more calls than `most`.
    pub(crate) fn too_many(most: usize) -> Self {
        Self { name: String::new(), why: format!("the reply has more than {most}") }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the call of `{}` cannot be read: {}", self.name, self.why)
    }
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Adds a piece to its call, or begins a new one. Returns what has come, for a user.
    pub(super) fn add(&mut self, piece: WirePiece) -> Option<CallPiece> {
        let function = piece.function.unwrap_or_default();
        let id = piece.id.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        // Without an index the last call is meant; with one, the last of this index.
        let with_its_index = |call: &Pending| piece.index.is_none() || call.index == piece.index;
        // Servers that give every call the index 0 begin a new one by another id or name.
        let known = self.pending.iter().rposition(with_its_index).filter(|at| self.pending[*at].goes_on(&id, &name));
        let at = known.unwrap_or(self.pending.len());
        if at == MAX_CALLS {
            self.too_many = true;
            return None;
        }
        let begins = if known.is_none() { name.clone() } else { String::new() };
        if known.is_none() {
            self.pending.push(Pending { index: piece.index, ..Pending::default() });
        }
        let call = &mut self.pending[at];
        // The first that comes: some servers repeat them in each piece.
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() {
            call.name = name;
        }
        let json = match function.arguments {
            Some(Arguments::Text(text)) => text,
            // Written as text again, so that there is one way to read arguments.
            Some(Arguments::Object(object)) => Value::Object(object).to_string(),
            None => String::new(),
        };
        call.arguments.push_str(&json);
        // Of calls that come side by side, the last one is shown.
        (at + 1 == self.pending.len()).then_some(CallPiece { name: begins, json })
    }

    /// Returns the complete calls and leaves none.
    ///
    /// # Errors
    ///
    /// If one of them has no name, or arguments that are not a JSON object, or if there are too many.
    pub(super) fn take(&mut self) -> Result<Vec<Part>, Malformed> {
        let Self { pending, too_many } = std::mem::take(self);
        if too_many {
            return Err(Malformed::too_many(MAX_CALLS));
        }
        pending.into_iter().map(Pending::read).collect()
    }
}

impl Pending {
    /// Whether a piece with this id and name continues this call, and does not begin the next.
    fn goes_on(&self, id: &str, name: &str) -> bool {
        if !id.is_empty() && !self.id.is_empty() {
            return id == self.id;
        }
        // Without ids, only a name can begin the next call, and only if this one is complete. The last character is
        // checked first: to parse all text so far with each piece would be too slow.
        let is_whole = || {
            let ends = self.arguments.trim_end().ends_with('}');
            ends && !self.name.is_empty() && serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
        };
        name.is_empty() || !is_whole()
    }

    fn read(self) -> Result<Part, Malformed> {
        whole(self.id, self.name, &self.arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the calls as `id name arguments`, or why they cannot be read.
    fn calls(pieces: &[&str]) -> Result<Vec<String>, String> {
        let mut calls = Calls::default();
        for piece in pieces {
            calls.add(serde_json::from_str(piece).expect("a piece is JSON"));
        }
        let parts = calls.take().map_err(|malformed| malformed.to_string())?;
        assert!(calls.is_empty());
        let shown = parts.into_iter().map(|part| match part.data {
            PartData::FunctionCall(call) => {
                format!("{} {} {}", call.id, call.name, Value::Object(call.arguments))
            }
            other => panic!("{other:?} is no call"),
        });
        Ok(shown.collect())
    }

    #[test]
    fn pieces_become_whole_calls() {
        let check = |what: &str, pieces: &[&str], expected: &[&str]| {
            assert_eq!(
                calls(pieces).as_deref(),
                Ok(&expected.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>()[..]),
                "{what}"
            );
        };
        check(
            "as the format says, two calls with pieces between each other",
            &[
                r#"{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":""}}"#,
                r#"{"index":1,"id":"b","type":"function","function":{"name":"ls","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{\"path\":"}}"#,
                r#"{"index":1,"function":{"arguments":"{}"}}"#,
                r#"{"index":0,"function":{"arguments":"\".\"}"}}"#,
            ],
            &[r#"a ls {"path":"."}"#, "b ls {}"],
        );
        check(
            "every call has the index 0 and its own id",
            &[
                r#"{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}"#,
                r#"{"index":0,"id":"b","function":{"name":"ls","arguments":"{}"}}"#,
            ],
            &["a ls {}", "b ls {}"],
        );
        check(
            "id and name in each piece",
            &[
                r#"{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"p\":"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"ls","arguments":"1}"}}"#,
            ],
            &[r#"a ls {"p":1}"#],
        );
        check(
            "neither index nor id",
            &[
                r#"{"function":{"name":"ls","arguments":"{\"p\":"}}"#,
                r#"{"function":{"arguments":"1}"}}"#,
                r#"{"function":{"name":"ls","arguments":"{}"}}"#,
            ],
            &[r#" ls {"p":1}"#, " ls {}"],
        );
        check(
            "ids without index, arguments later",
            &[
                r#"{"id":"a","function":{"name":"ls"}}"#,
                r#"{"function":{"arguments":"{\"p\":1}"}}"#,
                r#"{"id":"b","function":{"name":"ls"}}"#,
                r#"{"function":{"arguments":"{\"p\":2}"}}"#,
            ],
            &[r#"a ls {"p":1}"#, r#"b ls {"p":2}"#],
        );
        check("an object", &[r#"{"function":{"name":"ls","arguments":{"p":[1]}}}"#], &[r#" ls {"p":[1]}"#]);
        check("no arguments", &[r#"{"index":0,"id":"a","function":{"name":"ls"}}"#], &["a ls {}"]);
        check("arguments null", &[r#"{"function":{"name":"ls","arguments":null}}"#], &[" ls {}"]);
        check("arguments `null`", &[r#"{"function":{"name":"ls","arguments":"null"}}"#], &[" ls {}"]);
        check("none", &[], &[]);
    }

    // promise model.stream
    #[test]
    fn openai_unreadable_call_is_reported_with_the_reason() {
        let check = |piece: &str, why: &str| {
            let error = calls(&[piece]).expect_err(piece);
            assert!(error.contains(why), "{error}");
        };
        check(r#"{"function":{"name":"ls","arguments":"{\"p\":"}}"#, "EOF");
        check(r#"{"function":{"name":"ls","arguments":"[1]"}}"#, "expected a map");
        check(r#"{"function":{"name":"ls","arguments":"path=."}}"#, "`ls`");
        check(r#"{"function":{"arguments":"{}"}}"#, "no name");
        check("{}", "no name");
    }
    // promise model.stream
    #[test]
    fn calls_without_end_are_not_kept() {
        let mut all = Calls::default();
        for index in 0..=MAX_CALLS {
            let piece = format!(r#"{{"index":{index},"function":{{"name":"ls"}}}}"#);
            all.add(serde_json::from_str(&piece).expect("a piece is JSON"));
        }
        assert_eq!(all.pending.len(), MAX_CALLS);
        assert!(all.take().is_err_and(|malformed| malformed.to_string().contains("1000")));
    }
}

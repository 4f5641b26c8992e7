//! The same calls again and again: a round of up to five, five times, each with the result that it had before.
//!
//! Two calls are the same when they have one name and the same arguments, in whatever order an object's keys come.
//! Of a call that has not settled the result counts as the same, so that a loop is noticed before its last call runs.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use host_message::{CallId, FunctionCall, OutputPart};
use host_text::clip;
use host_tool::Outcome;
use serde_json::Value;

use super::Repeated;

/// Maximum number of calls in a round.
const ROUND: usize = 5;

/// Number of rounds that make a loop.
const TIMES: usize = 5;

/// The longest description of a call, in characters. Protects the message to the model, and memory.
const SHOWN: usize = 200;

/// The last calls of a run, oldest first; never more than a loop can have.
#[derive(Debug, Default)]
pub(super) struct CallWatch {
    last: VecDeque<Seen>,
}

#[derive(Debug)]
struct Seen {
    id: CallId,
    /// Of name and arguments.
    call: u64,
    /// None until it has settled.
    result: Option<u64>,
    shown: String,
}

impl CallWatch {
    /// Takes calls that are about to run; takes none of them if one closes a loop.
    pub(super) fn add(&mut self, calls: Vec<&FunctionCall>) -> Option<Repeated> {
        for (at, call) in calls.into_iter().enumerate() {
            self.last.push_back(Seen {
                id: call.id.clone(),
                call: digest(|hasher| {
                    call.name.as_str().hash(hasher);
                    hash_object(&call.arguments, hasher);
                }),
                result: None,
                shown: shown(call),
            });
            if let Some(found) = self.found() {
                self.last.truncate(self.last.len().saturating_sub(at + 1));
                return Some(found);
            }
        }
        // Only now: a loop that is found gives back all that was added.
        while self.last.len() > ROUND * TIMES {
            self.last.pop_front();
        }
        None
    }

    /// Takes how a call ended.
    pub(super) fn settle(&mut self, id: &CallId, outcome: &Outcome) {
        if let Some(seen) = self.last.iter_mut().rev().find(|seen| seen.id == *id) {
            seen.result = Some(digest(|hasher| hash_outcome(outcome, hasher)));
        }
    }

    /// Forgets a call.
    pub(super) fn forget(&mut self, id: &CallId) {
        if let Some(at) = self.last.iter().rposition(|seen| seen.id == *id) {
            self.last.remove(at);
        }
    }

    /// The shortest round that the last calls repeat often enough.
    fn found(&self) -> Option<Repeated> {
        let len = self.last.len();
        let repeats = |round: usize| {
            let Some(start) = len.checked_sub(round * TIMES) else { return false };
            let earlier = self.last.range(start..len - round);
            earlier.zip(self.last.range(start + round..)).all(|(a, b)| a.is_like(b))
        };
        let round = (1..=ROUND).find(|round| repeats(*round))?;
        let calls = self.last.range(len - round..).map(|seen| seen.shown.clone()).collect();
        Some(Repeated::Calls { calls, times: TIMES })
    }
}

impl Seen {
    fn is_like(&self, other: &Self) -> bool {
        let results_differ = self.result.zip(other.result).is_some_and(|(one, two)| one != two);
        self.call == other.call && !results_differ
    }
}

fn shown(call: &FunctionCall) -> String {
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    format!("`{}`", clip(&format!("{} {arguments}", call.name), SHOWN))
}

fn digest(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Bool(value) => value.hash(hasher),
        // `1` and `1.0` are one number to a schema.
        Value::Number(number) => match number.as_f64() {
            Some(value) => value.to_bits().hash(hasher),
            None => number.to_string().hash(hasher),
        },
        Value::String(text) => text.hash(hasher),
        Value::Array(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash_value(item, hasher));
        }
        Value::Object(object) => hash_object(object, hasher),
    }
}

fn hash_object(object: &serde_json::Map<String, Value>, hasher: &mut DefaultHasher) {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries.len().hash(hasher);
    for (key, value) in entries {
        key.hash(hasher);
        hash_value(value, hasher);
    }
}

/// Hashes what the tool returned, not the response to the model: that names a new file whenever it is clipped.
fn hash_outcome(outcome: &Outcome, hasher: &mut DefaultHasher) {
    std::mem::discriminant(outcome).hash(hasher);
    match outcome {
        Outcome::Success(output) => {
            for part in &output.content {
                match part {
                    OutputPart::Text(text) => text.hash(hasher),
                    OutputPart::Data(data) => (&data.mime_type, &data.base64).hash(hasher),
                    OutputPart::Link { uri, title } => (uri, title).hash(hasher),
                }
            }
            if let Some(value) = &output.structured {
                hash_value(value, hasher);
            }
        }
        Outcome::Error(failure) => failure.message.hash(hasher),
        Outcome::Cancelled { reason, partial } => (reason, partial).hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use host_message::{Output, ToolName};
    use serde_json::json;

    use super::*;

    fn call(at: usize, name: &str, arguments: Value) -> FunctionCall {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        FunctionCall::new(CallId::new(format!("c{at}")), ToolName::new(name), arguments)
    }

    /// Returns the number of the call, from 1, at which a loop is found; each call is a name, its arguments and its
    /// result.
    fn found_at(calls: impl IntoIterator<Item = (&'static str, Value, String)>) -> Option<usize> {
        let mut watch = CallWatch::default();
        for (at, (name, arguments, result)) in calls.into_iter().enumerate() {
            let call = call(at, name, arguments);
            if watch.add(vec![&call]).is_some() {
                return Some(at + 1);
            }
            watch.settle(&call.id, &Outcome::Success(Output::text(result)));
            assert!(watch.last.len() <= ROUND * TIMES);
        }
        None
    }

    /// Rounds of calls with one letter each, all with the same result.
    fn rounds(round: &'static [&'static str], times: usize) -> impl Iterator<Item = (&'static str, Value, String)> {
        let calls = round.iter().map(|name| (*name, json!({"path": "a"}), "same".to_owned()));
        std::iter::repeat_n(calls, times).flatten()
    }

    #[test]
    fn a_round_of_up_to_five_calls_is_a_loop_the_fifth_time() {
        for (round, at) in [
            (&["a"][..], Some(5)),
            (&["a", "b"], Some(10)),
            (&["a", "b", "c"], Some(15)),
            (&["a", "b", "c", "d"], Some(20)),
            (&["a", "a", "b", "a", "b"], Some(25)),
            (&["a", "b", "c", "d", "e"], Some(25)),
            (&["a", "b", "c", "d", "e", "f"], None),
        ] {
            assert_eq!(found_at(rounds(round, 4)), None, "{round:?}");
            assert_eq!(found_at(rounds(round, 9)), at, "{round:?}");
            let before = rounds(&["x", "y", "z"], 3);
            assert_eq!(found_at(before.chain(rounds(round, 9))), at.map(|at| at + 9), "{round:?}");
        }
    }

    #[test]
    fn loops_work_that_looks_similar_is_not_a_loop() {
        let each = |f: fn(usize) -> (&'static str, Value, String)| (0..60).map(f);
        let same = || "same".to_owned();
        for (what, calls) in [
            ("other folders", each(|i| ("ls", json!({"path": format!("src/{i}")}), "same".to_owned()))),
            ("waiting for a change", each(|i| ("shell", json!({"command": "status"}), format!("{i} % done")))),
            (
                "two states in turn, one of them new",
                each(|i| ("shell", json!({"command": "t"}), (i % 4 * i).to_string())),
            ),
            ("reading on", each(|i| ("read_file", json!({"path": "a", "offset": i * 2000}), "same".to_owned()))),
            ("other tools", each(|i| (["a", "b", "c", "d", "e", "f"][i % 6], json!({}), "same".to_owned()))),
        ] {
            assert_eq!(found_at(calls), None, "{what}");
        }
        let mended = (0..20).flat_map(|i| {
            [("shell", json!({"command": "cargo test"}), same()), ("edit", json!({"path": "a", "new": i}), same())]
        });
        assert_eq!(found_at(mended), None, "testing after each change");
    }

    #[test]
    fn arguments_are_the_same_in_whatever_order_they_come() {
        let texts = [r#"{"a":1,"b":{"x":[1,2],"y":null}}"#, r#"{"b":{"y":null,"x":[1,2.0]},"a":1}"#];
        let calls = (0..5).map(|i| ("t", serde_json::from_str(texts[i % 2]).expect("JSON"), "r".to_owned()));
        assert_eq!(found_at(calls), Some(5));
        for other in [json!({"a": [1, 2]}), json!({"a": [[1], 2]}), json!({"a": "1"}), json!({"a": null}), json!({})] {
            let arguments = [json!({"a": [1]}), other];
            assert_eq!(found_at((0..6).map(|i| ("t", arguments[i / 4].clone(), "r".to_owned()))), None);
        }
    }

    #[test]
    fn a_loop_within_one_reply_is_found_before_any_of_it_runs() {
        let mut watch = CallWatch::default();
        let calls: Vec<_> = (0..6).map(|at| call(at, "ls", json!({"path": "a"}))).collect();
        let found = watch.add(calls.iter().collect()).expect("a loop");
        assert_eq!(found.to_string(), "`ls {\"path\":\"a\"}` repeated 5 times in a row with the same result");
        assert!(watch.last.is_empty(), "what does not run does not count");
    }

    #[test]
    fn repeating_what_was_stopped_is_found_at_once_and_another_call_ends_it() {
        let mut watch = CallWatch::default();
        let mut next = 0;
        let mut add = |name: &str| {
            next += 1;
            watch.add(vec![&call(next, name, json!({}))]).is_some()
        };
        assert_eq!(
            [add("a"), add("a"), add("a"), add("a"), add("a"), add("a")],
            [false, false, false, false, true, true]
        );
        assert_eq!([add("b"), add("a"), add("a"), add("a")], [false; 4]);
    }

    #[test]
    fn loops_do_not_count_a_call_that_is_forgotten() {
        let mut watch = CallWatch::default();
        for at in 0..20 {
            let call = call(at, "shell", json!({"command": "git push"}));
            assert_eq!(watch.add(vec![&call]), None);
            watch.forget(&call.id);
        }
        assert!(watch.last.is_empty());
    }

    #[test]
    fn a_long_call_is_cut_in_words() {
        let mut watch = CallWatch::default();
        let calls: Vec<_> = (0..5).map(|at| call(at, "write", json!({"content": "x".repeat(5000)}))).collect();
        let words = watch.add(calls.iter().collect()).expect("a loop").to_string();
        assert!(words.contains("… (cut)") && words.len() < 400, "{words}");
    }
}

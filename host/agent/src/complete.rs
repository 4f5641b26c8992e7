//! `complete_task`: the tool with which an agent reports that it is done. It runs in the host itself.
//!
//! It goes through the scheduler like any other call, so its arguments are checked against its schema, its event is
//! reported and its outcome is recorded. It is not marked as read-only, so it runs alone and in order: of two calls in
//! one reply, the first valid one counts.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::{Annotations, FunctionCall, Output, ToolName, ToolSpec};
use host_tool::{CallContext, CallFailure, FailureKind, Outcome, Schema, Tool};
use serde_json::{Map, Value, json};

use crate::OutputConfig;

/// The name of the tool.
pub const COMPLETE_TASK: &str = "complete_task";

/// The argument of an agent without an output config.
const PLAIN_ARGUMENT: &str = "result";

/// The tool, for one run. Clones share what was accepted.
#[derive(Clone)]
pub(crate) struct CompleteTask {
    spec: ToolSpec,
    argument: String,
    /// Whether the answer has a schema of its own.
    has_schema: bool,
    transform: Option<fn(&Value) -> String>,
    accepted: Arc<Mutex<Accepted>>,
}

/// State of the run's answer.
#[derive(Debug, Default, PartialEq, Eq)]
enum Accepted {
    #[default]
    Nothing,
    Answer(String),
    Taken,
}

impl CompleteTask {
    pub(crate) fn new(output: Option<&OutputConfig>) -> Self {
        let (argument, transform, schema) = match output {
            Some(output) => (output.name.as_str(), output.transform, argument_schema(output)),
            None => {
                let description = "Your final answer: everything that you were asked for, in words.";
                (PLAIN_ARGUMENT, None, json!({"type": "string", "description": description}))
            }
        };
        let spec = ToolSpec {
            name: ToolName::new(COMPLETE_TASK),
            title: None,
            description: "Hands in the result of your task and ends it. Call it once, when you are done: it is the \
                          only way to end the task, and nothing that you say elsewhere is part of the result."
                .to_owned(),
            input_schema: Arc::new(input_schema(argument, schema)),
            output_schema: None,
            annotations: Annotations { read_only: false, destructive: false, idempotent: false, open_world: false },
        };
        Self { spec, argument: argument.to_owned(), has_schema: output.is_some(), transform, accepted: Arc::default() }
    }

    /// Takes the accepted answer; `None` if there is none, or it was already taken.
    pub(crate) fn take(&self) -> Option<String> {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        match mem::replace(&mut *accepted, Accepted::Taken) {
            Accepted::Answer(answer) => Some(answer),
            unchanged => {
                *accepted = unchanged;
                None
            }
        }
    }

    /// Takes a last message in the place of a call, if it is JSON that meets the schema of the answer: models that are
    /// weak with tools answer that way. An answer without a schema of its own is never taken from a text, which may be
    /// a remark.
    pub(crate) fn take_text(&self, text: &str) -> Option<String> {
        if !self.has_schema {
            return None;
        }
        let value: Value = serde_json::from_str(without_fence(text)).ok()?;
        let arguments = Map::from_iter([(self.argument.clone(), value)]);
        let schema = Schema::compile(&self.spec.input_schema).ok()?;
        schema.check(&Value::Object(arguments.clone())).ok()?;
        self.complete(&arguments).ok()?;
        self.take()
    }

    fn complete(&self, arguments: &Map<String, Value>) -> Result<Output, CallFailure> {
        let value = arguments.get(&self.argument).unwrap_or(&Value::Null);
        if value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty()) {
            let words = format!("the argument `{}` is empty; call `{COMPLETE_TASK}` again with it", self.argument);
            return Err(CallFailure::new(FailureKind::InvalidArguments, words));
        }
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if *accepted != Accepted::Nothing {
            let words = "the task is completed already: the first result counts, and this one is dropped";
            return Err(CallFailure::new(FailureKind::Conflict, words));
        }
        *accepted = Accepted::Answer(match (self.transform, value) {
            (Some(transform), value) => transform(value),
            (None, Value::String(text)) => text.clone(),
            (None, value) => format!("{value:#}"),
        });
        Ok(Output::text("The result was handed in and the task is completed."))
    }
}

impl Tool for CompleteTask {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
        async { self.complete(&call.arguments).map_or_else(Outcome::Error, Outcome::Success) }.boxed()
    }

    fn title(&self, _: &FunctionCall) -> String {
        // Its argument is the result, which is shown as such.
        String::new()
    }
}

/// Returns the text without the fence of Markdown that is around all of it, if there is one.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inner.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, inner)| inner)
}

fn argument_schema(output: &OutputConfig) -> Value {
    let mut schema = output.schema.clone();
    if let Value::Object(schema) = &mut schema {
        schema.entry("description").or_insert_with(|| Value::from(output.description.as_str()));
    }
    schema
}

/// The schema of the arguments. What the argument's own schema refers to is moved to the root, since a `$ref` is
/// read from there.
fn input_schema(argument: &str, mut schema: Value) -> Value {
    let mut root = Map::new();
    if let Value::Object(inner) = &mut schema {
        for key in ["$schema", "$defs", "definitions"] {
            if let Some(moved) = inner.remove(key) {
                root.insert(key.to_owned(), moved);
            }
        }
    }
    root.insert("type".to_owned(), Value::from("object"));
    root.insert("properties".to_owned(), json!({argument: schema}));
    root.insert("required".to_owned(), json!([argument]));
    Value::Object(root)
}

#[cfg(test)]
mod tests {
    use host_message::CallId;
    use host_tool::Registry;

    use super::*;

    fn call(arguments: Value) -> FunctionCall {
        let Value::Object(arguments) = arguments else { unreachable!("the tests give objects") };
        FunctionCall::new(CallId::new("c"), ToolName::new(COMPLETE_TASK), arguments)
    }

    /// Checks arguments the way that a run does: first the schema, then the tool.
    fn check(output: Option<&OutputConfig>, arguments: Value, want: Result<&str, &str>) {
        let tool = CompleteTask::new(output);
        let mut registry = Registry::new();
        registry.register(Arc::new(tool.clone())).expect("it can be registered");
        let call = call(arguments);
        let got = registry.admit(&call).and_then(|_| tool.complete(&call.arguments)).map(|_| tool.take());
        match (got, want) {
            (Ok(answer), Ok(want)) => assert_eq!(answer.as_deref(), Some(want)),
            (Err(failure), Err(want)) => assert!(failure.message.contains(want), "{} / {want}", failure.message),
            (got, want) => panic!("{got:?} instead of {want:?}"),
        }
    }

    fn report() -> OutputConfig {
        let schema = json!({
            "type": "object",
            "properties": {"files": {"type": "array", "items": {"$ref": "#/$defs/file"}}},
            "required": ["files"],
            "$defs": {"file": {"type": "string"}},
        });
        OutputConfig { name: "report".to_owned(), description: "what was found".to_owned(), schema, transform: None }
    }

    #[test]
    fn without_an_output_config_the_result_is_a_text() {
        check(None, json!({"result": "done"}), Ok("done"));
        check(None, json!({}), Err("\"result\" is a required property"));
        check(None, json!({"result": null}), Err("null is not of type \"string\""));
        check(None, json!({"result": " \n"}), Err("the argument `result` is empty"));
        check(None, json!({"result": 3}), Err("3 is not of type \"string\""));
    }

    #[test]
    fn with_an_output_config_the_value_meets_its_schema() {
        let report = report();
        check(Some(&report), json!({"report": {"files": []}}), Ok("{\n  \"files\": []\n}"));
        check(Some(&report), json!({"report": {}}), Err("at `/report`: \"files\" is a required property"));
        check(Some(&report), json!({"report": {"files": [1]}}), Err("at `/report/files/0`"));
        check(Some(&report), json!({"result": "x"}), Err("\"report\" is a required property"));
        let anything = OutputConfig { schema: json!({}), ..report.clone() };
        check(Some(&anything), json!({"report": null}), Err("the argument `report` is empty"));
        let counted = OutputConfig {
            transform: Some(|value| format!("{} files", value["files"].as_array().map_or(0, Vec::len))),
            ..report
        };
        check(Some(&counted), json!({"report": {"files": ["a"]}}), Ok("1 files"));
    }

    #[test]
    fn text_is_taken_for_the_result_only_if_it_meets_its_schema() {
        let report = report();
        let taken = |output: Option<&OutputConfig>, text: &str| CompleteTask::new(output).take_text(text);
        for text in
            [r#"{"files": []}"#, " {\"files\":[]}\n", "```json\n{\"files\": []}\n```", "```\n{\"files\": []}```"]
        {
            assert_eq!(taken(Some(&report), text).as_deref(), Some("{\n  \"files\": []\n}"), "{text}");
        }
        for text in
            ["", "Done.", r#"{"report": {"files": []}}"#, r#"{"files": [1]}"#, r#"Here: {"files": []}"#, "``````"]
        {
            assert_eq!(taken(Some(&report), text), None, "{text}");
        }
        // Without a schema a text may as well be a remark.
        assert_eq!(taken(None, "\"done\""), None);
    }

    #[test]
    fn the_first_result_counts() {
        let tool = CompleteTask::new(None);
        assert!(tool.complete(&call(json!({"result": ""})).arguments).is_err());
        assert!(tool.complete(&call(json!({"result": "first"})).arguments).is_ok());
        let second = tool.complete(&call(json!({"result": "second"})).arguments);
        assert_eq!(second.map_err(|failure| failure.kind), Err(FailureKind::Conflict));
        assert_eq!((tool.take().as_deref(), tool.take()), (Some("first"), None));
    }
}

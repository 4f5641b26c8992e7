//! What a call is called on one line, beside the name of its tool: `src/fuel.rs`, `cargo test`.
//!
//! The title is the same wherever a call is named: on a terminal, in a report, in a recorded session. Promises: it is
//! one line that is safe to show; a call that runs a command has the command as its title, as it was decided about, and
//! one that changes several files their names, so no plugin chooses the words for them.
//!
//! Deliberately not here: the template language (`host-text`), and where titles are shown.

use host_message::{FunctionCall, ToolSpec};
use host_plugin::{Confirmation, command_line};
use host_text::{TitleTemplate, title_line};
use serde_json::Value;

/// How many items of a list are shown. Protects the line.
const LIST_ITEMS: usize = 4;

/// Returns the title of a call by its tool's template; without one, by the first required argument of its schema, or
/// else the first that is a text.
pub(crate) fn of_tool(template: Option<&TitleTemplate>, spec: &ToolSpec, call: &FunctionCall) -> String {
    if let Some(template) = template {
        return template.render(|name| call.arguments.get(name).and_then(written));
    }
    let required = spec.input_schema.get("required").and_then(|required| required.get(0)).and_then(Value::as_str);
    match required.and_then(|name| call.arguments.get(name)).and_then(written) {
        Some(text) => title_line(&text),
        None => of_arguments(call),
    }
}

/// Returns the title of a call whose tool is not known: its first argument that is a text.
pub fn of_arguments(call: &FunctionCall) -> String {
    let text = |value: &Value| match value {
        Value::String(_) => written(value),
        Value::Array(items) if items.first().is_some_and(Value::is_string) => written(value),
        _ => None,
    };
    call.arguments.values().find_map(text).map(|text| title_line(&text)).unwrap_or_default()
}

/// Returns the title of a call that runs this command or changes these files; `None` if the preview names neither. A
/// command that reads the arguments of the call is one that the user configured for the tool: there the arguments say
/// more. So they do of a call that changes the one file that they name.
pub(crate) fn of_preview(shown: Option<&Confirmation>) -> Option<String> {
    match shown? {
        Confirmation::Exec { argv, directory, input: None, ground } => {
            let line = title_line(&command_line(argv));
            let place =
                if matches!(directory.as_str(), "" | ".") { String::new() } else { format!(" (in {directory})") };
            let behind = if ground.outlasts_call() { " &" } else { "" };
            Some(title_line(&(line + behind + &place)))
        }
        Confirmation::Edits { changes } => {
            let names: Vec<&str> = changes.iter().take(LIST_ITEMS).map(|change| change.path.as_str()).collect();
            let more = if changes.len() > LIST_ITEMS { ", …" } else { "" };
            Some(title_line(&(names.join(", ") + more)))
        }
        Confirmation::Exec { input: Some(_), .. }
        | Confirmation::Edit { .. }
        | Confirmation::Info { .. }
        | Confirmation::Mcp { .. }
        | Confirmation::Call => None,
    }
}

/// Returns an argument as text; `None` for one that says nothing.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(items) => {
            let mut shown: Vec<String> = items.iter().take(LIST_ITEMS).filter_map(scalar).collect();
            if items.len() > LIST_ITEMS {
                shown.push("…".to_owned());
            }
            Some(shown.join(", ")).filter(|text| !text.is_empty())
        }
        // Nobody reads one within a line.
        Value::Object(_) => None,
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use host_message::{Annotations, CallId, ToolName};
    use host_plugin::FileChange;
    use serde_json::json;

    use super::*;

    fn call(arguments: &Value) -> FunctionCall {
        let arguments = arguments.as_object().cloned().expect("an object");
        FunctionCall::new(CallId::new("c"), ToolName::new("t"), arguments)
    }

    fn spec(input_schema: Value) -> ToolSpec {
        ToolSpec {
            name: ToolName::new("t"),
            title: None,
            description: String::new(),
            input_schema: input_schema.into(),
            output_schema: None,
            annotations: Annotations::default(),
        }
    }

    #[test]
    fn call_title_is_by_template_or_first_required_argument() {
        let schema = json!({"type": "object", "required": ["url", "body"]});
        for (template, schema, arguments, title) in [
            (Some("{path}"), &schema, json!({"path": "a.rs", "url": "u"}), "a.rs"),
            (Some("{path}"), &schema, json!({"url": "u"}), ""),
            (Some("{n} of {all}"), &schema, json!({"n": 3, "all": true}), "3 of true"),
            (None, &schema, json!({"body": "b", "a": "x", "url": "u"}), "u"),
            (None, &schema, json!({"body": "b"}), "b"),
            (None, &schema, json!({"url": " ", "x": 1}), ""),
            (None, &schema, json!({"url": ["a", "b"]}), "a, b"),
            (None, &schema, json!({"url": [1, 2, 3, 4, 5]}), "1, 2, 3, 4, …"),
            (None, &schema, json!({"url": {"a": 1}, "x": "y"}), "y"),
            (None, &schema, json!({"url": [{"a": 1}, "b"]}), "b"),
            (None, &json!({"type": "object"}), json!({"n": 1, "path": "a\nb"}), "a↵ b"),
            (None, &json!({"type": "object", "required": 5}), json!({"list": ["a"], "n": 1}), "a"),
            (None, &json!({"type": "object"}), json!({}), ""),
        ] {
            let template = template.map(|text| TitleTemplate::parse(text).expect(text));
            let read = of_tool(template.as_ref(), &spec(schema.clone()), &call(&arguments));
            assert_eq!(read, title, "{arguments}");
        }
    }

    #[test]
    fn call_title_is_the_command_or_the_files_of_its_preview() {
        let exec = |argv: &[&str], directory: &str, input: Option<&str>| Confirmation::Exec {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            directory: directory.to_owned(),
            input: input.map(str::to_owned),
            ground: host_plugin::Ground::Call,
        };
        let edits = |paths: &[&str]| {
            let change = |path: &&str| FileChange { path: (*path).to_owned(), unified: String::new(), proposed: None };
            Confirmation::Edits { changes: paths.iter().map(change).collect() }
        };
        for (shown, title) in [
            (exec(&["sh", "-c", "make -j2\nrm -rf x"], ".", None), Some("make -j2↵ rm -rf x")),
            (exec(&["git", "log", "a b"], "", None), Some("git log 'a b'")),
            (exec(&["make"], "sub\u{202e}dir", None), Some("make (in sub\\u{202e}dir)")),
            (exec(&["tool", "x"], ".", Some("{}")), None),
            (edits(&["src/a", "b\u{202e}"]), Some("src/a, b\\u{202e}")),
            (edits(&["a", "b", "c", "d", "e"]), Some("a, b, c, d, …")),
            (Confirmation::Call, None),
        ] {
            assert_eq!(of_preview(Some(&shown)).as_deref(), title, "{shown:?}");
        }
        assert_eq!(of_preview(None), None);
    }
}

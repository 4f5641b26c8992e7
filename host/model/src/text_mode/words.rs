//! Writes tools, calls and results as text, for a model that reads and writes nothing else.
//!
//! The format that a model is given here is the one that [`super::reading`] reads. A result is between fences that are
//! longer than any in it, so that nothing in a result can end it. A call in the history is written as the model would
//! have written it.

use std::fmt::Write as _;

use host_message::{Content, FunctionCall, FunctionResponse, Part, PartData, ResponseBody, Role, ToolSpec};
use serde_json::{Value, json};

/// The word after a call's fence.
pub(super) const CALL_WORD: &str = "tool_call";

/// The instructions for writing calls.
const RULES: &str = r#"# Tools

You can call the tools that are described below. To call one, write a block that begins at the start of a line and has
nothing in it but one JSON object:

```tool_call
{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}
```

- Write strings as JSON has them: a line end within a string is `\n`, a quote is `\"`.
- For several calls write several blocks, one after the other.
- Stop after the last block. The next message tells you the results; never write a result yourself.
- When you need no tool, answer without such a block."#;

/// Returns the system message, with the tools in it.
pub(super) fn system(system: Option<&str>, tools: &[&ToolSpec]) -> Option<String> {
    if tools.is_empty() {
        return system.map(str::to_owned);
    }
    let mut text = system.map(|text| format!("{}\n\n", text.trim_end())).unwrap_or_default();
    text.push_str(RULES);
    for tool in tools {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n\n## {}\n\n{}\n\nIts arguments, as JSON Schema:\n\n{}",
            tool.name,
            tool.description.trim(),
            host_text::fenced("json", &tool.input_schema.to_string())
        );
    }
    Some(text)
}

/// Returns the conversation, with its calls and results as text.
pub(super) fn contents(contents: &[Content]) -> Vec<Content> {
    contents.iter().map(content).collect()
}

fn content(content: &Content) -> Content {
    let responses = content.function_responses().count();
    let mut number = 0;
    let mut parts: Vec<Part> = Vec::with_capacity(content.parts.len());
    for part in &content.parts {
        // The model's text is kept unchanged, but a call begins on a line of its own.
        let between = match (content.role, &part.data, parts.last().and_then(Part::as_text)) {
            (Role::User, ..) => "\n\n",
            (Role::Model, PartData::FunctionCall(_), Some(before)) if !before.ends_with('\n') => "\n",
            (Role::Model, ..) => "",
        };
        let part = match &part.data {
            PartData::FunctionCall(call) => Part::text(called(call)),
            PartData::FunctionResponse(response) => {
                number += 1;
                Part::text(answered(response, (responses > 1).then_some(number)))
            }
            PartData::Text(_) | PartData::InlineData(_) | PartData::FileReference(_) => part.clone(),
        };
        push(&mut parts, part, between);
    }
    Content { role: content.role, parts }
}

/// Adds a part. Text is joined to the text before it, since some servers do not accept a message of several pieces.
fn push(parts: &mut Vec<Part>, part: Part, between: &str) {
    let is_plain = |part: &Part| !part.thought && part.signature.is_none();
    if let PartData::Text(more) = &part.data
        && let Some(last) = parts.last_mut().filter(|last| is_plain(last) && is_plain(&part))
        && let PartData::Text(before) = &mut last.data
    {
        before.push_str(between);
        before.push_str(more);
        return;
    }
    parts.push(part);
}

fn called(call: &FunctionCall) -> String {
    let block: Value = json!({"name": call.name.sendable(), "arguments": call.arguments});
    format!("```{CALL_WORD}\n{block}\n```\n")
}

fn answered(response: &FunctionResponse, number: Option<usize>) -> String {
    let which = number.map(|number| format!("call {number}, ")).unwrap_or_default();
    let (said, text) = match &response.body {
        ResponseBody::Output(text) => (format!("The result of {which}`{}`:", response.name.sendable()), text),
        ResponseBody::Error(text) => (format!("An error came of {which}`{}`:", response.name.sendable()), text),
    };
    format!("{said}\n\n{}", host_text::fenced("", text))
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, InlineData, Signature, ToolName};
    use serde_json::Map;

    use super::*;

    fn call() -> Part {
        let arguments = Map::from_iter([("path".to_owned(), json!("a\nb"))]);
        let call = FunctionCall::new(CallId::new("c1"), ToolName::new("ls"), arguments);
        Part {
            signature: Some(Signature { by: "gemini".to_owned(), data: "c2ln".to_owned() }),
            ..PartData::FunctionCall(call).into()
        }
    }

    fn response(body: ResponseBody) -> Part {
        let response = FunctionResponse::new(CallId::new("c1"), ToolName::new("ls"), body);
        PartData::FunctionResponse(response).into()
    }

    const CALLED: &str = "```tool_call\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\\nb\"}}\n```\n";

    #[test]
    fn text_mode_earlier_calls_are_worded_as_the_model_would_write_them() {
        let check = |parts: Vec<Part>, expected: &[Part]| {
            assert_eq!(content(&Content { role: Role::Model, parts }).parts, expected);
        };
        check(vec![call()], &[Part::text(CALLED)]);
        check(vec![Part::text("I look."), call(), call()], &[Part::text(format!("I look.\n{CALLED}{CALLED}"))]);
        check(vec![Part::text("I look.\n"), call()], &[Part::text(format!("I look.\n{CALLED}"))]);
        check(vec![Part::thought("hm"), call()], &[Part::thought("hm"), Part::text(CALLED)]);
    }

    #[test]
    fn results_stand_between_fences_that_nothing_in_them_closes() {
        let check = |parts: Vec<Part>, expected: &[Part]| {
            assert_eq!(content(&Content { role: Role::User, parts }).parts, expected);
        };
        let output = |text: &str| response(ResponseBody::Output(text.to_owned()));
        check(vec![output("a\nb\n")], &[Part::text("The result of `ls`:\n\n```\na\nb\n```")]);
        check(vec![output("```\nx\n````")], &[Part::text("The result of `ls`:\n\n`````\n```\nx\n````\n`````")]);
        let image: Part =
            PartData::InlineData(InlineData { mime_type: "image/png".to_owned(), base64: "AAAA".to_owned() }).into();
        check(
            vec![output("a"), response(ResponseBody::Error("no".to_owned())), image.clone(), Part::text("go on")],
            &[
                Part::text(
                    "The result of call 1, `ls`:\n\n```\na\n```\n\nAn error came of call 2, `ls`:\n\n```\nno\n```",
                ),
                image,
                Part::text("go on"),
            ],
        );
    }

    #[test]
    fn the_system_message_describes_the_tools() {
        let tool = ToolSpec {
            name: ToolName::new("ls"),
            title: None,
            description: "Lists a folder\n".to_owned(),
            input_schema: json!({"type": "object"}).into(),
            output_schema: None,
            annotations: Default::default(),
        };
        assert_eq!(system(Some("Be brief."), &[]).as_deref(), Some("Be brief."));
        assert_eq!(system(None, &[]), None);
        let text = system(Some("Be brief.\n"), &[&tool]).expect("there is one");
        assert!(text.starts_with("Be brief.\n\n# Tools\n"), "{text}");
        let described =
            "## ls\n\nLists a folder\n\nIts arguments, as JSON Schema:\n\n```json\n{\"type\":\"object\"}\n```";
        assert!(text.ends_with(described), "{text}");
    }
}

//! Calls in the text of a reply, and replies in the lines of a script.

use std::sync::Arc;

use futures::future::FutureExt;
use futures::{StreamExt, stream};
use host_message::{Content, FinishReason, FunctionCall, Part, PartData, ToolName, ToolSpec};
use host_model::{Chunk, ModelEvent, ModelStream, Provider, Request, Scripted, Settings, TextMode};
use serde_json::json;

/// A model that says these pieces.
struct Says(Vec<String>);

impl Provider for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn stream<'a>(&'a self, _: Request<'a>) -> ModelStream<'a> {
        let pieces = self.0.iter().map(|piece| Chunk { parts: vec![Part::text(piece)], ..Chunk::default() });
        let end = Chunk { finish: Some(FinishReason::Stop), ..Chunk::default() };
        stream::iter(pieces.chain([end]).map(|chunk| Ok(ModelEvent::Chunk(chunk)))).boxed()
    }
}

/// What a reply is to the caller.
#[derive(Debug, Default, PartialEq)]
struct Got {
    text: String,
    calls: Vec<FunctionCall>,
    finish: Option<FinishReason>,
}

/// A reply has the same text and the same calls however its text was cut, and no text that the model did not say.
pub fn text_mode(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    let whole = read(vec![text.to_owned()]);
    let length = 1 + data.len() % 9;
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters.chunks(length).map(|piece| piece.iter().collect()).collect();
    assert_eq!(read(pieces), whole, "cut after every {length} characters");
    assert!(whole.text.len() <= text.len() + 1 && whole.calls.len() <= text.len() / 10, "{whole:?}");
    if !text.contains("tool_call") {
        assert_eq!((whole.text.as_str(), whole.calls.len()), (text, 0));
    }
}

fn read(pieces: Vec<String>) -> Got {
    let provider = TextMode::around(Arc::new(Says(pieces)));
    let (settings, contents) = (Settings::default(), [Content::user("hello")]);
    let tools = [ToolSpec {
        name: ToolName::new("ls"),
        title: None,
        description: "Lists.".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    }];
    let request = Request {
        model: "m",
        system: None,
        contents: &contents,
        tools: &tools,
        settings: &settings,
        conversation: None,
    };
    let events = provider.stream(request).collect::<Vec<_>>().now_or_never().expect("nothing is waited for");
    let mut got = Got::default();
    for event in events {
        let Ok(ModelEvent::Chunk(chunk)) = event else { panic!("{event:?}") };
        for part in chunk.parts {
            match part.data {
                PartData::Text(text) => got.text.push_str(&text),
                PartData::FunctionCall(call) => got.calls.push(call),
                other => panic!("{other:?}"),
            }
        }
        got.finish = chunk.finish.or(got.finish);
    }
    got
}

/// A script is read, or rejected at a line that it has.
pub fn script(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    match Scripted::parse("script", text) {
        Ok(script) => assert!(script.left() <= text.lines().count()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

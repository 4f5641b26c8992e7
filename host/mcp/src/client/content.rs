//! What servers answer, from the protocol's shapes to the host's.

use std::sync::Arc;

use host_message::{InlineData, OutputPart};
use host_plugin::McpAnswer;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Deserialize;
use serde_json::Value;

/// The media type of bytes whose server names none.
const UNKNOWN: &str = "application/octet-stream";

/// Returns what a tool answered.
pub(super) fn answer(result: CallToolResult) -> McpAnswer {
    McpAnswer {
        content: result.content.into_iter().filter_map(part).collect(),
        structured: result.structured_content,
        is_error: result.is_error.unwrap_or_default(),
        meta: result.meta.map(|meta| Arc::new(meta.0)),
    }
}

/// Returns what a tool answered, without the blocks that are not known; `None` if it is not an answer of a tool.
pub(super) fn of_unknown(result: &Value) -> Option<McpAnswer> {
    let blocks = result.get("content")?.as_array()?;
    let known = blocks.iter().filter_map(|block| part(ContentBlock::deserialize(block).ok()?));
    Some(McpAnswer {
        content: known.collect(),
        structured: result.get("structuredContent").cloned(),
        is_error: result.get("isError").and_then(Value::as_bool).unwrap_or_default(),
        meta: result.get("_meta").and_then(Value::as_object).map(|meta| Arc::new(meta.clone())),
    })
}

/// Returns one piece of content; `None` for a kind that the protocol did not have when this was written.
pub(super) fn part(block: ContentBlock) -> Option<OutputPart> {
    let data = |mime_type, base64| OutputPart::Data(InlineData { mime_type, base64 });
    Some(match block {
        ContentBlock::Text(text) => OutputPart::Text(text.text),
        ContentBlock::Image(image) => data(image.mime_type, image.data),
        ContentBlock::Audio(audio) => data(audio.mime_type, audio.data),
        ContentBlock::Resource(embedded) => resource(embedded.resource)?,
        ContentBlock::ResourceLink(link) => {
            OutputPart::Link { uri: link.uri, title: Some(link.title.unwrap_or(link.name)) }
        }
        _ => return None,
    })
}

/// Returns the content of a resource.
pub(super) fn resource(contents: ResourceContents) -> Option<OutputPart> {
    Some(match contents {
        ResourceContents::TextResourceContents { text, .. } => OutputPart::Text(text),
        ResourceContents::BlobResourceContents { blob, mime_type, .. } => {
            let mime_type = mime_type.unwrap_or_else(|| UNKNOWN.to_owned());
            OutputPart::Data(InlineData { mime_type, base64: blob })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_content_is_kept() {
        let result = json!({
            "isError": true,
            "structuredContent": {"a": 1},
            "_meta": {"acme.example/trace": "t1"},
            "content": [
                {"type": "text", "text": "t"},
                {"type": "image", "data": "aQ==", "mimeType": "image/png"},
                {"type": "audio", "data": "YQ==", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "a://b", "text": "r"}},
                {"type": "resource", "resource": {"uri": "a://c", "blob": "Yg=="}},
                {"type": "resource_link", "uri": "a://d", "name": "d"},
            ],
        });
        let found = answer(serde_json::from_value(result).expect("a result"));
        let data = |mime: &str, base64: &str| {
            OutputPart::Data(InlineData { mime_type: mime.to_owned(), base64: base64.to_owned() })
        };
        let expected = McpAnswer {
            content: vec![
                OutputPart::Text("t".to_owned()),
                data("image/png", "aQ=="),
                data("audio/wav", "YQ=="),
                OutputPart::Text("r".to_owned()),
                data(UNKNOWN, "Yg=="),
                OutputPart::Link { uri: "a://d".to_owned(), title: Some("d".to_owned()) },
            ],
            structured: Some(json!({"a": 1})),
            is_error: true,
            meta: json!({"acme.example/trace": "t1"}).as_object().cloned().map(Arc::new),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn block_of_an_unknown_kind_is_left_out() {
        let content = json!([{"type": "text", "text": "t"}, {"type": "hologram"}, 1]);
        let result = json!({"isError": true, "content": content, "_meta": {"a": 1}});
        let found = of_unknown(&result).expect("an answer");
        assert_eq!(found.meta.as_deref().map(|meta| meta["a"].clone()), Some(json!(1)));
        assert_eq!((found.content, found.is_error), (vec![OutputPart::Text("t".to_owned())], true));
        assert_eq!(of_unknown(&json!({"content": 1})), None);
    }
}

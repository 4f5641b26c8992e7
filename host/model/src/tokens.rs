//! Estimates how many tokens a request has without asking a service.

use host_message::{Content, Part, PartData, ToolSpec};
use serde_json::Value;

use crate::Request;

/// Tokens of a character of ASCII: four characters are about one token in every tokeniser in use.
const ASCII: f64 = 0.25;

/// Tokens of any other character. Chinese, Japanese and Korean take between one and two with most tokenisers.
const OTHER: f64 = 1.5;

/// Tokens of an image: Gemini's count for one of up to 384 pixels a side, and for each tile of a larger one.
const IMAGE: u64 = 258;

/// Bytes of a document per token. A page of PDF has some 50 KB and counts as 258 tokens at Gemini.
const DOCUMENT_BYTES: u64 = 200;

/// Estimates how many tokens a request has.
pub fn estimate(request: &Request<'_>) -> u64 {
    let system = request.system.map_or(0, estimate_text);
    system.saturating_add(estimate_contents(request.contents)).saturating_add(estimate_tools(request.tools))
}

/// Estimates how many tokens the declarations of tools have.
pub fn estimate_tools(tools: &[ToolSpec]) -> u64 {
    let tools = tools.iter().map(|tool| {
        estimate_text(tool.name.as_str())
            .saturating_add(estimate_text(&tool.description))
            .saturating_add(json(&tool.input_schema))
    });
    tools.fold(0, u64::saturating_add)
}

/// Estimates how many tokens messages have. Thoughts count nothing: they are not sent back.
pub fn estimate_contents(contents: &[Content]) -> u64 {
    contents.iter().flat_map(|content| &content.parts).map(estimate_part).fold(0, u64::saturating_add)
}

/// Estimates how many tokens a part of a message has. A thought counts nothing: it is not sent back.
pub fn estimate_part(part: &Part) -> u64 {
    if part.thought {
        return 0;
    }
    match &part.data {
        PartData::Text(said) => estimate_text(said),
        PartData::FunctionCall(call) => {
            let arguments = call.arguments.iter().map(|(name, value)| estimate_text(name).saturating_add(json(value)));
            arguments.fold(estimate_text(call.name.as_str()), u64::saturating_add)
        }
        PartData::FunctionResponse(response) => {
            let text = estimate_text(response.name.as_str()).saturating_add(estimate_text(response.body.text()));
            text.saturating_add(estimate_tools(&response.found))
        }
        PartData::InlineData(data) if data.mime_type.starts_with("image/") => IMAGE,
        // Three bytes are four characters of base64.
        PartData::InlineData(data) => (data.base64.len() as u64 / 4 * 3 / DOCUMENT_BYTES).max(IMAGE),
        PartData::FileReference(_) => IMAGE,
    }
}

fn json(value: &Value) -> u64 {
    estimate_text(&value.to_string())
}

/// Estimates how many tokens a text has.
pub fn estimate_text(text: &str) -> u64 {
    // Most text is ASCII, and finding that out is several times quicker than counting.
    let (ascii, other) = if text.is_ascii() {
        (text.len(), 0)
    } else {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        (ascii, text.chars().count() - ascii)
    };
    (ascii as f64 * ASCII + other as f64 * OTHER).ceil() as u64
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, FunctionResponse, InlineData, ResponseBody, ToolName};

    use super::*;

    #[test]
    fn tokens_four_ascii_characters_are_one_and_any_other_character_is_one_and_a_half() {
        for (said, tokens) in [("", 0), ("abcd", 1), ("abcde", 2), ("日本", 3), ("abcd日本", 4), ("ä", 2)] {
            assert_eq!(estimate_text(said), tokens, "{said}");
        }
    }

    #[test]
    fn everything_that_is_sent_counts() {
        let count = |part: Part| estimate_contents(&[Content { role: host_message::Role::User, parts: vec![part] }]);
        assert_eq!(count(Part::thought("much to think about")), 0);
        let response =
            FunctionResponse::new(CallId::new("c"), ToolName::new("grep"), ResponseBody::Output("x".repeat(400)));
        assert_eq!(count(PartData::FunctionResponse(response).into()), 101);
        let data = |mime_type: &str, base64: usize| {
            let (mime_type, base64) = (mime_type.to_owned(), "A".repeat(base64));
            count(PartData::InlineData(InlineData { mime_type, base64 }).into())
        };
        assert_eq!(data("image/png", 400_000), IMAGE);
        assert_eq!(data("application/pdf", 400_000), 1_500);
    }
}

//! The end of a call as a result for a client.
//!
//! A call that failed, was denied or was cancelled is a result with `isError` that says why, so that the model behind
//! the client reads it.

use host_message::{InlineData, Output, OutputPart};
use host_settings::error::Failure;
use host_tool::{Decided, Outcome, SettledCall};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents};
use serde_json::Value;

use super::call::Ended;

/// The name in a result's metadata for the decision about the call.
const DECIDED: &str = "host/decided";

/// Returns the result of a call.
pub(super) fn result(ended: Ended) -> CallToolResult {
    match ended {
        Ok(settled) => {
            let notice = settled.change_notice();
            let SettledCall { outcome, decided, .. } = settled;
            let mut result = of_outcome(outcome);
            result.meta = decided.map(meta);
            if let Some(notice) = notice {
                result.content.insert(0, ContentBlock::text(notice.trim_end()));
            }
            result
        }
        Err(failure) => failed(words(&failure)),
    }
}

fn of_outcome(outcome: Outcome) -> CallToolResult {
    match outcome {
        Outcome::Success(Output { content, structured, .. }) => {
            let mut blocks: Vec<ContentBlock> = content.into_iter().map(block).collect();
            if blocks.is_empty()
                && let Some(value) = &structured
            {
                // For clients that do not read structured content.
                blocks.push(ContentBlock::text(value.to_string()));
            }
            let mut result = CallToolResult::success(blocks);
            result.structured_content = structured;
            result
        }
        Outcome::Error(failure) => failed(failure.message),
        Outcome::Cancelled { reason, partial } => match partial.filter(|partial| !partial.is_empty()) {
            Some(partial) => failed(format!("cancelled: {reason}\n{partial}")),
            None => failed(format!("cancelled: {reason}")),
        },
    }
}

fn failed(words: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words)])
}

fn block(part: OutputPart) -> ContentBlock {
    match part {
        OutputPart::Text(text) => ContentBlock::text(text),
        OutputPart::Data(InlineData { mime_type, base64 }) => match mime_type.split('/').next() {
            Some("image") => ContentBlock::image(base64, mime_type),
            Some("audio") => ContentBlock::audio(base64, mime_type),
            Some(_) | None => {
                let contents = ResourceContents::blob(base64, "host://output").with_mime_type(mime_type);
                ContentBlock::resource(contents)
            }
        },
        OutputPart::Link { uri, title } => {
            let mut link = Resource::new(uri.clone(), title.clone().unwrap_or(uri));
            link.title = title;
            ContentBlock::resource_link(link)
        }
    }
}

fn meta(decided: Decided) -> MetaObject {
    let mut meta = MetaObject::new();
    let word = serde_json::to_value(decided).unwrap_or(Value::Null);
    meta.insert(DECIDED.to_owned(), word);
    meta
}

/// Returns a failure as one text.
fn words(failure: &Failure) -> String {
    let causes = failure.causes.iter().map(|cause| format!(": {cause}"));
    let help = failure.help.iter().map(|help| format!("; {help}"));
    [failure.message.clone()].into_iter().chain(causes).chain(help).collect()
}

//! The lists of a server: its tools, resources and prompts.
//!
//! Promises: each list, each of its entries and the number of its pages is limited; what is over is left out, and said
//! to be. An entry that is not what the protocol says is left out alone.

use std::collections::BTreeSet;
use std::time::Duration;

use host_capability::MAX_MCP_TOOL_NAME;
use host_message::Annotations;
use host_plugin::{MAX_DESCRIPTION, MAX_SCHEMA, McpError};
use host_settings::mcp::{McpPrompt, McpPromptArgument, McpResource, McpTool};
use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams,
    ServerCapabilities,
};
use serde_json::Value;

use super::exchange::Exchange;

/// The most tools of an MCP server that are used. Protects the host's memory, and the request to the model.
const MAX_TOOLS: usize = 512;

/// The most resources of an MCP server that are listed, and the most prompts. Protects the host's memory.
const MAX_RESOURCES: usize = 2_000;
/// See [`MAX_RESOURCES`].
const MAX_PROMPTS: usize = 512;

/// The most arguments of a prompt of an MCP server. Protects the user, who fills them in.
const MAX_ARGUMENTS: usize = 50;

/// The most pages of a list of an MCP server. Protects the host from a list without end.
const MAX_PAGES: usize = 100;

/// The longest name, title or address in a list of an MCP server, in bytes. Protects the user's screen.
const MAX_NAME: usize = 2 << 10;

/// The most notes about what of an MCP server is left out. Protects the user's screen.
const MAX_NOTES: usize = 20;

/// The lists of a server.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) tools: Vec<McpTool>,
    pub(super) resources: Vec<McpResource>,
    pub(super) prompts: Vec<McpPrompt>,
    /// What is left out, and why.
    pub(super) notes: Vec<String>,
    /// How long the server says that they stay as they are.
    pub(super) fresh_for: Option<Duration>,
}

/// Reads the lists that a server says it has. `used` are the names of the tools that the user wants; `None` for all.
pub(super) async fn read(
    exchange: &Exchange,
    offers: &ServerCapabilities,
    used: Option<&BTreeSet<String>>,
) -> Result<Lists, McpError> {
    let mut lists = Lists::default();
    if offers.tools.is_some() {
        let request = |page| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let entries = entries(exchange, "tools", MAX_TOOLS, request, &mut lists).await?;
        let mut names = BTreeSet::new();
        for entry in entries {
            match tool(&entry) {
                Ok(tool) if used.is_some_and(|used| !used.contains(&tool.name)) => {}
                // Which of two with one name would be called is not known.
                Ok(tool) if !names.insert(tool.name.clone()) => {
                    lists.note(|| format!("{}: listed twice", named(&entry)))
                }
                Ok(tool) => lists.tools.push(tool),
                // One wrong entry is left out alone, and said.
                Err(why) => lists.note(|| format!("tool {}: {why}", named(&entry))),
            }
        }
        // A misspelled name in the configuration would otherwise only mean a missing tool.
        for missing in used.into_iter().flatten().filter(|used| !names.contains(*used)) {
            lists.note(|| format!("it has no tool `{}`, which `tools` names", host_text::escape_name(missing, 100)));
        }
    }
    if offers.resources.is_some() {
        let request = |page| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page));
        for entry in entries(exchange, "resources", MAX_RESOURCES, request, &mut lists).await? {
            match resource(&entry) {
                Ok(resource) => lists.resources.push(resource),
                Err(why) => lists.note(|| format!("resource {}: {why}", named(&entry))),
            }
        }
    }
    if offers.prompts.is_some() {
        let request = |page| ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page));
        for entry in entries(exchange, "prompts", MAX_PROMPTS, request, &mut lists).await? {
            match prompt(&entry) {
                Ok(prompt) => lists.prompts.push(prompt),
                Err(why) => lists.note(|| format!("prompt {}: {why}", named(&entry))),
            }
        }
    }
    Ok(lists)
}

impl Lists {
    fn note(&mut self, note: impl FnOnce() -> String) {
        match self.notes.len() {
            length if length < MAX_NOTES => self.notes.push(note()),
            MAX_NOTES => self.notes.push("more is left out".to_owned()),
            _ => {}
        }
    }
}

/// Reads a list, page by page, each entry as it is.
async fn entries(
    exchange: &Exchange,
    key: &str,
    most: usize,
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
    lists: &mut Lists,
) -> Result<Vec<Value>, McpError> {
    let (mut found, mut cursor) = (Vec::new(), None);
    // Pages can go on without end.
    for _ in 0..MAX_PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let answer = exchange.send(request(page)).await?;
        // One entry that is not what the protocol says makes the whole answer one that the library does not know.
        let mut answer = serde_json::to_value(answer).unwrap_or_default();
        let Some(Value::Array(page)) = answer.get_mut(key).map(Value::take) else {
            return Err(exchange.protocol(format!("answered a request for its {key} with something else")));
        };
        if let Some(fresh) = answer.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis) {
            lists.fresh_for = Some(lists.fresh_for.map_or(fresh, |known| known.min(fresh)));
        }
        found.extend(page);
        let next = answer.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if found.len() > most {
            // What is left out is said: a model cannot call it, and the user should know why.
            found.truncate(most);
            lists.note(|| format!("only the first {most} {key} are used"));
            return Ok(found);
        }
        // A server that repeats its cursor would be asked for the same page for ever.
        if next.is_none() || next == cursor {
            return Ok(found);
        }
        cursor = next;
    }
    lists.note(|| format!("only the first {MAX_PAGES} pages of its {key} are used"));
    Ok(found)
}

/// The name of an entry for a note.
fn named(entry: &Value) -> String {
    let name = entry.get("name").or_else(|| entry.get("uri")).and_then(Value::as_str);
    name.map_or_else(|| "without a name".to_owned(), |name| format!("`{}`", host_text::escape_name(name, 100)))
}

/// A text of an entry, if it has one, limited in size.
fn text(entry: &Value, key: &str, most: usize) -> Result<Option<String>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= most => Ok(Some(text.clone())),
        Some(Value::String(_)) => Err(format!("its {key} is over {most} bytes")),
        Some(_) => Err(format!("its {key} is not text")),
    }
}

fn required(entry: &Value, key: &str, most: usize) -> Result<String, String> {
    let text = text(entry, key, most)?.filter(|text| !text.is_empty()).ok_or_else(|| format!("it has no {key}"))?;
    match text.chars().any(host_text::is_unsafe) {
        true => Err(format!("its {key} has characters that cannot be shown")),
        false => Ok(text),
    }
}

fn schema(entry: &Value, key: &str) -> Result<Option<Value>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(schema @ Value::Object(_)) if schema.to_string().len() <= MAX_SCHEMA => Ok(Some(schema.clone())),
        Some(Value::Object(_)) => Err(format!("its {key} is over {} KiB", MAX_SCHEMA >> 10)),
        Some(_) => Err(format!("its {key} is not an object")),
    }
}

fn tool(entry: &Value) -> Result<McpTool, String> {
    let hints = entry.get("annotations");
    let hint = |key: &str, unknown: bool| hints.and_then(|hints| hints.get(key)?.as_bool()).unwrap_or(unknown);
    let read_only = hint("readOnlyHint", false);
    let own_title = hints.map(|hints| text(hints, "title", MAX_NAME)).transpose()?.flatten();
    Ok(McpTool {
        name: required(entry, "name", MAX_MCP_TOOL_NAME)?,
        title: text(entry, "title", MAX_NAME)?.or(own_title),
        description: text(entry, "description", MAX_DESCRIPTION)?.unwrap_or_default(),
        input_schema: schema(entry, "inputSchema")?.ok_or("it has no inputSchema")?,
        output_schema: schema(entry, "outputSchema")?,
        annotations: Annotations {
            read_only,
            destructive: !read_only && hint("destructiveHint", true),
            idempotent: hint("idempotentHint", false),
            open_world: hint("openWorldHint", true),
        },
    })
}

fn resource(entry: &Value) -> Result<McpResource, String> {
    let title = text(entry, "title", MAX_NAME)?;
    let uri = required(entry, "uri", MAX_NAME)?;
    Ok(McpResource {
        name: title.or(text(entry, "name", MAX_NAME)?).unwrap_or_else(|| uri.clone()),
        uri,
        description: text(entry, "description", MAX_DESCRIPTION)?,
        mime_type: text(entry, "mimeType", MAX_NAME)?,
    })
}

fn prompt(entry: &Value) -> Result<McpPrompt, String> {
    let arguments = entry.get("arguments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if arguments.len() > MAX_ARGUMENTS {
        return Err(format!("it has over {MAX_ARGUMENTS} arguments"));
    }
    let argument = |entry: &Value| {
        Ok::<_, String>(McpPromptArgument {
            name: required(entry, "name", MAX_MCP_TOOL_NAME)?,
            description: text(entry, "description", MAX_DESCRIPTION)?,
            is_required: entry.get("required").and_then(Value::as_bool).unwrap_or_default(),
        })
    };
    Ok(McpPrompt {
        name: required(entry, "name", MAX_MCP_TOOL_NAME)?,
        description: text(entry, "description", MAX_DESCRIPTION)?,
        arguments: arguments.iter().map(argument).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tool_that_is_over_a_limit_is_left_out_with_the_reason() {
        let plain = json!({"type": "object"});
        let check = |entry: Value, why: &str| {
            let error = tool(&entry).expect_err(why);
            assert!(error.contains(why), "{error}");
        };
        check(json!({"inputSchema": plain}), "no name");
        check(json!({"name": "", "inputSchema": plain}), "no name");
        check(json!({"name": 1, "inputSchema": plain}), "not text");
        check(json!({"name": "x".repeat(129), "inputSchema": plain}), "over 128 bytes");
        check(json!({"name": "a\u{202e}b", "inputSchema": plain}), "cannot be shown");
        check(json!({"name": "a"}), "no inputSchema");
        check(json!({"name": "a", "inputSchema": true}), "not an object");
        check(json!({"name": "a", "inputSchema": {"x": "x".repeat(MAX_SCHEMA)}}), "over 64 KiB");
        check(json!({"name": "a", "inputSchema": plain, "outputSchema": {"x": "x".repeat(MAX_SCHEMA)}}), "over 64 KiB");
        check(json!({"name": "a", "inputSchema": plain, "description": "x".repeat(MAX_DESCRIPTION + 1)}), "over 16384");
    }

    #[test]
    fn hints_of_a_tool_are_read_and_unknown_ones_are_the_worst() {
        let check = |hints: Value, expected: Annotations| {
            let entry = json!({"name": "a", "inputSchema": {}, "annotations": hints});
            assert_eq!(tool(&entry).expect("a tool").annotations, expected, "{hints}");
        };
        let worst = Annotations { read_only: false, destructive: true, idempotent: false, open_world: true };
        check(json!({}), worst);
        check(json!({"readOnlyHint": "yes"}), worst);
        check(json!({"readOnlyHint": true}), Annotations { read_only: true, destructive: false, ..worst });
        check(
            json!({"destructiveHint": false, "idempotentHint": true, "openWorldHint": false}),
            Annotations { read_only: false, destructive: false, idempotent: true, open_world: false },
        );
    }
}

//! The tools of MCP servers as a model sees them: a name for each, and what a call of it may touch.
//!
//! Promises: a name is `SERVER__TOOL`, valid for every service and the same as long as the server calls the tool the
//! same; two tools whose names are equal or look alike are not both offered; what a server says about its tools changes
//! what is asked and granted only if the user said that its hints count, and then only towards reading.

use std::collections::BTreeMap;
use std::sync::Arc;

use host_capability::{McpServerName, Scope};
use host_message::{Annotations, ToolName, ToolSpec};
use host_model::estimate_tools;
use host_plugin::Digest;
use host_settings::mcp::{McpServer, McpState, McpStatus, McpTool, SEPARATOR};
use host_text::{excerpt, skeleton};
use host_tool::{McpDefinition, McpTarget};
use serde_json::json;

/// The longest name of a tool that every service accepts, in bytes.
const MAX_NAME: usize = 64;

/// How many digits of a digest stand for the end of a name that is too long.
const DIGITS: usize = 8;

/// The tools of all servers at one time.
#[derive(Debug, Default)]
pub struct Offer {
    /// The tools.
    pub tools: Vec<OfferedTool>,
    /// Why tools are not offered, by their servers: a line each, safe to show.
    pub notes: Vec<(McpServerName, String)>,
    /// What the definitions of each server take of a model's window, in tokens, estimated.
    pub tokens: Vec<(McpServerName, u64)>,
    /// Whether more may come: a server is not ready yet.
    pub is_starting: bool,
}

/// A tool as it is offered.
#[derive(Clone, Debug)]
pub struct OfferedTool {
    /// What the model is told of it.
    pub spec: ToolSpec,
    /// What a call needs: this tool, and no other.
    pub scope: Scope,
    /// The server and its tool that are called.
    pub target: McpTarget,
    /// The configuration of the plugin for this call: which tool of which server the name means.
    pub config: Arc<BTreeMap<String, String>>,
}

impl Offer {
    /// Offers the tools that these servers have.
    pub(crate) fn new(servers: &[McpServer], statuses: &[McpStatus]) -> Self {
        let is_starting = statuses.iter().any(|status| status.state == McpState::Starting);
        let mut offer = Self { is_starting, ..Self::default() };
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for status in statuses {
            let Some(server) = servers.iter().find(|server| server.name == status.name) else { continue };
            let identity = server.identity();
            let mut named: Vec<(ToolName, &McpTool)> = Vec::new();
            for tool in &status.tools {
                let name = name(&server.name, &tool.name);
                if let Some(other) = seen.get(&skeleton(&name)) {
                    let (tool, other) = (excerpt(&tool.name, 60), excerpt(other, 60));
                    let note = format!("the tool `{tool}` is not used: its name looks like `{other}`");
                    offer.notes.push((server.name.clone(), note));
                    continue;
                }
                if !tool.input_schema.get("type").is_none_or(|kind| kind == "object") {
                    let note =
                        format!("the tool `{}` is not used: its arguments are not an object", excerpt(&tool.name, 60));
                    offer.notes.push((server.name.clone(), note));
                    continue;
                }
                seen.insert(skeleton(&name), tool.name.clone());
                named.push((ToolName::new(name), tool));
            }
            let definitions: Arc<[Arc<McpDefinition>]> =
                named.iter().map(|(name, tool)| Arc::new(definition(name.clone(), tool, &identity))).collect();
            let offered: Vec<OfferedTool> = named
                .iter()
                .zip(definitions.iter())
                .map(|((name, tool), definition)| {
                    offered(
                        server,
                        tool,
                        name,
                        McpTarget {
                            server: server.name.clone(),
                            identity: identity.clone(),
                            definition: Arc::clone(definition),
                            of_server: Arc::clone(&definitions),
                        },
                    )
                })
                .collect();
            let specs: Vec<ToolSpec> = offered.iter().map(|tool| tool.spec.clone()).collect();
            offer.tokens.push((server.name.clone(), estimate_tools(&specs)));
            offer.tools.extend(offered);
        }
        offer
    }
}

/// Whether the tool only reads, as far as the host believes it.
pub(crate) fn only_reads(server: &McpServer, tool: &McpTool) -> bool {
    server.trusts_hints && tool.annotations.read_only
}

fn offered(server: &McpServer, tool: &McpTool, name: &ToolName, target: McpTarget) -> OfferedTool {
    let reads = only_reads(server, tool);
    let mut input_schema = tool.input_schema.clone();
    if let Some(schema) = input_schema.as_object_mut() {
        schema.entry("type").or_insert_with(|| json!("object"));
    }
    let spec = ToolSpec {
        name: name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        input_schema: Arc::new(input_schema),
        output_schema: tool.output_schema.clone().map(Arc::new),
        annotations: if server.trusts_hints { tool.annotations } else { Annotations::default() },
    };
    let tools = json!({ name.as_str(): { "server": server.name.as_str(), "tool": tool.name } });
    OfferedTool {
        spec,
        scope: Scope::for_mcp_tool(&server.name, &tool.name, reads),
        target,
        config: Arc::new(BTreeMap::from_iter([("tools".to_owned(), tools.to_string())])),
    }
}

fn definition(name: ToolName, tool: &McpTool, identity: &str) -> McpDefinition {
    let McpTool { name: original, title, description, input_schema, output_schema, annotations } = tool;
    let said = json!({
        "name": original,
        "title": title,
        "description": description,
        "input_schema": input_schema,
        "output_schema": output_schema,
        "annotations": annotations,
    });
    McpDefinition::new(name, original.clone(), identity, &said)
}

/// The name by which a model calls a tool.
fn name(server: &McpServerName, tool: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let fitting: String = tool.chars().map(fits).collect();
    let name = format!("{server}{SEPARATOR}{fitting}");
    if name.len() <= MAX_NAME {
        return name;
    }
    let digest: String = Digest::of(tool.as_bytes()).as_str().chars().take(DIGITS).collect();
    let kept: String = name.chars().take(MAX_NAME - DIGITS - 1).collect();
    format!("{kept}_{digest}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use host_tool::Schema;
    use serde_json::Value;

    use super::*;
    use host_settings::mcp::{McpAddress, McpState, McpTransport};

    fn server(trusts_hints: bool) -> McpServer {
        McpServer {
            name: McpServerName::parse("github").expect("a name"),
            transport: McpTransport::Http(McpAddress {
                url: "https://a.example/mcp".to_owned(),
                headers: BTreeMap::new(),
                reaches_private: false,
                client_id: None,
                client_secret: None,
            }),
            timeout: Duration::from_secs(1),
            tools: None,
            is_required: false,
            trusts_hints,
            origin: PathBuf::from("c.toml"),
        }
    }

    fn tool(name: &str, read_only: bool) -> McpTool {
        McpTool {
            name: name.to_owned(),
            title: None,
            description: "Does it.".to_owned(),
            input_schema: json!({}),
            output_schema: None,
            annotations: Annotations { read_only, ..Annotations::default() },
        }
    }

    fn status(tools: Vec<McpTool>) -> McpStatus {
        McpStatus {
            name: McpServerName::parse("github").expect("a name"),
            state: McpState::Ready,
            program: None,
            revision: None,
            instructions: None,
            tools,
            resources: Vec::new(),
            prompts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether a value is a schema with references that lead nowhere but into itself: others are never fetched.
    fn is_closed(schema: &Value) -> bool {
        match schema {
            Value::Object(object) => object.iter().all(|(key, value)| match (key.as_str(), value) {
                ("$ref", Value::String(to)) => to.starts_with('#'),
                (_, value) => is_closed(value),
            }),
            Value::Array(items) => items.iter().all(is_closed),
            _ => true,
        }
    }

    fn names(offer: &Offer) -> Vec<&str> {
        offer.tools.iter().map(|tool| tool.spec.name.as_str()).collect()
    }

    // promise mcp.names: A tool of an MCP server is called `SERVER__TOOL`; of two names that are equal or look alike
    //   only the first is used.
    #[test]
    fn mcp_names_are_valid_stable_and_never_alike() {
        let tools = ["search", "list.files", "list-files", "Search", "s3arch", "sea\u{440}ch", ""]
            .map(|name| tool(name, false));
        let offer = Offer::new(&[server(false)], &[status(tools.to_vec())]);
        assert_eq!(
            names(&offer),
            ["github__search", "github__list_files", "github__s3arch", "github__sea_ch", "github__"]
        );
        let notes: Vec<&str> = offer.notes.iter().map(|(_, note)| note.as_str()).collect();
        assert_eq!(
            notes,
            [
                "the tool `list-files` is not used: its name looks like `list.files`",
                "the tool `Search` is not used: its name looks like `search`",
            ]
        );
        let long = "x".repeat(100);
        let offer =
            Offer::new(&[server(false)], &[status(vec![tool(&long, false), tool(&(long.clone() + "y"), false)])]);
        let [one, other] = names(&offer)[..] else { panic!("{:?}", names(&offer)) };
        assert!(one.len() == MAX_NAME && other.len() == MAX_NAME && one != other, "{one} {other}");
        assert!(ToolName::new(one).is_valid());
    }

    // promise mcp.claims: What a server says about its tools widens nothing: a hint that a tool only reads counts only
    //   for a server that the user marked.
    #[test]
    fn mcp_hint_counts_only_for_a_server_that_the_user_marked() {
        for (trusts, says_it_reads, scope, read_only) in [
            (false, true, "github/t", false),
            (true, true, "github/t read", true),
            (true, false, "github/t", false),
            (false, false, "github/t", false),
        ] {
            let offer = Offer::new(&[server(trusts)], &[status(vec![tool("t", says_it_reads)])]);
            let [tool] = offer.tools.as_slice() else { panic!("one tool") };
            assert_eq!((tool.scope.to_string().as_str(), tool.spec.annotations.read_only), (scope, read_only));
        }
    }

    #[test]
    fn mcp_schemas_with_nested_references_of_2020_12_are_used_and_none_is_fetched() {
        let nested = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "id": {"type": "integer"}}}},
            "properties": {"root": {"$ref": "#/$defs/node"}},
            "required": ["root"],
        });
        let abroad = json!({"type": "object", "properties": {"a": {"$ref": "https://a.example/schema.json"}}});
        let with = |schema: &Value| McpTool { input_schema: schema.clone(), ..tool("t", false) };
        let offer = Offer::new(&[server(false)], &[status(vec![with(&nested)])]);
        let schema = Schema::compile(&offer.tools[0].spec.input_schema).expect("it is used");
        assert!(is_closed(&nested) && !is_closed(&abroad));
        assert!(schema.check(&json!({"root": {"next": {"next": {"id": 1}}}})).is_ok());
        assert!(schema.check(&json!({"root": {"next": {"next": {"id": "x"}}}})).is_err());
        assert!(Schema::compile(&abroad).is_err(), "what lies elsewhere is no schema here");
        let list = McpTool { input_schema: json!({"type": "array"}), ..tool("u", false) };
        assert_eq!(Offer::new(&[server(false)], &[status(vec![list])]).notes.len(), 1);
    }
}

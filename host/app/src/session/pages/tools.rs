//! The tools that a model can call and what each may touch, what a call would do, and its result.

use host_capability::{Capability, Grants};
use host_extensions::grants::UserGrants;
use host_extensions::plugins::{LoadedPlugin, MCP};
use host_extensions::servers::{McpHub, ReportedTool};
use host_manifest::ToolEntry;
use host_message::{Output, OutputPart, ToolName, ToolSpec};
use host_plugin::{Confirmation, FileChange, Ground, command_line};
use host_settings::error::Failure;
use host_settings::mcp::SEPARATOR;
use host_text::{Newlines, clip, escape_exact, exact, excerpt, visible, visible_line};
use host_tool::Registry;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::page::{Line, Page};
use crate::single_call;

/// The longest scope of a grant, in characters; JSON has all of it. Protects the lines about the other capabilities.
const MAX_SCOPE: usize = 200;

/// The longest title of a tool, in characters. Protects the list.
const MAX_TITLE: usize = 240;

/// By how much the further rows of a line are indented: no text of a tool looks like a tool of its own.
const DEEPER: usize = 6;

/// A tool in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// Its plugin.
    pub plugin: String,
    /// What it is.
    pub title: String,
    /// What it asks for, and whether it was granted.
    pub needs: Vec<(Capability, bool)>,
}

impl ListedTool {
    /// The tool for a program.
    pub fn json(&self) -> Value {
        let granted = self.needs.iter().map(|(capability, granted)| (capability.to_string(), Value::Bool(*granted)));
        let granted: Map<String, Value> = granted.collect();
        json!({"name": self.name, "plugin": self.plugin, "title": self.title, "granted": granted})
    }
}

/// All that is known of one tool.
#[derive(Debug)]
pub enum ShownTool<'a> {
    /// One of a plugin.
    OfPlugin {
        /// The plugin.
        plugin: &'a LoadedPlugin,
        /// The tool.
        tool: &'a ToolEntry,
        /// The imports of the plugin's component.
        imports: Vec<String>,
        /// What the plugin may touch.
        granted: Grants,
    },
    /// One of an MCP server. All that is known of it is what its server says.
    OfServer(&'a ToolSpec),
}

impl<'a> ShownTool<'a> {
    /// Finds a tool by its name, with the grants of this process.
    ///
    /// # Errors
    ///
    /// If there is none, or its component cannot be read.
    pub fn find(app: &'a App, tools: &'a Registry, name: &str) -> Result<Self, Failure> {
        if let Some(tool) = tools.get(&ToolName::new(name)).filter(|_| name.contains(SEPARATOR)) {
            return Ok(Self::OfServer(tool.spec()));
        }
        let (plugin, tool) = single_call::find(app, name)?;
        let imports = plugin.plugin.imports().map_err(|error| Failure::input(error.to_string()))?.names.clone();
        Ok(Self::OfPlugin { plugin, tool, imports, granted: app.grants().granted_to(plugin) })
    }

    /// What the tool says of itself.
    pub fn spec(&self) -> &'a ToolSpec {
        match self {
            Self::OfPlugin { tool, .. } => &tool.spec,
            Self::OfServer(spec) => spec,
        }
    }

    /// What the host knows of it, as lines: who made it, what it imports, and what it may touch.
    pub fn about(&self) -> String {
        let (plugin, imports, granted) = match self {
            Self::OfPlugin { plugin, imports, granted, tool: _ } => (plugin, imports, granted),
            Self::OfServer(_) => {
                return format!(
                    "Its MCP server says this about it. Calls run in the plugin `{MCP}`, which may call this tool \
                     alone.\n"
                );
            }
        };
        let manifest = &plugin.manifest;
        let (license, digest) = (visible_line(&manifest.license), plugin.plugin.digest());
        let mut text = format!("Plugin `{}` {} ({license}), SHA-256 {digest}\n", manifest.name, manifest.version);
        text.push_str(&format!("Imports: {}\n", imports.join(", ")));
        for (capability, declared) in manifest.requests() {
            let scope = capability.parse().ok().and_then(|capability| granted.scope(capability));
            let state = match scope.map(ToString::to_string) {
                Some(scope) => format!("granted: {}", excerpt(&scope, MAX_SCOPE)),
                None => "not granted".to_owned(),
            };
            text.push_str(&format!("  {} ({state}): to {}\n", exact(capability), visible_line(&declared.reason)));
        }
        text
    }

    /// All of it for a program.
    pub fn json(&self) -> Value {
        match self {
            Self::OfServer(spec) => json!({"tool": spec, "plugin": {"name": MCP}}),
            Self::OfPlugin { plugin, tool, imports, granted } => {
                let LoadedPlugin { manifest, plugin, .. } = plugin;
                json!({
                    "tool": tool.spec,
                    "plugin": {"name": manifest.name, "version": manifest.version, "license": manifest.license},
                    "component": {"sha256": plugin.digest().as_str(), "size": plugin.size(), "imports": imports},
                    "asks_for": manifest.capabilities,
                    "granted": granted,
                })
            }
        }
    }
}

/// Returns the tools of plugins and of MCP servers, with these grants.
pub fn listed(app: &App, grants: &UserGrants) -> Vec<ListedTool> {
    let mut tools = Vec::new();
    for installed in &app.plugins {
        let granted = grants.granted_to(installed);
        for tool in &installed.manifest.tools {
            let needs: Vec<(Capability, bool)> = installed
                .plugin
                .declared()
                .iter()
                .map(|scope| scope.capability())
                // Of those that the plugin requests the tool itself may need none.
                .filter(|capability| tool.capabilities.iter().any(|needed| needed == capability.name()))
                .map(|capability| (capability, granted.has(capability)))
                .collect();
            let title = tool.spec.title.clone().unwrap_or_default();
            let (name, plugin) = (tool.spec.name.to_string(), installed.manifest.name.clone());
            tools.push(ListedTool { name, plugin, title, needs });
        }
    }
    tools.extend(app.mcp.iter().flat_map(|servers| of_servers(app, grants, servers)));
    tools
}

/// The tools of MCP servers.
fn of_servers(app: &App, grants: &UserGrants, servers: &McpHub) -> Vec<ListedTool> {
    let plugin = app.plugin(MCP).map(|plugin| grants.granted_to(plugin));
    let is_granted = plugin.is_some_and(|granted| granted.has(Capability::Mcp));
    let tools = servers.reports().into_iter().flat_map(|report| report.tools);
    let row = |tool: ReportedTool| {
        let needs = vec![(Capability::Mcp, is_granted || tool.only_reads)];
        ListedTool { name: tool.name, plugin: MCP.to_owned(), title: tool.title.unwrap_or_default(), needs }
    };
    tools.map(row).collect()
}

/// The page, two lines for each tool.
pub fn page(tools: &[ListedTool]) -> Page {
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
    let mut page = Page::default();
    for ListedTool { name, title, needs, .. } in tools {
        let word = |(capability, granted): &(Capability, bool)| match granted {
            true => capability.to_string(),
            false => format!("{capability} (not granted)"),
        };
        let needs: Vec<String> = needs.iter().map(word).collect();
        let title = format!("{name:width$}  {}", clip(&visible_line(title), MAX_TITLE));
        page.push(Line::new(title).indented(DEEPER));
        page.push(Line::new(format!("{:width$}  {}", "", needs.join(", "))).indented(width + 2 + DEEPER));
    }
    page
}

/// What a call would do.
pub fn preview(preview: Option<&Confirmation>) -> String {
    match preview {
        None => "it would run without a question\n".to_owned(),
        Some(Confirmation::Exec { argv, directory, input, ground }) => {
            let command = escape_exact(&command_line(argv), Newlines::Keep).into_owned();
            let input = input.as_ref().map(|input| format!("which reads:\n{}\n", escape_exact(input, Newlines::Keep)));
            let where_to = match ground {
                Ground::Call => "",
                Ground::Background => ", in the background",
                Ground::Terminal => ", in a terminal",
            };
            format!("run in {}{where_to}:\n{command}\n{}", exact(directory), input.unwrap_or_default())
        }
        Some(Confirmation::Edit { unified, .. }) => escape_exact(unified, Newlines::Keep).into_owned(),
        Some(Confirmation::Edits { changes }) => {
            changes.iter().map(|change| escape_exact(&change.unified, Newlines::Keep).into_owned()).collect()
        }
        Some(Confirmation::Info { text, .. }) => format!("{}\n", visible(text)),
        Some(Confirmation::Mcp { server, identity, tool, changed: _ }) => {
            format!("call `{}` of the MCP server `{server}` ({})\n", exact(tool), exact(identity))
        }
        Some(Confirmation::Call) => "it has no preview: the question would show its name and arguments\n".to_owned(),
    }
}

/// What a call would do, as data.
pub fn preview_json(preview: Option<&Confirmation>) -> Value {
    match preview {
        None => Value::Null,
        Some(Confirmation::Exec { argv, directory, input, ground }) => {
            let (background, terminal) = (ground.outlasts_call(), *ground == Ground::Terminal);
            json!({"kind": "exec", "argv": argv, "directory": directory, "input": input, "background": background,
                   "terminal": terminal})
        }
        Some(Confirmation::Edit { path, unified, proposed }) => {
            json!({"kind": "edit", "path": path, "difference": unified, "proposed": proposed})
        }
        Some(Confirmation::Edits { changes }) => {
            let changes = changes.iter().map(|FileChange { path, unified, proposed }| {
                json!({"path": path, "unified": unified, "proposed": proposed})
            });
            json!({"kind": "edits", "changes": changes.collect::<Vec<_>>()})
        }
        Some(Confirmation::Info { text, requests, writes }) => {
            let requests = requests.iter().map(|(method, url)| json!({"method": method, "url": url}));
            let requests: Vec<Value> = requests.collect();
            json!({"kind": "info", "text": text, "requests": requests, "writes": writes})
        }
        Some(Confirmation::Mcp { server, identity, tool, changed: _ }) => {
            json!({"kind": "mcp", "server": server, "identity": identity, "tool": tool})
        }
        Some(Confirmation::Call) => json!({"kind": "call"}),
    }
}

/// Returns the text of an output unchanged; data is described, not shown.
pub fn output(output: &Output) -> String {
    let mut text = String::new();
    for part in &output.content {
        match part {
            OutputPart::Text(part) => text.push_str(&visible(part)),
            OutputPart::Data(data) => {
                let size = data.base64.len();
                text.push_str(&format!("({}, {size} base64 characters; see --json)", data.mime_type));
            }
            OutputPart::Link { uri, .. } => text.push_str(&exact(uri)),
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

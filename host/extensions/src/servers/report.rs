//! What a user is shown about MCP servers, for any frontend.

use std::time::Duration;

use host_settings::mcp::{McpServer, McpState, McpStatus, McpTransport};
use host_text::{Notice, counted, exact, excerpt};
use serde_json::{Value, json};

use super::McpHub;

/// How long a command about servers waits for them. Protects the user from one that never answers.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A server, with what is known of it.
#[derive(Clone, Debug)]
pub struct McpReport {
    /// How it is configured.
    pub server: McpServer,
    /// What is known of it.
    pub status: McpStatus,
    /// What of it is not used, and why: a line each, safe to show.
    pub notes: Vec<String>,
    /// The tools that a model can call.
    pub tools: Vec<ReportedTool>,
}

/// A tool that a model can call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedTool {
    /// The name by which a model calls it.
    pub name: String,
    /// The server's title for it.
    pub title: Option<String>,
    /// What the server says about it.
    pub description: String,
    /// Whether it only reads, as far as the host believes the server.
    pub only_reads: bool,
}

impl McpHub {
    /// Returns what is known of each server now, in the order of their configuration.
    pub fn reports(&self) -> Vec<McpReport> {
        let offer = self.offer();
        let report = |status: McpStatus| {
            let server = self.servers().iter().find(|server| server.name == status.name)?.clone();
            let of_server = |name: &host_capability::McpServerName| *name == server.name;
            let not_offered = offer.notes.iter().filter(|(name, _)| of_server(name)).map(|(_, note)| note.clone());
            let notes = status.notes.iter().cloned().chain(not_offered).collect();
            let tools = offer.tools.iter().filter(|tool| of_server(&tool.target.server));
            let tools = tools.map(|tool| ReportedTool {
                name: tool.spec.name.to_string(),
                title: tool.spec.title.clone(),
                description: tool.spec.description.clone(),
                only_reads: tool.spec.annotations.read_only,
            });
            let tools = tools.collect();
            Some(McpReport { server, status, notes, tools })
        };
        self.statuses().into_iter().filter_map(report).collect()
    }

    /// Returns the reports once every server answered, or [`PATIENCE`] is over.
    pub async fn settled_reports(&self) -> Vec<McpReport> {
        let settled = self.connected().settled(&|_| true);
        // Those that are late are reported as they are.
        tokio::time::timeout(PATIENCE, settled).await.ok();
        self.reports()
    }
}

impl McpReport {
    /// Returns its state in words, safe to show.
    pub fn state(&self) -> Notice {
        match &self.status.state {
            McpState::Starting => "connecting".into(),
            McpState::Ready => "connected".into(),
            McpState::NeedsLogin => {
                Notice::from("needs a login: ").bare_command(format!("mcp login {}", self.status.name))
            }
            McpState::Unavailable { why, is_retried: true } => format!("unavailable, retrying: {why}").into(),
            McpState::Unavailable { why, is_retried: false } => format!("unavailable: {why}").into(),
        }
    }

    /// Returns what it offers, such as `3 tools, 1 prompt`.
    pub fn offers(&self) -> String {
        let McpStatus { resources, prompts, .. } = &self.status;
        let all = [(self.tools.len(), "tool"), (resources.len(), "resource"), (prompts.len(), "prompt")];
        let some: Vec<String> =
            all.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect();
        if some.is_empty() { "nothing".to_owned() } else { some.join(", ") }
    }

    /// Returns its command or its address, safe to show: without what may be a secret in an address.
    pub fn identity(&self) -> String {
        match &self.server.transport {
            McpTransport::Program(program) => excerpt(&host_plugin::command_line(&program.command), 200),
            McpTransport::Http(address) => excerpt(&host_settings::configuration::shown_address(&address.url), 200),
        }
    }

    /// Returns all of it for a program.
    pub fn json(&self) -> Value {
        let McpStatus { name, state, program, revision, instructions, tools, resources, prompts, .. } = &self.status;
        let (state, why) = match state {
            McpState::Starting => ("starting", None),
            McpState::Ready => ("ready", None),
            McpState::NeedsLogin => ("needs_login", None),
            McpState::Unavailable { why, .. } => ("unavailable", Some(why)),
        };
        let tools = tools.iter().map(|tool| json!({"name": tool.name, "title": tool.title, "description": tool.description, "input_schema": tool.input_schema, "output_schema": tool.output_schema, "annotations": tool.annotations}));
        let resources = resources.iter().map(
            |one| json!({"uri": one.uri, "name": one.name, "description": one.description, "mime_type": one.mime_type}),
        );
        let prompts = prompts.iter().map(|prompt| {
            let arguments = prompt
                .arguments
                .iter()
                .map(|one| json!({"name": one.name, "description": one.description, "required": one.is_required}));
            json!({"name": prompt.name, "description": prompt.description, "arguments": arguments.collect::<Vec<_>>()})
        });
        json!({
            "name": name.as_str(),
            "state": state,
            "why": why,
            "identity": self.identity(),
            "configured_in": exact(&self.server.origin.display().to_string()),
            "program": program.as_ref().map(|(name, version)| json!({"name": name, "version": version})),
            "revision": revision,
            "instructions": instructions,
            "called": self.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            "tools": tools.collect::<Vec<_>>(),
            "resources": resources.collect::<Vec<_>>(),
            "prompts": prompts.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

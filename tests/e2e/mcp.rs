//! MCP servers of the user's own and of a trusted project: their tools through the same rules and questions as any
//! other, their resources and prompts, and what happens when they misbehave.

mod calls;
mod commands;
mod many;
mod project;
mod questions;

use std::path::PathBuf;

use host_tests::host::{Ended, Host};
use host_tests::host_snapshot;
use serde_json::{Value, json};

/// What lets every tool of the server `files` be called.
const GRANT: &str = "mcp:mcp=files";

/// A server that reads lines and answers each request with a file next to it: `METHOD` with its slash as a dot, such as
/// `tools.list`. What it reads goes to `asked`. It speaks the revision of 2025-11-25.
const SERVER: &str = r#"
cd "$(dirname "$0")"
echo start >> asked
while IFS= read -r line; do
  printf '%s\n' "$line" >> asked
  rest=${line#*\"method\":\"}
  method=$(printf '%s' "${rest%%\"*}" | tr / .)
  case $line in *\"id\":*) ;; *) continue ;; esac
  rest=${line#*\"id\":}
  id=${rest%%[,\}]*}
  if [ -f "$method" ]; then
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$(cat "$method")"
  else
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
  fi
done
"#;

/// A server that a test makes up.
pub(crate) struct Server {
    files: Vec<(String, Value)>,
}

impl Server {
    /// A server with these tools, which all answer this.
    pub(crate) fn new(tools: &Value, answer: &Value) -> Self {
        let initialize = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "files", "version": "1.2.3"},
            "instructions": "Use it for files.",
        });
        let files = [
            ("initialize", initialize),
            ("ping", json!({})),
            ("tools.list", json!({"tools": tools})),
            ("tools.call", answer.clone()),
            ("resources.list", json!({"resources": []})),
            ("resources.templates.list", json!({"resourceTemplates": []})),
            ("prompts.list", json!({"prompts": []})),
        ];
        Self { files: files.map(|(name, answer)| (name.to_owned(), answer)).into() }
    }

    /// The same with another answer to a request.
    fn answers(mut self, method: &str, answer: Value) -> Self {
        self.files.retain(|(name, _)| *name != method);
        self.files.push((method.to_owned(), answer));
        self
    }

    /// The host with this server in the home, not configured.
    pub(crate) fn at_home(&self, host: Host) -> Host {
        let host = host.home_file("files/server.sh", SERVER);
        self.files
            .iter()
            .fold(host, |host, (name, answer)| host.home_file(&format!("files/{name}"), answer.to_string()))
    }

    /// The host with this server configured as `files`, with more keys.
    pub(crate) fn of(&self, host: Host, keys: &str) -> Host {
        let host = self.at_home(host);
        let script = script(&host).display().to_string();
        let folder = host.home().join("files").display().to_string();
        host.configured(&format!(
            "[mcp.files]\ncommand = \"sh\"\nargs = [{}]\nwrite = [{}]\nrequired = true\n{keys}",
            json!(script),
            json!(folder)
        ))
    }
}

/// What lets the server write down what it is asked, behind its walls.
fn writable(host: &Host) -> String {
    format!("[mcp.files]\nwrite = [{}]\n", json!(host.home().join("files").display().to_string()))
}

fn script(host: &Host) -> PathBuf {
    host.home().join("files/server.sh")
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    })
}

pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The requests that the server got, by their methods, without those of the handshake and the lists.
pub(crate) fn asked(host: &Host, method: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(host.home().join("files/asked")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["method"] == method).collect()
}

/// How often the server was started.
fn starts(host: &Host) -> usize {
    let text = std::fs::read_to_string(host.home().join("files/asked")).unwrap_or_default();
    text.lines().filter(|line| *line == "start").count()
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

/// A model that makes these calls in one reply, and is done when it was told these pieces, in order.
fn calling(calls: &[Value], told: &[&str], arguments: &[&str]) -> Host {
    let replies = [json!({"chunks": calls}), json!({"expect": {"responses": told}, "chunks": [{"text": "Done."}]})];
    Host::scripted(&replies, arguments)
}

#[track_caller]
fn went_well(ended: &Ended) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
}

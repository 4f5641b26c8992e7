//! What a service can keep in its cache: over a whole conversation each request begins with all of the one before.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::server::{Answer, Request, Server as Web};
use serde_json::{Value, json};

use super::formats::{FORMATS, Format, Say};
use crate::mcp::{Server, text, tool};

/// A request in the order in which services cache it.
pub(super) struct Cached {
    pub(super) tools: Vec<String>,
    system: String,
    pub(super) messages: Vec<String>,
}

impl Cached {
    pub(super) fn of(request: &Request) -> Self {
        let mut body = request.json();
        unmarked(&mut body);
        let list =
            |value: &Value| -> Vec<String> { value.as_array().into_iter().flatten().map(Value::to_string).collect() };
        let mut messages =
            ["contents", "input", "messages"].iter().flat_map(|name| list(&body[name])).collect::<Vec<_>>();
        let system = ["systemInstruction", "instructions", "system"].iter().find_map(|name| body.get(name));
        let system = system.map_or_else(|| messages.remove(0), Value::to_string);
        let gemini = &body["tools"][0]["functionDeclarations"];
        let tools = list(if gemini.is_array() { gemini } else { &body["tools"] });
        Self { tools, system, messages }
    }

    /// What comes first in this request and is not the same in the next one; `None` if the next one has all of it.
    pub(super) fn lost_in(&self, next: &Self) -> Option<&str> {
        let lost = |before: &'_ [String], after: &[String]| {
            before.iter().zip(after.iter().map(Some).chain(std::iter::repeat(None))).position(|(a, b)| Some(a) != b)
        };
        if let Some(at) = lost(&self.tools, &next.tools) {
            return Some(&self.tools[at]);
        }
        if self.system != next.system {
            return Some(&self.system);
        }
        lost(&self.messages, &next.messages).map(|at| self.messages[at].as_str())
    }
}

/// Takes the marks out that say up to where a service should cache: they move, and are no part of what is cached.
fn unmarked(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(unmarked);
        }
        Value::Array(all) => all.iter_mut().for_each(unmarked),
        _ => {}
    }
}

/// A model of the same family.
pub(super) fn sibling(format: &Format) -> &'static str {
    match format.model {
        "gemini/gemini-2.5-pro" => "gemini/gemini-2.5-flash",
        "vertex/gemini-3-pro" => "vertex/gemini-3-flash",
        "openai/gpt-5" => "openai/gpt-5-mini",
        "openai-responses/gpt-5" => "openai-responses/gpt-5-mini",
        "anthropic/claude-haiku-4-5" => "anthropic/claude-sonnet-4-5",
        "ollama/qwen3:8b" => "ollama/qwen3:4b",
        _ => format.model,
    }
}

/// The replies to the requests of the conversation, in order.
fn reply(number: usize) -> Vec<Say> {
    match number {
        0 => vec![Say::Call("ls", json!({}))],
        1 => vec![Say::Text("One.")],
        2 => vec![Say::Text("Two.")],
        3 => vec![Say::Call("read_file", json!({"path": "deep/a.txt"}))],
        4 => vec![Say::Text("Three.")],
        5 => vec![Say::Text("Four.")],
        6 => vec![Say::Call("tool_search", json!({"names": ["files__look"]}))],
        7 => vec![Say::Text("Five.")],
        8 => vec![Say::Text("Six.")],
        _ => vec![Say::Text("Seven.")],
    }
}

/// The whole conversation, whose requests are returned: it begins in the mode `plan`, goes on in another one, enters a
/// folder with a context file, asks another model of the family, gets the tools of a server that is slow to start, is
/// in `plan` again, and goes on in another process.
async fn conversation(format: &'static Format) -> Vec<Request> {
    let next = AtomicUsize::new(0);
    let server = Web::start(move |request| match (request.path.as_str(), is_asked(request)) {
        ("/token", _) => Answer::ok(json!({"access_token": "t0ken", "expires_in": 3600}).to_string()),
        (_, true) => format.reply(&reply(next.fetch_add(1, Ordering::SeqCst))),
        // The list of models, or a count of tokens.
        (_, false) => Answer::status(404, "not here"),
    })
    .await;
    let slow = Server::new(&json!([tool("look", "Looks.")]), &text("seen"));
    let host = slow.at_home(Host::new(["run"]));
    let start = format!("cd {}; read _ < go; exec sh server.sh", host.home().join("files").display());
    let configuration = format!(
        "context.mcp_share = 0\n[mcp.files]\ncommand = \"sh\"\nargs = [\"-c\", {}]\nwrite = [{}]\n",
        json!(start),
        json!(host.home().join("files").display().to_string())
    );
    let home = host.home().to_owned();
    let host = format.set_up(host, &server, &configuration);
    let host = host.file("AGENTS.md", "Use tabs.\n").file("deep/AGENTS.md", "Use blanks.\n").file("deep/a.txt", "a\n");
    let made = Command::new("mkfifo").arg(home.join("files/go")).status().expect("it runs");
    assert!(made.success());
    tokio::task::spawn_blocking(move || {
        let start = |arguments: &[&str]| {
            let mut command = host.command_of(&[&["run", "--model", format.model], arguments].concat());
            command.env("TERM", "xterm-256color");
            Pty::start(command, 120, 50)
        };
        let mut pty = start(&["--approval-mode", "plan"]);
        pty.sees("plan › ").types("first\r").sees("One.").sees("plan › ");
        pty.types("/mode default\r").sees("default › ").types("second\r").sees("Two.").sees("default › ");
        pty.types("third\r").sees("Three.").sees("default › ");
        pty.types(&format!("/model {}\r", sibling(format))).sees("model: ").types("fourth\r").sees("Four.");
        std::fs::write(home.join("files/go"), "go\n").expect("the server reads it");
        pty.settles(std::time::Duration::from_secs(60), |pty| {
            pty.types("/mcp\r").sees("files: ");
            pty.screen().contains("files: connected")
        });
        pty.types("fifth\r").sees("Five.").types("/mode plan\r").sees("plan › ").types("sixth\r").sees("Six.");
        pty.types("/quit\r");
        assert_eq!(pty.ends(), Some(0));
        let mut pty = start(&["--continue", "--approval-mode", "default"]);
        pty.sees("default › ").types("seventh\r").sees("Seven.").types("/quit\r");
        assert_eq!(pty.ends(), Some(0));
    })
    .await
    .expect("the conversation is as expected");
    server.requests().into_iter().filter(is_asked).collect()
}

/// Whether a request asks the model.
pub(super) fn is_asked(request: &Request) -> bool {
    let ends = ["streamGenerateContent?alt=sse", "/chat/completions", "/responses", "/v1/messages", "/api/chat"];
    ends.iter().any(|end| request.path.ends_with(end))
}

// promise conversation.prefix: Over a conversation each request begins with all of the one before: instructions,
//   declarations and messages stay as they were sent, and what changes is appended.
#[tokio::test]
async fn prefix_of_each_request_is_the_one_before_on_every_wire() {
    let native = FORMATS.iter().filter(|format| !format.name().ends_with("in text"));
    for (format, requests) in join_all(native.map(|format| async move { (format, conversation(format).await) })).await {
        let requests: Vec<Cached> = requests.iter().map(Cached::of).collect();
        let name = format.name();
        assert_eq!(requests.len(), 10, "{name}");
        for (at, pair) in requests.windows(2).enumerate().take(8) {
            assert_eq!(pair[0].lost_in(&pair[1]), None, "{name}: request {at} is not all in the next one");
        }
        // A later process may not have the tools of servers yet. What was said is the same.
        let (last, resumed) = (&requests[8], &requests[9]);
        assert_eq!((&last.system, &last.messages[..]), (&resumed.system, &resumed.messages[..last.messages.len()]));
        // The changes were there: the check would not see one that never came.
        let tools = |at: usize, name: &str| requests[at].tools.iter().any(|tool| tool.contains(&format!("\"{name}\"")));
        assert!(
            (tools(0, "edit") || tools(0, "apply_patch")) && tools(0, "present_plan") && !tools(0, "tool_search"),
            "{name}"
        );
        assert!(tools(6, "tool_search") && !tools(6, "files__look") && tools(7, "files__look"), "{name}");
        let said = |at: usize, text: &str| requests[at].messages.iter().any(|message| message.contains(text));
        assert!(said(0, "Use tabs.") && said(0, "Approval mode `plan`") && said(0, "cannot be called now"), "{name}");
        assert!(!said(1, "Approval mode `default`") && said(2, "Approval mode `default`"), "{name}");
        assert!(!said(3, "Use blanks.") && said(4, "Use blanks."), "{name}");
        let model = format!("Model: {}.", sibling(format));
        assert!(!said(4, &model) && said(5, &model), "{name}");
    }
}

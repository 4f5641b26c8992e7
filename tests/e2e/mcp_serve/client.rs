//! A client of the Model Context Protocol: messages as JSON, line by line, over the streams of a process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use host_tests::host::Host;
use serde_json::{Value, json};

/// How long a message may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The revision with a handshake.
pub(crate) const OLD: &str = "2025-11-25";

/// The revision without one.
pub(crate) const NEW: &str = "2026-07-28";

/// What a client says of itself when it can show forms.
pub(crate) fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// A server and the streams to it.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that were not what was waited for.
    pub(crate) held: Vec<Value>,
    /// What each request says of the client, in the revision without a handshake.
    meta: Option<Value>,
    next: u64,
}

impl Client {
    /// Starts `host mcp serve` with these arguments. Nothing is sent yet.
    pub(crate) fn start(host: &Host, arguments: &[&str]) -> Self {
        let mut command = host.command_of(&[&["mcp", "serve"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not a message": line}));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages, held: Vec::new(), meta: None, next: 0 }
    }

    /// A client of the revision with a handshake, which has these capabilities.
    pub(crate) fn old(host: &Host, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(host, arguments);
        let answer = client.initialize(OLD, capabilities);
        assert_eq!(answer["result"]["protocolVersion"], OLD, "{answer}");
        client
    }

    /// A client of the revision without one.
    pub(crate) fn new(host: &Host, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(host, arguments);
        client.meta = Some(meta(capabilities));
        client
    }

    /// Shakes hands.
    pub(crate) fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let about = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": about});
        let answer = self.request("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a request, and returns its id.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            for (key, value) in meta.as_object().expect("an object") {
                params["_meta"][key] = value.clone();
            }
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// The next message.
    pub(crate) fn receive(&mut self) -> Value {
        self.messages.recv_timeout(LIMIT).expect("the server says something")
    }

    /// Waits for a message, and keeps those before it.
    pub(crate) fn wait(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.messages.recv_timeout(LIMIT) {
                Ok(message) if is(&message) => return message,
                Ok(message) => self.held.push(message),
                Err(error) => panic!("no {what}: {error}; before: {:?}", self.held),
            }
        }
    }

    /// The response to a request.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        self.wait(&format!("response to {id}"), |message| message["id"] == id && message.get("method").is_none())
    }

    /// Sends a request and waits for its response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.response(id)
    }

    /// Begins a call.
    pub(crate) fn begin(&mut self, name: &str, arguments: Value) -> u64 {
        self.ask("tools/call", json!({"name": name, "arguments": arguments, "_meta": {"progressToken": "p"}}))
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let id = self.begin(name, arguments);
        self.response(id)["result"].take()
    }

    /// The next question in a request of the server.
    pub(crate) fn question(&mut self) -> Value {
        self.wait("question", |message| message["method"] == "elicitation/create")
    }

    /// Answers a question of the server.
    pub(crate) fn answer(&mut self, question: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
    }

    /// Closes the input, and returns the exit code and what was printed on standard error.
    pub(crate) fn close(mut self) -> (Option<i32>, String) {
        self.input = None;
        self.end()
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut stderr = self.child.stderr.take().expect("a pipe");
        let reading = std::thread::spawn(move || std::io::read_to_string(&mut stderr).expect("text"));
        let status = self.child.wait().expect("it ends");
        (status.code(), reading.join().expect("read"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Of a test that failed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a request of the revision without a handshake says of its client.
pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("there is text in {result}"))
}

/// An answer to a form.
pub(crate) fn accept(answer: &str) -> Value {
    json!({"action": "accept", "content": {"answer": answer}})
}

//! An editor: a client of the protocol that speaks its wire format and nothing else.
//!
//! It answers questions from a list, has texts of open files, and keeps all updates. Every line that the agent writes
//! has to be a message.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use host_tests::host::Host;
use serde_json::{Value, json};

/// How long one message may take. Only a test that fails waits for it.
const LIMIT: Duration = Duration::from_secs(60);

/// The answer to a question about a call.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// The first option of this kind.
    Kind(&'static str),
    /// The option whose name contains this.
    Named(&'static str),
    /// An option that was not offered.
    Unknown,
    /// No answer: the client gave up.
    Cancelled,
    /// An error.
    Fails,
}

/// An editor with its agent.
pub(crate) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    errors: std::thread::JoinHandle<String>,
    next: u64,
    /// Responses that nobody waited for so far, by their ids.
    responses: HashMap<u64, Value>,
    root: PathBuf,
    /// The answers to the next questions.
    pub(crate) replies: VecDeque<Reply>,
    /// The questions so far.
    pub(crate) questions: Vec<Value>,
    /// The updates so far.
    pub(crate) updates: Vec<Value>,
    /// The texts of open files, by their paths.
    pub(crate) open_files: HashMap<PathBuf, String>,
    /// The files that were asked about.
    pub(crate) asked_files: Vec<PathBuf>,
}

/// The scripted model of a host, as a flag.
pub(crate) fn script(host: &Host, name: &str, replies: &[Value]) -> String {
    let path = host.home().join(name);
    std::fs::write(&path, replies.iter().map(|reply| format!("{reply}\n")).collect::<String>()).expect("written");
    format!("scripted:{}", path.display())
}

impl Editor {
    /// Starts an agent with these arguments, and nothing else.
    pub(crate) fn start(host: &Host, arguments: &[&str]) -> Self {
        // What is tested is rarely which mode holds where none was chosen.
        let names_one = arguments.iter().any(|argument| ["--approval-mode", "--yolo"].contains(argument));
        let mode: &[&str] = if names_one { &[] } else { &["--approval-mode", "default"] };
        Self::of(host.command_of(&[&["acp"], mode, arguments].concat()))
    }

    /// Starts this agent; its folder is the one that the editor has open.
    pub(crate) fn of(mut command: Command) -> Self {
        command.stdin(std::process::Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let (output, mut errors) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line = line.expect("text");
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).expect("text");
            text
        });
        let folder = command.get_current_dir().expect("it has one");
        let root = std::fs::canonicalize(folder).expect("it is there");
        Self {
            input: child.stdin.take(),
            child,
            messages,
            errors,
            next: 0,
            responses: HashMap::new(),
            root,
            replies: VecDeque::new(),
            questions: Vec::new(),
            updates: Vec::new(),
            open_files: HashMap::new(),
            asked_files: Vec::new(),
        }
    }

    /// Starts an agent, and introduces an editor with these capabilities.
    pub(crate) fn connected(host: &Host, arguments: &[&str], capabilities: Value) -> Self {
        Self::start(host, arguments).introduced(capabilities)
    }

    /// Introduces itself with these capabilities.
    pub(crate) fn introduced(mut self, capabilities: Value) -> Self {
        let initialize = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        self.call("initialize", initialize).expect("it answers");
        self
    }

    /// The folder that the editor has open.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The id of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).expect("the agent reads");
    }

    /// Sends a request; returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The next message, whatever it is.
    pub(crate) fn next(&mut self) -> Value {
        self.messages.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("{error}; so far: {:#?}", self.updates))
    }

    /// Handles messages until there is the response to this request.
    pub(crate) fn response(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            if let Some(response) = self.responses.remove(&id) {
                return match response.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(response["result"].clone()),
                };
            }
            let message = self.next();
            self.handle(message);
        }
    }

    /// Handles messages until an update is as wanted, which is returned.
    pub(crate) fn sees(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut from = 0;
        loop {
            if let Some(found) = self.updates[from..].iter().find(|update| wanted(update)) {
                return found.clone();
            }
            from = self.updates.len();
            let message = self.next();
            self.handle(message);
        }
    }

    /// Sends a request, and returns its response.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.response(id)
    }

    /// Starts a session; returns its id.
    pub(crate) fn session(&mut self) -> String {
        let params = json!({"cwd": self.root, "mcpServers": []});
        let session = self.call("session/new", params).expect("it starts");
        session["sessionId"].as_str().expect("an id").to_owned()
    }

    /// Sends a prompt of one text; returns its request's id.
    pub(crate) fn begin(&mut self, session: &str, text: &str) -> u64 {
        self.send("session/prompt", prompt(session, json!([{"type": "text", "text": text}])))
    }

    /// Runs a prompt of one text; returns why it stopped.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> String {
        let id = self.begin(session, text);
        let response = self.response(id).unwrap_or_else(|error| panic!("{error}"));
        response["stopReason"].as_str().expect("a reason").to_owned()
    }

    /// The text of all updates of this kind, such as `agent_message_chunk`.
    pub(crate) fn text(&self, kind: &str) -> String {
        let updates = self.updates.iter().filter(|update| update["sessionUpdate"] == kind);
        updates.filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// The updates of this kind.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// Ends the input; returns the exit code and what was logged.
    pub(crate) fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let code = self.child.wait().expect("it ends").code();
        let errors = std::mem::replace(&mut self.errors, std::thread::spawn(String::new));
        (code, errors.join().expect("text"))
    }

    fn handle(&mut self, message: Value) {
        let params = message["params"].clone();
        match message["method"].as_str() {
            None => {
                let id = message["id"].as_u64().unwrap_or_else(|| panic!("it answers nothing: {message}"));
                self.responses.insert(id, message);
            }
            Some("session/update") => self.updates.push(params["update"].clone()),
            Some("session/request_permission") => {
                let reply = self.replies.pop_front().unwrap_or_else(|| panic!("nobody expects {params:#}"));
                self.answer(&message["id"], &params, &reply);
                self.questions.push(params);
            }
            Some("fs/read_text_file") => {
                let path = PathBuf::from(params["path"].as_str().expect("a path"));
                let answer = match self.open_files.get(&path) {
                    Some(text) => json!({"result": {"content": text}}),
                    None => json!({"error": {"code": -32002, "message": "not open"}}),
                };
                self.asked_files.push(path);
                self.respond(&message["id"], answer);
            }
            Some("$/cancel_request") => {}
            other => panic!("an editor does not know {other:?}: {message:#}"),
        }
    }

    fn answer(&mut self, id: &Value, question: &Value, reply: &Reply) {
        let option = |fits: &dyn Fn(&Value) -> bool| {
            let options = question["options"].as_array().expect("options");
            let option = options.iter().find(|option| fits(option));
            option.unwrap_or_else(|| panic!("{reply:?} is none of {options:#?}"))["optionId"].clone()
        };
        let selected = |option: Value| json!({"result": {"outcome": {"outcome": "selected", "optionId": option}}});
        let answer = match reply {
            Reply::Kind(kind) => selected(option(&|option| option["kind"] == *kind)),
            Reply::Named(name) => {
                selected(option(&|option| option["name"].as_str().is_some_and(|known| known.contains(name))))
            }
            Reply::Unknown => selected(json!("99")),
            Reply::Cancelled => json!({"result": {"outcome": {"outcome": "cancelled"}}}),
            Reply::Fails => json!({"error": {"code": -32603, "message": "no window"}}),
        };
        self.respond(id, answer);
    }

    fn respond(&mut self, id: &Value, mut answer: Value) {
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        self.line(&answer.to_string());
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The parameters of a prompt.
pub(crate) fn prompt(session: &str, blocks: Value) -> Value {
    json!({"sessionId": session, "prompt": blocks})
}

/// A reply of a model that calls a tool.
pub(crate) fn calls(name: &str, arguments: Value) -> Value {
    json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]})
}

/// A reply of a model that says something.
pub(crate) fn says(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

/// The same, after the responses to its calls had these pieces.
pub(crate) fn says_after(responses: &[&str], text: &str) -> Value {
    json!({"expect": {"responses": responses}, "chunks": [{"text": text}]})
}

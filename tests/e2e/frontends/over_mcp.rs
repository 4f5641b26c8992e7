//! The conversation over the Model Context Protocol: the agent is the client's, so the script is read here, and what it
//! calls goes to `host mcp serve`.
//!
//! A client installs and trusts nothing: that happens before, as it does for a user. Deliberately not here: resuming,
//! since the conversation is the client's.

use std::path::Path;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::in_process::InProcess;
use super::{Frontend, Reply};
use crate::mcp_serve::client::{Client, accept, forms, text};

/// The file with what was decided about each call that has a response.
const DECIDED: &str = "decided.jsonl";

pub(super) struct OverMcp {
    client: Client,
    script: std::vec::IntoIter<Value>,
    decided: std::path::PathBuf,
}

impl OverMcp {
    /// The next reply of the model: its call, its text and what it expects.
    fn reply(&mut self) -> (Value, String, Option<String>) {
        let reply = self.script.next().expect("the script goes on");
        let chunk = &reply["chunks"][0];
        let expected = reply["expect"]["responses"][0].as_str().map(str::to_owned);
        (chunk["call"].clone(), chunk["text"].as_str().unwrap_or_default().to_owned(), expected)
    }

    fn answer(&mut self, reply: Reply) {
        let question = self.client.question();
        let result = match reply {
            Reply::Yes => accept("once"),
            Reply::No => json!({"action": "decline"}),
            Reply::Change => {
                let proposed = &question["params"]["requestedSchema"]["properties"]["text"]["default"];
                let mine = proposed.as_str().expect("what would be written").replace("the model's", "the user's");
                json!({"action": "accept", "content": {"answer": "edit", "text": mine}})
            }
        };
        self.client.answer(&question, result);
    }
}

impl Frontend for OverMcp {
    fn start(host: &Host, script: &Path, resumes: bool) -> Self {
        if !resumes {
            assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
        }
        let text = std::fs::read_to_string(script).expect("it was written");
        let script: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let client = Client::old(host, &[], forms());
        Self { client, script: script.into_iter(), decided: host.home().join(DECIDED) }
    }

    fn install(host: &Host, bundle: &Path, yes: bool) {
        InProcess::install(host, bundle, yes);
    }

    fn prompt(&mut self, _text: &str, replies: &[Reply], end: &str) {
        let (call, mut said, _) = self.reply();
        if call.is_object() {
            let id = self.client.begin(call["name"].as_str().expect("a name"), call["arguments"].clone());
            replies.iter().for_each(|reply| self.answer(*reply));
            let result = self.client.response(id)["result"].take();
            let status = match (&result["isError"], text(&result)) {
                (Value::Bool(false), _) => "success",
                (_, text) if text.starts_with("cancelled:") => "cancelled",
                _ => "error",
            };
            let line = json!([status, result["_meta"]["host/decided"]]);
            let before = std::fs::read_to_string(&self.decided).unwrap_or_default();
            std::fs::write(&self.decided, format!("{before}{line}\n")).expect("written");
            let (_, then, expected) = self.reply();
            let expected = expected.filter(|_| status == "success").unwrap_or_default();
            assert!(result.to_string().contains(&expected), "{expected} in {result}");
            said = then;
        }
        assert_eq!(said, end);
    }

    fn cancel(&mut self, _text: &str) {
        let (call, _, _) = self.reply();
        let id = self.client.begin("shell", call["arguments"].clone());
        self.answer(Reply::Yes);
        self.client.wait("output", |message| message["params"]["message"] == "begun");
        let reason = json!({"requestId": id});
        self.client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason}));
    }

    fn leave(self) {
        let (code, stderr) = self.client.close();
        assert_eq!(code, Some(0), "{stderr}");
    }

    fn decided(host: &Host) -> Vec<Value> {
        let text = std::fs::read_to_string(host.home().join(DECIDED)).expect("something was decided");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

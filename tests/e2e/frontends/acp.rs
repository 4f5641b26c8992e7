//! An editor as a frontend: the protocol on the streams of the real binary.

use std::path::Path;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::{Frontend, Reply};
use crate::acp::editor::{self, Editor};

pub(super) struct InEditor {
    editor: Editor,
    session: String,
}

impl Frontend for InEditor {
    fn start(host: &Host, script: &Path, resumes: bool) -> Self {
        let model = format!("scripted:{}", script.display());
        if !resumes {
            // The user decides about trust in a terminal.
            assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
        }
        let mut editor = Editor::connected(host, &["--model", &model], json!({}));
        let session = if resumes {
            let params = json!({"cwd": editor.root()});
            let sessions = editor.call("session/list", params).expect("a list")["sessions"].clone();
            let id = sessions[0]["sessionId"].as_str().expect("the last session").to_owned();
            let params = json!({"sessionId": id, "cwd": editor.root(), "mcpServers": []});
            editor.call("session/load", params).expect("it is loaded");
            id
        } else {
            editor.session()
        };
        Self { editor, session }
    }

    fn install(host: &Host, bundle: &Path, yes: bool) {
        // Nothing is installed over the protocol: it is the user's to do.
        if yes {
            let bundle = bundle.display().to_string();
            assert_eq!(host.run_of(&["plugin", "install", &bundle, "--user", "--yes"]).code, Some(0));
        }
    }

    fn prompt(&mut self, text: &str, replies: &[Reply], end: &str) {
        self.editor.replies.extend(replies.iter().map(|reply| match reply {
            Reply::Yes => editor::Reply::Kind("allow_once"),
            Reply::No => editor::Reply::Kind("reject_once"),
            Reply::Change => panic!("a permission request has no answer that changes a call"),
        }));
        self.editor.updates.clear();
        assert_eq!(self.editor.prompt(&self.session, text), "end_turn");
        assert_eq!(self.editor.text("agent_message_chunk"), end);
        assert!(self.editor.replies.is_empty(), "not everything was asked");
    }

    fn cancel(&mut self, text: &str) {
        self.editor.replies.push_back(editor::Reply::Kind("allow_once"));
        let request = self.editor.begin(&self.session, text);
        let has_begun = |update: &Value| {
            update["content"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("begun"))
        };
        self.editor.sees(has_begun);
        self.editor.notify("session/cancel", json!({"sessionId": self.session}));
        assert_eq!(self.editor.response(request).expect("it ends")["stopReason"], "cancelled");
    }

    fn leave(self) {
        let (code, log) = self.editor.leave();
        assert_eq!(code, Some(0), "{log}");
    }
}

//! What a prompt contains, and what its run looks like in an editor.

use host_tests::host::Host;
use serde_json::{Value, json};

use super::editor::{Editor, calls, prompt, says, says_after, script};

// promise acp.updates: An editor sees the text, the thoughts, the steps, and each call with its kind, its file and what
//   it changed.
#[test]
fn acp_run_is_reported_as_updates() {
    let host = Host::new(["acp"]).file("src/a.rs", "one\ntwo\nthree\n");
    let items = json!([{"text": "look", "state": "done"}, {"text": "change", "state": "in_progress"},
        {"text": "ask", "state": "cancelled"}, {"text": "test", "state": "pending", "depends_on": [2]}]);
    let replies = [
        json!({"chunks": [{"thought": "Let me "}, {"thought": "look."}, {"text": "I read\u{1b}[2J."}, {"call": {"name": "read_file", "arguments": {"path": "src/a.rs", "offset": 2}}}]}),
        calls("todo", json!({"items": items})),
        calls("edit", json!({"path": "src/a.rs", "old_string": "two", "new_string": "2"})),
        calls("shell", json!({"command": "exit 3"})),
        json!({"chunks": [{"text": "Done."}, {"usage": {"input": 10, "output": 2}}]}),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model, "--approval-mode", "yolo"], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "Change two to 2"), "end_turn");
    assert_eq!(editor.text("agent_thought_chunk"), "Let me look.");
    assert_eq!(editor.text("agent_message_chunk"), "I read\\u{1b}[2J.Done.");
    let plan: Vec<_> = editor.of_kind("plan")[0]["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| json!([entry["content"], entry["status"]]))
        .collect();
    let expected = [
        json!(["1. look", "completed"]),
        json!(["2. change", "in_progress"]),
        json!(["3. ask (cancelled)", "completed"]),
        json!(["4. test (waits for 2)", "pending"]),
    ];
    assert_eq!(plan, expected);
    let a = json!(editor.root().join("src/a.rs"));
    let begun: Vec<_> = editor
        .of_kind("tool_call")
        .into_iter()
        .map(|call| json!([call["title"], call["kind"], call["status"]]))
        .collect();
    let expected = [
        json!(["read_file: src/a.rs:2", "read", null]),
        json!(["todo", null, null]),
        json!(["edit: src/a.rs", "edit", null]),
        json!(["shell: exit 3", "execute", null]),
    ];
    assert_eq!(begun, expected);
    assert_eq!(editor.of_kind("tool_call")[0]["locations"], json!([{"path": a, "line": 2}]));
    assert_eq!(editor.of_kind("tool_call")[2]["rawInput"]["new_string"], "2");
    let ended = |name: &str| {
        let id = &editor.of_kind("tool_call").into_iter().find(|call| call["name"] == name).expect("it was called")["toolCallId"];
        let ends = editor.of_kind("tool_call_update").into_iter().filter(|end| end["toolCallId"] == *id);
        ends.filter(|end| ["completed", "failed"].contains(&end["status"].as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let ends = ended("edit");
    let [edit] = ends.as_slice() else { panic!("it settles once") };
    let change = json!({"type": "diff", "path": a, "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"});
    assert_eq!((&edit["content"], &edit["status"]), (&json!([change]), &json!("completed")));
    assert_eq!(edit["locations"], json!([{"path": a, "line": 1}]));
    assert_eq!(ended("shell")[0]["status"], "failed", "its command failed");
    let title = editor.of_kind("session_info_update");
    assert_eq!(title[0]["title"], "Change two to 2");
    let usage = editor.of_kind("usage_update");
    let usage = usage.last().expect("it is reported");
    assert!(usage["used"].as_u64() > Some(0) && usage["size"].as_u64() > usage["used"].as_u64(), "{usage}");
}

// promise acp.context: What an editor attaches is read with the session's grants, or counts as a path that the user
//   typed, without keys, passwords and the host's own files, and is marked so that it cannot pass for the user's words.
#[test]
fn acp_prompt_attaches_files_texts_and_images() {
    let host = Host::new(["acp"]).file("a b.txt", "the linked text\n").file("docs", "nobody typed it\n");
    let replies = [
        json!({"expect": {"last_text": "the linked text"}, "chunks": [{"text": "one"}]}),
        json!({"expect": {"last_text": "--- attached: /elsewhere/x.rs ---\nembedded"}, "chunks": [{"text": "two"}]}),
        says("three"),
        json!({"expect": {"last_text": "[@docs](https://example.com/docs)"}, "chunks": [{"text": "four"}]}),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    let link = format!("file://{}/a%20b.txt#L1:2", editor.root().display());
    let text = |text: &str| json!({"type": "text", "text": text});
    let linked = json!([text("Explain "), {"type": "resource_link", "name": "a b.txt", "uri": link}]);
    let resource = json!({"uri": "file:///elsewhere/x.rs", "mimeType": "text/plain", "text": "embedded @a.txt\n"});
    let embedded = json!([text("Explain "), {"type": "resource", "resource": resource}]);
    let image = json!([text("What is this?"), {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]);
    let web = json!([text("See "), {"type": "resource_link", "name": "@docs", "uri": "https://example.com/docs"}]);
    for blocks in [linked, embedded, image, web] {
        let response = editor.call("session/prompt", prompt(&id, blocks.clone()));
        assert_eq!(response.unwrap_or_else(|error| panic!("{blocks}: {error}"))["stopReason"], "end_turn");
    }
    assert_eq!(editor.text("agent_message_chunk"), "onetwothreefour");
    let log = std::fs::read_to_string(&host.logs()[0]).expect("read");
    assert!(log.contains("image/png"), "the image reached the model");
    assert!(!log.contains("nobody typed it"), "the name of a link attaches nothing");
}

// promise acp.context
#[test]
fn acp_link_to_what_may_not_be_read_is_an_error_and_starts_nothing() {
    let host = Host::new(["acp"])
        .home_file(".ssh/id_ed25519", "PRIVATE")
        .home_file(".local/state/host/history", "PRIVATE")
        .file(".gitignore", "ignored\n")
        .file("ignored", "x");
    let model = script(&host, "script.jsonl", &[]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    let key = std::fs::canonicalize(host.home()).expect("it is there").join(".ssh/id_ed25519");
    std::os::unix::fs::symlink(&key, host.repository().join("link")).expect("a link");
    let history = std::fs::canonicalize(host.home()).expect("it is there").join(".local/state/host/history");
    for path in [key, history, editor.root().join("ignored"), editor.root().join("link")] {
        let link = json!([{"type": "resource_link", "name": "x", "uri": format!("file://{}", path.display())}]);
        let error = editor.call("session/prompt", prompt(&id, link)).expect_err("it may not be read");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("cannot be attached") && !message.contains("PRIVATE"), "{error}");
    }
    let log = std::fs::read_to_string(&host.logs()[0]).expect("read");
    assert!(!log.contains("PRIVATE") && !log.contains("\"type\":\"content\""), "{log}");
}

#[test]
fn acp_prompt_with_content_that_was_not_offered_is_an_error() {
    let host = Host::new(["acp"]);
    let mut editor = Editor::connected(&host, &["--model", "offline"], json!({}));
    let id = editor.session();
    for (blocks, expected) in [
        (json!([]), "the prompt is empty"),
        (json!([{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]), "audio is not supported"),
        (json!([{"type": "image", "mimeType": "text/html", "data": "AAAA"}]), "`text/html` is not supported"),
    ] {
        let error = editor.call("session/prompt", prompt(&id, blocks)).expect_err(expected);
        assert!(error["message"].as_str().is_some_and(|message| message.contains(expected)), "{error}");
    }
}

#[test]
fn acp_failed_run_is_an_error_with_its_help() {
    let host = Host::new(["acp"]);
    let failed = json!({"chunks": [{"text": "I be"}, {"error": {"kind": "authentication", "message": "no such key", "status": 401}}]});
    let model = script(&host, "script.jsonl", &[failed]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    let request = editor.begin(&id, "hi");
    let error = editor.response(request).expect_err("it failed");
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32000), &json!("authentication")), "{error}");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("no such key")), "{error}");
}

#[test]
fn acp_denied_call_says_what_would_allow_it_without_options_of_the_command_line() {
    let host = Host::new(["acp"]).home_file(".ssh/id_ed25519", "PRIVATE");
    let key = std::fs::canonicalize(host.home()).expect("it is there").join(".ssh/id_ed25519");
    let denied = "Only the user can change this: ";
    let replies = [calls("read_file", json!({"path": key})), says_after(&[denied], "no")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "look"), "end_turn");
    let log = std::fs::read_to_string(&host.logs()[0]).expect("read");
    let (_, help) = log.split_once(denied).expect("the model reads what would allow it");
    for option in ["--grant", "--deny", "--approval-mode", "--add-dir"] {
        assert!(!help.contains(option), "{help}");
    }
}

#[test]
fn acp_turn_limit_is_a_stop_reason() {
    let host = Host::new(["acp"]);
    let list = || calls("ls", json!({"path": "."}));
    let model = script(&host, "script.jsonl", &[list(), list(), list(), list()]);
    let mut editor = Editor::connected(&host, &["--model", &model, "--max-turns", "2"], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "look"), "max_turn_requests");
}

#[test]
fn acp_commands_of_a_conversation_are_prompts() {
    let host = Host::new(["acp"]);
    let model = script(
        &host,
        "script.jsonl",
        &[
            json!({"expect": {"last_text": "AGENTS.md"}, "chunks": [{"text": "written"}]}),
            json!({"expect": {"last_text": "/unknown thing"}, "chunks": [{"text": "text"}]}),
        ],
    );
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "/compact"), "end_turn");
    assert_eq!(editor.text("agent_message_chunk"), "nothing to compact yet");
    assert_eq!(editor.prompt(&id, "/init"), "end_turn");
    assert_eq!(editor.prompt(&id, "/unknown thing"), "end_turn");
    let request = editor.begin(&id, "/review -rf");
    let error = editor.response(request).expect_err("it is no name of a revision");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("-rf")), "{error}");
}

/// The options of a question, each with its kind.
pub(super) fn options(question: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let options = question["options"].as_array().expect("options").iter();
    options.map(|option| (text(&option["name"]), text(&option["kind"]))).collect()
}

#[test]
fn acp_live_output_of_a_call_is_shown_while_it_runs() {
    let host = Host::new(["acp"]);
    let replies = [
        calls("shell", json!({"command": "echo beg\"\"un; read line < fifo; echo ended"})),
        says_after(&["ended"], "ok"),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let fifo = host.repository().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("it runs").success());
    let mut editor = Editor::connected(&host, &["--model", &model, "--approval-mode", "yolo"], json!({}));
    let id = editor.session();
    let request = editor.begin(&id, "run");
    editor.sees(|update| update["content"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("begun")));
    std::fs::write(&fifo, "go\n").expect("it is read");
    assert_eq!(editor.response(request).expect("it ends")["stopReason"], "end_turn");
}

// promise acp.commands: An editor lists skills and command files with their sources, and sends them by their names.
#[test]
fn acp_lists_skills_and_command_files_and_sends_them() {
    let host = Host::new(["acp"])
        .home_file(
            ".agents/skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Fills forms.\n---\nRead ref.md first.\n",
        )
        .home_file(".claude/commands/git/fix.md", "---\nargument-hint: [issue]\n---\nFix the issue $1.\n")
        .home_file(".gemini/commands/init.toml", "prompt = 'hidden by the built-in one'");
    let replies = [
        json!({"expect": {"last_text": "Read ref.md first."}, "chunks": [{"text": "one"}]}),
        json!({"expect": {"last_text": "Fix the issue 7."}, "chunks": [{"text": "two"}]}),
        json!({"expect": {"last_text": "/none"}, "chunks": [{"text": "three"}]}),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    for line in ["/pdf fill it", "/git:fix 7", "/none"] {
        assert_eq!(editor.prompt(&id, line), "end_turn", "{line}");
    }
    assert_eq!(editor.text("agent_message_chunk"), "onetwothree");
    let commands = editor.of_kind("available_commands_update")[0]["availableCommands"].clone();
    let commands = commands.as_array().expect("commands");
    let listed: Vec<_> = commands.iter().map(|one| json!([one["name"], one["description"]])).collect();
    let of_user = [json!(["git:fix", "Fix the issue $1. (user)"]), json!(["pdf", "Fills forms. (user's skill)"])];
    assert!(listed.ends_with(&of_user), "{listed:?}");
    assert_eq!(commands[commands.len() - 2]["input"]["hint"], "[issue]");
}

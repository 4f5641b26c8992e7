//! Sessions, their modes and options, and what a client hands over with them.

use host_tests::host::Host;
use serde_json::{Value, json};

use super::editor::{Editor, Reply, calls, says, says_after, script};
use crate::mcp::{Server, asked, text, tool};

#[test]
fn acp_initialize_offers_what_works_and_nothing_else() {
    let host = Host::new(["acp"]);
    let mut editor = Editor::start(&host, &["--model", "offline"]);
    let answer = editor.call("initialize", json!({"protocolVersion": 7, "clientCapabilities": {}})).expect("an answer");
    assert_eq!(answer["protocolVersion"], 1, "the newest that it speaks");
    let capabilities = &answer["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], true);
    let prompt = &capabilities["promptCapabilities"];
    assert_eq!(
        (&prompt["image"], &prompt["embeddedContext"], &prompt["audio"]),
        (&json!(true), &json!(true), &json!(false))
    );
    let sessions: Vec<_> = capabilities["sessionCapabilities"].as_object().expect("an object").keys().collect();
    assert_eq!(sessions, ["list", "resume", "close"]);
    assert_eq!(capabilities["mcpCapabilities"], json!({"http": true, "sse": false}));
    assert_eq!(answer["agentInfo"]["name"], "host");
    let key = json!({"methodId": answer["authMethods"][0]["id"]});
    assert_eq!(editor.call("authenticate", key), Ok(json!({})));
    let unknown = editor.call("authenticate", json!({"methodId": "magic"})).expect_err("it is unknown");
    assert!(unknown["message"].as_str().is_some_and(|message| message.contains("`magic`")), "{unknown}");
}

#[test]
fn acp_session_without_a_model_names_the_keys() {
    let host = Host::new(["acp"]);
    let host = host.env("OLLAMA_HOST", "127.0.0.1:9");
    let mut editor = Editor::connected(&host, &[], json!({}));
    let params = json!({"cwd": editor.root(), "mcpServers": []});
    let error = editor.call("session/new", params).expect_err("there is no model");
    assert_eq!(error["code"], -32000, "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("no model is configured") && message.contains("GEMINI_API_KEY"), "{message}");
    assert!(editor.call("authenticate", json!({"methodId": "model-key"})).is_err());
}

#[test]
fn acp_help_names_a_setting_instead_of_an_option_of_the_command_line() {
    let host = Host::new(["acp"]);
    let mut editor = Editor::connected(&host, &["--model", "offline"], json!({}));
    let elsewhere = host_tests::host::folder();
    let params = json!({"cwd": elsewhere.path(), "mcpServers": []});
    let error = editor.call("session/new", params).expect_err("it is not in a repository");
    let help = "use a different folder in the editor to choose one, run `git init` here, or add `any_folder = true` in your configuration to work in a folder without version control";
    assert_eq!((&error["data"]["help"], &error["data"]["kind"]), (&json!(help), &json!("input")), "{error}");
    assert!(error["message"].as_str().is_some_and(|message| message.ends_with(&format!("\nhelp: {help}"))), "{error}");
    assert!(!error.to_string().contains("--"), "{error}");
    assert_eq!(editor.leave().0, Some(0));
}

// promise acp.ids: A session, a mode or an option that does not exist is an error, as is the beginning of an id.
#[test]
fn acp_unknown_ids_are_errors() {
    let host = Host::new(["acp"]);
    let model = script(&host, "script.jsonl", &[says("hello")]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    editor.prompt(&id, "hi");
    let root = editor.root().to_owned();
    let prompt = |session: &str| json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]});
    let load = |session: &str| json!({"sessionId": session, "cwd": root, "mcpServers": []});
    for (method, params, expected) in [
        ("session/prompt", prompt("nope"), "`nope` is not open"),
        ("session/prompt", prompt(&id[..8]), "is not open"),
        ("session/set_mode", json!({"sessionId": "nope", "modeId": "plan"}), "is not open"),
        ("session/set_mode", json!({"sessionId": id, "modeId": "ask"}), "there is no mode `ask`"),
        (
            "session/set_config_option",
            json!({"sessionId": id, "configId": "theme", "value": "dark"}),
            "there is no option `theme`",
        ),
        (
            "session/set_config_option",
            json!({"sessionId": id, "configId": "model", "value": "openai/none"}),
            "`openai/none` is not offered",
        ),
        (
            "session/set_config_option",
            json!({"sessionId": id, "configId": "mode", "type": "boolean", "value": true}),
            "takes one of its values",
        ),
        ("session/close", json!({"sessionId": ""}), "is not open"),
        ("session/load", load("20200101-000000-00000000"), "there is no session"),
        ("session/load", load(""), "there is no session"),
        ("session/resume", load(&id[..10]), "there is no session"),
        ("session/load", load(&id), "is open already"),
        ("session/list", json!({"cursor": "x"}), "invalid cursor `x`"),
        ("session/new", json!({"cwd": "src", "mcpServers": []}), "is not an absolute path"),
        ("session/new", json!({"cwd": root.join("none"), "mcpServers": []}), "cannot work in the folder"),
        ("session/fork", load(&id), "Method not found"),
    ] {
        let error = editor.call(method, params).expect_err(method);
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{method}: {error}");
    }
    assert_eq!(editor.leave().0, Some(0));
}

// promise acp.resume: A session has the id of its log: it is listed, loaded and resumed by another process.
#[test]
fn acp_session_survives_a_restart() {
    let host = Host::new(["acp"]).file("a.txt", "one\ntwo\n");
    let first = [calls("read_file", json!({"path": "a.txt"})), says_after(&["two"], "It has two lines.")];
    let model = script(&host, "first.jsonl", &first);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "How many lines has a.txt?"), "end_turn");
    assert_eq!(editor.leave().0, Some(0));

    let second = [json!({"expect": {"last_text": "and now"}, "chunks": [{"text": "Still two."}]})];
    let model = script(&host, "second.jsonl", &second);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let listed = editor.call("session/list", json!({"cwd": editor.root()})).expect("a list");
    let [session] = listed["sessions"].as_array().expect("a list").as_slice() else { panic!("{listed}") };
    assert_eq!((&session["sessionId"], &session["title"]), (&json!(id), &json!("How many lines has a.txt?")));
    assert!(session["updatedAt"].is_string() && listed.get("nextCursor").is_none(), "{listed}");
    let elsewhere = editor.call("session/list", json!({"cwd": "/nowhere"})).expect("a list");
    assert_eq!(elsewhere["sessions"], json!([]));

    let params = json!({"sessionId": id, "cwd": editor.root(), "mcpServers": []});
    let loaded = editor.call("session/load", params.clone()).expect("it is loaded");
    assert_eq!(loaded["modes"]["currentModeId"], "default");
    // The conversation came before the response.
    assert_eq!(editor.text("user_message_chunk"), "How many lines has a.txt?");
    assert_eq!(editor.text("agent_message_chunk"), "It has two lines.");
    let call = editor.of_kind("tool_call")[0].clone();
    assert_eq!((&call["title"], &call["kind"]), (&json!("read_file: a.txt"), &json!("read")));
    let end = editor.of_kind("tool_call_update")[0].clone();
    assert_eq!((&end["toolCallId"], &end["status"]), (&call["toolCallId"], &json!("completed")));
    assert!(end["content"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("two")), "{end}");
    // Closed, and resumed without its conversation.
    assert_eq!(editor.call("session/close", json!({"sessionId": id})), Ok(json!({})));
    editor.updates.clear();
    editor.call("session/resume", params).expect("it is resumed");
    assert_eq!(editor.prompt(&id, "and now?"), "end_turn");
    assert_eq!(editor.text("agent_message_chunk"), "Still two.");
    assert_eq!(editor.text("user_message_chunk"), "");
    assert_eq!(host.logs().len(), 1, "no other session was recorded");
}

#[test]
fn acp_session_of_another_folder_is_not_loaded() {
    let host = Host::new(["acp"]).file("other/.git/HEAD", "");
    let model = script(&host, "script.jsonl", &[says("hello")]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    editor.prompt(&id, "hi");
    editor.call("session/close", json!({"sessionId": id})).expect("it is closed");
    let params = json!({"sessionId": id, "cwd": editor.root().join("other"), "mcpServers": []});
    let error = editor.call("session/load", params).expect_err("it belongs to another folder");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("which is not this folder")), "{error}");
}

// promise acp.mode: The approval mode and the model that the user chooses in the editor hold for the next prompt.
#[test]
fn acp_mode_and_model_are_chosen_in_the_editor() {
    let host = Host::new(["acp"]).configured("model = \"offline\"\n");
    let replies = [calls("write_file", json!({"path": "b.txt", "content": "b\n"})), says("written")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let params = json!({"cwd": editor.root(), "mcpServers": []});
    let session = editor.call("session/new", params).expect("it starts");
    let modes: Vec<_> =
        session["modes"]["availableModes"].as_array().expect("modes").iter().map(|mode| &mode["id"]).collect();
    assert!(modes.contains(&&json!("plan")) && modes.contains(&&json!("yolo")), "{modes:?}");
    let categories: Vec<_> =
        session["configOptions"].as_array().expect("options").iter().map(|option| &option["category"]).collect();
    assert_eq!(categories, ["mode", "model"]);
    let id = &session["sessionId"];
    // Nobody is asked: the editor here would fail on a question.
    let set = editor.call("session/set_mode", json!({"sessionId": id, "modeId": "auto-edit"}));
    assert_eq!(set, Ok(json!({})));
    editor.sees(|update| update["sessionUpdate"] == "current_mode_update" && update["currentModeId"] == "auto-edit");
    assert_eq!(editor.prompt(id.as_str().expect("an id"), "write it"), "end_turn");
    assert_eq!(std::fs::read_to_string(host.repository().join("b.txt")).expect("written"), "b\n");
    let option = |config: &str, value: &str| json!({"sessionId": id, "configId": config, "value": value});
    let set = editor.call("session/set_config_option", option("mode", "plan")).expect("it is a mode");
    let current = |set: &Value, at: usize| set["configOptions"][at]["currentValue"].clone();
    assert_eq!(current(&set, 0), "plan");
    let set = editor.call("session/set_config_option", option("model", "offline")).expect("it is offered");
    assert_eq!((current(&set, 0), current(&set, 1)), (json!("plan"), json!("offline")));
    let entries = host.session();
    let chosen = entries.iter().find(|entry| entry["type"] == "model_chosen").expect("it is recorded");
    assert_eq!(chosen["model"], "offline");
}

// promise acp.trust: A project that the user has not trusted brings nothing to an editor's session, which says so.
#[test]
fn acp_untrusted_project_is_not_used_and_named_once() {
    let host = Host::new(["acp"]).file(".host/config.toml", "[run]\nmax_turns = 1\n");
    let replies = [calls("ls", json!({"path": "."})), says("two turns"), says("more")];
    let model = script(&host, "script.jsonl", &replies);
    let notices = json!({"session": {"notices": {}}});
    let mut editor = Editor::connected(&host, &["--model", &model], notices);
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "hi"), "end_turn", "its limit does not hold");
    editor.prompt(&id, "again");
    let notices = editor.of_kind("notice");
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0]["title"].as_str().is_some_and(|text| text.contains("host trust")), "{notices:?}");
    assert_eq!(editor.leave().0, Some(0));
    // Once it is trusted, it holds.
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let list = || calls("ls", json!({"path": "."}));
    let model = script(&host, "trusted.jsonl", &[list(), list(), list()]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({"session": {"notices": {}}}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "hi"), "max_turn_requests");
}

// promise acp.servers: MCP servers that an editor hands over are connected for that session, and their tools need an
//   answer like any other.
#[test]
fn acp_mcp_servers_of_the_editor_are_connected_and_asked_about() {
    let server = Server::new(&json!([tool("read", "Reads.")]), &text("the content"));
    let host = server.at_home(Host::new(["acp"]));
    let folder = host.home().join("files").display().to_string();
    let host = host.configured(&format!("[mcp.files]\nrequired = true\nwrite = [{}]\n", json!(folder)));
    let replies = [calls("files__read", json!({"path": "a"})), says("seen")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let env = json!([{"name": "TOKEN", "value": "s3cret"}]);
    let script = host.home().join("files/server.sh");
    let odd =
        json!({"name": "git\u{1b}hub", "command": "/bin/touch", "args": [editor.root().join("started")], "env": []});
    let servers = json!([{"name": "files", "command": "/bin/sh", "args": [script], "env": env}, odd]);
    let params = json!({"cwd": editor.root(), "mcpServers": servers});
    let session = editor.call("session/new", params).expect("it starts")["sessionId"].clone();
    let note = editor.sees(|update| {
        update["sessionUpdate"] == "agent_thought_chunk"
            && update["content"]["text"].as_str().is_some_and(|text| text.contains("is not used"))
    });
    assert!(note.to_string().contains("git\\\\u{1b}hub") && !note.to_string().contains("s3cret"), "{note}");
    assert!(!host.repository().join("started").exists());
    editor.replies.extend([Reply::Kind("allow_once")]);
    assert_eq!(editor.prompt(session.as_str().expect("an id"), "read it"), "end_turn");
    let shown = editor.questions[0].to_string();
    assert!(shown.contains("The model wants to call `read` of the MCP server `files`"), "{shown}");
    assert_eq!(asked(&host, "tools/call").len(), 1);
}

#[test]
fn acp_mcp_server_of_the_dropped_transport_is_an_error() {
    let host = Host::new(["acp"]);
    let mut editor = Editor::connected(&host, &["--model", "offline"], json!({}));
    let sse =
        json!({"cwd": editor.root(), "mcpServers": [{"type": "sse", "name": "x", "url": "http://x", "headers": []}]});
    let error = editor.call("session/new", sse).expect_err("it was not offered");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("SSE")), "{error}");
}

#[test]
fn acp_sessions_are_apart_in_one_process() {
    let host = Host::new(["acp"]).file("other/.git/HEAD", "").file("other/b.txt", "").file("a.txt", "");
    let replies = [calls("ls", json!({"path": "."})), says("seen")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let one = editor.session();
    let params = json!({"cwd": editor.root().join("other"), "mcpServers": []});
    let other = editor.call("session/new", params).expect("it starts")["sessionId"].clone();
    let other = other.as_str().expect("an id");
    let (first, second) = (editor.begin(&one, "list"), editor.begin(other, "list"));
    for id in [first, second] {
        assert_eq!(editor.response(id).expect("it ends")["stopReason"], "end_turn");
    }
    let results = editor.of_kind("tool_call_update").into_iter().filter(|update| update["status"] == "completed");
    let results: Vec<_> = results.map(|update| update["content"][0]["content"]["text"].to_string()).collect();
    assert_eq!(results.len(), 2);
    assert!(results.iter().any(|text| text.contains("a.txt") && !text.contains("b.txt")), "{results:?}");
    assert!(results.iter().any(|text| text.contains("b.txt") && !text.contains("a.txt")), "{results:?}");
}

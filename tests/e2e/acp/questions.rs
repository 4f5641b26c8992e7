//! Questions about calls, as an editor answers them.

use host_tests::host::Host;
use serde_json::json;

use super::editor::{Editor, Reply, calls, says, says_after, script};
use super::prompts::options;

// promise acp.answers: An editor gets the question about a call with all its answers, and only an answer that was
//   offered allows it: no answer, an error or anything else is a no.
#[test]
fn acp_question_has_all_answers_and_only_a_yes_allows() {
    let host = Host::new(["acp"]);
    let write = |name: &str| calls("write_file", json!({"path": name, "content": "x\u{202e}\n"}));
    let no = "[Operation Cancelled]";
    let replies = [
        write("rejected.txt"),
        says_after(&[no], "1"),
        write("cancelled.txt"),
        says_after(&[no], "2"),
        write("unknown.txt"),
        says_after(&[no], "3"),
        write("failed.txt"),
        says_after(&[no], "4"),
        write("once.txt"),
        says_after(&["once.txt"], "5"),
        write("session.txt"),
        says_after(&["session.txt"], "6"),
        // Nobody is asked any more.
        write("later.txt"),
        says_after(&["later.txt"], "7"),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    for reply in [
        Some(Reply::Kind("reject_once")),
        Some(Reply::Cancelled),
        Some(Reply::Unknown),
        Some(Reply::Fails),
        Some(Reply::Kind("allow_once")),
        Some(Reply::Named("for this session")),
        None,
    ] {
        editor.replies.extend(reply);
        assert_eq!(editor.prompt(&id, "write"), "end_turn");
    }
    let written = |name: &str| host.repository().join(name).exists();
    for name in ["rejected.txt", "cancelled.txt", "unknown.txt", "failed.txt"] {
        assert!(!written(name), "{name}");
    }
    for name in ["once.txt", "session.txt", "later.txt"] {
        assert!(written(name), "{name}");
    }
    assert_eq!(editor.questions.len(), 6);
    let question = &editor.questions[0];
    let kinds: Vec<_> = options(question).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "allow_always", "allow_always", "reject_once"]);
    let names: Vec<_> = options(question).into_iter().map(|(name, _)| name).collect();
    assert_eq!((names[0].as_str(), names[4].as_str()), ("Yes, this once", "No"));
    assert!(
        names[1].starts_with("Yes, for this session: ") && names[2].starts_with("Always in this folder: "),
        "{names:?}"
    );
    let call = &question["toolCall"];
    assert_eq!((&call["title"], &call["kind"]), (&json!("write_file wants to change rejected.txt"), &json!("edit")));
    let change = &call["content"][0];
    assert_eq!((&change["type"], &change["newText"]), (&json!("diff"), &json!("x\\u{202e}\n")), "nothing is hidden");
    // The editor knew the call before it was asked about it.
    assert!(editor.of_kind("tool_call").iter().any(|begun| begun["toolCallId"] == call["toolCallId"]));
}

#[test]
fn acp_question_about_a_command_lists_what_it_runs() {
    let host = Host::new(["acp"]);
    let replies = [calls("shell", json!({"command": "echo one && touch `which two`"})), says("ok")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    editor.replies.push_back(Reply::Kind("reject_once"));
    editor.prompt(&id, "run");
    let call = editor.questions[0]["toolCall"].clone();
    assert_eq!((&call["title"], &call["kind"]), (&json!("shell wants to run this command"), &json!("execute")));
    let text = call["content"].to_string();
    assert!(text.contains("touch `which two`") && text.contains("it runs: which two"), "{text}");
    let status = editor.of_kind("tool_call_update").into_iter().rfind(|end| end["toolCallId"] == call["toolCallId"]);
    assert_eq!(status.expect("it settled")["status"], "failed");
}

#[test]
fn acp_question_about_a_file_elsewhere_is_for_one_file_or_the_session() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let file = std::fs::canonicalize(elsewhere.path()).expect("it is there").join("notes.txt");
    std::fs::write(&file, "far away\n").expect("written");
    let host = Host::new(["acp"]);
    let read = || calls("read_file", json!({"path": file}));
    let replies = [read(), says_after(&["far away"], "1"), read(), says_after(&["rejected"], "2")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    editor.replies.extend([Reply::Kind("allow_once"), Reply::Kind("reject_once")]);
    editor.prompt(&id, "read it");
    editor.prompt(&id, "again");
    let title = editor.questions[0]["toolCall"]["title"].as_str().unwrap_or_default();
    assert!(title.contains("wants to read outside of the workspace") && title.contains("notes.txt"), "{title}");
    assert_eq!(editor.text("agent_message_chunk"), "12");
}

// promise writing.asked
#[test]
fn acp_question_about_changing_a_file_elsewhere_names_it_and_is_for_one_call_or_the_session() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let folder = std::fs::canonicalize(elsewhere.path()).expect("it is there");
    let at = |name: &str| folder.join(name);
    let write = |name: &str| calls("write_file", json!({"path": at(name), "content": "new\n"}));
    let host = Host::new(["acp"]);
    let replies = [write("a"), says("1"), write("b"), says("2"), write("c"), says("3")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    editor.replies.extend([Reply::Kind("allow_once"), Reply::Named("for this session")]);
    for prompt in ["write it", "again", "and again"] {
        editor.prompt(&id, prompt);
    }
    assert_eq!(editor.questions.len(), 2, "the answer for the session covers the folder");
    let question = &editor.questions[0];
    let content = question["toolCall"]["content"].to_string();
    assert!(content.contains(&format!("it changes `{}`, outside of the workspace", at("a").display())), "{content}");
    let names: Vec<String> = options(question).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&format!("Yes, for this session: reading and changing anything in `{}`", folder.display())));
    assert!(["a", "b", "c"].iter().all(|name| std::fs::read_to_string(at(name)).is_ok_and(|text| text == "new\n")));
}

#[test]
fn acp_plan_is_approved_with_the_mode_to_carry_it_out_in() {
    let host = Host::new(["acp"]);
    let replies = [
        calls("present_plan", json!({"plan": "1. write a.txt"})),
        calls("write_file", json!({"path": "a.txt", "content": "a\n"})),
        says("done"),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model, "--approval-mode", "plan"], json!({}));
    let id = editor.session();
    editor.replies.push_back(Reply::Named("edit files without asking"));
    assert_eq!(editor.prompt(&id, "plan it"), "end_turn");
    assert!(host.repository().join("a.txt").exists());
    let question = &editor.questions[0];
    assert!(question["toolCall"]["content"].to_string().contains("1. write a.txt"), "{question}");
    assert_eq!(options(question).len(), 4);
    editor.sees(|update| update["sessionUpdate"] == "current_mode_update" && update["currentModeId"] == "auto-edit");
}

// promise acp.ask: A question of `ask_user` is not shown in an editor: the model has to decide by itself.
#[test]
fn acp_question_of_the_model_is_not_asked() {
    let host = Host::new(["acp"]);
    let replies = [
        calls("ask_user", json!({"questions": [{"question": "Which?"}]})),
        says_after(&["the user cannot be asked here"], "I decide."),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "hi"), "end_turn");
    assert!(editor.questions.is_empty());
}

//! The commands of a session in an editor.

use host_tests::host::Host;
use serde_json::json;

use super::editor::{Editor, calls, says, says_after, script};

/// Sends a command; returns what the agent says.
fn said(editor: &mut Editor, id: &str, line: &str) -> String {
    let before = editor.text("agent_message_chunk").len();
    assert_eq!(editor.prompt(id, line), "end_turn", "{line}");
    editor.text("agent_message_chunk").split_off(before)
}

/// Sends a command that fails; returns the message.
fn failed(editor: &mut Editor, id: &str, line: &str) -> String {
    let request = editor.begin(id, line);
    let error = editor.response(request).expect_err(line);
    error["message"].as_str().expect("a message").to_owned()
}

#[test]
fn acp_commands_show_pages_and_change_the_session() {
    let host = Host::new(["acp"]).file("AGENTS.md", "Fly carefully.\n");
    let model = script(&host, "script.jsonl", &[says("It flies.")]);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({}));
    let id = editor.session();
    assert_eq!(said(&mut editor, &id, "go"), "It flies.");
    assert_eq!(
        said(&mut editor, &id, "/memory"),
        "```\n 1  AGENTS.md · 14 characters · from the repository\n/memory NUMBER edits one\n```\n"
    );
    let context = said(&mut editor, &id, "/context");
    assert!(context.starts_with("```\n") && context.ends_with("The rows are estimates.\n```\n"), "{context}");
    let stats = said(&mut editor, &id, "/stats");
    assert!(stats.contains("\nprompts   1, 1 turn\n"), "{stats}");
    for line in ["/tools", "/agents", "/cost", "/config", "/hooks", "/mcp", "/permissions", "/processes"] {
        let page = said(&mut editor, &id, line);
        assert!(page.starts_with("```\n") && page.ends_with("\n```\n"), "{line}: {page}");
    }
    let efforts = "/effort EFFORT to change: none, minimal, low, medium, high, xhigh or max";
    assert_eq!(said(&mut editor, &id, "/effort"), format!("effort: as its service decides · {efforts}"));
    assert_eq!(said(&mut editor, &id, "/effort high"), "effort: high");
    assert_eq!(said(&mut editor, &id, "/effort"), format!("effort: high · {efforts}"));
    let verbosities = "/verbosity VERBOSITY to change: low, medium or high";
    assert_eq!(said(&mut editor, &id, "/verbosity"), format!("verbosity: as the model decides · {verbosities}"));
    let said_of = said(&mut editor, &id, "/verbosity low");
    assert!(said_of.starts_with("scripted:") && said_of.ends_with(" has no verbosity to choose"), "{said_of}");
    assert_eq!(said(&mut editor, &id, "/todo"), "the model has no list of steps");
    assert_eq!(said(&mut editor, &id, "/rename The rocket"), "this session is named “The rocket”");
    assert_eq!(editor.of_kind("session_info_update").last().expect("it is told")["title"], "The rocket");
    let mode = said(&mut editor, &id, "/mode plan");
    assert!(mode.starts_with("mode: plan – "), "{mode}");
    assert_eq!(editor.of_kind("current_mode_update").last().expect("it is told")["currentModeId"], "plan");
    let written = said(&mut editor, &id, "/export talk.md");
    assert!(written.starts_with("session written to ") && written.ends_with("/talk.md"), "{written}");
    let document = std::fs::read_to_string(host.repository().join("talk.md")).expect("it is written");
    assert!(document.contains("It flies."), "{document}");
    let kept = said(&mut editor, &id, "/export talk.md");
    assert!(kept.contains("already exists.\nnothing was written;"), "{kept}");
    assert_eq!(failed(&mut editor, &id, "/todo now").lines().next(), Some("`/todo` takes no argument"));
    assert_eq!(
        failed(&mut editor, &id, "/clear"),
        "`/clear` is not available in an editor\nhelp: begin a new session in the editor"
    );
}

// promise acp.undo: An editor lists what calls changed and takes it back, and goes back to before a prompt.
#[test]
fn acp_undo_and_rewind_take_back_files_and_prompts() {
    let host = Host::new(["acp"]);
    let write = |content: &str| calls("write_file", json!({"path": "a.txt", "content": content}));
    let replies = [
        write("one\n"),
        says_after(&["a.txt"], "One."),
        write("two\n"),
        says_after(&["a.txt"], "Two."),
        says("Three."),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model, "--approval-mode", "yolo"], json!({}));
    let id = editor.session();
    let file = host.repository().join("a.txt");
    assert_eq!(said(&mut editor, &id, "write one"), "One.");
    assert_eq!(said(&mut editor, &id, "write two"), "Two.");
    let listed = said(&mut editor, &id, "/undo");
    assert!(listed.contains("  1  write_file") && listed.contains("/undo NUMBER takes back"), "{listed}");
    assert_eq!(said(&mut editor, &id, "/undo 2"), "```\nrestored a.txt\n```\n");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "one\n");
    let prompts = said(&mut editor, &id, "/rewind");
    assert!(prompts.contains("  2  write two") && prompts.contains("/rewind NUMBER"), "{prompts}");
    let scope = said(&mut editor, &id, "/rewind 1");
    assert!(scope.contains("/rewind 1 conversation, files or both goes back"), "{scope}");
    let back = said(&mut editor, &id, "/rewind 1 both");
    assert!(back.ends_with("back to before prompt 1\n\n```\nwrite one\n```"), "{back}");
    assert!(!file.exists(), "{back}");
    assert_eq!(said(&mut editor, &id, "again"), "Three.");
    let removed = said(&mut editor, &id, "/undo-prompt");
    assert!(removed.starts_with("removed the last prompt and its reply"), "{removed}");
}

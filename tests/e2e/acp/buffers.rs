//! Files that the user has open with changes that are not saved.

use host_tests::host::Host;
use serde_json::{Value, json};

use super::editor::{Editor, Reply, calls, says_after, script};
use crate::settings::plugin;

fn reads() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

// promise acp.unsaved: A file that is open in the editor is read as the user sees it, and is not written before its
//   changes are saved.
#[test]
fn acp_unsaved_text_is_read_and_never_overwritten() {
    let host = Host::new(["acp"]).file("a.txt", "saved\n").file("b.txt", "closed\n");
    let edit = |old: &str, new: &str| calls("edit", json!({"path": "a.txt", "old_string": old, "new_string": new}));
    let refused = "not saved";
    let replies = [
        calls("read_file", json!({"path": "a.txt"})),
        says_after(&["unsaved"], "1"),
        edit("unsaved", "edited"),
        says_after(&[refused], "2"),
        calls("write_file", json!({"path": "a.txt", "content": "new\n"})),
        says_after(&[refused], "3"),
        calls("read_file", json!({"path": "b.txt"})),
        says_after(&["closed"], "4"),
        // Searched on the disk: nobody asks an editor about thousands of files.
        calls("grep", json!({"pattern": "saved"})),
        says_after(&["1: saved"], "5"),
        // The user has saved it. The editor has not loaded what a call wrote; that is not a change of the user's.
        edit("unsaved", "edited"),
        edit("edited", "edited twice"),
        says_after(&["a.txt"], "6"),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model, "--approval-mode", "auto-edit"], reads());
    let file = editor.root().join("a.txt");
    editor.open_files.insert(file.clone(), "unsaved\n".to_owned());
    let id = editor.session();
    for expected in ["1", "12", "123", "1234", "12345"] {
        editor.prompt(&id, "go on");
        assert_eq!(editor.text("agent_message_chunk"), expected);
    }
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "saved\n");
    std::fs::write(&file, "unsaved\n").expect("written");
    editor.prompt(&id, "I saved it");
    assert_eq!(editor.text("agent_message_chunk"), "123456");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "edited twice\n");
}

// promise acp.unsaved
#[tokio::test(flavor = "multi_thread")]
async fn acp_unsaved_file_of_a_plugins_preview_is_refused_in_the_hosts_own_words() {
    let host = plugin(Host::new(["acp"]), "p", "").await.file("a.txt", "saved\n");
    let words = "`a.txt` has changes in the user's editor that are not saved, so it was not written. Ask the user to save the \
                 file or to undo the changes, and read it again.";
    let replies = [calls("replace", json!({"path": "a.txt", "text": "new\n"})), says_after(&[words], "end")];
    let model = script(&host, "script.jsonl", &replies);
    let grants = ["fs-read=.", "fs-write=.", "process=true", "http=a.example", "state=write"];
    let grants: Vec<String> = grants.iter().map(|grant| format!("--grant=acme/reach:{grant}")).collect();
    let mut arguments = vec!["--model", &model, "--plugin", "p"];
    arguments.extend(grants.iter().map(String::as_str));
    let mut editor = Editor::connected(&host, &arguments, reads());
    let file = editor.root().join("a.txt");
    editor.open_files.insert(file.clone(), "unsaved\n".to_owned());
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "replace it"), "end_turn");
    assert!(editor.questions.is_empty(), "{:?}", editor.questions);
    let shown = json!(editor.updates).to_string();
    assert!(shown.contains(&json!(words).to_string()), "nothing is around the host's words: {shown}");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "saved\n");
}

// promise acp.buffers
#[test]
fn acp_editor_is_asked_about_no_file_that_a_call_may_not_read() {
    let host = Host::new(["acp"]).file("a.txt", "a\n").home_file(".ssh/id", "PRIVATE").file("secret.pem", "disk\n");
    let key = std::fs::canonicalize(host.home()).expect("it is there").join(".ssh/id");
    std::os::unix::fs::symlink(&key, host.repository().join("link")).expect("a link");
    let read = |path: &str| calls("read_file", json!({"path": path}));
    let replies = [
        read("link"),
        read(&key.display().to_string()),
        read("secret.pem"),
        read("a.txt"),
        says_after(&["buffer of a"], "end"),
    ];
    let model = script(&host, "script.jsonl", &replies);
    let arguments = ["--model", &model, "--deny", "*:fs-read=*.pem"];
    let mut editor = Editor::connected(&host, &arguments, reads());
    let root = editor.root().to_owned();
    for (path, text) in [
        (root.join("link"), "PRIVATE"),
        (key, "PRIVATE"),
        (root.join("secret.pem"), "PRIVATE"),
        (root.join("a.txt"), "buffer of a"),
    ] {
        editor.open_files.insert(path, text.to_owned());
    }
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "read them"), "end_turn");
    assert_eq!(editor.text("agent_message_chunk"), "end");
    assert_eq!(editor.asked_files, [root.join("a.txt")]);
    let log = std::fs::read_to_string(&host.logs()[0]).expect("read");
    assert!(!log.contains("PRIVATE"), "{log}");
}

#[test]
fn acp_editor_without_the_capability_is_not_asked() {
    let host = Host::new(["acp"]).file("a.txt", "disk\n");
    let replies = [calls("read_file", json!({"path": "a.txt"})), says_after(&["disk"], "end")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], json!({"fs": {"readTextFile": false}}));
    editor.open_files.insert(editor.root().join("a.txt"), "buffer\n".to_owned());
    editor.replies.push_back(Reply::Fails);
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "read it"), "end_turn");
    assert!(editor.asked_files.is_empty());
}

#[test]
fn acp_text_of_an_editor_over_the_limit_leaves_the_file_as_it_is_on_the_disk() {
    let host = Host::new(["acp"]).file("a.txt", "disk\n");
    let replies = [calls("read_file", json!({"path": "a.txt"})), says_after(&["disk"], "end")];
    let model = script(&host, "script.jsonl", &replies);
    let mut editor = Editor::connected(&host, &["--model", &model], reads());
    editor.open_files.insert(editor.root().join("a.txt"), "x".repeat((20 << 20) + 1));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "read it"), "end_turn");
    let (_, log) = editor.leave();
    assert!(log.contains("too large"), "{log}");
}

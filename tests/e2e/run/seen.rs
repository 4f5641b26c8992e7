//! Files that have changed since the model last read or wrote them are not written over.

use std::fs;

use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::{Value, json};

use super::{answer, call};

/// The words of the refusal.
const CHANGED: &str = "it has changed since you last read or wrote it";

fn calls(name: &str, arguments: Value) -> Value {
    json!({"chunks": [call(name, arguments)]})
}

fn write(path: &str, content: &str) -> Value {
    calls("write_file", json!({"path": path, "content": content}))
}

/// The same reply, given if the calls before it returned something with these words.
fn after(words: &str, reply: &Value) -> Value {
    let mut reply = reply.clone();
    reply["expect"] = json!({"responses": [words]});
    reply
}

fn resumed(host: &Host, replies: &[Value]) {
    let script = host.home().join("script.jsonl");
    fs::write(&script, replies.iter().map(|reply| format!("{reply}\n")).collect::<String>()).expect("written");
    let model = format!("scripted:{}", script.display());
    let ended = host.run_of(&["run", "--resume", "--model", &model, "--approval-mode", "auto-edit", "Go on"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

// promise files.seen
#[test]
fn writes_keep_what_the_user_changed_since_the_model_saw_the_file() {
    let replies = [
        calls("read_file", json!({"path": "a"})),
        calls("read_many_files", json!({"include": ["many/*"]})),
        after("mmm", &answer("Read.")),
        // The user changed both: the model gets the change, and keeps it.
        write("a", "two\n"),
        after("+mine", &write("a", "two\nmine\n")),
        after("Overwrote", &write("many/b", "two\n")),
        after(CHANGED, &answer("Wrote.")),
        // After a write of its own, too, and for the other tool.
        calls("edit", json!({"path": "a", "old_string": "two", "new_string": "three"})),
        after("+more", &answer("Stopped.")),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit"]).file("a", "one\n").file("many/b", "mmm\n");
    let text = |name: &str| fs::read_to_string(host.repository().join(name)).expect("text");
    let append = |name: &str, line: &str| {
        fs::write(host.repository().join(name), format!("{}{line}\n", text(name))).expect("written");
    };
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 80, 24);
    pty.sees("› ").types("look\r").sees("Read.");
    append("a", "mine");
    append("many/b", "mine");
    pty.types("write\r").sees("Wrote.");
    assert_eq!((text("a").as_str(), text("many/b").as_str()), ("two\nmine\n", "mmm\nmine\n"), "{}", pty.everything());
    append("a", "more");
    pty.types("edit\r").sees("Stopped.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert_eq!(text("a"), "two\nmine\nmore\n");
}

// promise files.seen
#[test]
fn writes_of_a_later_process_keep_what_the_user_changed_in_between() {
    let read = [
        calls("read_file", json!({"path": "read"})),
        write("wrote", "one\n"),
        calls("read_file", json!({"path": "untouched"})),
        calls("read_many_files", json!({"include": ["many/*"]})),
        answer("Read."),
    ];
    let host = Host::scripted(&read, &["--approval-mode", "auto-edit", "Look"]);
    let host = ["read", "untouched", "many/b"].iter().fold(host, |host, name| host.file(name, "one\n"));
    assert_eq!(host.run().code, Some(0));
    let changed = ["read", "wrote", "many/b"];
    for name in changed {
        fs::write(host.repository().join(name), "mine\n").expect("written");
    }
    let refused: Vec<Value> = [
        write("untouched", "two\n"),
        after("Overwrote", &write("read", "two\n")),
        after(CHANGED, &write("wrote", "two\n")),
        after(CHANGED, &write("many/b", "two\n")),
        // What it made itself in this process, and what it read again, is as it knows it.
        after(CHANGED, &calls("read_file", json!({"path": "read"}))),
        after("mine", &write("read", "two\n")),
        after("Overwrote", &answer("Done.")),
    ]
    .to_vec();
    resumed(&host, &refused);
    let text = |name: &str| fs::read_to_string(host.repository().join(name)).expect("text");
    assert_eq!(["read", "wrote", "many/b", "untouched"].map(text), ["two\n", "mine\n", "mine\n", "two\n"]);
}

// promise files.own: What the session's own calls, their programs and the hooks behind them changed is nobody else's
//   change; an undo is the user's.
#[test]
fn writes_are_not_held_up_by_what_the_session_itself_changed() {
    let replies = [
        calls("read_file", json!({"path": "a"})),
        calls("shell", json!({"command": "echo two >> a"})),
        write("a", "three\n"),
        // A hook formats it.
        after("Overwrote", &write("a", "four\n")),
        after("Overwrote", &answer("Done.")),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Write"]).file("a", "one\n");
    let host = host.configured("[[hooks.PostToolUse]]\nmatcher = \"write_file\"\ncommand = \"echo formatted >> a\"\n");
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert_eq!(fs::read_to_string(host.repository().join("a")).expect("text"), "four\nformatted\n");
}

// promise files.own
#[test]
fn writes_notice_that_the_user_undid_the_change_before() {
    let replies = [write("a", "two\n"), answer("Wrote.")];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "Write"]).file("a", "one\n");
    assert_eq!(host.run().code, Some(0));
    assert_eq!(host.run_of(&["undo", "--to", "1"]).code, Some(0));
    resumed(&host, &[write("a", "three\n"), after(CHANGED, &answer("Asked."))]);
    assert_eq!(fs::read_to_string(host.repository().join("a")).expect("text"), "one\n");
}

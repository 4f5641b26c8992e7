//! A conversation, on a real terminal, with the real binary.

mod activity;
mod attention;
mod commands;
mod ends;
mod hour;
mod input;
mod keys;
mod limits;
mod looks;
mod reload;

use host_tests::host::Host;
use host_tests::host_snapshot;
use host_tests::pty::Pty;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{answer, call};

/// A conversation with a scripted model, on a terminal of 80 columns.
fn talk(replies: &[Value], arguments: &[&str]) -> (Host, Pty) {
    let host = Host::scripted(replies, arguments).file("a.txt", "");
    let pty = open(&host, 80, 24);
    (host, pty)
}

/// The same host on a terminal of another size.
fn open(host: &Host, columns: u16, rows: u16) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, columns, rows);
    pty.sees("› ");
    pty
}

/// A reply that is given only when the last thing said has this in it.
fn answers(expected: &str, text: &str) -> Value {
    json!({"expect": {"last_text": expected}, "chunks": [{"text": text}]})
}

/// A reply that begins and never ends.
fn hangs(text: &str) -> Value {
    json!({"chunks": [{"text": text}, {"hang": true}]})
}

/// A reply that runs a program until the test makes the file `go`.
fn waits_for_go() -> Value {
    json!({"chunks": [call("shell", json!({"command": "echo begun; while [ ! -e go ]; do sleep 0.02; done"}))]})
}

fn go(host: &Host) {
    std::fs::write(host.repository().join("go"), "").expect("written");
}

#[test]
fn two_prompts_are_one_conversation_in_one_session() {
    let replies = [answers("first", "One **answer**."), answers("second", "Two.")];
    let (host, mut pty) = talk(&replies, &[]);
    pty.sees("host 0.").sees("default").sees("/help").sees("default › \nscript.jsonl");
    let begins = pty.screen();
    assert!(begins.trim_end().lines().count() <= 6, "four lines, the prompt and the status:\n{begins}");
    pty.types("the first\r").sees("One answer.").types("the second\r").sees("Two.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let all = pty.everything();
    assert!(all.contains("default › the first\n") && all.contains("default › the second\n"), "{all}");
    assert!(all.contains("--resume"), "it says how to go on with it: {all}");
    let asked: Vec<_> = host.session().into_iter().filter(|entry| entry["type"] == "run_started").collect();
    assert_eq!(asked.len(), 2);
}

#[test]
fn conversation_prompt_typed_while_the_model_works_waits_and_unfinished_text_is_kept() {
    let replies = [waits_for_go(), answer("First done."), answers("second one", "Second done.")];
    let (host, mut pty) = talk(&replies, &["--approval-mode", "yolo"]);
    // Tab where there is nothing to complete: when the model is done, not at its next turn.
    pty.types("first\r").sees("begun").types("second two").sees("› second two").types("\u{17}one\t");
    pty.sees("queued › second one")
        .types("\u{7f}")
        .until("it is edited again", |screen| screen.contains("yolo › second one") && !screen.contains("queued ›"));
    pty.types("\tgone").sees("queued › second one").sees("› gone").types("\u{1b}");
    pty.until("it is cleared", |screen| !screen.contains("gone")).types("third, unfin").sees("› third, unfin");
    go(&host);
    pty.saw("First done.").saw("Second done.").types("ished").sees("yolo › third, unfinished");
    pty.types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let all = pty.everything();
    assert!(all.contains("yolo › second one\n") && !all.contains("gone"), "{all}");
    assert_eq!(all.matches("begun\n").count(), 1, "the end of what a call printed stays, once:\n{all}");
}

#[test]
fn without_a_prompt_and_without_a_terminal_it_is_an_error_as_before() {
    host_snapshot!(Host::new(["run", "--model", "offline"]), @r#"
    exit: 42
    ----- stdout
    ----- stderr
    error: no prompt
    help: pass it as an argument, such as host run "Survey this repository", or on standard input; in a \
    terminal, `host` starts a conversation
    "#);
}

#[test]
fn a_prompt_on_a_terminal_is_one_task() {
    let host = Host::scripted(&[answer("Done.")], &["Do it"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 80, 24);
    pty.saw("Done.");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn conversation_continues_a_finished_session_and_completes_an_unfinished_one_first() {
    let replies = [answer("One."), hangs("half")];
    let (host, mut pty) = talk(&replies, &[]);
    pty.types("first\r").sees("One.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let resumed = |replies: &[Value]| {
        let script = host.home().join("next.jsonl");
        let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
        std::fs::write(&script, lines).expect("written");
        let mut command = host.command_of(&[
            "run",
            "--continue",
            "--approval-mode",
            "default",
            "--model",
            &format!("scripted:{}", script.display()),
        ]);
        command.env("TERM", "xterm-256color");
        Pty::start(command, 80, 24)
    };
    let mut pty = resumed(&[hangs("half")]);
    pty.sees("resumed session").sees("2 messages").sees("default › first").sees("One.");
    pty.types("second\r").sees("half").signal(Signal::KILL);
    // It could not restore the terminal.
    drop(pty);
    let mut pty = resumed(&[answers("second", "Two."), answers("third", "Three.")]);
    pty.sees("The last prompt has no reply.")
        .sees("› 1 y  Continue")
        .types("y")
        .sees("Two.")
        .types("third\r")
        .sees("Three.")
        .types("/quit\r");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(host.logs().len(), 1);
}

//! The asking before a call, on a real terminal, with the real binary: in one task and in a conversation.

mod always;
mod answers;
mod auto;
mod day;
mod editor;
mod forged;
mod looks;
mod never;
mod outcomes;
mod outside;
mod plan;
mod readme;
mod ssh;
mod stops;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::{Value, json};

use super::call;

/// What a call is told that a user said no to.
const DECLINED: &str = "[Operation Cancelled] Reason: the user rejected this call";

/// What those behind it are told.
const BEHIND: &str = "[Operation Cancelled] Reason: the user rejected an earlier call of the same reply";

/// The row of a question that listens, with the choice that Enter takes.
const LISTENS: &str = "› 1 y  Yes, this once";

/// How the user works with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Task,
    Talk,
}

const WAYS: [Way; 2] = [Way::Task, Way::Talk];

/// A host whose model makes these calls in one reply, and is done when it was told these pieces, in order.
fn calling(calls: &[Value], told: &[&str], arguments: &[&str]) -> Host {
    let replies =
        [json!({"chunks": calls}), json!({"expect": {"responses": told}, "chunks": [{"text": "All is done."}]})];
    Host::scripted(&replies, arguments)
}

/// Begins on a terminal of this size.
fn begin(host: &Host, way: Way, columns: u16, rows: u16) -> Pty {
    begin_as(host, way, columns, rows, &[])
}

/// The same with variables.
fn begin_as(host: &Host, way: Way, columns: u16, rows: u16, variables: &[(&str, &str)]) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    match way {
        Way::Task => {
            command.arg("Do it");
            Pty::start(command, columns, rows)
        }
        Way::Talk => {
            let mut pty = Pty::start(command, columns, rows);
            pty.sees("› ").types("Do it\r");
            pty
        }
    }
}

/// Waits for the end of the work, and leaves.
#[track_caller]
fn done(pty: &mut Pty, way: Way) {
    pty.saw("All is done.");
    leaves(pty, way);
}

#[track_caller]
fn leaves(pty: &mut Pty, way: Way) {
    if way == Way::Talk {
        pty.sees("default › ").types("\u{4}");
    }
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

/// Waits for a question with this in it that listens, and answers.
#[track_caller]
pub(super) fn answers(pty: &mut Pty, asked: &str, keys: &str) {
    pty.until(asked, |screen| screen.contains(asked) && listens(screen));
    let before = answered(pty);
    pty.types(keys);
    // A letter that nothing follows yet is no answer: a key that came now would take its place. That the question is
    // gone says nothing, since a screen that is half drawn has none.
    let is_done = |pty: &mut Pty| answered(pty) > before || keys == "r" && pty.screen().contains("why › ");
    pty.settles(Duration::from_secs(120), is_done);
    assert!(is_done(pty), "`{keys}` did not answer:\n{}", pty.everything());
}

/// How many questions were answered until now: of each its answer stays, without the number that it had as a choice.
fn answered(pty: &mut Pty) -> usize {
    let is_answer = |row: &&str| {
        row.strip_prefix("› ").is_some_and(|label| !label.starts_with(|first: char| first.is_ascii_digit()))
    };
    pty.everything().lines().filter(is_answer).count()
}

/// Whether a question can be answered: its choices stand at the beginning of their rows.
fn listens(screen: &str) -> bool {
    // What is drawn comes in pieces: the row below the choices is the last.
    screen.lines().any(|row| row.starts_with(LISTENS)) && screen.contains("↑↓ and Enter")
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    call("edit", json!({"path": path, "old_string": old, "new_string": new}))
}

fn write(path: &str, content: &str) -> Value {
    call("write_file", json!({"path": path, "content": content}))
}

fn shell(command: &str) -> Value {
    call("shell", json!({"command": command}))
}

/// A file of the repository, when it is there.
fn file(host: &Host, path: &str) -> Option<String> {
    std::fs::read_to_string(host.repository().join(path)).ok()
}

/// The rules that answers made.
fn rules(host: &Host) -> Option<String> {
    std::fs::read_to_string(host.home().join(".config/host/policies/answers.toml")).ok()
}

/// Gives the host an editor: a program of the shell that gets the file as `$1`.
fn editor(host: Host, script: &str) -> Host {
    let path = host.home().join("editor.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    host.env("VISUAL", path)
}

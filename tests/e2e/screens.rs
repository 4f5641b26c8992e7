//! What people see, whole: a question, the end of a run, an error, a list. Each is compared with a reviewed snapshot in
//! `snapshots/`, so that a change of layout or of a word shows in a diff.
//!
//! `INSTA_UPDATE=always cargo test --workspace --test e2e screens` writes the snapshots anew. Read the diff, then
//! commit. Times, paths and ids are masked. Deliberately not here: help texts, which `docs/reference/flags.md` holds.

mod answers;
mod calls;
mod commands;
mod conversation;
mod errors;
mod input;
mod lists;
mod questions;
mod runs;
mod start;
mod status;

use std::path::PathBuf;
use std::time::Duration;

use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::repository;
use serde_json::{Value, json};

const COLUMNS: u16 = 120;
const ROWS: u16 = 40;

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}, {"usage": {"input": 1200, "output": 40}}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

/// A model that makes these calls in one reply, and then says that it is done.
fn calling(calls: &[Value], arguments: &[&str]) -> Host {
    Host::scripted(&[json!({"chunks": calls}), answer("All is done.")], arguments)
}

/// A program on a terminal of the usual size.
fn begin(host: &Host, arguments: &[&str]) -> Pty {
    begin_on(host, arguments, COLUMNS)
}

/// A program on a terminal of this width.
fn begin_on(host: &Host, arguments: &[&str], columns: u16) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color").args(arguments);
    Pty::start(command, columns, ROWS)
}

/// Compares what a command printed with the snapshot of this name.
#[track_caller]
fn printed(host: &Host, name: &str, ended: &Ended) {
    let code = ended.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
    let text = format!("{}--- stderr\n{}--- exit code {code}\n", ended.stdout, ended.stderr);
    compare(host, name, &text);
}

/// Compares what lies on a terminal with the snapshot of this name, once all of it is drawn.
#[track_caller]
fn shown(host: &Host, name: &str, pty: &mut Pty) {
    let path = snapshots().join(format!("{name}.snap"));
    // Behind the head of the file.
    let stored = std::fs::read_to_string(path).ok().and_then(|text| Some(text.splitn(3, "---\n").nth(2)?.to_owned()));
    if let Some(stored) = stored {
        // Whoever writes the snapshots anew expects others.
        let limit = if std::env::var_os("INSTA_UPDATE").is_some() { 1 } else { 20 };
        pty.settles(Duration::from_secs(limit), |pty| masked(&still(pty), host).trim() == stored.trim());
    }
    compare(host, name, &still(pty));
}

/// The rows that there are, without what turns while something is waited for.
fn still(pty: &mut Pty) -> String {
    let text = pty.everything();
    text.lines().map(str::trim_end).filter(|row| !turns(row)).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn compare(host: &Host, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path(snapshots());
    settings.bind(|| insta::assert_snapshot!(name, masked(text, host)));
}

fn snapshots() -> PathBuf {
    repository().join("tests/e2e/snapshots")
}

/// Whether a row is the one that turns while something is waited for.
fn turns(row: &str) -> bool {
    row.starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c))
}

/// The text without what differs from run to run: folders, ids of sessions, digests, times.
fn masked(text: &str, host: &Host) -> String {
    let mut text = text.to_owned();
    for (folder, name) in [(host.repository(), "REPOSITORY"), (host.home(), "HOME")] {
        let canonical = std::fs::canonicalize(folder).expect("it is there");
        text = text.replace(&canonical.display().to_string(), name).replace(&folder.display().to_string(), name);
    }
    for log in host.logs() {
        let id = log.file_stem().expect("a log has a name").to_string_lossy().into_owned();
        text = text.replace(&id, "SESSION");
    }
    // The machine may be slow.
    for age in (1..60).map(|minutes| format!("{minutes} minutes ago")).chain(["1 minute ago".to_owned()]) {
        text = text.replace(&format!("· {age}"), "· just now");
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '+');
    let mut masked = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(is_part) {
        let (before, word) = rest.split_at(at);
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        masked.push_str(before);
        masked.push_str(&without_figures(&word[..end], &word[end..]));
        rest = &word[end..];
    }
    masked + rest
}

/// A word as it may stand in a snapshot: not a digest, a time, a date, nor a number before a unit of time.
fn without_figures(word: &str, behind: &str) -> String {
    let digits = word.trim_end_matches('.');
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    // The letter of a choice is followed by two.
    let unit = behind.strip_prefix(' ').filter(|unit| !unit.starts_with("s  ")).unwrap_or("");
    let is_unit = |unit: &str| {
        ["ms", "s", "min", "B", "KB"]
            .iter()
            .any(|name| unit.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    };
    let pattern: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit()) {
        "DIGEST".to_owned()
    } else if is_number && is_unit(unit) {
        "0".to_owned()
    } else if pattern.starts_with("0000-00-00") || pattern == "00:00:00" || pattern == "00:00" {
        pattern.trim_end_matches('.').to_owned()
    } else {
        word.to_owned()
    }
}

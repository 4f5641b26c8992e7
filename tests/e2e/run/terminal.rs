//! What a user sees, through a real pseudo-terminal.

use std::fs::File;
use std::io::Read;

use host_tests::host::Host;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use super::{answer, call};

/// Runs it on a terminal of its own; everything that it wrote there.
fn seen(host: &Host) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let terminal = || File::options().read(true).write(true).open(name.to_str().expect("text")).expect("opened");
    let mut command = host.command();
    command.env("TERM", "xterm-256color").stdin(terminal()).stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().expect("it starts");
    // Held by the command, the other end would never be at its end.
    drop(command);
    let mut bytes = Vec::new();
    // Linux tells that nobody is left at the other end by an error.
    File::from(master).read_to_end(&mut bytes).ok();
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn host() -> Host {
    let replies = [
        json!({"chunks": [{"text": "I look."}, call("ls", json!({})), call("read_file", json!({"path": "missing.txt"})),
                          call("write_file", json!({"path": "b.txt", "content": "new\n"}))]}),
        answer("Done, \u{1b}[2Jreally."),
    ];
    Host::scripted(&replies, &["--approval-mode", "auto-edit", "Look"]).file("a.txt", "")
}

#[test]
fn a_terminal_shows_a_line_for_each_call_a_difference_and_the_answer() {
    let seen = seen(&host());
    for part in
        ["I look.", "ls", "2 entries", "missing.txt", "1 + new", "Done, \\u{1b}[2Jreally.", "2 turns · 0 tokens in"]
    {
        assert!(seen.contains(part), "{part} in {seen:?}");
    }
    assert!(seen.contains("\u{1b}[32m") || seen.contains("\u{1b}[1m\u{1b}[32m"), "there is colour in {seen:?}");
    assert!(!seen.contains("\u{1b}[2J"), "nothing that a model wrote steers the terminal: {seen:?}");
}

#[test]
fn terminal_without_colour_shows_none() {
    let seen = seen(&host().env("NO_COLOR", "1"));
    assert!(seen.contains("Done, ") && seen.contains("1 + new"), "{seen:?}");
    // Colours and weights end with `m`; the spinner's own movements do not.
    let styled = seen.split("\u{1b}[").skip(1).any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
            && !rest.starts_with("0m")
            && !rest.starts_with('m')
    });
    assert!(!styled, "{seen:?}");
}

#[test]
fn a_subagent_is_seen_at_work_indented_under_its_name() {
    let report = json!({"SummaryOfFindings": "x", "ExplorationTrace": [], "RelevantLocations": []});
    let replies = [
        json!({"chunks": [call("codebase_investigator", json!({"objective": "How?"}))]}),
        json!({"chunks": [{"thought": "**Looking around** first"}, {"text": "not for people"}, call("ls", json!({}))]}),
        json!({"chunks": [call("complete_task", json!({"report": report}))]}),
        answer("Done."),
    ];
    let seen = seen(&Host::scripted(&replies, &["How?"]).file("a.txt", "").env("NO_COLOR", "1"));
    let lines = ["▸ codebase_investigator", "  codebase_investigator · Looking around", "  ✓ ls", "  ✓ complete_task"];
    let mut rest = seen.as_str();
    for part in lines.into_iter().chain(["✓ codebase_investigator How? · 2 turns", "Done."]) {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part} in {seen:?}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!seen.contains("not for people"), "what it writes is its parent's to read: {seen:?}");
}

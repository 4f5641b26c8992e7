//! The pictures in README.md are what the program prints on a terminal, apart from the times in them.
//!
//! `HOST_BLESS=1 cargo test --test e2e readme_picture` makes them anew, with the times of those sessions.

use host_tests::picture::{self, Span, svg};
use host_tests::repository;

use super::*;

/// The text with `0` for each number of seconds or milliseconds.
fn timeless(text: &str) -> String {
    let is_unit = |rest: &str| [" ms", " s"].iter().any(|unit| rest.strip_prefix(unit).is_some_and(ends_a_word));
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        masked.push_str(before);
        let is_of_clock =
            end == 2 && (masked.ends_with("· ") && number[end..].starts_with(':') || masked.ends_with("00:"));
        masked.push_str(match is_unit(&number[end..]) {
            true => "0",
            false if is_of_clock => "00",
            false => &number[..end],
        });
        rest = &number[end..];
    }
    masked + rest
}

fn ends_a_word(rest: &str) -> bool {
    !rest.starts_with(char::is_alphanumeric)
}

#[test]
fn readme_picture_of_auto_is_a_real_conversation() {
    let line = |command: &str| json!({"call": {"name": "shell", "arguments": {"command": command}}});
    let replies = [
        json!({"chunks": [{"call": {"name": "grep", "arguments": {"pattern": "fuel", "path": "src"}}}]}),
        json!({"chunks": [edit("src/burn.rs", "fuel - 1", "fuel.saturating_sub(1)")]}),
        json!({"chunks": [line("sh test.sh")]}),
        json!({"chunks": [{"text": "The tests pass. One table is out of date, so I fetch the new one."},
                          line("curl -sS https://rates.example.org/fuel.csv -o rates.csv")]}),
        json!({"chunks": [{"text": "Then I leave it."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "auto"])
        .file("src/burn.rs", "fn burn(fuel: u32) -> u32 {\n    fuel - 1\n}\n")
        .file("test.sh", "echo 'test burn::is_empty ... ok'\necho '2 passed; 0 failed'\n");
    let mut pty = opened(&host, 80);
    pty.sees("auto › ").types("Fuel must not go below zero\r");
    pty.until("the question", |screen| screen.contains("curl wants to reach:") && listens(screen))
        .sees("Esc to reject");
    let rows = from(&pty.all_rows(picture::row), "› Fuel must not");
    pty.types("n").sees("Then I leave it.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let title = "The mode auto: an edit and the tests without a question, and one question about a server";
    compare("auto", &svg(title, 80, &rows), &mut pty);
}

#[test]
fn readme_picture_of_undo_is_a_real_conversation() {
    let tidy = json!({"call": {"name": "shell", "arguments": {"command": "sh tidy.sh"}}});
    let replies = [json!({"chunks": [tidy]}), json!({"chunks": [{"text": "The drafts are gone."}]})];
    let host = Host::scripted(&replies, &["--approval-mode", "auto"])
        .file("tidy.sh", "rm drafts/*.md\necho removed the drafts\n")
        .file("drafts/letter.md", "Dear all\n")
        .file("drafts/talk.md", "# Undo\n");
    let mut pty = opened(&host, 80);
    pty.sees("auto › ").types("Tidy up\r").sees("The drafts are gone.").sees("auto › \nscript.jsonl");
    pty.types("/undo\r")
        .sees("› 1  shell sh tidy.sh")
        .sees("type to search")
        .types("\r")
        .sees("restored drafts/talk.md");
    pty.sees("auto › \nscript.jsonl");
    let mut rows = from(&pty.all_rows(picture::row), "› Tidy up");
    // The prompt and the status row below say nothing more.
    rows.truncate(rows.len() - 3);
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let title = "Undo: a script deleted files, and /undo brings them back";
    compare("undo", &svg(title, 80, &rows), &mut pty);
}

#[test]
fn readme_picture_of_a_narrow_window_is_a_real_conversation() {
    let replies = [
        json!({"chunks": [edit("greeting.txt", "hello", "hello, world")]}),
        json!({"chunks": [{"text": "`greeting.txt` greets the **world** now."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "default"]).file("greeting.txt", "hello\n");
    let mut pty = opened(&host, 40);
    pty.sees("default › ").types("Greet the world\r").sees("› 1 y").sees("letter · Esc");
    let rows = from(&pty.all_rows(picture::row), "› Greet the");
    pty.types("y").sees("now.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    compare("narrow", &svg("A question in a window of 40 columns", 40, &rows), &mut pty);
}

fn opened(host: &Host, columns: u16) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    Pty::start(command, columns, 50)
}

/// Compares a picture with the one of this name that README.md shows, or makes that one anew.
fn compare(name: &str, picture: &str, pty: &mut Pty) {
    let name = format!("docs/images/{name}.svg");
    let path = repository().join(&name);
    if std::env::var_os("HOST_BLESS").is_some() {
        std::fs::write(&path, picture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(
        timeless(&written) == timeless(picture),
        "{name} does not show what the program prints; run: \
         HOST_BLESS=1 cargo test --test e2e readme_picture\n{}",
        pty.everything()
    );
}

/// The rows from the one with this text on, without what turns and without blank rows at the end.
fn from(rows: &[Vec<Span>], text: &str) -> Vec<Vec<Span>> {
    let line = |row: &[Span]| row.iter().map(|span| span.text.as_str()).collect::<String>();
    let first = rows.iter().position(|row| line(row).contains(text)).expect("it is there");
    let turns = |row: &[Span]| line(row).starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c));
    let mut rows: Vec<Vec<Span>> = rows[first..].iter().filter(|row| !turns(row)).cloned().collect();
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
    rows
}

#[test]
fn readme_picture_masks_times_only() {
    for (text, expected) in [
        ("✓ edit a.txt (12 ms)", "✓ edit a.txt (0 ms)"),
        ("2 turns · 1400 tokens in · 0.3 s (model 0.0 s)", "2 turns · 1400 tokens in · 0 s (model 0 s)"),
        ("3 spans, 4 msgs", "3 spans, 4 msgs"),
    ] {
        assert_eq!(timeless(text), expected);
    }
}

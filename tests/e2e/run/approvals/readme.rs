//! The picture of a session in README.md is what the program prints on a terminal, apart from the times in it.
//!
//! `HOST_BLESS=1 cargo test --test e2e readme_picture` makes it anew, with the times of that session.

use host_tests::picture::{self, Span, svg};
use host_tests::repository;

use super::*;

const PICTURE: &str = "docs/images/session.svg";

const PROMPT: &str = "Greet the world in greeting.txt";

const COLUMNS: u16 = 80;

/// The text with `0` for each number of seconds or milliseconds.
fn timeless(text: &str) -> String {
    let is_unit = |rest: &str| [" ms", " s"].iter().any(|unit| rest.strip_prefix(unit).is_some_and(ends_a_word));
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        masked.push_str(before);
        masked.push_str(if is_unit(&number[end..]) { "0" } else { &number[..end] });
        rest = &number[end..];
    }
    masked + rest
}

fn ends_a_word(rest: &str) -> bool {
    !rest.starts_with(char::is_alphanumeric)
}

#[test]
fn readme_picture_is_a_real_session() {
    let replies = [
        json!({"chunks": [call("ls", json!({})), edit("greeting.txt", "hello", "hello, world")]}),
        json!({"chunks": [{"text": "`greeting.txt` greets the world now."}, {"usage": {"input": 1400, "output": 60}}]}),
    ];
    let host = Host::scripted(&replies, &[]).file("greeting.txt", "hello\n");
    let mut command = host.command();
    command.env("TERM", "xterm-256color").arg(PROMPT);
    let mut pty = Pty::start(command, COLUMNS, 40);
    // The last row of the question: what is above it is drawn by then.
    pty.sees(LISTENS).sees("Esc to reject");
    let question = from(&pty.all_rows(picture::row), "? edit");
    pty.types("y").saw("2 turns");
    assert_eq!(pty.ends(), Some(0));
    let run = from(&pty.all_rows(picture::row), "› Yes, this once");
    let mut rows = vec![vec![Span::plain(&format!("$ host run \"{PROMPT}\""))]];
    rows.extend(question);
    rows.extend(run);
    let picture = svg("A session: host asks before it changes a file", COLUMNS, &rows);
    let path = repository().join(PICTURE);
    if std::env::var_os("HOST_BLESS").is_some() {
        std::fs::write(&path, picture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let same = timeless(&written) == timeless(&picture);
    assert!(
        same,
        "{PICTURE} does not show what the program prints; run: \
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

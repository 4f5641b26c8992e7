//! The pictures in README.md are what the program prints on a terminal, apart from the times in them.
//!
//! `HOST_BLESS=1 cargo test --test e2e readme_picture` makes them anew, with the times of those sessions.

use host_tests::picture::{self, Span, svg};
use host_tests::repository;

use super::*;

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
    compare("session", &picture, &mut pty);
}

#[test]
fn readme_picture_of_a_conversation_is_a_real_one() {
    let shell = json!({"call": {"name": "shell", "arguments": {"command": "sh test.sh"}}});
    let search = json!({"call": {"name": "grep", "arguments": {"pattern": "fuel", "path": "src"}}});
    let usage = json!({"usage": {"input": 5200, "output": 180}});
    let replies = [
        json!({"chunks": [search]}),
        json!({"chunks": [edit("src/burn.rs", "fuel - 1", "fuel.saturating_sub(1)")]}),
        json!({"chunks": [shell]}),
        json!({"chunks": [{"text": "Fuel no longer goes below zero. One test fails: it expects the **old error**."}, usage]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "--grant", "shell:process=sh test.sh"])
        .file("src/burn.rs", "fn burn(fuel: u32) -> u32 {\n    fuel - 1\n}\n")
        .file("test.sh", "echo 'test burn::is_empty ... FAILED'\necho '1 passed; 1 failed'\nexit 101\n")
        .file(".git/HEAD", "ref: refs/heads/fuel\n")
        .file(".git/objects/info/x", "")
        .file(".git/refs/x", "");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, COLUMNS, 40);
    pty.sees("auto-edit › ")
        .types("Fuel must not go below zero\r")
        .sees("One test fails")
        .sees("auto-edit › \nscript.jsonl");
    pty.types("fix the test, too").sees("› fix the test, too\nscript.jsonl · auto-edit");
    let rows = from(&pty.all_rows(picture::row), "› Fuel must not");
    pty.types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let picture = svg(
        "A conversation: calls on one line each, a change, a command that fails, and the status row",
        COLUMNS,
        &rows,
    );
    compare("conversation", &picture, &mut pty);
}

#[test]
fn readme_picture_of_an_answer_is_a_real_one() {
    let answer = "## Fuel\n\nThe burn rate is computed in `src/burn.rs`, by **two** callers:\n\n1. `Engine::step`, once a \
                  second, which also reports what is left, so that the display need not ask for it\n2. `Engine::stop`\n\n\
                  ```rust\n/// Burns fuel.\nfn burn(fuel: u32) -> u32 {\n    fuel.saturating_sub(1) // never below zero\n}\n```\n\n\
                  | caller | calls |\n|:--|--:|\n| `Engine::step` | 3600 |\n| `Engine::stop` | 1 |\n";
    let host = Host::scripted(&[json!({"chunks": [{"text": answer}]})], &["Where is fuel burnt?"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, COLUMNS, 40);
    pty.saw("1 turn");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let mut rows = vec![vec![Span::plain("$ host run \"Where is fuel burnt?\"")]];
    rows.extend(from(&pty.all_rows(picture::row), "Fuel"));
    let picture = svg("An answer: rendered Markdown, wrapped at words", COLUMNS, &rows);
    compare("answer", &picture, &mut pty);
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

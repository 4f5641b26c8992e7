//! What it looks like: in any width, without colour, on a terminal that cannot move its cursor.

use super::*;

fn long() -> Vec<Value> {
    let pieces: Vec<Value> =
        "# A title\n\nThe **quick** brown fox jumps over the lazy dog, again and again, until the line is full.\n\n\
         - an item that is long enough to be wrapped on a narrow terminal\n\n```\ncode\n```\n"
            .split_inclusive(' ')
            .map(|piece| json!({"text": piece}))
            .collect();
    vec![json!({"chunks": pieces}), answer("Next.")]
}

#[test]
fn an_answer_in_pieces_is_whole_in_any_width() {
    for columns in [20, 40, 80] {
        let host = Host::scripted(&long(), &[]);
        let mut pty = open(&host, columns, 24);
        pty.types("go\r").saw("code").saw("default › go").types("on\r").sees("Next.").types("\u{4}");
        assert_eq!(pty.ends(), Some(0));
        let all = pty.everything();
        let words: Vec<&str> = all.split_whitespace().collect();
        for part in ["The quick brown fox jumps over the lazy dog, again and again, until the line is full.", "A title"]
        {
            let part: Vec<&str> = part.split(' ').collect();
            let count = words.windows(part.len()).filter(|words| *words == part).count();
            assert_eq!(count, 1, "{part:?} is whole and drawn once in {columns} columns:\n{all}");
        }
    }
}

#[test]
fn without_colour_there_is_none_and_words_keep_their_marks() {
    let host = Host::scripted(&long(), &[]).env("NO_COLOR", "1");
    let mut pty = open(&host, 80, 24);
    pty.types("go\r").saw("The **quick** brown").saw("code").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let written = pty.written();
    let styled = written.split("\u{1b}[").skip(1).any(|rest| {
        let parameters = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        parameters.starts_with('m') && !rest.starts_with("0m")
    });
    assert!(!styled, "{written:?}");
}

#[test]
fn another_width_breaks_neither_what_is_shown_nor_what_is_written() {
    let (_host, mut pty) = talk(&[hangs("I begin"), answers("long enough to be wrapped", "Done.")], &[]);
    pty.types("first\r").sees("I begin").types("a prompt that is long enough to be wrapped").sees("be wrapped");
    pty.resize(30, 20).until("it is narrower", |screen| screen.lines().any(|line| line.contains("default › a prompt")));
    pty.types("\u{3}").sees("stopped").resize(100, 30).types("\r").saw("Done.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn conversation_text_of_a_model_or_a_tool_cannot_control_the_terminal() {
    let forged = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
    let command = format!("printf '%s' '{forged}'");
    let replies = [
        json!({"chunks": [{"thought": format!("**{forged}** x")}, {"text": forged},
                          call("shell", json!({"command": command}))]}),
        answer(&format!("`{forged}` **done**")),
    ];
    let (_host, mut pty) = talk(&replies, &["--approval-mode", "yolo"]);
    pty.types("/thoughts\r")
        .sees("showing full thoughts")
        .types("first\r")
        .saw("done")
        .types("/stats\r")
        .sees("prompts   1");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let written = pty.written();
    for steers in ["\u{1b}[2J", "\u{1b}]0;", "\u{9b}", "\u{202e}"] {
        assert!(!written.contains(steers), "{steers:?} in {written:?}");
    }
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_shows_line_after_line() {
    let host = Host::scripted(&[answers("first", "One."), answers("second", "Two.")], &[]);
    let mut command = host.command();
    command.env("TERM", "dumb");
    let mut pty = Pty::start(command, 80, 24);
    pty.sees("default › ").types("first\n").sees("One.").types("second\n").sees("Two.").types("/tools\n").sees("grep");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(!pty.written().contains('\u{1b}'), "{:?}", pty.written());
}

#[test]
fn the_bell_rings_when_that_is_configured_and_only_then() {
    for (configured, rings) in [("[conversation]\nbell_seconds = 0\n", true), ("", false)] {
        let host = Host::scripted(&[answer("One.")], &[]).configured(configured);
        let mut pty = open(&host, 80, 24);
        pty.types("first\r").sees("One.").types("/quit\r");
        assert_eq!(pty.ends(), Some(0));
        assert_eq!(pty.written().contains('\u{7}'), rings, "{:?}", pty.written());
    }
}

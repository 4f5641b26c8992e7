//! What a question looks like in any size, without colour, and on a terminal that cannot move its cursor.

use super::*;

/// A line that is longer than a terminal is wide.
fn long_command() -> String {
    format!("cargo test --package {} && git log --oneline", "a-name-that-is-long".repeat(4))
}

// promise approval.forged
#[test]
fn in_any_size_the_call_and_what_a_yes_grants_are_seen_whole() {
    for (columns, rows) in [(40, 30), (40, 12), (60, 16), (120, 40)] {
        for way in WAYS {
            let host = calling(&[shell(&long_command())], &[DECLINED], &[]);
            let mut pty = begin(&host, way, columns, rows);
            pty.sees(LISTENS).sees("n  No").sees("↑↓ and Enter");
            let screen = pty.rows();
            assert!(screen.iter().any(|row| row.starts_with("› 1 y  Yes, this once")), "{screen:?}");
            let together = |rows: &[String]| {
                rows.iter()
                    .map(|row| row.trim_start_matches([' ', '│']).trim_end())
                    .collect::<String>()
                    .replace(' ', "")
            };
            let choices = together(&screen);
            let always = "commandsthatbeginwith`cargotest`,`gitlog`";
            assert!(choices.contains(always), "{columns}x{rows}: {screen:?}");
            let all: Vec<String> = pty.everything().lines().map(str::to_owned).collect();
            assert!(together(&all).contains(&long_command().replace(' ', "")), "{columns}x{rows}: {all:?}");
            pty.types("n");
            done(&mut pty, way);
        }
    }
}

#[test]
fn a_resize_while_it_is_asked_keeps_the_question_and_its_choices() {
    for way in WAYS {
        let host = calling(&[shell("touch a")], &["It succeeded"], &[]);
        let mut pty = begin(&host, way, 80, 24);
        // All of it is drawn: a terminal that changes in between keeps rows of the old width.
        pty.until("the question", listens);
        for (columns, rows) in [(40, 12), (30, 16), (100, 30), (80, 24)] {
            pty.resize(columns, rows);
            pty.until("all of it", |screen| {
                listens(screen) && screen.contains("n  No") && screen.matches("│ touch a").count() == 1
            });
        }
        pty.types("y");
        done(&mut pty, way);
        assert!(host.repository().join("a").exists());
    }
}

#[test]
fn without_colour_a_question_has_none_and_is_the_same() {
    let (mut coloured, mut plain) = (String::new(), String::new());
    for (shown, variables) in [(&mut coloured, &[][..]), (&mut plain, &[("NO_COLOR", "1")][..])] {
        let host = calling(&[write("a.txt", "new\n")], &[DECLINED], &[]);
        let mut pty = begin_as(&host, Way::Task, 80, 24, variables);
        pty.sees(LISTENS).sees("Esc to reject");
        *shown = question_of(&pty.screen());
        pty.types("n");
        done(&mut pty, Way::Task);
        let written = pty.written();
        let is_coloured = ["\u{1b}[1m", "\u{1b}[32m", "\u{1b}[2m"].iter().any(|code| written.contains(code));
        assert_eq!(is_coloured, variables.is_empty(), "{written:?}");
    }
    assert_eq!(coloured, plain);
}

/// The question on a screen.
fn question_of(screen: &str) -> String {
    let lines = screen.lines().skip_while(|line| !line.starts_with("? "));
    lines.filter(|line| !line.contains("write_file new")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_asks_line_by_line() {
    for way in WAYS {
        let host = calling(&[shell("touch a"), shell("touch b")], &["It succeeded", DECLINED], &[]);
        let mut pty = begin_as(&host, way, 80, 24, &[("TERM", "dumb"), ("NO_COLOR", "1")]);
        pty.sees("│ touch a").sees(LISTENS).types("y\r").sees("│ touch b");
        // The first choices have left the screen.
        let second =
            |screen: &str| screen.split_once("│ touch b").is_some_and(|(_, rest)| rest.contains("Esc to reject"));
        pty.until("the second choices", second);
        pty.types("n\r");
        done(&mut pty, way);
        assert!(!pty.written().contains('\u{1b}'), "{:?}", pty.written());
        assert!(host.repository().join("a").exists() && !host.repository().join("b").exists());
    }
}

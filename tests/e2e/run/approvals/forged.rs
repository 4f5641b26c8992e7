//! What a model, a tool or a file writes can neither look like a question nor hide a part of one.

use super::*;

/// A question as one might be drawn by whoever wants it to be believed.
const FORGED: &str =
    "\u{1b}[2J\u{1b}[H? shell wants to run this command:\r\n  │ ls\r\n› 1 y  Yes, this once\r\n  2 n  No\r\n";

/// Sequences and characters that change what is seen of what is written.
const STEERS: &[&str] = &["\u{1b}[2J", "\u{1b}[H", "\u{1b}[8m", "\u{1b}]0;", "\u{202e}", "\u{2066}", "\u{9b}"];

/// The rows of the question that is asked: those from its title on. There is no second one.
#[track_caller]
fn asked(pty: &mut Pty, title: &str) -> Vec<String> {
    pty.until(title, listens);
    let all: Vec<String> = pty.everything().lines().map(str::to_owned).collect();
    let titles: Vec<usize> =
        all.iter().enumerate().filter(|(_, row)| row.starts_with("? ")).map(|(at, _)| at).collect();
    let [at] = titles.as_slice() else { panic!("one question is asked: {all:#?}") };
    assert!(all[*at].starts_with(title), "{all:#?}");
    let choices = all.iter().filter(|row| row.starts_with('›') && row.contains("1 y")).count();
    assert_eq!(choices, 1, "there is one row of choices to be taken: {all:#?}");
    let rows = all[*at..].to_vec();
    for steers in STEERS {
        assert!(!pty.written().contains(steers), "{steers:?}");
    }
    rows
}

fn is_declined(host: &Host, pty: &mut Pty, way: Way) {
    pty.types("n");
    done(pty, way);
    assert!(!host.repository().join("evil").exists());
}

#[test]
fn approvals_text_of_a_model_before_a_call_is_not_a_question() {
    for way in WAYS {
        let replies = [
            json!({"chunks": [{"text": format!("{FORGED}\u{202e}\u{200b}")}, shell("touch evil")]}),
            json!({"expect": {"responses": [DECLINED]}, "chunks": [{"text": "All is done."}]}),
        ];
        let host = Host::scripted(&replies, &[]);
        let mut pty = begin(&host, way, 80, 40);
        pty.until("the question", |screen| screen.contains("│ touch evil") && screen.contains("Esc to reject"));
        for steers in STEERS {
            assert!(!pty.written().contains(steers), "{steers:?}");
        }
        // What is asked stands last, beneath all that was said before, and its choices right above the end.
        let screen = pty.screen();
        let (said, real) = (screen.find("│ ls"), screen.rfind("? shell wants to run this command:"));
        assert!(said < real && screen[real.expect("it is there")..].contains("│ touch evil"), "{screen}");
        is_declined(&host, &mut pty, way);
    }
}

// promise approval.forged
#[test]
fn a_command_line_cannot_leave_its_lines() {
    for way in WAYS {
        for (command, seen) in [
            (format!("touch evil #{FORGED}"), "touch evil #\\u{1b}[2J"),
            ("touch evil #\rls                                   ".to_owned(), "touch evil #\\rls"),
            ("echo \u{202e}live hcuot\u{2066}; touch evil".to_owned(), "\\u{202e}live hcuot\\u{2066}; touch evil"),
            ("echo \u{1b}[8m; touch evil; echo \u{1b}[0m\u{200b}".to_owned(), "; touch evil; echo \\u{1b}[0m\\u{200b}"),
        ] {
            let host = calling(&[shell(&command)], &[DECLINED], &[]);
            let mut pty = begin(&host, way, 100, 40);
            let rows = asked(&mut pty, "? shell wants to run this command:");
            assert!(rows.iter().any(|row| row.starts_with("  │ ") && row.contains(seen)), "{seen}: {rows:#?}");
            is_declined(&host, &mut pty, way);
        }
    }
}

// promise approval.forged
#[test]
fn approvals_endless_line_and_endless_text_report_what_is_not_shown() {
    let padded = format!("echo {}; touch evil", "x".repeat(20_000));
    let blanks = format!("echo{}; touch evil", " ".repeat(5_000));
    let lines = format!("{}touch evil\n{}", "echo a\n".repeat(5_000), "echo b\n".repeat(5_000));
    for (command, cut, columns, shows) in [
        (&padded, "characters are not shown here", 80, true),
        (&blanks, "characters are not shown here", 40, true),
        // In the middle of ten thousand lines it is not seen, and that is said: the editor shows all of them.
        (&lines, "lines are not shown here", 80, false),
    ] {
        let host = calling(&[shell(command)], &[DECLINED], &[]);
        let mut pty = begin(&host, Way::Task, columns, 24);
        let rows = asked(&mut pty, "? shell wants to run this command:");
        let text: String = rows.iter().map(|row| row.trim_start_matches("  │ ").trim_end_matches('\n')).collect();
        assert!(text.contains(cut) || text.replace(' ', "").contains(&cut.replace(' ', "")), "{rows:#?}");
        assert_eq!(text.contains("touch evil"), shows, "{rows:#?}");
        // The decision is in sight.
        pty.sees("n  No");
        is_declined(&host, &mut pty, Way::Task);
    }
}

// promise approval.forged
#[test]
fn a_path_cannot_look_like_the_rows_of_a_question() {
    let pad = " ".repeat(40);
    let path = format!("{pad}› 1 y  Yes, this once{pad}{pad}? shell wants to run this command:{pad}evil");
    for columns in [40, 80] {
        let host = calling(&[write(&path, "x\u{1b}[2J\r\u{202e}\n")], &[DECLINED], &[]);
        let mut pty = begin(&host, Way::Task, columns, 30);
        let rows = asked(&mut pty, "? write_file wants to change");
        assert!(rows.iter().any(|row| row.contains("+ x\\u{1b}[2J\\r\\u{202e}")), "{rows:#?}");
        is_declined(&host, &mut pty, Way::Task);
    }
}

// promise approval.forged
#[test]
fn approvals_output_of_an_earlier_call_that_still_runs_stays_out_of_a_question() {
    let prints = "cat forged.txt; echo ready; while [ ! -e go ]; do sleep 0.02; done; cat forged.txt";
    let rules = "[[rule]]\ntool = \"shell\"\ncommand = [\"cat\", \"sleep\"]\ndecision = \"allow\"\n";
    for way in WAYS {
        let host = calling(&[shell(prints), shell("touch evil")], &["ready", DECLINED], &[]).file("forged.txt", FORGED);
        let host = host.home_file(".config/host/policies/mine.toml", rules);
        let mut pty = begin(&host, way, 80, 40);
        pty.sees("ready");
        std::fs::write(host.repository().join("go"), "").expect("written");
        let rows = asked(&mut pty, "? shell wants to run this command:");
        assert!(rows.iter().any(|row| row == "  │ touch evil"), "{rows:#?}");
        is_declined(&host, &mut pty, way);
    }
}

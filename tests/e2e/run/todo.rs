//! The list of steps that a model keeps: what a user sees of it, also after a resume.

use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::{Value, json};

use super::{answer, call};

fn todo(items: &[(&str, &str)]) -> Value {
    let items: Vec<Value> = items.iter().map(|(text, state)| json!({"text": text, "state": state})).collect();
    json!({"chunks": [call("todo", json!({"items": items}))]})
}

fn open(host: &Host, arguments: &[&str], columns: u16) -> Pty {
    let mut command = host.command_of(arguments);
    command.env("TERM", "xterm-256color");
    Pty::start(command, columns, 30)
}

// promise todo.kept: The model's list of steps is shown as a checklist, and is there again when its session is resumed.
#[test]
fn todo_list_is_a_checklist_under_its_call_and_is_kept_when_the_session_is_resumed() {
    let first = [("Read the parser", "in_progress"), ("Fix it", "pending")];
    let then = [("Read the parser", "done"), ("Fix it", "in_progress"), ("Run the tests", "pending")];
    let host = Host::scripted(&[todo(&first), todo(&then), answer("I go on.")], &[]);
    let script = host.home().join("script.jsonl");
    let model = format!("scripted:{}", script.display());
    let mut pty = open(&host, &["run", "--model", &model], 80);
    pty.sees("› ").types("/todo\r").sees("the model has no list of steps").types("Fix the parser\r").sees("I go on.");
    let screen = pty.everything();
    assert!(screen.contains("\n  ▸ Read the parser\n  ☐ Fix it\n"), "{screen}");
    assert!(screen.contains("\n  ✓ Read the parser\n  ▸ Fix it\n  ☐ Run the tests\n"), "{screen}");
    assert!(!screen.contains("wants to"), "nothing was asked: {screen}");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    std::fs::write(&script, format!("{}\n", answer("Yes."))).expect("written");
    let mut pty = open(&host, &["run", "--continue", "--model", &model], 40);
    pty.sees("resumed session").sees("auto › ").types("/todo\r");
    pty.sees("✓ Read the parser").sees("▸ Fix it").sees("☐ Run the tests").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn todo_steps_that_wait_or_are_cancelled_are_shown_so_in_the_terminal_and_the_transcript() {
    let items = json!([
        {"text": "Ask the team", "state": "cancelled"},
        {"text": "Read the parser", "state": "in_progress"},
        {"text": "Fix it", "state": "pending", "depends_on": [1, 2]},
    ]);
    let host = Host::scripted(&[json!({"chunks": [call("todo", json!({"items": items}))]}), answer("I go on.")], &[]);
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let mut pty = open(&host, &["run", "--model", &model, "Do it"], 80);
    pty.saw("I go on.");
    assert_eq!(pty.ends(), Some(0));
    let screen = pty.everything();
    let list = "\n  – 1. Ask the team (cancelled)\n  ▸ 2. Read the parser\n  ☐ 3. Fix it (waits for 2)\n";
    assert!(screen.contains(list), "{screen}");
    let shown = host.run_of(&["session", "show"]).stdout;
    let list = "  [-] 1. Ask the team (cancelled)\n  [~] 2. Read the parser\n  [ ] 3. Fix it (waits for 2)\n";
    assert!(shown.contains(list), "{shown}");
}

#[test]
fn todo_text_cannot_steer_the_terminal() {
    let text = "a\u{1b}[2J\u{1b}]0;owned\u{7}\n  ✓ all done\u{202e}\u{200b}";
    let host = Host::scripted(&[todo(&[(text, "pending")]), answer("Done.")], &[]);
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let mut pty = open(&host, &["run", "--model", &model, "Do it"], 80);
    pty.saw("Done.");
    assert_eq!(pty.ends(), Some(0));
    let (written, screen) = (pty.written(), pty.everything());
    assert!(!written.contains("\u{1b}[2J") && !written.contains("owned\u{7}") && !written.contains('\u{202e}'));
    let line = screen.lines().find(|line| line.contains('☐')).expect("it is shown");
    assert!(line.contains("✓ all done") && line.starts_with("  ☐ a"), "{screen}");
}

#[test]
fn todo_needs_no_grant_in_any_mode_and_each_session_has_its_own() {
    for mode in ["plan", "default"] {
        let replies = [
            todo(&[("One", "pending")]),
            json!({"expect": {"responses": ["0 of 1 done"]}, "chunks": [{"text": "Done."}]}),
        ];
        let ended = Host::scripted(&replies, &["--approval-mode", mode, "Do it"]).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{mode}: {ended:?}");
    }
}

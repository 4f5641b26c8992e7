//! The title of the window, and alerts for a user who looks elsewhere.

use std::time::{Duration, Instant};

use super::*;

const FOCUS_ON: &str = "\u{1b}[?1004h";
const FOCUS_OFF: &str = "\u{1b}[?1004l";
const TITLE_KEPT: &str = "\u{1b}[22;0t";
const TITLE_BACK: &str = "\u{1b}[23;0t";

fn name(host: &Host) -> String {
    let folder = host.repository().file_name().expect("it has a name");
    format!("host: {}", folder.to_string_lossy())
}

/// Ends a conversation at its prompt, and checks that the terminal is as it was before.
#[track_caller]
fn leaves(mut pty: Pty, code: i32) -> String {
    assert_eq!(pty.ends(), Some(code), "{}", pty.everything());
    let written = pty.written();
    let count = |text: &str| written.matches(text).count();
    assert_eq!(count(TITLE_KEPT), count(TITLE_BACK), "the title is back: {written:?}");
    assert!(count(FOCUS_ON) <= count(FOCUS_OFF) && written.rfind(FOCUS_ON) <= written.rfind(FOCUS_OFF), "{written:?}");
    written
}

// promise conversation.title: The title of the window says what goes on, has no control characters of others, and is as
//   before at every end.
#[test]
fn title_says_what_goes_on_and_is_as_before_at_the_end() {
    let asks = json!({"chunks": [call("shell", json!({"command": "touch asked"}))]});
    let (host, mut pty) = talk(&[asks], &[]);
    pty.types("first\r")
        .sees("Yes, this once")
        .types("\u{3}")
        .sees("stopped · 1 call")
        .sees("\nscript.jsonl")
        .types("\u{4}");
    let written = leaves(pty, 0);
    let title = |mark: &str| format!("\u{1b}]2;{mark}{}\u{1b}\\", name(&host));
    let mut rest = written.as_str();
    for next in [TITLE_KEPT, &title(""), &title("◐ "), &title("? "), &title(""), TITLE_BACK] {
        let at = rest.find(next).unwrap_or_else(|| panic!("{next:?} does not follow: {written:?}"));
        rest = &rest[at + next.len()..];
    }
}

#[test]
fn modes_are_restored_whenever_the_terminal_is_left() {
    // An editor, a suspension, a signal.
    let (_host, mut pty) = {
        let host = Host::scripted(&[], &[]);
        let mut command = host.command();
        command.env("TERM", "xterm-256color").env("VISUAL", "true");
        let mut pty = Pty::start(command, 80, 24);
        pty.sees("default › ");
        (host, pty)
    };
    pty.types("ab\u{7}").until("the editor has ended", |screen| screen.contains("› ab"));
    pty.types("c").sees("› abc").types("\u{1a}d").sees("› abcd").signal(Signal::TERM);
    let written = leaves(pty, 130);
    assert_eq!((written.matches(TITLE_KEPT).count(), written.matches(TITLE_BACK).count()), (3, 3), "{written:?}");
    let (off, on) = (written.find(FOCUS_OFF), written.rfind(FOCUS_ON));
    assert!(off < on, "the focus is reported again: {written:?}");
}

#[test]
fn title_and_reports_are_absent_where_they_are_not_wanted() {
    let host = Host::scripted(&[answer("One.")], &[]).configured("[conversation]\ntitle = false\nnotify = \"off\"\n");
    let mut pty = open(&host, 80, 24);
    pty.types("\u{1b}[Ofirst\r").sees("One.").sees("\n\ndefault ›").types("\u{4}");
    let written = leaves(pty, 0);
    for absent in ["\u{1b}]2;", "\u{1b}]9;", TITLE_KEPT, FOCUS_ON, "\u{7}"] {
        assert!(!written.contains(absent), "{absent:?} in {written:?}");
    }
}

// promise conversation.alerts: The user is alerted when a turn ends or a question waits, and only if the terminal
//   reports that keys go elsewhere.
#[test]
fn alert_comes_only_if_keys_go_elsewhere() {
    for (configured, report, bell, osc9) in [
        ("", "\u{1b}[O", 1, 0),
        ("", "\u{1b}[O\u{1b}[I", 0, 0),
        ("", "", 0, 0),
        ("notify = \"osc9\"\n", "\u{1b}[I\u{1b}[O", 0, 1),
        ("notify = \"off\"\n", "\u{1b}[O", 0, 0),
        // As before, wherever the user looks, and not twice.
        ("bell_seconds = 0\n", "\u{1b}[O", 1, 0),
        ("bell_seconds = 0\nnotify = \"osc9\"\n", "\u{1b}[O", 1, 1),
        ("bell_seconds = 0\n", "\u{1b}[I", 1, 0),
        ("bell_seconds = 1000\n", "", 0, 0),
    ] {
        let host = Host::scripted(&[answer("One.")], &[]).configured(&format!("[conversation]\n{configured}"));
        let mut pty = open(&host, 80, 24);
        // Within what is typed, so that a report that became text would be seen.
        pty.types(&format!("fir{report}st\r")).sees("› first\n").sees("One.").sees("\n\ndefault ›").types("\u{4}");
        let written = leaves(pty, 0);
        let osc = format!("\u{1b}]9;{}: done after ", name(&host));
        let counts = (written.matches('\u{7}').count(), written.matches(&osc).count());
        assert_eq!(counts, (bell, osc9), "{configured:?} {report:?}: {written:?}");
    }
}

// promise conversation.alerts
#[test]
fn alert_comes_when_a_question_waits_and_no_report_answers_it() {
    let asks = json!({"chunks": [call("shell", json!({"command": "touch asked"}))]});
    let host = Host::scripted(&[asks], &[]).configured("[conversation]\nnotify = \"osc9\"\n");
    let mut pty = open(&host, 80, 24);
    pty.types("\u{1b}[Ofirst\r").sees("Yes, this once").types("\u{1b}[I\u{1b}[O\u{1b}[I\u{3}").sees("stopped · 1 call");
    pty.types("\u{4}");
    let written = leaves(pty, 0);
    let alert = format!("\u{1b}]9;{}: a question waits for you\u{1b}\\", name(&host));
    assert_eq!(written.matches("\u{1b}]9;").count(), 1, "{written:?}");
    assert!(written.contains(&alert), "{written:?}");
    assert!(!host.repository().join("asked").exists());
}

// promise conversation.notify
#[test]
fn alert_runs_the_users_command_and_no_project_names_one() {
    let host = Host::scripted(&[answer("One.")], &[]);
    let file = host.home().join("told");
    let script = "printf '%s' \\\"$1\\\" > \\\"$0.new\\\"; mv \\\"$0.new\\\" \\\"$0\\\"";
    let command = format!("[\"sh\", \"-c\", \"{script}\", \"{}\"]", file.display());
    let settings = format!("[conversation]\nnotify = \"off\"\nnotify_command = {command}\n");
    let host = host.configured(&settings);
    let mut pty = open(&host, 80, 24);
    pty.types("\u{1b}[Ofirst\r").sees("One.").sees("\n\ndefault ›");
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < Duration::from_secs(40), "the command did not run");
        std::thread::yield_now();
    }
    let told = std::fs::read_to_string(&file).expect("written");
    assert!(told.starts_with(&format!("{}: done after ", name(&host))), "{told}");
    pty.types("\u{4}");
    leaves(pty, 0);
    // The same in a project's configuration is an error.
    let host = Host::scripted(&[answer("One.")], &[]).file(".host/config.toml", &settings);
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = host.run_of(&["run", "--model", "offline", "Look"]);
    assert_eq!(ended.code, Some(52), "{ended:?}");
    assert!(ended.stderr.contains("`conversation` is not allowed in a project"), "{ended:?}");
}

//! The model's own questions to the user.

use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::{Value, json};

use super::{answer, call};

fn asks(question: &str, choices: &[&str]) -> Value {
    let choices: Vec<Value> = choices.iter().map(|choice| json!({"label": choice})).collect();
    asks_all(json!([{"question": question, "choices": choices}]))
}

fn asks_all(questions: Value) -> Value {
    json!({"chunks": [call("ask_user", json!({"questions": questions}))]})
}

/// What the model says once it was told this.
fn told(words: &str) -> Value {
    json!({"expect": {"responses": [words]}, "chunks": [{"text": "All is done."}]})
}

fn begin(host: &Host, columns: u16) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color").arg("Do it");
    Pty::start(command, columns, 30)
}

#[test]
fn ask_user_takes_a_choice_the_users_own_words_or_no_answer() {
    for (keys, says) in [
        (vec!["\r"], "The user chose: SQLite"),
        (vec!["2"], "The user chose: PostgreSQL"),
        (vec!["c"], "The user chose: PostgreSQL"),
        (vec!["w", "a file\r"], "The user answered: a file"),
        (vec!["w", "\r"], "The user did not answer."),
        (vec!["x"], "The user did not answer."),
        (vec!["\u{1b}"], "The user did not answer."),
    ] {
        let host = Host::scripted(&[asks("Which database?", &["SQLite", "PostgreSQL"]), told(says)], &[]);
        let mut pty = begin(&host, 80);
        pty.sees("The model asks:").sees("│ Which database?").sees("› 1 b  “SQLite”");
        for (at, keys) in keys.iter().enumerate() {
            if at > 0 {
                pty.sees("answer › ");
            }
            pty.types(keys);
        }
        pty.saw("All is done.");
        assert_eq!(pty.ends(), Some(0), "{keys:?}: {}", pty.everything());
    }
}

// promise ask.each
#[test]
fn ask_user_asks_several_questions_of_which_each_has_its_answer() {
    let questions = json!([
        {"question": "Which database?", "choices": [
            {"label": "PostgreSQL"},
            {"label": "SQLite", "description": "One file.", "recommended": true},
        ]},
        {"question": "Which systems?", "multiple": true,
         "choices": [{"label": "Linux"}, {"label": "macOS"}, {"label": "Windows"}]},
        {"question": "What else?", "multiple": true, "choices": [{"label": "A page"}, {"label": "A log"}]},
        {"question": "Which name?"},
    ]);
    let answers = "1. Which database?\nThe user chose: SQLite\n\n\
        2. Which systems?\nThe user chose:\n- Linux\n- Windows\n\n\
        3. What else?\nThe user chose:\n- A log\nand answered: a bell\n\n\
        4. Which name?\nThe user did not answer.\n\n\
        Where there is no answer, continue as seems best, and say what you assumed.";
    let host = Host::scripted(&[asks_all(questions), told(answers)], &[]);
    let mut pty = begin(&host, 80);
    pty.sees("The model asks (1 of 4):").sees("› 2 c  “SQLite” (recommended)").sees("“One file.”").types("\r");
    pty.sees("The model asks (2 of 4; several answers can be marked):").sees("› 1 b  [ ] “Linux”");
    pty.types("1")
        .sees("› 1 b  [x] “Linux”")
        .types("2")
        .sees("› 2 c  [x] “macOS”")
        .types(" ")
        .sees("› 2 c  [ ] “macOS”");
    pty.types("3").sees("› 3 d  [x] “Windows”").types("\r");
    pty.sees("The model asks (3 of 4; several").sees("› 1 b  [ ] “A page”").types("2").sees("› 2 c  [x] “A log”");
    pty.types("w").sees("answer › ").types("a bell\r");
    pty.sees("The model asks (4 of 4):").sees("› 1 w  Write an answer").types("\u{1b}");
    pty.saw("All is done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let everything = pty.everything();
    for left in
        ["› “SQLite” (recommended)", "› Send what is marked (“Linux”, “Windows”)", "Write an answer (“A log”): a bell"]
    {
        assert!(everything.contains(left), "{left}: {everything}");
    }
    assert!(everything.contains("› skipped\n✓ ask_user Which "), "{everything}");
}

/// Without a cursor that moves, choices are written again when one is marked.
#[test]
fn ask_user_takes_marks_on_a_terminal_that_cannot_move_its_cursor() {
    let questions = json!([{"question": "Which systems?", "multiple": true,
                            "choices": [{"label": "Linux"}, {"label": "macOS"}]}]);
    let host = Host::scripted(&[asks_all(questions), told("The user chose: macOS")], &[]);
    let mut command = host.command();
    command.env("TERM", "dumb").arg("Do it");
    let mut pty = Pty::start(command, 80, 30);
    pty.sees("2 c  [ ] “macOS”").sees("Esc to skip").types("2\n").sees("› 2 c  [x] “macOS”").types("k\n");
    pty.saw("All is done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

// promise ask.headless
#[test]
fn ask_user_is_denied_at_once_where_nobody_can_be_asked() {
    for mode in ["default", "yolo"] {
        let replies = [asks("Which database?", &[]), told("the user cannot be asked here")];
        let host = Host::scripted(&replies, &["--approval-mode", mode, "Do it"]);
        let ended = host.run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "All is done.\n"), "{mode}: {ended:?}");
    }
}

// promise ask.marked
#[test]
fn ask_user_that_imitates_a_question_about_a_call_is_shown_as_the_models() {
    let text = "? shell wants to run this command:\n  │ git status\n\u{1b}[1A\u{1b}[2K\u{1b}[H? host asks:\r? edit";
    let choices = ["Yes, this once", "Always in this folder: every command", "No"];
    for columns in [40, 80, 120] {
        // An approval of nothing: the command after it is asked about like any other.
        let replies = [
            asks(text, &choices),
            json!({"expect": {"responses": ["The user chose: Always"]},
                   "chunks": [call("shell", json!({"command": "touch made"}))]}),
            answer("All is done."),
        ];
        let host = Host::scripted(&replies, &[]);
        let mut pty = begin(&host, columns);
        pty.sees("The model asks").sees("› 1 b  “Yes");
        let screen = pty.screen();
        let rows = pty.rows();
        let imitates = |row: &String| row.starts_with("? ") && !row.starts_with("? The model asks");
        assert!(!rows.iter().any(imitates), "{screen}");
        assert!(!screen.contains("1 y") && !pty.written().contains("\u{1b}[H? host"), "{screen}");
        pty.types("2").sees("shell wants to run this command").sees("› 1 y  Yes, this once").types("n");
        pty.saw("All is done.");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert!(!host.repository().join("made").exists());
    }
}

#[test]
fn ask_user_question_ends_with_ctrl_c() {
    let host = Host::scripted(&[asks("Which?", &["a"])], &[]);
    let mut pty = begin(&host, 80);
    pty.sees("› 1 b  “a”").types("\u{3}");
    assert_eq!(pty.ends(), Some(130), "{}", pty.everything());
}

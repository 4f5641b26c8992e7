//! Questions on a real terminal. This test program runs itself again with the name of a scenario, and that process
//! asks.

use std::process::Command;
use std::time::Duration;

use super::*;

#[path = "../../../tests/support/pty.rs"]
#[expect(dead_code, unreachable_pub, reason = "other tests use the rest of it")]
mod pty;

use pty::Pty;

/// The variable that names the scenario.
const SCENARIO: &str = "HOST_TEST_SCENARIO";

/// Runs a scenario on a terminal of this size.
fn play(scenario: &str, columns: u16, rows: u16) -> Pty {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["tests::scenario", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(SCENARIO, scenario).env("RUST_BACKTRACE", "0");
    Pty::start(command, columns, rows)
}

/// Bytes of text that come while a question is open.
const MORE_THAN_IS_HELD: usize = 300 << 10;

fn question(lines: &[&str]) -> Question {
    let choice = |(letter, label): (char, &str)| Choice::new(letter, label);
    Question {
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        choices: [('y', "Yes, once"), ('a', "Always"), ('n', "No")].map(choice).to_vec(),
        preselected: 2,
        ..Question::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scenario() {
    // The other tests run it, on terminals of their own; by itself it does nothing.
    let Ok(scenario) = std::env::var(SCENARIO) else { return };
    let keyboard = if scenario.starts_with("talk") { Keyboard::Always } else { Keyboard::WhenAsked };
    let mode = if scenario.contains("plain") { TerminalMode::Dumb } else { TerminalMode::Ansi };
    let interrupt = Interrupt::default();
    let terminal = Terminal::open(Setup {
        keyboard,
        mode,
        style: Style { colour: false },
        interrupt: interrupt.clone(),
        history: History::default(),
        resize: Resize::default(),
        answers: Answers::default(),
        assist: match scenario.as_str() {
            "talk slow" => slow(),
            _ => Assist { special: Some(('!', "runs as you")), ..Assist::default() },
        },
        attention: Attention { name: "host: a\u{1b}b".to_owned(), title: Title::Set, alert: Alert::Bell, notify: None },
    })
    .expect("there is a terminal");
    terminal.lines("begins\n");
    match scenario.as_str() {
        "later" | "talk later" | "plain later" => {
            // The test types now, and then creates the file.
            tokio::task::spawn_blocking(wait_for_file).await.expect("it does not panic");
            let chosen = terminal.ask(question(&["May it?"])).await;
            terminal.lines(&format!("chosen {chosen:?}"));
        }
        "long" => {
            let lines: Vec<String> = (0..100).map(|n| format!("changed line {n}")).collect();
            let asked = Question { lines, ..question(&[]) };
            let chosen = terminal.ask(asked).await;
            terminal.lines(&format!("chosen {chosen:?}"));
        }
        "several" => {
            let (first, second) = (question(&["First?"]), question(&["Second?"]));
            let shows = async {
                terminal.lines("shown meanwhile");
            };
            let (first, second, ()) = tokio::join!(terminal.ask(first), terminal.ask(second), shows);
            terminal.lines(&format!("chosen {first:?} {second:?}"));
        }
        "talk slow" => loop {
            match terminal.next("say › ").await {
                TerminalInput::Prompt(text) => terminal.lines(&format!("said {text}")),
                TerminalInput::Mode => terminal.lines("another mode"),
                TerminalInput::Leave => break,
            }
        },
        "talk turn" => {
            terminal.works_on(&CancellationToken::new());
            terminal.rests();
            terminal.lines("answered");
            tokio::task::spawn_blocking(wait_for_file).await.expect("it does not panic");
            let begun = async { terminal.lines("your turn") };
            let (said, ()) = tokio::join!(terminal.next("say › "), begun);
            terminal.lines(&format!("said {said:?}"));
        }
        "flooded" => {
            let flood = async {
                let line = "f".repeat(50);
                // As the log does.
                (0..MORE_THAN_IS_HELD / 50).for_each(|n| assert!(terminal.above(&format!("flood {n} {line}\n"))));
            };
            let (chosen, ()) = tokio::join!(terminal.ask(question(&["May it?"])), flood);
            terminal.lines(&format!("chosen {chosen:?}"));
        }
        "withdrawn" => {
            let told = tokio::time::timeout(Duration::from_secs(1), terminal.ask(question(&["Quick?"]))).await;
            terminal.lines(&format!("in time: {}", told.is_ok()));
            let chosen = terminal.ask(question(&["And this?"])).await;
            terminal.lines(&format!("chosen {chosen:?} {}", interrupt.stop.is_cancelled()));
        }
        "talk panic" => {
            let panics = std::thread::spawn(|| panic!("on purpose"));
            assert!(panics.join().is_err());
        }
        other => panic!("there is no scenario {other}"),
    }
    terminal.leave();
}

#[test]
fn terminal_paste_without_room_says_so_and_leaves_the_line_as_it_was() {
    let mut pty = play("talk slow", 100, 20);
    let paste = |bytes: usize| format!("\u{1b}[200~{}\u{1b}[201~", "x".repeat(bytes));
    pty.sees("say › ").types("before ").sees("before ").types(&paste(2 << 20));
    pty.sees("the paste was left out: over 1 MiB in all · save it as a file and name that with @");
    pty.types("and ").sees("before and ");
    // Two that are too much together.
    pty.types(&paste(700_000)).sees("[pasted 700").types(&paste(700_000));
    pty.sees("the paste was left out");
}

// promise plugin.log
#[test]
fn terminal_text_that_floods_an_open_question_is_held_back_and_bounded() {
    let mut pty = play("flooded", 60, 20);
    // A key from before all of the question is there does not count.
    pty.sees("May it?").sees("Esc to reject").types("y").sees("chosen Choice(0)");
    assert_eq!(pty.ends(), Some(0));
    let written = pty.written();
    let at = |text: &str| written.find(text).unwrap_or_else(|| panic!("{text:?} is not in {written:.3000?}"));
    assert!(at("May it?") < at("› Yes, once") && at("› Yes, once") < at("flood 0 "), "{written:.3000?}");
    assert!(at("flood 0 ") < at("lines left out while a question was open"));
    assert!(!written.contains(&format!("flood {} ", MORE_THAN_IS_HELD / 50 - 1)), "the last was left out");
}

/// Waits until the test creates the file.
fn wait_for_file() {
    let path = std::env::var("HOST_TEST_FILE").expect("it is set");
    while !std::path::Path::new(&path).exists() {
        std::thread::yield_now();
    }
}

/// Completions and a clipboard that take as long as the test wants.
fn slow() -> Assist {
    let begins_later =
        |before: &str| if before.starts_with('@') && !before.contains(' ') { Lookup::Later } else { Lookup::Nothing };
    let look_up = |before: &str| {
        wait_for_file();
        let candidates = vec![Candidate::new(format!("{before}-completed ")), Candidate::new("\u{1b}[2Jother")];
        Completions { replaced: before.len(), candidates, ..Completions::default() }
    };
    let image = || {
        wait_for_file();
        Ok(Folded { text: "@image".to_owned(), label: "[image]".to_owned() })
    };
    Assist {
        completer: Completer { at_once: Some(Box::new(begins_later)), looked_up: Some(Box::new(look_up)) },
        image: Some(Box::new(image)),
        ..Assist::default()
    }
}

#[test]
fn terminal_key_is_shown_while_completions_and_the_clipboard_take_their_time() {
    let (mut pty, folder) = started("talk slow");
    pty.sees("say › ").types("@a").sees("› @a").types("bc\u{16}").sees("reading the clipboard");
    pty.types("d").sees("› @abcd");
    std::fs::write(folder.path().join("go"), "").expect("written");
    pty.sees("@abcd[image]").types("\u{15}@x").sees("› @x-completed").sees("\\u{1b}[2Jother");
    pty.types("\u{1b}[B").sees("› \\u{1b}[2Jother").types("\u{1b}[A\t").sees("say › @x-completed").types("\r");
    pty.sees("said @x-completed").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(!pty.written().contains("\u{1b}[2J"), "{:?}", pty.written());
}

#[test]
fn terminal_answer_to_a_key_stays_when_the_turn_begins_behind_that_key() {
    for (typed, answered, stays) in [
        (format!("\u{1b}[200~!one{}\u{1b}[201~\r", "\n".repeat(30)), "this paste begins as a command", true),
        ("\u{3}".to_owned(), "press Ctrl-C again", true),
        ("abc".to_owned(), "Enter to send when the model is done", false),
        ("\u{4}\u{15}a".to_owned(), "Enter to send when the model is done", false),
    ] {
        let (mut pty, folder) = started("talk turn");
        pty.sees("answered").types(&typed).sees(answered);
        std::fs::write(folder.path().join("go"), "").expect("written");
        // The line is written first, and then the prompt below it; that of the paste fills the screen with its rows.
        pty.until(answered, |screen| {
            let is_drawn = stays || screen.contains("say ›");
            screen.contains("your turn") && is_drawn && screen.contains(answered) == stays
        });
    }
}

// promise conversation.title
#[test]
fn terminal_after_a_panic_is_as_it_was_and_its_title_escapes_control_characters() {
    let mut pty = play("talk panic", 60, 20);
    pty.saw("on purpose");
    assert_eq!(pty.ends(), Some(0));
    let written = pty.written();
    let at = |text: &str| written.find(text).unwrap_or_else(|| panic!("{text:?} is not in {written:?}"));
    let panicked = at("on purpose");
    assert!(at("\u{1b}[?1004h") < at("\u{1b}[?1004l") && at("\u{1b}[?1004l") < panicked);
    assert!(at("\u{1b}[22;0t") < at("\u{1b}[23;0t") && at("\u{1b}[23;0t") < panicked);
    assert_eq!(written.matches("\u{1b}[23;0t").count(), 1, "{written:?}");
    assert!(written.contains("\u{1b}]2;host: a\\u{1b}b\u{1b}\\"), "{written:?}");
}

/// Starts a scenario that waits for the file `go` in the folder.
fn started(scenario: &str) -> (Pty, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["tests::scenario", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(SCENARIO, scenario).env("HOST_TEST_FILE", folder.path().join("go")).env("RUST_BACKTRACE", "0");
    (Pty::start(command, 60, 20), folder)
}

/// Plays a scenario in which keys are pressed before the question is asked.
fn typed_before(scenario: &str, typed: &str) -> (Pty, tempfile::TempDir) {
    let (mut pty, folder) = started(scenario);
    pty.sees("begins").types(typed);
    std::fs::write(folder.path().join("go"), "").expect("written");
    (pty, folder)
}

#[test]
fn a_key_from_before_a_question_never_answers_it() {
    let (mut pty, _folder) = typed_before("later", "y1\r");
    pty.sees("May it?").sees("› 3 n  No");
    assert!(!pty.screen().contains("chosen"), "{}", pty.screen());
    pty.types("a").saw("chosen Choice(1)");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn terminal_keys_typed_while_a_question_appears_are_kept_in_the_input_line() {
    let (mut pty, _folder) = typed_before("talk later", "yes but");
    // Typed while the question is visible and does not listen yet.
    pty.sees("May it?").types(" no").sees("yes but no").sees("› 3 n  No");
    assert!(!pty.screen().contains("chosen"), "{}", pty.screen());
    pty.types("\r").saw("chosen Choice(2)");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_paste_and_a_strange_key_do_not_answer_and_esc_does() {
    let (mut pty, _folder) = typed_before("later", "");
    pty.sees("› 3 n  No").types("\u{1b}[200~y\u{1b}[201~7x\u{1b}[15~").types("\u{1b}[A").sees("› 2 a  Always");
    pty.types("\u{1b}").saw("chosen Dismissed");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_asks_line_by_line() {
    let (mut pty, _folder) = typed_before("plain later", "y\r");
    pty.sees("May it?").sees("1 y  Yes, once").types("y\r").saw("chosen Choice(0)");
    assert!(!pty.written().contains('\u{1b}'), "{:?}", pty.written());
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_long_question_scrolls_and_its_choices_stay_in_sight() {
    for (columns, rows) in [(80, 10), (20, 6)] {
        let mut pty = play("long", columns, rows);
        pty.sees("› 3 n  No").sees("changed line 99");
        let all = pty.everything();
        assert!((0..100).all(|n| all.contains(&format!("changed line {n}\n"))), "{all}");
        pty.types("2").saw("chosen Choice(1)");
        assert_eq!(pty.ends(), Some(0));
    }
}

#[test]
fn questions_come_one_after_the_other_and_what_is_shown_meanwhile_behind_them() {
    let mut pty = play("several", 60, 20);
    pty.sees("First?").sees("› 3 n  No");
    assert!(!pty.screen().contains("Second?") && !pty.screen().contains("shown meanwhile"), "{}", pty.screen());
    pty.types("y").sees("› Yes, once").sees("Second?").sees("› 3 n  No").types("n").saw("chosen Choice(0) Choice(2)");
    let all = pty.everything();
    assert!(all.find("First?") < all.find("shown meanwhile"), "{all}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn terminal_question_is_removed_when_nothing_waits_for_it_and_ctrl_c_dismisses_the_next() {
    let mut pty = play("withdrawn", 60, 20);
    pty.sees("Quick?").sees("in time: false").sees("And this?").sees("› 3 n  No");
    pty.types("\u{3}").saw("chosen Dismissed true");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_question_fits_after_a_resize() {
    let mut pty = play("long", 80, 20);
    pty.sees("› 3 n  No").resize(24, 8);
    pty.until("all choices", |screen| screen.contains("1 y  Yes, once") && screen.contains("› 3 n  No"));
    pty.types("\r").saw("chosen Choice(2)");
    assert_eq!(pty.ends(), Some(0));
}

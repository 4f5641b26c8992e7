//! The tool `process`: what runs in the background of the session.
//!
//! Deliberately not here: starting a program, which `shell` does and which is asked about there. This tool needs no
//! capability: it reaches only what `shell` started.

use std::fmt::Write;

use host_sdk::background::{self, Input, Output, Program, Screen, State, TerminalError};
use host_sdk::process::{self, Command, TerminalSize};
use host_sdk::{Annotations, Content, Failure, Outcome, Tool};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Looks after the commands that `shell` started with `background` or `tty`, all of which end with the session: `list` names \
them, `read` returns what one has printed since the last time, `wait` does so once it has ended or `seconds` have passed, \
`stop` ends it with everything that it started. On a terminal, `type` types `text` and then presses `keys`, `resize` \
changes its size, and each answer has what scrolled away since the last one and the screen as it is.";

/// How long `wait` takes when it does not say, in seconds.
const USUAL_WAIT: u64 = 30;

/// How long `type` waits at most for the program to be done with it when it does not say, in seconds.
const USUAL_REACTION: u64 = 10;

/// How long a terminal must be quiet before its screen is taken to be drawn, in milliseconds: programs draw in pieces,
/// and one that computes for longer is read again.
const DRAWN: u64 = 300;

/// How long a command in the background is waited for, in milliseconds, so that one that fails at once says so.
const FIRST_LOOK: u64 = 1_000;

/// The size of a terminal at first: what most programs are made for, and not too much to read.
const SIZE: TerminalSize = TerminalSize { columns: 100, rows: 30 };

/// How many characters of a command stand in a line.
const MAX_COMMAND: usize = 100;

pub(crate) fn process() -> Tool {
    Tool::new("process", DESCRIPTION, include_str!("background.json"), call)
        .title("Look after background commands")
        // It can end a program, and loses its work then.
        .annotations(Annotations { read_only: false, destructive: true, idempotent: false, open_world: false })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    id: Option<String>,
    seconds: Option<u64>,
    text: Option<String>,
    #[serde(default)]
    keys: Vec<String>,
    columns: Option<u16>,
    rows: Option<u16>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Read,
    Wait,
    Stop,
    Type,
    Resize,
}

/// Starts a command in the background.
pub(crate) fn start(command: &Command) -> Result<Outcome, Failure> {
    let id = process::spawn_background(command)?;
    background::wait(&id, FIRST_LOOK);
    let output = background::read(&id);
    let output = output.ok_or_else(|| Failure::Failed(format!("`{id}` ended with its session")))?;
    let how = "in the background";
    Ok(going_on(report(&output), &output.program, how, "reads its output, waits for it or stops it"))
}

/// Starts a command on a terminal.
pub(crate) fn start_on_terminal(command: &Command) -> Result<Outcome, Failure> {
    let id = process::spawn_terminal(command, SIZE)?;
    let screen = background::view(&id, DRAWN, USUAL_REACTION * 1_000)?;
    let how = "on a terminal";
    Ok(going_on(shown(&screen), &screen.program, how, "types into it, shows its screen, waits for it or stops it"))
}

/// Adds how to go on with a program that runs.
fn going_on(mut outcome: Outcome, program: &Program, how: &str, what: &str) -> Outcome {
    if program.state == State::Running {
        outcome.content.push(Content::Text(format!("It runs {how} as `{}`: `process` {what}\n", program.id)));
    }
    outcome
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { action, id, seconds, text, keys, columns, rows } = arguments;
    if let Action::List = action {
        return Ok(all());
    }
    let id = id.ok_or_else(|| Failure::InvalidArguments("`id` is missing: `list` names all".to_owned()))?;
    let wait = |usual: u64| seconds.unwrap_or(usual).saturating_mul(1_000);
    match action {
        Action::List | Action::Read => look(&id, 0),
        Action::Wait => {
            background::wait(&id, wait(USUAL_WAIT)).ok_or_else(|| unknown(&id))?;
            look(&id, 0)
        }
        Action::Stop => {
            background::stop(&id).ok_or_else(|| unknown(&id))?;
            look(&id, 0)
        }
        Action::Type => {
            let text = text.filter(|text| !text.is_empty()).map(Input::Text);
            let input: Vec<Input> = text.into_iter().chain(keys.into_iter().map(Input::Key)).collect();
            if input.is_empty() {
                return Err(Failure::InvalidArguments("`type` needs `text` or `keys`".to_owned()));
            }
            background::send(&id, &input).map_err(|error| failure(&id, error))?;
            look(&id, wait(USUAL_REACTION))
        }
        Action::Resize => {
            let (Some(columns), Some(rows)) = (columns, rows) else {
                return Err(Failure::InvalidArguments("`resize` needs `columns` and `rows`".to_owned()));
            };
            background::resize(&id, columns, rows).map_err(|error| failure(&id, error))?;
            look(&id, wait(USUAL_REACTION))
        }
    }
}

/// What a program shows or has printed since the last time; one on a terminal once it is quiet, or after so many
/// milliseconds.
fn look(id: &str, most: u64) -> Result<Outcome, Failure> {
    match background::view(id, DRAWN.min(most), most) {
        Ok(screen) => Ok(shown(&screen)),
        Err(TerminalError::NoTerminal) => background::read(id).map(|output| report(&output)).ok_or_else(|| unknown(id)),
        Err(error) => Err(failure(id, error)),
    }
}

/// Why nothing can be done with the terminal of a program.
fn failure(id: &str, error: TerminalError) -> Failure {
    match error {
        TerminalError::NotFound => unknown(id),
        TerminalError::NoTerminal => {
            Failure::InvalidArguments(format!("`{id}` has no terminal: start it with `tty` in `shell`"))
        }
        TerminalError::Ended => Failure::Conflict(format!("`{id}` has ended: `read` shows its last screen")),
        TerminalError::Busy => Failure::Unavailable(format!("`{id}` does not read what is typed: `keys` has ctrl-c")),
        TerminalError::Denied(_) | TerminalError::Invalid(_) => error.into(),
    }
}

/// What a program has printed since the last time, and how far it is.
fn report(output: &Output) -> Outcome {
    let line = line(&output.program);
    let mut text = format!("{line}\n");
    let printed = String::from_utf8_lossy(&output.data);
    if output.dropped > 0 {
        _ = writeln!(text, "[cut: {} bytes here]", output.dropped);
    }
    match printed.trim().is_empty() {
        true if output.dropped == 0 => text.push_str("It printed nothing new\n"),
        true => {}
        false => _ = writeln!(text, "New output:\n{}", printed.trim_end_matches('\n')),
    }
    Outcome::text(text).with_summary(line)
}

/// What a terminal shows, and how far its program is.
fn shown(screen: &Screen) -> Outcome {
    let line = line(&screen.program);
    let mut text = format!("{line}\n");
    if screen.dropped > 0 {
        _ = writeln!(text, "[cut: {} bytes here]", screen.dropped);
    }
    if !screen.scrolled.trim().is_empty() {
        _ = writeln!(text, "Scrolled away:\n{}", screen.scrolled.trim_end_matches('\n'));
    }
    let cursor = match screen.cursor {
        // A model counts as an editor does.
        Some((row, column)) => format!("the cursor in line {}, column {}", row + 1, column + 1),
        None => "no cursor".to_owned(),
    };
    _ = writeln!(
        text,
        "Screen of {} × {}, {cursor}:\n{}",
        screen.columns,
        screen.rows,
        screen.text.trim_end_matches('\n')
    );
    Outcome::text(text).with_summary(line)
}

fn all() -> Outcome {
    let programs = background::list();
    if programs.is_empty() {
        return Outcome::text("Nothing runs in the background\n").with_summary("nothing");
    }
    let running = programs.iter().filter(|program| program.state == State::Running).count();
    let lines: String = programs.iter().map(|program| line(program) + "\n").collect();
    Outcome::text(lines).with_summary(format!("{running} running"))
}

fn unknown(id: &str) -> Failure {
    let known: Vec<String> = background::list().into_iter().map(|program| format!("`{}`", program.id)).collect();
    let id = id.chars().take(MAX_COMMAND).collect::<String>();
    Failure::NotFound(match known.is_empty() {
        true => format!("nothing runs in the background as `{}`: all ended with their session", id.escape_debug()),
        false => format!("nothing runs in the background as `{}`, but {}", id.escape_debug(), known.join(", ")),
    })
}

/// A program in one line.
fn line(program: &Program) -> String {
    let first = program.command.strip_prefix("sh -c ").unwrap_or(&program.command);
    let first = first.lines().next().unwrap_or_default();
    let mut line = format!("{} {}", program.id, first.chars().take(MAX_COMMAND).collect::<String>());
    if first.chars().count() > MAX_COMMAND || program.command.lines().count() > 1 {
        line.push('…');
    }
    let seconds = program.milliseconds / 1_000;
    _ = match program.state {
        State::Running => write!(line, ": running, {seconds} s"),
        State::Exited(code) => write!(line, ": exit code {code}, {seconds} s"),
        State::Signalled(signal) => write!(line, ": signal {signal}, {seconds} s"),
    };
    line
}

#[cfg(test)]
mod tests {
    use host_sdk::fake::{FakeHost, Printed};
    use serde_json::{Value, json};

    use super::*;

    /// The texts of an outcome, one after the other.
    fn text_of(outcome: Result<Outcome, Failure>) -> String {
        let texts = outcome.expect("it works").content.into_iter().map(|content| match content {
            Content::Text(text) => text,
            other => panic!("a text, not {other:?}"),
        });
        texts.collect()
    }

    fn text(outcome: Result<Outcome, Failure>) -> String {
        match outcome.map(|outcome| outcome.content) {
            Ok(content) => match content.as_slice() {
                [Content::Text(text)] => text.clone(),
                other => panic!("one text, not {other:?}"),
            },
            Err(failure) => format!("{failure:?}"),
        }
    }

    #[test]
    fn background_command_is_announced_and_then_read_waited_for_and_stopped() {
        let host = FakeHost::new()
            .program(["sh", "-c", "make"], Printed::new().stdout("built\n").code(2))
            .program(["sh", "-c", "serve"], "ready\n");
        let shell = |command: &str| json!({"command": command, "background": true});
        host.preview(&crate::shell(), json!({"command": "make"})).expect("it has one");
        assert!(!host.announced());
        host.preview(&crate::shell(), shell("make")).expect("it has one");
        assert!(host.announced());
        let process = |arguments: Value| text(host.call(&process(), arguments));
        assert_eq!(process(json!({"action": "list"})), "Nothing runs in the background\n");
        let started = text_of(host.call(&crate::shell(), shell("make")));
        assert!(started.starts_with("p1 make: exit code 2, 0 s\nNew output:\nbuilt\n"), "{started}");
        host.call(&crate::shell(), shell("serve")).expect("it starts");
        assert_eq!(
            process(json!({"action": "read", "id": "p1"})),
            "p1 make: exit code 2, 0 s\nIt printed nothing new\n"
        );
        assert_eq!(
            process(json!({"action": "stop", "id": "p2"})),
            "p2 serve: exit code 0, 0 s\nIt printed nothing new\n"
        );
        assert!(process(json!({"action": "list"})).starts_with("p1 make: exit code 2, 0 s\np2 serve:"));
        assert!(process(json!({"action": "read"})).contains("`id` is missing"));
        assert!(process(json!({"action": "wait", "id": "p9"})).contains("`p9`, but `p1`, `p2`"));
    }

    #[test]
    fn command_on_a_terminal_is_announced_typed_into_resized_and_shown() {
        let lines: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        let python = Printed::new().stdout(">>> \n").answering("1 + 1<enter>", "2\n").answering("<ctrl-c><up>", &lines);
        let host = FakeHost::new().program(["sh", "-c", "python3 -i"], python).program(["sh", "-c", "serve"], "");
        let start = json!({"command": "python3 -i", "tty": true});
        host.preview(&crate::shell(), start.clone()).expect("it has one");
        assert!(host.announced_terminal() && !host.announced());
        let revised = host.revise(&crate::shell(), start.clone(), "python3 -i").expect("it can be changed");
        assert_eq!(revised["tty"], true);
        let started = text_of(host.call(&crate::shell(), start));
        let expected = "p1 python3 -i: running, 0 s\nScreen of 100 × 30, the cursor in line 2, column 1:\n>>> \n\
                        It runs on a terminal as `p1`";
        assert!(started.starts_with(expected), "{started}");
        let process = |arguments: Value| text(host.call(&process(), arguments));
        let typed = process(json!({"action": "type", "id": "p1", "text": "1 + 1", "keys": ["enter"]}));
        assert!(typed.ends_with(">>> \n2\n"), "{typed}");
        let long = process(json!({"action": "type", "id": "p1", "keys": ["ctrl-c", "up"]}));
        assert!(long.contains("\nScrolled away:\n>>> \n2\nline 1\n") && long.contains("line 10\nScreen of"), "{long}");
        assert!(!process(json!({"action": "read", "id": "p1"})).contains("Scrolled away"), "once only");
        let small = process(json!({"action": "resize", "id": "p1", "columns": 40, "rows": 5}));
        assert!(small.contains("line 35\nScreen of 40 × 5") && small.ends_with("line 40\n"), "{small}");
        assert_eq!(
            host.typed(),
            [("p1".to_owned(), "1 + 1<enter>".to_owned()), ("p1".to_owned(), "<ctrl-c><up>".to_owned())]
        );
        // What cannot be done, and what to do instead.
        host.call(&crate::shell(), json!({"command": "serve", "background": true})).expect("it starts");
        for (arguments, why) in [
            (json!({"action": "type", "id": "p1"}), "needs `text` or `keys`"),
            (json!({"action": "type", "id": "p2", "text": "x"}), "`p2` has no terminal: start it with `tty`"),
            (json!({"action": "type", "id": "p9", "text": "x"}), "nothing runs in the background as `p9`, but `p1`"),
            (json!({"action": "resize", "id": "p1"}), "needs `columns` and `rows`"),
            (json!({"action": "resize", "id": "p1", "columns": 1, "rows": 5}), "20 to 300 columns"),
        ] {
            let failed = process(arguments.clone());
            assert!(failed.contains(why), "{arguments}: {failed}");
        }
        let stopped = process(json!({"action": "stop", "id": "p1"}));
        assert!(stopped.starts_with("p1 python3 -i: signal 15, 0 s\nScreen of 40 × 5"), "{stopped}");
        assert!(process(json!({"action": "type", "id": "p1", "text": "x"})).contains("`p1` has ended"));
    }

    #[test]
    fn background_output_that_was_lost_is_counted() {
        let program = Program {
            id: "p1".to_owned(),
            command: format!("sh -c {}\nmore", "x".repeat(200)),
            state: State::Running,
            milliseconds: 61_000,
            printed: 9,
        };
        let report = |data: &[u8], dropped| {
            text(Ok(super::report(&Output { data: data.to_vec(), dropped, program: program.clone() })))
        };
        let line = format!("p1 {}…: running, 61 s\n", "x".repeat(100));
        assert_eq!(report(b"a\xff\n\n", 7), format!("{line}[cut: 7 bytes here]\nNew output:\na\u{fffd}\n"));
        assert_eq!(report(b"", 7), format!("{line}[cut: 7 bytes here]\n"));
        assert_eq!(report(b" \n", 0), format!("{line}It printed nothing new\n"));
    }
}

//! The tool `process`: what runs in the background of the session.
//!
//! Deliberately not here: starting a program, which `shell` does and which is asked about there. This tool needs no
//! capability: it reaches only what `shell` started.

use std::fmt::Write;

use host_sdk::background::{self, Output, Program, State};
use host_sdk::{Annotations, Failure, Outcome, Tool};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Looks after the commands that `shell` started in the background: `list` names them, `read` returns what one has printed \
since the last time, `wait` does so once it has ended or `seconds` have passed, `stop` ends it with everything that it \
started. All of them end with the session.";

/// How long `wait` takes when it does not say, in seconds.
const USUAL_WAIT: u64 = 30;

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
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Read,
    Wait,
    Stop,
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { action, id, seconds } = arguments;
    if let Action::List = action {
        return Ok(all());
    }
    let id = id.ok_or_else(|| Failure::InvalidArguments("`id` is missing: `list` names all".to_owned()))?;
    let found = match action {
        Action::List | Action::Read => Some(()),
        Action::Wait => background::wait(&id, seconds.unwrap_or(USUAL_WAIT).saturating_mul(1_000)).map(drop),
        Action::Stop => background::stop(&id).map(drop),
    };
    let output = found.and_then(|()| background::read(&id)).ok_or_else(|| unknown(&id))?;
    Ok(report(&output))
}

/// What a program has printed since the last time, and how far it is.
pub(crate) fn report(output: &Output) -> Outcome {
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
    use host_sdk::Content;
    use host_sdk::fake::{FakeHost, Printed};
    use serde_json::{Value, json};

    use super::*;

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
        let started = text(host.call(&crate::shell(), shell("make")));
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

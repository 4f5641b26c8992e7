//! The tool `shell`: a command line, run by `sh`; and `process`, for those that it leaves running in the background or
//! on a terminal.
//!
//! `sh` and no other shell, since every Unix has it and a grant names the program (`sh -c`).
//!
//! Deliberately not here: understanding the command. Which commands run, are asked about or refused is the host's
//! policy; a session that stays open between calls would keep state that nobody sees.

mod background;
mod kept;
mod report;

use host_sdk::process::{self, Command};
use host_sdk::{Annotations, Confirmation, ExecConfirmation, Failure, Outcome, Tool, context, export_plugin};
use kept::Kept;
use report::Report;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "\
Runs a command line in a new `sh` and returns what it printed, in order, with `[stderr]` or `[stdout]` on a line where the \
output changes, and its exit code, signal and background processes where they say something. Set `directory` instead of \
`cd`. Its input is empty, there are no pagers and no secrets in its environment. Of more than 40,000 characters you get \
the head and the tail, and the path of a file with all (up to 7 MiB) to `grep`. It is ended after 5 minutes without output \
or after `timeout`; processes that it leaves running are ended with it. For a server, a watcher or a long build set \
`background`; for what needs a terminal, such as a REPL or `git add -p`, `tty`.";

/// How long it may print nothing, in milliseconds. A command that waits for input would otherwise wait for ever.
const SILENCE_LIMIT: u64 = 5 * 60 * 1_000;

/// The longest time of a command, in seconds. The host ends a call after an hour, and with it what was printed; a
/// command that is ended here a minute before returns that.
const LONGEST: u64 = 59 * 60;

/// How much live output is handed to the host at once, in bytes, as the contract says.
const EMIT_LIMIT: usize = 64 * 1024;

export_plugin!(shell(), background::process());

fn shell() -> Tool {
    Tool::new("shell", DESCRIPTION, include_str!("input.json"), call)
        .title("Run a command")
        .annotations(Annotations::MOST_CAREFUL)
        .needs("process", "*", "run the commands that the model writes")
        .preview(preview)
        .revise(revise)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    #[serde(default)]
    directory: String,
    /// Whether it goes on after the call.
    #[serde(default)]
    background: bool,
    /// Whether it does so on a terminal.
    #[serde(default)]
    tty: bool,
    /// How long it may run, in seconds.
    timeout: Option<u64>,
    /// For the user who approves the call, who sees the arguments.
    #[serde(default)]
    description: String,
}

fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    let Arguments { command, directory, background, tty, .. } = arguments;
    match (tty, background) {
        (true, _) => host_sdk::background::announce_terminal(),
        (false, true) => host_sdk::background::announce(),
        (false, false) => {}
    }
    let directory = if directory.is_empty() { ".".to_owned() } else { directory };
    Ok(Some(Confirmation::Exec(ExecConfirmation { argv: argv(&command), directory })))
}

fn revise(arguments: Arguments, command: String) -> Result<Value, Failure> {
    let Arguments { directory, description, background, tty, timeout, .. } = arguments;
    let mut revised = json!({"command": command, "directory": directory, "description": description});
    if background {
        revised["background"] = Value::Bool(true);
    }
    if tty {
        revised["tty"] = Value::Bool(true);
    }
    if let Some(timeout) = timeout {
        revised["timeout"] = timeout.into();
    }
    Ok(revised)
}

fn argv(command: &str) -> Vec<String> {
    ["sh", "-c", command].map(str::to_owned).to_vec()
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { command, directory, background, tty, timeout, .. } = arguments;
    if tty {
        return background::start_on_terminal(&Command { directory, ..Command::new(argv(&command)) });
    }
    if background {
        return background::start(&Command { directory, ..Command::new(argv(&command)) });
    }
    let timeout = longest(timeout)?;
    let child = process::spawn(&Command {
        directory,
        // No variables of its own: setting one needs a grant for any program, and a narrower one must do.
        silence_limit: Some(SILENCE_LIMIT),
        ..Command::new(argv(&command))
    })?;
    child.end_after(timeout.saturating_mul(1_000));

    let mut printed = Kept::default();
    let mut stopped = false;
    while let Some(chunk) = child.read() {
        emit(&printed.take(chunk.source, &chunk.data));
        // Its last words are still read: killing it ends both outputs.
        if !stopped && context::should_stop() {
            stopped = true;
            child.kill();
        }
    }
    stopped = stopped || context::should_stop();
    if stopped {
        child.kill();
    }
    let expired = child.has_expired().then_some(timeout);
    let report = Report { printed: printed.finish(), exit: child.wait(), expired };
    if stopped {
        return Err(Failure::Cancelled(report.partial()));
    }
    Ok(Outcome::text(report.write()).with_summary(report.summary()))
}

/// How long a command may run, in seconds: what the model asks for, within what the user set.
fn longest(asked: Option<u64>) -> Result<u64, Failure> {
    let set = match context::config("timeout") {
        None => LONGEST,
        Some(text) => match text.parse() {
            Ok(seconds @ 1..=LONGEST) => seconds,
            _ => {
                let expected = format!("`plugins.shell.config.timeout` is {text}; it is 1 to {LONGEST} seconds");
                return Err(Failure::Failed(expected));
            }
        },
    };
    Ok(asked.map_or(set, |asked| asked.min(set)))
}

fn emit(mut text: &str) {
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.floor_char_boundary(EMIT_LIMIT));
        context::emit(piece);
        text = rest;
    }
}

#[cfg(test)]
mod tests;

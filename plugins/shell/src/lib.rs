//! The tool `shell`: a command line, run by `sh`; and `process`, for those that it leaves running in the background.
//!
//! `sh` and no other shell, since every Unix has it and a grant names the program (`sh -c`).
//!
//! Deliberately not here: understanding the command. Which commands run, are asked about or refused is the host's
//! policy; a session that stays open between calls would keep state that nobody sees.

mod background;
mod kept;
mod report;

use host_sdk::process::{self, Command, Source};
use host_sdk::{Annotations, Confirmation, Content, ExecConfirmation, Failure, Outcome, Tool, context, export_plugin};
use kept::Kept;
use report::Report;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "\
Runs a command line with `sh -c` and returns what it printed (`Output:`, `Error:`), and its exit code, signal and \
background processes where they say something. It has no terminal and its input is empty, so nothing can ask back. \
It is ended after 5 minutes without output; processes that it leaves running are ended with it. For a server, a watcher \
or a long build set `background`.";

/// How long it may print nothing, in milliseconds. A command that waits for input would otherwise wait for ever.
const SILENCE_LIMIT: u64 = 5 * 60 * 1_000;

/// How much live output is handed to the host at once, in bytes, as the contract says.
const EMIT_LIMIT: usize = 64 * 1024;

/// How long a command in the background is waited for, in milliseconds, so that one that fails at once says so.
const FIRST_LOOK: u64 = 1_000;

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
    /// For the user who approves the call, who sees the arguments.
    #[serde(default)]
    description: String,
}

fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    let Arguments { command, directory, background, .. } = arguments;
    if background {
        host_sdk::background::announce();
    }
    let directory = if directory.is_empty() { ".".to_owned() } else { directory };
    Ok(Some(Confirmation::Exec(ExecConfirmation { argv: argv(&command), directory })))
}

fn revise(arguments: Arguments, command: String) -> Result<Value, Failure> {
    let Arguments { directory, description, background, .. } = arguments;
    let mut revised = json!({"command": command, "directory": directory, "description": description});
    if background {
        revised["background"] = Value::Bool(true);
    }
    Ok(revised)
}

fn argv(command: &str) -> Vec<String> {
    ["sh", "-c", command].map(str::to_owned).to_vec()
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { command, directory, background, .. } = arguments;
    if background {
        return start(&command, directory);
    }
    let child = process::spawn(&Command {
        directory,
        // No variables of its own: setting one needs a grant for any program, and a narrower one must do.
        silence_limit: Some(SILENCE_LIMIT),
        ..Command::new(argv(&command))
    })?;

    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let mut stopped = false;
    while let Some(chunk) = child.read() {
        let kept = match chunk.source {
            Source::Stdout => &mut stdout,
            Source::Stderr => &mut stderr,
        };
        emit(&kept.take(&chunk.data));
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
    let report = Report { stdout: stdout.finish(), stderr: stderr.finish(), exit: child.wait() };
    if stopped {
        return Err(Failure::Cancelled(report.partial()));
    }
    Ok(Outcome::text(report.write()).with_summary(report.summary()))
}

fn start(command: &str, directory: String) -> Result<Outcome, Failure> {
    let id = process::spawn_background(&Command { directory, ..Command::new(argv(command)) })?;
    host_sdk::background::wait(&id, FIRST_LOOK);
    let output = host_sdk::background::read(&id);
    let output = output.ok_or_else(|| Failure::Failed(format!("`{id}` ended with its session")))?;
    let mut outcome = background::report(&output);
    if output.program.state == host_sdk::background::State::Running {
        let how =
            format!("It runs in the background as `{id}`: `process` reads its output, waits for it or stops it\n");
        outcome.content.push(Content::Text(how));
    }
    Ok(outcome)
}

fn emit(mut text: &str) {
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.floor_char_boundary(EMIT_LIMIT));
        context::emit(piece);
        text = rest;
    }
}

//! The plugin behind the tools that a command of the user's told of: each of its calls runs one command.
//!
//! The host says in the configuration which command a tool runs (`commands`: the words of each, by the tool's name), and
//! grants that command and no other. The tool `discovered` is the plugin's own: it runs the command that lists the others
//! and hands over what that printed, as data. Every other name is a tool of that list: its command reads the arguments of
//! the call, word for word as they came, and what it prints is the answer.
//!
//! Deliberately not here: what the list says and which commands there are, which is the host's to know; a change of the
//! arguments, since whoever allowed the call was shown these.

mod printed;

use std::collections::BTreeMap;

use host_sdk::export::Call;
use host_sdk::process::{self, Command, Exit, Source};
use host_sdk::{Annotations, Blob, Confirmation, Content, ExecConfirmation, Failure, Outcome, Tool, context};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::printed::Printed;

/// The tool that lists the others.
const OWN: &str = "discovered";

const DESCRIPTION: &str =
    "Lists the tools that the user's own command tells of. The host calls it; no model is told of it.";

/// The most that a list of tools has, in bytes. Protects the host's memory.
const MAX_LIST: usize = 10 << 20;

/// The most of each of its two outputs that a call hands over, in bytes. Both together are within what the host takes.
const MAX_ANSWER: usize = 7 << 19;

/// How much live output is handed to the host at once, in bytes, as the contract says.
const EMIT_LIMIT: usize = 64 << 10;

/// The plugin's own tool.
pub fn tools() -> Vec<Tool> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    let own = Tool::new(OWN, DESCRIPTION, include_str!("input.json"), |Nothing {}| list())
        .title("List the user's tools")
        .annotations(Annotations::MOST_CAREFUL)
        .needs("process", "*", "run the command that the user configured, and no other")
        .preview(|Nothing {}| shown(OWN).map(Some));
    vec![own]
}

/// Returns the tool that a call is of. Any name is one of a tool: it is not the list of [`tools`] that says which there are.
pub fn called(call: &Call) -> Vec<Tool> {
    if call.tool == OWN {
        return tools();
    }
    let (name, arguments) = (call.tool.clone(), call.arguments.clone());
    let answer = move |_: IgnoredAny| answer(&name, &arguments);
    let name = call.tool.clone();
    vec![Tool::new(&call.tool, "", "", answer).preview(move |_: IgnoredAny| shown(&name).map(Some))]
}

host_sdk::export_plugin_with!(tools, crate::called);

/// The words of the command that a tool runs.
fn command(tool: &str) -> Result<Vec<String>, Failure> {
    let text = context::config("commands").unwrap_or_else(|| "{}".to_owned());
    let mut commands: BTreeMap<String, Vec<String>> = serde_json::from_str(&text)
        .map_err(|error| Failure::Failed(format!("the configuration `commands` of this plugin is invalid: {error}")))?;
    let none = || Failure::InvalidArguments(format!("this plugin was given no command for the tool `{tool}`"));
    commands.remove(tool).ok_or_else(none)
}

fn shown(tool: &str) -> Result<Confirmation, Failure> {
    Ok(Confirmation::Exec(ExecConfirmation { argv: command(tool)?, directory: ".".to_owned() }))
}

/// What the command that lists tools printed. It need not be silent on its standard error.
fn list() -> Result<Outcome, Failure> {
    let (stdout, stderr, exit) = run(Command::new(command(OWN)?), Printed::up_to(MAX_LIST), Live::Silent)?;
    let ended = match (exit.code, exit.signal) {
        _ if stdout.is_over() => format!("it printed more than {MAX_LIST} bytes"),
        _ if exit.timed_out => "it was ended, since it had printed nothing for too long".to_owned(),
        (Some(0), _) => {
            let data = Blob { mime_type: "application/json".to_owned(), data: stdout.into_bytes() };
            return Ok(Outcome::of(vec![Content::Blob(data)]));
        }
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it was ended".to_owned(),
    };
    Err(Failure::Failed(format!("{ended}\n{}", stderr.into_text())))
}

/// What a tool of the list answers: what its command printed when that went well, and how it went when it did not. A
/// command that prints to its standard error has failed too, as everybody knows it who wrote such tools for others.
fn answer(tool: &str, arguments: &str) -> Result<Outcome, Failure> {
    let command = Command { stdin: Some(arguments.as_bytes().to_vec()), ..Command::new(command(tool)?) };
    let (stdout, stderr, exit) = run(command, Printed::up_to(MAX_ANSWER), Live::Shown)?;
    let error = match () {
        () if stdout.is_over() || stderr.is_over() => {
            Some(format!("it printed more than {MAX_ANSWER} bytes, and was ended"))
        }
        () if exit.timed_out => Some("it had printed nothing for too long, and was ended".to_owned()),
        () => None,
    };
    if error.is_none() && exit.code == Some(0) && stderr.is_empty() {
        let text = stdout.into_text();
        let summary = text.lines().next().unwrap_or("it printed nothing").chars().take(80).collect::<String>();
        return Ok(Outcome::text(text).with_summary(summary));
    }
    Err(Failure::Failed(report(stdout, stderr, error, &exit)))
}

/// A line for each thing that there is to know of a command that failed.
fn report(stdout: Printed, stderr: Printed, error: Option<String>, exit: &Exit) -> String {
    let printed = |printed: Printed| if printed.is_empty() { "(empty)".to_owned() } else { printed.into_text() };
    let number = |number: Option<i32>| number.map_or_else(|| "(none)".to_owned(), |number| number.to_string());
    [
        format!("Stdout: {}", printed(stdout)),
        format!("Stderr: {}", printed(stderr)),
        format!("Error: {}", error.unwrap_or_else(|| "(none)".to_owned())),
        format!("Exit Code: {}", number(exit.code)),
        format!("Signal: {}", number(exit.signal)),
    ]
    .join("\n")
}

/// Whether the user sees what is printed as it comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Live {
    Shown,
    Silent,
}

/// Runs a command to its end, which comes early when it is told to stop or prints too much.
fn run(command: Command, most: Printed, live: Live) -> Result<(Printed, Printed, Exit), Failure> {
    let child = process::spawn(&command)?;
    let (mut stdout, mut stderr) = (most.clone(), most);
    let (mut stopped, mut ended) = (false, false);
    while let Some(chunk) = child.read() {
        let printed = match chunk.source {
            Source::Stdout => &mut stdout,
            Source::Stderr => &mut stderr,
        };
        printed.take(&chunk.data);
        if live == Live::Shown {
            emit(&String::from_utf8_lossy(&chunk.data));
        }
        stopped = stopped || context::should_stop();
        // Its last words are still read: killing it ends both outputs.
        if !ended && (stopped || stdout.is_over() || stderr.is_over()) {
            ended = true;
            child.kill();
        }
    }
    stopped = stopped || context::should_stop();
    if stopped {
        child.kill();
    }
    let exit = child.wait();
    if stopped {
        return Err(Failure::Cancelled(stdout.into_text()));
    }
    Ok((stdout, stderr, exit))
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

//! Running a command that is a file: its shell lines pass the gate like calls of the model, its files are read with the
//! grants of the tools, and the result is a prompt of the user.
//!
//! Promises: a shell line runs only as a call of the tool `shell` that a rule, a grant or the user allowed, and is
//! recorded before it runs; a line that is denied keeps the whole command from being sent; what a line prints attaches
//! and runs nothing; `allowed-tools` limit the run that follows, and allow nothing.
//!
//! Deliberately not here: what the files say (`host_settings::slash_commands`).

use std::ops::ControlFlow;

use host_agent::{Event, EventKind, Observer};
use host_extensions::plugins::LoadedPlugin;
use host_journal::{Fact, MAIN};
use host_message::{AgentId, CallId, FunctionCall, Output, OutputPart, ToolName};
use host_settings::allowed_tools::AllowedTools;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::slash_commands::SlashCommand;
use host_settings::slash_commands::template::{Piece, UnsafeWords, Words};
use host_text::{Notice, clip, excerpt};
use host_tool::{CallChange, CallEvent, Cancel, FailureKind, Outcome, Scheduler};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Session;
use super::aside::MAX_OUTPUT;
use crate::app::Offered;
use crate::attach::{Attached, Author, attach};

/// The tool that runs a shell line.
const SHELL: &str = "shell";

/// What that tool begins its answer with.
const HEADING: &str = "Output:\n";

/// The most shell lines of one command. Protects the user from questions without end.
const MAX_LINES: usize = 20;

/// How much of a shell line is repeated in a message, in characters.
const SHOWN: usize = 100;

/// Marks the place of an output while files are looked for in the rest. No file of a command has it.
const PLACE: char = '\0';

/// Why a command of a file is not sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandFileError {
    /// The words behind it have a character that stands for an output.
    #[error("the words behind the command are not text")]
    NotText,
    /// The words cannot be put into a shell line.
    #[error("the command `/{command}` was not sent")]
    Words {
        /// Its name.
        command: String,
        /// Why.
        fault: UnsafeWords,
    },
    /// It has too many shell lines.
    #[error("the command `/{0}` was not sent")]
    TooManyLines(String),
    /// A shell line was not run.
    #[error("the command `/{command}` was not sent")]
    Line {
        /// Its name.
        command: String,
        /// The line.
        line: String,
        /// Why, in words.
        why: String,
    },
    /// The user cancelled it.
    #[error("{0}")]
    Cancelled(String),
}

impl Fault for CommandFileError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotText | Self::Words { .. } | Self::TooManyLines(_) | Self::Line { .. } => ErrorKind::Input,
            Self::Cancelled(_) => ErrorKind::Cancelled,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NotText | Self::Cancelled(_) => Vec::new(),
            Self::Words { fault, .. } => vec![fault.to_string().into()],
            Self::TooManyLines(_) => vec![format!("it has over {MAX_LINES} shell lines").into()],
            Self::Line { line, why, .. } => vec![format!("`{line}`: {why}").into()],
        }
    }
}

impl Session {
    /// Returns the prompt of a command file. `words` is what the user wrote behind its name.
    pub(super) async fn file_prompt(
        &self,
        command: &SlashCommand,
        words: &str,
        cancel: &CancellationToken,
    ) -> Result<Attached, Failure> {
        if words.contains(PLACE) {
            return Err(CommandFileError::NotText.into());
        }
        let mut notes = Vec::new();
        // The limits of the last prompt end here. Those of this one are about the model: its author wrote the lines,
        // too.
        self.conversation.gate.widen();
        let words = Words(words);
        let template = &command.file.template;
        let (mut text, mut outputs) = (String::new(), Vec::new());
        for piece in template.pieces() {
            match piece {
                Piece::Text(piece) if command.source.reads_mentions() => text.push_str(piece),
                Piece::Text(piece) => text.push_str(&piece.replace('@', "\\@")),
                Piece::All => text.push_str(words.0),
                Piece::Word(number) => text.push_str(&words.word(*number)),
                Piece::File(path) => text.push_str(&format!("@\"{path}\"")),
                Piece::Shell(line) => {
                    let line = template
                        .line(line, words)
                        .map_err(|fault| CommandFileError::Words { command: command.name.clone(), fault })?;
                    if outputs.len() == MAX_LINES {
                        return Err(CommandFileError::TooManyLines(command.name.clone()).into());
                    }
                    let output = self.shell_line(command, &line, cancel).await?;
                    notes.push(format!("ran `{}`", excerpt(&line, SHOWN)));
                    outputs.push(output);
                    text.push(PLACE);
                }
            }
        }
        text.push_str(&template.appended(&command.name, words));
        // The file may be anybody's: what it names outside of the workspace is not asked about.
        let attached = attach(&text, Author::Unknown, &self.app, self.grants(), cancel).await?;
        let mut filled = String::with_capacity(attached.prompt.len());
        let mut outputs = outputs.into_iter();
        for (number, part) in attached.prompt.split(PLACE).enumerate() {
            if number > 0 {
                filled.push_str(&outputs.next().unwrap_or_default());
            }
            filled.push_str(part);
        }
        notes.extend(attached.notes);
        if let Some(written) = &command.file.allowed_tools {
            let tools: Vec<&str> = self.app.plugins.iter().flat_map(LoadedPlugin::tools).collect();
            let allowed = AllowedTools::parse(written, &|name| tools.contains(&name));
            let by = format!("the command `/{}`", command.name);
            notes.push(format!("{by}: {}", allowed.words()));
            self.conversation.gate.narrow(allowed.narrowing(by));
        }
        let model = command.file.model.clone();
        Ok(Attached { prompt: filled, piped: None, parts: attached.parts, notes, keeps_limits: true, model })
    }

    /// Runs one line like a call of the model; returns what it printed.
    async fn shell_line(
        &self,
        command: &SlashCommand,
        line: &str,
        cancel: &CancellationToken,
    ) -> Result<String, Failure> {
        let files = &self.conversation.files;
        let offered = Offered { files: Some(files), ..Offered::default() };
        let tools = self.app.tools_of(&self.app.plugins, self.grants(), offered)?;
        // Its own in the whole session, which another process may have begun.
        let id = CallId::new(format!("/{}#{}", command.name, jiff::Timestamp::now().as_nanosecond()));
        let arguments = Map::from_iter([
            ("command".to_owned(), Value::from(line)),
            ("description".to_owned(), Value::from(format!("a line of the command /{}", command.name))),
        ]);
        let call = FunctionCall::new(id.clone(), ToolName::new(SHELL), arguments);
        let (log, name) = (&self.conversation.log, format!("/{}", command.name));
        let (observers, agent, agent_id) = (&self.observers, self.definition.name.as_str(), AgentId::new(MAIN));
        let observe = |event: CallEvent<'_>| match event.change {
            CallChange::Executing(_) => {
                let (command, call_id, line) = (name.clone(), id.clone(), line.to_owned());
                let fact = Fact::CommandLine { command, call_id, line };
                match log.append(&fact) {
                    Ok(()) => {
                        observers.event(&Event { agent, agent_id: &agent_id, kind: EventKind::Fact(&fact) });
                        ControlFlow::Continue(())
                    }
                    Err(_) => ControlFlow::Break("the session log cannot be written".to_owned()),
                }
            }
            CallChange::Validating(_)
            | CallChange::AwaitingApproval(_)
            | CallChange::Scheduled { .. }
            | CallChange::Live(_)
            | CallChange::Settled(_) => ControlFlow::Continue(()),
        };
        let scheduler =
            Scheduler::new(&tools).with_gate(Some(&self.conversation.gate)).with_standstill(&self.run_clock);
        let settled = scheduler.run(vec![call], &Cancel::under(cancel), &observe).await;
        let outcome = settled.into_iter().next().map(|settled| settled.outcome);
        let failed = |why: String| -> Failure {
            let (command, line) = (command.name.clone(), excerpt(line, SHOWN));
            CommandFileError::Line { command, line, why }.into()
        };
        let text = match outcome {
            Some(Outcome::Success(output)) => text_of(output),
            Some(Outcome::Error(failure)) if has_run(failure.kind) => failure.message,
            Some(Outcome::Error(failure)) => return Err(failed(failure.message)),
            Some(Outcome::Cancelled { reason, .. }) if cancel.is_cancelled() => {
                return Err(CommandFileError::Cancelled(reason).into());
            }
            Some(Outcome::Cancelled { reason, .. }) => return Err(failed(reason)),
            None => return Err(failed("it was lost".to_owned())),
        };
        let text = text.strip_prefix(HEADING).unwrap_or(&text);
        Ok(clip(text.trim_end_matches('\n'), MAX_OUTPUT).replace(PLACE, "\u{fffd}"))
    }
}

/// Whether a line that failed so ran, so that the model reads how it failed.
fn has_run(failure: FailureKind) -> bool {
    match failure {
        FailureKind::Denied | FailureKind::UnknownTool | FailureKind::Unauthorized | FailureKind::Unavailable => false,
        FailureKind::InvalidArguments
        | FailureKind::NotFound
        | FailureKind::Conflict
        | FailureKind::TimedOut
        | FailureKind::Crashed
        | FailureKind::Failed => true,
    }
}

fn text_of(output: Output) -> String {
    let texts = output.content.into_iter().filter_map(|part| match part {
        OutputPart::Text(text) => Some(text),
        OutputPart::Link { uri, .. } => Some(uri),
        OutputPart::Data(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

//! The tools that a command of the person's, or of a trusted project's, tells of.
//!
//! Promises: the command that lists them runs in the sandbox like any tool's, with a grant for exactly its words and a
//! time limit; each tool of the list becomes one of the plugin `discovered`, which may run exactly the command that calls
//! it. A list that cannot be used stops the command that wanted it: tools that are silently not there are missed much
//! later. Nothing is kept between two calls of [`gather`], so it can be called again whenever the tools may have changed.
//!
//! Deliberately not here: which commands may be configured (`configuration`), and reading the list (`host_tool`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use host_agent::COMPLETE_TASK;
use host_message::{CallId, Output, OutputPart, ToolName};
use host_plugin::{CallError, Invocation, Runtime, Workspace, command_line};
use host_text::clip;
use host_tool::{Surroundings, discovered};
use tokio_util::sync::CancellationToken;

use crate::agents::Agents;
use crate::configuration::{Commands, Configuration, Whose};
use crate::environment::Folders;
use crate::error::{ErrorKind, Failure};
use crate::plugins::{self, DISCOVERED, Listed, LoadedPlugin};
use crate::project::programs::placed;
use crate::project::{PROGRAMS, ProjectFile};

/// How long the command may take that lists tools. Protects the start of a run from one that never ends.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// From how long on a person is told that the command is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines of its standard error that are told of a command that failed, and characters of all of them.
const TOLD_LINES: usize = 12;
/// See [`TOLD_LINES`].
const TOLD_CHARACTERS: usize = 2_000;

/// What tools are gathered with.
pub struct Gathering<'a> {
    /// The configuration, which names the commands.
    pub configuration: &'a Configuration,
    /// The programs that the project brings, where it is trusted, by their names.
    pub programs: &'a BTreeMap<String, ProjectFile>,
    /// The agents that it brings.
    pub agents: &'a [ProjectFile],
    /// All other plugins: no name of theirs is taken from them.
    pub plugins: &'a [LoadedPlugin],
    /// The folders of the host.
    pub folders: &'a Folders,
    /// The engine that runs the command that lists tools.
    pub runtime: &'a Runtime,
    /// The folder that is worked in.
    pub workspace: &'a Arc<Workspace>,
    /// Tells a person what is waited for.
    pub tell: &'a (dyn Fn(String) + Sync),
}

/// Runs the command that lists tools, and makes a plugin of what it tells of; none where no command is configured.
pub async fn gather(with: Gathering<'_>, stop: &CancellationToken) -> Result<Option<LoadedPlugin>, Failure> {
    let Some(commands) = with.configuration.commands() else { return Ok(None) };
    let commands = located(commands, with.programs, with.folders)?;
    let agents = Agents::read(with.folders, with.configuration, with.agents)?;
    let tools = with.plugins.iter().flat_map(|plugin| plugin.manifest.tools.iter().map(|tool| tool.spec.name.as_str()));
    let mut taken: BTreeSet<&str> = agents.all().iter().map(|agent| agent.name()).chain(tools).collect();
    taken.extend([DISCOVERED, COMPLETE_TASK]);
    let printed = list(&commands, &with, stop).await?;
    let around = Surroundings {
        listed_by: &command_line(&commands.discovery),
        called_by: &command_line(&commands.call),
        is_taken: &|name| taken.contains(name),
    };
    let found = discovered(&printed, around).map_err(|error| {
        let Failure { message, causes, .. } = Failure::of(ErrorKind::Configuration, &error);
        let failure = failed(&commands, "printed no list of tools that can be used").cause(message);
        causes.into_iter().fold(failure, Failure::cause)
    })?;
    let called = |original: &str| commands.call.iter().cloned().chain([original.to_owned()]).collect();
    let listed = found.into_iter().map(|tool| Listed { command: called(&tool.original), spec: tool.spec }).collect();
    plugins::discovered(listed).map(Some)
}

/// The commands with a project's programs where they can be run.
fn located(
    commands: Commands,
    programs: &BTreeMap<String, ProjectFile>,
    folders: &Folders,
) -> Result<Commands, Failure> {
    match commands.whose {
        Whose::Persons => Ok(commands),
        Whose::Projects => {
            let place = placed(programs, &folders.programs)?;
            let located = |words: Vec<String>| located_program(words, programs, &place);
            Ok(Commands { discovery: located(commands.discovery)?, call: located(commands.call)?, ..commands })
        }
    }
}

fn located_program(
    mut words: Vec<String>,
    programs: &BTreeMap<String, ProjectFile>,
    place: &Path,
) -> Result<Vec<String>, Failure> {
    let Some(program) = words.first_mut() else { return Ok(words) };
    let name = program.strip_prefix(PROGRAMS).filter(|name| programs.contains_key(*name));
    let Some(path) = name.and_then(|name| Some(place.join(name).to_str()?.to_owned())) else {
        return Err(Failure::configuration(format!("the project has no program `{program}`"))
            .help("its `.host/config.toml` names it: put it there, and trust the project again"));
    };
    *program = path;
    Ok(words)
}

/// What the command printed that lists tools.
async fn list(commands: &Commands, with: &Gathering<'_>, stop: &CancellationToken) -> Result<Vec<u8>, Failure> {
    let own = plugins::listing(commands.discovery.clone())?;
    // Compiling the plugin, once on each machine, is not the command's time.
    with.runtime.prepare(&own.plugin).await.map_err(|error| Failure::configuration(error.to_string()))?;
    let cancel = stop.child_token();
    let (id, tool) = (CallId::new(DISCOVERED), ToolName::new(DISCOVERED));
    let (grants, workspace) = (Arc::new(own.plugin.declared().clone()), Arc::clone(with.workspace));
    let invocation = Invocation {
        config: Arc::clone(&own.config),
        cancel: cancel.clone(),
        ..Invocation::new(id, tool, "{}".to_owned(), grants, workspace)
    };
    let listed = with.runtime.call(&own.plugin, invocation);
    tokio::pin!(listed);
    let (patience, limit) = (tokio::time::sleep(PATIENCE), tokio::time::sleep(TIME_LIMIT));
    tokio::pin!(patience, limit);
    let mut is_told = false;
    let ended = loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
            ended = &mut listed => break ended,
            // Dropping the call ends the program.
            () = &mut limit => {
                let seconds = TIME_LIMIT.as_secs();
                return Err(failed(commands, &format!("took longer than {seconds} s")));
            }
            () = &mut patience, if !is_told => {
                is_told = true;
                (with.tell)(format!("waiting for `{}`, which lists tools", command_line(&commands.discovery)));
            }
        }
    };
    match ended {
        Ok(output) => Ok(data(&output)),
        Err(CallError::Failure(host_plugin::Failure::Failed(words))) => Err(told(commands, &words)),
        Err(CallError::Failure(host_plugin::Failure::NotFound(words))) => Err(failed(commands, "failed").cause(words)),
        Err(error) => Err(failed(commands, "failed").cause(error.to_string())),
    }
}

/// The bytes of an output.
fn data(output: &Output) -> Vec<u8> {
    let bytes = |part: &OutputPart| match part {
        OutputPart::Data(data) => base64::engine::general_purpose::STANDARD.decode(&data.base64).ok(),
        OutputPart::Text(_) | OutputPart::Link { .. } => None,
    };
    output.content.iter().find_map(bytes).unwrap_or_default()
}

/// How the command ended, and the first lines of what it said of that.
fn told(commands: &Commands, words: &str) -> Failure {
    let (ended, stderr) = words.split_once('\n').unwrap_or((words, ""));
    let failure = failed(commands, "failed").cause(ended.to_owned());
    let lines = stderr.trim_end().lines().filter(|line| !line.trim().is_empty());
    let said = lines.take(TOLD_LINES).collect::<Vec<_>>().join("\n");
    if said.is_empty() { failure } else { failure.cause(clip(&said, TOLD_CHARACTERS)) }
}

fn failed(commands: &Commands, how: &str) -> Failure {
    let whose = match commands.whose {
        Whose::Persons => "your configuration",
        Whose::Projects => "the project's `.host/config.toml`",
    };
    Failure::configuration(format!("the discovery command `{}` {how}", command_line(&commands.discovery)))
        .help(format!("mend it, or take `[tools]` out of {whose}; `docs/discovered-tools.md` says what it is to print"))
}

#[cfg(test)]
mod tests;

//! The tools that a command of the user, or of a trusted project, lists.
//!
//! Promises: the command that lists them runs in the sandbox like any tool, with a grant for exactly its words and a
//! time limit; each tool of the list becomes one of the plugin `discovered`, and may run exactly the command that calls
//! it. An invalid list is an error, since tools that are missing without a word are noticed much later. Nothing is kept
//! between two searches.
//!
//! Deliberately not here: which commands may be configured (`configuration`), and reading the list (`host_tool`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use host_agent::{ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, TOOL_SEARCH};
use host_capability::{Capability, Grants, Scope};
use host_manifest::ToolEntry;
use host_message::{CallId, Output, OutputPart, ToolName};
use host_plugin::{CallError, Invocation, command_line};
use host_settings::configuration::{Commands, Owner};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::project::programs::placed;
use host_settings::project::{PROGRAMS, ProjectFile};
use host_text::{Advice, Notice, clip};
use host_tool::{Discovered, Surroundings, discovered};
use tokio_util::sync::CancellationToken;

use super::built_in::BuiltIn;
use super::{DISCOVERED, Found, SourceContext};
use crate::agents::Agents;
use crate::plugins::file_stamps::{FileStamps, Links};
use crate::plugins::{LoadedPlugin, PluginOrigin, brought};

/// The longest time that the command may take to list its tools. Protects the start of a run from one that never ends.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The time after which the user is shown what is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most lines of standard error that are shown of a command that failed.
const SHOWN_LINES: usize = 12;

/// The most characters of standard error that are shown of a command that failed.
const SHOWN_CHARACTERS: usize = 2_000;

/// The plugin with the tools that the command lists now. No name is taken from the `others`.
pub(super) async fn find(
    commands: &Commands,
    context: &SourceContext<'_>,
    others: &[LoadedPlugin],
    cancel: &CancellationToken,
) -> Found {
    Found { origin: PluginOrigin::Command, plugin: load(commands, context, others, cancel).await }
}

/// The programs, if their paths are absolute. What they read cannot be known; one that is looked up in `PATH` is found
/// elsewhere, and a project's is among the files of the project.
pub(super) fn add_stamps(commands: &Commands, stamps: &mut FileStamps) {
    let programs = [&commands.discovery, &commands.call].into_iter().filter_map(|words| words.first()).map(Path::new);
    programs.filter(|program| program.is_absolute()).for_each(|program| stamps.add(program, Links::Follow));
}

async fn load(
    commands: &Commands,
    context: &SourceContext<'_>,
    others: &[LoadedPlugin],
    cancel: &CancellationToken,
) -> Result<LoadedPlugin, Failure> {
    let commands = located(commands.clone(), &context.project.programs, context.folders)?;
    let agents = Agents::read(context.folders, context.configuration, &context.project.agents, &brought(others))?;
    let tools = others.iter().flat_map(|plugin| &plugin.manifest.tools);
    let mut taken: BTreeSet<&str> = tools.map(|tool| tool.spec.name.as_str()).collect();
    taken.extend(agents.all().iter().map(|agent| agent.name()));
    taken.extend([ACTIVATE_SKILL, ASK_USER, DISCOVERED, COMPLETE_TASK, TOOL_SEARCH]);
    let printed = list(&commands, context, cancel).await?;
    let around = Surroundings {
        listed_by: &command_line(&commands.discovery),
        called_by: &command_line(&commands.call),
        is_taken: &|name| taken.contains(name),
    };
    let tools = discovered(&printed, around).map_err(|error| {
        let Failure { message, causes, .. } = Failure::from_error(ErrorKind::Configuration, &error);
        failed(&commands, CommandEnd::Unusable, std::iter::once(message.into()).chain(causes).collect())
    })?;
    caller(&commands.call, tools)
}

/// Returns the plugin with these tools. Each may run only the command followed by the tool's name.
fn caller(call: &[String], tools: Vec<Discovered>) -> Result<LoadedPlugin, Failure> {
    let needs = || vec![Capability::Process.name().to_owned()];
    let entry = |spec| ToolEntry { spec, capabilities: needs(), call_title: None };
    let entries = tools.iter().map(|tool| entry(tool.spec.clone())).collect();
    let command = |tool: Discovered| (tool.spec.name, call.iter().cloned().chain([tool.original]).collect());
    confined(tools.into_iter().map(command).collect(), Some(entries))
}

/// Returns the plugin whose own tool lists tools; it may run only this command.
pub(crate) fn lister(command: Vec<String>) -> Result<LoadedPlugin, Failure> {
    confined(BTreeMap::from_iter([(ToolName::new(DISCOVERED), command)]), None)
}

/// The built-in plugin that runs these commands and no other. Without `tools` it has its own.
fn confined(commands: BTreeMap<ToolName, Vec<String>>, tools: Option<Vec<ToolEntry>>) -> Result<LoadedPlugin, Failure> {
    let built_in = BuiltIn::find(DISCOVERED).ok_or(CommandError::NoPlugin)?;
    let mut manifest = built_in.manifest()?;
    manifest.tools = tools.unwrap_or(manifest.tools);
    // Narrower than what it was built to request.
    let declared: Grants = commands.values().filter_map(|command| Scope::for_command(command)).collect();
    let text = declared.scope(Capability::Process).map(ToString::to_string);
    match (manifest.capabilities.get_mut(Capability::Process.name()), text) {
        (Some(requested), Some(text)) => requested.scope = text,
        (_, _) => manifest.capabilities.clear(),
    }
    let declared = declared.iter().cloned().map(Scope::requested).collect();
    let plugin = built_in.component().into_plugin(manifest.plugin_name(), declared);
    let words = serde_json::to_string(&commands).map_err(|error| CommandError::Lister(error.to_string()))?;
    Ok(LoadedPlugin {
        origin: PluginOrigin::Command,
        manifest,
        plugin: Arc::new(plugin),
        agreed: Grants::none(),
        reach: None,
        config: Arc::new(BTreeMap::from_iter([("commands".to_owned(), words)])),
        secrets: Arc::default(),
        commands,
    })
}

/// The commands, with a project's programs at the paths where they run.
fn located(
    commands: Commands,
    programs: &BTreeMap<String, ProjectFile>,
    folders: &Folders,
) -> Result<Commands, Failure> {
    match commands.owner {
        Owner::User => Ok(commands),
        Owner::Project => {
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
) -> Result<Vec<String>, CommandError> {
    let Some(program) = words.first_mut() else { return Ok(words) };
    let name = program.strip_prefix(PROGRAMS).filter(|name| programs.contains_key(*name));
    let Some(path) = name.and_then(|name| Some(place.join(name).to_str()?.to_owned())) else {
        return Err(CommandError::NoProgram(program.clone()));
    };
    *program = path;
    Ok(words)
}

/// Runs the command that lists tools; returns what it printed.
async fn list(
    commands: &Commands,
    context: &SourceContext<'_>,
    cancel: &CancellationToken,
) -> Result<Vec<u8>, Failure> {
    let lister = lister(commands.discovery.clone())?;
    // Compiling the plugin, once on each machine, is not the command's time.
    context.runtime.prepare(&lister.plugin).await.map_err(|error| CommandError::Lister(error.to_string()))?;
    let (id, tool) = (CallId::new(DISCOVERED), ToolName::new(DISCOVERED));
    let (grants, workspace) = (Arc::new(lister.plugin.declared().clone()), Arc::clone(context.workspace));
    let invocation = Invocation {
        config: Arc::clone(&lister.config),
        cancel: cancel.child_token(),
        ..Invocation::new(id, tool, "{}".to_owned(), grants, workspace)
    };
    let listed = context.runtime.call(&lister.plugin, invocation);
    tokio::pin!(listed);
    let (patience, limit) = (tokio::time::sleep(PATIENCE), tokio::time::sleep(TIME_LIMIT));
    tokio::pin!(patience, limit);
    let mut is_announced = false;
    let ended = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(CommandError::Cancelled.into()),
            ended = &mut listed => break ended,
            // Dropping the call ends the program.
            () = &mut limit => {
                return Err(failed(commands, CommandEnd::TooSlow, Vec::new()).into());
            }
            () = &mut patience, if !is_announced => {
                is_announced = true;
                let command = command_line(&commands.discovery);
                (context.progress)(&format!("waiting for `{command}`, which lists tools"));
            }
        }
    };
    match ended {
        Ok(output) => Ok(data(&output)),
        Err(CallError::Failure(host_plugin::Failure::Failed(words))) => Err(exited(commands, &words).into()),
        Err(CallError::Failure(host_plugin::Failure::NotFound(words))) => {
            Err(failed(commands, CommandEnd::Failed, vec![words.into()]).into())
        }
        Err(error) => Err(failed(commands, CommandEnd::Failed, vec![error.to_string().into()]).into()),
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

/// Why there are no tools of a command.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    /// The plugin that runs the commands is missing.
    #[error("this build has no plugin `{DISCOVERED}`")]
    NoPlugin,
    /// The project names a program that it does not have.
    #[error("the project has no program `{0}`")]
    NoProgram(String),
    /// The user cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// The plugin that runs the commands cannot be prepared.
    #[error("{0}")]
    Lister(String),
    /// The command did not list tools.
    #[error("the discovery command `{command}` {how}")]
    Failed {
        /// The command.
        command: String,
        /// Whose it is.
        owner: Owner,
        /// How it ended.
        how: CommandEnd,
        /// Why, in lines.
        why: Vec<Notice>,
    },
}

impl Fault for CommandError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoPlugin | Self::NoProgram(_) | Self::Lister(_) | Self::Failed { .. } => ErrorKind::Configuration,
            Self::Cancelled => ErrorKind::Cancelled,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoPlugin | Self::NoProgram(_) | Self::Cancelled | Self::Lister(_) => Vec::new(),
            Self::Failed { why, .. } => why.clone(),
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoPlugin => Some(
                Advice::default()
                    .command("plugin build plugins --out plugins/dist")
                    .text(", then build the host again"),
            ),
            Self::NoProgram(_) => {
                Some("its `.host/config.toml` names it: put it there, and trust the project again".into())
            }
            Self::Cancelled | Self::Lister(_) => None,
            Self::Failed { owner, .. } => Some(
                format!(
                    "fix it, or remove `[tools]` from {}; `docs/discovered-tools.md` says what it has to print",
                    file_of(*owner)
                )
                .into(),
            ),
        }
    }
}

/// How a command ended that did not list tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// It failed.
    Failed,
    /// It took too long.
    TooSlow,
    /// It printed something else.
    Unusable,
}

/// As the end of a sentence.
impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed => f.write_str("failed"),
            Self::TooSlow => write!(f, "took longer than {} s", TIME_LIMIT.as_secs()),
            Self::Unusable => f.write_str("printed no list of tools that can be used"),
        }
    }
}

/// The file that names the commands.
fn file_of(owner: Owner) -> &'static str {
    match owner {
        Owner::User => "your configuration",
        Owner::Project => "the project's `.host/config.toml`",
    }
}

/// Reports how the command ended, with the first lines of its standard error.
fn exited(commands: &Commands, words: &str) -> CommandError {
    let (ended, stderr) = words.split_once('\n').unwrap_or((words, ""));
    let lines = stderr.trim_end().lines().filter(|line| !line.trim().is_empty());
    let shown = lines.take(SHOWN_LINES).collect::<Vec<_>>().join("\n");
    let shown = Some(shown).filter(|shown| !shown.is_empty());
    let shown = shown.map(|shown| clip(&shown, SHOWN_CHARACTERS).into_owned());
    failed(commands, CommandEnd::Failed, std::iter::once(ended.to_owned()).chain(shown).map(Notice::from).collect())
}

fn failed(commands: &Commands, how: CommandEnd, why: Vec<Notice>) -> CommandError {
    CommandError::Failed { command: command_line(&commands.discovery), owner: commands.owner, how, why }
}

#[cfg(test)]
mod tests;

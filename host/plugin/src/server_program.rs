//! Programs that run as long as a session and speak a protocol over their standard streams, as MCP servers do.
//!
//! Promises: such a program is confined like those of calls, to what its configuration names; it gets an environment
//! without secrets, besides the variables that the user gave it; dropping it ends it and everything that it started.
//!
//! Deliberately not here: the protocol, and which programs there are.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use host_capability::{Grants, PluginName, ProcessPermit, Resources, Scope};
use host_process::{ConfineMode, Ended, Process, StartError};
use host_programs::{Confined, ProgramReach, Repositories, TemporaryFolder};
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::bindings::process::Error;
use crate::process::{AllowedBy, Doors, KeptFrom, NOBODY_THERE, file_of, kept_from_files, network, widen};
use crate::runtime::Runtime;

/// A program that serves a session.
#[derive(Clone)]
pub struct ServerCommand {
    /// The server's name in the configuration, for messages.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The folder that it starts in, absolute; `None` for its own folder for temporary files, which is empty.
    pub directory: Option<PathBuf>,
    /// Variables besides those that every program gets. They win over those.
    pub environment: Vec<(String, String)>,
    /// Whether it is confined.
    pub confine: ConfineMode,
    /// What it may use when it is confined, besides what every program may.
    pub resources: Resources,
}

/// Without the values of variables, which may be secrets.
impl fmt::Debug for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ServerCommand").field("name", &self.name).field("environment", &names).finish_non_exhaustive()
    }
}

/// Why a program does not start. The texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerStartError {
    /// There is no such program, or no folder to start it in; says which.
    #[error("there is no {0}")]
    NotFound(String),
    /// What it may use cannot be granted.
    #[error("{0}")]
    Resources(String),
    /// It must not start without walls that this machine cannot put up, or the system does not start it.
    #[error("{0}")]
    Failed(String),
}

/// A running program. Dropping it ends it and everything that it started.
#[derive(Debug)]
pub struct ServerProgram {
    process: Process,
    walls: ServerWalls,
    notes: Vec<String>,
    /// Its own folder for temporary files, in which it starts if nothing else was said. Removed when all of it has
    /// ended.
    _temporary: TemporaryFolder,
    /// Dropped after it: what it made of repositories is checked then.
    _repositories: Option<Repositories>,
}

/// What confinement keeps a running program from. It can outlive the program.
#[derive(Clone, Debug)]
pub struct ServerWalls {
    name: String,
    is_confined: bool,
    kept_from: KeptFrom,
}

/// The standard streams of a program.
#[derive(Debug)]
pub struct ServerStreams {
    /// What it reads.
    pub input: Sender,
    /// What it answers.
    pub output: Receiver,
    /// What it reports.
    pub errors: Receiver,
}

impl Runtime {
    /// Starts a program that serves a session. Must be called within a tokio runtime; blocks for a few milliseconds.
    ///
    /// # Errors
    ///
    /// If it cannot be started: nothing of it is left then.
    pub fn start_server(&self, command: &ServerCommand) -> Result<(ServerProgram, ServerStreams), ServerStartError> {
        let permit = permit(command)?;
        let Some((program, arguments)) = permit.argv().split_first() else {
            return Err(ServerStartError::Resources("the command names no program".to_owned()));
        };
        let shared = self.shared();
        let programs = &self.access().programs;
        let Confined { mut confinement, note } = shared
            .programs
            .next_in(programs, command.confine, ProgramReach::Workspace)
            .map_err(ServerStartError::Failed)?;
        // Programs of calls must not be able to leave code for it, nor read what it keeps there.
        let temporary = TemporaryFolder::new();
        let temporary =
            temporary.map_err(|error| ServerStartError::Failed(format!("no folder for temporary files: {error}")))?;
        let own = temporary.path();
        if let Some(confinement) = &mut confinement {
            confinement.temporary = Some(own.clone());
        }
        let directory = command.directory.as_deref().unwrap_or(&own);
        let mut notes: Vec<String> = note.iter().map(|note| line_of(note)).collect();
        let kept_from = KeptFrom::new(AllowedBy::Server(command.name.clone()));
        // It runs for as long as the session, so nothing could ever be brought back.
        let repositories = shared.programs.fixed_repositories(programs, command.confine);
        let network = confinement.as_mut().map(|confinement| {
            if let Some(repositories) = &repositories {
                repositories.confine(confinement);
                notes.extend(repositories.notes().iter().cloned());
            }
            notes.extend(widen(confinement, permit.resources()).iter().flat_map(|note| note.lines()).map(line_of));
            // Its servers are configured; a question at any time would have no call that it belongs to.
            network(permit.clone(), Doors::closed(kept_from.clone()))
        });
        if let Some(confinement) = &mut confinement {
            programs.hide(confinement).map_err(ServerStartError::Failed)?;
        }
        let (file, first) = file_of(program).map_err(no_file)?;
        let started = host_process::start(
            &host_process::Command {
                program: file,
                arguments: first.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
                directory: directory.to_owned(),
                environment: environment(
                    &shared.variables.for_reach(ProgramReach::Workspace, &[]),
                    &command.environment,
                ),
                input: host_process::Input::Pipe,
            },
            confinement.as_ref(),
            network,
        );
        let mut process = started.map_err(|error| not_started(program, directory, &error))?;
        let streams = streams(&mut process, program)?;
        let walls = ServerWalls { name: command.name.clone(), is_confined: confinement.is_some(), kept_from };
        let server = ServerProgram { process, walls, notes, _temporary: temporary, _repositories: repositories };
        Ok((server, streams))
    }
}

/// Takes the streams of a program that was started with an input.
fn streams(process: &mut Process, program: &str) -> Result<ServerStreams, ServerStartError> {
    match (process.input.take(), process.output.take(), process.errors.take()) {
        (Some(input), Some(output), Some(errors)) => Ok(ServerStreams { input, output, errors }),
        _ => Err(ServerStartError::Failed(format!("`{}` has no streams", host_text::exact(program)))),
    }
}

/// Returns the permit for a server's own command.
fn permit(command: &ServerCommand) -> Result<ProcessPermit, ServerStartError> {
    let unusable = |why: String| ServerStartError::Resources(why);
    let scope = Scope::for_command_using(&command.argv, &command.resources);
    let scope = scope.map_err(|error| unusable(error.to_string()))?;
    let scope = scope.ok_or_else(|| unusable("the command names no program".to_owned()))?;
    // As nobody's plugin: no grant of a plugin covers it.
    let owner = PluginName::new(format!("mcp.{}", command.name));
    let permit = Grants::none().with(scope).permit_process(&owner, &command.argv);
    permit.map_err(|denied| unusable(denied.to_string()))
}

fn no_file(error: Error) -> ServerStartError {
    match error {
        Error::NotFound(what) => ServerStartError::NotFound(what),
        Error::Invalid(why) | Error::Io(why) => ServerStartError::Failed(why),
        Error::Denied(denied) => ServerStartError::Failed(denied.help),
    }
}

fn not_started(program: &str, directory: &Path, error: &StartError) -> ServerStartError {
    match error {
        StartError::NotFound => ServerStartError::NotFound(missing(program, directory)),
        StartError::Invalid
        | StartError::System { .. }
        | StartError::NoLayers { .. }
        | StartError::Layer { .. }
        | StartError::LayerInUse { .. }
        | StartError::NotHidden { .. } => {
            ServerStartError::Failed(format!("`{}` does not start: {error}", host_text::exact(program)))
        }
    }
}

/// What is missing when a program is not found.
fn missing(program: &str, directory: &Path) -> String {
    let shown = host_text::exact(program);
    match directory.is_dir() {
        false => format!("folder `{}` to start `{shown}` in", host_text::exact(&directory.display().to_string())),
        true if program.contains('/') => format!("program `{shown}`"),
        true => format!("program `{shown}` in `PATH`"),
    }
}

impl ServerProgram {
    /// Waits until the program itself has ended.
    pub async fn wait(&mut self) -> Ended {
        self.process.wait().await
    }

    /// Asks it and everything that it started to end.
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Returns what the user should know about how it was started: a line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns what tells what confinement kept it from.
    pub fn walls(&self) -> ServerWalls {
        self.walls.clone()
    }
}

impl ServerWalls {
    /// Returns what confinement kept the program from so far, each with the setting that would allow it: a line each.
    /// `errors` is what it reported last.
    pub fn kept_from(&self, errors: &str) -> Vec<String> {
        let mut lines = self.kept_from.lines();
        if self.is_confined {
            lines.extend(kept_from_files(&self.name, errors, !lines.is_empty()));
        }
        lines
    }
}

/// Returns a note as a line of its own.
fn line_of(note: &str) -> String {
    note.trim_start_matches("host: ").trim_end().to_owned()
}

/// Returns the variables of a server: its own win over those that say that nobody is at a terminal, and those over what
/// the host was started with.
pub(crate) fn environment(kept: &[(OsString, OsString)], own: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let nobody = NOBODY_THERE.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mut all: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in own.chain(nobody).chain(kept.iter().cloned()) {
        if !all.iter().any(|(known, _)| *known == name) {
            all.push((name, value));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_has_its_own_variables_before_all_others() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let kept = [pair("PATH", "/bin"), pair("TERM", "xterm"), pair("TOKEN", "outer")];
        let own = [("TOKEN".to_owned(), "inner".to_owned())];
        let all = environment(&kept, &own);
        for expected in [pair("PATH", "/bin"), pair("TERM", "dumb"), pair("TOKEN", "inner")] {
            assert_eq!(all.iter().filter(|(name, _)| *name == expected.0).collect::<Vec<_>>(), [&expected]);
        }
    }
}

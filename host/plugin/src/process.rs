//! The host side of `host:cap/process`.
//!
//! Promises: a program starts only with a permit for its words; it gets an environment without secrets, and standard
//! streams that lead to the guest; when the call ends, however it ends, so do the program and everything that it
//! started, unless it was announced and started as one that goes on in the background (`background`).
//!
//! Deliberately not here: how programs are started, confined and ended (`host-process`).

mod changes;
mod connect;
mod explain;
mod outputs;
mod ssh;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_capability::{Capability, ProcessPermit, Resources, Scope};
use host_process::{Confinement, Ended, Input, Moved, Process, StartError};
use host_programs::{Confined, Offer, ProgramReach, Repositories};
use host_text::{Advice, Flag, Wording};
use host_undo::ProgramRecorder;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wasmtime::component::Resource;

use self::outputs::forward;
use crate::access::Access;
use crate::answer::{Ground, command_line};
use crate::background::size;
use crate::bindings::cap_types::Denial;
use crate::bindings::child::Child;
use crate::bindings::denial::denial;
use crate::bindings::process::{Chunk, Command, Error, Exit, Host, HostChild, Source, TerminalSize};
use crate::limits::MAX_PROGRAMS;
use crate::listener::{CallListener, ProgramEnd};
use crate::lock::lock;
use crate::store::StoreData;

pub(crate) use changes::{AfterProgram, before_program, repositories};
pub(crate) use connect::{AllowedBy, Doors, KeptFrom, network};
use ssh::SshDoor;

/// The most chunks that wait for the guest; a program whose output is not read blocks. Protects memory.
const WAITING: usize = 16;
/// The longest silence, whatever the guest requests. Protects the run from a program that waits forever.
const SILENCE: Duration = Duration::from_secs(300);
/// How long a program may take to end by itself when asked.
const GRACE: Duration = Duration::from_millis(500);
/// The most words of a command, and the most bytes of all of them. Protects the host's memory; Linux accepts 2 MiB.
const MAX_WORDS: usize = 10_000;
/// See [`MAX_WORDS`].
const MAX_COMMAND: usize = 1 << 20;

/// Variables by which programs know that no user is at a terminal: they must not page, ask for a password or draw. Set
/// here, not by plugins, whose variables need a grant for any program.
///
/// `PAGER` is not enough: programs with a variable of their own obey that first, and the user may have set it; those
/// of AWS and systemd page without `PAGER`, too.
pub(crate) const NOBODY_THERE: &[(&str, &str)] = &[
    ("AWS_PAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("DELTA_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("PAGER", "cat"),
    ("PSQL_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "dumb"),
];

/// What a program on a terminal of its own is told of it: the kind that the most programs know.
const TERMINAL: (&str, &str) = ("TERM", "xterm-256color");

impl Host for StoreData {
    async fn spawn_background(&mut self, command: Command) -> wasmtime::Result<Result<String, Error>> {
        Ok(self.start_in_background(command, Ground::Background, Input::Empty).await)
    }

    async fn spawn_terminal(
        &mut self,
        command: Command,
        asked: TerminalSize,
    ) -> wasmtime::Result<Result<String, Error>> {
        let size = match size(asked.columns, asked.rows) {
            Ok(size) => size,
            Err(why) => return Ok(Err(Error::Invalid(why))),
        };
        Ok(self.start_in_background(command, Ground::Terminal, Input::Terminal(size)).await)
    }

    async fn spawn(&mut self, command: Command) -> wasmtime::Result<Result<Resource<Child>, Error>> {
        if self.programs >= MAX_PROGRAMS {
            let what = format!("{MAX_PROGRAMS} programs are running already, and a call has no more at once");
            return Ok(Err(Error::Io(what)));
        }
        let input = if command.stdin.is_some() { Input::Pipe } else { Input::Empty };
        let started = match self.before(Ground::Call).await {
            Ok(before) => self.start(command, Ground::Call, input, before),
            Err(error) => Err(error),
        };
        let child = match started {
            Ok(child) => child,
            Err(error) => return Ok(self.denials.noting(Err(error))),
        };
        let handle = self.table.push(child)?;
        self.programs += 1;
        Ok(Ok(handle))
    }
}

impl HostChild for StoreData {
    async fn read(&mut self, child: Resource<Child>) -> wasmtime::Result<Option<Chunk>> {
        Ok(self.table.get_mut(&child)?.output.recv().await)
    }

    async fn wait(&mut self, child: Resource<Child>) -> wasmtime::Result<Exit> {
        let child = self.table.get_mut(&child)?;
        child.output.close();
        let ended = child.exit.wait_for(Option::is_some).await.map(|exit| exit.clone());
        Ok(ended.ok().flatten().unwrap_or(Exit { code: None, signal: None, timed_out: false, background: Vec::new() }))
    }

    async fn kill(&mut self, child: Resource<Child>) -> wasmtime::Result<()> {
        self.table.get(&child)?.kill.cancel();
        Ok(())
    }

    async fn end_after(&mut self, child: Resource<Child>, milliseconds: u64) -> wasmtime::Result<()> {
        self.table.get(&child)?.longest.send_replace(Some(Duration::from_millis(milliseconds)));
        Ok(())
    }

    async fn has_expired(&mut self, child: Resource<Child>) -> wasmtime::Result<bool> {
        Ok(self.table.get(&child)?.has_expired.load(Ordering::Acquire))
    }

    async fn drop(&mut self, child: Resource<Child>) -> wasmtime::Result<()> {
        self.table.delete(child)?;
        self.programs -= 1;
        Ok(())
    }
}

/// What was there before a program starts.
struct BeforeProgram {
    recorder: Option<ProgramRecorder>,
    repositories: Option<Repositories>,
}

/// The walls around a program.
struct Enclosed {
    /// What it may touch; `None` if it is not confined.
    confinement: Option<Confinement>,
    /// Its network, if it is confined.
    network: Option<host_process::Network>,
    /// What the user should know before its own output.
    note: Option<String>,
    kept_from: KeptFrom,
    /// Granted folders outside of the workspace, in which changes are not kept for undo.
    granted: Vec<PathBuf>,
}

impl StoreData {
    /// Starts a program that outlasts the call; returns its id.
    async fn start_in_background(&mut self, command: Command, ground: Ground, input: Input) -> Result<String, Error> {
        let Some(background) = self.call.background.clone() else {
            let what =
                "nothing can run in the background here: only the main agent of a session keeps programs running";
            return Err(Error::Io(what.to_owned()));
        };
        if let Some(full) = background.is_full() {
            return Err(Error::Io(full));
        }
        let shown = command_line(&command.argv);
        // What it reads, if anything, is typed later, and no call waits for it.
        let command = Command { stdin: None, ..command };
        let started = match self.before(ground).await {
            Ok(before) => self.start(command, ground, input, before),
            Err(error) => Err(error),
        };
        self.denials.noting(started).map(|child| background.adopt(&self.plugin, shown, child))
    }

    fn before(&self, ground: Ground) -> impl Future<Output = Result<BeforeProgram, Error>> + use<> {
        let (changes, reach) = (self.changes.clone(), self.call.reach);
        let (shared, access) = (Arc::clone(&self.shared), Arc::clone(&self.access));
        async move {
            let (recorder, repositories) = tokio::join!(before_program(changes), repositories(shared, access, reach));
            let recorder = recorder.map_err(|why| changes::cannot_be_kept(&why))?;
            let recorder = match ground {
                Ground::Call => recorder,
                Ground::Background | Ground::Terminal => recorder.map(ProgramRecorder::in_background),
            };
            Ok(BeforeProgram { recorder, repositories: repositories.map_err(Error::Io)? })
        }
    }

    fn start(&self, command: Command, ground: Ground, input: Input, mut before: BeforeProgram) -> Result<Child, Error> {
        check_words(&command)?;
        // What the user saw comes before the grants: a wide grant must not make up for a false preview.
        self.shown.command(&command, ground, &self.call.workspace).map_err(Error::Denied)?;
        // The words as they are; the permit's own copy is what starts.
        let permit = self.call.grants.permit_process(&self.plugin, &command.argv);
        let permit = permit.map_err(|refused| Error::Denied(denial(&refused, self.shared.wording)))?;
        let Some((name, arguments)) = permit.argv().split_first() else {
            return Err(Error::Invalid("the command does not name a program".to_owned()));
        };
        // A variable such as `LD_PRELOAD` would run code that no word of the command shows.
        self.may_set(&command.environment)?;
        let directory = self.directory(&command.directory)?;
        let environment = self.environment(&command.environment, input);
        let Enclosed { confinement, network, note, kept_from, granted } =
            self.enclose(&permit, ground, before.repositories.as_mut(), &directory, &environment)?;
        let (file, first) = file_of(name)?;
        // Before the start: what cannot be undone is said while it can still be stopped.
        self.not_kept(&command_line(permit.argv()), &granted, ground)?;
        let command_to_start = host_process::Command {
            program: file,
            arguments: first.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
            directory,
            environment,
            input,
        };
        let started = match self.call.reach {
            // What nobody was asked about speaks to no server of another command.
            ProgramReach::Reading => host_process::start(&command_to_start, confinement.as_ref(), network),
            ProgramReach::Workspace | ProgramReach::Everything => {
                let session = &self.shared.programs.network;
                host_process::start_in(session, &command_to_start, confinement.as_ref(), network)
            }
        };
        let process = started.map_err(|error| not_started(name, &error))?;
        // One in the background has no listener: the call that started it ends before it does.
        let (silence, cancel, listener) = match ground {
            Ground::Call => {
                // A guest may make the wait shorter and never longer.
                let silence = command.silence_limit.map_or(SILENCE, Duration::from_millis).min(SILENCE);
                (Some(silence), self.call.cancel.clone(), Arc::clone(&self.call.listener))
            }
            // Not that of the call, whose end would end it.
            Ground::Background | Ground::Terminal => {
                (None, CancellationToken::new(), Arc::new(()) as Arc<dyn CallListener>)
            }
        };
        let explained = confinement.map(|_| (self.plugin.to_string(), named_program(permit.argv())));
        let access = Arc::clone(&self.access);
        let after = AfterProgram::new(before.recorder, before.repositories);
        let (argv, folder) = (permit.argv().to_vec(), command_to_start.directory);
        let wording = self.shared.wording;
        let notes = Notes { first: note, kept_from, explained, listener, access, argv, folder, wording };
        Ok(watch(Watched { process, after, input }, notes, command.stdin, silence, cancel))
    }

    /// Returns the variables of a program: what it gets of the user's, and what the guest sets.
    fn environment(&self, given: &[(String, String)], input: Input) -> Vec<(OsString, OsString)> {
        // The last of several values of a variable counts.
        let given = given.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        // In front of the guest's own: a program that opens a pager or asks for a password would wait until its limit.
        let on_terminal = matches!(input, Input::Terminal(_));
        let nobody = NOBODY_THERE.iter().filter(|(name, _)| !(on_terminal && *name == "TERM"));
        let terminal = on_terminal.then_some(&TERMINAL);
        let set = nobody.chain(terminal).map(|(name, value)| (name.into(), value.into()));
        let set = set.chain(given).collect::<Vec<_>>();
        let variables = self.shared.variables.for_reach(self.call.reach, &self.access.programs.writable);
        // The size of the user's terminal is not that of the program's.
        let is_size = |name: &OsString| on_terminal && (name == "COLUMNS" || name == "LINES");
        let is_set = |name: &OsString| set.iter().any(|(other, _)| other == name);
        let kept = variables.into_iter().filter(|(name, _)| !is_set(name) && !is_size(name));
        kept.chain(set.iter().cloned()).collect()
    }

    /// Puts up the walls around a program that runs in this folder with these variables.
    fn enclose(
        &self,
        permit: &ProcessPermit,
        ground: Ground,
        repositories: Option<&mut Repositories>,
        directory: &Path,
        environment: &[(OsString, OsString)],
    ) -> Result<Enclosed, Error> {
        let programs = &self.access.programs;
        let Confined { confinement, mut note } =
            self.shared.programs.next(programs, self.call.reach).map_err(Error::Io)?;
        let program = named_program(permit.argv());
        let wording = self.shared.wording;
        let kept_from = KeptFrom::new(AllowedBy::Grant { plugin: self.plugin.to_string(), program, wording });
        // Only a confined program needs its grant for servers and files, and the words within its line.
        let Some(mut confinement) = confinement else {
            return Ok(Enclosed { confinement: None, network: None, note, kept_from, granted: Vec::new() });
        };
        let commands = programs.commands(permit.argv());
        if let Some(repositories) = repositories {
            repositories.with_caches(programs.cache_layers(&commands));
            repositories.confine(&mut confinement);
            let lines = repositories.notes().iter().map(|line| format!("host: {line}\n"));
            note = note.into_iter().chain(lines).reduce(|all, line| all + &line);
        }
        let permit = permit.clone().running(commands);
        let granted = permit.resources().writes;
        if let Some(more) = widen(&mut confinement, permit.resources()) {
            note = Some(note.unwrap_or_default() + &more);
        }
        // One in the background goes on when nobody waits for its call any more.
        let listener = (!ground.outlasts_call()).then(|| Arc::clone(&self.call.listener));
        // What runs without a question must not use the user's keys.
        let ssh = (self.call.reach == ProgramReach::Workspace).then(|| {
            SshDoor::new(&self.shared, programs, directory, environment.iter().map(|(name, _)| name.as_os_str()))
        });
        let ssh = ssh.flatten();
        // Git starts this file as its ssh, and must be able to read it.
        confinement.readable.extend(ssh.iter().map(|ssh| ssh.client().to_owned()));
        let (plugin, configured) = (self.plugin.clone(), programs.servers.clone());
        // Where it has no grant, what it asks for is remembered.
        let network = network(permit, Doors { kept_from: kept_from.clone(), plugin, configured, listener, ssh });
        // Last, since it goes by what the confinement has by now.
        programs.hide(&mut confinement).map_err(Error::Io)?;
        Ok(Enclosed { confinement: Some(confinement), network: Some(network), note, kept_from, granted })
    }

    /// Checks that a guest may set variables. `LD_PRELOAD`, `PATH`, `GIT_EXTERNAL_DIFF` and others choose what a
    /// program runs, so this needs a grant for any program.
    fn may_set(&self, environment: &[(String, String)]) -> Result<(), Error> {
        let Some((name, _)) = environment.first() else { return Ok(()) };
        let held = self.call.grants.scope(Capability::Process);
        if matches!(held, Some(Scope::Process(programs)) if programs.are_any()) {
            return Ok(());
        }
        let wanted = format!("the variable {}", host_text::exact(name));
        let help = Advice::from(format!(
            "{wanted} cannot be set: variables can change what a program runs, so setting them needs a grant for any \
             program; to allow it, add "
        ));
        let help = self.shared.wording.of(&help.flag_with(Flag::Grant, format!("'{}:process=*'", self.plugin)));
        Err(Error::Denied(Denial { capability: Capability::Process.name().to_owned(), wanted, help }))
    }

    /// Returns the folder to run in: in the workspace, or in a folder that may be read.
    fn directory(&self, path: &str) -> Result<std::path::PathBuf, Error> {
        let absolute = self.call.workspace.absolute(path).map_err(|error| Error::Invalid(error.to_string()))?;
        let real = std::fs::canonicalize(&absolute).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NotFound(self.call.workspace.shown(&absolute)),
            _ => Error::Io(format!("{}: {error}", self.call.workspace.shown(&absolute))),
        })?;
        if !real.starts_with(self.call.workspace.root()) {
            let permit = self
                .call
                .grants
                .permit_read(&self.plugin, &real)
                .map_err(|refused| Error::Denied(denial(&refused, self.shared.wording)))?;
            return Ok(permit.root().join(permit.relative()));
        }
        Ok(real)
    }
}

/// Checks that a command is one that the system starts as it was checked.
fn check_words(command: &Command) -> Result<(), Error> {
    let size = command.argv.iter().map(String::len).sum::<usize>();
    if command.argv.len() > MAX_WORDS || size > MAX_COMMAND {
        return Err(Error::Invalid(format!("the command is too long: {} words, {size} bytes", command.argv.len())));
    }
    let variables = command.environment.iter().flat_map(|(name, value)| [name, value]);
    // The system cuts a word there, and would run another command than the one that was checked.
    if command.argv.iter().chain(variables).any(|text| text.contains('\0')) {
        return Err(Error::Invalid("a word of the command contains a NUL character".to_owned()));
    }
    Ok(())
}

fn not_started(name: &str, error: &StartError) -> Error {
    match error {
        StartError::NotFound => Error::NotFound(name.to_owned()),
        StartError::Invalid => Error::Invalid(error.to_string()),
        StartError::System { .. }
        | StartError::NoLayers { .. }
        | StartError::Layer { .. }
        | StartError::LayerInUse { .. }
        | StartError::NotHidden { .. } => Error::Io(format!("`{name}` does not start: {error}")),
    }
}

/// Returns the file of a program, and the arguments that come before its own. `sh` is the shell that lines are read
/// for, whatever the machine or `PATH` calls by that name.
pub(crate) fn file_of(program: &str) -> Result<(OsString, Vec<OsString>), Error> {
    if program != "sh" {
        return Ok((program.into(), Vec::new()));
    }
    let shell = host_process::shell().ok_or_else(|| {
        Error::NotFound("dash, bash or busybox in /bin or /usr/bin, one of which runs the lines of `sh`".to_owned())
    })?;
    Ok((shell.program.clone().into(), shell.arguments.clone()))
}

/// Returns what confinement may have kept an MCP server from, going by what it reported last.
pub(crate) fn kept_from_files(server: &str, errors: &str, knows_servers: bool) -> Vec<String> {
    let mut lines: Vec<String> = explain::files(errors).iter().map(|file| file.line_of_server(server)).collect();
    // What it asked the proxy for is known, and need not be guessed.
    if !knows_servers && explain::names_network(errors) {
        lines.push(format!(
            "this program is confined and reaches no server that `net` of [mcp.{server}] does not name; to allow one, add \
             `net = [\"HOST\"]` to [mcp.{server}]"
        ));
    }
    lines
}

/// The host's notes in a program's standard error.
struct Notes {
    /// The note before the program's own output.
    first: Option<String>,
    kept_from: KeptFrom,
    /// The plugin and the program, if it is confined.
    explained: Option<(String, String)>,
    listener: Arc<dyn CallListener>,
    access: Arc<Access>,
    argv: Vec<String>,
    /// The folder in which it ran.
    folder: PathBuf,
    wording: Wording,
}

impl Notes {
    /// Returns the notes after the program's own output.
    fn last(&self, has_failed: bool, errors: &[u8], moved: &[Moved], left: Vec<String>) -> Option<String> {
        // First what is known: the proxy saw these requests.
        let mut lines = self.kept_from.lines();
        let mut wanted = Resources { servers: self.kept_from.servers(), ..Resources::default() };
        lines.extend(moved.iter().map(explain::moved).chain(left));
        // Only a failed program is explained: others print such words for reasons of their own.
        if let Some((plugin, program)) = self.explained.as_ref().filter(|_| has_failed) {
            let errors = String::from_utf8_lossy(errors);
            // A path that the user denied is not offered, nor named as one that could be.
            let hides = |path: &Path| self.access.programs.hides(path);
            lines.extend(explain::kept(&self.argv, &errors, &self.folder, hides));
            for file in explain::files(&errors).into_iter().filter(|file| !hides(file.path())) {
                let offer = file.offer(&self.access.programs);
                let line = file.line(plugin, program, offer.as_ref(), self.wording);
                // Programs repeat an error for each file.
                if !lines.contains(&line) {
                    lines.push(line);
                }
                match offer {
                    Some(Offer::Read(path)) if !wanted.reads.contains(&path) => wanted.reads.push(path),
                    Some(Offer::Write(path)) if !wanted.writes.contains(&path) => wanted.writes.push(path),
                    Some(_) | None => {}
                }
            }
            lines.extend(explain::own_tmp(&self.argv, &errors, |path| self.access.programs.sees(path)));
            let ran = self.kept_from.has_started_ssh();
            let ssh = explain::ssh(&errors, ran);
            // What it asked the proxy for is known, and need not be guessed; and what the user's own ssh reports of the
            // network has nothing to do with the walls.
            if wanted.servers.is_empty() && !ran && ssh.is_none() {
                lines.extend(explain::network(plugin, program, &errors, self.wording));
            }
            lines.extend(ssh);
            if self.access.programs.walls.can_be_left()
                && let Some(line) = explain::machine(&errors)
            {
                self.listener.needs_machine(&self.argv);
                lines.push(line);
            }
        }
        if !wanted.is_empty() {
            // Remembered, so that the next run of this command is asked about with everything at once.
            self.listener.kept_from(&self.argv, &wanted);
        }
        (!lines.is_empty()).then(|| lines.iter().map(|line| format!("host: {line}\n")).collect())
    }
}

/// Adds what a program was granted besides. Returns what the user should know: that a path is not as it was granted, so
/// that the program does without.
pub(crate) fn widen(confinement: &mut Confinement, granted: Resources) -> Option<String> {
    let mut notes = String::new();
    let mut add = |paths: Vec<PathBuf>, to: &mut Vec<PathBuf>| {
        for path in paths {
            // A link could lead anywhere when the program starts, and so is granted by where it leads.
            let why = match std::fs::canonicalize(&path) {
                Ok(real) if real == path => {
                    to.push(path);
                    continue;
                }
                Ok(real) => format!("leads to `{}`: grant that", host_text::exact(&real.to_string_lossy())),
                Err(error) => format!("cannot be opened: {error}"),
            };
            notes += &format!("host: `{}`, which is granted, {why}\n", host_text::exact(&path.to_string_lossy()));
        }
    };
    add(granted.reads, &mut confinement.readable);
    add(granted.writes, &mut confinement.writable);
    (!notes.is_empty()).then_some(notes)
}

/// Returns the program as a grant names it, or `PROGRAM` for a shell line, which can run any.
fn named_program(argv: &[String]) -> String {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let is_line = argv.get(1).is_some_and(|option| option == "-c");
    if is_line { "PROGRAM".to_owned() } else { host_text::excerpt(program, 40) }
}

/// A program, and what is written down when it has ended.
struct Watched {
    /// Dropped first: what is written down is what it did to its end.
    process: Process,
    after: AfterProgram,
    input: Input,
}

/// Moves the streams of a program, and ends it with everything that it started.
fn watch(
    mut watched: Watched,
    notes: Notes,
    stdin: Option<Vec<u8>>,
    silence: Option<Duration>,
    cancel: CancellationToken,
) -> Child {
    // Bounded: a guest that reads slowly slows the program down and fills no memory.
    let (out, output) = mpsc::channel(WAITING);
    let said = |note: String| Chunk { source: Source::Stderr, data: note.into_bytes() };
    if let Some(note) = &notes.first {
        // Nothing is in the channel yet, so there is room.
        out.try_send(said(note.clone())).ok();
    }
    let last = Arc::new(Mutex::new(Instant::now()));
    let process = &mut watched.process;
    let terminal = match (process.terminal.take(), watched.input) {
        (Some(terminal), Input::Terminal(size)) => Some((terminal, size)),
        (_, Input::Empty | Input::Pipe) | (None, Input::Terminal(_)) => None,
    };
    // Both streams through one channel, so that lines keep the order in which they came.
    let forwarding = match &terminal {
        Some((terminal, _)) => tokio::spawn(forward(Some(terminal.clone()), None, out.clone(), Arc::clone(&last))),
        None => {
            let (stdout, stderr) = (process.output.take(), process.errors.take());
            tokio::spawn(forward(stdout, stderr, out.clone(), Arc::clone(&last)))
        }
    };
    if let (Some(mut pipe), Some(bytes)) = (process.input.take(), stdin) {
        // A program that does not read its input closes the pipe, which is not an error.
        tokio::spawn(async move { pipe.write_all(&bytes).await.ok() });
    }
    let (ended, exit) = watch::channel(None);
    let (longest, limit) = watch::channel(None);
    let kill = CancellationToken::new();
    let has_expired = Arc::new(AtomicBool::new(false));
    let (killed, expired) = (kill.clone(), Arc::clone(&has_expired));
    let supervisor = tokio::spawn(async move {
        // As a whole, so that its parts are dropped in their order.
        let Watched { process, after, input: _ } = &mut { watched };
        let waited = wait(process, Limits { last: &last, silence, longest: limit }, &killed, &cancel).await;
        let timed_out = matches!(waited, Waited::Silent);
        // Before the outputs end: the guest asks for it then.
        expired.store(matches!(waited, Waited::Expired), Ordering::Release);
        let (how, background) = match waited {
            // What the program left running is named before it is ended, since the model may have meant it to go on.
            Waited::Ended(how) => (how, process.pids()),
            Waited::Stopped | Waited::Silent | Waited::Expired => (stop(process).await, Vec::new()),
        };
        let (code, signal) = match how {
            Ended::Code(code) => (Some(code), None),
            Ended::Signal(signal) => (None, Some(signal)),
        };
        // Before its outputs end: a guest need not wait for more than these.
        notes.listener.ended(&notes.argv, ProgramEnd { code, signal, timed_out });
        // Its remaining processes hold the pipes open; without them the outputs end.
        process.end();
        // Only after the end of all processes: before it this would wait for a daemon that holds the pipe.
        let errors = forwarding.await.unwrap_or_default();
        let left = after.look().await;
        if let Some(note) = notes.last(how != Ended::Code(0), &errors, process.moved(), left) {
            // A guest that only waits for the end has closed the channel.
            out.send(said(note)).await.ok();
        }
        // The channel's end tells the guest that nothing follows; the exit comes after it.
        drop(out);
        ended.send_replace(Some(Exit { code, signal, timed_out, background }));
    });
    Child { output, exit, kill, longest, has_expired, terminal, supervisor: supervisor.abort_handle() }
}

/// Why nobody waits for a program any more.
enum Waited {
    Ended(Ended),
    /// It is to end.
    Stopped,
    /// It printed nothing for too long.
    Silent,
    /// It ran for as long as it may.
    Expired,
}

/// What ends a program that does not end by itself.
struct Limits<'l> {
    /// When it printed last.
    last: &'l Mutex<Instant>,
    /// How long it may print nothing.
    silence: Option<Duration>,
    /// How long it may run, which the guest can change meanwhile.
    longest: watch::Receiver<Option<Duration>>,
}

/// Waits for the end of a program.
async fn wait(
    process: &mut Process,
    mut limits: Limits<'_>,
    killed: &CancellationToken,
    cancel: &CancellationToken,
) -> Waited {
    let begun = Instant::now();
    let Limits { last, silence, .. } = limits;
    loop {
        let quiet_until = silence.map(|silence| *lock(last) + silence);
        // A time that no clock reaches is no limit.
        let end_at = limits.longest.borrow_and_update().and_then(|longest| begun.checked_add(longest));
        tokio::select! {
            // The end first: a program that ended in time has not timed out.
            biased;
            ended = process.wait() => return Waited::Ended(ended),
            () = killed.cancelled() => return Waited::Stopped,
            () = cancel.cancelled() => return Waited::Stopped,
            () = until(end_at) => return Waited::Expired,
            Ok(()) = limits.longest.changed() => {}
            () = until(quiet_until) => {
                // Looked at once more: output may have come since the time was taken.
                if silence.is_some_and(|silence| lock(last).elapsed() >= silence) {
                    return Waited::Silent;
                }
            }
        }
    }
}

/// Ends a program, politely first: a build tool that is killed leaves locks behind.
async fn stop(process: &mut Process) -> Ended {
    process.terminate();
    tokio::time::timeout(GRACE, process.wait()).await.unwrap_or(KILLED)
}

/// Waits until then, or for ever.
async fn until(then: Option<Instant>) {
    match then {
        Some(then) => tokio::time::sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// The end of a program that did not end when it was asked to.
const KILLED: Ended = Ended::Signal(9);

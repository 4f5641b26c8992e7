//! Starts and ends programs on Linux.
//!
//! A program has a guard: a process between the host and the program, which is the first of its PID namespace, or a
//! subreaper where there is no such namespace. All that the program starts stays beneath its guard, whatever group,
//! session or environment it takes on, so that the guard's end is the end of all of it. The guard reports how the
//! program ended. While anything of it is left, it lives on until the host ends it, so that this can be listed.

mod beneath;
mod carve;
mod changes;
mod child;
mod descriptors;
mod door;
mod ending;
mod filters;
mod forward;
mod group;
mod handover;
mod holder;
mod join;
mod layers;
mod level;
mod masks;
mod means;
mod mount_calls;
mod mounts;
mod own;
mod remove;
mod ruleset;
mod session;
mod step;
mod table;
mod tmp;
mod tree;
mod vacant;
mod walls;
mod way;

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::JoinSet;

use crate::proxy;
use crate::terminal::Opened;
use crate::{Command, Confinement, Ended, GitSsh, Input, Moved, Network, StartError, Terminal};
use child::{Image, Plan, Report, Streams};
use door::Door;
use group::Group;
use layers::Held;
use means::Means;
use session::Member;
use step::Step;
use vacant::Vacant;
use walls::Walls;

pub use changes::{changed, clear_layer};
pub use level::{Level, level};
pub use remove::remove_tree;
pub use session::SessionNetwork;
pub use vacant::move_aside;

/// Where a program is looked for if its environment has no `PATH`, as in glibc's `execvp`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Where a confined program sees its folder for temporary files.
const TMP: &str = "/tmp";

/// The variable that names the folder for temporary files, as in POSIX.
const TEMPORARY: &str = "TMPDIR";

/// A running program, with all that it started. Dropping it ends all of them.
#[derive(Debug)]
pub struct Process {
    /// Its standard input, if it has one.
    pub input: Option<Sender>,
    /// Its standard output.
    pub output: Option<Receiver>,
    /// Its standard error.
    pub errors: Option<Receiver>,
    /// Its terminal, in place of all three.
    pub terminal: Option<Terminal>,
    report: Receiver,
    ended: Option<Ended>,
    /// `None` once all has ended.
    guard: Option<Pid>,
    /// Whether the guard is the first process of a PID namespace.
    has_namespace: bool,
    /// Whether nothing is left but the guard.
    is_alone: bool,
    /// Serves its connections; ends when it is dropped.
    proxy: JoinSet<()>,
    /// The protected places that were vacant when it started; `None` once they were cleared.
    vacant: Option<Vacant>,
    /// Keeps the folders of its layers for it.
    held: Held,
    /// Limits its processes.
    group: Option<Group>,
    moved: Vec<Moved>,
    /// Its part in the network of its session; `None` if it has none, or all has ended.
    member: Option<Member>,
}

/// Starts a program. With a confinement, it gets every wall of this machine's [`level`]; without one it runs with all
/// the rights of the user. A confined program reaches the servers that the network connects it to, if the machine can
/// give it a network of its own ([`Level::has_networks`]), and no others.
///
/// Returns when the program itself runs; blocks for a few milliseconds. Must be called within a tokio runtime.
///
/// # Errors
///
/// If it cannot be started: nothing of it is left then.
pub fn start(
    command: &Command,
    confinement: Option<&Confinement>,
    network: Option<Network>,
) -> Result<Process, StartError> {
    started(command, confinement, network, None)
}

/// Starts a program as [`start`] does, which shares its loopback device with the others of a session if it is confined
/// and the machine can give it a network of its own: they reach what it listens on, and so does the user.
///
/// # Errors
///
/// If it cannot be started: nothing of it is left then.
pub fn start_in(
    session: &SessionNetwork,
    command: &Command,
    confinement: Option<&Confinement>,
    network: Option<Network>,
) -> Result<Process, StartError> {
    started(command, confinement, network, Some(session))
}

fn started(
    command: &Command,
    confinement: Option<&Confinement>,
    network: Option<Network>,
    session: Option<&SessionNetwork>,
) -> Result<Process, StartError> {
    // Finding out what the machine can do takes time, so it is done only for a program that needs it.
    let confinement = confinement.map(|confinement| (confinement, level()));
    start_at(command, confinement, network, session)
}

/// The same on a machine of this level.
fn start_at(
    command: &Command,
    confinement: Option<(&Confinement, &Level)>,
    network: Option<Network>,
    session: Option<&SessionNetwork>,
) -> Result<Process, StartError> {
    if let Some((confinement, level)) = confinement
        && let Some(layer) = confinement.layers.first()
        && let Some(why) = level.no_layers()
    {
        return Err(StartError::NoLayers { place: layer.place.clone(), why });
    }
    start_with(command, confinement.map(|(confinement, level)| (confinement, level.means())), network, session)
}

fn start_with(
    command: &Command,
    confinement: Option<(&Confinement, Means)>,
    network: Option<Network>,
    session: Option<&SessionNetwork>,
) -> Result<Process, StartError> {
    // Plain paths from here on: the walls compare paths as texts, where `a//b` and `a/b` would be two folders.
    let confinement = confinement.map(|(confinement, means)| (beneath::plain(confinement), means));
    let confinement = confinement.as_ref().map(|(confinement, means)| (confinement, *means));
    let temporary = confinement.and_then(|(confinement, _)| confinement.temporary.as_deref());
    // Our ends are in the runtime before anything runs, so that an error here leaves no program behind.
    let Pipes { input, output, errors, report, terminal, place, streams, theirs } = Pipes::new(command.input)?;
    let around = Around::new(confinement, network, session, place.as_deref())?;
    let Around { mut walls, own_tmp, has_namespaces, member, door } = around;
    let mut variables: Vec<_> = door.as_ref().map(|(_, door)| door.variables().collect()).unwrap_or_default();
    variables.extend(door.iter().filter_map(|(network, _)| network.ssh.as_ref()).flat_map(GitSsh::variables));
    let (shown, directory) = seen_inside(temporary, &command.directory, own_tmp);
    // All strings are made before the clone: between clone and exec nothing may be allocated.
    let image = image(command, &directory, shown, variables)?;
    // Without mounts nothing new can be made beside what is protected.
    let vacant = confinement.filter(|_| has_namespaces).map(|(confinement, _)| Vacant::new(confinement));
    let inside = door.as_ref().and_then(|(_, door)| door.inside());
    let guard = Plan { image: Some((&image, streams)), walls: walls.as_ref(), door: inside }.start();
    let guard = guard.map_err(|failed| match (failed.step, failed.error.raw_os_error()) {
        (Step::Exec | Step::Directory, Some(libc::ENOENT | libc::ENOTDIR)) => StartError::NotFound,
        _ => StartError::System { step: failed.step.name(), source: failed.error },
    })?;
    drop(theirs);
    // The locks of layers and the group outlive the walls: they are kept until the last process has ended.
    let held = walls.as_mut().map(Walls::take_held).unwrap_or_default();
    let group = walls.as_mut().and_then(Walls::take_group);
    // While the program runs: the next call is likely to be of the same kind.
    if let Some(rules) = walls.as_mut().and_then(Walls::take_rules) {
        rules.make_ahead();
    }
    // The process owns the guard from here on, so that an error ends it.
    let mut process = Process {
        input,
        output,
        errors,
        terminal,
        report,
        ended: None,
        guard: Some(guard),
        has_namespace: has_namespaces,
        is_alone: false,
        proxy: JoinSet::new(),
        vacant,
        held,
        group,
        moved: Vec::new(),
        member,
    };
    if let Some((network, door)) = door {
        // Taken only now: in a network of the program's own it is the guard that makes the listener.
        let (listener, token) = door.listener().map_err(no_proxy)?;
        process.proxy.spawn(proxy::serve(listener, network, token));
    }
    Ok(process)
}

fn no_proxy(source: io::Error) -> StartError {
    StartError::System { step: Step::Proxy.name(), source }
}

/// What is around a program.
struct Around {
    walls: Option<Walls>,
    /// Whether its folder for temporary files is mounted over `/tmp`.
    own_tmp: bool,
    has_namespaces: bool,
    /// Its part in the network of its session.
    member: Option<Member>,
    /// Where it reaches its proxy, and what the proxy connects it to.
    door: Option<(Network, Door)>,
}

impl Around {
    fn new(
        confinement: Option<(&Confinement, Means)>,
        network: Option<Network>,
        session: Option<&SessionNetwork>,
        terminal: Option<&Path>,
    ) -> Result<Self, StartError> {
        let walls = confinement.map(|(confinement, means)| Walls::new(confinement, means, terminal)).transpose()?;
        let own_tmp = walls.as_ref().is_some_and(Walls::own_tmp);
        // Which walls stand decides the rest: a network, cleared places and a member of a session need namespaces.
        let has_namespaces = walls.as_ref().is_some_and(|walls| walls.namespaces != 0);
        // The proxy listens in the program's own network. Without one there is no door, and seccomp denies all sockets.
        let network = network.filter(|_| has_namespaces);
        let means = confinement.filter(|_| has_namespaces).map(|(_, means)| means);
        // Joined before the walls are final: a program in a session's network gets no network of its own.
        let mut member = session.zip(means).map(|(session, means)| session.enter(means)).transpose()?;
        let walls = match &member {
            Some(member) => walls.map(|walls| walls.joining(member.joins())),
            None => walls,
        };
        let door = match network {
            Some(network) => Some((network, member.as_mut().map_or_else(Door::new, Member::door).map_err(no_proxy)?)),
            None => None,
        };
        Ok(Self { walls, own_tmp, has_namespaces, member, door })
    }
}

/// Returns the folder for temporary files and the one to start in, as the program sees them.
fn seen_inside<'t>(temporary: Option<&'t Path>, directory: &Path, own_tmp: bool) -> (Option<&'t Path>, PathBuf) {
    // Inside, the folder is mounted over `/tmp`; its path outside may not even be readable there.
    let shown = if own_tmp { Some(Path::new(TMP)) } else { temporary };
    // It has another name inside, also as the one to start in.
    let beneath = temporary.filter(|_| own_tmp).and_then(|folder| directory.strip_prefix(folder).ok());
    (shown, beneath.map_or_else(|| directory.to_owned(), |beneath| Path::new(TMP).join(beneath)))
}

/// The pipes or the terminal between a program and the host.
struct Pipes {
    input: Option<Sender>,
    output: Option<Receiver>,
    errors: Option<Receiver>,
    report: Receiver,
    terminal: Option<Terminal>,
    /// Where the terminal is.
    place: Option<PathBuf>,
    /// The program's own ends, as it gets them.
    streams: Streams,
    /// The same; they close here once it has them.
    theirs: Vec<OwnedFd>,
}

impl Pipes {
    fn new(input: Input) -> Result<Self, StartError> {
        let (stdin, sender) = match input {
            Input::Terminal(size) => {
                let opened = Terminal::open(size);
                return Self::on_terminal(opened.map_err(|source| failed(Step::Terminal.name(), source))?);
            }
            Input::Pipe => {
                let (stdin, input) = pipe()?;
                (stdin, Some(input))
            }
            Input::Empty => {
                // A closed descriptor 0 would be taken by the next file that the program opens.
                let nothing = File::open("/dev/null").map_err(|source| failed("/dev/null", source))?;
                (nothing.into(), None)
            }
        };
        let (report, report_out) = pipe()?;
        let (output, stdout) = pipe()?;
        let (errors, stderr) = pipe()?;
        let streams = Streams {
            stdin: stdin.as_raw_fd(),
            stdout: stdout.as_raw_fd(),
            stderr: stderr.as_raw_fd(),
            report: report_out.as_raw_fd(),
            are_terminal: false,
        };
        Ok(Self {
            input: sender.map(Sender::from_owned_fd).transpose().map_err(broken)?,
            output: Some(ours(output)?),
            errors: Some(ours(errors)?),
            report: ours(report)?,
            terminal: None,
            place: None,
            streams,
            theirs: vec![stdin, stdout, stderr, report_out],
        })
    }

    fn on_terminal(opened: Opened) -> Result<Self, StartError> {
        let Opened { ours: terminal, theirs, path } = opened;
        let (report, report_out) = pipe()?;
        let stream = theirs.as_raw_fd();
        let report_end = report_out.as_raw_fd();
        let streams = Streams { stdin: stream, stdout: stream, stderr: stream, report: report_end, are_terminal: true };
        Ok(Self {
            input: None,
            output: None,
            errors: None,
            report: ours(report)?,
            terminal: Some(terminal),
            place: Some(path),
            streams,
            theirs: vec![theirs, report_out],
        })
    }
}

fn ours(end: OwnedFd) -> Result<Receiver, StartError> {
    Receiver::from_owned_fd(end).map_err(broken)
}

impl Process {
    /// Waits until the program itself has ended; what it started may still run.
    pub async fn wait(&mut self) -> Ended {
        if let Some(ended) = self.ended {
            return ended;
        }
        let mut message = [0; Report::SIZE];
        let ended = match self.report.read_exact(&mut message).await {
            Ok(_) => {
                let Report { status, left } = Report::from_bytes(message);
                // The guard has reaped what had ended, so `end` need not list all processes of the machine to find
                // none.
                self.is_alone = !left;
                match libc::WIFSIGNALED(status) {
                    true => Ended::Signal(libc::WTERMSIG(status)),
                    false => Ended::Code(libc::WEXITSTATUS(status)),
                }
            }
            // The guard was killed, and with it the program.
            Err(_) => Ended::Signal(libc::SIGKILL),
        };
        self.ended = Some(ended);
        ended
    }

    /// Returns the ids of the processes that run now: the program, and all that it started.
    pub fn pids(&self) -> Vec<u32> {
        let Some(guard) = self.guard.filter(|_| !self.is_alone) else { return Vec::new() };
        let running = tree::beneath(guard).into_iter().filter(|member| member.runs);
        running.filter_map(|member| u32::try_from(member.pid.as_raw_pid()).ok()).collect()
    }

    /// Asks all of them to end.
    pub fn terminate(&self) {
        let Some(guard) = self.guard else { return };
        for member in tree::beneath(guard).iter().filter(|member| member.runs) {
            kill_process(member.pid, Signal::TERM).ok();
        }
    }

    /// Returns what was made in protected places where nothing was, and was moved aside when all of them had ended.
    pub fn moved(&self) -> &[Moved] {
        &self.moved
    }

    /// Ends all of them.
    pub fn end(&mut self) {
        let Some(guard) = self.guard.take() else { return };
        // The end of a PID namespace's first process is that of all. Without a namespace they are listed and killed:
        // one that starts another during a round is found in the next, since its parent's end made it a child of the
        // guard, which reaps them.
        let is_listed = !self.has_namespace && !self.is_alone;
        let begun = Instant::now();
        let mut rounds = 0..;
        // Either limit alone is reached on a busy machine before all could die: a round can take seconds there.
        while is_listed && (rounds.next().is_some_and(|round| round < ROUNDS) || begun.elapsed() < PATIENCE) {
            let family = tree::beneath(guard);
            if family.is_empty() {
                break;
            }
            for member in family.iter().filter(|member| member.runs) {
                kill_process(member.pid, Signal::KILL).ok();
            }
            // Killed processes have to be scheduled to die, and the guard to reap them.
            std::thread::yield_now();
        }
        // After its family: without a namespace, what is left when the guard ends would be handed to a process above
        // the host and live on.
        match self.is_alone && self.held.is_empty() && self.group.is_none() {
            true => ending::beside(guard),
            false => child::end(guard),
        }
        // The next program may mount the same folders as soon as their locks are gone, so their old mounts are gone by
        // then.
        self.held = Held::default();
        self.group = None;
        // Other programs of its session could use its grants.
        self.proxy.abort_all();
        self.member = None;
        // Last of all: a process that still ran could make again what is moved aside here.
        self.moved = self.vacant.take().map(Vacant::clear).unwrap_or_default();
    }
}

/// How often the processes of a program are listed and killed at least, before its guard is.
const ROUNDS: usize = 256;
/// How long they are listed and killed at least. Ends the wait for one that the kernel does not let go.
const PATIENCE: Duration = Duration::from_secs(2);

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), StartError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| broken(error.into()))
}

fn broken(source: io::Error) -> StartError {
    failed("pipe", source)
}

fn failed(step: &'static str, source: io::Error) -> StartError {
    StartError::System { step, source }
}

/// Prepares what is run: between clone and exec no memory can be allocated.
fn image(
    command: &Command,
    directory: &Path,
    temporary: Option<&Path>,
    proxy: Vec<(&'static str, String)>,
) -> Result<Image, StartError> {
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| StartError::Invalid);
    let mut environment = Vec::with_capacity(command.environment.len());
    // The host's own variables replace those of the command: with two of one name, programs differ in which they take.
    let mut set: Vec<(OsString, OsString)> = Vec::new();
    set.extend(temporary.map(|folder| (TEMPORARY.into(), folder.into())));
    set.extend(proxy.into_iter().map(|(name, value)| (name.into(), value.into())));
    let kept = command.environment.iter().filter(|(name, _)| !set.iter().any(|(other, _)| other == name));
    for (name, value) in kept.chain(&set) {
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            return Err(StartError::Invalid);
        }
        let variable = [name.as_bytes(), b"=", value.as_bytes()].concat();
        environment.push(text(&OsString::from_vec(variable))?);
    }
    let mut argv = vec![text(&command.program)?];
    for argument in &command.arguments {
        argv.push(text(argument)?);
    }
    let files = match command.program.as_bytes() {
        [] => return Err(StartError::NotFound),
        program if program.contains(&b'/') => vec![text(&command.program)?],
        _ => {
            let path = command.environment.iter().rev().find(|(name, _)| name == "PATH");
            let path = path.map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value.as_os_str());
            let folders = path.as_bytes().split(|byte| *byte == b':');
            // An empty entry is the current folder, as in POSIX.
            let file = |folder: &[u8]| Path::new(OsStr::from_bytes(folder)).join(&command.program);
            folders.map(|folder| text(file(folder).as_os_str())).collect::<Result<_, _>>()?
        }
    };
    Ok(Image::new(files, argv, environment, text(directory.as_os_str())?))
}

#[cfg(test)]
mod tests;

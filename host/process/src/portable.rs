//! Starts and ends programs on other systems than Linux: in a process group of their own, on macOS within its sandbox.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::watch;

use crate::terminal::Opened;
use crate::{
    Changed, Command, Confinement, Ended, Forwarded, Input, Layer, Missing, Moved, MovedTo, Network, StartError,
    Terminal, Wall,
};

/// The program that runs others within macOS's sandbox.
const SANDBOX: &str = "/usr/bin/sandbox-exec";

/// Why there are no layers here.
const NO_LAYERS: &str = "only Linux has the file system for that";

/// Returns an error: there are no layers here.
///
/// # Errors
///
/// Always.
pub fn changed(_layer: &Layer) -> io::Result<Vec<Changed>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, NO_LAYERS))
}

/// Returns an error: there are no layers here.
///
/// # Errors
///
/// Always.
pub fn clear_layer(_layer: &Layer) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, NO_LAYERS))
}

/// Removes a file or a folder with all that is in it. Follows no link but those in the folders above it. It is no error
/// if there is nothing.
///
/// # Errors
///
/// If something cannot be removed.
pub fn remove_tree(path: &std::path::Path) -> io::Result<()> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Moves aside what is at a path beneath a folder, whose last name is not followed. `None` if nothing is there.
pub fn move_aside(folder: &std::path::Path, beneath: &std::path::Path) -> Option<Moved> {
    let from = folder.join(beneath);
    std::fs::symlink_metadata(&from).ok()?;
    let free = (1..=64).map(|number| from.with_added_extension(format!("moved-{number}")));
    let to = match free.into_iter().find(|to| std::fs::symlink_metadata(to).is_err()) {
        Some(to) => std::fs::rename(&from, &to).map(|()| MovedTo::Aside(to)),
        None => remove_tree(&from).map(|()| MovedTo::Removed),
    };
    Some(Moved { from, to: to.unwrap_or_else(MovedTo::Left) })
}

/// A running program, with its process group. Dropping it ends all of it.
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
    child: tokio::process::Child,
    group: Option<Pid>,
}

/// Starts a program. With a confinement, it gets every wall of this machine's [`level`]; without one it runs with all
/// the rights of the user. A confined program reaches no server: there is no network of its own here.
///
/// # Errors
///
/// If it cannot be started.
pub fn start(
    command: &Command,
    confinement: Option<&Confinement>,
    _network: Option<Network>,
) -> Result<Process, StartError> {
    // A program that expects its changes apart must not write them into the place itself.
    if let Some(layer) = confinement.and_then(|confinement| confinement.layers.first()) {
        let why = NO_LAYERS.to_owned();
        return Err(StartError::NoLayers { place: layer.place.clone(), why });
    }
    if let Some(path) = confinement.and_then(|confinement| confinement.hidden.first()).filter(|_| !level().is_whole()) {
        return Err(StartError::NotHidden { path: path.clone() });
    }
    let confined = confinement.filter(|_| level().is_whole()).map(crate::seatbelt::profile);
    let mut builder = match &confined {
        Some(profile) => {
            // By its absolute path: a program of the workspace with this name could stand in front in `PATH`.
            let mut builder = std::process::Command::new(SANDBOX);
            builder.arg("-p").arg(profile).arg(&command.program);
            builder
        }
        None => std::process::Command::new(&command.program),
    };
    let Streams { input, output, errors, terminal } = Streams::new(command.input, &mut builder)?;
    builder
        .args(&command.arguments)
        .current_dir(&command.directory)
        // The host has keys in its environment.
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)));
    let mut builder = tokio::process::Command::from(builder);
    let child = builder.kill_on_drop(true).spawn().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => StartError::NotFound,
        io::ErrorKind::InvalidInput => StartError::Invalid,
        _ => StartError::System { step: "exec", source },
    })?;
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    Ok(Process { input, output, errors, terminal, child, group })
}

/// The host's ends of a program's streams.
struct Streams {
    input: Option<Sender>,
    output: Option<Receiver>,
    errors: Option<Receiver>,
    terminal: Option<Terminal>,
}

impl Streams {
    /// Makes them, and gives the program its ends and a group or session of its own: the only thing that holds what it
    /// starts together here; a program can leave it.
    fn new(input: Input, builder: &mut std::process::Command) -> Result<Self, StartError> {
        let system = |step| move |source| StartError::System { step, source };
        let (stdin, input) = match input {
            Input::Empty => (Stdio::null(), None),
            Input::Pipe => {
                let (stdin, input) = pipe()?;
                (Stdio::from(stdin), Some(Sender::from_owned_fd(input).map_err(system("pipe"))?))
            }
            Input::Terminal(size) => {
                let Opened { ours, theirs, path: _ } = Terminal::open(size).map_err(system("the terminal"))?;
                let again = || theirs.try_clone().map(Stdio::from).map_err(system("the terminal"));
                builder.stdin(again()?).stdout(again()?).stderr(again()?);
                // SAFETY: both are system calls that may be made between fork and exec; the descriptor is open until
                // then.
                unsafe {
                    builder.pre_exec(move || {
                        rustix::process::setsid()?;
                        Ok(rustix::process::ioctl_tiocsctty(&theirs)?)
                    });
                }
                return Ok(Self { input: None, output: None, errors: None, terminal: Some(ours) });
            }
        };
        let (output, stdout) = pipe()?;
        let (errors, stderr) = pipe()?;
        builder.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        let ours = |end| Receiver::from_owned_fd(end).map(Some).map_err(system("pipe"));
        Ok(Self { input, output: ours(output)?, errors: ours(errors)?, terminal: None })
    }
}

/// Starts a program as [`start`] does: there are no networks of sessions here.
///
/// # Errors
///
/// If it cannot be started.
pub fn start_in(
    _session: &SessionNetwork,
    command: &Command,
    confinement: Option<&Confinement>,
    network: Option<Network>,
) -> Result<Process, StartError> {
    start(command, confinement, network)
}

/// The network of a session, which only Linux has: a confined program reaches nothing here.
#[derive(Debug, Default)]
pub struct SessionNetwork(watch::Sender<Vec<Forwarded>>);

impl SessionNetwork {
    /// Returns nothing.
    pub fn forwarded(&self) -> Vec<Forwarded> {
        Vec::new()
    }

    /// Returns what is told of no change.
    pub fn changes(&self) -> watch::Receiver<Vec<Forwarded>> {
        self.0.subscribe()
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), StartError> {
    let ends = rustix::pipe::pipe().map_err(io::Error::from).and_then(|(read, write)| {
        for end in [&read, &write] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok((read, write))
    });
    ends.map_err(|source| StartError::System { step: "pipe", source })
}

impl Process {
    /// Waits until the program itself has ended; what it started may still run.
    pub async fn wait(&mut self) -> Ended {
        match self.child.wait().await {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Ended::Code(code),
                (None, signal) => Ended::Signal(signal.unwrap_or_default()),
            },
            Err(_) => Ended::Signal(Signal::KILL.as_raw()),
        }
    }

    /// Returns nothing: only Linux lists processes.
    pub fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Asks all of them to end.
    pub fn terminate(&self) {
        if let Some(group) = self.group {
            kill_process_group(group, Signal::TERM).ok();
        }
    }

    /// Returns nothing: Seatbelt protects places where nothing is, too.
    pub fn moved(&self) -> &[Moved] {
        &[]
    }

    /// Ends all of them.
    pub fn end(&mut self) {
        if let Some(group) = self.group.take() {
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// What this machine can do to confine a program.
#[derive(Debug)]
pub struct Level {
    has_sandbox: bool,
}

/// Returns what this machine can do.
pub fn level() -> &'static Level {
    static LEVEL: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
    LEVEL.get_or_init(|| Level { has_sandbox: cfg!(target_os = "macos") && std::fs::exists(SANDBOX).unwrap_or(false) })
}

impl Level {
    /// Whether no wall is missing.
    pub fn is_whole(&self) -> bool {
        self.has_sandbox
    }

    /// Whether a program can get a network of its own: not here.
    pub fn has_networks(&self) -> bool {
        false
    }

    /// Whether what a program changes can be kept apart ([`Layer`]): not here.
    pub fn has_layers(&self) -> bool {
        false
    }

    /// Returns why it cannot be, as a sentence without a full stop.
    pub fn no_layers(&self) -> Option<String> {
        Some(NO_LAYERS.to_owned())
    }

    /// Returns the walls that are missing.
    pub fn missing(&self) -> Vec<Missing> {
        if self.has_sandbox {
            return Vec::new();
        }
        let why = "this system has no sandbox that `host` uses".to_owned();
        [Wall::Files, Wall::Mounts, Wall::Network, Wall::Processes, Wall::Calls]
            .map(|wall| Missing { wall, why: why.clone(), help: None, is_covered: false })
            .to_vec()
    }
}

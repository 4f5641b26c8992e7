//! Starting the binary in a place of its own, and what its process cost.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host_tests::pty::Pty;

use crate::wire::Wire;

/// Files of the repository besides `README.md`.
pub(crate) const FILES: usize = 100;

/// The first argument with which this program runs the command behind it and prints its peak.
pub(crate) const PEAK_OF: &str = "peak-of";

/// A repository to work in, and folders for what the host keeps. Gone when it is dropped.
pub(crate) struct Place {
    host: PathBuf,
    port: u16,
    folder: tempfile::TempDir,
}

/// A process that has ended well.
pub(crate) struct Ended {
    /// Just before it was started.
    pub(crate) started: Instant,
    /// From then to its end.
    pub(crate) wall: Duration,
    /// The processor time of all its threads, in user mode and in the kernel.
    pub(crate) processor: Duration,
    /// Bytes on its standard output.
    pub(crate) printed: u64,
}

impl Place {
    pub(crate) fn new(host: PathBuf, port: u16) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir_all(folder.path().join("repository/.git"))?;
        fs::write(folder.path().join("repository/README.md"), "# A repository\n\nIt is small.\n".repeat(20))?;
        for number in 0..FILES {
            let text = format!("What the file {number} has to say.\n").repeat(50);
            fs::write(folder.path().join("repository").join(Self::file(number)), text)?;
        }
        Ok(Self { host, port, folder })
    }

    /// The name of one of its [`FILES`].
    pub(crate) fn file(number: usize) -> String {
        format!("file_{number}.txt")
    }

    /// Runs the host on a task on a terminal until it ends; returns the processor time that it took.
    pub(crate) fn run_drawn(&self) -> io::Result<Duration> {
        let before = children_time()?;
        let mut command = self.command(&["run", "--model", Wire::Chat.model(), "Answer."]);
        command.env("TERM", "xterm-256color");
        let mut pty = Pty::start(command, 80, 24);
        match pty.ends() {
            Some(0) => Ok(children_time()?.saturating_sub(before)),
            code => Err(io::Error::other(format!("the host ended with {code:?}: {}", pty.everything()))),
        }
    }

    /// The host with these arguments, in this place.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&self.host);
        command.args(arguments);
        command
    }

    /// A program in this place.
    fn program(&self, path: &Path) -> Command {
        let mut command = Command::new(path);
        command
            .current_dir(self.folder.path().join("repository"))
            .env_clear()
            .env("HOME", self.folder.path())
            .envs(Wire::ALL.map(|wire| (wire.variable(), format!("http://127.0.0.1:{}", self.port))));
        command
    }

    /// Returns the most memory that a run on a task held at once, in bytes.
    ///
    /// The peak that the system counts for a process is at least that of the one that started it, and this one holds
    /// long answers. So another one starts the run: this program with [`PEAK_OF`].
    pub(crate) fn peak_memory(&self, wire: Wire) -> io::Result<u64> {
        let mut command = self.program(&std::env::current_exe()?);
        command.arg(PEAK_OF).arg(&self.host).args(["run", "--model", wire.model(), "Answer."]);
        let output = command.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        said.trim().parse().map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// Runs the host on a task until it ends, with a model of this wire format.
    pub(crate) fn run(&self, wire: Wire) -> io::Result<Ended> {
        let (stdout, stderr) = (self.folder.path().join("stdout"), self.folder.path().join("stderr"));
        let mut command = self.command(&["run", "--model", wire.model(), "Answer."]);
        command
            .stdin(Stdio::null())
            // A file takes everything at once, so nobody has to read along.
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?);
        let started = Instant::now();
        let child = command.spawn()?;
        let (status, usage) = wait(child.id())?;
        let wall = started.elapsed();
        if status != 0 {
            let said = fs::read_to_string(&stderr)?;
            return Err(io::Error::other(format!("the host ended with wait status {status}: {}", said.trim_end())));
        }
        Ok(Ended { started, wall, processor: processor_time(&usage), printed: fs::metadata(&stdout)?.len() })
    }
}

/// Runs a command, and returns the most memory that it held at once, in bytes.
pub(crate) fn peak_of(command: &[String]) -> io::Result<u64> {
    let [program, arguments @ ..] = command else { return Err(io::Error::other("there is no command")) };
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    match wait(child.id())? {
        (0, usage) => Ok(peak_memory(&usage)),
        (status, _) => Err(io::Error::other(format!("`{program}` ended with wait status {status}"))),
    }
}

/// Waits for a child, and asks what it used; the standard library does only the first.
fn wait(child: u32) -> io::Result<(i32, libc::rusage)> {
    let child = libc::pid_t::try_from(child).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which zero is a value.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    loop {
        // SAFETY: both pointers are to variables that live longer than the call.
        if unsafe { libc::wait4(child, &raw mut status, 0, &raw mut usage) } == child {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Returns the processor time of all children that were waited for.
fn children_time() -> io::Result<Duration> {
    // SAFETY: `rusage` is plain numbers, for which zero is a value.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: the pointer is to a variable that lives longer than the call.
    if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(processor_time(&usage))
}

fn processor_time(usage: &libc::rusage) -> Duration {
    let time = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// In bytes: macOS counts in them, the others in KiB.
fn peak_memory(usage: &libc::rusage) -> u64 {
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit
}

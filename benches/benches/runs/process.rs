//! Starting the binary in a place of its own, and what its process cost.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host_tests::pty::Pty;

use crate::wire::Wire;

/// Files of the repository besides `README.md`.
pub(crate) const FILES: usize = 100;

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
    /// The most memory that it held at once, in bytes.
    pub(crate) peak_memory: u64,
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
        let mut command = Command::new(&self.host);
        command
            .args(arguments)
            .current_dir(self.folder.path().join("repository"))
            .env_clear()
            .env("HOME", self.folder.path())
            .envs(Wire::ALL.map(|wire| (wire.variable(), format!("http://127.0.0.1:{}", self.port))));
        command
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
        let (processor, peak_memory) = (processor_time(&usage), peak_memory(&usage));
        Ok(Ended { started, wall, processor, peak_memory, printed: fs::metadata(&stdout)?.len() })
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

//! What the guard and the program do between clone and exec.
//!
//! The host has several threads, of which the clone has one: a lock that another held stays locked for ever. So nothing
//! here allocates, frees, formats or panics; it makes system calls on memory that was prepared before, and ends with
//! `_exit`. Each failure is reported to the host as its step and the system's error.
//!
//! The guard has a copy of the host's memory. The program shares that copy until it runs, while the guard waits.

use std::convert::Infallible;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_ulong, c_void};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::ptr;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::descriptors::{KeptDescriptors, close_from, close_on_exec};
use super::door;
use super::join;
use super::step::{Failed, Step, check, errno};
use super::walls::Walls;

/// What the guard reports when the program has ended.
pub(super) struct Report {
    /// The status of the program, as `wait` returns it.
    pub(super) status: i32,
    /// Whether a process that it started still runs.
    pub(super) left: bool,
}

impl Report {
    pub(super) const SIZE: usize = size_of::<i32>() + 1;

    pub(super) fn from_bytes([status @ .., left]: [u8; Self::SIZE]) -> Self {
        Self { status: i32::from_ne_bytes(status), left: left != 0 }
    }

    fn bytes(&self) -> [u8; Self::SIZE] {
        let [a, b, c, d] = self.status.to_ne_bytes();
        [a, b, c, d, u8::from(self.left)]
    }
}

/// What is run, as `execve` takes it.
pub(super) struct Image {
    /// The files to try, in this order.
    files: Vec<CString>,
    directory: CString,
    /// Pointers into `_argv` and a null.
    argv: Vec<*const c_char>,
    /// The same for a script without `#!`, as `execvp` runs it: `/bin/sh FILE ARGUMENTS…`. The file is filled in.
    script: Vec<*const c_char>,
    /// Pointers into `_environment` and a null.
    environment: Vec<*const c_char>,
    _argv: Vec<CString>,
    _environment: Vec<CString>,
}

const SHELL: &CStr = c"/bin/sh";

impl Image {
    /// `argv` has at least the program's name.
    pub(super) fn new(files: Vec<CString>, argv: Vec<CString>, environment: Vec<CString>, directory: CString) -> Self {
        let pointers = |words: &[CString]| words.iter().map(|word| word.as_ptr()).collect::<Vec<_>>();
        let null = || [ptr::null()];
        let script = [SHELL.as_ptr(), ptr::null()].into_iter();
        Self {
            files,
            directory,
            script: script.chain(argv.iter().skip(1).map(|word| word.as_ptr())).chain(null()).collect(),
            argv: pointers(&argv).into_iter().chain(null()).collect(),
            environment: pointers(&environment).into_iter().chain(null()).collect(),
            _argv: argv,
            _environment: environment,
        }
    }
}

/// The descriptors that are used before exec; none of them is 0, 1 or 2 unless the host was started without.
#[derive(Clone, Copy)]
pub(super) struct Streams {
    pub(super) stdin: c_int,
    pub(super) stdout: c_int,
    pub(super) stderr: c_int,
    /// Where the guard reports how the program ended.
    pub(super) report: c_int,
    /// Whether the first three are a terminal of the program's own.
    pub(super) are_terminal: bool,
}

/// The stack of a program until it runs, in bytes: what is done there is not deep.
const STACK: usize = 256 << 10;

/// The guard at its end, which faults when it is touched, in bytes: a page of any machine.
const STACK_END: usize = 64 << 10;

/// What a clone does.
pub(super) struct Plan<'a> {
    /// What is run; `None` if only the walls are tried.
    pub(super) image: Option<(&'a Image, Streams)>,
    pub(super) walls: Option<&'a Walls>,
    /// Where the guard hands over the listener of the proxy; `None` without one.
    pub(super) door: Option<c_int>,
}

impl Plan<'_> {
    /// Clones the guard, which starts the program. Returns in the host, when the program runs, or nothing of it is
    /// left.
    pub(super) fn start(&self) -> Result<Pid, Failed> {
        let pipe = pipe_with(PipeFlags::CLOEXEC);
        let (failed_in, failed_out) = pipe.map_err(|error| Failed { step: Step::Clone, error: error.into() })?;
        // Both ends of the pipe close at exec, so a pipe that ends without a message is the proof that the program
        // runs.
        let guard = self.clone_guard(failed_out.as_raw_fd())?;
        // Our own copy would keep the pipe open, and the read below would wait for ever.
        drop(failed_out);
        let mut message = [0; Failed::SIZE];
        match File::from(failed_in).read_exact(&mut message) {
            // The last of its writers is gone without a word: the program runs.
            Err(_) => Ok(guard),
            Ok(()) => {
                // The caller gets an error and no id, so nobody else could end what has begun.
                end(guard);
                Err(Failed::from_bytes(message))
            }
        }
    }

    fn clone_guard(&self, failed: c_int) -> Result<Pid, Failed> {
        let kept = self.kept(failed);
        let flags = self.walls.as_ref().map_or(0, |walls| walls.namespaces);
        let host = rustix::process::getpid().as_raw_pid();
        let not_cloned = |error| Failed { step: Step::Clone, error };
        match self.walls.and_then(Walls::joins_users) {
            Some((joins, users)) => {
                let _blocked = Blocked::all().map_err(not_cloned)?;
                join::cloned(joins, users, flags, &kept, || self.guard(failed, host))
            }
            None => cloned(flags, &kept, || self.guard(failed, host)).map_err(not_cloned),
        }
    }

    fn has_terminal(&self) -> bool {
        self.image.is_some_and(|(_, streams)| streams.are_terminal)
    }

    /// Returns the descriptors that the guard and the program use.
    fn kept(&self, failed: c_int) -> KeptDescriptors {
        let streams = self.image.iter().flat_map(|(_, streams)| {
            let Streams { stdin, stdout, stderr, report, are_terminal: _ } = *streams;
            [stdin, stdout, stderr, report]
        });
        let walls = self.walls.into_iter().flat_map(Walls::descriptors);
        KeptDescriptors::new([failed].into_iter().chain(streams).chain(self.door).chain(walls))
    }

    /// What the guard does. Runs between clone and exec.
    fn guard(&self, failed: c_int, host: c_int) -> ! {
        // In a PID namespace the end of the guard is that of all. Elsewhere it lives on to end them.
        let host = (self.walls.map_or(0, |walls| walls.namespaces) == 0).then_some(host);
        if let Err((step, error)) = self.prepare(host) {
            fail(failed, step, error);
        }
        match self.clone_program(failed) {
            Ok(program) => watch(program.into(), self.image.map(|(_, streams)| streams.report), host),
            Err(error) => fail(failed, Step::Fork, error),
        }
    }

    /// Clones the program, which shares the memory of the guard until it runs; the guard waits for that. The tables of
    /// the host's memory were copied for the guard, and would be once more for the program, which needs none of it.
    fn clone_program(&self, failed: c_int) -> Result<c_int, i32> {
        /// What the clone does, for [`run_program`].
        struct Start<'a, 'b> {
            plan: &'a Plan<'b>,
            failed: c_int,
        }
        extern "C" fn run_program(start: *mut c_void) -> c_int {
            // SAFETY: it is what is handed over below, and there until the guard goes on.
            let Start { plan, failed } = unsafe { &*start.cast::<Start<'_, '_>>() };
            match plan.program() {
                // SAFETY: it runs nothing of the host's.
                Ok(()) => unsafe { libc::_exit(0) },
                Err((step, error)) => fail(*failed, step, error),
            }
        }
        let mut start = Start { plan: self, failed };
        // SAFETY: the stack is new, with a page below that nobody may touch. The clone has it alone, and a table of
        // descriptors, signals and credentials of its own. What it writes to the shared memory is its stack, `errno`,
        // and the script of the image, and the guard reads none of these later: with `CLONE_VFORK` it waits until the
        // clone has another memory, or is gone.
        unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let stack = libc::mmap(ptr::null_mut(), STACK, access, kind | libc::MAP_STACK, -1, 0);
            if stack == libc::MAP_FAILED {
                return Err(errno());
            }
            // A stack that overflows must fault here and not write into memory that the guard uses.
            check(libc::mprotect(stack, STACK_END, libc::PROT_NONE).into())?;
            // Without `CLONE_VFORK` both would run on one memory at once, and the guard would read what the program
            // changes.
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            let program = libc::clone(run_program, stack.byte_add(STACK), flags, (&raw mut start).cast());
            if program < 0 { Err(errno()) } else { Ok(program) }
        }
    }

    /// The steps of the guard: the surroundings that it shares with the program. `host` is the host if the guard is to
    /// end what is beneath it once the host is gone.
    fn prepare(&self, host: Option<c_int>) -> Result<(), (Step, i32)> {
        // SAFETY: system calls without pointers.
        unsafe {
            // If the host is killed, nothing else would end the guard, and with it the program.
            let signal = if host.is_some() { HOST_IS_GONE } else { libc::SIGKILL };
            check(libc::prctl(libc::PR_SET_PDEATHSIG, signal).into()).map_err(|error| (Step::Guard, error))?;
            // The host may have ended before the line above asked for the signal, which then never comes.
            if host.is_some_and(|host| libc::getppid() != host) {
                libc::_exit(126);
            }
            // Makes the guard the parent of orphans, so a double fork does not lead away from it.
            check(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1).into()).map_err(|error| (Step::Guard, error))?;
            // A terminal's Ctrl-C goes to the host alone, which decides what ends.
            check(libc::setsid().into()).map_err(|error| (Step::Guard, error))?;
        }
        if let Some(walls) = self.walls {
            walls.surround()?;
        }
        match self.door {
            Some(inside) => door::open(inside).map_err(|error| (Step::Proxy, error)),
            None => Ok(()),
        }
    }

    /// The steps of the program. Returns only if one failed, or there is nothing to run.
    fn program(&self) -> Result<(), (Step, i32)> {
        // SAFETY: system calls without pointers.
        unsafe {
            // Asked for again: a clone does not inherit it, and without it the program survives a guard that is killed.
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into()).map_err(|error| (Step::Guard, error))?;
            // A script that signals its group must not reach its guard. A controlling terminal belongs to the one that
            // leads a session, and the guard leads one of its own.
            let apart =
                if self.has_terminal() { check(libc::setsid().into()) } else { check(libc::setpgid(0, 0).into()) };
            apart.map_err(|error| (Step::Guard, error))?;
        }
        if let Some((image, streams)) = self.image {
            let Streams { stdin, stdout, stderr, .. } = streams;
            for (from, to) in [(stdin, 0), (stdout, 1), (stderr, 2)] {
                // SAFETY: a system call without pointers.
                check(unsafe { libc::dup2(from, to) }.into()).map_err(|error| (Step::Streams, error))?;
            }
            if streams.are_terminal {
                // Ctrl-C and the like reach what runs in it, and `/dev/tty` is this one.
                // SAFETY: a system call without pointers; the type of the number is another with each C library.
                let taken = unsafe { libc::ioctl(0, libc::TIOCSCTTY as libc::Ioctl, 0) };
                check(taken.into()).map_err(|error| (Step::Terminal, error))?;
            }
            // SAFETY: the path ends with NUL.
            check(unsafe { libc::chdir(image.directory.as_ptr()) }.into()).map_err(|error| (Step::Directory, error))?;
        }
        if let Some(walls) = self.walls {
            // The last thing that needs rights: from here on only calls that the filters allow are made.
            walls.confine()?;
        }
        // What the host has open without close-on-exec would be a way around every wall.
        close_on_exec().map_err(|error| (Step::Streams, error))?;
        // Ignored signals survive exec, and Rust's runtime ignores SIGPIPE: a program in a pipe would report an error
        // where it should end.
        usual_signals();
        match self.image {
            Some((image, _)) => Err((Step::Exec, image.exec())),
            None => Ok(()),
        }
    }
}

impl Image {
    /// Runs the first of the files that can be run, as `execvp` does; returns why there is none.
    fn exec(&self) -> i32 {
        // As in glibc: a file that may not be run is reported only if no later folder has one that may.
        let mut worst = libc::ENOENT;
        let environment = self.environment.as_ptr();
        for file in &self.files {
            // SAFETY: all pointers lead to strings that end with NUL, in arrays that end with null.
            unsafe { libc::execve(file.as_ptr(), self.argv.as_ptr(), environment) };
            match errno() {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => worst = libc::EACCES,
                // POSIX: a file that the kernel cannot run is a script for the shell.
                libc::ENOEXEC => {
                    let script = self.script.as_ptr().cast_mut();
                    // SAFETY: `script` has at least two entries, and this process, which has one thread, is the only
                    // one that sees this copy.
                    unsafe {
                        *script.add(1) = file.as_ptr();
                        libc::execve(SHELL.as_ptr(), script, environment);
                    }
                    return errno();
                }
                other => return other,
            }
        }
        worst
    }
}

const SIGCHLD: u32 = libc::SIGCHLD.unsigned_abs();

/// Clones a process in new namespaces, which does this and nothing else, with these descriptors.
pub(super) fn cloned(namespaces: u32, kept: &KeptDescriptors, child: impl FnOnce() -> Infallible) -> io::Result<Pid> {
    // A signal in the child before it has its own handlers would run the host's, on a copy of its locks.
    let blocked = Blocked::all()?;
    // SAFETY: a clone without `CLONE_VM` is a fork: the child has a copy of this thread's memory. It does what the head
    // of this file says, and never returns.
    let pid = unsafe { libc::syscall(libc::SYS_clone, c_ulong::from(namespaces | SIGCHLD), 0, 0, 0, 0) };
    if pid == 0 {
        kept.close_others();
        child();
    }
    let error = (pid < 0).then(io::Error::last_os_error);
    drop(blocked);
    match error {
        Some(error) => Err(error),
        None => i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::from_raw_os_error(libc::EIO)),
    }
}

/// Ends a guard, and in a PID namespace all of its processes.
pub(super) fn end(guard: Pid) {
    kill_process(guard, Signal::KILL).ok();
    // It was killed, so this ends at once; only its parent can reap it.
    while matches!(waitpid(Some(guard), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
}

/// Reports a failed step, and ends this process.
fn fail(failed: c_int, step: Step, error: i32) -> ! {
    let message = Failed::bytes(step, error);
    // SAFETY: the buffer is as long as said; `_exit` runs nothing of the host's.
    unsafe {
        libc::write(failed, message.as_ptr().cast::<c_void>(), message.len());
        libc::_exit(126)
    }
}

/// The signal that a guard without a PID namespace gets when the host is gone. Like all signals it is blocked, and
/// waits until it is looked at.
const HOST_IS_GONE: c_int = libc::SIGTERM;

/// Waits for the program, reports how it ended, and ends if nothing of it is left; else waits for the rest until the
/// host ends this process. With `host`, ends all that is left once that process is gone.
fn watch(program: c_long, report: Option<c_int>, host: Option<c_int>) -> ! {
    // SAFETY: system calls on memory of this process.
    unsafe {
        // Whoever waits for the end of the program's output, or for its start, must not wait for the guard.
        // Without a report nothing may be written either: the standard input can be a socket, whose other end would
        // read it.
        match report {
            Some(report) => libc::dup2(report, 0),
            None => libc::close(0),
        };
        // Its own copies of the program's pipes too; their readers would never see an end.
        close_from(1);
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGCHLD);
        if host.is_some() {
            // Taken by `sigwaitinfo` and by no handler: it would run on a copy of the host's memory.
            libc::sigaddset(&raw mut signals, HOST_IS_GONE);
        }
        // Reaps before it waits: one signal can stand for several children, which the kernel merges.
        loop {
            let mut status = 0;
            let ended = libc::waitpid(-1, &raw mut status, libc::WNOHANG);
            if c_long::from(ended) == program {
                // Whatever is left is a child of this process, or beneath one; those that have ended are reaped here.
                let next = loop {
                    let mut other = 0;
                    // 0 means that children still run; an error that there are none, so the host has nothing to list
                    // and kill.
                    match libc::waitpid(-1, &raw mut other, libc::WNOHANG) {
                        ended if ended > 0 => {}
                        next => break next,
                    }
                };
                let message = Report { status, left: next == 0 }.bytes();
                // The host may be gone, or not read: a failed write changes nothing here.
                libc::write(0, message.as_ptr().cast::<c_void>(), message.len());
                // With nothing to list and to end, it begins to end while the host still reads that.
                if next < 0 {
                    libc::_exit(0);
                }
            } else if ended <= 0 {
                // A program can send the signal too, which changes nothing while the host is there.
                if host.is_some_and(|host| libc::getppid() != host) {
                    end_family(program);
                }
                libc::sigwaitinfo(&raw const signals, ptr::null_mut());
            }
        }
    }
}

/// Ends everything beneath this process, and then this process. Children that end hand theirs to this process, which is
/// their subreaper, so that each round finds those that the one before has left.
unsafe fn end_family(program: c_long) -> ! {
    // SAFETY: system calls on memory of this process.
    unsafe {
        // Where the system lists no children (it was built without that), the group of the program at least.
        if let Ok(group) = c_int::try_from(program) {
            // The group first: it also has what the program started and no list shows.
            libc::kill(-group, libc::SIGKILL);
            libc::kill(group, libc::SIGKILL);
        }
        // A fixed buffer: nothing can be allocated here. What does not fit is found in the next round.
        let mut listed = [0_u8; CHILDREN];
        loop {
            // Read again in each round: children of what was killed have become this process's own meanwhile.
            let file = libc::open(OWN_CHILDREN.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            let length = libc::read(file, listed.as_mut_ptr().cast::<c_void>(), listed.len());
            libc::close(file);
            let mut child: c_int = 0;
            for byte in listed.iter().take(usize::try_from(length).unwrap_or(0)) {
                match byte {
                    b'0'..=b'9' => child = child.wrapping_mul(10).wrapping_add(c_int::from(byte - b'0')),
                    _ if child > 0 => {
                        libc::kill(child, libc::SIGKILL);
                        child = 0;
                    }
                    _ => {}
                }
            }
            // One of those that were killed; none is left when there is nothing to wait for.
            if libc::waitpid(-1, ptr::null_mut(), 0) < 0 && errno() != libc::EINTR {
                libc::_exit(0);
            }
        }
    }
}

/// The children of this process, which has one thread: their ids, each with a blank behind it.
const OWN_CHILDREN: &CStr = c"/proc/thread-self/children";

/// How much of that list is read at once, in bytes. What is behind it is found in a later round.
const CHILDREN: usize = 4096;

/// Gives all signals their usual effect, and unblocks them: the host ignores some, and its threads block others.
fn usual_signals() {
    /// The size of the kernel's set of signals, in bytes.
    const SET: usize = 8;
    // The kernel's structure in its default state, on each architecture: no handler, no flags, an empty mask. The C
    // library's function leaves out the signals that it uses itself.
    let usual = [0_u64; 8];
    // SAFETY: the structures are at least as long as the kernel's, and live as long as the calls.
    unsafe {
        for signal in 1..=64 {
            libc::syscall(libc::SYS_rt_sigaction, signal, &raw const usual, ptr::null::<u8>(), SET);
        }
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const usual, ptr::null::<u8>(), SET);
    }
}

/// All signals of this thread, blocked until it is dropped: a handler of the host must not run in a clone, where it
/// would write to the host's descriptors.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn all() -> io::Result<Self> {
        // SAFETY: the sets are initialised by the calls.
        unsafe {
            let (mut all, mut before) = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            match libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) {
                0 => Ok(Self(before)),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set is the one that was replaced.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

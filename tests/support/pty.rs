//! A program on a terminal of its own, and what a person sees there.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, ioctl_tiocsctty, kill_process, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// How long a test waits for something to be seen. A machine that is busy with other things is slow.
const LIMIT: Duration = Duration::from_secs(120);

/// A program and its terminal, whose rows that scrolled away are kept.
pub struct Pty {
    master: File,
    /// Held, so that the terminal is there until its modes were looked at.
    terminal: OwnedFd,
    child: Child,
    screen: vt100::Parser,
    written: Vec<u8>,
}

impl Pty {
    /// Starts a program on a terminal of this size.
    pub fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let terminal = || File::options().read(true).write(true).open(name.to_str().expect("text")).expect("opened");
        let ours = terminal();
        tcsetwinsize(&ours, size(columns, rows)).expect("it has a size");
        command.stdin(terminal()).stdout(terminal()).stderr(terminal());
        // SAFETY: both are system calls that may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                setsid()?;
                Ok(ioctl_tiocsctty(std::io::stdin())?)
            });
        }
        let child = command.spawn().expect("it starts");
        let (columns, rows) = (NonZero::new(columns).expect("a width"), NonZero::new(rows).expect("a height"));
        let screen = vt100::Parser::new(rows, columns, 10_000);
        Self { master: master.into(), terminal: ours.into(), child, screen, written: Vec::new() }
    }

    /// Presses keys.
    pub fn types(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).expect("the terminal takes it");
        self
    }

    /// Presses keys, and returns how long it took until this came, and all that came until then. The screen does not
    /// take part, so that its own time is not measured; it is out of date afterwards.
    #[track_caller]
    pub fn time_to(&mut self, keys: &str, text: &str) -> (Duration, String) {
        let from = self.written.len();
        let began = Instant::now();
        self.types(keys);
        loop {
            // What comes in two pieces is found too, and nothing is searched twice.
            let searched = self.written.len().saturating_sub(text.len()).max(from);
            let mut bytes = vec![0; 64 << 10];
            let count = self.master.read(&mut bytes).unwrap_or_default();
            self.written.extend_from_slice(&bytes[..count]);
            let took = began.elapsed();
            if self.written[searched..].windows(text.len()).any(|window| window == text.as_bytes()) {
                return (took, String::from_utf8_lossy(&self.written[from..]).into_owned());
            }
            assert!(count > 0 && took < LIMIT, "{text} did not come:\n{}", self.written());
        }
    }

    /// Waits until this can be seen.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Self {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until this was seen, whether it has scrolled away since or not.
    #[track_caller]
    pub fn saw(&mut self, text: &str) -> &mut Self {
        let began = Instant::now();
        while !self.everything().contains(text) {
            let goes_on = began.elapsed() < LIMIT && self.read();
            assert!(goes_on || self.everything().contains(text), "{text} was not to be seen:\n{}", self.everything());
        }
        self
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub fn until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) -> &mut Self {
        let began = Instant::now();
        while !is_so(&self.screen()) {
            let goes_on = began.elapsed() < LIMIT && self.read();
            assert!(goes_on || is_so(&self.screen()), "{what} is not to be seen:\n{}", self.everything());
        }
        self
    }

    /// Waits until this holds, the program has ended, or this time is over.
    pub fn settles(&mut self, limit: Duration, mut is_so: impl FnMut(&mut Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) && began.elapsed() < limit && self.read() {}
    }

    /// Takes what was written; false when nobody is left to write.
    fn read(&mut self) -> bool {
        if !self.has_written(Duration::from_millis(50)) {
            let has_ended = self.child.try_wait().expect("it can be waited for").is_some();
            // What it wrote at its end may have come since.
            if !has_ended || !self.has_written(Duration::ZERO) {
                return !has_ended;
            }
        }
        let mut bytes = vec![0; 64 << 10];
        let Ok(count) = self.master.read(&mut bytes) else { return false };
        let bytes = &bytes[..count];
        self.screen.process(bytes);
        self.written.extend_from_slice(bytes);
        true
    }

    /// Waits that long for something to read.
    fn has_written(&self, time: Duration) -> bool {
        let mut waited = [PollFd::from_borrowed_fd(self.master.as_fd(), PollFlags::IN)];
        let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        poll(&mut waited, Some(&time)).ok();
        waited[0].revents().contains(PollFlags::IN)
    }

    /// What can be seen now; rows that the terminal wrapped are one line.
    pub fn screen(&self) -> String {
        self.screen.screen().contents()
    }

    /// The rows as they lie on the screen.
    pub fn rows(&self) -> Vec<String> {
        let (_, columns) = self.screen.screen().size();
        self.screen.screen().rows(0, columns.get()).collect()
    }

    /// The same with what has scrolled away.
    pub fn everything(&mut self) -> String {
        let (_, columns) = self.screen.screen().size();
        let rows = self.all_rows(|screen, row| screen.rows(0, columns.get()).nth(row.into()).unwrap_or_default());
        rows.join("\n").trim_end().to_owned()
    }

    /// Every row from the first that was printed to the last of the screen, each as `read` has it.
    pub fn all_rows<T>(&mut self, read: impl Fn(&vt100::Screen, u16) -> T) -> Vec<T> {
        let screen = self.screen.screen_mut();
        let (height, _) = screen.size();
        screen.set_scrollback(usize::MAX);
        let scrolled = screen.scrollback();
        let mut rows = Vec::new();
        for offset in (1..=scrolled).rev() {
            screen.set_scrollback(offset);
            rows.push(read(screen, 0));
        }
        screen.set_scrollback(0);
        rows.extend((0..height.get()).map(|row| read(screen, row)));
        rows
    }

    /// All bytes that came.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        let (width, height) = (NonZero::new(columns).expect("a width"), NonZero::new(rows).expect("a height"));
        self.screen.screen_mut().set_size(height, width);
        tcsetwinsize(&self.terminal, size(columns, rows)).expect("it has a size");
        self
    }

    /// Sends a signal.
    pub fn signal(&mut self, signal: Signal) -> &mut Self {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
        kill_process(pid, signal).expect("it runs");
        self
    }

    /// The memory of the program that is in use, in bytes.
    pub fn resident_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }

    /// Waits until the program has ended; its exit code. The terminal must be as it was before.
    #[track_caller]
    pub fn ends(&mut self) -> Option<i32> {
        let began = Instant::now();
        while self.read() {
            assert!(began.elapsed() < LIMIT, "it does not end:\n{}", self.everything());
        }
        let modes = tcgetattr(&self.terminal).expect("the terminal is there").local_modes;
        let usual = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        assert!(modes.contains(usual), "the terminal is as it was: {modes:?}");
        assert!(!self.screen.screen().bracketed_paste() && !self.screen.screen().hide_cursor());
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A test that fails leaves nothing running.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

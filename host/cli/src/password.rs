//! A password: from a terminal, where it is not shown, or from a file.
//!
//! Promises: what is typed is not echoed, from before the question can be seen; what was typed before it is dropped;
//! the terminal is as it was afterwards, a cancel included.
//!
//! Deliberately not here: a password in an argument or in the environment, where every process of the user sees it. And
//! the crate `rpassword`, which asks first and turns the echo off then: who types at once is shown on the screen.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use host_files::{Access, Input};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::{counted, visible_line};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};

/// The longest password: minisign takes none that is longer.
const MAX_PASSWORD: usize = 1024;

/// The number of times that a password is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Once: it opens something.
    Once,
    /// Twice: it is a new one, and a slip would lose what it protects.
    Twice,
}

/// The password out of a file's first line, or what a user types.
pub(crate) fn read(what: &str, file: Option<&Path>, ask: Ask, environment: &Environment) -> Result<String, Failure> {
    let password = match file {
        Some(file) => of_file(file)?,
        None if environment.stdin_is_terminal && environment.stderr_is_terminal => typed(what, ask)?,
        None => {
            return Err(Failure::input(format!("cannot ask for the password of {what}: there is no terminal"))
                .help("add --password-file FILE, whose first line is the password"));
        }
    };
    if password.is_empty() {
        return Err(Failure::input(format!("the password of {what} is empty")));
    }
    if password.len() > MAX_PASSWORD {
        return Err(Failure::input(format!("the password of {what} is over the limit of {MAX_PASSWORD} bytes")));
    }
    Ok(password)
}

/// A terminal on which a user types or pastes secrets: from the first question until it is dropped, nothing that is
/// typed is shown, also not between two questions.
pub(crate) struct Secrets(Silent);

impl Secrets {
    pub(crate) fn open() -> Result<Self, Failure> {
        File::options().read(true).write(true).open("/dev/tty").and_then(Silent::new).map(Self).map_err(cannot_ask)
    }

    /// Asks for a secret. What was typed before the question is not an answer.
    pub(crate) fn ask(&self, words: &str) -> Result<String, Failure> {
        self.asks(words, |_| None)
    }

    /// The same, and shows how many characters have arrived: who pastes a long key sees that it is there.
    pub(crate) fn ask_counted(&self, words: &str) -> Result<String, Failure> {
        self.asks(words, |count| {
            Some(if count == 0 { String::new() } else { format!("•••• {}", counted(count, "character")) })
        })
    }

    /// Asks, and shows behind the words what this returns for the number of characters.
    fn asks(&self, words: &str, shown: impl Fn(usize) -> Option<String>) -> Result<String, Failure> {
        let terminal = &self.0.terminal;
        tcflush(terminal, QueueSelector::IFlush).map_err(|error| cannot_ask(error.into()))?;
        (&mut &*terminal).write_all(visible_line(words).as_bytes()).map_err(cannot_ask)?;
        let mut before = 0_usize;
        let mut show = |count: usize| {
            let Some(sign) = shown(count) else { return Ok(()) };
            // Blanks take away what was longer, on every terminal.
            let gap = " ".repeat(before.saturating_sub(sign.chars().count()));
            let back = "\u{8}".repeat(gap.len());
            before = sign.chars().count();
            (&mut &*terminal).write_all(format!("\r{}{sign}{gap}{back}", visible_line(words)).as_bytes())
        };
        let typed = line(terminal, &mut show).map_err(cannot_ask);
        (&mut &*terminal).write_all(b"\n").map_err(cannot_ask)?;
        match typed? {
            Typed::Line(bytes) => String::from_utf8(bytes).map_err(|_| Failure::input("the password is not UTF-8")),
            Typed::Cancelled => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
            Typed::TooLong => Err(Failure::input(format!("the password is over the limit of {MAX_PASSWORD} bytes"))),
        }
    }
}

fn cannot_ask(error: std::io::Error) -> Failure {
    Failure::input(format!("cannot ask on the terminal: {error}"))
        .help("add --password-file FILE, whose first line is the password")
}

fn typed(what: &str, ask: Ask) -> Result<String, Failure> {
    let secrets = Secrets::open()?;
    let password = secrets.ask(&format!("Password of {what}: "))?;
    if ask == Ask::Twice && !password.is_empty() && secrets.ask("Repeat the password: ")? != password {
        return Err(Failure::input("the passwords do not match").help("run the command again"));
    }
    Ok(password)
}

/// A terminal that echoes nothing and hands over each key; dropping it puts back what was there.
struct Silent {
    terminal: File,
    before: Termios,
}

impl Silent {
    fn new(terminal: File) -> std::io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        let mut modes = before.clone();
        modes.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Flush, &modes)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // When that fails the terminal is gone.
        tcsetattr(&self.terminal, OptionalActions::Now, &self.before).ok();
    }
}

/// The result of a question.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Line(Vec<u8>),
    Cancelled,
    TooLong,
}

/// Reads keys up to the end of the line, and shows how many characters there are after each.
fn line(mut keys: impl Read, show: &mut dyn FnMut(usize) -> std::io::Result<()>) -> std::io::Result<Typed> {
    let mut line: Vec<u8> = Vec::new();
    let mut key = [0];
    loop {
        match keys.read(&mut key) {
            Ok(0) => return Ok(Typed::Cancelled),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        match key[0] {
            b'\n' | b'\r' => return Ok(Typed::Line(line)),
            // Ctrl-C, and Ctrl-D on an empty line.
            3 => return Ok(Typed::Cancelled),
            4 if line.is_empty() => return Ok(Typed::Cancelled),
            // Backspace takes a character, which may be several bytes.
            8 | 127 => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            // Ctrl-U takes all.
            21 => line.clear(),
            byte if byte.is_ascii_control() => {}
            byte => line.push(byte),
        }
        if line.len() > MAX_PASSWORD {
            return Ok(Typed::TooLong);
        }
        show(line.iter().filter(|byte| **byte & 0xc0 != 0x80).count())?;
    }
}

fn of_file(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::input(format!("the password file `{}` cannot be read: {error}", path.display()))
    };
    let file = Input::open(path).map_err(|error| failed(error.into()))?;
    let about = file.metadata().map_err(failed)?;
    // A pipe, such as a shell makes for `<(…)`, is not accessible to other users.
    if about.is_file()
        && let Err(how) = host_files::check(&about, Access::ReadOrWrite)
    {
        let path = path.display();
        return Err(Failure::input(format!("the password file `{path}` is not used: {how}"))
            .help(format!("chmod 600 '{path}'")));
    }
    let mut text = String::new();
    // Of a longer file the first line is enough.
    file.take(MAX_PASSWORD as u64 + 3).read_to_string(&mut text).map_err(failed)?;
    let line = text.split('\n').next().unwrap_or_default();
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_its_keys_leave() {
        let text = |text: &str| Typed::Line(text.as_bytes().to_vec());
        for (keys, typed) in [
            ("correct horse\n", text("correct horse")),
            ("ab\r", text("ab")),
            ("\n", text("")),
            ("abc\u{7f}\u{7f}x\n", text("ax")),
            ("a\u{e9}\u{1f600}\u{7f}\u{8}b\n", text("ab")),
            ("\u{7f}a\n", text("a")),
            ("wrong\u{15}right\n", text("right")),
            ("a\u{1a}\u{4}b\n", text("ab")),
            ("ab\u{3}\n", Typed::Cancelled),
            ("\u{4}", Typed::Cancelled),
            ("never ended", Typed::Cancelled),
        ] {
            assert_eq!(line(keys.as_bytes(), &mut |_| Ok(())).expect("read"), typed, "{keys:?}");
        }
        assert_eq!(line("x".repeat(5000).as_bytes(), &mut |_| Ok(())).expect("read"), Typed::TooLong);
        let mut counts = Vec::new();
        let mut show = |count| {
            counts.push(count);
            Ok(())
        };
        assert_eq!(line("aé\u{7f}bc\n".as_bytes(), &mut show).expect("read"), text("abc"));
        assert_eq!(counts, [1, 2, 2, 1, 2, 3]);
    }
}

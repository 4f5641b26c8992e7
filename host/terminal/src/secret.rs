//! A secret that is typed: it is not shown.
//!
//! Promises: what is typed is not echoed, from before the question can be seen; what was typed before it is dropped;
//! the terminal is as it was afterwards, a cancel included.
//!
//! Deliberately not here: the crate `rpassword`, which asks first and turns the echo off then: who types at once is
//! shown on the screen.

use std::fs::File;
use std::io::{Read, Write};

use host_text::{counted, visible_line};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};

/// A terminal on which a user types or pastes secrets: from the first question until it is dropped, nothing that is
/// typed is shown, also not between two questions.
pub struct SecretPrompt {
    terminal: Silent,
    longest: usize,
}

/// The result of a question.
#[derive(Debug, PartialEq, Eq)]
pub enum TypedSecret {
    /// What was typed, without the end of the line.
    Line(Vec<u8>),
    /// The user cancelled, or the terminal is gone.
    Cancelled,
    /// It was longer than it may be.
    TooLong,
}

impl SecretPrompt {
    /// Opens the terminal of this process. A secret has at most so many bytes.
    ///
    /// # Errors
    ///
    /// If there is no terminal, or its modes cannot be set.
    pub fn open(longest: usize) -> std::io::Result<Self> {
        let terminal = File::options().read(true).write(true).open("/dev/tty").and_then(Silent::new)?;
        Ok(Self { terminal, longest })
    }

    /// Asks for a secret. What was typed before the question is not an answer.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be read or written.
    pub fn ask(&self, words: &str) -> std::io::Result<TypedSecret> {
        self.asks(words, |_| None)
    }

    /// The same, and shows how many characters have arrived: who pastes a long key sees that it is there.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be read or written.
    pub fn ask_counted(&self, words: &str) -> std::io::Result<TypedSecret> {
        self.asks(words, |count| {
            Some(if count == 0 { String::new() } else { format!("•••• {}", counted(count, "character")) })
        })
    }

    /// Asks, and shows behind the words what this returns for the number of characters.
    fn asks(&self, words: &str, shown: impl Fn(usize) -> Option<String>) -> std::io::Result<TypedSecret> {
        let terminal = &self.terminal.terminal;
        tcflush(terminal, QueueSelector::IFlush)?;
        (&mut &*terminal).write_all(visible_line(words).as_bytes())?;
        let mut before = 0_usize;
        let mut show = |count: usize| {
            let Some(sign) = shown(count) else { return Ok(()) };
            // Blanks take away what was longer, on every terminal.
            let gap = " ".repeat(before.saturating_sub(sign.chars().count()));
            let back = "\u{8}".repeat(gap.len());
            before = sign.chars().count();
            (&mut &*terminal).write_all(format!("\r{}{sign}{gap}{back}", visible_line(words)).as_bytes())
        };
        let typed = line(terminal, self.longest, &mut show);
        (&mut &*terminal).write_all(b"\n")?;
        typed
    }
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

/// Reads keys up to the end of the line, and shows how many characters there are after each.
fn line(
    mut keys: impl Read,
    longest: usize,
    show: &mut dyn FnMut(usize) -> std::io::Result<()>,
) -> std::io::Result<TypedSecret> {
    let mut line: Vec<u8> = Vec::new();
    let mut key = [0];
    loop {
        match keys.read(&mut key) {
            Ok(0) => return Ok(TypedSecret::Cancelled),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        match key[0] {
            b'\n' | b'\r' => return Ok(TypedSecret::Line(line)),
            // Ctrl-C, and Ctrl-D on an empty line.
            3 => return Ok(TypedSecret::Cancelled),
            4 if line.is_empty() => return Ok(TypedSecret::Cancelled),
            // Backspace takes a character, which may be several bytes.
            8 | 127 => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            // Ctrl-U takes all.
            21 => line.clear(),
            byte if byte.is_ascii_control() => {}
            byte => line.push(byte),
        }
        if line.len() > longest {
            return Ok(TypedSecret::TooLong);
        }
        show(line.iter().filter(|byte| **byte & 0xc0 != 0x80).count())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_line_is_what_its_keys_leave() {
        let text = |text: &str| TypedSecret::Line(text.as_bytes().to_vec());
        for (keys, typed) in [
            ("correct horse\n", text("correct horse")),
            ("ab\r", text("ab")),
            ("\n", text("")),
            ("abc\u{7f}\u{7f}x\n", text("ax")),
            ("a\u{e9}\u{1f600}\u{7f}\u{8}b\n", text("ab")),
            ("\u{7f}a\n", text("a")),
            ("wrong\u{15}right\n", text("right")),
            ("a\u{1a}\u{4}b\n", text("ab")),
            ("ab\u{3}\n", TypedSecret::Cancelled),
            ("\u{4}", TypedSecret::Cancelled),
            ("never ended", TypedSecret::Cancelled),
        ] {
            assert_eq!(line(keys.as_bytes(), 1024, &mut |_| Ok(())).expect("read"), typed, "{keys:?}");
        }
        assert_eq!(line("x".repeat(5000).as_bytes(), 1024, &mut |_| Ok(())).expect("read"), TypedSecret::TooLong);
        let mut counts = Vec::new();
        let mut show = |count| {
            counts.push(count);
            Ok(())
        };
        assert_eq!(line("aé\u{7f}bc\n".as_bytes(), 1024, &mut show).expect("read"), text("abc"));
        assert_eq!(counts, [1, 2, 2, 1, 2, 3]);
    }
}

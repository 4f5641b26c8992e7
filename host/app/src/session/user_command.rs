//! A command line of the user's, run as themselves.
//!
//! It is the user's own: no sandbox, no question, the rights of the user. Only a line that was typed at a prompt comes
//! here; nothing that a model, a tool or a file says does. Promises that what is shown and what the model gets of the
//! output are bounded and steer no terminal.
//!
//! Deliberately not here: programs that need a terminal, such as an editor: standard input is empty.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use host_process::{Command, Ended, Input, Process};
use host_settings::error::Failure;
use host_text::{visible, visible_line};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::sync::CancellationToken;

use super::aside::{MAX_OUTPUT, RanCommand};
use crate::app::App;

/// The most bytes of output that are shown. Protects the terminal's scrollback; the command runs on.
const MAX_SHOWN: usize = 1 << 20;

/// The longest line that waits for its end before it is shown, in bytes.
const MAX_LINE: usize = 8 << 10;

/// The output of a command, so far.
#[derive(Default)]
struct Output {
    /// What was not shown yet: the beginning of a line.
    line: Vec<u8>,
    shown: usize,
    /// The beginning of all, for the model, and its end.
    head: String,
    tail: String,
    left_out: usize,
}

impl Output {
    /// Takes bytes and returns what of them is to be shown.
    fn add(&mut self, bytes: &[u8]) -> String {
        self.line.extend_from_slice(bytes);
        // A line end of two bytes may come in two pieces.
        let whole = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let end = match whole.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) => at + 1,
            None if self.line.len() > MAX_LINE => self.line.len(),
            None => 0,
        };
        let whole: Vec<u8> = self.line.drain(..end).collect();
        self.take(&whole)
    }

    /// Takes the last line, which has no end.
    fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.line);
        self.take(&rest)
    }

    fn take(&mut self, bytes: &[u8]) -> String {
        let text = without_colours(&String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n"));
        self.keep(&text);
        let room = MAX_SHOWN.saturating_sub(self.shown);
        self.shown = self.shown.saturating_add(text.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        let mut shown = visible(&text[..end]).into_owned();
        if end < text.len() && room > 0 {
            shown.push_str("\n… (more output is not shown)\n");
        }
        shown
    }

    /// Keeps the text for the model: all that fits into a half, and of the rest the end.
    fn keep(&mut self, text: &str) {
        let half = MAX_OUTPUT / 2;
        let room = half.saturating_sub(self.head.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        let (head, rest) = text.split_at(end);
        self.head.push_str(head);
        self.tail.push_str(rest);
        if self.tail.len() > half {
            let cut = self.tail.ceil_char_boundary(self.tail.len() - half);
            self.left_out += cut;
            self.tail.drain(..cut);
        }
    }

    fn into_text(self) -> String {
        match self.left_out {
            0 => self.head + &self.tail,
            bytes => format!("{}\n… ({bytes} bytes of the output are left out) …\n{}", self.head, self.tail),
        }
    }
}

/// Removes the sequences that set colours, as a terminal would show the text without them.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| !(c.is_ascii_digit() || matches!(c, ';' | ':'))).unwrap_or(sequence.len());
        match sequence[end..].starts_with(['m', 'K']) {
            true => rest = &sequence[end + 1..],
            false => {
                plain.push_str("\u{1b}[");
                rest = sequence;
            }
        }
    }
    plain + rest
}

/// Runs a line in the workspace with all of the user's environment. `show` gets its output as it comes, safe to show.
///
/// # Errors
///
/// If there is no shell, or it cannot be started.
pub async fn run(
    app: &App,
    line: &str,
    show: &mut (dyn FnMut(&str) + Send),
    cancel: &CancellationToken,
) -> Result<RanCommand, Failure> {
    let process = start(&shell(app, line)?)?;
    let mut output = Output::default();
    let ended = match follow(process, &mut output, show, cancel).await {
        Some(Ended::Code(code)) => format!("exit code {code}"),
        Some(Ended::Signal(signal)) => format!("ended by signal {signal}"),
        None => "stopped by the user".to_owned(),
    };
    Ok(RanCommand { line: line.to_owned(), output: output.into_text(), ended })
}

/// The user's own shell with a line.
fn shell(app: &App, line: &str) -> Result<Command, Failure> {
    let own = app.environment.variable("SHELL").filter(|shell| Path::new(shell).is_absolute());
    let (program, mut arguments): (OsString, Vec<OsString>) = match (own, host_process::shell()) {
        (Some(own), _) => (own.to_owned(), Vec::new()),
        (None, Some(shell)) => (shell.program.clone().into(), shell.arguments.clone()),
        (None, None) => {
            return Err(
                Failure::input("there is no shell to run the command with").help("set SHELL to the path of your shell")
            );
        }
    };
    arguments.extend(["-c".into(), line.into()]);
    let directory = app.workspace.root().to_owned();
    Ok(Command { program, arguments, directory, environment: app.environment.all(), input: Input::Empty })
}

/// Shows what a program prints until it has ended; `None` if the user stopped it.
async fn follow(
    mut process: Process,
    output: &mut Output,
    show: &mut (dyn FnMut(&str) + Send),
    cancel: &CancellationToken,
) -> Option<Ended> {
    let (mut out, mut errors) = (process.output.take(), process.errors.take());
    let (mut from_out, mut from_errors) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    let mut is_stopped = false;
    while out.is_some() || errors.is_some() {
        let piece = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                is_stopped = true;
                break;
            }
            read = read(&mut out, &mut from_out), if out.is_some() => piece(read, &mut out, &from_out),
            read = read(&mut errors, &mut from_errors), if errors.is_some() => piece(read, &mut errors, &from_errors),
        };
        show(&output.add(&piece));
    }
    show(&output.finish());
    if is_stopped {
        // Dropping the process ends all that it started.
        return None;
    }
    tokio::select! {
        biased;
        ended = process.wait() => Some(ended),
        () = cancel.cancelled() => None,
    }
}

fn start(command: &Command) -> Result<Process, Failure> {
    host_process::start(command, None, None).map_err(|error| {
        let shell = command.program.to_string_lossy();
        Failure::input(format!("cannot run `{}`: {error}", visible_line(&shell)))
            .help("set SHELL to the path of your shell")
    })
}

async fn read<R: AsyncRead + Unpin>(from: &mut Option<R>, buffer: &mut [u8]) -> io::Result<usize> {
    match from {
        Some(from) => from.read(buffer).await,
        None => std::future::pending().await,
    }
}

/// What was read; closes the source at its end.
fn piece<R>(read: io::Result<usize>, from: &mut Option<R>, buffer: &[u8]) -> Vec<u8> {
    match read {
        Ok(count) if count > 0 => buffer.get(..count).unwrap_or_default().to_vec(),
        Ok(_) | Err(_) => {
            *from = None;
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&[u8]]) -> (String, String) {
        let mut output = Output::default();
        let mut shown: String = pieces.iter().map(|piece| output.add(piece)).collect();
        shown.push_str(&output.finish());
        (shown, output.into_text())
    }

    #[test]
    fn command_output_is_shown_by_line_and_controls_no_terminal() {
        let (seen, kept) =
            shown(&[b"a\r\nb\xc3", b"\xa4\n10%\r20%\r", b"\x1b[31mred\x1b[0m\x1b[K \x1b[2J\x1b]0;x\x07 end"]);
        assert_eq!(seen, "a\nb\u{e4}\n10%\n20%\nred \\u{1b}[2J\\u{1b}]0;x\\u{7} end");
        assert_eq!(kept, "a\nb\u{e4}\n10%\n20%\nred \u{1b}[2J\u{1b}]0;x\u{7} end");
    }

    #[test]
    fn command_output_is_bounded_for_the_terminal_and_for_the_model() {
        let line = [b"y".repeat(99).as_slice(), b"\n"].concat();
        let mut output = Output::default();
        let mut seen = 0;
        for _ in 0..20_000 {
            seen += output.add(&line).len();
            assert!(output.head.len() + output.tail.len() <= MAX_OUTPUT);
        }
        assert!(seen <= MAX_SHOWN + 100, "{seen}");
        let mut endless = Output::default();
        (0..1_000).for_each(|_| drop(endless.add(&[b'x'; 4096])));
        assert!(endless.line.len() <= MAX_LINE);
        let text = output.into_text();
        assert!(text.contains("bytes of the output are left out") && text.len() < MAX_OUTPUT + 100);
    }
}

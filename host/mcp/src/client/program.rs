//! A server that is a program: its start, what it reports, and how it ended in words.
//!
//! Promises: what it reports goes to the log, made safe and limited in size; dropping the program ends it and
//! everything that it started.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host_capability::McpServerName;
use host_plugin::{Runtime, ServerCommand, ServerProgram, ServerStartError, ServerWalls};
use host_settings::mcp::McpProgram;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::JoinHandle;

use super::lines::Lines;
use super::trouble::Trouble;

/// The longest line of an MCP server's standard error that goes to the log, in bytes. Protects the log.
const MAX_LOG_LINE: usize = 2 << 10;

/// The most that an MCP server's standard error adds to the log, in bytes. Protects the log; the rest is read and
/// dropped.
const MAX_LOG: usize = 1 << 20;

/// How many of an MCP server's last lines explain its end.
const LAST_LINES: usize = 5;

/// The longest part of such a line that is shown, in characters.
const SHOWN: usize = 300;

/// How long the end of a program is waited for, once its streams have ended.
const GRACE: Duration = Duration::from_millis(500);

/// A program that is a server.
#[derive(Debug)]
pub(super) struct Program {
    program: ServerProgram,
    hints: Hints,
    reader: JoinHandle<()>,
    trouble: Arc<Trouble>,
    shown: String,
}

/// What a program reported last, and what it was kept from. It can outlive the program.
#[derive(Clone, Debug)]
pub(super) struct Hints {
    last: Arc<Mutex<VecDeque<String>>>,
    walls: ServerWalls,
}

impl Hints {
    fn last_lines(&self) -> Vec<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Returns what confinement kept it from so far, each with the setting that would allow it.
    pub(super) fn kept_from(&self) -> Vec<String> {
        self.walls.kept_from(&self.last_lines().join("\n"))
    }
}

/// Starts a program, with its streams as a transport.
pub(super) fn start(
    name: &McpServerName,
    configured: &McpProgram,
    runtime: &Runtime,
) -> Result<(Program, Lines<Receiver, Sender>), ServerStartError> {
    // A program of a trusted project is the one that was trusted, or none.
    if let Some(path) = configured.changed_file() {
        let path = host_text::excerpt(&path.display().to_string(), SHOWN);
        let why = format!("`{path}` is not as you trusted it; look at it with `host trust`, and start a new session");
        return Err(ServerStartError::Failed(why));
    }
    let environment =
        configured.environment.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    let (program, streams) = runtime.start_server(&ServerCommand {
        name: name.to_string(),
        argv: configured.command.clone(),
        directory: configured.directory.clone(),
        environment,
        confine: configured.confine,
        resources: configured.resources.clone(),
    })?;
    let trouble = Arc::new(Trouble::default());
    let last = Arc::<Mutex<VecDeque<String>>>::default();
    // Read all the time: a program whose errors nobody reads stops when the pipe is full.
    let reader = tokio::spawn(log(streams.errors, name.clone(), Arc::clone(&last)));
    let lines = Lines::new(streams.output, streams.input, Arc::clone(&trouble));
    let shown = host_text::excerpt(configured.command.first().map_or("", String::as_str), SHOWN);
    let hints = Hints { last, walls: program.walls() };
    Ok((Program { program, hints, reader, trouble, shown }, lines))
}

impl Program {
    /// Returns what the user should know about how it was started.
    pub(super) fn notes(&self) -> &[String] {
        self.program.notes()
    }

    /// Returns what explains its failures.
    pub(super) fn hints(&self) -> Hints {
        self.hints.clone()
    }

    /// Waits until it has ended while something that it started holds its output open, so that the stream does not end.
    /// Returns that in words. What it wrote before its end is read meanwhile.
    pub(super) async fn left(&mut self) -> String {
        let how = match self.program.wait().await {
            host_process::Ended::Code(code) => format!("ended with exit code {code}"),
            host_process::Ended::Signal(signal) => format!("was ended by signal {signal}"),
        };
        tokio::time::sleep(GRACE).await;
        format!("`{}` {how}, and a program that it started still holds its output open", self.shown)
    }

    /// Returns why it went away: how it ended, or else this, with what explains it.
    pub(super) async fn why(&mut self, otherwise: String) -> String {
        let ended = tokio::time::timeout(GRACE, self.program.wait()).await;
        let why = match (self.trouble.why(), ended) {
            (Some(trouble), _) => format!("`{}` was given up: {trouble}", self.shown),
            (None, Ok(host_process::Ended::Code(code))) => format!("`{}` ended with exit code {code}", self.shown),
            (None, Ok(host_process::Ended::Signal(signal))) => {
                format!("`{}` was ended by signal {signal}", self.shown)
            }
            (None, Err(_)) => otherwise,
        };
        self.explain(why).await
    }

    /// Adds what the program reported last, and what it was kept from.
    pub(super) async fn explain(&mut self, mut why: String) -> String {
        // What it wrote before its end is read by then, if nothing that it started holds the stream open.
        tokio::time::timeout(GRACE, &mut self.reader).await.ok();
        let last = self.hints.last_lines();
        if !last.is_empty() {
            why += &format!("; its last lines: `{}`", last.join(" ⏎ "));
        }
        for line in self.hints.kept_from() {
            why += &format!("; {line}");
        }
        why
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Copies what a server reports to the log, and keeps its last lines.
async fn log(errors: impl AsyncRead + Unpin, name: McpServerName, last: Arc<Mutex<VecDeque<String>>>) {
    let mut errors = BufReader::new(errors);
    let (mut line, mut logged) = (Vec::new(), 0_usize);
    loop {
        let Ok(available) = errors.fill_buf().await else { return };
        let is_end = available.is_empty();
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        let room = MAX_LOG_LINE.saturating_sub(line.len());
        let piece = available.get(..end.unwrap_or(taken)).unwrap_or_default();
        line.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
        errors.consume(taken);
        // A last line without its end is often the reason why the program ended.
        if (end.is_some() || is_end) && !line.trim_ascii().is_empty() {
            let text = String::from_utf8_lossy(&line).into_owned();
            // A server can write without end, and the log is kept.
            if logged <= MAX_LOG {
                logged += text.len();
                tracing::info!(server = %name, "{}", host_text::visible_line(text.trim_end()));
                if logged > MAX_LOG {
                    tracing::info!(server = %name, "further lines are dropped: over {MAX_LOG} bytes");
                }
            }
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            // Kept even when the log takes no more: an error shows them.
            last.push_back(host_text::excerpt(text.trim_end(), SHOWN));
            if last.len() > LAST_LINES {
                last.pop_front();
            }
        }
        if end.is_some() {
            line.clear();
        }
        if is_end {
            return;
        }
    }
}

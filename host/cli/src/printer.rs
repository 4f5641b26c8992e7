//! The output of a run: on a terminal, as text in a pipe, as JSON.
//!
//! Promises: standard output has the answer (or JSON) and nothing else; text from models and tools reaches a terminal
//! with its control characters made visible; a closed standard output ends the run quietly.

pub(crate) mod current_terminal;
mod format;
pub(crate) mod page;
mod stderr;
pub(crate) mod terminal;
mod text;

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::AnsiColor;
use host_agent::CompressionStatus;
use host_sessions::report::json::Json;
use host_sessions::report::stream_json::StreamJson;
use host_sessions::report::{self, About, Report, Sink};
use host_settings::environment::Environment;
use host_settings::error::Failure;
pub(crate) use host_terminal::Style;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

pub(crate) use self::format::Format;
pub(crate) use self::stderr::{Stderr, be_quiet, entries_to_stderr, never_wait, note_to_stderr, to_stderr};

/// Returns whether a run is shown while it is under way: to a user at a terminal.
pub(crate) fn is_drawn(format: Format, environment: &Environment) -> bool {
    format == Format::Text && environment.stdout_is_terminal && environment.stderr_is_terminal
}

/// The printer of a format, where nothing is drawn.
pub(crate) fn for_format(format: Format, environment: &Environment, out: Out, about: About) -> Arc<dyn Report> {
    match format {
        Format::Text => Arc::new(text::Text::new(out, environment, about)),
        Format::Json => Arc::new(Json::new(out.sink(), about)),
        Format::StreamJson => Arc::new(StreamJson::new(out.sink(), about)),
    }
}

/// Prints the outcome of compressing a conversation: to a program its status, to a user the words.
pub(crate) fn compressed(format: Format, out: &Out, status: CompressionStatus, words: &str) {
    match format {
        Format::Text => out.write(&format!("{words}\n")),
        Format::Json => report::compressed_json(&out.sink(), status),
        Format::StreamJson => report::stream_json::compressed(&out.sink(), status),
    }
}

/// The JSON Schema of what a format prints: of the one object, or of each line. `None` for text.
pub(crate) fn schema(format: Format) -> Option<schemars::Schema> {
    match format {
        Format::Text => None,
        Format::Json => Some(report::json_schema()),
        Format::StreamJson => Some(report::stream_json_schema()),
    }
}

/// The style of standard error: colour on a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
pub(crate) fn style(environment: &Environment) -> Style {
    Style { colour: environment.stderr_is_terminal && wants_colour(environment) }
}

/// The style of standard output, by the same rule.
pub(crate) fn stdout_style(environment: &Environment) -> Style {
    Style { colour: environment.stdout_is_terminal && wants_colour(environment) }
}

fn wants_colour(environment: &Environment) -> bool {
    environment.variable("NO_COLOR").is_none() && environment.text("TERM").is_none_or(|term| term != "dumb")
}

/// What begins each row of a foreign text.
const BAR: &str = "│ ";

/// Something that standard output could not take is lost: the command has not succeeded, whatever it returns.
pub(crate) static LOST: AtomicBool = AtomicBool::new(false);

/// Standard output. If its reader is gone, it stops the run silently.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    gone: Arc<AtomicBool>,
    stop: CancellationToken,
}

impl Out {
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self { gone: Arc::default(), stop }
    }

    /// Writes and flushes. When that fails, the run is stopped and nothing more is written.
    pub(crate) fn write(&self, text: &str) {
        if self.is_gone() || text.is_empty() {
            return;
        }
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            self.gone.store(true, Ordering::Relaxed);
            self.stop.cancel();
            if error.kind() != io::ErrorKind::BrokenPipe {
                LOST.store(true, Ordering::Relaxed);
                to_stderr(&format!("error: cannot write the answer: {error}\n"));
            }
        }
    }

    /// Writes entries, one a line. On a terminal they wrap at words, and no row looks like an entry of its own.
    pub(crate) fn write_entries(&self, text: &str) {
        self.write(&match host_terminal::columns_of_stdout() {
            Some(columns) => host_terminal::wrapped_entries(text, columns),
            None => text.to_owned(),
        });
    }

    /// Standard output as the sink of a report.
    pub(crate) fn sink(&self) -> Sink {
        let out = self.clone();
        Box::new(move |text| out.write(text))
    }

    /// Returns whether the reader is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}

/// JSON for standard output, with a line feed at its end. No character of it steers a terminal or hides: texts of
/// others may be in it.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::configuration(error.to_string()))?;
    Ok(format!("{}\n", host_text::escape_json(&text)))
}

/// Foreign text for standard output behind a bar, which no text of it can imitate: each row of a terminal has it.
pub(crate) fn barred(text: &str) -> String {
    let columns =
        host_terminal::columns_of_stdout().map(|columns| columns.saturating_sub(host_terminal::width(BAR)).max(1));
    let rows = |line: &str| match columns {
        Some(columns) => host_terminal::wrap(line, columns),
        None => vec![line.to_owned()],
    };
    let row = |row: String| format!("{BAR}{row}").trim_end().to_owned() + "\n";
    host_text::visible(text).lines().flat_map(rows).map(row).collect()
}

/// Tells what the user should know before a run, a line each on standard error.
pub(crate) fn notes(notes: &[impl Display], environment: &Environment) {
    let style = style(environment);
    for note in notes {
        note_to_stderr(&format!(
            "{} {}\n",
            style.paint("note:", AnsiColor::Yellow),
            host_text::visible(&note.to_string())
        ));
    }
}

//! What a run looks like: on a terminal, as text in a pipe, as JSON.
//!
//! Promises: standard output has the answer (or JSON) and nothing else; what models and tools wrote reaches a terminal
//! with its control characters made visible; a reader that went away ends the run quietly.

mod json;
mod stream_json;
mod tally;
pub(crate) mod terminal;
mod text;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::AnsiColor;
use host_agent::{CompressionStatus, Observer, RunResult};
use host_tool::Standstill;
use tokio_util::sync::CancellationToken;

use crate::arguments::Format;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::project::Word;
use crate::terminal::above as terminal_above;

/// Shows a run while it goes on, and its end.
pub(crate) trait Printer: Observer {
    /// The run ended, with `failure` when it did not reach its end. Errors of writing are kept by the output itself.
    fn finish(&self, result: &RunResult, failure: Option<&Failure>);
}

/// Whether a run is shown as it goes on: to a person at a terminal.
pub(crate) fn is_drawn(format: Format, environment: &Environment) -> bool {
    format == Format::Text && environment.stdout_is_terminal && environment.stderr_is_terminal
}

/// What a printer is told of a run before it begins.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// Whether what the project brings is used; none where it brings nothing.
    pub(crate) project_trust: Option<Word>,
    /// Held while the person is asked.
    pub(crate) standstill: Standstill,
    /// Whether the person wants the statistics in full.
    pub(crate) stats: bool,
}

/// The printer of a format, where nothing is drawn.
pub(crate) fn of(format: Format, environment: &Environment, out: Out, about: About) -> Arc<dyn Printer> {
    match format {
        Format::Text => Arc::new(text::Text::new(out, Style::of(environment), about)),
        Format::Json => Arc::new(json::Json::new(out, about)),
        Format::StreamJson => Arc::new(stream_json::StreamJson::new(out, about)),
    }
}

/// Says to a program what came of shortening a conversation; to a person the words.
pub(crate) fn shortened(format: Format, out: &Out, status: CompressionStatus, words: &str) {
    match format {
        Format::Text => out.write(&format!("{words}\n")),
        Format::Json => json::write(out, &json::Document::Compressed(json::Compressed::of(status))),
        Format::StreamJson => stream_json::compressed(out, status),
    }
}

/// What a format prints, as a JSON Schema: of the one object, or of each line. Text has none.
pub(crate) fn schema(format: Format) -> Option<schemars::Schema> {
    let generator = || schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator();
    match format {
        Format::Text => None,
        Format::Json => Some(generator().into_root_schema_for::<json::Document<'static>>()),
        Format::StreamJson => Some(generator().into_root_schema_for::<stream_json::Stamped<'static>>()),
    }
}

/// Whether there is colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Whether standard error takes colour.
    pub(crate) colour: bool,
}

impl Style {
    /// For standard error: colour on a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
    pub(crate) fn of(environment: &Environment) -> Self {
        Self { colour: environment.stderr_is_terminal && Self::is_wanted(environment) }
    }

    /// The same for standard output.
    pub(crate) fn of_stdout(environment: &Environment) -> Self {
        Self { colour: environment.stdout_is_terminal && Self::is_wanted(environment) }
    }

    fn is_wanted(environment: &Environment) -> bool {
        environment.variable("NO_COLOR").is_none() && environment.text("TERM").is_none_or(|term| term != "dumb")
    }

    /// The text in a colour, where there is any.
    pub(crate) fn paint(self, text: &str, colour: AnsiColor) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = colour.on_default().bold();
        format!("{style}{text}{style:#}")
    }

    /// The text in bold, where that is possible.
    pub(crate) fn bold(self, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = anstyle::Style::new().bold();
        format!("{style}{text}{style:#}")
    }

    /// The text dimmed, where that is possible.
    pub(crate) fn dim(self, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = anstyle::Style::new().dimmed();
        format!("{style}{text}{style:#}")
    }
}

/// Standard output, and what becomes of a run that nobody reads: it is stopped, without a word.
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
                to_stderr(&format!("error: the answer cannot be written: {error}\n"));
            }
        }
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}

/// Writes to standard error; when that is gone too there is nobody left to tell. Where something is drawn on the
/// terminal it stands above that.
pub(crate) fn to_stderr(text: &str) {
    if terminal_above(text) {
        return;
    }
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).ok();
}

/// Standard error for a log, which must not break what is drawn.
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        to_stderr(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Tells what the person should know before a run, a line each on standard error.
pub(crate) fn notes(notes: &[String], environment: &Environment) {
    let style = Style::of(environment);
    for note in notes {
        to_stderr(&format!("{} {}\n", style.paint("note:", AnsiColor::Yellow), visible(note)));
    }
}

/// Says in words that a reply is asked for again: why, when, and which try it is.
pub(crate) fn again(reason: &str, wait_ms: u64, attempt: u32, attempts: u32) -> String {
    let when = match wait_ms {
        0 => "again".to_owned(),
        wait => format!("again in {}.{} s", wait / 1000, wait % 1000 / 100),
    };
    format!("{}; asked for {when} (try {attempt} of {attempts})", visible(reason))
}

/// Says in words that another model answers.
pub(crate) fn switched(model: &str, reason: &str) -> String {
    format!("`{}` answers from here on: {}", visible(model), visible(reason))
}

/// Says in words what became of a conversation that was long.
pub(crate) fn compressed(status: CompressionStatus, before: u64, after: u64) -> String {
    match status {
        CompressionStatus::Summarised => {
            format!(
                "the conversation was long: a summary stands for its beginning (about {before} tokens, now {after})"
            )
        }
        CompressionStatus::Shortened => {
            format!(
                "the conversation was long: old outputs of tools were cut short (about {before} tokens, now {after})"
            )
        }
        CompressionStatus::Inflated | CompressionStatus::Empty | CompressionStatus::Failed => {
            format!("the conversation is long (about {before} tokens), and no summary came that is shorter")
        }
        CompressionStatus::Nothing => format!("the conversation has nothing to shorten (about {before} tokens)"),
    }
}

/// Says in words that the model goes round in circles.
pub(crate) fn circles(repeated: &str) -> String {
    format!("the model goes round in circles: {}", visible(repeated))
}

/// Text from a model, a tool or a server, safe for a terminal: control characters and those that turn the direction
/// of writing are shown by their code; line ends and tabs stay.
pub(crate) fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(is_harmful) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Whether the character steers a terminal or turns the direction of writing.
pub(crate) fn is_harmful(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t') || is_bidi(character)
}

/// The formatting characters of the Unicode bidirectional algorithm (UAX 9, table 2).
fn is_bidi(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise plugin.terminal: Text from tools and models reaches a terminal with control characters escaped.
    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        for (text, shown) in [
            ("plain\n\ttext ä", "plain\n\ttext ä"),
            ("\u{1b}[2Jx", "\\u{1b}[2Jx"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{202e}y", "x\\u{202e}y"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}

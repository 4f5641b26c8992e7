//! The log on standard error: one line for each event, in which nothing of what a guest, a model or a server wrote can
//! steer the terminal, hide, or begin a line of its own.
//!
//! Deliberately not here: what is logged, and the session log.

use std::fmt::{self, Write as _};

use anstyle::AnsiColor;
use host_settings::environment::Environment;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use crate::printer::{self, Stderr, Style};

/// What is logged if `HOST_LOG` does not say it. What fails in the library of the Model Context Protocol is an error of
/// the host's, in its own words.
const DEFAULT: &str = "warn,rmcp=off";

/// Starts the log. It says nothing below warnings unless `HOST_LOG` asks for more.
pub(crate) fn start(environment: &Environment) {
    let filter = environment.text("HOST_LOG").unwrap_or_else(|| DEFAULT.to_owned());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::builder().parse_lossy(filter))
        .with_writer(|| Stderr)
        .event_format(Line { style: printer::style(environment) })
        .finish();
    // Only a second call can fail, and there is one.
    tracing::subscriber::set_global_default(subscriber).ok();
}

/// The format: ` WARN message key=value`.
struct Line {
    style: Style,
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>().map_or("", |fields| fields.fields.as_str());
            write!(line, "{}{{{fields}}}: ", span.name())?;
        }
        context.field_format().format_fields(Writer::new(&mut line), event)?;
        let (level, colour) = match *event.metadata().level() {
            Level::ERROR => ("ERROR", AnsiColor::Red),
            Level::WARN => (" WARN", AnsiColor::Yellow),
            Level::INFO => (" INFO", AnsiColor::Green),
            Level::DEBUG => ("DEBUG", AnsiColor::Blue),
            Level::TRACE => ("TRACE", AnsiColor::Magenta),
        };
        writeln!(writer, "{} {}", self.style.paint(level, colour), host_text::visible_line(&line))
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    /// The captured log.
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_event_is_one_escaped_line() {
        for (colour, level) in [(false, " WARN"), (true, "\u{1b}[1m\u{1b}[33m WARN\u{1b}[0m")] {
            let written = Written::default();
            let writer = written.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_writer(move || writer.clone())
                .event_format(Line { style: Style { colour } })
                .finish();
            tracing::subscriber::with_default(subscriber, || {
                let _span = tracing::info_span!("turn", prompt = "p\u{200b}1").entered();
                tracing::warn!(plugin = "a\u{e0041}b", "x\u{1b}[2J\n WARN forged\u{202e}");
            });
            let bytes = written.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let text = String::from_utf8(bytes).expect("text");
            let rest = text.strip_prefix(level).unwrap_or_else(|| panic!("{text:?}"));
            assert_eq!(rest.matches('\n').count(), 1, "{text:?}");
            assert!(!rest.trim_end().contains(host_text::is_unsafe), "{text:?}");
            for part in ["turn{", "\\u{e0041}", "forged\\u{202e}", "x\\"] {
                assert!(rest.contains(part), "{part} in {text:?}");
            }
        }
    }
}

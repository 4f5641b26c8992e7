//! `/compress` in the place of a prompt: a recorded conversation is made shorter, and nothing else is asked.

use host_agent::CompressionStatus;
use host_app::session::Session;
use host_settings::error::{ErrorKind, Failure};
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::printer::{self, Format, Out};

/// The words for it.
const COMMANDS: [&str; 2] = ["/compress", "/compact"];

/// Returns what the words of the command line say that a summary should keep, if they request one; it may be nothing.
pub(super) fn asked(words: &[String]) -> Option<String> {
    let line = words.join(" ");
    let rest = COMMANDS.iter().find_map(|command| line.trim().strip_prefix(command))?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim().to_owned())
}

/// Shortens the conversation, and says what came of it.
pub(super) async fn run(
    session: &mut Session,
    keep: Option<&str>,
    format: Format,
    out: &Out,
    stop: &CancellationToken,
) -> Result<Code, Failure> {
    let status = session.compress(stop, keep).await?;
    if stop.is_cancelled() {
        return Err(Failure::new(ErrorKind::Cancelled, "cancelled; the conversation is unchanged"));
    }
    let words = match status {
        CompressionStatus::Summarised => "The beginning of the conversation was summarised.",
        CompressionStatus::Shortened => "Long tool outputs were cut.",
        CompressionStatus::LeftOut => "The oldest messages were left out: they did not fit the model's window.",
        CompressionStatus::Nothing => "Nothing to compact yet.",
        CompressionStatus::Inflated | CompressionStatus::Empty | CompressionStatus::Failed => {
            return Err(Failure::new(
                ErrorKind::Service,
                "no shorter summary was produced; the conversation is unchanged",
            )
            .help("try again, or with another model"));
        }
    };
    printer::compressed(format, out, status, words);
    Ok(Code::Done)
}

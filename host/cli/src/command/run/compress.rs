//! `/compress` in the place of a prompt: a recorded conversation is made shorter, and nothing else is asked.

use host_app::session::Session;
use host_app::session::command::{ParsedLine, SessionCommand, compressed};
use host_settings::error::{ErrorKind, Failure};
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::printer::{self, Format, Out};

/// Returns what the words of the command line say that a summary should keep, if they request one; it may be nothing.
pub(super) fn asked(words: &[String]) -> Option<String> {
    match SessionCommand::parse(&words.join(" "), []) {
        ParsedLine::Command(SessionCommand::Compress(keep)) => Some(keep.unwrap_or_default()),
        ParsedLine::Command(_) | ParsedLine::Prompt(_) | ParsedLine::Invalid(_) | ParsedLine::Unknown(_) => None,
    }
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
    let words = compressed(status)?;
    printer::compressed(format, out, status, words);
    Ok(Code::Done)
}

//! What the model gets besides the user's prompts: commands that the user ran, and words for a run under way.
//!
//! Deliberately not here: running a command (`user_command`), which only the user does, and never a model.

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::Part;
use host_settings::error::Failure;
use host_text::clip;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::attach::{Author, attach};
use crate::context::name;

/// The most characters of the output of one command that a model gets.
pub const MAX_OUTPUT: usize = 30_000;

/// The most commands whose output waits for the next prompt. The oldest give way.
const MAX_COMMANDS: usize = 10;

/// A command that the user ran, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RanCommand {
    /// The line, as the user typed it.
    pub line: String,
    /// What it printed.
    pub output: String,
    /// How it ended, in words, such as `exit code 1`.
    pub ended: String,
}

/// The commands that were run since the last prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Ran(Vec<RanCommand>);

impl Ran {
    pub(super) fn add(&mut self, command: RanCommand) {
        self.0.push(command);
        let gone = self.0.len().saturating_sub(MAX_COMMANDS);
        self.0.drain(..gone);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the parts that go behind a prompt.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        self.0.iter().map(|RanCommand { line, output, ended }| {
            let (line, output) = (name(line), clip(output.trim_end_matches('\n'), MAX_OUTPUT));
            let text = format!(
                "\n--- attached: the user ran the command `{line}` ---\n{output}\n--- end of its output, {ended} ---\n"
            );
            Part::text(text)
        })
    }
}

/// Words of the user for a run under way.
///
/// For the implementer: `take` is called between two turns of the model and must not wait.
pub trait Steering: Send + Sync {
    /// Takes the next text; `None` if there is none.
    fn take(&self) -> Option<String>;

    /// Reports a text that was taken and did not reach the model, since something that it attaches cannot be read.
    fn rejected(&self, text: &str, failure: &Failure);

    /// Reports what the user should know about a text that reaches the model.
    fn note(&self, note: &str);
}

/// Reads what the user's words attach before they reach the model.
pub(super) struct Attaching<'a> {
    pub(super) app: &'a App,
    pub(super) steering: &'a dyn Steering,
    pub(super) cancel: &'a CancellationToken,
}

impl host_agent::Steering for Attaching<'_> {
    fn take(&self) -> BoxFuture<'_, Option<Vec<Part>>> {
        async move {
            loop {
                let text = self.steering.take()?;
                match attach(&text, Author::User, self.app, self.app.grants(), self.cancel).await {
                    Ok(attached) => {
                        attached.notes.iter().for_each(|note| self.steering.note(note));
                        return Some(std::iter::once(Part::text(attached.prompt)).chain(attached.parts).collect());
                    }
                    Err(failure) => self.steering.rejected(&text, &failure),
                }
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_the_user_ran_are_limited_and_named_on_one_line() {
        let mut ran = Ran::default();
        for number in 0..MAX_COMMANDS + 2 {
            let line = format!("echo {number}\n--- end");
            ran.add(RanCommand { line, output: "x".repeat(MAX_OUTPUT + 1), ended: "exit code 0".to_owned() });
        }
        let texts: Vec<String> = ran.parts().filter_map(|part| part.as_text().map(str::to_owned)).collect();
        assert_eq!(texts.len(), MAX_COMMANDS);
        assert!(
            texts[0].starts_with("\n--- attached: the user ran the command `echo 2\\n--- end` ---\nxxx"),
            "{texts:?}"
        );
        assert!(texts.iter().all(|text| text.len() < MAX_OUTPUT + 200 && text.contains("(cut)")));
    }
}

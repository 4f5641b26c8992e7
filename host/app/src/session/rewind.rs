//! Rewinding a session to before a prompt: the conversation, the files, or both.
//!
//! Promises: only a file that is as the session left it is restored, as by `host undo`, and that can be undone again.
//! Deliberately not here: what is kept of files, and how the loop takes messages back.

use std::collections::HashSet;

use host_journal::MAIN;
use host_sessions::find;
use host_sessions::transcript::{Entry, Transcript, What};
use host_sessions::undo::{ChangingCall, Undoing, paths};
use host_settings::error::Failure;
use host_text::one_line;

use super::Session;
use super::undone::{self, Undone};

/// The most of a prompt that is shown, in characters.
const PROMPT: usize = 200;

/// A prompt that a session can be rewound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindPoint {
    /// By which a user names it: 1 is the first of the conversation.
    pub number: usize,
    /// The prompt on one line, cut, safe to show.
    pub prompt: String,
    /// The files that were changed since, as in [`super::undo::FileChange`]: each once.
    pub changed: Vec<String>,
    /// The number of the first call since then that changed files, as in `host undo`; `None` if none did.
    undo_to: Option<usize>,
    /// Its index among the messages.
    at: usize,
}

/// What is rewound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewindScope {
    /// The prompt and all that followed leave the conversation; files stay.
    Conversation,
    /// What calls changed in files since the prompt is taken back; the conversation stays, and the model learns of it.
    Files,
    /// Both.
    All,
}

/// What a rewind did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewound {
    /// The whole text of the prompt, if the conversation was rewound.
    pub prompt: Option<String>,
    /// What became of the files.
    pub files: Vec<Undoing>,
}

impl Session {
    /// Returns the prompts of the conversation, oldest first. Those that a summary replaced are not there.
    ///
    /// # Errors
    ///
    /// If what the calls changed cannot be read.
    pub fn rewind_points(&self) -> Result<Vec<RewindPoint>, Failure> {
        let entries = Transcript::read(&find::by_id(&*self.app.journals, self.id().as_str())?).entries;
        let calls = self.undo()?.calls()?;
        let contents = self.history().contents();
        let mut points = Vec::new();
        // From the last one: an older prompt can have the same words.
        let mut until = entries.len();
        for at in self.conversation.executor.prompts().into_iter().rev() {
            let Some(content) = contents.get(at) else { continue };
            let text = content.visible_text();
            let is_it = |entry: &Entry| {
                entry.agent.as_deref() == Some(MAIN)
                    && matches!(&entry.what, What::User(message) if message.text == text)
            };
            let begins = entries.get(..until).and_then(|before| before.iter().rposition(is_it));
            until = begins.unwrap_or(until);
            // The lines of its command file ran before it, and belong to it.
            let is_line = |entry: &&Entry| matches!(entry.what, What::CommandLine { .. });
            until -= entries.get(..until).unwrap_or_default().iter().rev().take_while(is_line).count();
            let later: HashSet<&str> = entries.get(until..).unwrap_or_default().iter().filter_map(call_id).collect();
            let undo_to = calls.iter().find(|call| later.contains(call.id.as_str())).map(|call| call.number);
            let since = |call: &&ChangingCall| undo_to.is_some_and(|first| call.number >= first);
            let changed: Vec<_> = calls.iter().filter(since).flat_map(|call| call.files.iter().cloned()).collect();
            let prompt = content.prompt_text().unwrap_or_default();
            points.push(RewindPoint {
                number: 0,
                prompt: one_line(&prompt, PROMPT),
                changed: paths(&changed),
                undo_to,
                at,
            });
        }
        points.reverse();
        for (at, point) in points.iter_mut().enumerate() {
            point.number = at + 1;
        }
        Ok(points)
    }

    /// Rewinds to before a prompt. The files come first: if what was kept of them cannot be used, nothing else happens.
    ///
    /// # Errors
    ///
    /// If the prompt is not in the conversation any more, what was kept of files cannot be used, or the session log
    /// cannot be written.
    pub fn rewind(&mut self, to: &RewindPoint, scope: RewindScope) -> Result<Rewound, Failure> {
        let (with_files, with_words) = match scope {
            RewindScope::Conversation => (false, true),
            RewindScope::Files => (true, false),
            RewindScope::All => (true, true),
        };
        let files = match to.undo_to.filter(|_| with_files) {
            Some(number) => self.undo()?.take_back(number)?,
            None => Vec::new(),
        };
        if !with_words {
            self.add_undone(&files);
            return Ok(Rewound { prompt: None, files });
        }
        let prompt = self.conversation.executor.take_back(to.at).map_err(|error| super::run_failure(&error))?;
        self.forget_surroundings();
        let prompt = prompt.ok_or_else(|| Failure::input(format!("prompt {} no longer exists", to.number)))?;
        Ok(Rewound { prompt: Some(prompt), files })
    }

    /// Removes the last prompt and everything that followed it from the conversation; returns what that was. Files stay
    /// as they are. `None` if there is no prompt.
    ///
    /// # Errors
    ///
    /// If the session log cannot be written.
    pub fn undo_prompt(&mut self) -> Result<Option<Undone>, Failure> {
        let effects = undone::effects(self);
        let prompt = self.conversation.executor.undo_last_prompt().map_err(|error| super::run_failure(&error))?;
        self.forget_surroundings();
        Ok(prompt.map(|prompt| effects.into_undone(prompt)))
    }
}

/// The id under which the changes of an entry are kept, if it can have some.
fn call_id(entry: &Entry) -> Option<&str> {
    match &entry.what {
        What::Call(call) => Some(&call.id),
        What::CommandLine { id, .. } => Some(id),
        _ => None,
    }
}

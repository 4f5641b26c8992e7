//! The recorded sessions in a few words each: for a list, and to pick one to resume.
//!
//! A session in which nothing was said is left out; a damaged log is not, with what is wrong with it. A session whose
//! last run has no end is `UNFINISHED`: it still runs, or its process died. Deliberately not here: showing a list.

use std::path::Path;

use host_journal::{Fact, Journals, Logged, ReadError, Stored, TerminateReason};
use host_message::{AgentId, Role};
use host_settings::error::Failure;
use host_text::clip;
use jiff::Timestamp;
use serde::Serialize;

use crate::title::title_of;

/// Number of characters of a prompt that are kept.
const PROMPT: usize = 1_000;

/// The most sessions that are offered to pick from. Protects the time until they are seen, since each log is read.
const OFFERED: usize = 200;

/// A session in a few words.
#[derive(Debug, Serialize)]
pub struct SessionSummary {
    /// Its id.
    pub id: String,
    /// When its first entry was written.
    pub began: Option<Timestamp>,
    /// When its last entry was written.
    pub last: Option<Timestamp>,
    /// The folder that it worked in.
    pub workspace: Option<String>,
    /// The model that was asked last.
    pub model: Option<String>,
    /// The first prompt, not escaped.
    pub prompt: Option<String>,
    /// The title that the user gave it, not escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Replies of its main agent.
    pub turns: u32,
    /// The end of the last run of its main agent.
    pub end: SessionEnd,
    /// What is wrong with its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// The size of its log.
    pub bytes: u64,
    /// The last prompt, not escaped.
    #[serde(skip)]
    pub last_prompt: Option<String>,
    /// The last answer, not escaped.
    #[serde(skip)]
    pub last_answer: Option<String>,
    /// Whether a prompt was taken back or a request withdrawn, so that perhaps nothing is left.
    #[serde(skip)]
    lost_messages: bool,
}

/// The end of the last run of a session's main agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SessionEnd {
    /// It has none.
    Unfinished,
    /// There was no run.
    Empty,
    /// The log cannot be read to its end.
    Damaged,
    /// It ended so.
    #[serde(untagged)]
    Ended(TerminateReason),
}

/// Returns the sessions of a folder, or all, that have messages; the most recently written first.
///
/// # Errors
///
/// If the folder of the sessions cannot be listed.
pub fn list(sessions: &dyn Journals, workspace: Option<&Path>) -> Result<Vec<SessionSummary>, Failure> {
    let all = of_folder(sessions, workspace)?;
    let listed = all.iter().map(SessionSummary::new);
    Ok(listed.filter(|session| session.end != SessionEnd::Empty).collect())
}

/// Returns the sessions of a folder that can be resumed, the most recently written first: those with a conversation.
///
/// # Errors
///
/// If the folder of the sessions cannot be listed.
pub fn resumable(sessions: &dyn Journals, workspace: &Path) -> Result<Vec<SessionSummary>, Failure> {
    Ok(with_conversation(&of_folder(sessions, Some(workspace))?))
}

/// Returns the sessions of other folders that can be resumed there, the most recently written first.
///
/// # Errors
///
/// If the folder of the sessions cannot be listed.
pub fn resumable_elsewhere(sessions: &dyn Journals, workspace: &Path) -> Result<Vec<SessionSummary>, Failure> {
    Ok(with_conversation(&elsewhere(sessions, workspace)?))
}

/// Whether there are sessions of other folders.
///
/// # Errors
///
/// If the folder of the sessions cannot be listed.
pub fn has_elsewhere(sessions: &dyn Journals, workspace: &Path) -> Result<bool, Failure> {
    Ok(!elsewhere(sessions, workspace)?.is_empty())
}

fn elsewhere(sessions: &dyn Journals, workspace: &Path) -> Result<Vec<Stored>, Failure> {
    let here = workspace.to_string_lossy();
    let is_wanted = |stored: &Stored| {
        stored.workspace().is_ok_and(|workspace| workspace.is_some_and(|workspace| workspace != *here))
    };
    Ok(sessions.list()?.into_iter().filter(is_wanted).collect())
}

/// Returns those with a conversation, as many as are offered.
fn with_conversation(all: &[Stored]) -> Vec<SessionSummary> {
    let listed = all.iter().map(|stored| (stored, SessionSummary::new(stored)));
    let with_conversation = listed.filter(|(stored, session)| match session.end {
        SessionEnd::Empty | SessionEnd::Damaged => false,
        // Whether anything is left of it is a question for the whole log.
        SessionEnd::Unfinished | SessionEnd::Ended(_) => {
            (session.turns > 0 && !session.lost_messages) || stored.is_empty().is_ok_and(|is_empty| !is_empty)
        }
    });
    with_conversation.map(|(_, session)| session).take(OFFERED).collect()
}

fn of_folder(sessions: &dyn Journals, workspace: Option<&Path>) -> Result<Vec<Stored>, Failure> {
    let here = workspace.map(Path::to_string_lossy);
    let is_wanted = |stored: &Stored| match (&here, stored.workspace()) {
        (None, _) => true,
        (Some(here), Ok(workspace)) => workspace.as_deref() == Some(here),
        (Some(_), Err(_)) => false,
    };
    Ok(sessions.list()?.into_iter().filter(is_wanted).collect())
}

impl SessionSummary {
    /// Returns what it is recognised by: its title, or else its first prompt. It is not escaped.
    pub fn name(&self) -> &str {
        self.title.as_deref().or(self.prompt.as_deref()).unwrap_or_default()
    }

    fn new(stored: &Stored) -> Self {
        let mut listed = Self {
            id: stored.id.to_string(),
            began: None,
            last: None,
            workspace: None,
            model: None,
            prompt: None,
            title: title_of(&stored.artifacts()),
            turns: 0,
            end: SessionEnd::Empty,
            damage: None,
            bytes: stored.bytes,
            last_prompt: None,
            last_answer: None,
            lost_messages: false,
        };
        match listed.read(stored) {
            Ok(()) | Err(ReadError::Empty) => {}
            Err(error) => {
                listed.end = SessionEnd::Damaged;
                listed.damage = Some(error.to_string());
            }
        }
        listed
    }

    fn read(&mut self, stored: &Stored) -> Result<(), ReadError> {
        // The main agent ran first; the others are its subagents.
        let mut main: Option<AgentId> = None;
        for logged in stored.records()? {
            let Logged { time, fact } = logged?;
            self.began.get_or_insert(time);
            self.last = Some(time);
            match fact {
                Fact::Session { workspace, model, .. } => {
                    self.workspace = workspace;
                    self.model = model.map(|model| model.to_string());
                }
                Fact::Resumed { model, .. } | Fact::ModelChosen { model } => self.model = Some(model.to_string()),
                Fact::RunStarted { agent_id, .. } => {
                    if *main.get_or_insert_with(|| agent_id.clone()) == agent_id {
                        self.end = SessionEnd::Unfinished;
                    }
                }
                Fact::Content { prompt, content } if main.as_ref() == Some(&prompt.agent) => match content.role {
                    Role::User => {
                        let said = clip(&content.visible_text(), PROMPT).into_owned();
                        if !said.trim().is_empty() {
                            self.last_prompt = Some(said.clone());
                        }
                        self.prompt.get_or_insert(said);
                    }
                    Role::Model => {
                        self.turns = self.turns.saturating_add(1);
                        let said = content.visible_text();
                        if !said.trim().is_empty() {
                            self.last_answer = Some(clip(&said, PROMPT).into_owned());
                        }
                    }
                },
                Fact::RunEnded { agent_id, terminate_reason, .. } if main.as_ref() == Some(&agent_id) => {
                    self.end = SessionEnd::Ended(terminate_reason);
                }
                Fact::TakenBack { .. } | Fact::Withdrawn { .. } => self.lost_messages = true,
                Fact::Content { .. }
                | Fact::RunEnded { .. }
                | Fact::HistoryReplaced { .. }
                | Fact::Usage { .. }
                | Fact::RecoveryStarted { .. }
                | Fact::Discarded { .. }
                | Fact::NestedCall { .. }
                | Fact::CallStarted { .. }
                | Fact::CallSettled { .. }
                | Fact::CommandLine { .. }
                | Fact::HookEnded { .. }
                | Fact::CheckEnded { .. }
                | Fact::Error { .. } => {}
            }
        }
        Ok(())
    }
}

impl SessionEnd {
    /// The end in a word or two, for a user.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ended(reason) => end_word(reason),
            Self::Unfinished => "unfinished",
            Self::Empty => "empty",
            Self::Damaged => "damaged",
        }
    }
}

/// Returns how a run ended, for a user.
pub fn end_word(reason: TerminateReason) -> &'static str {
    match reason {
        TerminateReason::Goal => "done",
        TerminateReason::Timeout => "time limit",
        TerminateReason::MaxTurns => "turn limit",
        TerminateReason::Aborted => "cancelled",
        TerminateReason::Error => "failed",
        TerminateReason::ErrorNoCompleteTaskCall => "no answer",
    }
}

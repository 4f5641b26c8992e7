//! `host session list`: a line for each session.
//!
//! A session in which nothing was said is not listed; a damaged log is, with what is wrong with it. A session whose last
//! run has no end is `unfinished`: it still runs, or its process died.

use std::fmt::Write as _;
use std::path::Path;

use host_agent::{Logged, ReadError, Record, Sessions, Stored, TerminateReason};
use host_app::error::Failure;
use host_app::session::transcript;
use host_message::{AgentId, Role, counted};
use host_text::{clip, visible_line};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

/// The most sessions that the list shows. JSON has all.
const LISTED: usize = 100;

/// Number of characters of a prompt that are shown.
const PROMPT: usize = 60;

/// Number of characters of a prompt in JSON.
const PROMPT_IN_JSON: usize = 1_000;

/// A session in a few words.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    id: String,
    /// When its first and last entries were written.
    began: Option<Timestamp>,
    last: Option<Timestamp>,
    workspace: Option<String>,
    model: Option<String>,
    prompt: Option<String>,
    /// Replies of its main agent.
    turns: u32,
    end: End,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
    bytes: u64,
}

/// The end of the last run of its main agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum End {
    Unfinished,
    Empty,
    Damaged,
    #[serde(untagged)]
    Ended(TerminateReason),
}

/// Returns the sessions of a folder, or all, that have messages; the most recently written first.
pub(super) fn listed(sessions: &Sessions, workspace: Option<&Path>) -> Result<Vec<Listed>, Failure> {
    let here = workspace.map(Path::to_string_lossy);
    let is_wanted = |stored: &Stored| match (&here, stored.workspace()) {
        (None, _) => true,
        (Some(here), Ok(workspace)) => workspace.as_deref() == Some(here),
        (Some(_), Err(_)) => false,
    };
    let all = sessions.all()?;
    let listed = all.iter().filter(|stored| is_wanted(stored)).map(Listed::new);
    Ok(listed.filter(|session| session.end != End::Empty).collect())
}

/// Formats the sessions as JSON.
pub(super) fn json(listed: &[Listed]) -> Result<String, Failure> {
    transcript::to_json(&listed)
}

/// Formats the sessions as lines.
pub(super) fn text(listed: &[Listed], with_folder: bool) -> String {
    if listed.is_empty() {
        let other = if with_folder { "" } else { "; --all lists those of other folders" };
        return format!("no session is recorded for this folder{other}\n");
    }
    let mut text = String::new();
    for session in listed.iter().take(LISTED) {
        let Listed { id, last, turns, bytes, .. } = session;
        let when = last.map_or_else(|| "-".to_owned(), local);
        let turns = counted(turns, "turn");
        let folder = match &session.workspace {
            Some(workspace) if with_folder => format!("{workspace}: "),
            _ => String::new(),
        };
        let words = session.damage.as_deref().or(session.prompt.as_deref()).unwrap_or_default();
        let words = one_line(&format!("{folder}{}", clip(words, PROMPT)));
        // A string takes everything.
        let _ =
            writeln!(text, "{id:<24}  {when:<16}  {:<11} {turns:>10} {:>9}  {words}", session.end.word(), size(*bytes));
    }
    if listed.len() > LISTED {
        let _ = writeln!(text, "… {} older sessions are not shown; --json lists all", listed.len() - LISTED);
    }
    text
}

/// A time as it is shown to a user: in the zone of this machine, to the minute.
pub(super) fn local(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

impl Listed {
    fn new(stored: &Stored) -> Self {
        let mut listed = Self {
            id: stored.id.to_string(),
            began: None,
            last: None,
            workspace: None,
            model: None,
            prompt: None,
            turns: 0,
            end: End::Empty,
            damage: None,
            bytes: stored.bytes,
        };
        match listed.read(stored) {
            Ok(()) | Err(ReadError::Empty) => {}
            Err(error) => {
                listed.end = End::Damaged;
                listed.damage = Some(error.to_string());
            }
        }
        listed
    }

    fn read(&mut self, stored: &Stored) -> Result<(), ReadError> {
        // The main agent ran first; the others are its subagents.
        let mut main: Option<AgentId> = None;
        for logged in stored.records()? {
            let Logged { time, record } = logged?;
            self.began.get_or_insert(time);
            self.last = Some(time);
            match record {
                Record::Session { workspace, model, .. } => {
                    self.workspace = workspace;
                    self.model = model.map(|model| model.to_string());
                }
                Record::Resumed { model, .. } | Record::ModelChosen { model } => self.model = Some(model.to_string()),
                Record::RunStarted { agent_id, .. } => {
                    if *main.get_or_insert_with(|| agent_id.clone()) == agent_id {
                        self.end = End::Unfinished;
                    }
                }
                Record::Content { prompt, content } if main.as_ref() == Some(&prompt.agent) => match content.role {
                    Role::User if self.prompt.is_none() => {
                        self.prompt = Some(clip(&content.visible_text(), PROMPT_IN_JSON).into_owned());
                    }
                    Role::User => {}
                    Role::Model => self.turns = self.turns.saturating_add(1),
                },
                Record::RunEnded { agent_id, terminate_reason, .. } if main.as_ref() == Some(&agent_id) => {
                    self.end = End::Ended(terminate_reason);
                }
                Record::Content { .. }
                | Record::RunEnded { .. }
                | Record::HistoryReplaced { .. }
                | Record::TakenBack { .. }
                | Record::Usage { .. }
                | Record::RecoveryStarted { .. }
                | Record::Discarded { .. }
                | Record::Withdrawn { .. }
                | Record::CallStarted { .. }
                | Record::CallSettled { .. }
                | Record::Error { .. } => {}
            }
        }
        Ok(())
    }
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Ended(reason) => end_word(reason),
            Self::Unfinished => "unfinished",
            Self::Empty => "empty",
            Self::Damaged => "damaged",
        }
    }
}

/// Returns how a run ended, for a user.
pub(super) fn end_word(reason: TerminateReason) -> &'static str {
    match reason {
        TerminateReason::Goal => "done",
        TerminateReason::Timeout => "time limit",
        TerminateReason::MaxTurns => "turn limit",
        TerminateReason::Aborted => "cancelled",
        TerminateReason::Error => "failed",
        TerminateReason::ErrorNoCompleteTaskCall => "no answer",
    }
}

/// The text on one line, safe for a terminal.
fn one_line(text: &str) -> String {
    visible_line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

//! Undo: which calls of a session changed files, and taking their changes back.
//!
//! Promises: only a file that is as the session left it is restored; what was taken back can be brought back the same
//! way.
//!
//! Deliberately not here: what is kept, and how files are restored (`host-undo`), and taking a prompt back out of the
//! conversation, which leaves files alone.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_extensions::checks::CHECK;
use host_extensions::hooks::HOOK;
use host_files::ChainStore;
use host_journal::{Journals, Opened, Stored};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, visible_line};
use host_undo::{
    Change, Gap, JournalError, Obstacle, Outcome, Reason, Recorder, State, Step, UNDO, plan, run_later_by,
};
use serde::Serialize;

use crate::transcript::{Transcript, What};

/// A call that changed files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangingCall {
    /// By which a user names it: 1 is the first of the session.
    pub number: usize,
    /// The call's id; that of an undo begins with `undo-`.
    pub id: String,
    /// What it is called on one line, safe to show: the tool and what it did, or `undo`.
    pub title: String,
    /// The files that it changed, by their paths.
    pub files: Vec<FileChange>,
    /// What it may have changed without anything being kept of it: a clause each, safe to show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
}

/// A file, folder or link that a call changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The path from the workspace, or absolute; safe to show. A folder's ends in a slash.
    pub path: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// Why what was there is not kept, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// Who runs it later, without walls: a program, `CI`, or `the editor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_later_by: Option<&'static str>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It has another content, or other permissions.
    Changed,
    /// It is gone.
    Removed,
}

/// What undoing did to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undoing {
    /// The path, as in [`FileChange`].
    pub path: String,
    /// What became of it: `restored`, `removed` because the session created it, or why it was left alone.
    pub became: Became,
}

/// What became of a file that was to be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", content = "why", rename_all = "snake_case")]
pub enum Became {
    /// It is as it was before.
    Restored,
    /// It is gone, as before the session created it.
    Removed,
    /// It was as before already.
    Already,
    /// It was left alone, for this reason: a clause, safe to show.
    LeftAlone(String),
}

/// The changes of a session, to be listed and undone.
#[derive(Debug)]
pub struct Undo {
    recorder: Arc<Recorder>,
    stored: Stored,
    workspace: PathBuf,
    /// Keeps other processes from going on with the session meanwhile.
    _lock: Option<Box<dyn Opened>>,
}

/// Why nothing is taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// No call has this number.
    #[error("there is no call {number} that changed files")]
    NoCall {
        /// The number.
        number: usize,
        /// How many calls changed files.
        calls: usize,
    },
}

impl Fault for UndoError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoCall { calls: 0, .. } => Some("this session changed no files, so there is nothing to undo".into()),
            Self::NoCall { calls: 1, .. } => Some("there is only call 1".into()),
            Self::NoCall { calls, .. } => Some(format!("use a number from 1 to {calls}").into()),
        }
    }
}

impl Undo {
    /// The changes of a session that no process is working on.
    ///
    /// # Errors
    ///
    /// If a process is working on it, or its log cannot be read.
    pub fn of_stored(sessions: &dyn Journals, stored: Stored, chains: &ChainStore) -> Result<Self, Failure> {
        let lock = sessions.open(&stored.id)?;
        let workspace = stored.workspace().ok().flatten().map(PathBuf::from).unwrap_or_default();
        let recorder = host_plugin::recorder(stored.artifacts().undo());
        let recorder = Arc::new(recorder.chained(chains.clone()));
        Ok(Self { recorder, stored, workspace, _lock: Some(lock) })
    }

    /// The changes of a session that is open in this process, which has this recorder.
    pub fn of_open(stored: Stored, recorder: Arc<Recorder>, workspace: PathBuf) -> Self {
        Self { recorder, stored, workspace, _lock: None }
    }

    /// Returns the calls that changed files, oldest first.
    ///
    /// # Errors
    ///
    /// If what was kept cannot be read.
    pub fn calls(&self) -> Result<Vec<ChangingCall>, Failure> {
        // Nothing is made by looking.
        if !self.recorder.folder().exists() {
            return Ok(Vec::new());
        }
        let mut titles = HashMap::new();
        for entry in Transcript::read(&self.stored).entries {
            match entry.what {
                What::Call(call) => {
                    let title = format!("{} {}", call.name, call.title).trim_end().to_owned();
                    match titles.entry(call.id) {
                        Entry::Vacant(free) => drop(free.insert(title)),
                        Entry::Occupied(mut taken) => drop(taken.insert(several(taken.key()))),
                    }
                }
                What::CommandLine { command, id, line } => {
                    titles.insert(id, title_of_line(&command, &line));
                }
                _ => {}
            }
        }
        let listed =
            self.recorder.with_journal(|journal| calls(journal.changes(), journal.gaps(), &titles, &self.workspace));
        listed.map_err(unusable)
    }

    /// Takes back what this call and all later ones changed. The numbers are those of [`Undo::calls`].
    ///
    /// # Errors
    ///
    /// If there is no such call, or what was kept cannot be used. What was taken back until then stays so.
    pub fn take_back(&self, number: usize) -> Result<Vec<Undoing>, Failure> {
        let calls = self.calls()?;
        if number == 0 || number > calls.len() {
            return Err(UndoError::NoCall { number, calls: calls.len() }.into());
        }
        let taken = calls.get(number - 1..).unwrap_or_default();
        let ids: Vec<&str> = taken.iter().map(|call| call.id.as_str()).collect();
        let outcomes = self.recorder.with_journal(|journal| {
            let undos = journal.changes().iter().filter(|change| change.call.starts_with(UNDO));
            let last = undos.filter_map(|change| change.call.strip_prefix(UNDO)?.parse::<usize>().ok()).max();
            let call = format!("{UNDO}{}", last.unwrap_or(0) + 1);
            let changes = journal.changes().iter().filter(|change| ids.contains(&change.call.as_str())).cloned();
            let steps = plan(&changes.collect::<Vec<_>>());
            journal.restore_all(steps, &call)
        });
        let outcomes = outcomes.and_then(|outcomes| outcomes).map_err(unusable)?;
        Ok(outcomes.into_iter().map(|(step, outcome)| self.undoing(&step, outcome)).collect())
    }

    fn undoing(&self, step: &Step, outcome: Outcome) -> Undoing {
        let became = match outcome {
            Outcome::Restored if step.target == State::Absent => Became::Removed,
            Outcome::Restored => Became::Restored,
            Outcome::Already => Became::Already,
            Outcome::LeftAlone(reason) => Became::LeftAlone(words(&reason)),
        };
        let is_folder = step.left.iter().chain([&step.target]).any(|state| matches!(state, State::Folder { .. }));
        Undoing { path: shown(&step.path, is_folder, &self.workspace), became }
    }
}

pub(crate) fn unusable(error: JournalError) -> Failure {
    Failure::from_error(ErrorKind::Configuration, &error)
}

/// What changes of files are called that no call made, and why they were made, by the id under which they are kept;
/// `None` for those of a call.
pub(crate) fn without_call(id: &str) -> Option<(String, &'static str)> {
    if id.starts_with(UNDO) {
        return Some(("undo".to_owned(), "undone by the user"));
    }
    if id.starts_with(CHECK) {
        return Some(("the checks".to_owned(), "commands of [check]"));
    }
    let event = id.strip_prefix(HOOK)?.split('-').next().unwrap_or_default();
    Some((format!("the hooks of {}", visible_line(event)), "hooks that the user set up, or of a trusted project"))
}

/// What is said of a call whose id other calls of the session have: hosts before this one took the ids of services.
pub(crate) fn several(id: &str) -> String {
    visible_line(&format!("one of several calls with the id {id}")).into_owned()
}

/// What a shell line of a command file is called.
pub(crate) fn title_of_line(command: &str, line: &str) -> String {
    visible_line(&format!("{command} {line}")).into_owned()
}

/// Returns the calls that made these changes, in their order, with their numbers.
pub(crate) fn calls(
    changes: &[Change],
    gaps: &[Gap],
    titles: &HashMap<String, String>,
    workspace: &Path,
) -> Vec<ChangingCall> {
    let mut calls: Vec<ChangingCall> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut gaps = gaps.iter().peekable();
    let mut call_of = |calls: &mut Vec<ChangingCall>, id: &str| {
        *numbers.entry(id.to_owned()).or_insert_with(|| {
            let title = titles.get(id).cloned().or_else(|| Some(without_call(id)?.0));
            let title = title.unwrap_or_else(|| visible_line(id).into_owned());
            let number = calls.len() + 1;
            calls.push(ChangingCall { number, id: id.to_owned(), title, files: Vec::new(), not_kept: Vec::new() });
            number
        })
    };
    for (at, change) in changes.iter().map(Some).chain([None]).enumerate() {
        while let Some(gap) = gaps.next_if(|gap| gap.at <= at) {
            let number = call_of(&mut calls, &gap.call);
            if let Some(call) = calls.get_mut(number - 1) {
                call.not_kept.push(visible_line(&gap.why).into_owned());
            }
        }
        let Some(change) = change else { continue };
        let number = call_of(&mut calls, &change.call);
        if let Some(call) = calls.get_mut(number - 1) {
            call.add(change, workspace);
        }
    }
    calls
}

impl ChangeKind {
    /// Returns what a change made of a file.
    pub(crate) fn from_change(change: &Change) -> Self {
        match (&change.before, &change.after) {
            (State::Absent, _) => Self::Created,
            (_, State::Absent) => Self::Removed,
            (State::File { .. } | State::Folder { .. } | State::Link { .. } | State::Other, _) => Self::Changed,
        }
    }
}

impl ChangingCall {
    /// Adds a change. Several of one file are one.
    fn add(&mut self, change: &Change, workspace: &Path) {
        let is_folder = [&change.before, &change.after].iter().any(|state| matches!(state, State::Folder { .. }));
        let path = shown(&change.path, is_folder, workspace);
        let kind = ChangeKind::from_change(change);
        let not_kept = change.not_kept.as_deref().map(|why| visible_line(why).into_owned());
        match self.files.iter().position(|file| file.path == path) {
            None => {
                let run_later_by = run_later_by(&change.path).and_then(|by| by.first().copied());
                self.files.push(FileChange { path, kind, not_kept, run_later_by });
            }
            Some(at) => {
                let Some(file) = self.files.get_mut(at) else { return };
                match (file.kind, kind) {
                    (ChangeKind::Created, ChangeKind::Removed) => drop(self.files.remove(at)),
                    (ChangeKind::Created, _) => {}
                    (ChangeKind::Removed | ChangeKind::Changed, ChangeKind::Removed) => {
                        file.kind = ChangeKind::Removed;
                    }
                    (ChangeKind::Removed | ChangeKind::Changed, _) => file.kind = ChangeKind::Changed,
                }
            }
        }
    }
}

/// Returns the paths of these changes, each once, in the order of the first.
pub fn paths(files: &[FileChange]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for file in files {
        if !paths.contains(&file.path) {
            paths.push(file.path.clone());
        }
    }
    paths
}

/// Returns the path from the workspace where it is in there, safe to show.
fn shown(path: &Path, is_folder: bool, workspace: &Path) -> String {
    let shown = path.strip_prefix(workspace).unwrap_or(path).to_string_lossy();
    let slash = if is_folder { "/" } else { "" };
    format!("{}{slash}", visible_line(&shown))
}

/// Why a file is left alone: a clause.
fn words(reason: &Reason) -> String {
    match reason {
        Reason::Changed => "it has changed since".to_owned(),
        Reason::Obstacle(Obstacle::ChangedBetween) => {
            "something else changed it between two of these calls; undo to a later call".to_owned()
        }
        Reason::Obstacle(Obstacle::NotKept(why)) => format!("what it was is not kept: {}", visible_line(why)),
        Reason::Moved => "its folder is gone, or a link now".to_owned(),
        Reason::NotEmpty => "something else is in it now".to_owned(),
        Reason::Failed(why) => visible_line(why).into_owned(),
    }
}

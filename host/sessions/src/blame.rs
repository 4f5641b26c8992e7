//! `host session blame`: which call of which session wrote each version of a file, why, and who allowed it.
//!
//! Versions come from the journals of changed files, and everything about the calls from the logs. Between two versions
//! that do not fit, something else changed the file: that is said. Permissions are not compared.
//!
//! Deliberately not here: what changed in a version, which `git` and `host session show` have.

use std::collections::{HashMap, hash_map};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use host_files::ChainStore;
use host_journal::{Calls, Fact, Journals, LoggedCall, MAIN, ReadError, Stored};
use host_message::{Part, PartData, Role};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Notice, one_line, visible_line};
use host_tool::Decided;
use host_undo::{Change, Digest, RecordedChanges, State, VerifiedChanges};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::undo::{ChangeKind, calls, several, title_of_line, unusable, without_call};

/// The most of a prompt that is shown, in characters.
const PROMPT: usize = 300;

/// The versions of a file that sessions wrote.
#[derive(Debug, Serialize)]
pub struct Blame {
    /// The file: absolute, safe to show.
    pub path: String,
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// What is there now, against the last version.
    pub now: Now,
    /// What else a user should know: sentences without a full stop, safe to show.
    #[serde(serialize_with = "as_texts")]
    pub notes: Vec<Notice>,
}

/// A version of a file, that a call left there.
#[derive(Debug, Serialize)]
pub struct Version {
    /// When it was written; `None` if neither the journal nor the log of an older host says.
    pub time: Option<Timestamp>,
    /// The session.
    pub session: String,
    /// The number of the call among those that changed files, as in `host undo`.
    pub call: usize,
    /// The call's id; that of an undo begins with `undo-`, that of hooks with `hook-`.
    pub call_id: String,
    /// The tool; `None` for an undo, hooks and a line of a command file, or if the log does not have the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call is called on one line, such as the command of a program, as in `host undo`; safe to show.
    pub title: String,
    /// Whether a program that the call ran may have written it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_program: bool,
    /// The user's prompt that led to it, cut, safe to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What was decided about the call; `None` for an undo, or if the log does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Why it was allowed: rules, grants, the mode, the user's answer, or what it was if no call; safe to show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// What became of the file.
    pub kind: ChangeKind,
    /// What was there then.
    pub content: Content,
    /// Whether something else changed the file between the version before and this one.
    pub changed_before: bool,
    /// Whether the call was stopped, or failed, before it wrote: then the file stayed as it was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_written: bool,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Content {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// The BLAKE3 digest of its content.
        digest: String,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A folder.
    Folder,
    /// A symbolic link.
    Link {
        /// Where it leads, safe to show.
        target: String,
    },
    /// Something whose content was not kept, or cannot be read.
    Unknown,
}

/// What is there now, against the last version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Now {
    /// No session wrote it.
    NoVersion,
    /// It is as the last version.
    Unchanged,
    /// Something else changed it since.
    Changed,
    /// It is gone, and no session removed it.
    Removed,
    /// It cannot be read, or the last version was not kept.
    Unknown,
}

/// What a log says about a call.
#[derive(Default)]
struct Attribution {
    tool: String,
    title: String,
    prompt: Option<String>,
    time: Option<Timestamp>,
    decided: Option<Decided>,
    because: Vec<String>,
    by_program: bool,
}

/// Why nothing is known of a file.
#[derive(Debug, thiserror::Error)]
pub enum BlameError {
    /// Its path cannot be made absolute.
    #[error("`{}` cannot be found: {cause}", .file.display())]
    NotFound {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There is none, and there was none.
    #[error("there is no file `{}`, and no session changed one", .0.display())]
    NoFile(PathBuf),
}

impl Fault for BlameError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NotFound { .. } => None,
            Self::NoFile(_) => Some(
                Advice::from("name a file that a session changed; ")
                    .bare_command("undo")
                    .text(" lists those of a session"),
            ),
        }
    }
}

/// Returns the versions of a file over all sessions.
///
/// # Errors
///
/// If there is no such file and no session wrote it, or the sessions cannot be listed.
pub fn blame(file: &Path, sessions: &dyn Journals, chains: &ChainStore) -> Result<Blame, Failure> {
    let absolute = std::path::absolute(file).map_err(|cause| BlameError::NotFound { file: file.to_owned(), cause })?;
    let mut found = Blame::read(&real(&absolute), sessions, chains)?;
    // A tool that writes through a link writes the file behind it.
    if found.versions.is_empty()
        && let Ok(target) = fs::canonicalize(&absolute)
    {
        found = Blame::read(&target, sessions, chains)?;
    }
    if found.versions.is_empty() && fs::symlink_metadata(&absolute).is_err() {
        return Err(BlameError::NoFile(file.to_owned()).into());
    }
    Ok(found)
}

fn as_texts<S: Serializer>(notes: &[Notice], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(notes.iter().map(Notice::to_string))
}

impl Blame {
    fn read(path: &Path, sessions: &dyn Journals, chains: &ChainStore) -> Result<Self, Failure> {
        let (mut changes, mut notes) = (Vec::new(), Vec::new());
        for stored in sessions.list()? {
            match versions(&stored, path, chains, &mut notes) {
                Ok(more) => changes.extend(more),
                Err(failure) => {
                    let why = visible_line(&failure.message).into_owned();
                    notes.push(format!("what session {} changed is not known: {why}", stored.id).into());
                }
            }
        }
        // Those of one session stay in their order.
        changes.sort_by_key(|(version, _)| version.time);
        for at in 1..changes.len() {
            let Some([(_, before), (version, change)]) = changes.get_mut(at - 1..=at) else { continue };
            version.changed_before = content(&before.after) != content(&change.before);
        }
        for at in 0..changes.len() {
            let next = changes.get(at + 1).map(|(_, next)| content(&next.before));
            let Some((version, change)) = changes.get_mut(at) else { continue };
            let (before, after) = (content(&change.before), content(&change.after));
            version.not_written = next.is_some_and(|next| next == before && next != after);
        }
        for at in 1..changes.len() {
            let stayed = changes.get(at - 1).is_some_and(|(before, _)| before.not_written);
            if let Some((version, _)) = changes.get_mut(at).filter(|_| stayed) {
                version.changed_before = false;
            }
        }
        let now = changes.last().map_or(Now::NoVersion, |(_, last)| now(path, last));
        let versions = changes.into_iter().map(|(version, _)| version).collect();
        Ok(Self { path: visible_line(&path.to_string_lossy()).into_owned(), versions, now, notes })
    }
}

/// Returns the versions of a file that a session wrote, with their changes.
fn versions(
    stored: &Stored,
    path: &Path,
    chains: &ChainStore,
    notes: &mut Vec<Notice>,
) -> Result<Vec<(Version, Change)>, Failure> {
    let folder = stored.artifacts().undo();
    let recorded = RecordedChanges::read(&folder).map_err(unusable)?;
    let is_in_workspace = stored.workspace().ok().flatten().is_some_and(|workspace| path.starts_with(workspace));
    for gap in recorded.gaps.iter().filter(|gap| is_in_workspace && gap.is_within()) {
        let (call, why) = (visible_line(&gap.call), visible_line(&gap.why));
        notes.push(format!("the call {call} of session {} may have changed it: {why}", stored.id).into());
    }
    if !recorded.changes.iter().any(|change| change.path == path) {
        return Ok(Vec::new());
    }
    let id = &stored.id;
    let is_changed = stored.verify(chains)?.findings.iter().any(|finding| finding.fault.is_change())
        || VerifiedChanges::is_journal_changed(&folder, chains).map_err(unusable)?;
    if is_changed {
        let changed = Notice::from(format!("what session {id} says was changed since it was recorded: "));
        notes.push(changed.bare_command(format!("session verify {id}")));
    }
    let (mut logged, damage) = attributions(stored);
    if let Some(error) = damage {
        let why = error.to_string();
        notes.push(format!("the log of session {id} cannot be read to its end: {}", visible_line(&why)).into());
    }
    let numbered = calls(&recorded.changes, &recorded.gaps, &HashMap::new(), Path::new(""));
    let mut last = None;
    let mut versions = Vec::new();
    for (change, time) in recorded.changes.into_iter().zip(recorded.times) {
        let call = logged.entry(change.call.clone()).or_default();
        let time = time.and_then(|time| Timestamp::from_millisecond(i64::try_from(time).ok()?).ok()).or(call.time);
        last = time.max(last);
        if change.path != path {
            continue;
        }
        let number = numbered.iter().find(|numbered| numbered.id == change.call).map_or(0, |call| call.number);
        let without_call = without_call(&change.call);
        let because = without_call.as_ref().map_or_else(|| call.because.clone(), |(_, why)| vec![(*why).to_owned()]);
        let version = Version {
            time: last,
            session: id.to_string(),
            call: number,
            call_id: visible_line(&change.call).into_owned(),
            tool: Some(call.tool.clone()).filter(|tool| !tool.is_empty()),
            title: without_call.map_or_else(|| call.title.clone(), |(title, _)| title),
            by_program: call.by_program,
            prompt: call.prompt.clone(),
            decided: call.decided,
            because,
            kind: ChangeKind::from_change(&change),
            content: content(&change.after),
            changed_before: false,
            not_written: false,
        };
        versions.push((version, change));
    }
    Ok(versions)
}

/// Returns what a log says about each call, by its id, and the error that ended the reading.
fn attributions(stored: &Stored) -> (HashMap<String, Attribution>, Option<ReadError>) {
    let (mut all, mut damage) = (HashMap::new(), None);
    let (mut calls, mut ended) = (Calls::default(), Vec::new());
    // The prompt of each call, by its number.
    let (mut prompt, mut prompts) = (None, Vec::new());
    let records = match stored.records() {
        Ok(records) => records,
        Err(error) => return (all, Some(error)),
    };
    for logged in records {
        let logged = match logged {
            Ok(logged) => logged,
            Err(error) => {
                damage = Some(error);
                break;
            }
        };
        ended.extend(calls.take_in(&logged));
        if let Fact::Content { prompt: asked, content } = &logged.fact {
            match content.role {
                Role::User if asked.agent.as_str() == MAIN => {
                    prompt = Some(one_line(&content.visible_text(), PROMPT));
                }
                Role::User => {}
                Role::Model => prompts.extend(content.function_calls().map(|_| prompt.clone())),
            }
        }
        if let Fact::NestedCall { .. } = &logged.fact {
            prompts.push(prompt.clone());
        }
        if let Fact::CommandLine { command, call_id, line } = &logged.fact {
            let title = title_of_line(command, line);
            let because = vec!["a line of a command file that the user ran".to_owned()];
            let time = Some(logged.time);
            let call = Attribution { title, time, because, by_program: true, ..Attribution::default() };
            all.insert(call_id.to_string(), call);
        }
    }
    for call in ended.into_iter().chain(calls.into_open()) {
        let prompt = prompts.get(call.number).cloned().flatten();
        add(&mut all, call, prompt);
    }
    (all, damage)
}

fn add(all: &mut HashMap<String, Attribution>, call: LoggedCall, prompt: Option<String>) {
    match all.entry(call.call.id.to_string()) {
        hash_map::Entry::Vacant(entry) => drop(entry.insert(Attribution::new(call, prompt))),
        // Two agents of an older host's log may have calls with one id.
        hash_map::Entry::Occupied(mut entry) => {
            let title = several(entry.key());
            entry.insert(Attribution { title, ..Attribution::default() });
        }
    }
}

impl Attribution {
    fn new(LoggedCall { call, time, because, end, .. }: LoggedCall, prompt: Option<String>) -> Self {
        let end = end.filter(|end| answers(&end.parts));
        let report = end.as_ref().and_then(|end| end.report.as_ref());
        Self {
            tool: visible_line(call.name.as_str()).into_owned(),
            title: report.map_or_else(
                || host_tool::title_of_arguments(&call),
                |report| visible_line(&report.title).into_owned(),
            ),
            prompt,
            time: Some(time),
            decided: end.as_ref().and_then(|end| end.decided),
            because: because.iter().map(|why| visible_line(why).into_owned()).collect(),
            by_program: report.is_some_and(|report| report.command.is_some()),
        }
    }
}

/// Whether parts are the outcome of a call.
fn answers(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part.data, PartData::FunctionResponse(_)))
}

fn content(state: &State) -> Content {
    match state {
        State::Absent => Content::Absent,
        State::File { digest, size, .. } => Content::File { digest: digest.as_str().to_owned(), bytes: *size },
        State::Folder { .. } => Content::Folder,
        State::Link { target } => Content::Link { target: visible_line(&target.to_string_lossy()).into_owned() },
        State::Other => Content::Unknown,
    }
}

/// Returns what is at a path.
fn content_at(path: &Path) -> Content {
    let Ok(about) = fs::symlink_metadata(path) else { return Content::Absent };
    if about.is_dir() {
        return Content::Folder;
    }
    if about.is_symlink() {
        let target = fs::read_link(path).ok();
        return target.map_or(Content::Unknown, |target| content(&State::Link { target }));
    }
    let digest = about.is_file().then(|| File::open(path).and_then(Digest::of_reader).ok()).flatten();
    digest.map_or(Content::Unknown, |(digest, bytes)| Content::File { digest: digest.as_str().to_owned(), bytes })
}

/// Compares what is at a path with what the last change left there.
fn now(path: &Path, last: &Change) -> Now {
    match (content_at(path), content(&last.after)) {
        (Content::Unknown, _) | (_, Content::Unknown) => Now::Unknown,
        (is, was) if is == was => Now::Unchanged,
        (Content::Absent, _) => Now::Removed,
        _ => Now::Changed,
    }
}

/// Returns a path without links on the way, as journals have it; the last name may be a link, and what is missing
/// stays.
fn real(path: &Path) -> PathBuf {
    let Some(name) = path.file_name() else { return fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) };
    let folder = path.parent().unwrap_or(path);
    let there = folder.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let Some((above, real)) = there else { return path.to_owned() };
    real.join(folder.strip_prefix(above).unwrap_or(Path::new(""))).join(name)
}

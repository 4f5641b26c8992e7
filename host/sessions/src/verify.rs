//! `host session verify`: whether a recorded session is as it was written, in words.
//!
//! Verifies each byte of the log and of the large outputs beside it, each byte of the journal of changed files, and
//! each content that is kept to undo them. Deliberately not here: how a change is found (`host-files`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use host_files::{ChainFault, ChainStore};
use host_journal::{Artifacts, Finding, FoundWhen, Journals, Stored};
use host_settings::error::Failure;
use host_text::{Advice, counted, visible_line, with_causes};
use host_undo::{Digest, VerifiedChanges};
use serde::Serialize;

/// What verifying a session has shown.
#[derive(Debug, Serialize)]
pub struct SessionVerdict {
    /// Its id.
    pub session: String,
    /// What it came to.
    pub verdict: Verdict,
    /// The number of lines of its log.
    pub lines: u64,
    /// The number of lines of its journal of changed files.
    pub journal_lines: u64,
    /// The number of kept contents and large outputs that are as they were written.
    pub kept: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What else a user should know: sentences without a full stop, safe to show.
    pub notes: Vec<String>,
}

/// What verifying a session came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of it is as it was written.
    Verified,
    /// Something of it was changed.
    Changed,
    /// Nothing shows that it was changed, and nothing that it was not.
    Unverifiable,
}

/// Something that is wrong with a session.
#[derive(Debug, Serialize)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The line of the log or the journal, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// A sentence without a full stop, safe to show.
    pub message: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A line was changed, added, moved or removed.
    Changed,
    /// Lines at the end are missing.
    Cut,
    /// The whole log is missing.
    Missing,
    /// A kept content, or a large output, is not what it was.
    ContentChanged,
    /// A kept content, or a large output, is missing.
    ContentMissing,
    /// An older host wrote it, without a chain.
    Unchained,
    /// Another user's or machine's key wrote it.
    OtherKey,
    /// It cannot be read.
    Unreadable,
}

impl ProblemKind {
    fn is_change(self) -> bool {
        match self {
            Self::Changed | Self::Cut | Self::Missing | Self::ContentChanged | Self::ContentMissing => true,
            Self::Unchained | Self::OtherKey | Self::Unreadable => false,
        }
    }
}

/// Verifies a session, with what is kept of its changes.
pub fn verify(stored: &Stored, chains: &ChainStore) -> SessionVerdict {
    let mut verdict = SessionVerdict::new(stored.id.as_str());
    verdict.take_log(stored, chains);
    verdict.take_changes(stored, chains);
    verdict.decided()
}

/// Returns a verdict for each session that was recorded and whose log is gone without `host session rm`.
///
/// # Errors
///
/// If the folder of the logs or that of their ends cannot be listed.
pub fn missing(sessions: &dyn Journals, chains: &ChainStore) -> Result<Vec<SessionVerdict>, Failure> {
    let known = sessions.list()?;
    let ids = began(chains)?;
    let gone = ids.iter().filter(|name| !known.iter().any(|stored| stored.id.as_str() == name.as_str()));
    Ok(gone
        .map(|name| {
            let mut verdict = SessionVerdict::new(name);
            let message = "the log is missing, though the session was never removed".to_owned();
            verdict.add(ProblemKind::Missing, None, message);
            verdict.decided()
        })
        .collect())
}

/// Returns the ids of all sessions of which a line was written once.
///
/// # Errors
///
/// If the folder of the logs' ends cannot be listed.
pub fn began(chains: &ChainStore) -> Result<BTreeSet<String>, Failure> {
    let names = chains.names().map_err(host_journal::SessionError::from)?;
    Ok(names.into_iter().filter(|name| !name.contains('.')).collect())
}

impl SessionVerdict {
    fn new(session: &str) -> Self {
        let (problems, notes) = (Vec::new(), Vec::new());
        let session = visible_line(session).into_owned();
        Self { session, verdict: Verdict::Verified, lines: 0, journal_lines: 0, kept: 0, problems, notes }
    }

    fn decided(mut self) -> Self {
        self.verdict = match self.problems.as_slice() {
            [] => Verdict::Verified,
            some if some.iter().any(|problem| problem.kind.is_change()) => Verdict::Changed,
            _ => Verdict::Unverifiable,
        };
        self
    }

    fn add(&mut self, kind: ProblemKind, line: Option<u64>, message: String) {
        self.problems.push(Problem { kind, line, message });
    }

    fn take_log(&mut self, stored: &Stored, chains: &ChainStore) {
        let verified = match stored.verify(chains) {
            Ok(verified) => verified,
            Err(error) => return self.add(ProblemKind::Unreadable, None, words(&error)),
        };
        self.lines = verified.lines;
        self.take_outputs(&verified.outputs, &stored.artifacts());
        for Finding { fault, when } in verified.findings {
            match when {
                FoundWhen::Now => self.fault("the log", fault, ""),
                FoundWhen::Resumed { line, time } if fault.is_change() => {
                    self.fault("the log", fault, &format!(", as was found when line {line} resumed it at {time}"));
                }
                FoundWhen::Resumed { line, time } => {
                    self.notes.push(format!(
                        "the lines before line {line} could not be verified when it resumed the session at {time}; \
                         since then they are unchanged"
                    ));
                }
                FoundWhen::Copied(original) if fault.is_change() => {
                    let of = format!("the log of `{original}`");
                    self.fault(&of, fault, ", as was found when this copy was made of it");
                }
                FoundWhen::Copied(original) => {
                    self.notes.push(format!("the log of `{original}` could not be verified when this copy was made"));
                }
            }
        }
        if verified.unchained > 0 && verified.unchained < verified.lines && self.problems.is_empty() {
            let lines = counted(verified.unchained, "line");
            self.notes.push(format!("an older host wrote the first {lines}, which are covered since then"));
        }
        if verified.torn_bytes > 0 {
            let bytes = counted(verified.torn_bytes, "byte");
            self.notes
                .push(format!("the last line is unfinished, with {bytes}: its process was killed, or still writes"));
        }
        if !verified.has_head && self.problems.is_empty() {
            self.notes
                .push("where the log ended is not known here, so missing lines at its end are not found".to_owned());
        }
    }

    /// Compares the files with large outputs with the digests that the log has.
    fn take_outputs(&mut self, outputs: &[(String, String)], artifacts: &Artifacts) {
        for (name, digest) in outputs {
            let shown = visible_line(name);
            // Only the host's own names are in a line that is intact; another one would lead out of the folder.
            let path = artifacts.output(name).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
            match path.and_then(File::open).and_then(Digest::of_reader) {
                Ok((found, _)) if found.as_str() == digest => self.kept += 1,
                Ok(_) => {
                    let message = format!("the large output `{shown}` is not what it was");
                    self.add(ProblemKind::ContentChanged, None, message);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.add(ProblemKind::ContentMissing, None, format!("the large output `{shown}` is missing"));
                }
                Err(error) => {
                    let message = format!("the large output `{shown}` cannot be read: {error}");
                    self.add(ProblemKind::Unreadable, None, message);
                }
            }
        }
    }

    fn take_changes(&mut self, stored: &Stored, chains: &ChainStore) {
        let verified = match VerifiedChanges::verify(&stored.artifacts().undo(), chains) {
            Ok(verified) => verified,
            Err(error) => return self.add(ProblemKind::Unreadable, None, words(&error)),
        };
        self.journal_lines = verified.lines;
        self.kept += verified.kept;
        for fault in verified.faults {
            self.fault("the journal of changed files", fault, "");
        }
        for (line, fault) in verified.recorded {
            if fault.is_change() {
                self.fault("the journal of changed files", fault, &format!(", as line {line} found that continued it"));
            } else {
                self.notes.push(format!("the journal's lines before line {line} could not be verified then"));
            }
        }
        for digest in verified.damaged {
            let message = format!("the kept content `{}` is not what it was", digest.as_str());
            self.add(ProblemKind::ContentChanged, None, message);
        }
        for digest in verified.missing {
            let message = format!("the kept content `{}` is missing", digest.as_str());
            self.add(ProblemKind::ContentMissing, None, message);
        }
    }

    fn fault(&mut self, of: &str, fault: ChainFault, found: &str) {
        let (kind, line, message) = match fault {
            ChainFault::Changed { line } => (
                ProblemKind::Changed,
                Some(line),
                format!(
                    "line {line} of {of} is not as it was written, or lines before it were changed, added or removed"
                ),
            ),
            ChainFault::Cut { lines } => {
                let gone = counted(lines, "line");
                let message = format!(
                    "{gone} at the end of {of} are missing: they were cut off, or the machine stopped before they were on \
                     the disk"
                );
                (ProblemKind::Cut, None, message)
            }
            ChainFault::Unchained { .. } => (
                ProblemKind::Unchained,
                None,
                format!("{of} has no chain: an older host wrote it, so nothing shows whether it was changed"),
            ),
            ChainFault::OtherKey { line } => (
                ProblemKind::OtherKey,
                Some(line),
                format!(
                    "from line {line} on {of} was written with the key of another user or machine, which is not here"
                ),
            ),
        };
        self.add(kind, line, message + found);
    }

    /// Returns what a user can do about the problems; `None` if there are none.
    pub fn help(&self) -> Option<Advice> {
        let session = &self.session;
        match self.verdict {
            Verdict::Verified => None,
            Verdict::Changed => Some(
                Advice::from(format!(
                    "do not rely on what session {session} says; restore its files from a backup, or remove it with "
                ))
                .bare_command(format!("session rm {session}")),
            ),
            Verdict::Unverifiable => Some(Advice::from(format!(
                "verify it where it was recorded, or resume it here: from then on changes of session {session} are found"
            ))),
        }
    }
}

fn words(error: &dyn std::error::Error) -> String {
    visible_line(&with_causes(error)).into_owned()
}

//! Verifies a log: whether any byte of it was changed since it was written.
//!
//! What was wrong when a session was resumed or copied is in the log since then, so that continuing a changed log hides
//! nothing. Deliberately not here: the changes of files that a session keeps to undo them, which `host-undo` verifies.

use std::io::Read;

use host_files::{ChainFault, ChainStore, LineState};
use host_message::SessionId;
use jiff::Timestamp;

use crate::read::{MAX_LINE, parse};
use crate::{Fact, SessionError, Stored};

/// What a resumed or copied log has in its entry, if something was wrong with it.
const FOUND: &[u8] = b"\"found\":[";

/// What the report of a call has whose response is in a file.
const WHOLE: &[u8] = b"\"whole_digest\":\"";

/// What the chain of a log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The number of its whole lines.
    pub lines: u64,
    /// The bytes of an unfinished line at the end, of a process that was killed.
    pub torn_bytes: u64,
    /// The number of lines at the beginning that an older host wrote, without a chain.
    pub unchained: u64,
    /// Whether missing lines at the end would be noticed.
    pub has_head: bool,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// The files with large outputs that it names, each with the digest of what was written.
    pub outputs: Vec<(String, String)>,
}

/// Something that is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub fault: ChainFault,
    /// When it was found.
    pub when: FoundWhen,
}

/// When something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundWhen {
    /// Just now.
    Now,
    /// When the session was resumed, and the lines until then were taken as they were.
    Resumed {
        /// The line that says so.
        line: u64,
        /// The time.
        time: Timestamp,
    },
    /// When it was copied from this session, whose lines are counted.
    Copied(SessionId),
}

impl Stored {
    /// Verifies the log as it is on the disk. A process may be writing it.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn verify(&self, chains: &ChainStore) -> Result<Verified, SessionError> {
        let log = self.bytes().map_err(|cause| SessionError::Open { path: self.path.clone(), cause })?;
        verify(&self.id, log, chains)
    }
}

/// Verifies the log of this session.
pub(super) fn verify(id: &SessionId, log: impl Read, chains: &ChainStore) -> Result<Verified, SessionError> {
    let (mut findings, mut outputs) = (Vec::new(), Vec::new());
    let examined = chains.examine(id.as_str(), log, MAX_LINE as u64, |number, line, state| {
        if state == LineState::Intact && memchr::memmem::find(line, FOUND).is_some() {
            findings.extend(recorded(number, line));
        }
        if state == LineState::Intact && memchr::memmem::find(line, WHOLE).is_some() {
            outputs.extend(output(line));
        }
    })?;
    findings.extend(examined.faults().into_iter().map(|fault| Finding { fault, when: FoundWhen::Now }));
    Ok(Verified {
        lines: examined.lines,
        torn_bytes: examined.torn_bytes,
        unchained: examined.unchained,
        has_head: examined.has_head,
        findings,
        outputs,
    })
}

/// The file with the response of a call, and its digest.
fn output(line: &[u8]) -> Option<(String, String)> {
    let Fact::CallSettled { end, .. } = parse(line, false).ok()?.fact else { return None };
    let report = end.report.as_ref()?;
    report.whole.clone().zip(report.whole_digest.clone())
}

/// What an entry says was wrong with the log before it.
fn recorded(number: u64, line: &[u8]) -> Vec<Finding> {
    // An entry that cannot be read says nothing; reading the log reports it.
    let Ok(logged) = parse(line, number == 1) else { return Vec::new() };
    let (found, when) = match logged.fact {
        Fact::Resumed { found, .. } => (found, FoundWhen::Resumed { line: number, time: logged.time }),
        Fact::Session { found, copy_of: Some(original), .. } => (found, FoundWhen::Copied(original)),
        _ => return Vec::new(),
    };
    found.into_iter().map(|fault| Finding { fault, when: when.clone() }).collect()
}

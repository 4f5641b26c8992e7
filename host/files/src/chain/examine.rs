//! What the links of a file say about its lines.

use std::io::{BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};

use super::{ChainError, ChainStore, END, FIELD, Head, KEY_ID, LINK};

/// Bytes that are read at once.
pub(super) const BUFFER: usize = 256 << 10;

/// What is wrong with a chained file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ChainFault {
    /// This line is not as it was written, or lines before it were changed, added, moved or removed.
    Changed {
        /// The first such line, from 1.
        line: u64,
    },
    /// Lines at the end are gone.
    Cut {
        /// Their number.
        lines: u64,
    },
    /// No line has a link: the file was written by an older host, and cannot be verified.
    Unchained {
        /// Their number.
        lines: u64,
    },
    /// From this line on the links are of a different key, of another user or machine, and cannot be verified.
    OtherKey {
        /// The first such line, from 1.
        line: u64,
    },
}

impl ChainFault {
    /// Returns whether something was changed, and not only cannot be verified.
    pub fn is_change(self) -> bool {
        match self {
            Self::Changed { .. } | Self::Cut { .. } => true,
            Self::Unchained { .. } | Self::OtherKey { .. } => false,
        }
    }
}

/// What the link of a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    /// The line and all before it are as they were when it was written.
    Intact,
    /// It has no link.
    Unchained,
    /// Its link does not fit.
    Broken,
    /// Its link is of a different key.
    OtherKey,
}

/// What the links of a file say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// The number of its lines that end.
    pub lines: u64,
    /// The bytes behind them: a line that was not written to its end.
    pub torn_bytes: u64,
    /// The number of lines at the beginning without a link.
    pub unchained: u64,
    /// Whether its end is known, so that missing lines are noticed.
    pub has_head: bool,
    /// The first line that is not intact, of those behind the beginning without links.
    broken: Option<(u64, LineState)>,
    /// Whether the last line is intact, and so everything before it was so when that was written.
    is_sealed: bool,
    /// The line, counted by the head, that is missing or not as the head has it.
    disagrees: Option<u64>,
}

impl ChainStore {
    /// Examines the file with this name. Each line that ends is handed over with its number, from 1. A line that is
    /// longer than the limit in bytes is broken, and what comes behind it is not read.
    ///
    /// # Errors
    ///
    /// When the file or its head cannot be read.
    pub fn examine(
        &self,
        name: &str,
        file: impl Read,
        limit: u64,
        mut each: impl FnMut(u64, &[u8], LineState),
    ) -> Result<Examined, ChainError> {
        // Before the file, which grows first.
        let head = self.head(name)?;
        let failed = |cause| ChainError::Io { path: self.folder.join(name), cause };
        let input = BufReader::with_capacity(BUFFER, file);
        let (mut input, mut hasher, key_id) = (input, self.hasher(name), self.key_id());
        let (mut examined, mut line) = (Examined { has_head: head.is_some(), ..Examined::default() }, Vec::new());
        let mut at_head = None;
        loop {
            line.clear();
            // One byte more tells a line that is too long from the longest one.
            let length = (&mut input).take(limit + 1).read_until(b'\n', &mut line).map_err(failed)? as u64;
            if length > limit {
                examined.take_in(LineState::Broken);
                break;
            }
            // Half a line is what a killed process leaves; its hash was never counted.
            if line.last() != Some(&b'\n') {
                examined.torn_bytes = length;
                break;
            }
            let linked = link(&line);
            let state = match linked {
                None => {
                    // Covered by the next link all the same, so that an old log can go on with a chain.
                    hasher.update(&line);
                    LineState::Unchained
                }
                Some((at, link)) => {
                    let (body, rest) = line.split_at(at);
                    // Up to the link's own field, which cannot cover itself.
                    hasher.update(body);
                    let hash = hasher.finalize();
                    // The links are covered by those behind them, or one could be swapped for that of a copy.
                    hasher.update(rest);
                    state(link, &key_id, hash)
                }
            };
            examined.take_in(state);
            if head.as_ref().is_some_and(|head| head.lines == examined.lines) {
                // Compared at that line: the file may have grown since the head was read.
                at_head = linked.map(|(_, link)| link.to_vec());
            }
            each(examined.lines, &line, state);
        }
        examined.disagrees = head.and_then(|Head { lines, link }| {
            let agrees = at_head.is_some_and(|found| found == link.as_bytes());
            (!agrees).then_some(lines)
        });
        Ok(examined)
    }
}

impl Examined {
    fn take_in(&mut self, state: LineState) {
        self.lines += 1;
        self.is_sealed = state == LineState::Intact;
        match state {
            LineState::Intact => {}
            LineState::Unchained if self.unchained + 1 == self.lines => self.unchained += 1,
            LineState::Unchained | LineState::Broken | LineState::OtherKey => {
                self.broken.get_or_insert((self.lines, state));
            }
        }
    }

    /// Returns what is wrong with the file as it is. What was wrong when it was continued is not among it: that is in
    /// what was written then.
    pub fn faults(&self) -> Vec<ChainFault> {
        let mut faults = Vec::new();
        match (self.disagrees, self.broken) {
            // Without a head it is a log of another machine, and not one that was changed.
            (_, Some((line, LineState::OtherKey))) if !self.is_sealed && !self.has_head => {
                faults.push(ChainFault::OtherKey { line });
            }
            (_, Some((line, _))) if !self.is_sealed => faults.push(ChainFault::Changed { line }),
            // The head says that it had links, so someone took them all out.
            (Some(_), None) if self.lines > 0 && self.unchained == self.lines => {
                faults.push(ChainFault::Changed { line: 1 });
            }
            (Some(line), _) if line <= self.lines => faults.push(ChainFault::Changed { line }),
            (None, None) if self.lines > 0 && self.unchained == self.lines => {
                faults.push(ChainFault::Unchained { lines: self.lines });
            }
            _ => {}
        }
        // Reported beside anything else: lines can be changed and others be gone.
        if let Some(missing) = self.disagrees.and_then(|lines| lines.checked_sub(self.lines)).filter(|lines| *lines > 0)
        {
            faults.push(ChainFault::Cut { lines: missing });
        }
        faults
    }
}

/// Returns what a link says, given the id of our key and the hash of what the link covers.
pub(super) fn state(link: &[u8], key_id: &str, hash: blake3::Hash) -> LineState {
    let (id, found) = link.split_at(KEY_ID);
    match hash.to_hex().as_bytes().get(..LINK - KEY_ID) == Some(found) {
        true if id == key_id.as_bytes() => LineState::Intact,
        _ if id != key_id.as_bytes() => LineState::OtherKey,
        _ => LineState::Broken,
    }
}

/// Returns where the field with the link begins in a line with its line end, and the link.
pub(super) fn link(line: &[u8]) -> Option<(usize, &[u8])> {
    let at = line.len().checked_sub(FIELD.len() + LINK + END.len())?;
    let link = line.get(at..)?.strip_prefix(FIELD)?.strip_suffix(END)?;
    Some((at, link))
}

/// Returns a line without its link and its line end, as the object that it was before.
pub fn without_link(line: &[u8]) -> Vec<u8> {
    match link(line) {
        Some((at, _)) => [line.get(..at).unwrap_or_default(), b"}"].concat(),
        None => line.strip_suffix(b"\n").unwrap_or(line).to_vec(),
    }
}

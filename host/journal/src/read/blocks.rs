//! A log in blocks of whole lines, which several threads can parse at once.
//!
//! Deliberately not here: the order in which parsed blocks are taken.

use std::io::{self, Read};

use super::MAX_LINE;
use super::line::{Flaw, parse};
use crate::Logged;

/// Bytes of the first block. Few, since a list of sessions reads only the first line of each.
const FIRST_BLOCK: usize = 8 << 10;

/// Bytes of a later one: much work beside what handing it over costs, and little memory.
const BLOCK: usize = 128 << 10;

/// Cuts a log into blocks.
pub(super) struct Blocks<R> {
    input: R,
    /// What was read behind the last line end.
    rest: Vec<u8>,
    /// The number of the next block.
    number: u64,
    ended: bool,
}

/// Some lines. All end in a line end, but for one at the end of the log.
pub(super) struct Block {
    /// Its number, from 0.
    pub(super) number: u64,
    lines: Vec<u8>,
    /// Why nothing follows, if that is not an end.
    failed: Option<io::Error>,
}

/// The entries of a block.
pub(super) struct Parsed {
    pub(super) entries: Vec<Logged>,
    /// The bytes that they take.
    pub(super) whole_bytes: u64,
    /// Whether the last of them is whole but for its line end.
    pub(super) ends_open: bool,
    pub(super) ending: Ending,
}

/// What comes behind the entries of a block.
pub(super) enum Ending {
    /// Another block, or nothing.
    Block,
    /// So many bytes of a line that was not written to its end.
    Torn(u64),
    /// Something that the system does not hand over.
    Failed(io::Error),
    /// The first line of a newer version.
    Version(u32),
    /// A line that is not an entry, for this reason.
    Damaged(String),
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, rest: Vec::new(), number: 0, ended: false }
    }

    /// Returns the next block; none is empty but one whose lines cannot be read.
    pub(super) fn next(&mut self) -> Option<Block> {
        if self.ended {
            return None;
        }
        let mut lines = std::mem::take(&mut self.rest);
        let mut wanted = if self.number == 0 { FIRST_BLOCK } else { BLOCK };
        let failed = loop {
            let before = lines.len();
            lines.reserve(wanted);
            match self.input.by_ref().take(wanted as u64).read_to_end(&mut lines) {
                Ok(count) if count < wanted => {
                    self.ended = true;
                    break None;
                }
                Ok(_) => {}
                Err(error) => {
                    // Whole lines only: what was read of the last one may be half.
                    lines.truncate(memchr::memrchr(b'\n', &lines).map_or(0, |at| at + 1));
                    self.ended = true;
                    break Some(error);
                }
            }
            if let Some(at) = lines.get(before..).and_then(|read| memchr::memrchr(b'\n', read)) {
                // The rest begins the next block, so that no line is parsed in two.
                self.rest = lines.split_off(before + at + 1);
                break None;
            }
            // A longer line is an error, whatever follows.
            if lines.len() > MAX_LINE {
                self.ended = true;
                break None;
            }
            // Doubled, so that a long line is not read in thousands of pieces.
            wanted = lines.len().min(MAX_LINE + 1 - lines.len());
        };
        if lines.is_empty() && failed.is_none() {
            return None;
        }
        self.number += 1;
        Some(Block { number: self.number - 1, lines, failed })
    }
}

impl Block {
    /// Reads the entries.
    pub(super) fn parse(self) -> Parsed {
        let mut parsed = Parsed { entries: Vec::new(), whole_bytes: 0, ends_open: false, ending: Ending::Block };
        let mut begin = 0;
        while let Some(rest) = self.lines.get(begin..).filter(|rest| !rest.is_empty()) {
            let (line, is_closed) = match memchr::memchr(b'\n', rest) {
                Some(at) => (rest.get(..=at).unwrap_or_default(), true),
                None => (rest, false),
            };
            let is_first = self.number == 0 && begin == 0;
            // Again here, since a block may hold several lines of which one is too long.
            if line.len() - usize::from(is_closed) > MAX_LINE {
                parsed.ending = Ending::Damaged(format!("it is longer than {MAX_LINE} bytes"));
                return parsed;
            }
            match parse(line, is_first) {
                Ok(logged) => {
                    parsed.entries.push(logged);
                    parsed.whole_bytes += line.len() as u64;
                    parsed.ends_open = !is_closed;
                }
                Err(flaw) => {
                    parsed.ending = match flaw {
                        // Half an object is never a whole one, so a last line that was cut anywhere comes here.
                        Flaw::Version(_) | Flaw::Other(_) if !is_closed => Ending::Torn(line.len() as u64),
                        Flaw::Version(version) => Ending::Version(version),
                        Flaw::Other(why) => Ending::Damaged(why),
                    };
                    return parsed;
                }
            }
            begin += line.len();
        }
        if let Some(cause) = self.failed {
            parsed.ending = Ending::Failed(cause);
        }
        parsed
    }
}

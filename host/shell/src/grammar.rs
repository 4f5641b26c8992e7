//! Reads shell lines: finds every simple command in them, and why a line is unclear.
//!
//! A line runs with `sh -c`, and `sh` may be dash or bash. So the grammar is that of POSIX; anything that the two
//! shells read differently, or that only one of them supports, makes a line unclear; the commands found so far are
//! reported all the same. It is an allow list: text that no rule here reads makes the line unclear too.
//!
//! The grammar is our own because no other one reports where dash and bash differ. Two kinds of tests compare it with
//! the real shells: `brush-parser` reads generated lines and must find nothing that is missing here, and dash and bash
//! run lines in the tests of the policy. `docs/decisions/0001-shell-readers.md` has the figures.
//!
//! It promises to end for any text, in time linear in its length, without a panic, and with bounded recursion.

mod compound;
mod expansion;
mod here;
mod parser;
mod simple;
mod words;

use crate::word::Word;

/// The longest line that is read, in bytes.
const LINE_BYTES: usize = 64 << 10;

/// How deep commands, words and expansions may nest: protects the stack.
const DEPTH: usize = 40;

/// How many commands a line may have.
const COMMANDS: usize = 512;

/// How many reasons are kept; one is enough to ask.
const REASONS: usize = 16;

/// The findings in a line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The simple commands, wherever they are, in the order in which they begin.
    pub commands: Vec<SimpleCommand>,
    /// Why the line is not clear; empty if it is.
    pub unclear: Vec<String>,
}

/// A command with its words, or the redirections of a compound one.
#[derive(Clone, Debug, Default)]
pub struct SimpleCommand {
    /// The assignments before its words.
    pub assignments: Vec<Word>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Where it reads from and writes to.
    pub redirects: Vec<Redirect>,
    /// The words of a loop that a shell replaces by names of files, or by what is known only at run time.
    pub expands: Vec<Word>,
    /// The text as it was written.
    pub source: String,
}

/// A redirection to or from a file.
#[derive(Clone, Debug)]
pub struct Redirect {
    /// It writes the file.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

/// Reads a line.
pub fn read(line: &str) -> Line {
    let mut found = Line::default();
    match line.len() > LINE_BYTES {
        true => found.mark_unclear(format!("it has {} bytes, over the {LINE_BYTES} that are read", line.len())),
        false => parser::program(line, 0, 0, &mut found),
    }
    found
}

impl Line {
    fn mark_unclear(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.unclear.len() < REASONS && !self.unclear.contains(&why) {
            self.unclear.push(why);
        }
    }
}

#[cfg(test)]
mod tests;

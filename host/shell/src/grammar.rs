//! Shell lines: every simple command in them, and what was not understood.
//!
//! A line runs with `sh -c`, and `sh` may be dash or bash. So the grammar here is that of POSIX, and whatever the two
//! read differently, or one of them has of its own, is a doubt: the line is then never taken as understood, and the
//! commands that were seen are still reported. A white list: what no rule here reads is an error or a doubt.
//!
//! Why the grammar is our own: none from elsewhere says where dash and bash part, which is what a doubt is made of, and
//! tree-sitter's for bash mends what it cannot parse. Two things hold it to the real shells: a second reader,
//! `brush-parser`, without which no line counts as understood (`second`), and a test that runs lines with both shells.
//!
//! It promises to end for any text, in time linear in its length, without a panic, and with bounded recursion.

mod compound;
mod expansion;
mod here;
mod parser;
mod second;
mod simple;
mod words;

use crate::word::Word;

/// The longest line that is read, in bytes.
const LINE_BYTES: usize = 64 << 10;

/// How deep commands, words and expansions may nest: protects the stack.
const DEPTH: usize = 40;

/// How many commands a line may have.
const COMMANDS: usize = 512;

/// How many doubts are told; one is enough to ask.
const REASONS: usize = 16;

/// What was found in a line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The simple commands, wherever they stand, in the order of their beginnings.
    pub commands: Vec<SimpleCommand>,
    /// Why the line is not understood; empty when it is.
    pub unclear: Vec<String>,
}

/// A command with its words, or the assignments or redirections of a compound one.
#[derive(Clone, Debug, Default)]
pub struct SimpleCommand {
    /// The assignments before its words.
    pub assignments: Vec<Word>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Where it reads from and writes to.
    pub redirects: Vec<Redirect>,
    /// As it was written.
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
    if found.unclear.is_empty()
        && let Some(doubt) = second::doubt(line, &found)
    {
        found.mark_unclear(doubt);
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

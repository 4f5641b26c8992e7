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
mod word;

use std::fmt;

pub(crate) use parser::is_own_name;

/// The longest line that is read, in bytes.
const LINE_BYTES: usize = 64 << 10;

/// How deep commands, words and expansions may nest: protects the stack.
const DEPTH: usize = 40;

/// How many commands a line may have.
const COMMANDS: usize = 512;

/// How many doubts are told; one is enough to ask.
const DOUBTS: usize = 16;

/// What stands in a word's text for a part that only running would tell. No argument can hold this character.
pub(crate) const UNKNOWN: char = '\0';

/// What was found in a line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The simple commands, wherever they stand, in the order of their beginnings.
    pub commands: Vec<Simple>,
    /// Why the line is not understood; empty when it is.
    pub doubts: Vec<String>,
}

/// A command with its words, or the assignments or redirections of a compound one.
#[derive(Clone, Debug, Default)]
pub struct Simple {
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

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its text, with [`UNKNOWN`] for each part that is not literal.
    pub text: String,
    /// It has parts that only running would tell.
    pub dynamic: bool,
    /// Such a part is unquoted, so the word can become several, or none.
    pub split: bool,
    /// It has an unquoted `*`, `?` or `[`.
    pub glob: bool,
    /// It has what bash takes for a brace expansion.
    pub brace: bool,
    /// It begins with an unquoted `~`.
    pub tilde: bool,
    /// Some of it was quoted.
    pub quoted: bool,
    /// It can be an assignment, and its name has so many bytes.
    pub assigns: Option<usize>,
}

impl Word {
    /// A word that stands for itself.
    pub fn literal_of(text: impl Into<String>) -> Self {
        Self { text: text.into(), quoted: true, ..Self::default() }
    }

    /// A word of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { text: UNKNOWN.to_string(), dynamic: true, split: true, ..Self::default() }
    }

    /// The word, when it is the same whatever happens.
    pub fn literal(&self) -> Option<&str> {
        (!self.dynamic && !self.glob && !self.brace && !self.tilde).then_some(self.text.as_str())
    }

    /// Whether this is literally that word.
    pub fn is(&self, text: &str) -> bool {
        self.literal() == Some(text)
    }
}

/// For people: quoted where that is needed, `…` for what is not known.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.replace(UNKNOWN, "…");
        match self.literal() {
            Some(literal) => f.write_str(&quote(literal)),
            None => f.write_str(&text),
        }
    }
}

/// The text as one word of a shell that stands for itself wherever it is.
pub fn quote(text: &str) -> String {
    const RESERVED: [&str; 15] = [
        "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select", "then",
        "until", "while",
    ];
    let option = text.starts_with('-');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c) || c == '=' && option;
    let bare = !text.is_empty() && text.chars().all(plain) && !RESERVED.contains(&text);
    match bare || matches!(text, "{}" | "[" | "]") {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Reads a line.
pub fn read(line: &str) -> Line {
    let mut found = Line::default();
    match line.len() > LINE_BYTES {
        true => found.doubt(format!("it has {} bytes, over the {LINE_BYTES} that are read", line.len())),
        false => parser::program(line, 0, 0, &mut found),
    }
    if found.doubts.is_empty()
        && let Some(doubt) = second::doubt(line, &found)
    {
        found.doubt(doubt);
    }
    found
}

impl Line {
    fn doubt(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.doubts.len() < DOUBTS && !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }
}

#[cfg(test)]
mod tests;

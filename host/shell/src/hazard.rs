//! A word that keeps a rule from covering a command.
//!
//! A rule that allows `find` does not mean `find -delete`; one that allows `find . -delete` does. So each such word is
//! reported with its index, and a rule covers it only if it reaches that index.

use crate::Word;

/// A word that keeps a rule from covering a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// The index of the word that a rule has to reach; a rule never reaches an index behind the last word.
    pub at: usize,
    /// What it makes the program do, or which word is not understood.
    pub why: String,
    /// What is known of it.
    pub kind: HazardKind,
}

/// What is known of a word that keeps a rule from covering a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HazardKind {
    /// It makes the program run or write something that its name does not say.
    Risk,
    /// It is not among the words of the program that are understood.
    UnknownWord,
    /// Nothing is known of the program.
    UnknownProgram,
    /// Its word at this index is a file or folder from which it runs something: none if that is in the workspace.
    Folder,
    /// Its word at this index is a repository that it sends to or fetches from: none if the repository's settings have
    /// a remote of this name.
    Remote,
}

impl HazardKind {
    /// Whether a look at the files decides whether there is a hazard.
    pub fn depends_on_files(self) -> bool {
        match self {
            Self::Folder | Self::Remote => true,
            Self::Risk | Self::UnknownWord | Self::UnknownProgram => false,
        }
    }
}

/// An option of a program.
pub(crate) const RISKY_OPTION: &str = "an option makes it run or write something else";

/// A script in the program's own language.
pub(crate) const RISKY_SCRIPT: &str = "its script may write or run something";

impl Hazard {
    pub(crate) fn new(at: usize, why: &str) -> Self {
        Self { at, why: why.to_owned(), kind: HazardKind::Risk }
    }

    pub(crate) fn unknown_word(at: usize, word: &Word) -> Self {
        Self { at, why: format!("not sure what `{word}` does"), kind: HazardKind::UnknownWord }
    }

    pub(crate) fn folder(at: usize) -> Self {
        Self { at, why: "it runs what is outside of the workspace".to_owned(), kind: HazardKind::Folder }
    }

    pub(crate) fn remote(at: usize, word: &Word) -> Self {
        Self { at, why: format!("`{word}` is no remote of this repository"), kind: HazardKind::Remote }
    }

    pub(crate) fn unknown_program(at: usize) -> Self {
        Self { at, why: "not sure what these words do".to_owned(), kind: HazardKind::UnknownProgram }
    }
}

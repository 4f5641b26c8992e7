//! A word that makes a program do more than its name says.
//!
//! A rule that allows `find` does not mean `find -delete`; one that allows `find . -delete` does. So each such word is
//! reported with its index, and a rule covers it only if it reaches that index.

/// A word that makes a program do more than its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// The index of the word; a rule never reaches an index behind the last word.
    pub at: usize,
    /// What it makes the program do.
    pub why: String,
}

/// An option of a program.
pub(crate) const RISKY_OPTION: &str = "an option makes it run or write something else";

/// A script in the program's own language.
pub(crate) const RISKY_SCRIPT: &str = "its script may write or run something";

impl Hazard {
    pub(crate) fn new(at: usize, why: &str) -> Self {
        Self { at, why: why.to_owned() }
    }
}

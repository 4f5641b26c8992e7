//! The commands that a command runs, as far as its words determine them.

use crate::hazard::Hazard;
use crate::named_path::NamedPath;
use crate::options::Options;
use crate::word::{Word, quote};

/// How many words of a wrapper that is not understood may each be a command, and how many words each such command has.
const CANDIDATES: usize = 24;

/// The commands that a command runs besides its program.
#[derive(Debug, Default)]
pub struct Wrapped {
    /// The commands.
    pub inner: Vec<Inner>,
    /// Why these are not all, or not certain.
    pub unclear: Vec<String>,
    /// The command does nothing else, so only the commands that it runs matter.
    pub transparent: bool,
    /// The word that names the command, if it cannot be read.
    pub hazards: Vec<Hazard>,
    /// Files that it reads for the commands.
    pub inputs: Vec<NamedPath>,
}

/// A command inside another one; `at` is the index of its program among the words of the outer one.
#[derive(Debug)]
pub enum Inner {
    /// These words.
    Command {
        /// The index where it begins.
        at: usize,
        /// Its words.
        words: Vec<Word>,
    },
    /// A line that a shell reads.
    Line {
        /// Its index.
        at: usize,
        /// The line.
        text: String,
    },
    /// These words, unless they are an argument or the value of an option.
    Candidate {
        /// The index where it begins.
        at: usize,
        /// Its words.
        words: Vec<Word>,
    },
}

impl Wrapped {
    /// Creates a wrapper that runs a line.
    pub(crate) fn line(at: usize, text: String) -> Self {
        Self { inner: vec![Inner::Line { at, text }], ..Self::default() }
    }

    /// Creates a wrapper that may run each of the words from that index on.
    pub(crate) fn candidates(words: &[Word], from: usize) -> Self {
        let candidate = |at: usize| match words[at].literal() {
            // One word may be a whole line.
            Some(text) if text.contains(char::is_whitespace) => Some(Inner::Line { at, text: text.to_owned() }),
            Some(text) if text.starts_with('-') => None,
            Some(_) => Some(Inner::Candidate { at, words: words[at..].iter().take(CANDIDATES).cloned().collect() }),
            None => None,
        };
        Self { inner: (from..words.len()).take(CANDIDATES).filter_map(candidate).collect(), ..Self::default() }
    }

    /// Creates a wrapper that runs the command after its options and operands, and does nothing else.
    pub(crate) fn behind_options(words: &[Word], options: &Options, operands: usize) -> Self {
        // By the rows of known options: one that is not known may take the next word, which then is not the command.
        let mut at = match options.skip(words, operands) {
            Err(at) => {
                return Self::candidates(words, at).with_unclear("an option of a wrapper is not understood");
            }
            Ok(at) => at,
        };
        // `sudo` accepts assignments before the command; bash parses the words after `time` again, dash does not.
        let is_odd = |word: &&Word| {
            word.text.contains('=') || matches!(word.text.as_str(), "!" | "{" | "[[" | "coproc" | "function" | "select")
        };
        // Passed over all the same, so that the command behind them is found.
        let odd = words.iter().skip(at).take_while(is_odd).count();
        at += odd;
        let found = match words.get(at..).unwrap_or_default() {
            [] => Self::default(),
            rest => {
                Self { inner: vec![Inner::Command { at, words: rest.to_vec() }], transparent: true, ..Self::default() }
            }
        };
        match odd {
            0 => found,
            _ => found.with_unclear("what the wrapper runs is not a plain command"),
        }
    }

    /// Returns the same, with a reason why it is incomplete or uncertain.
    pub(crate) fn with_unclear(mut self, why: &str) -> Self {
        self.unclear.push(why.to_owned());
        self
    }
}

/// Joins the words into a line, for programs that do so.
pub(crate) fn as_line(words: &[Word]) -> Option<String> {
    match words {
        [only] => only.literal().map(str::to_owned),
        words => {
            words.iter().map(|word| word.literal().map(quote)).collect::<Option<Vec<_>>>().map(|all| all.join(" "))
        }
    }
}

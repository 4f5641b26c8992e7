//! A case: a repository, a prompt, and what must hold afterwards. One TOML file each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::{Deserialize, Deserializer};

/// Why the cases cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or folder cannot be read.
    #[error("cannot read `{path}`: {error}")]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// A file is no case.
    #[error("`{path}` is no case: {error}")]
    Invalid {
        /// The path.
        path: PathBuf,
        /// The cause.
        error: Box<toml::de::Error>,
    },
}

/// A task of the agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name: that of its file.
    #[serde(skip)]
    pub name: String,
    /// What it is about, in a line.
    pub title: String,
    /// The kinds of work that it stands for.
    pub tags: Vec<String>,
    /// What the user types.
    pub prompt: String,
    /// What the user types next in the same conversation, which is resumed for it.
    #[serde(default)]
    pub then: Vec<String>,
    /// The approval mode.
    #[serde(default = "auto")]
    pub mode: String,
    /// Further arguments of `host run`.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Whether the files are in a Git repository, with one commit.
    #[serde(default = "yes")]
    pub git: bool,
    /// What the files contain.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files of many lines, by a pattern.
    #[serde(default)]
    pub generated: BTreeMap<String, Generated>,
    /// What the user changed since the commit.
    #[serde(default)]
    pub dirty: BTreeMap<String, String>,
    /// Who wrote the recording: `by hand`, or the model's id.
    pub recorded: String,
    /// What must hold.
    pub expect: Expect,
}

/// A file of many lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// How many lines it has.
    pub lines: u32,
    /// Each line, with `{n}` for its number from 1.
    pub each: String,
    /// Lines that are different, by their numbers.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

impl Generated {
    /// Returns the text.
    pub fn text(&self) -> String {
        let line = |number: u32| {
            let number = number.to_string();
            self.except.get(&number).cloned().unwrap_or_else(|| self.each.replace("{n}", &number))
        };
        (1..=self.lines).map(|number| line(number) + "\n").collect()
    }
}

/// What must hold when a case is done. What is left out does not matter, but for commits and files that were not named.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// The exit code.
    pub exit: i32,
    /// The files that may differ from what the user had; `None` if it does not matter.
    pub changed: Option<Vec<String>>,
    /// What single files contain.
    pub files: BTreeMap<String, Contains>,
    /// The tools that were used at least once.
    pub used: Vec<String>,
    /// The tools that were never used.
    pub unused: Vec<String>,
    /// Tools in the order in which they were used, with others between them.
    pub order: Vec<String>,
    /// What the commands of `shell` were, at least one each.
    pub ran: Vec<Pattern>,
    /// What no command of `shell` was.
    pub never_ran: Vec<Pattern>,
    /// What the answer says.
    pub says: Vec<Pattern>,
    /// What the answer does not say.
    pub never_says: Vec<Pattern>,
    /// How many commits there are in addition to the first one.
    pub commits: u32,
    /// A line of `sh` that succeeds in the repository.
    pub check: Option<String>,
    /// The most turns.
    pub most_turns: Option<u64>,
    /// The most calls.
    pub most_calls: Option<usize>,
    /// The most tokens, sent and received.
    pub most_tokens: Option<u64>,
    /// The most calls that failed or were denied.
    pub most_failed: Option<usize>,
}

/// What a file contains.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Contains {
    /// Exactly this.
    pub is: Option<String>,
    /// These texts.
    pub has: Vec<String>,
    /// None of these.
    pub lacks: Vec<String>,
    /// Nothing: it does not exist.
    pub absent: bool,
}

/// A regular expression, without regard to upper and lower case.
#[derive(Debug)]
pub struct Pattern(pub Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let built = regex::RegexBuilder::new(&text).case_insensitive(true).multi_line(true).build();
        built.map(Self).map_err(serde::de::Error::custom)
    }
}

fn auto() -> String {
    "auto".to_owned()
}

fn yes() -> bool {
    true
}

impl Case {
    /// Reads the case of a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no case.
    pub fn read(path: &Path) -> Result<Self, CaseError> {
        let unreadable = |error| CaseError::Unreadable { path: path.to_owned(), error };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let invalid = |error| CaseError::Invalid { path: path.to_owned(), error: Box::new(error) };
        let case: Self = toml::from_str(&text).map_err(invalid)?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, ..case })
    }

    /// Reads all cases of a folder, by name.
    ///
    /// # Errors
    ///
    /// As [`Case::read`].
    pub fn all(folder: &Path) -> Result<Vec<Self>, CaseError> {
        let unreadable = |error| CaseError::Unreadable { path: folder.to_owned(), error };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|end| end == "toml") {
                paths.push(path);
            }
        }
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    /// Returns whether one of the words is part of its name or one of its tags; without any words it is.
    pub fn matches(&self, words: &[String]) -> bool {
        words.is_empty() || words.iter().any(|word| self.name.contains(word.as_str()) || self.tags.contains(word))
    }
}

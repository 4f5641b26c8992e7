//! What the user allowed by answers, numbered, and how one of them is found and taken back.
//!
//! Deliberately not here: making a rule of an answer (`host_tool::Gate`), and rules that a user wrote into a file.

use host_text::{Advice, exact};
use host_tool::{Permission, RulesFile, RulesFileError, permissions_in};

use crate::environment::Folders;
use crate::error::{ErrorKind, Failure, Fault};
use crate::policies;

/// Why no permission is taken back.
#[derive(Debug, thiserror::Error)]
pub enum PermissionsError {
    /// There is none.
    #[error("there is nothing to revoke: no answer of yours allows anything")]
    Nothing,
    /// There are fewer.
    #[error("there is no number {number}")]
    NoNumber {
        /// The number.
        number: usize,
        /// What shows the numbers.
        list: &'static str,
    },
    /// The words are those of none.
    #[error("nothing that you allowed contains `{text}`")]
    NoMatch {
        /// The words, safe to show.
        text: String,
        /// What shows the numbers.
        list: &'static str,
    },
    /// The words are those of several.
    #[error("`{text}` matches several: {}", .numbers.join(", "))]
    Several {
        /// The words, safe to show.
        text: String,
        /// Their numbers.
        numbers: Vec<String>,
    },
    /// The file of answers cannot be changed.
    #[error(transparent)]
    Rules(#[from] RulesFileError),
}

impl Fault for PermissionsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Nothing | Self::NoNumber { .. } | Self::NoMatch { .. } | Self::Several { .. } => ErrorKind::Input,
            Self::Rules(_) => ErrorKind::Configuration,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Nothing | Self::Rules(_) => None,
            Self::NoNumber { list, .. } | Self::NoMatch { list, .. } => {
                Some(format!("`{list}` shows what you allowed, with numbers").into())
            }
            Self::Several { .. } => Some("use more words, or the number".into()),
        }
    }
}

/// Returns the lasting answers of all folders, in the order in which they are stored.
///
/// # Errors
///
/// If a file with rules is invalid.
pub fn stored(folders: &Folders) -> Result<Vec<Permission>, Failure> {
    let policy = policies::read(folders, &[])?.policy;
    Ok(permissions_in(&policy, &policies::answers(folders)))
}

/// Takes a lasting answer back, from the next run on; returns it. `what` is its number in [`stored`], from 1, or a part
/// of its words.
///
/// # Errors
///
/// If it means no answer or several, or the file of answers cannot be changed.
pub fn forget_stored(folders: &Folders, what: &str) -> Result<Permission, Failure> {
    let mut stored = stored(folders)?;
    let words: Vec<&str> = stored.iter().map(|permission| permission.words.as_str()).collect();
    let permission = stored.swap_remove(find(&words, what, "host policy list")?);
    let file = RulesFile::new(policies::answers(folders));
    permission.remove_from(&file).map_err(PermissionsError::Rules)?;
    Ok(permission)
}

/// Returns the index of what the user means: a number from 1, or a part of the words of exactly one, in either case.
/// `list` is what shows the numbers.
///
/// # Errors
///
/// If it means none or several.
pub fn find(all: &[&str], what: &str, list: &'static str) -> Result<usize, PermissionsError> {
    let what = what.trim();
    if all.is_empty() {
        return Err(PermissionsError::Nothing);
    }
    if let Ok(number) = what.parse::<usize>() {
        let at = number.checked_sub(1).filter(|at| *at < all.len());
        return at.ok_or(PermissionsError::NoNumber { number, list });
    }
    let lower = what.to_lowercase();
    let found: Vec<usize> = match lower.is_empty() {
        true => Vec::new(),
        false => (0..all.len())
            .filter(|at| all.get(*at).is_some_and(|words| words.to_lowercase().contains(&lower)))
            .collect(),
    };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(PermissionsError::NoMatch { text: exact(what).into_owned(), list }),
        several => {
            let numbers: Vec<String> = several.iter().map(|at| (at + 1).to_string()).collect();
            Err(PermissionsError::Several { text: exact(what).into_owned(), numbers })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_found_by_its_number_or_by_words_of_it_alone() {
        let all =
            ["`shell`: commands that begin with `git log`", "`shell`: commands that begin with `cargo`", "`edit`: 2"];
        let at = |what: &str| find(&all, what, "list");
        for (what, index) in [("1", 0), (" 3 ", 2), ("git log", 0), ("CARGO", 1), ("`edit`", 2)] {
            assert_eq!(at(what).expect(what), index, "{what}");
        }
        for (what, why) in [
            ("0", "there is no number 0"),
            ("4", "there is no number 4"),
            ("shell", "`shell` matches several: 1, 2"),
            ("make", "nothing that you allowed contains `make`"),
            ("", "nothing that you allowed contains ``"),
            ("\u{1b}[2J", "nothing that you allowed contains `\\u{1b}[2J`"),
        ] {
            assert_eq!(at(what).expect_err(what).to_string(), why, "{what}");
        }
        assert!(find(&[], "1", "list").expect_err("there is none").to_string().contains("nothing to revoke"));
    }
}

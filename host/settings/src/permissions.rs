//! What the user allowed by answers, numbered, and how one of them is found and taken back.
//!
//! Deliberately not here: making a rule of an answer (`host_tool::Gate`), and rules that a user wrote into a file.

use host_text::exact;
use host_tool::{Permission, RulesFile, permissions_in};

use crate::environment::Folders;
use crate::error::Failure;
use crate::policies;

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
    permission
        .remove_from(&file)
        .map_err(|error| Failure::from_error(crate::error::ErrorKind::Configuration, &error))?;
    Ok(permission)
}

/// Returns the index of what the user means: a number from 1, or a part of the words of exactly one, in either case.
/// `list` is what shows the numbers.
///
/// # Errors
///
/// If it means none or several.
pub fn find(all: &[&str], what: &str, list: &str) -> Result<usize, Failure> {
    let what = what.trim();
    let help = format!("`{list}` shows what you allowed, with numbers");
    if all.is_empty() {
        return Err(Failure::input("there is nothing to take back: no answer of yours allows anything"));
    }
    if let Ok(number) = what.parse::<usize>() {
        let at = number.checked_sub(1).filter(|at| *at < all.len());
        return at.ok_or_else(|| Failure::input(format!("there is no number {number}")).help(help));
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
        [] => Err(Failure::input(format!("nothing that you allowed contains `{}`", exact(what))).help(help)),
        several => {
            let numbers: Vec<String> = several.iter().map(|at| (at + 1).to_string()).collect();
            Err(Failure::input(format!("`{}` is in several: {}", exact(what), numbers.join(", ")))
                .help("use more words, or the number"))
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
            ("shell", "`shell` is in several: 1, 2"),
            ("make", "nothing that you allowed contains `make`"),
            ("", "nothing that you allowed contains ``"),
            ("\u{1b}[2J", "nothing that you allowed contains `\\u{1b}[2J`"),
        ] {
            assert_eq!(at(what).expect_err(what).message, why, "{what}");
        }
        assert!(find(&[], "1", "list").expect_err("there is none").message.contains("nothing to take back"));
    }
}

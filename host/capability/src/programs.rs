//! Which programs: the first words of the commands that a grant covers.
//!
//! A prefix is compared word by word with the command's arguments, the program's name included, and exactly:
//! `git` covers the program called `git`, not `/tmp/git` and not `gitk`. It says nothing about what the program
//! does with the arguments that follow; many programs run others when told to.

use std::fmt;

use crate::antichain::{Antichain, Element};
use crate::list::{self, Form, Item};
use crate::scope::ScopeError;
use crate::visible::visible;

/// Which commands a grant covers: at least one prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Programs(Antichain<Prefix>);

/// The first words of a command; none for any command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Prefix(Vec<String>);

impl Programs {
    /// Reads a list of commands' first words; `*` is any command.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let prefixes = list::items(text, form)?.into_iter().map(prefix).collect::<Result<Vec<_>, _>>()?;
        Ok(Self(Antichain::new(prefixes)))
    }

    /// The granted prefixes, sorted, each as its words; one without words covers every command.
    pub fn prefixes(&self) -> impl Iterator<Item = &[String]> {
        self.0.iter().map(|prefix| prefix.0.as_slice())
    }

    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let both = self.0.meet(&other.0);
        (!both.is_empty()).then_some(Self(both))
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.join(&other.0))
    }

    pub(crate) fn le(&self, other: &Self) -> bool {
        self.0.le(&other.0)
    }

    /// Whether the command is covered. A command without a program never is.
    pub(crate) fn permits(&self, argv: &[String]) -> bool {
        argv.first().is_some_and(|program| !program.is_empty()) && self.prefixes().any(|words| argv.starts_with(words))
    }
}

fn prefix(item: Item) -> Result<Prefix, ScopeError> {
    let bare = |word: &list::Word, text: &str| !word.quoted && word.text == text;
    match item.words.as_slice() {
        [only] if bare(only, "*") => Ok(Prefix(Vec::new())),
        words if words.iter().any(|word| bare(word, "*")) => {
            Err(ScopeError::PartialCommand { text: visible(&item.whole.text) })
        }
        [program, ..] if program.text.is_empty() => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        _ => Ok(Prefix(item.words.into_iter().map(|word| word.text).collect())),
    }
}

impl Element for Prefix {
    fn meet(&self, other: &Self) -> Option<Self> {
        match () {
            () if self.is_below(other) => Some(self.clone()),
            () if other.is_below(self) => Some(other.clone()),
            () => None,
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, words) in self.prefixes().enumerate() {
            f.write_str(if at > 0 { "," } else { "" })?;
            f.write_str(&command(words))?;
        }
        Ok(())
    }
}

/// The words as the text of a scope; `*` for none.
pub(crate) fn command(words: &[String]) -> String {
    match words {
        [] => "*".to_owned(),
        words => words.iter().map(|word| list::quote(word)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Programs, ScopeError> {
        Programs::parse(text, Form::Stored)
    }

    fn argv(words: &str) -> Vec<String> {
        words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn check(scope: &str, covered: &[&str], not: &[&str]) {
        let programs = parse(scope).unwrap();
        assert_eq!(parse(&programs.to_string()), Ok(programs.clone()), "{scope}");
        for command in covered {
            assert!(programs.permits(&argv(command)), "{scope} should cover {command}");
        }
        for command in not {
            assert!(!programs.permits(&argv(command)), "{scope} should not cover {command}");
        }
    }

    #[test]
    fn a_prefix_covers_whole_words_only() {
        check("git", &["git", "git push"], &["", "/tmp/git", "./git", "gitk", "Git", "sh git"]);
        check("git status", &["git status", "git status -s"], &["git", "git stat", "git -C x status"]);
        check("cargo test --", &["cargo test -- a"], &["cargo test", "cargo test --all"]);
        check("ls,git log", &["ls -l", "git log"], &["git"]);
        check("*", &["anything at all"], &[""]);
    }

    #[test]
    fn quotes_make_one_word_of_several() {
        let programs = parse(r#"sh -c "echo 'hi', you",'my tool'"#).unwrap();
        let words: Vec<_> = programs.prefixes().map(<[String]>::to_vec).collect();
        assert_eq!(words, [vec!["my tool".to_owned()], ["sh", "-c", "echo 'hi', you"].map(str::to_owned).to_vec()]);
        assert_eq!(parse(&programs.to_string()), Ok(programs));
    }

    #[test]
    fn a_star_is_any_command_or_a_quoted_name() {
        assert!(parse("'*'").unwrap().permits(&argv("*")));
        assert!(!parse("'*'").unwrap().permits(&argv("ls")));
        for text in ["git *", "* push", "''", "'' a"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_program_without_a_name_is_never_covered() {
        assert!(!parse("*").unwrap().permits(&[]));
        assert!(!parse("*").unwrap().permits(&[String::new(), "x".to_owned()]));
    }

    #[test]
    fn the_shorter_prefix_swallows_the_longer() {
        assert_eq!(parse("git push,git,git push -f").unwrap().to_string(), "git");
        assert_eq!(parse("git,*").unwrap().to_string(), "*");
    }
}

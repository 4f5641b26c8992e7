//! Programs: the first words of the commands that a grant covers.
//!
//! A prefix is compared word by word with the command's arguments, the program's name included, and exactly: `git`
//! covers the program called `git`, not `/tmp/git` and not `gitk`. It says nothing about what the program does with the
//! arguments that follow; many programs can run others. A command that ends with a bare `$` covers only itself, without
//! further arguments.

use std::fmt;

use crate::antichain::{Antichain, Element};
use crate::error::ScopeError;
use crate::list::{self, Form, Item};
use crate::visible::visible;

/// Nothing may follow this word of a scope.
const END: &str = "$";

/// The commands that a grant covers: at least one prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Programs(Antichain<Prefix>);

/// The first words of a command; empty for any command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Prefix {
    words: Vec<String>,
    then: Rest,
}

/// What may follow the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Rest {
    Anything,
    Nothing,
}

impl Programs {
    /// Parses a list of commands' first words; `*` is any command.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let prefixes = list::items(text, form)?.into_iter().map(prefix).collect::<Result<Vec<_>, _>>()?;
        Ok(Self(Antichain::new(prefixes)))
    }

    /// Creates the scope of this command and no other; `None` if it has no program.
    pub(crate) fn exactly(argv: &[String]) -> Option<Self> {
        argv.first().filter(|program| !program.is_empty())?;
        Some(Self(Antichain::new([Prefix { words: argv.to_vec(), then: Rest::Nothing }])))
    }

    /// The granted prefixes that let anything follow, sorted, each as its words; one without words covers every command.
    pub fn prefixes(&self) -> impl Iterator<Item = &[String]> {
        let open = |prefix: &&Prefix| prefix.then == Rest::Anything;
        self.0.iter().filter(open).map(|prefix| prefix.words.as_slice())
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

    /// Returns whether the command is covered. A command without a program never is.
    pub(crate) fn permits(&self, argv: &[String]) -> bool {
        argv.first().is_some_and(|program| !program.is_empty()) && self.0.iter().any(|prefix| prefix.covers(argv))
    }
}

fn prefix(item: Item) -> Result<Prefix, ScopeError> {
    let bare = |word: &list::Word, text: &str| !word.quoted && word.text == text;
    let (words, then) = match item.words.as_slice() {
        [words @ .., last] if bare(last, END) => (words, Rest::Nothing),
        words => (words, Rest::Anything),
    };
    match words {
        [] => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        [only] if bare(only, "*") && then == Rest::Anything => Ok(Prefix { words: Vec::new(), then }),
        words if words.iter().any(|word| bare(word, "*")) => {
            Err(ScopeError::PartialCommand { text: visible(&item.whole.text) })
        }
        [program, ..] if program.text.is_empty() => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        words => Ok(Prefix { words: words.iter().map(|word| word.text.clone()).collect(), then }),
    }
}

impl Prefix {
    fn covers(&self, argv: &[String]) -> bool {
        match self.then {
            Rest::Anything => argv.starts_with(&self.words),
            Rest::Nothing => argv == self.words,
        }
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
        (self.then == Rest::Nothing || other.then == Rest::Anything) && other.covers(&self.words)
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, prefix) in self.0.iter().enumerate() {
            f.write_str(if at > 0 { "," } else { "" })?;
            f.write_str(&command(&prefix.words))?;
            match prefix.then {
                Rest::Anything => {}
                Rest::Nothing => write!(f, " {END}")?,
            }
        }
        Ok(())
    }
}

/// Writes the words as the text of a scope; `*` if there are no words.
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

    // promise process.prefix
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
        let words: Vec<_> = programs.0.iter().map(|prefix| prefix.words.clone()).collect();
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
    fn a_dollar_at_the_end_lets_nothing_follow() {
        check("cargo test $", &["cargo test"], &["cargo", "cargo test x", "cargo test $"]);
        check("cargo test '$'", &["cargo test $", "cargo test $ x"], &["cargo test"]);
        assert_eq!(parse("git $,git").unwrap().to_string(), "git");
        assert_eq!(parse("git push $,git push -f $").unwrap().to_string(), "git push $,git push -f $");
        for text in ["$", "* $", "'' $"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let (narrow, wide) = (parse("git push $").unwrap(), parse("git").unwrap());
        assert!(narrow.le(&wide) && !wide.le(&narrow));
        assert_eq!(narrow.meet(&wide), Some(narrow.clone()));
        assert_eq!(narrow.meet(&parse("git push -f").unwrap()), None);
        assert_eq!(Programs::exactly(&argv("git push")), Some(narrow));
        assert_eq!(Programs::exactly(&[]), None);
        assert_eq!(Programs::exactly(&[String::new()]), None);
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

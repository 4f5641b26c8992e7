//! Whether a command begins with the words of a rule.
//!
//! A rule that allows matches narrowly, and one that asks or denies matches widely: `git` allows neither `./git` nor
//! `/tmp/git`, and denies both.

use std::fmt;

use host_capability::{Capability, Grants, Scope};
use host_shell::{Word, base_name, quote};

use super::Decision;
use super::rule::Rule;

/// The first words of the commands that a rule is about; at least one.
///
/// A rule that allows covers the words behind them as far as they are understood, and all of them after a `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandPrefix {
    /// The words.
    pub words: Vec<String>,
    /// Anything may follow, whether it is understood or not.
    pub then_any: bool,
}

impl From<Vec<String>> for CommandPrefix {
    fn from(words: Vec<String>) -> Self {
        Self { words, then_any: false }
    }
}

/// As it is written in a file.
impl fmt::Display for CommandPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|word| quote(word)).collect();
        write!(f, "{}{}", words.join(" "), if self.then_any { " *" } else { "" })
    }
}

/// Whether a rule matches a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It matches this many words.
    Yes(usize),
    /// It is known only at run time.
    Perhaps,
    No,
}

/// Whether the rule, which has a `command`, matches the words.
pub(super) fn meets(rule: &Rule, words: &[Word]) -> Met {
    let met = rule.command.iter().map(|prefix| match rule.decision {
        Decision::Allow => match exactly(&prefix.words, words) {
            Some(_) if prefix.then_any => Met::Yes(usize::MAX),
            Some(reached) => Met::Yes(reached),
            None => Met::No,
        },
        Decision::Ask | Decision::Deny => widely(&prefix.words, words),
    });
    met.fold(Met::No, |best, met| match (best, met) {
        (Met::Yes(a), Met::Yes(b)) => Met::Yes(a.max(b)),
        (Met::Yes(all), _) | (_, Met::Yes(all)) => Met::Yes(all),
        (Met::Perhaps, _) | (_, Met::Perhaps) => Met::Perhaps,
        (Met::No, Met::No) => Met::No,
    })
}

/// Returns how many words of the command the prefix matches; `None` if it does not match.
fn exactly(prefix: &[String], words: &[Word]) -> Option<usize> {
    let begins = prefix.len() <= words.len() && prefix.iter().zip(words).all(|(known, word)| word.is(known));
    begins.then_some(prefix.len())
}

/// Matches widely, for a rule that should rather match once too often: the program may be in any folder, and options,
/// each perhaps with a value, may precede each further word.
fn widely(prefix: &[String], words: &[Word]) -> Met {
    let Some((program, rest)) = prefix.split_first() else { return Met::No };
    let Some(first) = words.first() else { return Met::No };
    match first.literal() {
        // The program is known to the shell alone.
        None => return Met::Perhaps,
        Some(literal) if literal == program => {}
        // A rule against `rm` is one against `/bin/rm`.
        Some(_) if !program.contains('/') && base_name(words) == program => {}
        Some(_) => return Met::No,
    }
    let mut at = 1;
    for known in rest {
        loop {
            let Some(word) = words.get(at) else { return Met::No };
            // It may be the option's value or the next word; both readings are allowed for.
            let after_option = at > 1 && words[at - 1].text.starts_with(['-', '+']);
            at += 1;
            match word.literal() {
                None => return Met::Perhaps,
                Some(literal) if literal == known => break,
                // One word contains several, as `--force=x` for `--force`.
                Some(literal) if known.starts_with("--") && literal.split('=').next() == Some(known) => break,
                Some(literal) if literal.starts_with(['-', '+']) || after_option => {}
                // A plain word in another place: this is another subcommand.
                Some(_) => return Met::No,
            }
        }
    }
    Met::Yes(at)
}

/// Returns how many words of a command are granted; `None` if it is not granted. A grant that lets nothing follow
/// grants all words.
pub(super) fn granted(grants: &Grants, words: &[Word]) -> Option<usize> {
    let held @ Scope::Process(programs) = grants.scope(Capability::Process)? else { return None };
    words.first().and_then(Word::literal).filter(|program| !program.is_empty())?;
    let begun = programs.prefixes().filter_map(|prefix| exactly(prefix, words)).max();
    begun.or_else(|| {
        let argv = words.iter().map(|word| word.literal().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
        Scope::for_command(&argv).is_some_and(|command| command.le(held)).then_some(words.len())
    })
}

//! Whether a command begins with the words of a rule.
//!
//! A rule that allows is read narrowly, and one that asks or denies widely: `git` allows neither `./git` nor
//! `/tmp/git`, and denies both.

use host_capability::{Capability, Grants, Scope};
use host_shell::{Word, base_name};

use super::Decision;
use super::rule::Rule;

/// How a rule and a command meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// They do, by so many words.
    Yes(usize),
    /// Only running would tell.
    Perhaps,
    No,
}

/// Whether the rule, which has a `command`, is about the words.
pub(super) fn meets(rule: &Rule, words: &[Word]) -> Met {
    let met = rule.command.iter().map(|prefix| match rule.decision {
        Decision::Allow => exactly(prefix, words).map_or(Met::No, Met::Yes),
        Decision::Ask | Decision::Deny => widely(prefix, words),
    });
    met.fold(Met::No, |best, met| match (best, met) {
        (Met::Yes(a), Met::Yes(b)) => Met::Yes(a.max(b)),
        (Met::Yes(all), _) | (_, Met::Yes(all)) => Met::Yes(all),
        (Met::Perhaps, _) | (_, Met::Perhaps) => Met::Perhaps,
        (Met::No, Met::No) => Met::No,
    })
}

/// By how many words the command begins with the prefix.
fn exactly(prefix: &[String], words: &[Word]) -> Option<usize> {
    let begins = prefix.len() <= words.len() && prefix.iter().zip(words).all(|(known, word)| word.is(known));
    begins.then_some(prefix.len())
}

/// The same for a rule that is better met once too often: the program may stand in any folder, and options, with a
/// value each perhaps, may stand before each further word.
fn widely(prefix: &[String], words: &[Word]) -> Met {
    let Some((program, rest)) = prefix.split_first() else { return Met::No };
    let Some(first) = words.first() else { return Met::No };
    match first.literal() {
        None => return Met::Perhaps,
        Some(literal) if literal == program => {}
        Some(_) if !program.contains('/') && base_name(words) == program => {}
        Some(_) => return Met::No,
    }
    let mut at = 1;
    for known in rest {
        loop {
            let Some(word) = words.get(at) else { return Met::No };
            let after_option = at > 1 && words[at - 1].text.starts_with(['-', '+']);
            at += 1;
            match word.literal() {
                None => return Met::Perhaps,
                Some(literal) if literal == known => break,
                // Several words in one, as `--force=x` for `--force`.
                Some(literal) if known.starts_with("--") && literal.split('=').next() == Some(known) => break,
                Some(literal) if literal.starts_with(['-', '+']) || after_option => {}
                Some(_) => return Met::No,
            }
        }
    }
    Met::Yes(at)
}

/// By how many words a command is granted; none when it is not. A grant that lets nothing follow grants all of its words.
pub(super) fn granted(grants: &Grants, words: &[Word]) -> Option<usize> {
    let held @ Scope::Process(programs) = grants.scope(Capability::Process)? else { return None };
    words.first().and_then(Word::literal).filter(|program| !program.is_empty())?;
    let begun = programs.prefixes().filter_map(|prefix| exactly(prefix, words)).max();
    begun.or_else(|| {
        let argv = words.iter().map(|word| word.literal().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
        Scope::for_command(&argv).is_some_and(|command| command.le(held)).then_some(words.len())
    })
}

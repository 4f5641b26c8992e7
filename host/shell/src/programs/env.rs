//! `env`, which sets variables for the command after it.

use super::{Options, Program, Runs};
use crate::Word;
use crate::inner::{Inner, Wrapped};
use crate::variable;

const OPTIONS: Options = Options {
    flags: "i0v",
    valued: "u",
    long_flags: &["ignore-environment", "null", "debug"],
    long_valued: &["unset"],
};

/// Why the command after options that take variables away is unclear.
const CLEARS: &str = "it takes away variables that keep programs from running what a repository names";

pub(super) const ROWS: &[Program] =
    &[Program { options: OPTIONS, runs: Runs::Found(found), ..Program::named(&["env"]) }];

fn found(words: &[Word]) -> Option<Wrapped> {
    let Ok(mut at) = OPTIONS.skip(words, 0) else {
        return Some(Wrapped::candidates(words, 1).with_unclear("an option of `env` is not understood"));
    };
    // The host's own settings of git and of the search path are variables, which a program without them does not obey.
    let clears = words[1..at].iter().any(|word| !word.is("--") && !is_display_option(&word.text));
    let mut unclear: Vec<String> = clears.then(|| CLEARS.to_owned()).into_iter().collect();
    while let Some(word) = words.get(at).filter(|word| word.text.contains('=') || word.is("-")) {
        unclear.extend(if word.is("-") { Some(CLEARS.to_owned()) } else { variable::risk(word) });
        at += 1;
    }
    let rest = words.get(at..).filter(|rest| !rest.is_empty());
    let inner: Vec<Inner> = rest.map(|rest| Inner::Command { at, words: rest.to_vec() }).into_iter().collect();
    Some(Wrapped { transparent: !inner.is_empty(), inner, unclear, ..Wrapped::default() })
}

/// Whether the word has only options that leave the variables as they are.
fn is_display_option(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-') && !letters.is_empty());
    letters.is_some_and(|letters| letters.chars().all(|letter| "0v".contains(letter)))
        || matches!(text, "--null" | "--debug")
}

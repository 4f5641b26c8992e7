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

pub(super) const ROWS: &[Program] =
    &[Program { options: OPTIONS, runs: Runs::Found(found), ..Program::named(&["env"]) }];

fn found(words: &[Word]) -> Option<Wrapped> {
    let Ok(mut at) = OPTIONS.skip(words, 0) else {
        return Some(Wrapped::candidates(words, 1).with_unclear("an option of `env` is not understood"));
    };
    let mut unclear = Vec::new();
    while let Some(word) = words.get(at).filter(|word| word.text.contains('=') || word.is("-")) {
        unclear.extend(variable::risk(word));
        at += 1;
    }
    let rest = words.get(at..).filter(|rest| !rest.is_empty());
    let inner: Vec<Inner> = rest.map(|rest| Inner::Command { at, words: rest.to_vec() }).into_iter().collect();
    Some(Wrapped { transparent: !inner.is_empty(), inner, unclear, hazards: Vec::new() })
}

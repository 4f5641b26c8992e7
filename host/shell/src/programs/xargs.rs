//! `xargs`, which adds words from its input to a command.

use super::{Options, Program, Runs};
use crate::Word;
use crate::inner::{Inner, Wrapped};

const OPTIONS: Options = Options {
    flags: "0oprtx",
    valued: "adEILnPs",
    long_flags: &["null", "open-tty", "interactive", "no-run-if-empty", "verbose", "exit"],
    long_valued: &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars"],
};

pub(super) const ROWS: &[Program] =
    &[Program { options: OPTIONS, runs: Runs::Found(found), ..Program::named(&["xargs"]) }];

fn found(words: &[Word]) -> Option<Wrapped> {
    let at = match OPTIONS.skip(words, 0) {
        Err(at) => {
            return Some(Wrapped::candidates(words, at).with_unclear("an option of `xargs` is not understood"));
        }
        Ok(at) if at >= words.len() => return None,
        Ok(at) => at,
    };
    // The replacement mark: after `-I`, in the same word or the next one.
    let mark = words[1..at].iter().enumerate().find_map(|(index, word)| {
        let (_, attached) = word.text.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'))?.split_once('I')?;
        Some(if attached.is_empty() { words[index + 2].text.as_str() } else { attached })
    });
    let mut inner = words[at..].to_vec();
    if let Some(mark) = mark {
        inner.iter_mut().filter(|word| word.text.contains(mark)).for_each(|word| word.dynamic = true);
    } else {
        inner.push(Word::unknown());
    }
    Some(Wrapped { inner: vec![Inner::Command { at, words: inner }], transparent: true, ..Wrapped::default() })
}

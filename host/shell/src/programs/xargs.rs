//! `xargs`, which adds words from its input to a command.

use super::{Options, Program, Runs};
use crate::Word;
use crate::inner::{Inner, Wrapped};
use crate::named_path::NamedPath;

const OPTIONS: Options = Options {
    flags: "0oprtx",
    valued: "adEILnPs",
    long_flags: &["null", "open-tty", "interactive", "no-run-if-empty", "verbose", "exit"],
    long_valued: &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars"],
};

pub(super) const ROWS: &[Program] =
    &[Program { options: OPTIONS, runs: Runs::Found(found), ..Program::named(&["xargs"]) }];

/// Why the words of `xargs` are not understood.
const MARK: &str = "what `xargs` replaces is not understood";

fn found(words: &[Word]) -> Option<Wrapped> {
    let at = match OPTIONS.skip(words, 0) {
        Err(at) => {
            return Some(Wrapped::candidates(words, at).with_unclear("an option of `xargs` is not understood"));
        }
        Ok(at) if at >= words.len() => return None,
        Ok(at) => at,
    };
    // The replacement mark: after `-I`, in the same word or the next one. Two of them, or one in a bundle, could be
    // read otherwise than it is meant.
    let marks: Vec<usize> = (1..at).filter(|index| words[*index].text.contains('I')).collect();
    let mark = match marks[..] {
        [] => None,
        [index] => match words[index].text.strip_prefix("-I") {
            Some("") => words.get(index + 1).map(|word| word.text.as_str()),
            Some(attached) => Some(attached),
            None => return Some(Wrapped::candidates(words, at).with_unclear(MARK)),
        },
        _ => return Some(Wrapped::candidates(words, at).with_unclear(MARK)),
    };
    let mut inner = words[at..].to_vec();
    if let Some(mark) = mark {
        inner.iter_mut().for_each(|word| word.replace(mark));
    } else {
        inner.push(Word::unknown());
    }
    let inputs = inputs(&words[..at]);
    Some(Wrapped { inner: vec![Inner::Command { at, words: inner }], transparent: true, inputs, ..Wrapped::default() })
}

/// Returns the files that are read instead of the input: the values of `-a`. The options are known to be understood.
fn inputs(options: &[Word]) -> Vec<NamedPath> {
    let (mut files, mut at) = (Vec::new(), 1);
    while let Some(word) = options.get(at) {
        let next = || options.get(at + 1).map_or_else(NamedPath::unknown, NamedPath::expanded);
        let mut takes_next = false;
        if let Some(long) = word.text.strip_prefix("--") {
            let (name, attached) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            takes_next = attached.is_none() && OPTIONS.long_valued.contains(&name);
            if name == "arg-file" {
                files.push(attached.map_or_else(next, |path| NamedPath::new(path, word)));
            }
        } else if let Some(letters) = word.text.strip_prefix('-')
            // In a bundle the first letter with a value ends the options.
            && let Some(valued) = letters.find(|letter| OPTIONS.valued.contains(letter))
        {
            let attached = &letters[valued + 1..];
            takes_next = attached.is_empty();
            if letters[valued..].starts_with('a') {
                files.push(if takes_next { next() } else { NamedPath::new(attached, word) });
            }
        }
        at += 1 + usize::from(takes_next);
    }
    files
}

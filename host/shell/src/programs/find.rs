//! `find -exec … ;` and `fd -x …`, which run a command for each file.

use super::{Program, Runs};
use crate::Word;
use crate::inner::{Inner, Wrapped};

pub(super) const ROWS: &[Program] = &[
    Program {
        risky_options: &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"],
        runs: Runs::Sometimes(find),
        ..Program::named(&["find"])
    },
    Program { runs: Runs::Sometimes(fd), needs_literals: true, ..Program::named(&["fd", "fdfind"]) },
];

fn find(words: &[Word]) -> Option<Wrapped> {
    let starts = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let ends = |at: usize| words[at].is(";") || words[at].is("+") && words[at - 1].is("{}");
    commands(words, starts, ends)
}

fn fd(words: &[Word]) -> Option<Wrapped> {
    let starts = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("--exec") || !text.starts_with("--") && text.starts_with('-') && text.contains(['x', 'X'])
    };
    let mut found = commands(words, starts, |at| words[at].is(";"))?;
    for inner in &mut found.inner {
        let Inner::Command { at, words: inner } = inner else { continue };
        // Without a placeholder, the path is the last argument.
        inner.push(Word::unknown());
        if !matches!(words[*at - 1].text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch") {
            found.unclear.push("an option holds what is run".to_owned());
        }
    }
    Some(found)
}

/// Returns the commands that begin after such a word and end before such an index.
fn commands(words: &[Word], starts: impl Fn(&Word) -> bool, ends: impl Fn(usize) -> bool) -> Option<Wrapped> {
    let (mut found, mut at) = (Wrapped::default(), 1);
    while at < words.len() {
        at += 1;
        if !starts(&words[at - 1]) {
            continue;
        }
        let end = (at..words.len()).find(|end| ends(*end)).unwrap_or(words.len());
        let mut inner = words[at..end].to_vec();
        inner.iter_mut().filter(|word| word.text.contains('{')).for_each(|word| word.dynamic = true);
        found.inner.push(Inner::Command { at, words: inner });
        at = end;
    }
    (!found.inner.is_empty()).then_some(found)
}

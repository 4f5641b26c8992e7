//! Shells, of which only dash, bash and BusyBox read a line as it is read here, and programs that read a line as a
//! shell does: `sh -c`, `su -c`.

use super::{Program, Runs};
use crate::Word;
use crate::hazard::Hazard;
use crate::inner::Wrapped;

pub(super) const ROWS: &[Program] = &[
    Program { runs: Runs::Found(shell), ..Program::named(&["sh", "bash", "dash", "ash"]) },
    // They read some lines otherwise: in zsh, `path` is the search path, and so `for path in .` changes what runs.
    Program {
        runs: Runs::OtherShell,
        ..Program::named(&[
            "zsh", "ksh", "ksh93", "mksh", "rbash", "yash", "fish", "csh", "tcsh", "pwsh", "nu", "elvish", "xonsh",
        ])
    },
];

const UNKNOWN_OPTION: &str = "an option of the shell is not understood";

/// Finds the line after `-c`. Without `-c`, a shell runs a file, or its input.
fn shell(words: &[Word]) -> Option<Wrapped> {
    let mut at = 1;
    let mut unclear = Vec::new();
    // An option that is not literal could be a `-c`.
    while let Some(text) = words.get(at).and_then(Word::literal).filter(|text| text.starts_with(['-', '+'])) {
        at += 1;
        if !text.starts_with("--") && text.starts_with('-') && text.contains('c') {
            // `-i` and `-l` read start files, which anyone who may write in a home can change.
            if !text[1..].chars().all(|letter| "ceux".contains(letter)) {
                unclear.push(UNKNOWN_OPTION.to_owned());
            }
            // More options may come before the line.
            while words.get(at).is_some_and(|word| word.text.starts_with(['-', '+'])) {
                unclear.push(UNKNOWN_OPTION.to_owned());
                at += 1;
            }
            return Some(match words.get(at).and_then(Word::literal) {
                Some(line) => Wrapped { unclear, transparent: true, ..Wrapped::line(at, line.to_owned()) },
                None => Wrapped::candidates(words, at).with_unclear("the line of a shell is not literal"),
            });
        }
        // Others make it read start files, or lines in another way.
        if text.starts_with("--") || !text[1..].chars().all(|letter| "eux".contains(letter)) {
            unclear.push(UNKNOWN_OPTION.to_owned());
        }
    }
    Some(match words.get(at).and_then(Word::literal) {
        // A file is a program like any other, and decided about as a file.
        Some(file) if !file.is_empty() && unclear.is_empty() => {
            Wrapped { hazards: vec![Hazard::new(words.len() - 1, "a shell runs that file")], ..Wrapped::default() }
        }
        _ => {
            let mut found = Wrapped::candidates(words, at).with_unclear("a shell runs what it reads");
            found.unclear.extend(unclear);
            found
        }
    })
}

/// Finds the line of `su -c LINE`, `script -c LINE`, `flock FILE -c LINE`.
pub(super) fn line_option(words: &[Word]) -> Option<Wrapped> {
    let is_c = |word: &Word| {
        let text = word.text.as_str();
        text == "--command" || text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
    };
    let line = words.iter().position(is_c).and_then(|at| Some((at + 1, words.get(at + 1)?.literal()?)));
    Some(match line {
        Some((at, line)) => Wrapped::line(at, line.to_owned())
            .with_unclear("it runs as another user or elsewhere, which is not followed"),
        None => Wrapped::candidates(words, 1).with_unclear("what it runs is not followed"),
    })
}

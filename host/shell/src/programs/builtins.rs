//! Builtins of the shell: the harmless ones, those that change how the shell reads or finds what follows, and those
//! that run something.

use super::{Builtin, Options, Program, Runs};
use crate::Word;
use crate::inner::Wrapped;
use crate::variable::{self, is_own_name};

pub(super) const ROWS: &[Program] = &[
    Program {
        builtin: Some(|_| Builtin::Harmless),
        ..Program::named(&[
            "true", "false", ":", "echo", "pwd", "exit", "return", "break", "continue", "shift", "times",
        ])
    },
    Program { builtin: Some(printf), ..Program::named(&["printf"]) },
    Program { builtin: Some(test), ..Program::named(&["test", "["]) },
    Program { builtin: Some(cd), ..Program::named(&["cd"]) },
    Program { builtin: Some(read), ..Program::named(&["read"]) },
    Program { builtin: Some(finds), ..Program::named(&["type", "which"]) },
    Program { builtin: Some(hash), ..Program::named(&["hash"]) },
    Program { builtin: Some(jobs), ..Program::named(&["jobs"]) },
    Program { builtin: Some(set), ..Program::named(&["set"]) },
    Program { builtin: Some(export), ..Program::named(&["export", "readonly"]) },
    Program { builtin: Some(|_| unclear("it may run something")), ..Program::named(&["compgen", "fc"]) },
    Program { builtin: Some(|_| unclear("it runs a file as a part of the line")), ..Program::named(&[".", "source"]) },
    Program {
        builtin: Some(|_| unclear(CHANGES_READING)),
        ..Program::named(&[
            "alias",
            "unalias",
            "shopt",
            "enable",
            "unset",
            "local",
            "declare",
            "typeset",
            "let",
            "getopts",
            "mapfile",
            "readarray",
            "bind",
            "complete",
            "compopt",
        ])
    },
    Program {
        options: COMMAND_OPTIONS,
        runs: Runs::Found(command_runs),
        builtin: Some(command),
        ..Program::named(&["command"])
    },
    Program { runs: Runs::Command { operands: 0 }, ..Program::named(&["builtin"]) },
    Program {
        // `-c` takes the variables away by which the host sets what git obeys, and `-l` makes a shell read its start
        // files.
        runs: Runs::Command { operands: 0 },
        ..Program::named(&["exec"])
    },
    Program { runs: Runs::Found(eval), ..Program::named(&["eval"]) },
    Program { runs: Runs::Found(trap), ..Program::named(&["trap"]) },
];

const CHANGES_READING: &str = "it changes how what follows is read";
const CHANGES_NAMES: &str = "it may run something, or change what a name runs";
const COMMAND_OPTIONS: Options = Options { flags: "p", ..Options::NONE };

fn unclear(why: &str) -> Builtin {
    Builtin::Unclear(why.to_owned())
}

fn harmless_if(fine: bool, otherwise: &str) -> Builtin {
    if fine { Builtin::Harmless } else { unclear(otherwise) }
}

/// Bash's `printf -v 'a[$(…)]'` runs what is in the brackets, and `%n` sets a variable.
fn printf(words: &[Word]) -> Builtin {
    let format = words.get(1 + usize::from(words.get(1).is_some_and(|word| word.is("--"))));
    let fine = |word: &Word| word.literal().is_some_and(|text| !text.starts_with('-') && only_prints(text));
    harmless_if(format.is_none_or(fine), "`printf` may set a variable")
}

/// Whether each conversion of a format prints an argument, and no more.
fn only_prints(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let mut chars = behind.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*".contains(c)).chars();
        if !chars.next().is_some_and(|conversion| "%sdiouxXcbqeEfFgGaA".contains(conversion)) {
            return false;
        }
        rest = chars.as_str();
    }
    true
}

/// Bash's `test -v 'a[$(…)]'` runs what is in the brackets, so no word may be `-v`, or become it at a place where an
/// operator is expected.
fn test(words: &[Word]) -> Builtin {
    let arguments = &words[1..];
    let known = |word: Option<&Word>| word.is_none_or(|word| word.literal().is_some_and(|text| text != "-v"));
    let fine = arguments.iter().enumerate().all(|(at, word)| match word.literal() {
        Some(text) => text != "-v" && text != "-R",
        // A word that is not literal is an operand: before or after an operator, and one word.
        None => {
            let next = arguments.get(at + 1);
            !word.split && !word.glob && known(next) && next.and_then(Word::literal).is_none_or(is_operator)
        }
    });
    harmless_if(fine, "a test may evaluate what it tests")
}

fn is_operator(text: &str) -> bool {
    matches!(
        text,
        "]" | "=" | "==" | "!=" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-a" | "-o" | "-nt" | "-ot"
    )
}

fn cd(words: &[Word]) -> Builtin {
    let to = match words {
        [_, to] => to.literal().filter(|to| !to.is_empty() && !to.starts_with('-')),
        _ => None,
    };
    to.map_or_else(|| unclear("it may leave the workspace"), |to| Builtin::Enters(to.to_owned()))
}

fn read(words: &[Word]) -> Builtin {
    let own = |word: &Word| word.literal().is_some_and(|text| text == "-r" || is_own_name(text));
    harmless_if(words[1..].iter().all(own), "it sets a variable that others may read")
}

/// Classifies builtins that only report where the program is.
fn finds(words: &[Word]) -> Builtin {
    let plain = |word: &Word| word.literal().is_some_and(|text| !text.starts_with('-'));
    if words[1..].iter().all(plain) { Builtin::Harmless } else { Builtin::Other }
}

fn hash(words: &[Word]) -> Builtin {
    harmless_if(words.len() == 1, CHANGES_NAMES)
}

fn jobs(words: &[Word]) -> Builtin {
    if words.len() > 1 { unclear(CHANGES_NAMES) } else { Builtin::Other }
}

/// Classifies `set`: `set -e` and its like only make a script stop at its first failure, or print what it does.
fn set(words: &[Word]) -> Builtin {
    let known = |word: &Word| {
        let text = word.literal().unwrap_or_default();
        let letters = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty());
        letters.is_some_and(|letters| letters.chars().all(|letter| "euxo".contains(letter)))
            || matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
    };
    harmless_if(words.len() > 1 && words[1..].iter().all(known), CHANGES_READING)
}

fn export(words: &[Word]) -> Builtin {
    let risk = |word: &Word| {
        if word.assigns.is_some() || word.text.contains('=') {
            variable::risk(word)
        } else {
            (!word.literal().is_some_and(is_own_name)).then(|| format!("it exports `{word}`"))
        }
    };
    let lists = !words[1..].iter().any(|word| !word.text.starts_with('-'));
    if lists {
        return unclear("it prints every variable");
    }
    words[1..].iter().find_map(risk).map_or(Builtin::Harmless, Builtin::Unclear)
}

/// Whether it is `command -v x`, which only reports where the program is.
fn only_finds(words: &[Word]) -> bool {
    words.get(1).is_some_and(|word| word.is("-v") || word.is("-V"))
}

fn command(words: &[Word]) -> Builtin {
    if only_finds(words) { Builtin::Harmless } else { Builtin::Other }
}

fn command_runs(words: &[Word]) -> Option<Wrapped> {
    (!only_finds(words)).then(|| Wrapped::behind_options(words, &COMMAND_OPTIONS, 0))
}

/// Joins the words of `eval` into one line.
fn eval(words: &[Word]) -> Option<Wrapped> {
    let from = 1 + usize::from(words.get(1).is_some_and(|word| word.is("--")));
    let literals: Option<Vec<&str>> = words[from..].iter().map(Word::literal).collect();
    Some(match literals {
        None => Wrapped::candidates(words, from).with_unclear("what it runs is not literal"),
        Some(literals) => Wrapped { transparent: !literals.is_empty(), ..Wrapped::line(from, literals.join(" ")) },
    })
}

fn trap(words: &[Word]) -> Option<Wrapped> {
    let found = match words.get(1).and_then(Word::literal) {
        Some(line) => Wrapped::line(1, line.to_owned()),
        None => Wrapped::candidates(words, 1),
    };
    Some(found.with_unclear("it runs something later"))
}

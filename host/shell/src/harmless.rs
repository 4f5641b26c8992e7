//! Commands of the shell itself that can do no harm and need no rule, and variables that can.

use std::path::{Component, Path};

use super::analysis::base_name;
use super::line::{Word, is_own_name};

/// What is known of a command of the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It needs no rule.
    Harmless,
    /// It changes how the shell reads or finds what follows.
    Doubt(String),
    /// Nothing: a rule has to say.
    Other,
}

/// Variables that choose how something is shown, and nothing else.
const SHOWING: [&str; 14] = [
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TZ",
];

/// Looks at a command whose program is literal.
pub fn judge(words: &[Word], workspace: &Path) -> Judged {
    let arguments = &words[1..];
    let doubt = |why: &str| Judged::Doubt(why.to_owned());
    let unless = |fine: bool, why: &str| if fine { Judged::Harmless } else { Judged::Doubt(why.to_owned()) };
    match base_name(words) {
        "true" | "false" | ":" | "echo" | "pwd" | "exit" | "return" | "break" | "continue" | "shift" | "times" => {
            Judged::Harmless
        }
        "printf" => unless(first_is_no_option(arguments), "`printf` may set a variable"),
        "test" | "[" => unless(tests_no_variable(arguments), "a test may evaluate what it tests"),
        "cd" => unless(stays_inside(arguments, workspace), "it may leave the workspace"),
        "read" => {
            let own = |word: &Word| word.literal().is_some_and(|text| text == "-r" || is_own_name(text));
            unless(arguments.iter().all(own), "it sets a variable that others may read")
        }
        "command" | "type" | "hash" | "which" if asks_for_path(words) => Judged::Harmless,
        "set" if only_stops(arguments) => Judged::Harmless,
        "hash" | "jobs" if !arguments.is_empty() => doubt("it may run something, or change what a name runs"),
        "compgen" | "fc" => doubt("it may run something"),
        "alias" | "unalias" | "set" | "shopt" | "enable" | "unset" | "local" | "declare" | "typeset" | "let"
        | "getopts" | "mapfile" | "readarray" | "bind" | "complete" | "compopt" => {
            doubt("it changes how what follows is read")
        }
        "export" | "readonly" => match arguments.iter().filter(|word| !word.is("-p")).find_map(|word| {
            if word.assigns.is_some() || word.text.contains('=') {
                variable_doubt(word)
            } else {
                (!word.literal().is_some_and(is_own_name)).then(|| format!("it exports `{word}`"))
            }
        }) {
            Some(why) => Judged::Doubt(why),
            None => Judged::Harmless,
        },
        "." | "source" => doubt("it runs a file as a part of the line"),
        _ => Judged::Other,
    }
}

/// Why setting the variable may change what runs; none when it only changes what is shown.
pub(super) fn variable_doubt(word: &Word) -> Option<String> {
    let name = word.text.split(['=', '+']).next().unwrap_or_default();
    let showing = SHOWING.contains(&name) || name.starts_with("LC_");
    (!showing).then(|| format!("the variable `{}` may change what runs", name.replace('\0', "…")))
}

/// `set -e` and its like, by which a script stops at its first failure or shows what it does.
fn only_stops(arguments: &[Word]) -> bool {
    let known = |word: &Word| {
        let text = word.literal().unwrap_or_default();
        let letters = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty());
        letters.is_some_and(|letters| letters.chars().all(|letter| "euxo".contains(letter)))
            || matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
    };
    !arguments.is_empty() && arguments.iter().all(known)
}

/// `command -v x`, which only tells where the program is.
fn asks_for_path(words: &[Word]) -> bool {
    match base_name(words) {
        "command" => words.get(1).is_some_and(|word| word.is("-v") || word.is("-V")),
        "hash" => words.len() == 1,
        _ => words[1..].iter().all(|word| word.literal().is_some_and(|text| !text.starts_with('-'))),
    }
}

/// Bash's `printf -v 'a[$(…)]'` runs what is in the brackets.
fn first_is_no_option(arguments: &[Word]) -> bool {
    let fine = |word: &Word| word.literal().is_some_and(|text| text == "--" || !text.starts_with('-'));
    arguments.first().is_none_or(fine)
}

/// Bash's `test -v 'a[$(…)]'` runs what is in the brackets, so no word may be `-v`, or become it where an operator
/// is looked for.
fn tests_no_variable(arguments: &[Word]) -> bool {
    let known = |word: Option<&Word>| word.is_none_or(|word| word.literal().is_some_and(|text| text != "-v"));
    arguments.iter().enumerate().all(|(at, word)| match word.literal() {
        Some(text) => text != "-v" && text != "-R",
        // What is not literal stands behind an operator, or before one, and is one word.
        None => {
            let next = arguments.get(at + 1);
            !word.split && !word.glob && known(next) && next.and_then(Word::literal).is_none_or(is_operator)
        }
    })
}

fn is_operator(text: &str) -> bool {
    matches!(
        text,
        "]" | "=" | "==" | "!=" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-a" | "-o" | "-nt" | "-ot"
    )
}

/// Whether `cd` stays in the workspace, wherever in it the shell is.
fn stays_inside(arguments: &[Word], workspace: &Path) -> bool {
    let [to] = arguments else { return false };
    let Some(to) = to.literal().filter(|text| !text.is_empty() && !text.starts_with('-')) else { return false };
    let Ok(beneath) = Path::new(to)
        .strip_prefix(workspace)
        .or_else(|_| if to.starts_with('/') { Err(()) } else { Ok(Path::new(to)) })
    else {
        return false;
    };
    let fine = |part: Component<'_>| match part {
        Component::Normal(name) => !super::protected::is_protected_folder(&name.to_string_lossy()),
        Component::CurDir => true,
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
    };
    beneath.components().all(fine)
}

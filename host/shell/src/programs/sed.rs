//! `sed`, whose script can run commands and write files.

use super::{Program, Writes};
use crate::Word;
use crate::hazard::{Hazard, RISKY_OPTION, RISKY_SCRIPT};

pub(super) const ROWS: &[Program] =
    &[Program { writes: Writes::AllInPlace, hazards: Some(hazards), ..Program::named(&["sed", "gsed"]) }];

fn hazards(words: &[Word]) -> Vec<Hazard> {
    let unknown = (1..words.len()).filter(|at| !is_known_option(&words[*at].text));
    let risky = scripts(words).into_iter().filter(|(_, script)| !is_plain(script));
    unknown.map(|at| Hazard::new(at, RISKY_OPTION)).chain(risky.map(|(at, _)| Hazard::new(at, RISKY_SCRIPT))).collect()
}

/// Returns the indices of the files that it opens; `None` if it changes one, or its script does more than print.
pub(super) fn files(words: &[Word]) -> Option<Vec<usize>> {
    let scripts = scripts(words);
    let is_script = |at: &usize| scripts.iter().any(|(script, _)| script == at);
    let is_plain =
        words.len() > 1 && hazards(words).is_empty() && scripts.iter().all(|(at, _)| words[*at].literal().is_some());
    let files = (1..words.len()).filter(|at| !words[*at].text.starts_with('-') && !is_script(at));
    is_plain.then(|| files.collect())
}

/// Whether the word is not an option, or only changes how input is read. An abbreviated option is not known.
fn is_known_option(text: &str) -> bool {
    match (text.strip_prefix("--"), text.strip_prefix('-')) {
        (
            Some("" | "quiet" | "silent" | "regexp-extended" | "null-data" | "unbuffered" | "posix" | "expression"),
            _,
        ) => true,
        (Some(long), _) => long.starts_with("expression="),
        (None, Some(bundle)) => {
            bundle.split('e').next().unwrap_or_default().chars().all(|letter| "nErubz".contains(letter))
        }
        (None, None) => true,
    }
}

/// Returns the scripts among the words, each with its index: those after `-e`, or else the first operand.
fn scripts(words: &[Word]) -> Vec<(usize, &str)> {
    let (mut scripts, mut first_operand, mut at) = (Vec::new(), None, 1);
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        let next = |at: usize| words.get(at + 1).map(|word| (at + 1, word.text.as_str()));
        // Abbreviations such as `--exp` are not known here, and make the script one that is not understood.
        match (text.strip_prefix("--expression"), text.strip_prefix('-')) {
            (Some(value), _) => match value.strip_prefix('=') {
                Some(script) => scripts.push((at, script)),
                None => {
                    scripts.extend(next(at));
                    at += 1;
                }
            },
            // `-ne` takes the script as `-e` does.
            (None, Some(bundle)) if !bundle.starts_with('-') && bundle.contains('e') => match bundle.split_once('e') {
                Some((_, script)) if !script.is_empty() => scripts.push((at, script)),
                _ => {
                    scripts.extend(next(at));
                    at += 1;
                }
            },
            (None, Some(_)) => {}
            (None, None) => first_operand = first_operand.or(Some((at, text))),
        }
        at += 1;
    }
    if scripts.is_empty() { first_operand.into_iter().collect() } else { scripts }
}

/// Whether a script only prints, deletes and substitutes.
fn is_plain(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || ",;$+~! \n".contains(c));
        let Some(command) = rest.chars().next() else { return true };
        rest = &rest[command.len_utf8()..];
        match command {
            // A list of what only prints: `w`, `r`, `e` and the rest reach files and programs.
            'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'P' | 'D' => {}
            '/' => match behind(rest, '/') {
                Some(behind) => rest = behind.trim_start_matches(['I', 'i']),
                None => return false,
            },
            's' | 'y' => {
                // GNU takes any character for a delimiter; odd ones are not worth understanding.
                let Some(delimiter) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && !"\\[]".contains(*c))
                else {
                    return false;
                };
                let behind = behind(&rest[1..], delimiter).and_then(|rest| behind(rest, delimiter));
                let Some(flags) = behind else { return false };
                // Not `e`, which runs the result, nor `w`, which writes it.
                rest = flags.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiI".contains(c));
            }
            _ => return false,
        }
        // Without an end between them, `p` and `w x` could be one word.
        if command != '/' && !rest.trim_start_matches(' ').starts_with([';', '\n']) && !rest.trim().is_empty() {
            return false;
        }
    }
}

/// Returns the text after the delimiter; escaped delimiters do not count. `None` also if a `[` before it could begin
/// brackets with a delimiter in them, which ends the text for GNU's sed and does not for that of BusyBox.
fn behind(text: &str, delimiter: char) -> Option<&str> {
    let (mut escaped, mut at) = (false, 0);
    while let Some(c) = text[at..].chars().next() {
        match c {
            c if escaped => {
                escaped = false;
                at += c.len_utf8();
            }
            c if c == delimiter => return Some(&text[at + c.len_utf8()..]),
            '[' => at += bracketed(&text[at..], delimiter)?,
            c => {
                escaped = c == '\\';
                at += c.len_utf8();
            }
        }
    }
    None
}

/// Returns the length of a set in brackets that every sed reads in the same way: letters, ranges and classes.
fn bracketed(text: &str, delimiter: char) -> Option<usize> {
    let end = (1..text.len()).find(|at| text[*at..].starts_with(']') && !text[..*at].ends_with(':'))?;
    let set = text[1..end].trim_start_matches('^');
    let plain = |c: char| c.is_ascii_alphanumeric() || " _.,;:+*-=<>@#%&~/()|{}?$!\"'".contains(c);
    let is_class =
        |part: &str| part.strip_suffix(":]").is_some_and(|name| name.chars().all(|c| c.is_ascii_lowercase()));
    let mut rest = set.to_owned();
    while let Some((before, behind)) = rest.split_once("[:") {
        let class = behind.split_inclusive(":]").next().filter(|class| is_class(class))?;
        rest = format!("{before}{}", &behind[class.len()..]);
    }
    (!set.is_empty() && rest.chars().all(|c| plain(c) && c != delimiter)).then_some(end + 1)
}

//! `awk`, whose program can run commands and write files.

use super::Program;
use crate::Word;
use crate::hazard::{Hazard, RISKY_SCRIPT};

pub(super) const ROWS: &[Program] = &[Program {
    risky_options: &["-W", "-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec", "-o", "-p", "-d", "-D"],
    hazards: Some(hazards),
    ..Program::named(&["awk", "gawk", "mawk", "nawk"])
}];

fn hazards(words: &[Word]) -> Vec<Hazard> {
    let is_separator = |at: usize| words[at - 1].is("-F") || words[at].text.starts_with("-F");
    let risky = |at: &usize| !is_separator(*at) && !is_plain(&words[*at].text);
    (1..words.len()).filter(risky).map(|at| Hazard::new(at, RISKY_SCRIPT)).collect()
}

/// Whether a program cannot write, read another file, or run anything.
fn is_plain(program: &str) -> bool {
    !["system", "getline", "|", ">", "@", "fflush", "close", "ARGV", "ENVIRON", "\\"]
        .iter()
        .any(|word| program.contains(word))
}

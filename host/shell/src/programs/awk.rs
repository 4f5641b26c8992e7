//! `awk`, whose program can run commands and write files.

use super::Program;
use crate::Word;
use crate::hazard::{Hazard, RISKY_SCRIPT};
use crate::usage::{Usage, not_understood};

pub(super) const ROWS: &[Program] =
    &[Program { hazards: Some(hazards), ..Program::named(&["awk", "gawk", "mawk", "nawk"]) }];

const TABLE: &str = "\
. -F= -v= : files
";

fn hazards(words: &[Word]) -> Vec<Hazard> {
    if let Some(unknown) = not_understood(TABLE, words, 1) {
        return vec![unknown];
    }
    // The first operand is the program. The others are files, or variables, which can have a file's name, too.
    let operands = Usage::find(TABLE, words, 1).map(|usage| usage.read(words, 1).operands).unwrap_or_default();
    let program = operands.first().filter(|at| !is_plain(&words[**at].text));
    program.map(|at| Hazard::new(*at, RISKY_SCRIPT)).into_iter().collect()
}

/// Whether a program cannot write, read another file, or run anything.
fn is_plain(program: &str) -> bool {
    !["system", "getline", "|", ">", "@", "fflush", "close", "ARGV", "ENVIRON", "\\"]
        .iter()
        .any(|word| program.contains(word))
}

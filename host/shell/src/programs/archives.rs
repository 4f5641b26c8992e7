//! Archives: programs that pack and unpack files.

use super::Program;
use crate::Word;
use crate::hazard::{Hazard, RISKY_OPTION};

pub(super) const ROWS: &[Program] = &[
    Program {
        risky_options: &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
            "-I",
            "-F",
        ],
        hazards: Some(tar),
        ..Program::named(&["tar", "gtar", "bsdtar"])
    },
    Program { risky_options: &["-T", "-TT", "--unzip-command"], ..Program::named(&["zip"]) },
];

/// Finds hazards. The first word is a bundle of options even without a dash.
fn tar(words: &[Word]) -> Vec<Hazard> {
    let bundle = words.get(1).filter(|word| !word.text.starts_with('-') && word.text.contains(['I', 'F']));
    bundle.map(|_| Hazard::new(1, RISKY_OPTION)).into_iter().collect()
}

//! Editors and pagers, in which anything can be run.

use super::{Irreversible, Program};

pub(super) const ROWS: &[Program] = &[Program {
    irreversible: Irreversible::Always,
    ..Program::named(&[
        "code",
        "ed",
        "emacs",
        "emacsclient",
        "ex",
        "helix",
        "hx",
        "less",
        "man",
        "micro",
        "more",
        "most",
        "nano",
        "nvim",
        "vi",
        "view",
        "vim",
        "vimdiff",
    ])
}];

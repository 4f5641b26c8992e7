//! Editors, which run commands of their own from their options.

use super::Program;

pub(super) const ROWS: &[Program] = &[Program {
    risky_options: &["-c", "--cmd", "-S", "--eval", "-u", "-s", "-l", "--load"],
    ..Program::named(&["vi", "vim", "nvim", "emacs", "ex", "ed"])
}];

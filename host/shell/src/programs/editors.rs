//! Editors, whose options can hold commands to run.

use super::Program;

pub(super) const ROWS: &[Program] = &[Program {
    risky_options: &["-c", "--cmd", "-S", "--eval", "-u", "-s", "-l", "--load"],
    ..Program::named(&["vi", "vim", "nvim", "emacs", "ex", "ed"])
}];

//! Wrappers: they run the command after their own options and operands. An option that is not listed here is unknown,
//! and then each word after it may be the command.

use super::shells::line_option;
use super::{Options, Program, Runs};

/// A wrapper that does nothing but run the command after its options.
const COMMAND: Runs = Runs::Command { operands: 0 };

pub(super) const ROWS: &[Program] = &[
    // `nohup` writes `nohup.out` only if its output is a terminal, and programs of the host have none.
    Program { runs: COMMAND, ..Program::named(&["nohup", "busybox"]) },
    Program {
        options: Options { valued: "n", long_valued: &["adjustment"], ..Options::NONE },
        runs: COMMAND,
        ..Program::named(&["nice"])
    },
    Program {
        options: Options { flags: "t", valued: "cn", long_flags: &["ignore"], long_valued: &["class", "classdata"] },
        runs: COMMAND,
        ..Program::named(&["ionice"])
    },
    Program {
        options: Options { flags: "pv", long_flags: &["portability", "verbose"], ..Options::NONE },
        runs: COMMAND,
        ..Program::named(&["time"])
    },
    Program {
        options: Options {
            flags: "v",
            valued: "ks",
            long_flags: &["foreground", "preserve-status", "verbose"],
            long_valued: &["kill-after", "signal"],
        },
        runs: Runs::Command { operands: 1 },
        ..Program::named(&["timeout", "gtimeout"])
    },
    Program {
        options: Options { valued: "ioe", long_valued: &["input", "output", "error"], ..Options::NONE },
        runs: COMMAND,
        ..Program::named(&["stdbuf"])
    },
    Program {
        options: Options { flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..Options::NONE },
        runs: COMMAND,
        ..Program::named(&["setsid"])
    },
    Program {
        options: Options { flags: "cCdDfFhiknqrtTvVwxyYzZ", valued: "aepsSX", ..Options::NONE },
        runs: Runs::CommandWith { operands: 0 },
        ..Program::named(&["strace", "ltrace"])
    },
    Program {
        options: Options { flags: "a", long_flags: &["all-tasks"], ..Options::NONE },
        runs: Runs::CommandWith { operands: 1 },
        ..Program::named(&["taskset"])
    },
    Program {
        options: Options { flags: "abdfior", valued: "TPD", ..Options::NONE },
        runs: Runs::CommandWith { operands: 1 },
        ..Program::named(&["chrt"])
    },
    Program { runs: Runs::Found(line_option), ..Program::named(&["script", "flock"]) },
];

//! Programs that run commands as another user, or with another root.

use super::shells::line_option;
use super::{Danger, Options, Program, Runs};

/// The danger of another user, whatever the words are.
const OTHER_USER: &[(&[&str], Danger)] = &[(&[], Danger::OtherUser)];

pub(super) const ROWS: &[Program] = &[
    Program {
        options: Options {
            flags: "AbEHknPS",
            valued: "ugphrtU",
            long_flags: &["preserve-env", "set-home", "non-interactive", "stdin", "background", "askpass"],
            long_valued: &["user", "group", "prompt", "host", "role", "type"],
        },
        runs: Runs::CommandWith { operands: 0 },
        dangers: OTHER_USER,
        ..Program::named(&["sudo"])
    },
    Program {
        options: Options { flags: "Ln", valued: "u", ..Options::NONE },
        runs: Runs::CommandWith { operands: 0 },
        dangers: OTHER_USER,
        ..Program::named(&["doas"])
    },
    Program { runs: Runs::Found(line_option), dangers: OTHER_USER, ..Program::named(&["su"]) },
    Program { runs: Runs::Unfollowed, dangers: OTHER_USER, ..Program::named(&["pkexec", "runuser"]) },
    Program { runs: Runs::Unfollowed, ..Program::named(&["capsh", "runcon", "setpriv", "sg"]) },
    Program {
        options: Options { long_flags: &["skip-chdir"], long_valued: &["groups", "userspec"], ..Options::NONE },
        runs: Runs::CommandWith { operands: 1 },
        ..Program::named(&["chroot"])
    },
];

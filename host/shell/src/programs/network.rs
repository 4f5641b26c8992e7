//! Programs that send and fetch.

use super::{Irreversible, Program, Runs, Writes};

pub(super) const ROWS: &[Program] = &[
    Program {
        risky_options: &["-o", "-O", "--output", "--output-document", "-K", "--config", "--use-askpass"],
        irreversible: Irreversible::Always,
        ..Program::named(&["curl", "wget"])
    },
    Program {
        risky_options: &["-e", "--rsh", "--rsync-path"],
        writes: Writes::Last,
        irreversible: Irreversible::Always,
        ..Program::named(&["rsync"])
    },
    Program {
        risky_options: &["-S", "-o", "-F", "-D"],
        writes: Writes::Last,
        irreversible: Irreversible::Always,
        ..Program::named(&["scp"])
    },
    Program { risky_options: &["-S", "-o", "-F", "-D"], ..Program::named(&["sftp"]) },
    Program {
        runs: Runs::Unfollowed,
        needs_literals: true,
        irreversible: Irreversible::Always,
        ..Program::named(&["ssh"])
    },
];

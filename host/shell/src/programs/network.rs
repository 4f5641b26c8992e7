//! Programs that send and fetch.

use super::{Irreversible, Program, Runs, Writes};

pub(super) const ROWS: &[Program] = &[
    Program { writes: Writes::Output, irreversible: Irreversible::Always, ..Program::named(&["curl", "wget"]) },
    Program { writes: Writes::Copies, irreversible: Irreversible::Always, ..Program::named(&["rsync"]) },
    Program { writes: Writes::Last, irreversible: Irreversible::Always, ..Program::named(&["scp"]) },
    Program {
        irreversible: Irreversible::Always,
        ..Program::named(&["sftp", "ftp", "nc", "ncat", "netcat", "socat", "telnet"])
    },
    Program { runs: Runs::Unfollowed, irreversible: Irreversible::Always, ..Program::named(&["ssh"]) },
];

//! Programs that make, copy, move, change and delete files.

use super::{Irreversible, Program, Writes};

pub(super) const ROWS: &[Program] = &[
    // A link to a protected folder would be another name for it, so the target of `ln` counts like the link.
    Program { writes: Writes::All, irreversible: Irreversible::Always, ..Program::named(&["ln"]) },
    Program {
        writes: Writes::All,
        ..Program::named(&["touch", "mkdir", "mkfifo", "mknod", "patch", "rename", "link"])
    },
    Program {
        writes: Writes::All,
        irreversible: Irreversible::Always,
        ..Program::named(&["rmdir", "unlink", "chmod", "chown", "truncate"])
    },
    Program { writes: Writes::All, ..Program::named(&["chgrp"]) },
    Program {
        writes: Writes::All,
        needs_literals: true,
        irreversible: Irreversible::Always,
        ..Program::named(&["rm", "mv", "tee"])
    },
    Program {
        writes: Writes::Last,
        needs_literals: true,
        irreversible: Irreversible::Always,
        ..Program::named(&["cp"])
    },
    Program { writes: Writes::Last, irreversible: Irreversible::Always, ..Program::named(&["install"]) },
    Program {
        writes: Writes::OutputFile,
        needs_literals: true,
        irreversible: Irreversible::Always,
        ..Program::named(&["dd"])
    },
];

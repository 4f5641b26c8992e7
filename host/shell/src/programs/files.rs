//! Programs that make, copy, move, change and delete files.

use super::{Deletes, Irreversible, Program, Understood, Writes};

/// A program that writes all its operands.
const fn writes_all(names: &'static [&'static str], table: &'static str, irreversible: Irreversible) -> Program {
    Program { understood: Understood::Table(table), writes: Writes::All, irreversible, ..Program::named(names) }
}

pub(super) const ROWS: &[Program] = &[
    // A link to a protected folder would be another name for it, so the target of `ln` counts like the link.
    writes_all(&["ln"], ". -s -f -n -v -r -T --symbolic --force --verbose --relative : files\n", Irreversible::Always),
    writes_all(&["touch"], ". -a -c -m -d= -t= --no-create --date= : files\n", Irreversible::No),
    writes_all(&["mkdir"], ". -p -v -m= --parents --verbose --mode= : files\n", Irreversible::No),
    writes_all(&["mkfifo", "mknod", "link"], ". : files\n", Irreversible::No),
    Program { writes: Writes::All, ..Program::named(&["patch", "rename"]) },
    Program {
        deletes: Deletes::All,
        ..writes_all(&["rmdir"], ". -p -v --parents --verbose : files\n", Irreversible::Always)
    },
    Program { deletes: Deletes::All, ..writes_all(&["unlink"], ". : files\n", Irreversible::Always) },
    writes_all(&["chmod"], ". -R -v -c -f --recursive --verbose : files\n", Irreversible::Always),
    writes_all(&["chown"], ". -R -v -c -f -h --recursive --verbose : files\n", Irreversible::Always),
    writes_all(&["chgrp"], ". -R -v -c -f -h --recursive --verbose : files\n", Irreversible::No),
    writes_all(&["truncate"], ". -c -s= --no-create --size= : files\n", Irreversible::Always),
    Program {
        deletes: Deletes::All,
        ..writes_all(
            &["rm"],
            ". -r -R -f -v -d -i -I --recursive --force --verbose --dir --interactive : files\n",
            Irreversible::Always,
        )
    },
    writes_all(
        &["mv"],
        ". -f -i -n -v -u -T -t= --force --no-clobber --verbose --update --target-directory= : files\n",
        Irreversible::Always,
    ),
    writes_all(&["tee"], ". -a -i --append --ignore-interrupts : files\n", Irreversible::Always),
    Program {
        understood: Understood::Table(
            ". -r -R -a -p -v -f -i -n -u -d -L -P -H -l -s -x -T -t= --recursive --archive --preserve --verbose --force
    --no-clobber --update --dereference --no-dereference --parents --reflink --target-directory= : files\n",
        ),
        writes: Writes::Copies,
        irreversible: Irreversible::Always,
        ..Program::named(&["cp"])
    },
    Program {
        understood: Understood::Table(". -d -D -p -v -m= -t= --mode= --directory --verbose : files\n"),
        // With `-d` each operand is a folder that it makes.
        writes: Writes::All,
        irreversible: Irreversible::Always,
        ..Program::named(&["install"])
    },
    Program {
        understood: Understood::Table(". : files\n"),
        writes: Writes::OutputFile,
        irreversible: Irreversible::Always,
        ..Program::named(&["dd"])
    },
];

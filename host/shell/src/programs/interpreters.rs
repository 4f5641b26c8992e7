//! Interpreters: with some options they run a program from their arguments, otherwise a file, or their input.

use super::{Program, Runs, Writes};

/// The letters for interpreters with several kinds of such options.
const MANY: Option<&str> = Some("eEfrc");

pub(super) const ROWS: &[Program] = &[
    Program { inline_code: Some("cm"), ..Program::named(&["python", "pypy"]) },
    Program { inline_code: Some("eprc"), ..Program::named(&["node", "nodejs"]) },
    Program { inline_code: Some("eprc"), has_commands: true, ..Program::named(&["bun"]) },
    Program { inline_code: Some(""), has_commands: true, ..Program::named(&["deno"]) },
    Program { inline_code: Some("eEMmIpni"), writes: Writes::AllInPlace, ..Program::named(&["perl"]) },
    Program { inline_code: Some("erIpni"), writes: Writes::AllInPlace, ..Program::named(&["ruby"]) },
    Program { inline_code: Some("rBREda"), ..Program::named(&["php"]) },
    Program { inline_code: Some("el"), ..Program::named(&["lua", "luajit"]) },
    Program { inline_code: Some("c"), ..Program::named(&["tclsh", "wish", "expect"]) },
    // A debugger runs the given program, and scripts of its own.
    Program { inline_code: MANY, runs: Runs::Unfollowed, ..Program::named(&["gdb"]) },
    Program {
        inline_code: MANY,
        ..Program::named(&[
            "Rscript",
            "R",
            "julia",
            "ghci",
            "runghc",
            "elixir",
            "iex",
            "erl",
            "scala",
            "jshell",
            "groovy",
            "osascript",
            "octave",
            "sqlite",
            "psql",
            "mysql",
        ])
    },
];

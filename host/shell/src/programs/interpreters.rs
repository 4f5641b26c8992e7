//! Interpreters, which run a file, code in their arguments, or their input.

use super::{Irreversible, Program, Runs, Writes};

pub(super) const ROWS: &[Program] = &[
    Program { interprets: true, ..Program::named(&["python", "pypy"]) },
    Program { interprets: true, ..Program::named(&["node", "nodejs"]) },
    Program { interprets: true, ..Program::named(&["bun"]) },
    Program { interprets: true, ..Program::named(&["deno"]) },
    Program { interprets: true, writes: Writes::AllInPlace, ..Program::named(&["perl"]) },
    Program { interprets: true, writes: Writes::AllInPlace, ..Program::named(&["ruby"]) },
    Program { interprets: true, ..Program::named(&["php"]) },
    Program { interprets: true, ..Program::named(&["lua", "luajit"]) },
    Program { interprets: true, ..Program::named(&["tclsh", "wish", "expect"]) },
    // A debugger runs the given program, and scripts of its own.
    Program { interprets: true, runs: Runs::Unfollowed, ..Program::named(&["gdb"]) },
    Program {
        interprets: true,
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
        ])
    },
    // Their input and operands are commands, and some of those reach a shell.
    Program {
        irreversible: Irreversible::Always,
        ..Program::named(&["sqlite3", "sqlite", "psql", "mysql", "mariadb", "mongosh", "redis-cli", "duckdb"])
    },
];

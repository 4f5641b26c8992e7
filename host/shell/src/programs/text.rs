//! Programs that search, sort, compare and show text. A program that only reads, whatever its options, has no row.

use super::Program;

pub(super) const ROWS: &[Program] = &[
    Program { risky_options: &["--pre", "--hostname-bin", "--search-zip", "-z"], ..Program::named(&["rg"]) },
    Program {
        risky_options: &["--compress-program", "--output", "-o", "--temporary-directory", "-T"],
        ..Program::named(&["sort"])
    },
    Program { risky_options: &["-o", "--output"], ..Program::named(&["uniq", "tree"]) },
    Program {
        risky_options: &["-P", "--pager", "-o", "-O", "--log-file", "-H", "--html"],
        ..Program::named(&["less", "more", "man"])
    },
    Program { risky_options: &["--output"], ..Program::named(&["diff"]) },
    Program { risky_options: &["--filter"], ..Program::named(&["split"]) },
    Program { risky_options: &["-s", "--set"], ..Program::named(&["date"]) },
    Program { risky_options: &["-C", "--compile"], ..Program::named(&["file"]) },
    Program { risky_options: &["-r"], ..Program::named(&["xxd"]) },
    Program { risky_options: &["-L", "-f", "--from-file"], ..Program::named(&["jq"]) },
    Program { risky_options: &["-i", "--inplace"], ..Program::named(&["yq"]) },
];

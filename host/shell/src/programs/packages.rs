//! Programs that build, test and install packages. The files that control them are not read here.

use super::Program;

pub(super) const ROWS: &[Program] = &[
    Program {
        risky_options: &["--config", "-Z", "--manifest-path", "-C"],
        has_commands: true,
        ..Program::named(&["cargo"])
    },
    Program {
        risky_options: &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
            "-C",
            "-overlay",
            "-modfile",
        ],
        has_commands: true,
        ..Program::named(&["go"])
    },
    Program { risky_options: NPM_OPTIONS, has_commands: true, ..Program::named(&["npm", "pnpm", "yarn"]) },
    Program { risky_options: NPM_OPTIONS, ..Program::named(&["npx"]) },
    Program { risky_options: MAKE_OPTIONS, has_commands: true, ..Program::named(&["make"]) },
    Program { risky_options: MAKE_OPTIONS, ..Program::named(&["gmake"]) },
    Program { risky_options: &["-p", "-c", "--rootdir", "-o", "--override-ini"], ..Program::named(&["pytest"]) },
    Program {
        has_commands: true,
        ..Program::named(&[
            "apt",
            "apt-get",
            "bazel",
            "brew",
            "bundle",
            "composer",
            "dart",
            "dotnet",
            "flutter",
            "gcloud",
            "gh",
            "glab",
            "gradle",
            "jj",
            "just",
            "mvn",
            "pip",
            "pip3",
            "poetry",
            "rustup",
            "swift",
            "terraform",
            "uv",
        ])
    },
];

const NPM_OPTIONS: &[&str] = &["--script-shell", "--shell", "-c", "--call", "--prefix", "--node-options", "--cwd"];

const MAKE_OPTIONS: &[&str] = &["-f", "--file", "--makefile", "-C", "--directory", "--eval", "-I"];

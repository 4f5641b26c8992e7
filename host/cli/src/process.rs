//! The process that the binary runs in: its environment and what its terminal can do.

use std::io::IsTerminal as _;

use host_app::environment::{Environment, Terminals};
use host_terminal::TerminalMode;

/// The environment of this process.
pub(crate) fn environment() -> Environment {
    let terminals = Terminals {
        stdin: std::io::stdin().is_terminal(),
        stdout: std::io::stdout().is_terminal(),
        stderr: std::io::stderr().is_terminal(),
    };
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    Environment::new(std::env::vars_os().collect(), home, terminals)
}

/// Returns the capabilities of the terminal.
pub(crate) fn terminal_mode(environment: &Environment) -> TerminalMode {
    match environment.text("TERM").as_deref() {
        None | Some("dumb") => TerminalMode::Dumb,
        Some(_) => TerminalMode::Ansi,
    }
}

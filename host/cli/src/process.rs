//! The process that the binary runs in: its environment and what its terminal can do.

use std::io::IsTerminal as _;
use std::sync::Arc;

use host_app::app::Tooling;
use host_plugin::CompileOptions;
use host_settings::configuration::{Configuration, ShownAnswers};
use host_settings::environment::{Environment, Terminals};
use host_terminal::{Answers, Resize, TerminalMode};
use host_text::Wording;

use crate::compiling;

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

/// Returns what loads plugins and connects MCP servers.
pub(crate) fn tooling(environment: &Environment) -> Tooling {
    Tooling {
        compile: compile_options(environment),
        connector: Some(Arc::new(host_mcp::Connector)),
        wording: Wording::default(),
    }
}

/// Returns how components are compiled: what is compiled is shown on standard error, as far as that can.
pub(crate) fn compile_options(environment: &Environment) -> CompileOptions {
    compiling::options(match (environment.stderr_is_terminal, terminal_mode(environment)) {
        (false, _) => compiling::Stderr::NoTerminal,
        (true, TerminalMode::Dumb) => compiling::Stderr::Printing,
        (true, TerminalMode::Ansi) => compiling::Stderr::Moving,
    })
}

/// Returns how answers are shown on a terminal.
pub(crate) fn answers(configuration: &Configuration) -> Answers {
    match configuration.conversation().answers {
        ShownAnswers::Source => Answers::Source,
        ShownAnswers::Rendered => Answers::Rendered,
    }
}

/// Returns what the terminal does with rows when its width changes. xterm, the console of Linux and GNU screen cut
/// them; the others are taken to wrap them.
pub(crate) fn resize(environment: &Environment) -> Resize {
    let is_set = |name| environment.variable(name).is_some();
    let is_within_tmux = is_set("TMUX");
    let cuts = is_set("XTERM_VERSION") || is_set("STY") || environment.text("TERM").is_some_and(|term| term == "linux");
    if cuts && !is_within_tmux { Resize::Cuts } else { Resize::Wraps }
}

/// Returns the capabilities of the terminal.
pub(crate) fn terminal_mode(environment: &Environment) -> TerminalMode {
    match environment.text("TERM").as_deref() {
        None | Some("dumb") => TerminalMode::Dumb,
        Some(_) => TerminalMode::Ansi,
    }
}

//! `host`: runs an agent in a repository, with tools that hold exactly what they were granted.
//!
//! Owns everything that touches the user and the machine around them: arguments, the environment, configuration,
//! the terminal, exit codes. What it starts, it ends: no child outlives it but the one that compiles the built-in tools
//! once ([`compiler`]), and no run that did not reach its end exits with 0.
//!
//! Deliberately not here: any decision about what a call may touch beyond reading the user's words: `host-capability`
//! decides. Nor is anything here that a second frontend would need.

mod approval;
mod arguments;
mod ask;
mod command;
mod compiler;
mod compiling;
mod exit;
mod first_start;
mod folder_question;
mod git_ssh;
mod interrupt;
mod log;
mod pager;
mod password;
mod printer;
mod process;
mod streams;
mod trust_question;

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};

use arguments::{Arguments, Command};
use exit::Code;

/// That of musl has one lock for all threads, and takes its time: docs/decisions/0027-allocator-of-releases.md.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(arguments) = compiler::arguments() {
        return compiler::run(&arguments);
    }
    if let Some(cache) = compiler::ahead() {
        return compiler::run_ahead(cache);
    }
    if let Some(arguments) = git_ssh::arguments() {
        return git_ssh::run(arguments);
    }
    let environment = process::environment();
    if arguments::is_run() {
        // Before the command line is read, so that both happen at once.
        host_extensions::ahead::begin();
    }
    let style = printer::style(&environment);
    let arguments = match arguments::parse(style) {
        Ok(arguments) => arguments,
        Err(code) => return code.into(),
    };
    log::start(&environment);
    host_process::prepare_host();
    let code = dispatch(arguments, environment).unwrap_or_else(|failure| exit::report(&failure, style));
    let is_lost = printer::LOST.load(Ordering::Relaxed);
    if is_lost { Code::Failed(ErrorKind::Write) } else { code }.into()
}

fn dispatch(arguments: Arguments, environment: Environment) -> Result<Code, Failure> {
    match arguments.command {
        Command::Completions { shell } => command::completions(shell),
        Command::Manual { out } => command::manual(out.as_deref()),
        Command::Update { archive, public_key } => command::update(&archive, public_key.as_deref()),
        Command::Run(run) => {
            // A run is also what a command line without a command means.
            host_extensions::ahead::begin();
            interrupt::block_on(|interrupt| command::run::run(run, environment, interrupt))
        }
        Command::Acp(acp) => interrupt::block_on(|interrupt| command::acp::run(acp, environment, interrupt.stop)),
        Command::Agent(agent) => {
            interrupt::block_on(|interrupt| command::agent::run(agent, environment, interrupt.stop))
        }
        Command::Skill(skill) => command::skill::run(&skill, &environment),
        Command::Model(model) => interrupt::block_on(|_| command::model::run(model, environment)),
        Command::Tool(tool) => interrupt::block_on(|interrupt| command::tool::run(tool, environment, interrupt.stop)),
        Command::Mcp(mcp) => interrupt::block_on(|interrupt| command::mcp::run(mcp, environment, interrupt.stop)),
        Command::Plugin(plugin) => {
            interrupt::block_on(|interrupt| command::plugin::run(plugin, environment, interrupt.stop))
        }
        Command::Keys(keys) => command::keys::run(keys, &environment),
        Command::Session(session) => command::session::run(session, &environment),
        Command::Undo(undo) => {
            interrupt::block_on(|interrupt| async move { command::undo::run(undo, &environment, &interrupt).await })
        }
        Command::Import(import) => {
            interrupt::block_on(|interrupt| async move { command::import::run(import, &environment, &interrupt).await })
        }
        Command::Policy(policy) => {
            interrupt::block_on(|interrupt| command::policy::run(policy, environment, interrupt.stop))
        }
        Command::Hooks(hooks) => command::hooks::run(hooks, &environment),
        Command::Trust { command } => command::trust::run(command, &environment),
        Command::Schema { format } => command::schema(format),
        Command::Doctor(doctor) => interrupt::block_on(|_| command::doctor::run(doctor, environment)),
    }
}

//! `host doctor`: checks that everything the host needs exists, and what to do if it does not.

use std::path::Path;
use std::sync::Arc;

use anstyle::AnsiColor;
use host_app::app::{self, App};
use host_extensions::plugins;
use host_extensions::servers::McpReport;
use host_model::{Ollama, PROVIDERS};
use host_plugin::{Allocator, Runtime, RuntimeOptions, Workspace, command_line};
use host_settings::configuration::{Commands, Configuration, McpConfig};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::mcp::McpState;
use host_settings::models;
use host_settings::request::{AccessRequest, FolderRequest};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::arguments::Doctor;
use crate::command::mcp::listed;
use crate::exit::Code;
use crate::printer::{self, Out, Style};

/// The result of a check.
#[derive(Serialize)]
struct Finding {
    about: &'static str,
    state: State,
    said: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    /// The host works without it.
    Note,
    Bad,
}

pub(crate) async fn run(doctor: Doctor, environment: Environment) -> Result<Code, Failure> {
    let mut findings = Vec::new();
    let mut find = |about, state, said: String| findings.push(Finding { about, state, said });
    let folders = environment.folders();
    let mut configuration = Configuration::default();
    match &folders {
        Ok(folders) => {
            for (about, folder) in
                [("cache", &folders.cache), ("state", &folders.state), ("sessions", &folders.sessions)]
            {
                match can_write(folder) {
                    Ok(()) => find(about, State::Good, folder.display().to_string()),
                    Err(error) => find(about, State::Bad, format!("`{}` cannot be written: {error}", folder.display())),
                }
            }
            match Configuration::read(&environment, folders) {
                Ok(read) => {
                    configuration = read;
                    find("configuration", State::Good, "valid".to_owned());
                }
                Err(failure) => {
                    find("configuration", State::Bad, [failure.message, failure.causes.join("; ")].join(": "))
                }
            }
        }
        Err(error) => find("folders", State::Bad, error.to_string()),
    }
    let cache = folders.ok().map(|folders| folders.cache);
    let runtime = Arc::new(Runtime::new(RuntimeOptions {
        cache,
        compile: environment.compile().clone(),
        ..RuntimeOptions::default()
    }));
    match runtime.allocator() {
        Ok(Allocator::Pooling) => find("engine", State::Good, "pooled instances".to_owned()),
        Ok(Allocator::OnDemand) => find(
            "engine",
            State::Note,
            "no address space for pooled instances (see `ulimit -v`); each call is slower".to_owned(),
        ),
        Err(error) => find("engine", State::Bad, error.to_string()),
    }
    let missing = host_process::level().missing();
    for wall in &missing {
        let help = wall.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        find("confinement", State::Note, format!("{}: {}{help}", wall.wall, wall.why));
    }
    if missing.iter().all(|wall| wall.is_covered) {
        find(
            "confinement",
            State::Good,
            "programs can be confined: files, network, processes, system calls".to_owned(),
        );
    }
    match host_process::shell() {
        Some(shell) => find("shell", State::Good, format!("lines run in {}", shell.program.display())),
        None => find("shell", State::Bad, "install dash, bash or busybox: lines of the model run in it".to_owned()),
    }
    match plugins::built_in_plugins(Workspace::new("/".into()).root()) {
        Ok(plugins) if plugins.is_empty() => find(
            "built-in tools",
            State::Bad,
            "this build has none: `host plugin build plugins --out plugins/dist`, then build the host again".to_owned(),
        ),
        Ok(plugins) => {
            let mut broken = Vec::new();
            for installed in &plugins {
                if let Err(error) = runtime.prepare(&installed.plugin).await {
                    broken.push(error.to_string());
                }
            }
            if broken.is_empty() {
                find("built-in tools", State::Good, format!("all {} compiled and cached", plugins.len()));
            } else {
                find("built-in tools", State::Bad, broken.join("; "));
            }
        }
        Err(failure) => find("built-in tools", State::Bad, failure.message),
    }
    if let Some(Commands { discovery, call, .. }) = configuration.commands() {
        let missing = [&discovery, &call].into_iter().find(|words| !environment.has_program(words));
        match missing.and_then(|words| words.first()) {
            None => find("discovered tools", State::Good, format!("`{}` lists them", command_line(&discovery))),
            Some(program) => find("discovered tools", State::Bad, format!("the program `{program}` does not exist")),
        }
    }
    for (state, said) in servers(&configuration, &environment).await {
        find("MCP servers", state, said);
    }
    let decided = models::decided(&configuration, &environment);
    if let Some(decided) = &decided {
        find("model", State::Good, decided.to_string());
    }
    for provider in PROVIDERS.iter().filter(|provider| provider.usual_models.is_some()) {
        let Some(variable) = provider.key_variable else { continue };
        match environment.variable(variable) {
            Some(_) => find("model", State::Good, format!("{variable} is set")),
            // Whoever has a model needs no other service's key.
            None if decided.is_some() => {}
            None => find(
                "model",
                State::Note,
                format!("{variable} is not set (needed for `{provider}/…`, not for `offline`)"),
            ),
        }
    }
    match models::local(&configuration, &environment).await {
        Ok(models) => match models.first() {
            Some(model) => find("model", State::Good, format!("Ollama is running and has `{model}`")),
            None if decided.is_some_and(|decided| !decided.is_of(Ollama::PROVIDER)) => {}
            None => {
                find("model", State::Note, "Ollama is not running or has no model (needed for `ollama/…`)".to_owned())
            }
        },
        Err(failure) => find("model", State::Bad, failure.message),
    }
    let bad = findings.iter().any(|finding| finding.state == State::Bad);
    print(&findings, &doctor, &environment)?;
    if bad { Err(Failure::configuration("some checks failed (see above)")) } else { Ok(Code::Done) }
}

/// The MCP servers of the user's configuration, each connected once. Those of a project are `host mcp list`'s.
async fn servers(configuration: &Configuration, environment: &Environment) -> Vec<(State, String)> {
    if !configuration.mcp.values().any(McpConfig::is_server) {
        return Vec::new();
    }
    let place = FolderRequest { folder: None, any_folder: true };
    let nothing = |_: &str| {};
    let opened = match app::project(
        &place,
        &match environment.folders() {
            Ok(folders) => folders,
            Err(error) => return vec![(State::Bad, error.to_string())],
        },
    ) {
        Ok(project) => {
            let stop = CancellationToken::new();
            App::open(&place, &AccessRequest::default(), project, environment, &nothing, &stop).await
        }
        Err(failure) => Err(failure),
    };
    let app = match opened {
        Ok(app) => app,
        Err(failure) => return vec![(State::Bad, failure.message)],
    };
    let Some(servers) = &app.mcp else { return Vec::new() };
    let reports = servers.settled_reports().await;
    let finding = |report: &McpReport| {
        let state = match report.status.state {
            McpState::Ready => State::Good,
            McpState::NeedsLogin => State::Note,
            McpState::Starting | McpState::Unavailable { .. } => State::Bad,
        };
        (state, listed(report))
    };
    reports.iter().map(finding).collect()
}

fn print(findings: &[Finding], doctor: &Doctor, environment: &Environment) -> Result<(), Failure> {
    let out = Out::new(CancellationToken::new());
    if doctor.json {
        out.write(&printer::json(&findings)?);
        return Ok(());
    }
    let style = Style { colour: printer::style(environment).colour && environment.stdout_is_terminal };
    for finding in findings {
        let mark = match finding.state {
            State::Good => style.paint("good", AnsiColor::Green),
            State::Note => style.paint("note", AnsiColor::Yellow),
            State::Bad => style.paint("bad ", AnsiColor::Red),
        };
        out.write(&format!("{mark}  {:15} {}\n", finding.about, finding.said));
    }
    Ok(())
}

fn can_write(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder).map(drop)
}

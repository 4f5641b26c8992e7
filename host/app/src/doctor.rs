//! Checks that everything the host needs exists, and what to do if it does not.
//!
//! Owns what is looked at and what is said about it. Promises that a check changes nothing but caches, and that each
//! problem has a line of its own. Deliberately not here: showing the checks, and the servers of a project, which only a
//! session in it connects.

mod name;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_extensions::plugins;
use host_extensions::servers::McpReport;
use host_model::{Ollama, PROVIDERS};
use host_plugin::{Allocator, Runtime, RuntimeOptions, Workspace, command_line};
use host_settings::configuration::{Commands, ConfigValue, Configuration, McpConfig, PluginConfig};
use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::mcp::McpState;
use host_settings::models;
use host_settings::request::{AccessRequest, FolderRequest};
use host_text::{Flag, Notice, exact};
use serde::{Serialize, Serializer};
use tokio_util::sync::CancellationToken;

use crate::app::{self, App, Opening, Tooling};
use crate::installation::Installation;
use crate::session::pages::servers::listed;

/// A check that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub about: &'static str,
    /// How it is.
    pub state: CheckState,
    /// What was found, and what to do about it.
    #[serde(serialize_with = "as_text")]
    pub said: Notice,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it has to be.
    Good,
    /// The host works without it.
    Note,
    /// The host, or a part of it, does not work.
    Bad,
}

fn as_text<S: Serializer>(said: &Notice, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(said)
}

/// The checks so far.
#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, about: &'static str, state: CheckState, said: impl Into<Notice>) {
        self.0.push(Check { about, state, said: said.into() });
    }

    fn good(&mut self, about: &'static str, said: impl Into<Notice>) {
        self.add(about, CheckState::Good, said);
    }

    fn note(&mut self, about: &'static str, said: impl Into<Notice>) {
        self.add(about, CheckState::Note, said);
    }

    fn bad(&mut self, about: &'static str, said: impl Into<Notice>) {
        self.add(about, CheckState::Bad, said);
    }
}

/// Makes all checks.
pub async fn checks(environment: &Environment, tooling: &Tooling) -> Vec<Check> {
    let mut checks = Checks::default();
    checks.name(environment, tooling);
    let (configuration, cache) = match environment.folders() {
        Ok(folders) => {
            checks.folders(&folders);
            (checks.configuration(environment, &folders), Some(folders.cache))
        }
        Err(error) => {
            checks.bad("folders", error.to_string());
            (Configuration::default(), None)
        }
    };
    let runtime = checks.engine(cache, tooling);
    checks.confinement();
    checks.built_in_tools(&runtime).await;
    checks.web_search(&configuration);
    checks.discovered_tools(&configuration, environment);
    checks.servers(&configuration, environment, tooling).await;
    checks.model(&configuration, environment).await;
    checks.0
}

impl Checks {
    fn name(&mut self, environment: &Environment, tooling: &Tooling) {
        let path = environment.variable("PATH").unwrap_or_default();
        let own = tooling.compile.program.as_deref();
        let Some(own) = own else { return };
        if let Some((state, said)) = name::check(path, own) {
            self.add("program", state, said);
        }
        // Links lead to it from folders of `PATH`; what installed it has its records beside the file.
        let installation = Installation::of(&own.canonicalize().unwrap_or_else(|_| own.to_owned()));
        let how = Notice::from(format!("{installation}; to update it: ")).then(installation.update());
        self.good("installation", how);
    }

    fn folders(&mut self, folders: &Folders) {
        for (about, folder) in [("cache", &folders.cache), ("state", &folders.state), ("sessions", &folders.sessions)] {
            let shown = folder.display();
            match can_write(folder) {
                Ok(()) => self.good(about, shown.to_string()),
                Err(error) => self.bad(about, format!("`{shown}` cannot be written: {error}")),
            }
        }
    }

    fn configuration(&mut self, environment: &Environment, folders: &Folders) -> Configuration {
        match Configuration::read(environment, folders, None) {
            Ok(read) => {
                self.good("configuration", "valid");
                read
            }
            Err(failure) => {
                self.bad("configuration", failure.notice());
                Configuration::default()
            }
        }
    }

    /// Says whom `web_search` asks if that is the model's service: which one depends on the model.
    fn web_search(&mut self, configuration: &Configuration) {
        let by_model = |plugin: &PluginConfig| {
            plugin.config.get("provider").is_some_and(|ConfigValue(value)| value.as_str() == Some("model"))
        };
        let plugins = configuration.plugins.iter();
        if plugins.into_iter().any(|(name, plugin)| name.as_str() == "web_search" && by_model(plugin)) {
            let asked = "`web_search` reaches the network through the model's service, and each search is asked about \
                         unless ";
            self.good("web search", Notice::from(asked).code_flag(Flag::Grant, None).text(" allows it"));
        }
    }

    fn engine(&mut self, cache: Option<PathBuf>, tooling: &Tooling) -> Arc<Runtime> {
        let compile = tooling.compile.clone();
        let runtime = Arc::new(Runtime::new(RuntimeOptions { cache, compile, ..RuntimeOptions::default() }));
        match runtime.allocator() {
            Ok(Allocator::Pooling) => self.good("engine", "pooled instances"),
            Ok(Allocator::OnDemand) => {
                self.note("engine", "no address space for pooled instances (see `ulimit -v`); each call is slower");
            }
            Err(error) => self.bad("engine", error.to_string()),
        }
        runtime
    }

    fn confinement(&mut self) {
        let missing = host_process::level().missing();
        for wall in &missing {
            let help = wall.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            self.note("confinement", format!("{}: {}{help}", wall.wall, wall.why));
        }
        if missing.iter().all(|wall| wall.is_covered) {
            self.good("confinement", "programs can be confined: files, network, processes, system calls");
        }
        match host_process::shell() {
            Some(shell) => self.good("shell", format!("lines run in {}", shell.program.display())),
            None => self.bad("shell", "install dash, bash or busybox: lines of the model run in it"),
        }
    }

    async fn built_in_tools(&mut self, runtime: &Arc<Runtime>) {
        const ABOUT: &str = "built-in tools";
        let plugins = match plugins::built_in_plugins(Workspace::new("/".into()).root()) {
            Ok(plugins) => plugins,
            Err(failure) => return self.bad(ABOUT, failure.message),
        };
        if plugins.is_empty() {
            let build = Notice::from("this build has none: ").command("plugin build plugins --out plugins/dist");
            return self.bad(ABOUT, build.text(", then build the host again"));
        }
        if runtime.is_compiled_ahead() {
            self.note(ABOUT, "a process in the background compiles them for the cache, once; it ends by itself");
        }
        let mut broken = Vec::new();
        for installed in &plugins {
            if let Err(error) = runtime.prepare(&installed.plugin).await {
                broken.push(error.to_string());
            }
        }
        match broken.is_empty() {
            true => self.good(ABOUT, format!("all {} compiled and cached", plugins.len())),
            false => self.bad(ABOUT, broken.join("; ")),
        }
    }

    fn discovered_tools(&mut self, configuration: &Configuration, environment: &Environment) {
        let Some(Commands { discovery, call, .. }) = configuration.commands() else { return };
        let missing = [discovery, call].into_iter().find(|words| !environment.has_program(words));
        match missing.and_then(|words| words.first()) {
            None => self.good("discovered tools", format!("`{}` lists them", command_line(discovery))),
            Some(program) => self.bad("discovered tools", format!("the program `{program}` does not exist")),
        }
    }

    /// The MCP servers of the user's configuration, each connected once.
    async fn servers(&mut self, configuration: &Configuration, environment: &Environment, tooling: &Tooling) {
        if !configuration.mcp.values().any(McpConfig::is_server) {
            return;
        }
        let app = match open(environment, tooling).await {
            Ok(app) => app,
            Err(failure) => return self.bad("MCP servers", failure.message),
        };
        let Some(servers) = &app.mcp else { return };
        for report in servers.settled_reports().await {
            self.add("MCP servers", state_of(&report), listed(&report));
        }
    }

    async fn model(&mut self, configuration: &Configuration, environment: &Environment) {
        const ABOUT: &str = "model";
        let decided = models::decided(configuration, environment);
        if let Some(decided) = &decided {
            self.good(ABOUT, decided.to_string());
        }
        for id in models::unknown(configuration) {
            let words = format!(
                "nothing is known about `{}`: its window is taken to be {} tokens; set `window` under `[models.\"{}\"]`, \
                 or run ",
                exact(&id),
                configuration.known.window(&id),
                exact(&id)
            );
            self.note(ABOUT, Notice::from(words).command("model update"));
        }
        for provider in PROVIDERS.iter().filter(|provider| provider.usual_models.is_some()) {
            let Some(variable) = provider.key_variable else { continue };
            match environment.variable(variable) {
                Some(_) => self.good(ABOUT, format!("{variable} is set")),
                // Whoever has a model needs no other service's key.
                None if decided.is_some() => {}
                None => {
                    let words = format!("{variable} is not set (needed for `{provider}/…`, not for `offline`)");
                    self.note(ABOUT, words);
                }
            }
        }
        let local = match models::local(configuration, environment).await {
            Ok(local) => local,
            Err(failure) => return self.bad(ABOUT, failure.message),
        };
        match local.first() {
            Some(model) => self.good(ABOUT, format!("Ollama is running and has `{model}`")),
            None if decided.is_some_and(|decided| !decided.is_of(Ollama::PROVIDER)) => {}
            None => self.note(ABOUT, "Ollama is not running or has no model (needed for `ollama/…`)"),
        }
    }
}

/// Opens the application where it is, without what a project brings.
async fn open(environment: &Environment, tooling: &Tooling) -> Result<App, Failure> {
    let place = FolderRequest { folder: None, any_folder: true };
    let project = app::project(&place, &environment.folders()?)?;
    let access = AccessRequest::default();
    let opening = Opening { place: &place, access: &access, project, environment, tooling };
    App::open(opening, &|_| {}, &CancellationToken::new()).await
}

fn state_of(report: &McpReport) -> CheckState {
    match report.status.state {
        McpState::Ready => CheckState::Good,
        McpState::NeedsLogin => CheckState::Note,
        McpState::Starting | McpState::Unavailable { .. } => CheckState::Bad,
    }
}

fn can_write(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::tempfile_in(folder).map(drop)
}

//! Which MCP servers there are: those of the user's configuration, and those of a trusted project with what the user
//! adds to them.
//!
//! Promises: a server of the user's own is never replaced by a project's; two names that look alike are not both used;
//! a secret that is missing keeps only its server from being used, and says where to set it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host_capability::{McpServerName, Resources, Scope, ScopeError};
use host_process::ConfineMode;
use host_settings::configuration::{Configuration, McpConfig, TIMEOUT_SECONDS};
use host_settings::confinement::{check_without_ssh, named_by, never_offered};
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::mcp::{McpAddress, McpProgram, McpServer, McpTransport};
use host_settings::project::ProjectFile;
use host_settings::request::{McpEndpoint, McpServerRequest};
use host_text::{Advice, Secret, exact, skeleton};

use super::files::{self, FileServer};
use crate::plugins::settings::{NoValue, absolute, value};

/// Where a server comes from that a frontend hands over, for messages.
const HANDED_OVER: &str = "the client";

/// The name of the workspace in the command of a server.
const WORKSPACE: &str = "${workspace}";

/// The servers of a session, and what the user should know about others, a line each.
#[derive(Clone, Debug, Default)]
pub struct ConfiguredServers {
    /// The servers.
    pub servers: Vec<McpServer>,
    /// What the user should know about others.
    pub notes: Vec<String>,
}

/// Where servers are looked for.
pub struct Places<'a> {
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The files with servers, of the project if it is trusted.
    pub files: &'a [ProjectFile],
    /// The files of the project that its servers are started with.
    pub server_files: &'a [ProjectFile],
    /// Whether the project is trusted: only then code of its folder runs in servers of others.
    pub is_trusted: bool,
    /// Whether programs are confined.
    pub confine: ConfineMode,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// The folders of the host.
    pub folders: &'a Folders,
    /// The folder to work in.
    pub workspace: &'a Path,
    /// What a frontend hands over.
    pub handed_over: &'a [McpServerRequest],
}

impl Places<'_> {
    /// The folder in which a server of the user's starts that names none. Interpreters and package runners take code
    /// from the folder that they start in, so that it is the workspace only if the user trusts what lies there.
    fn start_folder(&self) -> Option<PathBuf> {
        self.is_trusted.then(|| self.workspace.to_owned())
    }

    /// The files that a command of the user's own names, which it may read.
    fn named_by(&self, command: &[String]) -> Vec<PathBuf> {
        let home = self.environment.home();
        named_by(command, home, &never_offered(home, self.folders))
    }

    /// The words of a command, with the workspace in the place of its name.
    fn filled(&self, words: impl Iterator<Item = String>) -> Vec<String> {
        let workspace = self.workspace.to_string_lossy();
        words.map(|word| word.replace(WORKSPACE, &workspace)).collect()
    }
}

impl ConfiguredServers {
    /// Reads all of them.
    ///
    /// # Errors
    ///
    /// If a server of the user's configuration is invalid.
    pub fn read(places: &Places<'_>) -> Result<Self, Failure> {
        let own = &places.configuration.mcp;
        let mut all = Self::default();
        let (origin, _) = Configuration::path(places.environment, places.folders);
        for (name, config) in own.iter().filter(|(_, config)| config.is_server() && config.is_enabled()) {
            let Ok(name) = McpServerName::parse(name) else { continue };
            match of_user(&name, config, &origin, places) {
                Ok(server) => all.add(server, None),
                Err(NoValue::Unset(why)) => {
                    all.notes.push(format!("the MCP server `{name}` is left out until {why}"));
                }
                Err(NoValue::Unusable(failure)) => return Err(failure),
            }
        }
        for file in places.files {
            let found = files::read(file, own, places.environment);
            all.notes.extend(found.notes);
            for (name, server) in found.servers {
                let config = own.get(name.as_str()).cloned().unwrap_or_default();
                if !config.is_enabled() {
                    continue;
                }
                match of_file(&name, server, &config, file, places) {
                    Ok(server) => all.add(server, Some(&file.path)),
                    Err(failure) => all.notes.push(format!("the MCP server `{name}` is not used: {}", failure.message)),
                }
            }
        }
        for request in places.handed_over {
            let shown = host_text::excerpt(&request.name, 60);
            let server = McpServerName::parse(&request.name)
                .map_err(|error| format!("{error}; {}", error.help()))
                .and_then(|name| of_client(&name, request, own, places).map_err(|failure| failure.message));
            match server {
                Ok(server) => all.add(server, Some(Path::new(HANDED_OVER))),
                Err(why) => all.notes.push(format!("the MCP server `{shown}` of {HANDED_OVER} is not used: {why}")),
            }
        }
        for (name, _) in own.iter().filter(|(_, config)| !config.is_server() && config.is_enabled()) {
            let is_known = all.servers.iter().any(|server| server.name.as_str() == name);
            // Of an untrusted project nothing is known, and the file may be about another one.
            if !is_known {
                tracing::debug!(server = %exact(name), "`[mcp]` is about a server that no file names here");
            }
        }
        Ok(all)
    }

    fn add(&mut self, server: McpServer, file: Option<&Path>) {
        let alike = |other: &&McpServer| skeleton(other.name.as_str()) == skeleton(server.name.as_str());
        match (self.servers.iter().find(alike), file) {
            (None, _) => self.servers.push(server),
            (Some(other), file) if other.name == server.name && file.is_some() => {
                let file = file.map(|file| exact(&file.display().to_string()).into_owned()).unwrap_or_default();
                let other_file = exact(&other.origin.display().to_string()).into_owned();
                self.notes
                    .push(format!("the MCP server `{}` is the one of `{other_file}`, not of `{file}`", server.name));
            }
            (Some(other), _) => self.notes.push(format!(
                "the MCP server `{}` is not used: its name looks like `{}`; change one of them",
                server.name, other.name
            )),
        }
    }
}

/// A server of the user's configuration.
fn of_user(name: &McpServerName, config: &McpConfig, origin: &Path, places: &Places<'_>) -> Result<McpServer, NoValue> {
    let secrets = |table: &str, sources: &BTreeMap<String, _>| {
        let mut values = BTreeMap::new();
        for (key, source) in sources {
            let of = format!("mcp.{name}.{table}.{key}");
            values.insert(key.clone(), Secret::new(value(source, &of, places.environment)?));
        }
        Ok::<_, NoValue>(values)
    };
    let transport = match (&config.command, &config.url) {
        (Some(command), _) => {
            let environment = secrets("env", &config.env)?;
            let command = places.filled(std::iter::once(command).chain(&config.args).cloned());
            let directory = match &config.directory {
                Some(folder) => Some(absolute(folder, &format!("mcp.{name}.directory"), places.environment)?),
                None => places.start_folder(),
            };
            let resources = resources(name, config, &command, places.named_by(&command), places);
            let resources = resources.map_err(NoValue::Unusable)?;
            let confine = places.confine;
            let files = Vec::new();
            McpTransport::Program(McpProgram { command, directory, files, confine, environment, resources })
        }
        (None, Some(url)) => {
            let headers = secrets("headers", &config.headers)?;
            let of = format!("mcp.{name}.client_secret");
            let secret = config.client_secret.as_ref().map(|source| value(source, &of, places.environment));
            let client_secret = secret.transpose()?.map(Secret::new);
            McpTransport::Http(McpAddress { client_secret, ..address(name, url, headers, config)? })
        }
        (None, None) => return Err(NoValue::Unset("you set its `command` or its `url`".to_owned())),
    };
    Ok(server(name, transport, config, origin))
}

/// A server of a project's file, with what the user adds to it.
fn of_file(
    name: &McpServerName,
    found: FileServer,
    config: &McpConfig,
    file: &ProjectFile,
    places: &Places<'_>,
) -> Result<McpServer, Failure> {
    let secret =
        |all: BTreeMap<String, String>| all.into_iter().map(|(key, value)| (key, Secret::new(value))).collect();
    let transport = match found.url {
        Some(url) => McpTransport::Http(address(name, &url, secret(found.headers), config)?),
        None => {
            let project = files::project_of(&file.path);
            let mut command = found.command;
            // A path is the project's own, whatever folder is worked in.
            if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
                *program = project.join(&program).to_string_lossy().into_owned();
            }
            let directory = found.directory.map_or_else(|| project.to_owned(), |folder| project.join(folder));
            let resources = resources(name, config, &command, Vec::new(), places)?;
            let files = places.server_files.iter().map(|file| (file.path.clone(), file.digest.clone())).collect();
            // Whatever the user chose for programs that they look at.
            let confine = places.confine.max(ConfineMode::Auto);
            let (directory, environment) = (Some(directory), secret(found.environment));
            McpTransport::Program(McpProgram { command, directory, files, confine, environment, resources })
        }
    };
    let of_file = server(name, transport, config, &file.path);
    let tools = match (found.tools, of_file.tools) {
        (Some(theirs), Some(own)) => Some(theirs.intersection(&own).cloned().collect()),
        (theirs, own) => own.or(theirs),
    };
    let timeout = match (config.timeout_seconds, found.timeout_milliseconds) {
        (None, Some(milliseconds)) => Duration::from_millis(milliseconds.clamp(1_000, 3_600_000)),
        (Some(_) | None, _) => of_file.timeout,
    };
    Ok(McpServer { tools, timeout, ..of_file })
}

/// A server that a frontend hands over, with what the user adds to it.
fn of_client(
    name: &McpServerName,
    request: &McpServerRequest,
    own: &BTreeMap<String, McpConfig>,
    places: &Places<'_>,
) -> Result<McpServer, Failure> {
    let config = own.get(name.as_str()).cloned().unwrap_or_default();
    let secret = |pairs: &[(String, String)]| {
        pairs.iter().map(|(key, value)| (key.clone(), Secret::new(value.clone()))).collect::<BTreeMap<_, _>>()
    };
    let transport = match &request.endpoint {
        McpEndpoint::Command { command, args, env } => {
            let program = command.to_string_lossy().into_owned();
            let command: Vec<String> = std::iter::once(program).chain(args.iter().cloned()).collect();
            let resources = resources(name, &config, &command, places.named_by(&command), places)?;
            let (directory, environment) = (places.start_folder(), secret(env));
            let confine = places.confine;
            let files = Vec::new();
            McpTransport::Program(McpProgram { command, directory, files, confine, environment, resources })
        }
        McpEndpoint::Address { url, headers } => McpTransport::Http(address(name, url, secret(headers), &config)?),
    };
    Ok(server(name, transport, &config, Path::new(HANDED_OVER)))
}

fn server(name: &McpServerName, transport: McpTransport, config: &McpConfig, origin: &Path) -> McpServer {
    McpServer {
        name: name.clone(),
        transport,
        timeout: Duration::from_secs(config.timeout_seconds.map_or(TIMEOUT_SECONDS, |seconds| seconds.get())),
        tools: config.tools.clone(),
        is_required: config.is_required(),
        trusts_hints: config.trusts_hints(),
        origin: origin.to_owned(),
    }
}

fn address(
    name: &McpServerName,
    url: &str,
    headers: BTreeMap<String, Secret>,
    config: &McpConfig,
) -> Result<McpAddress, ServerSettingsError> {
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if !is_web {
        return Err(ServerSettingsError::Address { server: name.clone(), url: host_text::excerpt(url, 120) });
    }
    Ok(McpAddress {
        url: url.to_owned(),
        headers,
        reaches_private: config.private.unwrap_or_default(),
        client_id: config.client_id.clone(),
        client_secret: None,
    })
}

/// Why a configured MCP server cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerSettingsError {
    /// Its address is none of the web.
    #[error("`mcp.{server}.url` is `{url}`")]
    Address {
        /// The server.
        server: McpServerName,
        /// The address, safe to show.
        url: String,
    },
    /// What its program may use is invalid.
    #[error("`[mcp.{server}]` cannot be used: {cause}")]
    Resources {
        /// The server.
        server: McpServerName,
        /// Why.
        cause: ScopeError,
    },
}

impl Fault for ServerSettingsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Address { .. } => Some("write an address that begins with `https://`".into()),
            Self::Resources { cause, .. } => Some(cause.help().into()),
        }
    }
}

/// What the program may use besides when it is confined, checked.
fn resources(
    name: &McpServerName,
    config: &McpConfig,
    command: &[String],
    named: Vec<PathBuf>,
    places: &Places<'_>,
) -> Result<Resources, Failure> {
    let path = |path: &PathBuf| {
        let named = absolute(path, &format!("mcp.{name}"), places.environment)?;
        // As programs' paths are held against it; what is not there yet stays as it is written.
        Ok::<_, Failure>(std::fs::canonicalize(&named).unwrap_or(named))
    };
    check_without_ssh(&config.net, &format!("mcp.{name}"))?;
    let mut reads: Vec<PathBuf> = config.read.iter().map(path).collect::<Result<_, _>>()?;
    reads.extend(named);
    let resources = Resources {
        servers: config.net.clone(),
        reads,
        writes: config.write.iter().map(path).collect::<Result<_, _>>()?,
    };
    Scope::for_command_using(command, &resources)
        .map_err(|cause| ServerSettingsError::Resources { server: name.clone(), cause })?;
    Ok(resources)
}

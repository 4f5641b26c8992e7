//! Servers that the user writes down with a command: into `config.toml`, or into the `.mcp.json` of a project.
//!
//! Promises: what a file has stays as it is; the value of a variable or a header of a user's server goes into a private
//! file; a server that is there is never replaced. Deliberately not here: whether the server works, and trusting the
//! project whose file has changed.

use std::fs;
use std::path::{Path, PathBuf};

use host_capability::{InvalidMcpServerName, McpServerName};
use host_files::Mode;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::project::Project;
use host_text::{Advice, Flag, exact};
use serde_json::{Map, Value as Json, json};
use toml::Value;

use host_settings::own_file::{OwnFile, Server, ServerError, mcp_secrets, own_text, unwritable, write_files};

/// The file of a project.
const PROJECT_FILE: &str = ".mcp.json";

/// Whose file a server is written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerScope {
    /// The user's `config.toml`: it is used in every folder.
    User,
    /// The `.mcp.json` of the project, which everyone who works on it gets.
    Project,
}

/// What a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// A program with its arguments.
    Program(Vec<String>),
    /// An address.
    Address(String),
}

/// A server as the user describes it.
#[derive(Clone, Debug)]
pub struct NewServer {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ServerKind,
    /// Variables of a program, or header fields of an address: each a name and a value. `${NAME}` is a variable of the
    /// environment.
    pub values: Vec<(String, String)>,
    /// The servers that a program may reach, besides those of its package manager.
    pub net: Vec<String>,
    /// What a program may read.
    pub read: Vec<String>,
    /// What a program may change, besides what its package manager keeps.
    pub write: Vec<String>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenServer {
    /// The file.
    pub file: PathBuf,
    /// What it may use that the user did not name, in words; `None` if there is nothing.
    pub assumed: Option<String>,
}

/// Where servers are written.
#[derive(Clone, Copy)]
pub struct ServerPlace<'a> {
    /// The folder that the user works in.
    pub folder: &'a Path,
    /// The user's environment.
    pub environment: &'a Environment,
}

impl NewServer {
    /// Tells an address from a program.
    ///
    /// # Errors
    ///
    /// If there is neither, or words behind an address.
    pub fn kind_of(target: Vec<String>) -> Result<ServerKind, ServerFileError> {
        let is_address = |word: &String| word.starts_with("http://") || word.starts_with("https://");
        match target.as_slice() {
            [address] if is_address(address) => Ok(ServerKind::Address(address.clone())),
            [address, other, ..] if is_address(address) => Err(ServerFileError::Words(exact(other).into_owned())),
            [word] if word.contains("://") => Err(ServerFileError::NoAddress(exact(word).into_owned())),
            [] => Err(ServerFileError::NoTarget),
            _ => Ok(ServerKind::Program(target)),
        }
    }

    /// Writes the server into its file.
    ///
    /// # Errors
    ///
    /// If there is one of that name, it is invalid, or the file cannot be written.
    pub fn write(&self, scope: ServerScope, place: ServerPlace<'_>) -> Result<WrittenServer, Failure> {
        McpServerName::parse(&self.name).map_err(ServerFileError::Name)?;
        match scope {
            ServerScope::User => self.write_own(place),
            ServerScope::Project => self.write_project(place),
        }
    }

    fn write_own(&self, place: ServerPlace<'_>) -> Result<WrittenServer, Failure> {
        let folders = place.environment.folders()?;
        let (path, _) = Configuration::path(place.environment, &folders);
        let mut own = OwnFile::read(&path)?;
        if own.has_server(&self.name) {
            return Err(self.is_there(&path).into());
        }
        let secrets = mcp_secrets(&folders);
        let shown = || exact(&self.name).into_owned();
        let server = Server::new(&self.name);
        let mut server = server.map_err(|cause| ServerFileError::Server { name: shown(), cause })?;
        let mut assumed = None;
        let values = match &self.kind {
            ServerKind::Program(command) => {
                let (program, arguments) = command.split_first().ok_or_else(|| ServerFileError::NoCommand(shown()))?;
                no_variables(command)?;
                server.set("command", Value::String(placed(program, place.folder)));
                let list = |words: &[String]| Value::Array(words.iter().cloned().map(Value::String).collect());
                let needs = PackageManager::find(command);
                assumed = needs.as_ref().map(PackageManager::words);
                let (mut net, mut write) = (self.net.clone(), self.write.clone());
                if let Some(needs) = needs {
                    net.extend(needs.servers);
                    write.extend(needs.caches);
                }
                for (key, words) in
                    [("args", arguments), ("net", &net), ("read", self.read.as_slice()), ("write", &write)]
                {
                    if !words.is_empty() {
                        server.set(key, list(words));
                    }
                }
                "env"
            }
            ServerKind::Address(address) => {
                self.only_for_programs()?;
                no_variables(std::slice::from_ref(address))?;
                server.set("url", Value::String(address.clone()));
                "headers"
            }
        };
        for (name, value) in &self.values {
            server.add(values, name, value, &secrets);
        }
        if let Some(left_out) = server.left_out().next() {
            return Err(ServerFileError::Value { name: left_out.name, why: left_out.why }.into());
        }
        own.add_server(&server)?;
        // A value without its server does no harm; a server without its value does not start.
        write_files(&server.values)?;
        own.write()?;
        Ok(WrittenServer { file: path, assumed })
    }

    fn write_project(&self, place: ServerPlace<'_>) -> Result<WrittenServer, Failure> {
        let key = [("--net", &self.net), ("--read", &self.read), ("--write", &self.write)];
        if let Some((flag, _)) = key.into_iter().find(|(_, values)| !values.is_empty()) {
            return Err(ServerFileError::NotOfProject { flag, server: exact(&self.name).into_owned() }.into());
        }
        let mut file = ProjectServers::read(place.folder)?;
        if file.servers()?.contains_key(&self.name) {
            return Err(self.is_there(&file.path).into());
        }
        let values: Map<String, Json> =
            self.values.iter().map(|(name, value)| (name.clone(), Json::String(value.clone()))).collect();
        let mut server = match &self.kind {
            ServerKind::Program(command) => {
                let (program, arguments) = command.split_first().unwrap_or((&self.name, &[]));
                json!({"command": program, "args": arguments})
            }
            ServerKind::Address(address) => json!({"type": "http", "url": address}),
        };
        if !values.is_empty() {
            let key = if matches!(self.kind, ServerKind::Program(_)) { "env" } else { "headers" };
            server[key] = Json::Object(values);
        }
        file.servers()?.insert(self.name.clone(), server);
        file.write()?;
        Ok(WrittenServer { file: file.path, assumed: None })
    }

    fn only_for_programs(&self) -> Result<(), ServerFileError> {
        let flags = [("--net", &self.net), ("--read", &self.read), ("--write", &self.write)];
        match flags.into_iter().find(|(_, values)| !values.is_empty()) {
            Some((flag, _)) => Err(ServerFileError::OfProgram(flag)),
            None => Ok(()),
        }
    }

    fn is_there(&self, file: &Path) -> ServerFileError {
        ServerFileError::Taken { name: exact(&self.name).into_owned(), file: file.to_owned() }
    }
}

/// Why an MCP server is not written into a file, or not removed from it.
#[derive(Debug, thiserror::Error)]
pub enum ServerFileError {
    /// Words behind an address.
    #[error("`{0}` follows the address of a server")]
    Words(String),
    /// An address of another scheme.
    #[error("`{0}` is not the address of an MCP server")]
    NoAddress(String),
    /// There is nothing to start or ask.
    #[error("the server has neither a command nor an address")]
    NoTarget,
    /// Its name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidMcpServerName),
    /// It cannot be written.
    #[error("`{name}` cannot be added: {cause}")]
    Server {
        /// Its name, safe to show.
        name: String,
        /// Why.
        cause: ServerError,
    },
    /// It has no command.
    #[error("`{0}` cannot be added: it has no command")]
    NoCommand(String),
    /// A value of it cannot be written.
    #[error("{name} cannot be added")]
    Value {
        /// What it is a value of.
        name: String,
        /// Why, and what to do instead.
        why: String,
    },
    /// Only the user can say it.
    #[error("`{flag}` cannot be in a project's file")]
    NotOfProject {
        /// The option.
        flag: &'static str,
        /// The server, safe to show.
        server: String,
    },
    /// It is about a program.
    #[error("`{0}` is about a program, and this server is at an address")]
    OfProgram(&'static str),
    /// There is one with this name.
    #[error("there is an MCP server `{name}` in `{}` already", .file.display())]
    Taken {
        /// Its name, safe to show.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// There is none with this name.
    #[error("there is no MCP server `{}` in `{}`", exact(.name), .file.display())]
    Missing {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// The servers of the file.
        known: Vec<String>,
        /// Whose file it is.
        scope: ServerScope,
    },
    /// A word has a variable of the environment.
    #[error("`{0}` contains a variable, which is not filled in")]
    Variable(String),
    /// The file of the project is a link.
    #[error("`{}` is a link", .0.display())]
    Link(PathBuf),
    /// The file of the project is invalid.
    #[error("`{}` is not valid JSON: {cause}", .file.display())]
    NotJson {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: serde_json::Error,
    },
    /// The file of the project has another form.
    #[error("`{}` has no object `mcpServers`", .0.display())]
    NoServers(PathBuf),
    /// The file of the project cannot be made.
    #[error("`{}`: {cause}", .file.display())]
    Json {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: serde_json::Error,
    },
}

impl Fault for ServerFileError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Words(_)
            | Self::NoAddress(_)
            | Self::NoTarget
            | Self::Name(_)
            | Self::Server { .. }
            | Self::NoCommand(_)
            | Self::Value { .. }
            | Self::NotOfProject { .. }
            | Self::OfProgram(_)
            | Self::Taken { .. }
            | Self::Missing { .. }
            | Self::Variable(_)
            | Self::Link(_) => ErrorKind::Input,
            Self::NotJson { .. } | Self::NoServers(_) => ErrorKind::Configuration,
            Self::Json { .. } => ErrorKind::Write,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Words(_) => Some(
                Advice::from("a server at an address has no arguments; ")
                    .flag(Flag::Header)
                    .text(" sends a header field"),
            ),
            Self::NoAddress(_) => Some("an address begins with https://, or with http:// on this machine".into()),
            Self::NoTarget => Some(
                Advice::default()
                    .bare_command("mcp add NAME -- COMMAND…")
                    .text(", or ")
                    .bare_command("mcp add NAME URL"),
            ),
            Self::Name(cause) => Some(cause.help().into()),
            Self::Server { .. } | Self::NoCommand(_) | Self::Json { .. } => None,
            Self::Value { why, .. } => Some(why.clone().into()),
            Self::NotOfProject { server, .. } => Some(
                format!("each user of the project sets it in their own config.toml, under `[mcp.{server}]`").into(),
            ),
            Self::OfProgram(_) => Some("leave it out: a request goes to the address alone".into()),
            Self::Taken { name, .. } => Some(
                Advice::from("choose another name, or remove it first: ").bare_command(format!("mcp remove {name}")),
            ),
            Self::Missing { name, known, scope, .. } => {
                Some(Advice::on_name(name, known.iter().map(String::as_str), elsewhere(*scope)))
            }
            Self::Variable(_) => Some(
                Advice::from("write its value, or hand it to the server as a variable: ")
                    .flag_with(Flag::Env, "NAME='${NAME}'"),
            ),
            Self::Link(_) => Some("edit the file that it leads to".into()),
            Self::NotJson { .. } => Some("fix the file".into()),
            Self::NoServers(_) => Some("write it as {\"mcpServers\": {…}}, and try again".into()),
        }
    }
}

/// How a server is removed from the other file.
fn elsewhere(scope: ServerScope) -> Advice {
    match scope {
        ServerScope::User => Advice::from("a project's is removed with ").flag_with(Flag::Scope, "project"),
        ServerScope::Project => {
            Advice::from("without ").flag_with(Flag::Scope, "project").text(" it is removed from your own")
        }
    }
}

/// Removes a server from its file. Returns the file.
///
/// # Errors
///
/// If the file does not have it, or cannot be written.
pub fn remove(name: &str, scope: ServerScope, place: ServerPlace<'_>) -> Result<PathBuf, Failure> {
    let missing = |known: Vec<String>, path: &Path| {
        let (name, file) = (name.to_owned(), path.to_owned());
        ServerFileError::Missing { name, file, known, scope }
    };
    match scope {
        ServerScope::User => {
            let folders = place.environment.folders()?;
            let (path, _) = Configuration::path(place.environment, &folders);
            let mut own = OwnFile::read(&path)?;
            if !own.remove_server(name) {
                return Err(missing(own.servers(), &path).into());
            }
            own.write()?;
            remove_values(name, &mcp_secrets(&folders));
            Ok(path)
        }
        ServerScope::Project => {
            let mut file = ProjectServers::read(place.folder)?;
            if file.servers()?.shift_remove(name).is_none() {
                let known = file.servers()?.keys().cloned().collect();
                return Err(missing(known, &file.path).into());
            }
            file.write()?;
            Ok(file.path)
        }
    }
}

/// Removes the private files with the values of a server. One that stays is only a file that nothing names.
fn remove_values(name: &str, secrets: &Path) {
    let Ok(entries) = fs::read_dir(secrets) else { return };
    for entry in entries.filter_map(Result::ok) {
        let of_server =
            entry.file_name().to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix('.')).is_some();
        if of_server {
            fs::remove_file(entry.path()).ok();
        }
    }
}

/// A program named by a path is named by a whole one: a server starts in a folder of its own.
fn placed(program: &str, folder: &Path) -> String {
    if program.contains('/') && !program.starts_with('/') {
        let path = folder.join(program.strip_prefix("./").unwrap_or(program));
        return path.to_string_lossy().into_owned();
    }
    program.to_owned()
}

/// Refuses variables of the environment in words that are used as they are.
fn no_variables(words: &[String]) -> Result<(), ServerFileError> {
    let has_one = |word: &&String| word.replace("${workspace}", "").contains("${");
    match words.iter().find(has_one) {
        Some(word) => Err(ServerFileError::Variable(exact(word).into_owned())),
        None => Ok(()),
    }
}

/// What a program that fetches the server from a registry needs for that.
struct PackageManager {
    program: &'static str,
    servers: Vec<String>,
    caches: Vec<String>,
}

impl PackageManager {
    fn find(command: &[String]) -> Option<Self> {
        let name = command.first()?.rsplit('/').next()?;
        let row = host_shell::REGISTRIES.iter().find(|row| row.programs.contains(&name))?;
        let program = row.programs.iter().find(|program| **program == name)?;
        let caches = row.first.iter().filter(|(of, _)| of == program).map(|(_, cache)| format!("~/{cache}"));
        Some(Self {
            program,
            servers: row.servers.iter().map(|server| (*server).to_owned()).collect(),
            caches: caches.collect(),
        })
    }

    fn words(&self) -> String {
        let caches = match self.caches.is_empty() {
            true => String::new(),
            false => format!(" and change {}", self.caches.join(", ")),
        };
        format!("it may reach {}{caches}, as `{}` needs", self.servers.join(", "), self.program)
    }
}

/// The `.mcp.json` of a project.
struct ProjectServers {
    path: PathBuf,
    document: Json,
}

impl ProjectServers {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let path = Project::root_of(folder).join(PROJECT_FILE);
        let is_link = path.symlink_metadata().is_ok_and(|about| about.is_symlink());
        if is_link {
            // What a repository's link leads to is not the project's to change.
            return Err(ServerFileError::Link(path).into());
        }
        let text = own_text(&path)?;
        let document = match text.trim() {
            "" => json!({}),
            text => match serde_json::from_str(text) {
                Ok(document) => document,
                Err(cause) => return Err(ServerFileError::NotJson { file: path, cause }.into()),
            },
        };
        Ok(Self { path, document })
    }

    fn servers(&mut self) -> Result<&mut Map<String, Json>, ServerFileError> {
        let path = self.path.clone();
        let unusual = move || ServerFileError::NoServers(path);
        let document = self.document.as_object_mut().ok_or_else(unusual.clone())?;
        document.entry("mcpServers").or_insert_with(|| json!({})).as_object_mut().ok_or_else(unusual)
    }

    fn write(&self) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&self.document)
            .map_err(|cause| ServerFileError::Json { file: self.path.clone(), cause })?;
        host_files::replace(&self.path, format!("{text}\n").as_bytes(), Mode::Umask)
            .map_err(|cause| unwritable(&self.path, cause).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_add_tells_an_address_from_a_program() {
        let kind = |words: &[&str]| NewServer::kind_of(words.iter().map(|word| (*word).to_owned()).collect());
        let program = |words: &[&str]| ServerKind::Program(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(
            kind(&["https://a.example/mcp"]).ok(),
            Some(ServerKind::Address("https://a.example/mcp".to_owned()))
        );
        assert_eq!(kind(&["npx", "-y", "x"]).ok(), Some(program(&["npx", "-y", "x"])));
        for wrong in [&[][..], &["https://a.example/mcp", "x"]] {
            assert!(kind(wrong).is_err_and(|error| error.help().is_some()), "{wrong:?}");
        }
    }

    #[test]
    fn mcp_add_lets_a_package_runner_fetch_the_server() {
        let of = |words: &[&str]| {
            PackageManager::find(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
                .map(|needs| needs.words())
        };
        let npx = of(&["npx", "-y", "x"]).expect("it is known");
        assert!(npx.contains("registry.npmjs.org") && npx.contains("~/.npm") && npx.contains("`npx`"), "{npx}");
        assert!(of(&["/usr/bin/uvx", "x"]).is_some_and(|words| words.contains("pypi.org")));
        assert_eq!(of(&["docker", "run", "x"]), None);
    }

    #[test]
    fn mcp_add_names_a_program_by_its_whole_path() {
        for (program, expected) in [("npx", "npx"), ("./a", "/w/a"), ("bin/a", "/w/bin/a"), ("/bin/a", "/bin/a")] {
            assert_eq!(placed(program, Path::new("/w")), expected);
        }
    }
}

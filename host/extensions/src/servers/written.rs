//! Servers that the user writes down with a command: into `config.toml`, or into the `.mcp.json` of a project.
//!
//! Promises: what a file has stays as it is; the value of a variable or a header of a user's server goes into a private
//! file; a server that is there is never replaced. Deliberately not here: whether the server works, and trusting the
//! project whose file has changed.

use std::fs;
use std::path::{Path, PathBuf};

use host_capability::McpServerName;
use host_files::Mode;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::Project;
use host_text::{Advice, Flag, exact};
use serde_json::{Map, Value as Json, json};
use toml::Value;

use host_settings::own_file::{OwnFile, Server, mcp_secrets, own_text, unwritable, write_files};

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
    pub fn kind_of(target: Vec<String>) -> Result<ServerKind, Failure> {
        let is_address = |word: &String| word.starts_with("http://") || word.starts_with("https://");
        match target.as_slice() {
            [address] if is_address(address) => Ok(ServerKind::Address(address.clone())),
            [address, other, ..] if is_address(address) => {
                Err(Failure::input(format!("`{}` follows the address of a server", exact(other))).help(
                    Advice::from("a server at an address has no arguments; ")
                        .flag(Flag::Header)
                        .text(" sends a header field"),
                ))
            }
            [word] if word.contains("://") => {
                Err(Failure::input(format!("`{}` is not the address of an MCP server", exact(word)))
                    .help("an address begins with https://, or with http:// on this machine"))
            }
            [] => Err(Failure::input("the server has neither a command nor an address")
                .help("host mcp add NAME -- COMMAND…, or host mcp add NAME URL")),
            _ => Ok(ServerKind::Program(target)),
        }
    }

    /// Writes the server into its file.
    ///
    /// # Errors
    ///
    /// If there is one of that name, it is invalid, or the file cannot be written.
    pub fn write(&self, scope: ServerScope, place: ServerPlace<'_>) -> Result<WrittenServer, Failure> {
        McpServerName::parse(&self.name).map_err(|error| Failure::input(error.to_string()).help(error.help()))?;
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
            return Err(self.is_there(&path));
        }
        let secrets = mcp_secrets(&folders);
        let wrong = |why: String| Failure::input(format!("`{}` cannot be added: {why}", exact(&self.name)));
        let mut server = Server::new(&self.name).map_err(|error| wrong(error.to_string()))?;
        let mut assumed = None;
        let values = match &self.kind {
            ServerKind::Program(command) => {
                let (program, arguments) =
                    command.split_first().ok_or_else(|| wrong("it has no command".to_owned()))?;
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
            return Err(Failure::input(format!("{} cannot be added", left_out.name)).help(left_out.why));
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
            return Err(Failure::input(format!("`{flag}` cannot be in a project's file")).help(format!(
                "each user of the project sets it in their own config.toml, under `[mcp.{}]`",
                exact(&self.name)
            )));
        }
        let mut file = ProjectServers::read(place.folder)?;
        if file.servers()?.contains_key(&self.name) {
            return Err(self.is_there(&file.path));
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

    fn only_for_programs(&self) -> Result<(), Failure> {
        let flags = [("--net", &self.net), ("--read", &self.read), ("--write", &self.write)];
        match flags.into_iter().find(|(_, values)| !values.is_empty()) {
            Some((flag, _)) => {
                Err(Failure::input(format!("`{flag}` is about a program, and this server is at an address"))
                    .help("leave it out: a request goes to the address alone"))
            }
            None => Ok(()),
        }
    }

    fn is_there(&self, file: &Path) -> Failure {
        let name = exact(&self.name).into_owned();
        Failure::input(format!("there is an MCP server `{name}` in `{}` already", file.display()))
            .help(format!("choose another name, or remove it first: host mcp remove {name}"))
    }
}

/// Removes a server from its file. Returns the file.
///
/// # Errors
///
/// If the file does not have it, or cannot be written.
pub fn remove(name: &str, scope: ServerScope, place: ServerPlace<'_>) -> Result<PathBuf, Failure> {
    let missing = |known: Vec<String>, path: &Path, other: Advice| {
        let failure = Failure::input(format!("there is no MCP server `{}` in `{}`", exact(name), path.display()));
        failure.help(Advice::on_name(name, known.iter().map(String::as_str), other))
    };
    match scope {
        ServerScope::User => {
            let folders = place.environment.folders()?;
            let (path, _) = Configuration::path(place.environment, &folders);
            let mut own = OwnFile::read(&path)?;
            if !own.remove_server(name) {
                let other = Advice::from("a project's is removed with ").flag_with(Flag::Scope, "project");
                return Err(missing(own.servers(), &path, other));
            }
            own.write()?;
            remove_values(name, &mcp_secrets(&folders));
            Ok(path)
        }
        ServerScope::Project => {
            let mut file = ProjectServers::read(place.folder)?;
            if file.servers()?.shift_remove(name).is_none() {
                let known = file.servers()?.keys().cloned().collect();
                let other =
                    Advice::from("without ").flag_with(Flag::Scope, "project").text(" it is removed from your own");
                return Err(missing(known, &file.path, other));
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
fn no_variables(words: &[String]) -> Result<(), Failure> {
    let has_one = |word: &&String| word.replace("${workspace}", "").contains("${");
    match words.iter().find(has_one) {
        Some(word) => Err(Failure::input(format!("`{}` contains a variable, which is not filled in", exact(word)))
            .help(
                Advice::from("write its value, or hand it to the server as a variable: ")
                    .flag_with(Flag::Env, "NAME='${NAME}'"),
            )),
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
            return Err(
                Failure::input(format!("`{}` is a link", path.display())).help("edit the file that it leads to")
            );
        }
        let text = own_text(&path)?;
        let document = match text.trim() {
            "" => json!({}),
            text => serde_json::from_str(text).map_err(|error| {
                Failure::configuration(format!("`{}` is not valid JSON: {error}", path.display())).help("fix the file")
            })?,
        };
        Ok(Self { path, document })
    }

    fn servers(&mut self) -> Result<&mut Map<String, Json>, Failure> {
        let path = self.path.display().to_string();
        let unusual = move || {
            Failure::configuration(format!("`{path}` has no object `mcpServers`"))
                .help("write it as {\"mcpServers\": {…}}, and try again")
        };
        let document = self.document.as_object_mut().ok_or_else(&unusual)?;
        document.entry("mcpServers").or_insert_with(|| json!({})).as_object_mut().ok_or_else(unusual)
    }

    fn write(&self) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&self.document)
            .map_err(|error| Failure::new(ErrorKind::Write, format!("`{}`: {error}", self.path.display())))?;
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
            assert!(kind(wrong).is_err_and(|failure| failure.help.is_some()), "{wrong:?}");
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

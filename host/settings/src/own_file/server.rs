//! An MCP server as a table of `config.toml`.
//!
//! Promises: a value of a variable or header is written nowhere but into a private file of its own; what refers to a
//! variable of the environment goes on doing so. Its `Debug` shows no value.

use std::path::{Path, PathBuf};

use host_capability::{InvalidMcpServerName, McpServerName};
use host_text::visible_line;
use serde::Serialize;
use toml::{Table, Value};

use super::{FileMode, NewFile};
use crate::environment::Folders;

/// Why an MCP server cannot be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Its name is invalid.
    #[error("{0}; {help}", help = .0.help())]
    Name(InvalidMcpServerName),
    /// A variable of the environment, which is filled in nowhere.
    #[error("its command or address contains a variable, which is not filled in here")]
    Variable,
}

/// A server as it would be written.
#[derive(Debug)]
pub struct Server {
    /// Its name.
    pub name: McpServerName,
    /// Its table, beneath `mcp`.
    pub table: Table,
    /// The files with its values.
    pub values: Vec<NewFile>,
    left_out: Vec<(String, String)>,
}

impl Server {
    /// Begins a server with this name.
    ///
    /// # Errors
    ///
    /// If the name is invalid.
    pub fn new(name: &str) -> Result<Self, ServerError> {
        let name = McpServerName::parse(name).map_err(ServerError::Name)?;
        Ok(Self { name, table: Table::new(), values: Vec::new(), left_out: Vec::new() })
    }

    /// Sets a key of its table.
    pub fn set(&mut self, key: &str, value: Value) {
        self.table.insert(key.to_owned(), value);
    }

    /// Sets a key to a list of words, unless there are none.
    ///
    /// # Errors
    ///
    /// If a word contains a variable of the environment.
    pub fn list(&mut self, key: &str, words: Vec<String>) -> Result<(), ServerError> {
        if !words.is_empty() {
            let words = words.iter().map(|word| literal(word)).collect::<Result<Vec<_>, _>>()?;
            self.set(key, Value::Array(words));
        }
        Ok(())
    }

    /// Adds a variable or header: one that is only a variable of the environment stays so, any other value goes into a
    /// file.
    pub fn add(&mut self, of: &str, key: &str, value: &str, secrets: &Path) {
        if value.is_empty() {
            return;
        }
        if let Some(variable) = only_variable(value) {
            return self.refer(of, key, "env", variable);
        }
        if value.contains("${") {
            return self.leave_out(
                &format!("{of}.{key}"),
                "its text contains a variable; put the whole value into a variable and write `{ env = \"NAME\" }`",
            );
        }
        let is_name = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !is_name(key) {
            return self.leave_out(&format!("{of}.{key}"), "its name cannot be one of a file");
        }
        let path = secrets.join(format!("{}.{key}", self.name));
        let Some(text) = path.to_str().map(str::to_owned) else {
            return self.leave_out(&format!("{of}.{key}"), "the path of your configuration is not valid Unicode");
        };
        self.refer(of, key, "file", &text);
        self.values.push(NewFile { path, bytes: value.as_bytes().to_vec(), mode: FileMode::Private });
    }

    /// Adds a variable or header whose value is in `place`: a file or a variable, by its `kind`.
    pub fn refer(&mut self, of: &str, key: &str, kind: &str, place: &str) {
        let source = Table::from_iter([(kind.to_owned(), Value::String(place.to_owned()))]);
        let entry = self.table.entry(of).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(table) = entry {
            table.insert(key.to_owned(), Value::Table(source));
        }
    }

    /// Adds something that is not taken over.
    pub fn leave_out(&mut self, what: &str, why: &str) {
        self.left_out.push((what.to_owned(), why.to_owned()));
    }

    /// What of it is not taken over.
    pub fn left_out(&self) -> impl Iterator<Item = LeftOut> {
        self.left_out.iter().map(|(what, why)| LeftOut {
            name: visible_line(&format!("`{what}` of the MCP server `{}`", self.name)).into_owned(),
            why: visible_line(why).into_owned(),
        })
    }

    /// Returns its table as a file has it.
    pub fn to_toml(&self) -> String {
        let mut text = format!("\n[mcp.{}]\n", key(self.name.as_str()));
        for (name, value) in &self.table {
            text.push_str(&format!("{} = {value}\n", key(name)));
        }
        text
    }
}

/// Something that is not taken over.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What it is, safe to show.
    pub name: String,
    /// Why, and what to do instead: a clause, safe to show.
    pub why: String,
}

/// The folder of the private files with values of MCP servers.
pub fn mcp_secrets(folders: &Folders) -> PathBuf {
    folders.configuration.join("mcp-secrets")
}

/// A key as a file has it.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_bare { name.to_owned() } else { Value::String(name.to_owned()).to_string() }
}

/// Returns a text as a value.
///
/// # Errors
///
/// If it contains a variable of the environment: they are not filled in here.
pub fn literal(text: &str) -> Result<Value, ServerError> {
    match text.contains("${") {
        true => Err(ServerError::Variable),
        false => Ok(Value::String(text.to_owned())),
    }
}

/// The variable that a value consists of: `${NAME}` or `$NAME`.
fn only_variable(value: &str) -> Option<&str> {
    let rest = value.strip_prefix('$')?;
    let name = rest.strip_prefix('{').map_or(Some(rest), |rest| rest.strip_suffix('}'))?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some(name)
}

//! MCP servers of other agents as tables of `config.toml`.
//!
//! Promises: a value of a variable or header is written nowhere but into a private file of its own; what refers to a
//! variable of the environment goes on doing so. Its `Debug` shows no value.

use std::collections::BTreeMap;
use std::path::Path;

use host_capability::McpServerName;
use host_text::visible_line;
use serde_json::Value as Json;
use toml::{Table, Value};

use super::{FileMode, LeftOut, NewFile};

/// A server as it would be written.
#[derive(Debug)]
pub(crate) struct Server {
    pub(super) name: McpServerName,
    /// Its table, beneath `mcp`.
    pub(super) table: Table,
    /// The files with its values.
    pub(crate) values: Vec<NewFile>,
    left_out: Vec<(String, String)>,
}

impl Server {
    /// Begins a server with this name.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let name = McpServerName::parse(name).map_err(|error| format!("{error}; {}", error.help()))?;
        Ok(Self { name, table: Table::new(), values: Vec::new(), left_out: Vec::new() })
    }

    /// Reads a server of Claude Code or Gemini CLI.
    pub(super) fn from_json(name: &str, server: &Json, is_gemini: bool, secrets: &Path) -> Result<Self, String> {
        let mut read = Self::new(name)?;
        let text = |key: &str| server.get(key).and_then(Json::as_str);
        let url = text("httpUrl").or_else(|| text("url"));
        let is_old = text("type") == Some("sse") || is_gemini && text("httpUrl").is_none() && text("url").is_some();
        match (text("command"), url) {
            (_, Some(_)) if is_old && text("command").is_none() => {
                return Err(
                    "it uses the transport `sse`, which is not supported; use its streamable HTTP address".to_owned()
                );
            }
            (Some(command), None) => {
                read.set("command", literal(command)?);
                read.list("args", strings(server.get("args")))?;
                if let Some(folder) = text("cwd") {
                    read.set("directory", literal(folder)?);
                }
                for (key, value) in pairs(server.get("env")) {
                    read.add("env", &key, &value, secrets);
                }
            }
            (None, Some(url)) => {
                read.set("url", literal(url)?);
                for (key, value) in pairs(server.get("headers")) {
                    read.add("headers", &key, &value, secrets);
                }
            }
            (Some(_), Some(_)) => return Err("it has both a command and an address".to_owned()),
            (None, None) => return Err("it has neither a command nor an address".to_owned()),
        }
        if let Some(tools) = server.get("includeTools") {
            read.list("tools", strings(Some(tools)))?;
        }
        if let Some(milliseconds) = server.get("timeout").and_then(Json::as_i64).filter(|time| *time > 0) {
            read.set("timeout_seconds", Value::Integer((milliseconds / 1_000).max(1)));
        }
        for (key, why) in [
            ("excludeTools", "add the tools that you want as `tools`"),
            ("trust", "its tools are asked about; a rule or --grant allows them"),
        ] {
            if server.get(key).is_some_and(|value| *value != Json::Bool(false)) {
                read.leave_out(key, why);
            }
        }
        Ok(read)
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.table.insert(key.to_owned(), value);
    }

    pub(super) fn list(&mut self, key: &str, words: Vec<String>) -> Result<(), String> {
        if !words.is_empty() {
            let words = words.iter().map(|word| literal(word)).collect::<Result<Vec<_>, _>>()?;
            self.set(key, Value::Array(words));
        }
        Ok(())
    }

    /// Adds a variable or header: one that is only a variable of the environment stays so, any other value goes into a
    /// file.
    pub(crate) fn add(&mut self, of: &str, key: &str, value: &str, secrets: &Path) {
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

    pub(super) fn refer(&mut self, of: &str, key: &str, kind: &str, place: &str) {
        let source = Table::from_iter([(kind.to_owned(), Value::String(place.to_owned()))]);
        let entry = self.table.entry(of).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(table) = entry {
            table.insert(key.to_owned(), Value::Table(source));
        }
    }

    pub(super) fn leave_out(&mut self, what: &str, why: &str) {
        self.left_out.push((what.to_owned(), why.to_owned()));
    }

    /// What of it is not taken over.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = LeftOut> {
        self.left_out.iter().map(|(what, why)| LeftOut {
            name: visible_line(&format!("`{what}` of the MCP server `{}`", self.name)).into_owned(),
            why: visible_line(why).into_owned(),
        })
    }

    /// Returns its table as a file has it.
    pub(super) fn to_toml(&self) -> String {
        let mut text = format!("\n[mcp.{}]\n", key(self.name.as_str()));
        for (name, value) in &self.table {
            text.push_str(&format!("{} = {value}\n", key(name)));
        }
        text
    }
}

/// A key as a file has it.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_bare { name.to_owned() } else { Value::String(name.to_owned()).to_string() }
}

/// A text without variables of the environment, which are not filled in here.
fn literal(text: &str) -> Result<Value, String> {
    match text.contains("${") {
        true => Err("its command or address contains a variable, which is not filled in here".to_owned()),
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

pub(super) fn strings(list: Option<&Json>) -> Vec<String> {
    let items = list.and_then(Json::as_array).into_iter().flatten();
    items.filter_map(Json::as_str).map(str::to_owned).collect()
}

fn pairs(table: Option<&Json>) -> BTreeMap<String, String> {
    let all = table.and_then(Json::as_object).into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

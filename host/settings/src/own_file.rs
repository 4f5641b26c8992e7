//! Adding to the user's `config.toml`.
//!
//! Promises: what the file has stays as it is, comments and order included; the new text is checked before it takes the
//! place of the old one.

mod new_file;
mod server;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host_files::{FileError, Mode};
use host_text::{Advice, Notice};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

pub use self::new_file::{FileMode, NewFile, write_files};
pub use self::server::{LeftOut, Server, ServerError, literal, mcp_secrets};
use crate::configuration::{Configuration, ForeignAgent};
use crate::error::{ErrorKind, Failure, Fault};

/// The largest file of the user's that is compared, in bytes. Protects memory.
const MAX_OWN: u64 = 1 << 20;

/// Why a file of the user cannot be added to.
#[derive(Debug, thiserror::Error)]
pub enum OwnFileError {
    /// It cannot be read.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
    /// It is not TOML.
    #[error("invalid configuration `{}`", .path.display())]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// A key is written in a way that cannot be added to.
    #[error("`{key}` of `{}` cannot be added to as it is written", .path.display())]
    Unusual {
        /// The file or folder.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// It cannot be written.
    #[error("`{}` cannot be written: {cause}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for OwnFileError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. } | Self::Invalid { .. } | Self::Unusual { .. } => ErrorKind::Configuration,
            Self::Unwritable { .. } => ErrorKind::Write,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unreadable { .. } | Self::Unusual { .. } | Self::Unwritable { .. } => Vec::new(),
            Self::Invalid { why, .. } => vec![why.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unreadable { .. } | Self::Invalid { .. } => Some("fix the file, and try again".into()),
            Self::Unusual { .. } => Some("write it as a table, and try again".into()),
            Self::Unwritable { .. } => Some("make it writable for you, and try again: what was written stays".into()),
        }
    }
}

/// The user's `config.toml`, with what is added to it.
pub struct OwnFile {
    path: PathBuf,
    before: String,
    document: DocumentMut,
}

impl OwnFile {
    /// Reads the file; one that does not exist is empty.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is invalid.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let before = own_text(path)?;
        Configuration::check_text(&before, path)?;
        let document = parsed(&before, path)?;
        Ok(Self { path: path.to_owned(), before, document })
    }

    /// Sets a key that is not there.
    pub fn set(&mut self, key: &str, value: &str) {
        self.document.insert(key, Item::Value(Value::from(value)));
    }

    /// Adds globs to `deny.read`, those that it does not have.
    ///
    /// # Errors
    ///
    /// If the key is written in a way that cannot be added to.
    pub fn deny_reading(&mut self, globs: &[String]) -> Result<(), OwnFileError> {
        let denied = self.denied()?;
        for glob in globs {
            if !denied.iter().any(|there| there.as_str() == Some(glob)) {
                denied.push(glob);
            }
        }
        Ok(())
    }

    /// Removes globs from `deny.read`. Returns those that it does not have.
    ///
    /// # Errors
    ///
    /// If the key is written in a way that cannot be changed.
    pub fn allow_reading<'g>(&mut self, globs: &'g [String]) -> Result<Vec<&'g str>, OwnFileError> {
        let denied = self.denied()?;
        let has = |denied: &Array, glob: &str| denied.iter().any(|there| there.as_str() == Some(glob));
        let missing = globs.iter().map(String::as_str).filter(|glob| !has(denied, glob)).collect();
        denied.retain(|there| !there.as_str().is_some_and(|there| globs.iter().any(|glob| glob == there)));
        Ok(missing)
    }

    fn denied(&mut self) -> Result<&mut Array, OwnFileError> {
        let path = self.path.clone();
        let read = self.table("deny")?.entry("read").or_insert_with(|| Item::Value(Array::new().into()));
        read.as_array_mut().ok_or_else(|| unusual(&path, "deny.read"))
    }

    /// Adds an agent to `hooks.read`.
    ///
    /// # Errors
    ///
    /// If the key is written in a way that cannot be added to.
    pub fn read_hooks(&mut self, agent: ForeignAgent) -> Result<(), OwnFileError> {
        let path = self.path.clone();
        let read = self.table("hooks")?.entry("read").or_insert_with(|| Item::Value(Array::new().into()));
        read.as_array_mut().ok_or_else(|| unusual(&path, "hooks.read"))?.push(agent.word());
        Ok(())
    }

    /// Adds a server whose name is not there.
    ///
    /// # Errors
    ///
    /// If its servers are written in a way that cannot be added to.
    pub fn add_server(&mut self, server: &Server) -> Result<(), OwnFileError> {
        let name = server.name.as_str();
        let mut of_server = parsed(&server.to_toml(), &self.path)?;
        let table = of_server.get_mut("mcp").and_then(|mcp| mcp.as_table_like_mut()?.remove(name));
        let mut table = table.ok_or_else(|| unusual(&self.path, "mcp"))?;
        if let Some(table) = table.as_table_mut() {
            // Behind the other servers, not where it was in its own text.
            table.set_position(None);
        }
        self.table("mcp")?.insert(name, table);
        Ok(())
    }

    /// The names of its servers.
    pub fn servers(&self) -> Vec<String> {
        let servers = self.document.get("mcp").and_then(Item::as_table_like);
        servers.into_iter().flat_map(|servers| servers.iter().map(|(name, _)| name.to_owned())).collect()
    }

    /// Returns whether it has a server of this name, or an addition to a project's.
    pub fn has_server(&self, name: &str) -> bool {
        self.servers().iter().any(|there| there == name)
    }

    /// Removes a server; returns whether it was there.
    pub fn remove_server(&mut self, name: &str) -> bool {
        let servers = self.document.get_mut("mcp").and_then(Item::as_table_like_mut);
        servers.is_some_and(|servers| servers.remove(name).is_some())
    }

    /// The table with this name, which is made if there is none.
    fn table(&mut self, name: &str) -> Result<&mut dyn TableLike, OwnFileError> {
        let made = || {
            let mut table = Table::new();
            // Without keys of its own it has no header.
            table.set_implicit(true);
            Item::Table(table)
        };
        let path = &self.path;
        let item = self.document.entry(name).or_insert_with(made);
        item.as_table_like_mut().ok_or_else(|| unusual(path, name))
    }

    /// Writes the file, if it has something new.
    ///
    /// # Errors
    ///
    /// If it would be invalid, or cannot be written.
    pub fn write(&self) -> Result<(), Failure> {
        let text = self.document.to_string();
        let text = if self.before.is_empty() { text.trim_start() } else { &text };
        if *text == self.before {
            return Ok(());
        }
        Configuration::check_text(text, &self.path)?;
        // A link stays one: the file that it leads to is replaced.
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = real.parent().unwrap_or(Path::new("."));
        let replaced = host_files::make_private_folder(folder)
            // Arguments and addresses of servers may have secrets.
            .and_then(|()| host_files::replace(&real, text.as_bytes(), Mode::Private));
        Ok(replaced.map_err(|cause| unwritable(&self.path, cause))?)
    }
}

fn parsed(text: &str, path: &Path) -> Result<DocumentMut, OwnFileError> {
    // The full error shows the line, which may have a secret.
    text.parse().map_err(|error: toml_edit::TomlError| OwnFileError::Invalid {
        path: path.to_owned(),
        why: error.message().to_owned(),
    })
}

fn unusual(path: &Path, key: &str) -> OwnFileError {
    OwnFileError::Unusual { path: path.to_owned(), key: key.to_owned() }
}

/// Returns the text of a file of the user's; empty if there is none.
///
/// # Errors
///
/// If it cannot be read.
pub fn own_text(path: &Path) -> Result<String, OwnFileError> {
    match host_files::read_text(path, MAX_OWN) {
        Ok(text) => Ok(text),
        Err(error) if error.is_missing() => Ok(String::new()),
        Err(cause) => Err(OwnFileError::Unreadable { path: path.to_owned(), cause }),
    }
}

/// The error of a file or folder that cannot be written.
pub fn unwritable(path: &Path, cause: io::Error) -> OwnFileError {
    OwnFileError::Unwritable { path: path.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(before: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        fs::write(&path, before).expect("written");
        let mut own = OwnFile::read(&path).expect("it is valid");
        own.set("approval_mode", "plan");
        own.read_hooks(ForeignAgent::Gemini).expect("it is added");
        let mut server = Server::new("docs").expect("it is valid");
        server.set("command", toml::Value::String("npx".to_owned()));
        own.add_server(&server).expect("it is added");
        own.write().expect("it is valid");
        fs::read_to_string(&path).expect("there")
    }

    #[test]
    fn own_file_keeps_what_it_has_however_it_is_written() {
        for before in [
            "",
            "model = \"offline\" # mine\n",
            "# mine\n[hooks]\nread = [\"claude\"] # his\n\n[mcp.a] # hers\ncommand = \"a\"\n[run]\n",
            "[[hooks.Stop]]\ncommand = \"a\" # mine\n",
            "hooks.read = [\n  \"claude\", # his\n]\nmcp = { a = { command = \"a\" } }\n",
            "hooks = { read = [] } # mine\n",
        ] {
            let text = after(before);
            let comments = |text: &str| -> Vec<String> {
                text.lines().filter_map(|line| line.find('#').map(|at| line[at..].to_owned())).collect()
            };
            assert_eq!(comments(&text), comments(before), "{text}");
            let table: toml::Table = text.parse().expect("TOML");
            assert_eq!(table["approval_mode"].as_str(), Some("plan"), "{text}");
            let read = table["hooks"]["read"].as_array().expect("a list");
            assert_eq!(read.last().and_then(toml::Value::as_str), Some("gemini"), "{text}");
            assert_eq!(read.len() == 2, before.contains("claude"), "{text}");
            assert_eq!(table["mcp"]["docs"]["command"].as_str(), Some("npx"), "{text}");
            assert_eq!(table["mcp"].get("a").is_some(), before.contains("a = {") || before.contains("mcp.a"), "{text}");
            assert_eq!(text.contains("[[hooks.Stop]]"), before.contains("Stop"), "{text}");
        }
    }
}

//! `[mcp.NAME]`: an MCP server of the user, or what the user adds to one that a project names.
//!
//! Promises: a server is a program or an address, never both; keys that only one of them has are an error for the
//! other. Deliberately not here: the files of projects (`host_extensions::servers::files`), and connecting.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use host_capability::{InvalidMcpServerName, McpServerName};
use host_text::Advice;
use schemars::JsonSchema;
use serde::Deserialize;

use super::AtLeastOne;
use super::plugins::SecretSource;

/// An MCP server. Without `command` and `url` it adds to the server of this name that a trusted project names.
// A key that is missing is as the project's file says, where that can have it; any other is read through a method that
// resolves it. Not a doc comment: those of this type are what users read in the schema.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpConfig {
    /// The program, if the server is one: a name that is looked up in `PATH`, or an absolute path.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Variables that the program gets: each is `{ env = "VARIABLE" }`, `{ file = "PATH" }` or the value itself.
    pub env: BTreeMap<String, SecretSource>,
    /// The folder that the program starts in; the workspace if it is not set.
    pub directory: Option<PathBuf>,
    /// The servers that the program may reach when it is confined, such as `api.github.com`.
    pub net: Vec<String>,
    /// Further files and folders that the program may read when it is confined.
    pub read: Vec<PathBuf>,
    /// Further files and folders that the program may change when it is confined, such as `~/.npm`.
    pub write: Vec<PathBuf>,
    /// The address, if the server is at one: `https`, or `http` on this machine.
    pub url: Option<String>,
    /// Header fields of each request: each is `{ env = "VARIABLE" }`, `{ file = "PATH" }` or the value itself.
    pub headers: BTreeMap<String, SecretSource>,
    /// Whether the name of the address may lead to a private network.
    #[schemars(extend("default" = false))]
    pub private: Option<bool>,
    /// The id of this client at the server's authorization server, if it was registered by hand.
    pub client_id: Option<String>,
    /// The secret that belongs to `client_id`, if there is one: `{ env = "VARIABLE" }`, `{ file = "PATH" }` or the
    /// secret itself.
    pub client_secret: Option<SecretSource>,
    /// The variables of your environment that a project's file may use for this server, as `${NAME}`.
    pub variables: BTreeSet<String>,
    /// The tools that are used, as the server calls them; all if it is not set.
    pub tools: Option<BTreeSet<String>>,
    /// How long a request may take without a word of the server.
    #[schemars(extend("default" = TIMEOUT_SECONDS))]
    pub timeout_seconds: Option<AtLeastOne<u64>>,
    /// Whether the first request to the model waits a moment for this server's tools.
    #[schemars(extend("default" = false))]
    pub(crate) required: Option<bool>,
    /// Whether to believe what the server says about which of its tools only read: those run without asking.
    #[schemars(extend("default" = false))]
    pub(crate) trust_read_only_hints: Option<bool>,
    /// Whether the server is used.
    #[schemars(extend("default" = true))]
    pub(crate) enabled: Option<bool>,
}

/// The default of `timeout_seconds`. Protects a turn from a server that says nothing.
pub const TIMEOUT_SECONDS: u64 = 60;

/// The longest command, in bytes. Protects memory and the question that shows it.
const MAX_COMMAND: usize = 32 << 10;

/// Why the configuration of an MCP server is invalid.
#[derive(Debug, thiserror::Error)]
pub enum McpFault {
    /// Its name.
    #[error(transparent)]
    Name(InvalidMcpServerName),
    /// It is a program and at an address.
    #[error("both `command` and `url` are set")]
    Both,
    /// A key for a server at an address.
    #[error("`{0}` applies to a server at an address, and this one is a program")]
    OfAddress(&'static str),
    /// A key for a program.
    #[error("`{0}` applies to a program, and this server is at an address")]
    OfProgram(&'static str),
    /// No program is called so, or the command is over the limit.
    #[error("`command` is `{0}`")]
    Command(String),
}

impl McpFault {
    /// What to do about it.
    pub fn help(&self) -> Advice {
        match self {
            Self::Name(error) => error.help().into(),
            Self::Both => "a server is a program or at an address: set one".into(),
            Self::OfAddress(_) | Self::OfProgram(_) => "remove it".into(),
            Self::Command(_) => "write the absolute path of a program, or its name if it is in PATH".into(),
        }
    }
}

impl McpConfig {
    /// Rejects names and combinations of keys that mean nothing.
    pub(super) fn check(&self, name: &str) -> Result<(), McpFault> {
        McpServerName::parse(name).map_err(McpFault::Name)?;
        let keys = |keys: &[(&'static str, bool)]| keys.iter().find(|(_, is_set)| *is_set).map(|(key, _)| *key);
        let of_program = keys(&[
            ("args", !self.args.is_empty()),
            ("env", !self.env.is_empty()),
            ("directory", self.directory.is_some()),
            ("net", !self.net.is_empty()),
            ("read", !self.read.is_empty()),
            ("write", !self.write.is_empty()),
        ]);
        let of_address = keys(&[
            ("headers", !self.headers.is_empty()),
            ("private", self.private.is_some()),
            ("client_id", self.client_id.is_some()),
            ("client_secret", self.client_secret.is_some()),
        ]);
        match (&self.command, &self.url, of_program, of_address) {
            (Some(_), Some(_), ..) => Err(McpFault::Both),
            (Some(_), None, _, Some(key)) => Err(McpFault::OfAddress(key)),
            (None, Some(_), Some(key), _) => Err(McpFault::OfProgram(key)),
            (Some(command), None, ..) => {
                let size: usize = std::iter::once(command).chain(&self.args).map(|word| word.len() + 1).sum();
                let is_placed = !command.contains('/') || command.starts_with('/');
                if command.is_empty() || size > MAX_COMMAND || command.contains('\0') || !is_placed {
                    return Err(McpFault::Command(host_text::excerpt(command, 80)));
                }
                Ok(())
            }
            (None, ..) => Ok(()),
        }
    }

    /// Returns whether the server is used, which it is unless the user says otherwise.
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// Returns whether the first request to the model waits a moment for this server's tools.
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(false)
    }

    /// Returns whether to believe what the server says about which of its tools only read.
    pub fn trusts_hints(&self) -> bool {
        self.trust_read_only_hints.unwrap_or(false)
    }

    /// Returns whether it is a server by itself, rather than an addition to a project's.
    pub fn is_server(&self) -> bool {
        self.command.is_some() || self.url.is_some()
    }

    /// Returns the places of its secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretSource> {
        self.env.values().chain(self.headers.values()).chain(&self.client_secret)
    }

    /// Returns whether it contains a secret directly.
    pub(super) fn holds_a_secret(&self) -> bool {
        self.secrets().any(|source| matches!(source, SecretSource::Here(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), McpFault> {
        let config: McpConfig = toml::from_str(text).expect("it has the form");
        config.check("github")
    }

    #[test]
    fn mcp_server_is_a_program_or_at_an_address() {
        for right in [
            "command = \"npx\"\nargs = [\"-y\", \"x\"]\nnet = [\"a.example\"]\n",
            "url = \"https://a.example/mcp\"\nheaders = { authorization = { env = \"TOKEN\" } }\n",
            "net = [\"a.example\"]\nvariables = [\"TOKEN\"]\n",
            "headers = { x = \"y\" }\n",
        ] {
            assert!(check(right).is_ok(), "{right}");
        }
        for (wrong, why) in [
            ("command = \"a\"\nurl = \"https://b\"\n", "both `command` and `url`"),
            ("command = \"a\"\nheaders = { x = \"y\" }\n", "`headers` applies to a server at an address"),
            ("url = \"https://b\"\nargs = [\"x\"]\n", "`args` applies to a program"),
            ("command = \"./a\"\n", "`command` is `./a`"),
            ("command = \"\"\n", "`command` is ``"),
        ] {
            let failure = check(wrong).expect_err(wrong);
            assert!(failure.to_string().contains(why), "{failure:?}");
        }
        assert!(McpConfig::default().check("a__b").is_err());
        assert!(McpConfig::default().check("git hub\u{1b}").is_err());
    }
}

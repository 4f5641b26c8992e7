//! Errors of a manifest, and where it was read from.

use std::path::PathBuf;

use host_capability::{Capability, ScopeError, UnknownCapability};

/// Where a manifest was read from, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The host itself.
    BuiltIn(&'static str),
    /// A bundle.
    Bundle,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::BuiltIn(name) => write!(f, "of the built-in plugin `{name}`"),
            Self::Bundle => write!(f, "of the bundle"),
        }
    }
}

/// Why a manifest is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It does not have the form of a manifest.
    #[error("invalid manifest {source_}: {error}")]
    Malformed {
        /// Where it was read from.
        source_: Source,
        /// The reason, with its line.
        error: String,
    },
    /// An error at one place of it.
    #[error("{source_}:{line}:{column}: {error}")]
    At {
        /// Where it was read from.
        source_: Source,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The reason.
        error: Box<ManifestError>,
    },
    /// It is not TOML, or has an unknown key.
    #[error("{message}{}", host_text::did_you_mean(nearest).map(|help| format!("; {help}")).unwrap_or_default())]
    Form {
        /// The parser's words.
        message: String,
        /// The name nearest to an unknown one.
        nearest: Option<String>,
    },
    /// It was made for a newer host.
    #[error(
        "the plugin was made for a newer host: its {what} is {found}, and this host reads version {known}; update the \
         host"
    )]
    Newer {
        /// The layout of its manifest, or its contract.
        what: &'static str,
        /// Its version.
        found: String,
        /// The version that this host has.
        known: String,
    },
    /// One of its texts cannot be shown.
    #[error("invalid `{key}`: {why}")]
    Value {
        /// The key, with the tables that it is in: `capabilities.http.reason`.
        key: String,
        /// The reason.
        why: String,
    },
    /// A declared setting is inconsistent.
    #[error("`[{section}.{name}]`: {why}")]
    Setting {
        /// `config` or `secrets`.
        section: &'static str,
        /// The key or the secret.
        name: String,
        /// The reason.
        why: String,
    },
    /// Its name is invalid.
    #[error(
        "invalid plugin name `{name}`: use NAME or PUBLISHER/NAME, each of 1 to 64 of a-z, 0-9, `_` and `-`, the first a \
         letter"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// It asks for something that does not exist.
    #[error("the plugin `{name}` asks for a capability that does not exist: {error}")]
    Capability {
        /// The plugin.
        name: String,
        /// The unknown name.
        error: UnknownCapability,
    },
    /// It asks for an invalid scope.
    #[error("the plugin `{name}` asks for `{capability}` with an invalid scope: {error}")]
    Scope {
        /// The plugin.
        name: String,
        /// The capability.
        capability: Capability,
        /// The reason.
        error: ScopeError,
    },
    /// One of its tools needs more than the plugin asks for.
    #[error(
        "the tool `{tool}` needs `{need}`, and plugin.toml has no `[capabilities.{need}]`; add it with a scope and a \
         reason"
    )]
    Undeclared {
        /// The tool.
        tool: String,
        /// The capability.
        need: String,
    },
    /// The title of a tool's calls is invalid.
    #[error("invalid title of `{tool}` in `[titles]`: {why}")]
    Title {
        /// The tool.
        tool: String,
        /// The reason.
        why: String,
    },
    /// It has too many tools, or two with the same name.
    #[error("the plugin `{name}` has {why}")]
    Tools {
        /// The plugin.
        name: String,
        /// The reason.
        why: String,
    },
}

//! Files that the user keeps from tools and programs: `[deny]` of the configuration, and `--deny '*:fs-read=GLOB'`.
//!
//! Promises: they hold in every mode, for tools, hooks, MCP servers and the programs of calls alike; a project can add
//! to them and take nothing away. Where programs have no walls they cannot be kept from them, and so these walls stand
//! even in the mode that lifts them.

use std::path::{Path, PathBuf};

use host_capability::{Capability, Scope, ScopeError};
use host_plugin::ProgramWalls;
use host_text::{Advice, exact};

use crate::configuration::{Configuration, Deny};
use crate::environment::Environment;
use crate::error::{ErrorKind, Failure, Fault};
use crate::own_file::OwnFile;
use crate::request::AccessRequest;

/// Why files cannot be kept from tools and programs, or no longer be.
#[derive(Debug, thiserror::Error)]
pub enum DeniedFilesError {
    /// A glob of the configuration is invalid.
    #[error("`read` of [deny] cannot be used: {0}")]
    Configured(ScopeError),
    /// A glob of a flag is invalid.
    #[error("invalid deny `*:fs-read={glob}`: {cause}")]
    Flag {
        /// The glob.
        glob: String,
        /// Why.
        cause: ScopeError,
    },
    /// A glob to add is invalid.
    #[error("`{glob}` cannot be denied: {cause}")]
    Glob {
        /// The glob, safe to show.
        glob: String,
        /// Why.
        cause: ScopeError,
    },
    /// A glob to remove is not there.
    #[error("`{glob}` is not denied by `{}`: {}", .path.display(), all_of(.denied))]
    NotDenied {
        /// The glob, safe to show.
        glob: String,
        /// The configuration.
        path: PathBuf,
        /// The globs that it has.
        denied: Vec<String>,
    },
}

impl Fault for DeniedFilesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Configured(_) => ErrorKind::Configuration,
            Self::Flag { .. } | Self::Glob { .. } | Self::NotDenied { .. } => ErrorKind::Input,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Configured(cause) | Self::Flag { cause, .. } | Self::Glob { cause, .. } => Some(cause.help().into()),
            Self::NotDenied { .. } => Some(
                Advice::default()
                    .command("policy list")
                    .text(" shows what is denied; a project names its own in `.host/config.toml`"),
            ),
        }
    }
}

/// What is denied to everything.
#[derive(Clone, Debug, Default)]
pub struct DeniedFiles {
    /// All files but those of the configuration, to read; `None` if it denies none.
    configured: Option<Scope>,
    /// The same for changing.
    unchanged: Option<Scope>,
    /// All files but those of a flag, for each.
    flags: Vec<Scope>,
}

impl DeniedFiles {
    /// Reads them for a workspace.
    ///
    /// # Errors
    ///
    /// If a glob is invalid.
    pub fn read(
        configured: &Deny,
        access: &AccessRequest,
        workspace: &Path,
        environment: &Environment,
    ) -> Result<Self, DeniedFilesError> {
        let home = environment.home();
        let absolute: Vec<String> = configured.read.iter().map(|glob| expanded(glob, home)).collect();
        let globs: Vec<&str> = absolute.iter().map(String::as_str).collect();
        let scope = |capability| {
            let scope = Scope::all_files_but_in(capability, &globs, workspace);
            scope.map_err(DeniedFilesError::Configured)
        };
        let has_some = !globs.is_empty();
        let flags = access.deny.iter().filter_map(|text| text.strip_prefix("*:fs-read="));
        let flag = |glob: &str| {
            let scope = Scope::parse(Capability::FsRead, &format!("*,!{glob}"), workspace);
            scope.map_err(|cause| DeniedFilesError::Flag { glob: glob.to_owned(), cause })
        };
        Ok(Self {
            configured: has_some.then(|| scope(Capability::FsRead)).transpose()?,
            unchanged: has_some.then(|| scope(Capability::FsWrite)).transpose()?,
            flags: flags.map(flag).collect::<Result<_, _>>()?,
        })
    }

    /// The scopes that are left to tools besides what their flags say: of reading, and of changing.
    pub fn left_to_tools(&self) -> impl Iterator<Item = &Scope> {
        self.configured.iter().chain(&self.unchanged)
    }

    /// The scopes that are left to programs, each of reading.
    pub fn left_to_programs(&self) -> Vec<Scope> {
        self.configured.iter().chain(&self.flags).cloned().collect()
    }

    /// Returns the walls around programs: they stand in every mode if something is denied.
    pub fn walls(&self, walls: ProgramWalls) -> ProgramWalls {
        let denies = self.configured.is_some() || !self.flags.is_empty();
        ProgramWalls { is_chosen: walls.is_chosen || denies, ..walls }
    }
}

/// Adds globs to those that the user's configuration denies. Returns its path.
///
/// # Errors
///
/// If a glob is invalid, or the file cannot be changed.
pub fn deny(globs: &[String], environment: &Environment) -> Result<PathBuf, Failure> {
    let folders = environment.folders()?;
    let (path, _) = Configuration::path(environment, &folders);
    for glob in globs {
        let expanded = expanded(glob, environment.home());
        // What a relative one is beneath is not known yet, and does not make it wrong.
        Scope::all_files_but_in(Capability::FsRead, &[&expanded], Path::new("/"))
            .map_err(|cause| DeniedFilesError::Glob { glob: exact(glob).into_owned(), cause })?;
    }
    let mut own = OwnFile::read(&path)?;
    own.deny_reading(globs)?;
    own.write()?;
    Ok(path)
}

/// Removes globs from those that the user's configuration denies. Returns its path.
///
/// # Errors
///
/// If it does not deny one of them, or the file cannot be changed. Nothing is removed then.
pub fn allow(globs: &[String], environment: &Environment) -> Result<PathBuf, Failure> {
    let folders = environment.folders()?;
    let (path, _) = Configuration::path(environment, &folders);
    let mut own = OwnFile::read(&path)?;
    if let Some(missing) = own.allow_reading(globs)?.first() {
        let denied = Configuration::read(environment, &folders, None)?.deny.read;
        let glob = exact(missing).into_owned();
        return Err(DeniedFilesError::NotDenied { glob, path, denied }.into());
    }
    own.write()?;
    Ok(path)
}

/// What a configuration denies, in words.
fn all_of(denied: &[String]) -> String {
    match denied {
        [] => "it denies nothing".to_owned(),
        some => {
            let globs: Vec<String> = some.iter().map(|glob| format!("`{}`", exact(glob))).collect();
            format!("it denies {}", globs.join(", "))
        }
    }
}

/// The glob with the home in place of `~`.
fn expanded(glob: &str, home: Option<&Path>) -> String {
    match (glob.strip_prefix("~/"), home) {
        (Some(beneath), Some(home)) => format!("{}/{beneath}", Scope::escaped(&home.to_string_lossy())),
        (Some(_), None) | (None, _) => glob.to_owned(),
    }
}

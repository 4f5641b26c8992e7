//! The environment that a frontend was started in, as a plain value: variables, home folder, folders of the host.
//!
//! Deliberately not here: reading it from the process, which only the binary does.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use host_files::{ChainError, ChainStore};
use host_journal::Sessions;
use host_model::CredentialsFile;
use host_text::Advice;

use crate::agent_files::AGENT_FILES;
use crate::error::{ErrorKind, Fault};

/// The environment that the process was started with.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    home: Option<PathBuf>,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
}

/// The standard streams that are terminals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminals {
    /// Standard input.
    pub stdin: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

/// The places in which the host keeps its data, separate from each other.
#[derive(Clone, Debug)]
pub struct Folders {
    /// Your configuration: `config.toml`, context files, `credentials.toml` with the model and key of the first start,
    /// `agents/`, and `policies/` with rules and lasting answers.
    pub configuration: PathBuf,
    /// Compiled components, and the key that authenticates them. It may be removed at any time.
    pub cache: PathBuf,
    /// State of plugins, by plugin and project.
    pub state: PathBuf,
    /// A log for each session, and beside it its large outputs, what undo needs, and its title.
    pub sessions: PathBuf,
    /// The projects that you trust, with digests of their files.
    pub trust: PathBuf,
    /// The folders outside of repositories in which you agreed to work.
    pub agreed: PathBuf,
    /// That the note about the mode `auto` was shown.
    pub told: PathBuf,
    /// The tokens and costs of all runs of each of the last 62 days, for `[budget]`.
    pub spending: PathBuf,
    /// The prompts that you typed last.
    pub history: PathBuf,
    /// The keys that you trust, and those that you revoked.
    pub keys: PathBuf,
    /// Installed plugins, and what you agreed to about them.
    pub plugins: PathBuf,
    /// What is known of MCP servers: the tokens of logins, and the revision that each speaks.
    pub mcp: PathBuf,
    /// Downloads that broke off. It may be removed at any time.
    pub downloads: PathBuf,
    /// The newest models of services. It may be removed at any time.
    pub models: PathBuf,
    /// The token for clients of `host mcp serve` over HTTP.
    pub mcp_token: PathBuf,
    /// Copies of the programs of trusted projects. It may be removed at any time.
    pub programs: PathBuf,
    /// The files that plugins bring, such as skills. The model may read them.
    pub brought: PathBuf,
    /// The key by which session logs are verified, and where each ended.
    pub audit: PathBuf,
    /// Which edition of each index of plugins was seen.
    pub indexes: PathBuf,
    /// What confined programs change in git's folders, until it comes back, and in caches of package managers.
    pub layers: PathBuf,
    /// The folder of everything that can be made again.
    of_cache: PathBuf,
    /// The folder of what was installed, and of what plugins store.
    of_data: PathBuf,
    /// The folder of what the host remembers.
    of_state: PathBuf,
    /// The home of the user.
    pub(crate) home: Option<PathBuf>,
    /// The files and folders of the home that other agents obey.
    agents: Vec<PathBuf>,
}

/// Why the folders of the host cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// There is no home, and no folder in its place.
    #[error("cannot find your home folder")]
    NoHome {
        /// The variable that could name a folder.
        variable: &'static str,
    },
    /// The key by which session logs are verified cannot be used.
    #[error(transparent)]
    Chains(#[from] ChainError),
}

impl Fault for EnvironmentError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoHome { variable } => {
                Some(format!("set HOME, or {variable} to a folder that can be written").into())
            }
            Self::Chains(cause) => Some(cause.help().into()),
        }
    }
}

impl Folders {
    /// Opens the key by which session logs are verified; it is made if there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read or made, or others could have read it.
    pub fn chains(&self) -> Result<ChainStore, EnvironmentError> {
        ChainStore::open(&self.audit).map_err(EnvironmentError::Chains)
    }

    /// Returns the recorded sessions.
    pub fn journals(&self) -> Sessions {
        Sessions::new(&self.sessions, &self.audit)
    }

    /// Returns the folders that are the host's own, whole, and the files that other agents obey. No tool and no command
    /// of a model may change anything in them, whatever was granted or approved.
    pub fn unchangeable(&self) -> Vec<PathBuf> {
        [&self.configuration, &self.of_cache, &self.of_data, &self.of_state]
            .into_iter()
            .chain(&self.agents)
            .cloned()
            .collect()
    }

    /// Returns what nobody but the host reads, whatever was granted or approved: everything of its own but the files
    /// that plugins bring. The outputs of a session, which its tools read, are granted apart from this.
    pub fn unreadable(&self) -> Vec<&Path> {
        // One that is added has to be named here.
        let Self {
            configuration,
            cache,
            state,
            sessions,
            trust,
            agreed,
            told,
            spending,
            history,
            keys,
            plugins,
            mcp,
            downloads,
            models,
            mcp_token,
            programs,
            brought: _,
            audit,
            indexes,
            layers,
            // All of these would hide what plugins bring, where two of the folders are one.
            of_cache: _,
            of_data: _,
            of_state: _,
            home: _,
            agents: _,
        } = self;
        let all = [
            configuration,
            cache,
            state,
            sessions,
            trust,
            agreed,
            told,
            spending,
            history,
            keys,
            plugins,
            mcp,
            downloads,
            models,
            mcp_token,
            programs,
            audit,
            indexes,
            layers,
        ];
        all.into_iter().map(PathBuf::as_path).collect()
    }
}

impl Environment {
    /// Creates an environment with these variables and this home folder, if it is known.
    pub fn new(variables: BTreeMap<OsString, OsString>, home: Option<PathBuf>, terminals: Terminals) -> Self {
        let Terminals { stdin, stdout, stderr } = terminals;
        Self { variables, home, stdout_is_terminal: stdout, stderr_is_terminal: stderr, stdin_is_terminal: stdin }
    }

    /// The home folder of the user, if it is known.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is set to text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.variable(name)?.to_str().map(str::to_owned)
    }

    /// Returns whether the program of a command is a file, at its path or in a folder of `PATH`.
    pub fn has_program(&self, words: &[String]) -> bool {
        let program = words.first().map(String::as_str).unwrap_or_default();
        if program.contains('/') {
            return Path::new(program).is_file();
        }
        let path = self.variable("PATH").unwrap_or_default();
        std::env::split_paths(path).any(|folder| folder.join(program).is_file())
    }

    /// All of it, for the programs that tools run.
    pub fn all(&self) -> Vec<(OsString, OsString)> {
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns the path at which Google's own clients look for application-default credentials, according to their
    /// documentation.
    pub fn google_credentials(&self) -> Option<CredentialsFile> {
        if let Some(file) = self.variable("GOOGLE_APPLICATION_CREDENTIALS") {
            return Some(CredentialsFile::Named(file.into()));
        }
        let folder =
            self.variable("CLOUDSDK_CONFIG").map(PathBuf::from).or_else(|| match self.variable("APPDATA") {
                Some(folder) if cfg!(windows) => Some(PathBuf::from(folder).join("gcloud")),
                Some(_) | None => Some(self.home.as_ref()?.join(".config/gcloud")),
            })?;
        Some(CredentialsFile::Usual(folder.join("application_default_credentials.json")))
    }

    /// The folders of the XDG base directory specification, on every system: this is a program for terminals.
    pub fn folders(&self) -> Result<Folders, EnvironmentError> {
        let folder = |variable: &'static str, usual: &str| {
            let set = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let folder = set.or_else(|| Some(self.home.as_ref()?.join(usual)));
            folder.map(|folder| folder.join("host")).ok_or(EnvironmentError::NoHome { variable })
        };
        let (configuration, cache) = (folder("XDG_CONFIG_HOME", ".config")?, folder("XDG_CACHE_HOME", ".cache")?);
        let (data, state) = (folder("XDG_DATA_HOME", ".local/share")?, folder("XDG_STATE_HOME", ".local/state")?);
        Ok(Folders {
            cache: cache.join("components"),
            state: data.join("state"),
            sessions: state.join("sessions"),
            trust: state.join("trust.json"),
            agreed: state.join("folders.json"),
            told: state.join("told"),
            spending: state.join("spending.json"),
            history: state.join("history"),
            keys: configuration.join("keys.toml"),
            plugins: data.join("plugins"),
            mcp: data.join("mcp"),
            downloads: cache.join("downloads"),
            models: cache.join("models.json"),
            mcp_token: state.join("mcp-token"),
            programs: cache.join("tools"),
            brought: data.join("brought"),
            audit: state.join("audit"),
            indexes: state.join("indexes.json"),
            layers: state.join("layers"),
            configuration,
            of_cache: cache,
            of_data: data,
            of_state: state,
            home: self.home.clone(),
            agents: self.home.iter().flat_map(|home| AGENT_FILES.iter().map(|name| home.join(name))).collect(),
        })
    }
}

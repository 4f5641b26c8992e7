//! Folders outside of the workspace: what the user can be asked about, and what `--add-dir` and `/add-dir` add.
//!
//! An added folder is read and changed as the workspace is: its protected names, the user's denies and the labels of
//! calls hold there too. Keys, passwords and the host's own files are in no answer and no added folder; only a
//! `--grant` that names keys and passwords lets a plugin read those.
//!
//! Deliberately not here: asking, and what is granted within the workspace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host_capability::{Capability, Scope, ScopeError};
use host_files::RealPaths;
use host_plugin::AllowedFiles;
use host_text::{Advice, Flag, exact};

use crate::environment::{Environment, Folders};
use crate::error::{ErrorKind, Fault};

/// Names of secrets, in whatever folder they are.
const SECRETS_ANYWHERE: &[&str] =
    &[".ssh", ".gnupg", ".password-store", ".aws", ".azure", ".kube", ".netrc", ".git-credentials"];

/// Secrets beneath a home: keys, passwords, and what browsers and shells remember.
const SECRETS_OF_HOME: &[&str] = &[
    ".docker",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".local/share/keyrings",
    ".config/gcloud",
    ".config/gh",
    ".config/chromium",
    ".config/google-chrome",
    ".mozilla",
    ".thunderbird",
    ".bash_history",
    ".zsh_history",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/github-copilot",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".qwen/oauth_creds.json",
];

/// Secrets of the system, and folders in which a file is not what it seems: the environment of this process, with its
/// keys, is in `/proc`.
const SECRETS_OF_SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/proc",
    "/dev",
    "/run",
];

/// Why a folder outside of the workspace is not added.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// It is not there, or cannot be read.
    #[error("cannot add the folder `{folder}`: {cause}")]
    Unreadable {
        /// The folder, safe to show.
        folder: String,
        /// Why.
        cause: io::Error,
    },
    /// It is a file.
    #[error("cannot add the folder `{0}`: it is a file")]
    IsFile(String),
    /// It is everything.
    #[error("cannot add the folder `{0}`: it is the root of the system")]
    IsRoot(String),
    /// It has secrets in it, or no scope can name it.
    #[error(
        "cannot add the folder `{0}`: it has keys, passwords or the files of host in it, or its name cannot be written"
    )]
    HasSecrets(String),
    /// The home or a folder of the host cannot be named in a scope.
    #[error("the files of keys and passwords cannot be protected from tools")]
    Unprotected(#[source] ScopeError),
}

impl Fault for OutsideError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { .. } | Self::IsFile(_) | Self::IsRoot(_) | Self::HasSecrets(_) => ErrorKind::Input,
            Self::Unprotected(_) => ErrorKind::Configuration,
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unreadable { .. } => None,
            Self::IsFile(_) => Some("name the folder that it is in".into()),
            Self::IsRoot(_) => Some("name the folder that you need".into()),
            Self::HasSecrets(_) => Some(
                Advice::from("to let one plugin read such files, use ").flag_with(Flag::Grant, "PLUGIN:fs-read=PATH"),
            ),
            Self::Unprotected(_) => Some("set HOME and the XDG folders to folders with printable names".into()),
        }
    }
}

/// What may be granted outside of the workspace.
#[derive(Clone, Debug)]
pub struct Outside {
    /// What can be read: everything but secrets.
    readable: Scope,
    /// What can be changed: that, without what runs or is obeyed later.
    writable: Scope,
    home: Option<PathBuf>,
}

impl Outside {
    /// Reads which files of this environment are secrets. The user is never asked about the paths in `obeyed`.
    ///
    /// # Errors
    ///
    /// If the home or a folder of the host cannot be named in a scope.
    pub fn new(environment: &Environment, own: &Folders, obeyed: &[PathBuf]) -> Result<Self, OutsideError> {
        let home = environment.home();
        let of_home = home.into_iter().flat_map(|home| SECRETS_OF_HOME.iter().map(|name| home.join(name)));
        let of_system = SECRETS_OF_SYSTEM.iter().map(PathBuf::from);
        let of_host = own.unreadable().into_iter().map(Path::to_owned);
        let secrets = of_home.chain(of_system).chain(of_host);
        let mut paths = RealPaths::default();
        let real_and_named = |path: PathBuf| [paths.real(&path).filter(|real| *real != path), Some(path)];
        let secrets: Vec<PathBuf> = secrets.flat_map(real_and_named).flatten().collect();
        Ok(Self {
            readable: all_but(Capability::FsRead, &secrets)?,
            writable: all_but(Capability::FsWrite, secrets.iter().chain(obeyed))?,
            home: home.map(Path::to_owned),
        })
    }

    /// The files about which the user can be asked whether they may be read, none of which may be so far.
    pub fn reads(&self) -> AllowedFiles {
        AllowedFiles::new(self.readable.clone(), self.home.iter().cloned().collect())
    }

    /// The same for changing them. An answer about a file beside the workspace is not one about the workspace.
    pub fn writes(&self, workspace: &Path) -> AllowedFiles {
        let too_wide = self.home.iter().cloned().chain([workspace.to_owned()]);
        AllowedFiles::new(self.writable.clone(), too_wide.collect())
    }

    /// Returns the folder that the user's words mean: absolute, without links. `~/` is the home.
    ///
    /// # Errors
    ///
    /// If it is no folder, is the root of the system, or holds secrets itself.
    pub fn folder(&self, text: &str) -> Result<PathBuf, OutsideError> {
        let shown = || exact(text).into_owned();
        let path = expanded(text, self.home.as_deref());
        let folder = fs::canonicalize(&path).map_err(|cause| OutsideError::Unreadable { folder: shown(), cause })?;
        if !folder.is_dir() {
            return Err(OutsideError::IsFile(shown()));
        }
        if folder.parent().is_none() {
            return Err(OutsideError::IsRoot(shown()));
        }
        match self.reads().scope_of(&folder) {
            Some(_) => Ok(folder),
            None => Err(OutsideError::HasSecrets(shown())),
        }
    }

    /// Returns the scopes of an added folder: for reading, and for changing.
    pub fn scopes(&self, folder: &Path) -> Vec<Scope> {
        let scope = |all: &Scope| Scope::for_path(all.capability(), folder).ok()?.meet(all);
        [&self.readable, &self.writable].into_iter().filter_map(scope).collect()
    }
}

/// The path as a user writes it, with `~` for the home.
pub fn expanded(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

fn all_but<'a>(capability: Capability, paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<Scope, OutsideError> {
    let paths = paths.into_iter().map(PathBuf::as_path);
    Scope::all_files_but(capability, SECRETS_ANYWHERE, paths).map_err(OutsideError::Unprotected)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use host_capability::{Grants, PluginName};

    use super::*;
    use crate::confinement::never_offered;
    use crate::environment::Terminals;

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
        outside: Outside,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        for name in ["home/.ssh", "home/src/dir", "home/src/dir2", "other/.aws"] {
            fs::create_dir_all(root.join(name)).expect("made");
        }
        fs::write(root.join("home/notes"), "").expect("written");
        let environment = Environment::new(BTreeMap::new(), Some(root.join("home")), Terminals::default());
        let folders = environment.folders().expect("there is a home");
        let outside = Outside::new(&environment, &folders, &never_offered(environment.home(), &folders))
            .expect("the names are plain");
        Place { _folder: folder, root, outside }
    }

    // promise folders.added
    #[test]
    fn outside_folder_that_is_added_has_no_secrets_and_no_sibling() {
        let Place { root, outside, .. } = &place();
        let home = root.join("home");
        let plugin = PluginName::new("x");
        let grants: Grants =
            [&home, &root.join("home/src/dir")].iter().flat_map(|folder| outside.scopes(folder)).collect();
        for (path, reads, writes) in [
            ("home/src/a", true, true),
            ("home/.ssh/id", false, false),
            ("home/x/.aws/credentials", false, false),
            ("home/.config/gh/hosts.yml", false, false),
            ("home/.config/host/config.toml", false, false),
            ("home/.bashrc", true, false),
            ("home/.config/autostart/x.desktop", true, false),
            ("other/a", false, false),
        ] {
            let path = root.join(path);
            assert_eq!(grants.permit_read(&plugin, &path).is_ok(), reads, "{}", path.display());
            assert_eq!(grants.permit_write(&plugin, &path).is_ok(), writes, "{}", path.display());
        }
        let dir: Grants = outside.scopes(&root.join("home/src/dir")).into_iter().collect();
        for (path, reads) in [("home/src/dir/a", true), ("home/src/dir2/a", false), ("home/src/DIR/a", false)] {
            assert_eq!(dir.permit_read(&plugin, &root.join(path)).is_ok(), reads, "{path}");
        }
    }

    #[test]
    fn outside_folder_is_one_that_is_there_and_holds_no_secret() {
        let Place { root, outside, .. } = &place();
        let of = |text: &str| outside.folder(&text.replace("ROOT", &root.display().to_string()));
        assert_eq!(of("~/src/dir/../dir2").expect("a folder"), root.join("home/src/dir2"));
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("link")).expect("linked");
        for (text, why) in [
            ("/", "the root of the system"),
            ("ROOT/home/notes", "it is a file"),
            ("ROOT/none", "No such file"),
            ("~/.ssh", "keys"),
            ("ROOT/link", "keys"),
            ("ROOT/other/.aws", "keys"),
            ("/proc/self", "keys"),
        ] {
            let failure = of(text).expect_err(text);
            assert!(failure.to_string().contains(why), "{text}: {failure:?}");
        }
        let escape = of("ROOT/\u{1b}[2J").expect_err("there is none").to_string();
        assert!(!escape.contains('\u{1b}'), "{escape:?}");
    }
}

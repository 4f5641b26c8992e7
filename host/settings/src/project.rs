//! The files of a project for the host, in its `.host/`, those of other agents that it uses (MCP servers, skills,
//! commands), and whether the user trusts them.
//!
//! A project is the nearest folder, from the workspace upward, that is the top of a repository or has a `.host/`.
//! Promises: nothing of an untrusted `.host/` is used or parsed, and only bytes whose digests were trusted are used of
//! a trusted one; when a file is different, new or gone, no file is used until the user has been asked again.
//! Deliberately not here: the contents of the files (`configuration`, `agents`, `plugins`).

pub mod contents;
pub mod hooks;
pub mod programs;
pub mod question;
pub mod server_files;
pub mod shown;
pub mod store;
pub mod trusting;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use host_text::{Advice, Notice};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::contents::{Contents, FOLDER, LOCK, PROGRAMS, Part, ProjectFile};
use self::contents::{Fingerprint, Listing, Unusable};
pub use self::store::{Store, TrustStoreError, Trusted};
use crate::environment::Folders;
use crate::error::{ErrorKind, Failure, Fault};
use crate::repository::repository_of;

/// The most changes in a note of one line.
const NOTED_CHANGES: usize = 3;

/// What makes files usable that cannot be trusted as they are.
pub const UNUSABLE_HELP: &str =
    "replace symbolic links with regular files, and remove files that are too large or too many";

/// How a user looks at a project and trusts it.
pub fn how_to_trust() -> Advice {
    Advice::default().command("trust").text(" shows it, ").command("trust add").text(" trusts it")
}

/// A project, with the trust in it.
#[derive(Debug)]
pub struct Project {
    /// Its real path.
    pub root: PathBuf,
    /// Whether it is trusted.
    pub trust_state: TrustState,
}

/// Whether a project is trusted.
#[derive(Debug)]
pub enum TrustState {
    /// It has no files for the host.
    Nothing,
    /// It was never trusted. Its files were not read.
    Untrusted(Unread),
    /// It changed since it was trusted.
    Changed {
        /// Its files now.
        contents: Contents,
        /// The differences.
        changes: Vec<Change>,
    },
    /// It did not change since it was trusted.
    Trusted(Contents),
    /// It has something that cannot be trusted, such as a link.
    Unusable(String),
}

/// The names of the files of a project.
#[derive(Debug)]
pub struct Unread(Listing);

/// A difference from the trusted files, by the name beneath `.host/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The file is new.
    Added(String),
    /// The file is different.
    Changed(String),
    /// The file is gone.
    Removed(String),
}

/// The trust in one word, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrustStatus {
    /// It did not change since it was trusted.
    Trusted,
    /// It was never trusted.
    Untrusted,
    /// It changed since it was trusted.
    Changed,
    /// It has something that cannot be trusted.
    Unusable,
}

/// The files of a trusted project, by their use; empty if it is not trusted.
#[derive(Debug, Default)]
pub struct ProjectFiles {
    /// Its configuration.
    pub configuration: Option<ProjectFile>,
    /// Its agents.
    pub agents: Vec<ProjectFile>,
    /// Components, each with its manifest.
    pub plugins: Vec<(ProjectFile, ProjectFile)>,
    /// Its lock file.
    pub lock: Option<ProjectFile>,
    /// Its rules.
    pub policies: Vec<ProjectFile>,
    /// Its files that name MCP servers.
    pub servers: Vec<ProjectFile>,
    /// The files that those servers are started with.
    pub server_files: Vec<ProjectFile>,
    /// Its skills.
    pub skills: Vec<ProjectFile>,
    /// Its command files.
    pub commands: Vec<ProjectFile>,
    /// How many skills it has besides, which are too many to be used.
    pub unlisted_skills: usize,
    /// How many command files it has besides.
    pub unlisted_commands: usize,
    /// Its files with hooks, besides those that also name MCP servers.
    pub hooks: Vec<ProjectFile>,
    /// Programs of its own that find and call tools, by their names in `.host/tools/`.
    pub programs: BTreeMap<String, ProjectFile>,
}

impl Project {
    /// Finds the project of a folder, whose path is real. If it was never trusted, none of its files is opened.
    pub fn find(folder: &Path, folders: &Folders) -> Result<Self, Failure> {
        let root = Self::root_of(folder);
        let trust_state = TrustState::read(&root, &Store::at(folders.trust.clone()))?;
        Ok(Self { root, trust_state })
    }

    /// The top of the project that a folder lies in.
    pub fn root_of(folder: &Path) -> PathBuf {
        repository_of(folder).unwrap_or(folder).to_owned()
    }

    /// Reads the files of the project, so that they can be shown to the user.
    pub fn read(self) -> (Self, Contents) {
        let Self { root, trust_state } = self;
        let (trust_state, contents) = match trust_state {
            TrustState::Untrusted(Unread(listing)) => match listing.read() {
                Ok(contents) => (TrustState::Untrusted(Unread(listing)), contents),
                Err(Unusable(why)) => (TrustState::Unusable(why), Contents::default()),
            },
            TrustState::Trusted(contents) => (TrustState::Trusted(contents.clone()), contents),
            TrustState::Changed { contents, changes } => {
                (TrustState::Changed { contents: contents.clone(), changes }, contents)
            }
            state @ (TrustState::Nothing | TrustState::Unusable(_)) => (state, Contents::default()),
        };
        (Self { root, trust_state }, contents)
    }

    /// The project, trusted from now on with exactly these contents.
    pub fn trust(self, contents: Contents, folders: &Folders) -> Result<Self, Failure> {
        Store::at(folders.trust.clone()).add(&self.root, contents.fingerprint())?;
        Ok(Self { trust_state: TrustState::Trusted(contents), ..self })
    }

    /// The trust in one word; `None` if there is nothing to trust.
    pub fn trust_status(&self) -> Option<TrustStatus> {
        match self.trust_state {
            TrustState::Nothing => None,
            TrustState::Untrusted(_) => Some(TrustStatus::Untrusted),
            TrustState::Changed { .. } => Some(TrustStatus::Changed),
            TrustState::Trusted(_) => Some(TrustStatus::Trusted),
            TrustState::Unusable(_) => Some(TrustStatus::Unusable),
        }
    }

    /// Returns whether it has a file of this kind that is not used.
    pub fn withholds(&self, part: Part) -> bool {
        match &self.trust_state {
            TrustState::Nothing | TrustState::Trusted(_) => false,
            TrustState::Untrusted(Unread(listing)) => listing.has(part),
            TrustState::Changed { contents, .. } => contents.iter().any(|(_, file)| file.part == part),
            // It is not known what is behind a link.
            TrustState::Unusable(_) => true,
        }
    }

    /// Why its files are not used, in one line; `None` if they are, or there are none.
    pub fn reason(&self) -> Option<String> {
        let folder = self.shown_folder();
        match &self.trust_state {
            TrustState::Nothing | TrustState::Trusted(_) => None,
            TrustState::Untrusted(_) => Some(format!("`{folder}` is not trusted")),
            TrustState::Changed { changes, .. } => {
                let mut shown: Vec<String> = changes.iter().take(NOTED_CHANGES).map(ToString::to_string).collect();
                if let Some(more) = changes.len().checked_sub(NOTED_CHANGES).filter(|more| *more > 0) {
                    shown.push(format!("{more} more"));
                }
                Some(format!("`{folder}` has changed since you trusted it ({})", shown.join(", ")))
            }
            TrustState::Unusable(why) => Some(format!("`{folder}` cannot be trusted: {why}")),
        }
    }

    /// A warning if the files of the project are not used.
    pub fn note(&self) -> Option<Notice> {
        let reason = self.reason()?;
        Some(match self.trust_state {
            // The reason is about a file in it, and it is the folder that is ignored.
            TrustState::Unusable(_) => format!("{reason}. All of it is ignored; {UNUSABLE_HELP}").into(),
            TrustState::Nothing | TrustState::Untrusted(_) | TrustState::Changed { .. } | TrustState::Trusted(_) => {
                Notice::from(format!("{reason} and is ignored; ")).then(how_to_trust())
            }
        })
    }

    /// The error of what does not happen because the project is not trusted; `None` if it is.
    pub fn untrusted(&self, message: impl Into<String>) -> Option<UntrustedError> {
        let is_usable = !matches!(self.trust_state, TrustState::Unusable(_));
        Some(UntrustedError { message: message.into(), reason: self.reason()?, is_usable })
    }

    /// Whether the user trusts it: code in its folder is what they looked at.
    pub fn is_trusted(&self) -> bool {
        matches!(self.trust_state, TrustState::Trusted(_))
    }

    /// Its files, if it is trusted.
    pub fn files(&self) -> ProjectFiles {
        let TrustState::Trusted(contents) = &self.trust_state else { return ProjectFiles::default() };
        let mut files = ProjectFiles {
            unlisted_skills: contents.unlisted(Part::Skill),
            unlisted_commands: contents.unlisted(Part::Command),
            ..ProjectFiles::default()
        };
        for (name, file) in contents.iter() {
            match file.part {
                Part::Configuration => files.configuration = Some(file.clone()),
                Part::Lock => files.lock = Some(file.clone()),
                Part::Agent => files.agents.push(file.clone()),
                Part::Rules => files.policies.push(file.clone()),
                Part::Servers => files.servers.push(file.clone()),
                Part::Skill => files.skills.push(file.clone()),
                Part::Command => files.commands.push(file.clone()),
                Part::Hooks => files.hooks.push(file.clone()),
                // The file that names it says how it is started.
                Part::HookProgram => {}
                Part::ServerFile => files.server_files.push(file.clone()),
                Part::Program => {
                    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
                    files.programs.extend(name.map(|name| (name, file.clone())));
                }
                // It is taken with its component.
                Part::Manifest => {}
                Part::Component => {
                    let manifest = name.strip_suffix("wasm").and_then(|stem| contents.get(&format!("{stem}json")));
                    // The source of plugins reports one without a manifest.
                    let missing =
                        ProjectFile { path: file.path.with_extension("json"), bytes: Vec::new(), ..file.clone() };
                    files.plugins.push((file.clone(), manifest.cloned().unwrap_or(missing)));
                }
            }
        }
        files
    }

    /// What it brings, in one line such as `configuration, 2 agents`; `None` if nothing of it is used.
    pub fn brings(&self) -> Option<String> {
        match &self.trust_state {
            TrustState::Trusted(contents) => Some(shown::summary(contents)).filter(|summary| !summary.is_empty()),
            TrustState::Nothing | TrustState::Untrusted(_) | TrustState::Changed { .. } | TrustState::Unusable(_) => {
                None
            }
        }
    }

    /// The folder, safe for a terminal: its `.host/`, or the project if there is none.
    pub fn shown_folder(&self) -> String {
        let own = self.root.join(FOLDER);
        shown::path(if own.exists() { &own } else { &self.root })
    }
}

/// Something does not happen because the project is not trusted.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct UntrustedError {
    /// What does not happen.
    pub message: String,
    /// Why the project is not trusted.
    pub reason: String,
    /// Whether it could be trusted as it is.
    pub is_usable: bool,
}

impl Fault for UntrustedError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Untrusted
    }

    fn causes(&self) -> Vec<Notice> {
        vec![self.reason.clone().into()]
    }

    fn help(&self) -> Option<Advice> {
        if !self.is_usable {
            return Some(UNUSABLE_HELP.into());
        }
        let look = Advice::from("look at it with ").command("trust").text("; ");
        Some(look.command("trust add").text(" trusts it as it is now"))
    }
}

/// A file of a project is not text.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` is not text: {cause}")]
pub struct NotTextError {
    /// The file, safe to show.
    pub path: String,
    /// Where it is not.
    pub cause: Utf8Error,
}

impl Fault for NotTextError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn help(&self) -> Option<Advice> {
        Some("fix or remove the file, and trust the project again".into())
    }
}

impl TrustState {
    fn read(root: &Path, store: &Store) -> Result<Self, TrustStoreError> {
        let listing = match Listing::scan(root) {
            Ok(listing) => listing,
            Err(Unusable(why)) => return Ok(Self::Unusable(why)),
        };
        let Some(Trusted { files, .. }) = store.find(root)? else {
            return Ok(if listing.is_empty() { Self::Nothing } else { Self::Untrusted(Unread(listing)) });
        };
        let contents = match listing.read() {
            Ok(contents) => contents,
            Err(Unusable(why)) => return Ok(Self::Unusable(why)),
        };
        let changes = changes(&files, &contents.fingerprint());
        Ok(if changes.is_empty() { Self::Trusted(contents) } else { Self::Changed { contents, changes } })
    }
}

/// Returns the differences, in the order of the names.
fn changes(before: &Fingerprint, now: &Fingerprint) -> Vec<Change> {
    let mut names: Vec<&String> = before.keys().chain(now.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &String| match (before.get(name), now.get(name)) {
        (None, Some(_)) => Some(Change::Added(name.clone())),
        (Some(_), None) => Some(Change::Removed(name.clone())),
        (Some(before), Some(now)) if before != now => Some(Change::Changed(name.clone())),
        (Some(_), Some(_)) | (None, None) => None,
    };
    names.into_iter().filter_map(change).collect()
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, what) = match self {
            Self::Added(name) => (name, "added"),
            Self::Changed(name) => (name, "changed"),
            Self::Removed(name) => (name, "removed"),
        };
        write!(f, "`{}` {what}", shown::name(name))
    }
}

impl ProjectFile {
    /// Its bytes as text.
    pub fn text(&self) -> Result<&str, NotTextError> {
        std::str::from_utf8(&self.bytes).map_err(|cause| NotTextError { path: shown::path(&self.path), cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_changes_name_added_changed_and_removed_files() {
        let of = |files: &[(&str, &str)]| -> Fingerprint {
            files.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect()
        };
        let before = of(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let now = of(&[("b", "2"), ("c", "1"), ("d\u{1b}", "1")]);
        let shown: Vec<String> = changes(&before, &now).iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["`a` removed", "`b` changed", "`d\\u{1b}` added"]);
        assert!(changes(&now, &now).is_empty());
    }
}

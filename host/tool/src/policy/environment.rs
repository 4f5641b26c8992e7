//! What of the environment of programs decides which program a name starts, and what that program reads.
//!
//! A decision is about names: `git` is the git of the system. It is not where `PATH` leads into the workspace, whose
//! files anyone may have written; nor does `cd src` enter `src` with a `CDPATH`, or git read the repository around it
//! with a `GIT_DIR`. So the decision looks at the variables that the program will have, whoever set them.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::place::resolve;

/// Where programs are looked for without a `PATH`.
const USUAL_FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// How many links may lead to a program.
const LINKS: usize = 40;

/// Variables by which git reads another repository than the one around the folder, whatever their value.
const GIT_PLACES: [&str; 9] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
];

/// Variables that name a file or a program for git: fine if what they name is not a file of the workspace.
const GIT_FILES: [&str; 9] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_TRACE2",
    "PAGER",
];

/// What a program gets of the variables that decide which programs run and what they read.
#[derive(Clone, Debug)]
pub struct ProgramEnvironment {
    /// The folders of `PATH`.
    search: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// It has a `CDPATH`.
    moves_cd: bool,
    /// The variables of git that it has, of those that matter.
    git: Vec<(&'static str, OsString)>,
}

impl Default for ProgramEnvironment {
    /// An environment without any of the variables.
    fn default() -> Self {
        Self::new(std::iter::empty::<(&OsStr, &OsStr)>())
    }
}

impl ProgramEnvironment {
    /// Takes what matters from the variables that programs get.
    pub fn new<'v>(variables: impl IntoIterator<Item = (&'v OsStr, &'v OsStr)>) -> Self {
        let mut found = Self { search: Vec::new(), home: None, moves_cd: false, git: Vec::new() };
        let mut path = None;
        for (name, value) in variables {
            match name.to_str() {
                Some("PATH") => path = Some(std::env::split_paths(value).collect()),
                Some("HOME") => found.home = Some(value.into()),
                Some("CDPATH") => found.moves_cd = !value.is_empty(),
                Some(name) => {
                    let known = GIT_PLACES.iter().chain(&GIT_FILES).find(|known| **known == name);
                    found.git.extend(known.map(|known| (*known, value.to_owned())));
                }
                None => {}
            }
        }
        found.search = path.unwrap_or_else(|| USUAL_FOLDERS.map(PathBuf::from).to_vec());
        found
    }

    /// Whether `cd` may enter another folder than the one that its word names.
    pub(super) fn moves_cd(&self, folder: &str) -> bool {
        self.moves_cd && !folder.starts_with(['/', '.'])
    }

    /// Whether git reads the repository around its folder, and runs no file of these folders.
    pub(super) fn is_plain_for_git(&self, controlled: &[PathBuf]) -> bool {
        self.git.iter().all(|(name, value)| {
            let path = Path::new(value);
            // A number, a name or nothing is not a file; a word with blanks may name several.
            let names_none = value.to_str().is_some_and(|text| !text.contains(['/', ' ', '\t']));
            GIT_FILES.contains(name) && (names_none || path.is_absolute() && is_outside(path, controlled))
        })
    }

    /// Whether every program that a program starts by its name is outside of these folders.
    pub(super) fn finds_none_in(&self, controlled: &[PathBuf]) -> bool {
        self.search.iter().all(|folder| folder.is_absolute() && is_outside(folder, controlled))
    }

    /// Returns the file that a name without a folder starts, `None` if there is none; the error says why it may be one
    /// of these folders.
    pub(super) fn find(&self, name: &str, controlled: &[PathBuf]) -> Result<Option<PathBuf>, String> {
        for folder in &self.search {
            if !folder.is_absolute() || !is_outside(folder, controlled) {
                let shown = folder.display();
                return Err(format!("`{name}` may be a file of the workspace: `PATH` has `{shown}`"));
            }
            let file = folder.join(name);
            let is_program =
                file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
            if is_program {
                let real = follow(&file, controlled);
                return real
                    .map(Some)
                    .map_err(|inside| format!("`{name}` is `{}`, a file of the workspace", inside.display()));
            }
        }
        Ok(None)
    }

    /// Returns the folders whose files come with the workspace: itself, and the repository that it is a part of, unless
    /// that is the user's home.
    pub(super) fn controlled(&self, workspace: &Path) -> Vec<PathBuf> {
        let repository = workspace.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
        let is_home = |top: &Path| self.home.as_deref().is_some_and(|home| home.starts_with(top));
        let top = repository.filter(|top| !is_home(top) && top.parent().is_some()).unwrap_or(workspace);
        vec![top.to_path_buf()]
    }
}

/// Follows the links of a program to its file. The error is what on the way is in one of these folders.
fn follow(file: &Path, controlled: &[PathBuf]) -> Result<PathBuf, PathBuf> {
    let mut file = file.to_path_buf();
    for _ in 0..LINKS {
        let Some(folder) = file.parent().and_then(|folder| folder.canonicalize().ok()) else { break };
        file = folder.join(file.file_name().unwrap_or_default());
        if !is_outside(&file, controlled) {
            return Err(file);
        }
        let Ok(target) = file.read_link() else { return Ok(file) };
        file = folder.join(target);
    }
    Err(file)
}

/// Whether a path is in none of the folders, as it is written and where it leads.
fn is_outside(path: &Path, folders: &[PathBuf]) -> bool {
    let within = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
    !within(path) && resolve(path).is_some_and(|real| !within(&real))
}

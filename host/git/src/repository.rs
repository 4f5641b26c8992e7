//! The repository that git finds from a folder, and whether it makes git run something.
//!
//! Git goes up from where it is until it finds a `.git` that is one: with a `HEAD`, objects and refs. An empty `.git`
//! hides nothing. What git would reject, wait for, or read in another way is [`Unclear`], and is never passed over.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::config::{Setting, parse};
use crate::index::{self, Hash, MAX_INDEX};
use crate::inert::{Whose, first_obeyed};
use crate::names::is_object_id;
use crate::place::{is_there, read_alone};

/// The largest file of settings that is read, in bytes. Protects memory: git's own are a few lines.
pub(crate) const MAX_SETTINGS: u64 = 256 << 10;

/// The largest `.git`, `HEAD`, `commondir` or `gitdir` that is read, in bytes: each is one line.
pub(crate) const MAX_POINTER: u64 = 8 << 10;

/// The longest name of a branch that is returned, in characters. Protects the place where it is shown.
const BRANCH: usize = 60;

/// The digits of a commit that are returned if no branch is checked out, as git shortens it.
const COMMIT_DIGITS: usize = 7;

/// Something that git would reject, or that cannot be read as git reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a part of a repository that git would accept: {why}", path.display())]
pub struct Unclear {
    /// What.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl Unclear {
    pub(crate) fn new(path: impl Into<PathBuf>, why: impl ToString) -> Self {
        Self { path: path.into(), why: why.to_string() }
    }
}

/// A repository, by real paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The folder that contains `.git`.
    pub top: PathBuf,
    /// Git's own folder for this work tree.
    pub folder: PathBuf,
    /// The folder that all work trees of the repository share: the same, unless this is a further one.
    pub common: PathBuf,
}

impl Repository {
    /// Returns the repository that git finds from a folder, or `None` if it finds none.
    ///
    /// # Errors
    ///
    /// If git would stop at something that it rejects, or the folder does not exist.
    pub fn around(folder: &Path) -> Result<Option<Self>, Unclear> {
        // Git goes up from where the folder really is.
        let start = folder.canonicalize().map_err(|error| Unclear::new(folder, error))?;
        let device = start.metadata().map_err(|error| Unclear::new(&start, error))?.dev();
        for above in start.ancestors() {
            // Git stops where another file system is mounted.
            if above.metadata().map_err(|error| Unclear::new(above, error))?.dev() != device {
                return Ok(None);
            }
            if let Some(found) = Self::at(above)? {
                return Ok(Some(found));
            }
            // A bare repository, whose settings count for everything in it.
            if is_taken(above)? {
                // Not passed over: git obeys its settings for everything in it, which its author decided on.
                return Err(Unclear::new(above, "it is a bare repository"));
            }
        }
        Ok(None)
    }

    /// Returns the repository whose `.git` is in this folder.
    ///
    /// # Errors
    ///
    /// If git would stop at it.
    pub fn at(top: &Path) -> Result<Option<Self>, Unclear> {
        let entry = top.join(".git");
        if !is_there(&entry) {
            return Ok(None);
        }
        // Git follows it. But whoever can change what it leads to decides what it is.
        if entry.is_symlink() {
            // An error and no `None`: the repository above is not the one that git uses.
            return Err(Unclear::new(entry, "it is a link"));
        }
        let real = entry.canonicalize().map_err(|error| Unclear::new(&entry, error))?;
        let kind = real.metadata().map_err(|error| Unclear::new(&entry, error))?.file_type();
        let folder = match kind.is_file() {
            true => pointer(&real, "gitdir: ", top)?.ok_or_else(|| Unclear::new(&entry, "it names no folder"))?,
            false => real,
        };
        // An empty `.git` hides nothing: git goes on upwards, and so does this.
        if !is_taken(&folder)? {
            return match kind.is_file() {
                true => Err(Unclear::new(&entry, "it names a folder that is no repository")),
                false => Ok(None),
            };
        }
        let common = common_of(&folder)?;
        Ok(Some(Self { top: top.to_owned(), folder, common }))
    }

    /// Returns whether nothing of the repository makes `git status`, `git diff` and the like run something, or read
    /// another repository.
    pub fn is_inert(&self, whose: Whose) -> bool {
        let Ok(settings) = self.settings() else { return false };
        first_obeyed(&settings, whose).is_none()
            // A hook that runs when git writes down what it saw of the files.
            && !is_there(&self.common.join("hooks/post-index-change"))
            // Objects of other repositories would be read.
            && !is_there(&self.common.join("objects/info/alternates"))
            // Git looks into submodules, which have settings of their own.
            && !is_there(&self.common.join("modules"))
            && self.submodules().is_ok_and(|found| found.is_empty())
    }

    /// Returns where the submodules are that the index lists. Git enters each of them.
    ///
    /// # Errors
    ///
    /// If the index cannot be read as git reads it.
    pub fn submodules(&self) -> Result<Vec<PathBuf>, Unclear> {
        use std::os::unix::ffi::OsStrExt as _;
        let path = self.folder.join("index");
        let unclear = |why: String| Unclear::new(&path, why);
        let Some(bytes) = read_alone(&path, MAX_INDEX).map_err(|error| unclear(error.to_string()))? else {
            return Ok(Vec::new());
        };
        let found = index::submodules(&bytes, self.hash()?).map_err(|why| unclear(why.to_owned()))?;
        Ok(found.iter().map(|path| self.top.join(std::ffi::OsStr::from_bytes(path))).collect())
    }

    /// Returns all settings of the repository and of this work tree.
    pub(crate) fn settings(&self) -> Result<Vec<Setting>, Unclear> {
        let mut all = Vec::new();
        for path in self.settings_files() {
            all.extend(settings_of(&path)?);
        }
        Ok(all)
    }

    /// Returns the files that settings are read from.
    pub(crate) fn settings_files(&self) -> Vec<PathBuf> {
        let mut files =
            vec![self.common.join("config"), self.common.join("config.worktree"), self.folder.join("config.worktree")];
        files.dedup();
        files
    }

    pub(crate) fn hash(&self) -> Result<Hash, Unclear> {
        Ok(hash_of(&settings_of(&self.common.join("config"))?))
    }
}

/// Returns whether git, where a shell is, reads a repository that makes it run nothing. It must be there: outside of
/// one, some commands compare any two files.
pub fn is_inert_at(shell: &Path, whose: Whose) -> bool {
    matches!(Repository::around(shell), Ok(Some(repository)) if repository.is_inert(whose))
}

/// Returns the git branch that is checked out where a folder lies, or the beginning of the commit's id, safe to show;
/// `None` without git, or if it cannot be read. No program runs.
pub fn branch(folder: &Path) -> Option<String> {
    let repository = Repository::around(folder).ok()??;
    let head = read_alone(&repository.folder.join("HEAD"), MAX_POINTER).ok()??;
    let head = str::from_utf8(&head).ok()?.trim_end();
    if let Some(name) = head.strip_prefix("ref:") {
        let name = name.trim_start();
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        let end = name.char_indices().nth(BRANCH).map(|(end, _)| end);
        let shown = host_text::exact(name.get(..end.unwrap_or(name.len()))?).into_owned();
        return (!name.is_empty()).then(|| if end.is_some() { shown + "…" } else { shown });
    }
    head.get(..COMMIT_DIGITS).filter(|_| is_object_id(head.as_bytes())).map(str::to_owned)
}

/// Returns the folders in which git stores a repository: `.git`, or for a work tree of another one those that its file
/// `.git` leads to. They are returned whether git would take them or not, so that nothing makes one of them later.
pub fn folders_of(entry: &Path) -> Vec<PathBuf> {
    let Some(top) = entry.parent().and_then(|top| top.canonicalize().ok()) else { return Vec::new() };
    let Ok(git) = entry.canonicalize() else { return Vec::new() };
    let folder = match git.is_dir() {
        true => Some(git.clone()),
        false => pointer(&git, "gitdir: ", &top).ok().flatten(),
    };
    let Some(folder) = folder else { return Vec::new() };
    // A work tree has its refs and settings in the folder of its repository.
    let common = pointer(&folder.join("commondir"), "", &folder).ok().flatten();
    // Nor can the folder claim any other: that of a work tree is in the repository's own.
    let common = common.filter(|common| folder.starts_with(common) && folder != *common);
    // Any file can claim to be a work tree of any folder. Only the folder itself can confirm it: it names the file
    // back, as git requires for `git worktree`, or is a submodule beneath this repository.
    let named_back = pointer(&folder.join("gitdir"), "", &folder).ok().flatten().is_some_and(|back| back == git);
    // A link can lead into any repository of the user.
    let is_own = git.is_dir() && !entry.is_symlink();
    match is_own || named_back {
        true => [Some(folder), common].into_iter().flatten().collect(),
        false => Vec::new(),
    }
}

/// Returns whether git takes a folder for one of its own.
pub(crate) fn is_taken(folder: &Path) -> Result<bool, Unclear> {
    let head = folder.join("HEAD");
    if !is_there(&head) {
        return Ok(false);
    }
    // A link to a ref, as git made it long ago.
    if let Ok(target) = head.read_link() {
        if !target.starts_with("refs") {
            return Ok(false);
        }
    } else {
        // Bounded, and never waits: a program can put a pipe here.
        let bytes = read_alone(&head, MAX_POINTER).map_err(|error| Unclear::new(&head, error))?.unwrap_or_default();
        let named = bytes.strip_prefix(b"ref:").is_some_and(|name| name.trim_ascii_start().starts_with(b"refs/"));
        let id = bytes.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        // A `HEAD` that git would not take makes the folder none of git's, and git goes on upwards.
        if !named && !is_object_id(&id.to_ascii_lowercase()) {
            return Ok(false);
        }
    }
    let common = common_of(folder)?;
    Ok(common.join("objects").is_dir() && common.join("refs").is_dir())
}

/// Returns the folder that a work tree shares with its repository, or else git's own.
pub(crate) fn common_of(folder: &Path) -> Result<PathBuf, Unclear> {
    let path = folder.join("commondir");
    if !is_there(&path) {
        return Ok(folder.to_path_buf());
    }
    pointer(&path, "", folder)?.ok_or_else(|| Unclear::new(path, "it names no folder"))
}

/// Returns the real path that a file names, from a folder on.
pub(crate) fn pointer(file: &Path, prefix: &str, from: &Path) -> Result<Option<PathBuf>, Unclear> {
    let Some(bytes) = read_alone(file, MAX_POINTER).map_err(|error| Unclear::new(file, error))? else {
        return Ok(None);
    };
    let text = str::from_utf8(&bytes).map_err(|error| Unclear::new(file, error))?;
    let Some(path) = text.trim_end_matches(['\r', '\n']).strip_prefix(prefix) else { return Ok(None) };
    Ok(from.join(path).canonicalize().ok())
}

/// Returns the settings of a file; none if it does not exist.
pub(crate) fn settings_of(path: &Path) -> Result<Vec<Setting>, Unclear> {
    let bytes = read_alone(path, MAX_SETTINGS).map_err(|error| Unclear::new(path, error))?;
    let bytes = bytes.unwrap_or_default();
    str::from_utf8(&bytes).ok().and_then(parse).ok_or_else(|| Unclear::new(path, "it is not a file of settings"))
}

/// Returns how objects are named.
pub(crate) fn hash_of(settings: &[Setting]) -> Hash {
    let sha256 =
        |setting: &Setting| setting.short() == "extensions.objectformat" && setting.value.as_deref() == Some("sha256");
    if settings.iter().any(sha256) { Hash::Sha256 } else { Hash::Sha1 }
}

#[cfg(test)]
mod tests;

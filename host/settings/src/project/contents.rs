//! The files in a project's `.host/`, and those of other agents that it uses: first the names, then the bytes, each
//! read once.
//!
//! Promises: no symbolic link is followed, not even one that leads back into the folder; only regular files are opened;
//! reads are bounded; the bytes that are used are those whose digest was taken, since there is no second read.
//! Deliberately not here: whether a file may be used, and its meaning.

mod commands;
mod skills;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_agent::MAX_DEFINITION_BYTES;
use host_files::FileError;
use host_plugin::{Digest, MAX_COMPONENT};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

pub(crate) use self::commands::{CLAUDE, COMMAND_DEPTH, COMMANDS, GEMINI};
pub use self::skills::SKILL_FILE;
pub(crate) use self::skills::{SKILL_FOLDERS, SKILLS};
use super::shown::name as shown;
use super::{hooks, server_files};
use crate::file_sizes::{MAX_COMMAND_FILE, MAX_PROGRAM, MAX_SKILL_FILE};

/// The folder, at the top of a project.
pub const FOLDER: &str = ".host";

/// The beginning of the name of a program of the project.
pub const PROGRAMS: &str = ".host/tools/";

/// The most files that are used. Protects the user, who waits for the question and reads the list of files.
const MAX_FILES: usize = 256;

/// The most entries of one folder that are looked at. Protects against a folder without end.
const MAX_ENTRIES: usize = 4096;

/// The largest file of configuration or rules. More than is written by hand.
const MAX_TEXT: u64 = 1 << 20;

/// The largest manifest of a plugin, as `host-bundle` has it.
const MAX_MANIFEST: u64 = 32 << 20;

/// The largest lock file, as `host-bundle` has it.
const MAX_LOCK: u64 = 4 << 20;

/// The most bytes that are read in all. Protects memory, where they stay for the whole run.
const MAX_TOTAL: u64 = 256 << 20;

/// The use of a file; the most powerful one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A program that runs outside the sandbox, or a file next to one.
    Program,
    /// A component of a plugin.
    Component,
    /// The lock file: which installed plugins are used.
    Lock,
    /// Rules of a policy.
    Rules,
    /// Hooks, in a file of the host or of another agent.
    Hooks,
    /// A program of the project that a hook starts.
    HookProgram,
    /// A file of the project that an MCP server is started with.
    ServerFile,
    /// MCP servers and hooks, in a file that other agents read too.
    Servers,
    /// The configuration.
    Configuration,
    /// The definition of an agent.
    Agent,
    /// A skill: instructions that the model can load.
    Skill,
    /// A command: a prompt that the user can send by its name.
    Command,
    /// The manifest of a plugin.
    Manifest,
}

/// The folders beneath, and which of their files count, by the ends of their names. Other files are neither read nor
/// trusted.
const FOLDERS: &[(&str, &[(&str, Part)])] = &[
    ("agents", &[("md", Part::Agent)]),
    ("plugins", &[("wasm", Part::Component), ("json", Part::Manifest)]),
    ("policies", &[("toml", Part::Rules)]),
    // All of it: a program can run or read every file next to it.
    ("tools", &[(ANY, Part::Program)]),
];

/// The files of other agents, by their folders beneath the project and their names: MCP servers of Claude Code, its
/// settings, hooks of Codex, and the settings of Gemini CLI.
const OTHERS: &[(&str, &str, Part)] = &[
    (TOP, ".mcp.json", Part::Servers),
    (".claude", "settings.json", Part::Hooks),
    (".claude", "settings.local.json", Part::Hooks),
    (".codex", "hooks.json", Part::Hooks),
    (".gemini", "settings.json", Part::Servers),
];

/// The project's own folder.
const TOP: &str = ".";

/// The end of every name.
const ANY: &str = "";

/// The name of the file with hooks.
const HOOKS: &str = "hooks.json";

/// The configuration's name.
const CONFIGURATION: &str = "config.toml";

/// The name of the lock file.
pub const LOCK: &str = "plugins.lock";

/// The names of the files, before any is read.
#[derive(Debug)]
pub struct Listing {
    root: PathBuf,
    /// The open folders, by their names in front of a file's name.
    folders: BTreeMap<&'static str, OwnedFd>,
    entries: BTreeMap<String, Entry>,
    unlisted: Unlisted,
}

/// How many files of a use are there that are not listed, since there are too many of them.
pub(crate) type Unlisted = BTreeMap<Part, usize>;

#[derive(Clone, Debug)]
struct Entry {
    part: Part,
    folder: &'static str,
    file: String,
    path: PathBuf,
}

/// A file of a project.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    /// Its path.
    pub path: PathBuf,
    /// Its use.
    pub part: Part,
    /// Its bytes when its digest was taken; of one that is over its limit those up to one byte behind the limit.
    pub bytes: Vec<u8>,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// All files, by their names beneath `.host/`; those of other agents by their names beneath the project. Clones are the
/// same bytes.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    files: Arc<BTreeMap<String, ProjectFile>>,
    unlisted: Unlisted,
}

/// The digest of each file, by its name: it differs if a file changed.
pub type Fingerprint = BTreeMap<String, String>;

/// Why nothing of a `.host/` can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable(pub String);

impl Listing {
    /// Lists the `.host/` of a project, whose path has no symbolic link in it.
    pub fn scan(root: &Path) -> Result<Self, Unusable> {
        let mut listing = Self {
            root: root.to_owned(),
            folders: BTreeMap::new(),
            entries: BTreeMap::new(),
            unlisted: BTreeMap::new(),
        };
        let top = rustix::fs::open(root, folder_flags(), Mode::empty()).map_err(|error| unreadable(root, error))?;
        for (folder, file, part) in OTHERS {
            listing.add_other(&top, folder, file, *part)?;
        }
        listing.add_skills(&top)?;
        listing.add_commands(&top)?;
        let above = root.join(FOLDER);
        let Some(host) = open_folder(&top, FOLDER, &above)? else { return Ok(listing) };
        for (name, part) in [(CONFIGURATION, Part::Configuration), (LOCK, Part::Lock), (HOOKS, Part::Hooks)] {
            if let Some(kind) = kind_of(&host, name, &above)? {
                listing.add("", name.to_owned(), kind, part)?;
            }
        }
        for (folder, parts) in FOLDERS {
            let path = above.join(folder);
            let Some(opened) = open_folder(&host, folder, &path)? else { continue };
            listing.add_all(folder, &opened, &path, parts)?;
            listing.folders.insert(folder, opened);
        }
        listing.folders.insert("", host);
        Ok(listing)
    }

    /// Adds a file of another agent, if it is there and can be about the host: most settings have no hooks.
    fn add_other(&mut self, top: &OwnedFd, folder: &'static str, file: &str, part: Part) -> Result<(), Unusable> {
        let (path, opened) = match folder {
            TOP => {
                let own =
                    openat(top, TOP, folder_flags(), Mode::empty()).map_err(|error| unreadable(&self.root, error))?;
                (self.root.clone(), own)
            }
            beneath => {
                let path = self.root.join(beneath);
                // A link is somebody's own arrangement for another agent, and nothing of it is used.
                if kind_of(top, beneath, &self.root)? != Some(FileType::Directory) {
                    return Ok(());
                }
                let Some(opened) = open_folder(top, beneath, &path)? else { return Ok(()) };
                (path, opened)
            }
        };
        if kind_of(&opened, file, &path)? == Some(FileType::RegularFile) {
            let name = if folder == TOP { file.to_owned() } else { format!("{folder}/{file}") };
            let path = path.join(file);
            if part == Part::Hooks {
                // Looked through for one word, and not parsed: without it there is nothing to ask about.
                let bytes = read(&opened, file, &path, part.limit())?;
                if !bytes.windows(hooks::MARK.len()).any(|word| word == hooks::MARK) {
                    return Ok(());
                }
            }
            self.entries.insert(name, Entry { part, folder, file: file.to_owned(), path });
            self.folders.insert(folder, opened);
        }
        Ok(())
    }

    fn add_all(
        &mut self,
        folder: &'static str,
        opened: &OwnedFd,
        path: &Path,
        parts: &[(&str, Part)],
    ) -> Result<(), Unusable> {
        let entries = Dir::read_from(opened).map_err(|error| unreadable(path, error))?;
        for (number, entry) in entries.enumerate() {
            let entry = entry.map_err(|error| unreadable(path, error))?;
            if number >= MAX_ENTRIES {
                return Err(Unusable(format!("`{}` has over {MAX_ENTRIES} entries", place(path))));
            }
            let bytes = entry.file_name().to_bytes();
            let end = |end: &str| match end {
                ANY => bytes != b"." && bytes != b"..",
                end => bytes.strip_suffix(end.as_bytes()).is_some_and(|stem| stem.len() > 1 && stem.ends_with(b".")),
            };
            let Some((_, part)) = parts.iter().find(|(wanted, _)| end(wanted)) else { continue };
            let Ok(file) = std::str::from_utf8(bytes) else {
                let name = String::from_utf8_lossy(bytes);
                return Err(Unusable(format!("the name of `{}` is not text", place(&path.join(&*name)))));
            };
            let kind = kind_of(opened, file, path)?.unwrap_or(FileType::Unknown);
            self.add(folder, file.to_owned(), kind, *part)?;
        }
        Ok(())
    }

    fn add(&mut self, folder: &'static str, file: String, kind: FileType, part: Part) -> Result<(), Unusable> {
        let name = if folder.is_empty() { file.clone() } else { format!("{folder}/{file}") };
        let wrong = match kind {
            FileType::RegularFile => None,
            FileType::Symlink => Some("a symbolic link"),
            _ => Some("not a regular file"),
        };
        if let Some(wrong) = wrong {
            return Err(Unusable(format!("`{}` is {wrong}", place(&self.root.join(FOLDER).join(name)))));
        }
        let path = self.root.join(FOLDER).join(&name);
        self.entries.insert(name, Entry { part, folder, file, path });
        if self.entries.len() > MAX_FILES {
            let folder = place(&self.root.join(FOLDER));
            return Err(Unusable(format!(
                "`{folder}` has over {MAX_FILES} files of configuration, agents, plugins and rules"
            )));
        }
        Ok(())
    }

    /// Returns whether it has no usable file.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether it has a file for this use.
    pub fn has(&self, part: Part) -> bool {
        self.entries.values().any(|entry| entry.part == part)
    }

    /// Reads all files.
    pub fn read(&self) -> Result<Contents, Unusable> {
        let mut left = MAX_TOTAL;
        let mut files = BTreeMap::new();
        for (name, Entry { part, folder, file, path }) in &self.entries {
            let Some(opened) = self.folders.get(folder) else { continue };
            let bytes = match part.is_left_out_alone() {
                // One byte more says that it is too large; nothing of it is used.
                true if left > part.limit() => beginning(opened, file, path, part.limit() + 1)?,
                true | false => read(opened, file, path, part.limit().min(left))?,
            };
            left = left.saturating_sub(bytes.len() as u64);
            let bytes = if *part == Part::Hooks { hooks::of_file(bytes) } else { bytes };
            let digest = Digest::of(&bytes);
            files.insert(name.clone(), ProjectFile { path: path.clone(), part: *part, bytes, digest });
        }
        let of_part = |parts: &[Part], named: fn(&[u8], &Path) -> Vec<PathBuf>| {
            let files = files.values().filter(|file| parts.contains(&file.part));
            files.flat_map(|file| named(&file.bytes, &self.root)).collect::<Vec<_>>()
        };
        let of_hooks = of_part(&[Part::Hooks, Part::Servers], hooks::programs_of_file);
        let of_servers = of_part(&[Part::Servers], server_files::of_file);
        self.add_named(of_hooks, Part::HookProgram, &mut files, &mut left)?;
        self.add_named(of_servers, Part::ServerFile, &mut files, &mut left)?;
        Ok(Contents { files: Arc::new(files), unlisted: self.unlisted.clone() })
    }

    /// Adds files of the project that others name: trusting a hook or a server is trusting what it runs.
    fn add_named(
        &self,
        named: Vec<PathBuf>,
        part: Part,
        files: &mut BTreeMap<String, ProjectFile>,
        left: &mut u64,
    ) -> Result<(), Unusable> {
        for program in named {
            let path = self.root.join(&program);
            let name = program.to_string_lossy().into_owned();
            if files.contains_key(&name) {
                continue;
            }
            let bytes = match host_files::read_found(&path, part.limit().min(*left)) {
                Ok(bytes) => bytes,
                Err(FileError::TooLarge { limit }) => {
                    return Err(Unusable(format!("`{}` is over the limit of {limit} bytes", place(&path))));
                }
                Err(error) => return Err(unreadable(&path, error)),
            };
            *left = left.saturating_sub(bytes.len() as u64);
            let digest = Digest::of(&bytes);
            files.insert(name, ProjectFile { path, part, bytes, digest });
        }
        Ok(())
    }
}

impl Part {
    /// The largest size of such a file.
    fn limit(self) -> u64 {
        match self {
            Self::Configuration | Self::Rules | Self::Servers | Self::Hooks => MAX_TEXT,
            Self::Lock => MAX_LOCK,
            Self::Agent => MAX_DEFINITION_BYTES as u64,
            Self::Skill => MAX_SKILL_FILE,
            Self::Command => MAX_COMMAND_FILE,
            Self::Component => MAX_COMPONENT as u64,
            Self::Manifest => MAX_MANIFEST,
            Self::Program | Self::HookProgram | Self::ServerFile => MAX_PROGRAM,
        }
    }

    /// Whether one such file that is too large is left out, and the others are used: it is a text that a user or a
    /// model chooses, and nothing holds because it is there.
    fn is_left_out_alone(self) -> bool {
        match self {
            Self::Skill | Self::Command => true,
            Self::Program
            | Self::Component
            | Self::Lock
            | Self::Rules
            | Self::Hooks
            | Self::HookProgram
            | Self::ServerFile
            | Self::Servers
            | Self::Configuration
            | Self::Agent
            | Self::Manifest => false,
        }
    }
}

impl ProjectFile {
    /// Whether it is over the limit of its use, and so left out.
    pub fn is_too_large(&self) -> bool {
        self.bytes.len() as u64 > self.part.limit()
    }
}

impl Contents {
    /// All files with their names beneath `.host/`, in the order of those.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ProjectFile)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// How many files of a use are there besides.
    pub(crate) fn unlisted(&self, part: Part) -> usize {
        self.unlisted.get(&part).copied().unwrap_or_default()
    }

    /// The file with this name beneath `.host/`.
    pub fn get(&self, name: &str) -> Option<&ProjectFile> {
        self.files.get(name)
    }

    /// Their digests.
    pub fn fingerprint(&self) -> Fingerprint {
        self.files.iter().map(|(name, file)| (name.clone(), file.digest.to_string())).collect()
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Returns the type of the entry with this name, without following a link; `None` if there is no entry.
fn kind_of(folder: &OwnedFd, name: &str, above: &Path) -> Result<Option<FileType>, Unusable> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => Ok(Some(FileType::from_raw_mode(about.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(unreadable(&above.join(name), error)),
    }
}

/// Opens the folder with this name; `None` if there is no entry, or the entry is neither a folder nor a link.
fn open_folder(above: &OwnedFd, name: &str, path: &Path) -> Result<Option<OwnedFd>, Unusable> {
    match kind_of(above, name, path.parent().unwrap_or(path))? {
        Some(FileType::Directory) => {}
        Some(FileType::Symlink) => return Err(Unusable(format!("`{}` is a symbolic link", place(path)))),
        Some(_) | None => return Ok(None),
    }
    // A link that took its place since then is not followed either.
    openat(above, name, folder_flags(), Mode::empty()).map(Some).map_err(|error| unreadable(path, error))
}

fn read(folder: &OwnedFd, file: &str, path: &Path, limit: u64) -> Result<Vec<u8>, Unusable> {
    host_files::read_limited(open(folder, file, path)?, limit).map_err(|error| match error {
        FileError::TooLarge { limit } => Unusable(format!("`{}` is over the limit of {limit} bytes", place(path))),
        other => unreadable(path, other),
    })
}

/// Reads the first bytes of a file, at most this many.
fn beginning(folder: &OwnedFd, file: &str, path: &Path, most: u64) -> Result<Vec<u8>, Unusable> {
    host_files::read_limited(open(folder, file, path)?.take(most), most).map_err(|error| unreadable(path, error))
}

/// Opens a regular file in a folder or beneath it, without following a link.
fn open(folder: &OwnedFd, file: &str, path: &Path) -> Result<File, Unusable> {
    if let Some((beneath, file)) = file.split_once('/') {
        let opened = openat(folder, beneath, folder_flags(), Mode::empty()).map_err(|error| unreadable(path, error))?;
        return open(&opened, file, path);
    }
    // Opening a pipe that replaced the file would block otherwise.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(folder, file, flags, Mode::empty()).map_err(|error| unreadable(path, error))?;
    let opened = File::from(opened);
    let about = opened.metadata().map_err(|error| unreadable(path, error))?;
    if !about.is_file() {
        return Err(Unusable(format!("`{}` is not a regular file", place(path))));
    }
    Ok(opened)
}

fn unreadable(path: &Path, error: impl Into<std::io::Error>) -> Unusable {
    Unusable(format!("`{}` cannot be read: {}", place(path), error.into()))
}

/// A path in a sentence.
fn place(path: &Path) -> String {
    shown(&path.display().to_string())
}

#[cfg(test)]
mod tests;

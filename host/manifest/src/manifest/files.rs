//! The files that a plugin brings besides its component: skills, commands, agents and hooks.
//!
//! They are a part of the manifest, so that what is signed, asked about and compared is one thing, whatever the plugin
//! is loaded from. Promises: also in a manifest made by hand, each path is a plain one in one of the four folders, no
//! two paths are the same on any machine, and the sizes are within the limits.
//!
//! Deliberately not here: what is in a skill, a command, an agent or a hook, which is read where it is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shown::cut;

/// The most files that a plugin brings. Protects the time to write them down when it is loaded.
const MAX_FILES: usize = 256;

/// The largest of them that is not a component, in bytes. Protects memory.
const MAX_FILE: usize = 1 << 20;

/// The largest component of a hook, in bytes. Protects the time that reading a manifest takes.
const MAX_HOOK: usize = 8 << 20;

/// The most bytes of all of them. Protects memory, and stays below what a manifest may have.
const MAX_ALL: usize = 12 << 20;

/// The most names in a path.
const MAX_NAMES: usize = 8;

/// The longest name in a path, in bytes.
const MAX_NAME: usize = 64;

/// The files that a plugin brings, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Content>", into = "BTreeMap<String, Content>")]
pub struct Files(BTreeMap<String, Vec<u8>>);

/// A file as a manifest has it: a text, or its bytes in Base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum Content {
    /// A text in UTF-8.
    Text(String),
    /// Any bytes.
    Bytes {
        /// The bytes in Base64, with padding.
        base64: String,
    },
}

/// A kind of thing that a plugin brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A folder with a `SKILL.md`.
    Skill,
    /// A prompt that a user calls by its name.
    Command,
    /// An agent's definition.
    Agent,
    /// A component that is asked about events, with what it is asked about.
    Hook,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Skill, Self::Command, Self::Agent, Self::Hook];

    /// Its folder beside `plugin.toml`.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Skill => "skills",
            Self::Command => "commands",
            Self::Agent => "agents",
            Self::Hook => "hooks",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Skill => "skill",
            Self::Command => "command",
            Self::Agent => "agent",
            Self::Hook => "hook",
        })
    }
}

/// Why a plugin may not bring a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// There are too many.
    #[error("it brings {found} files, over the limit of {MAX_FILES}")]
    TooMany {
        /// Their number.
        found: usize,
    },
    /// They are too large.
    #[error("the files that it brings have {found} bytes, over the limit of {MAX_ALL}")]
    TooLarge {
        /// Their bytes.
        found: usize,
    },
    /// One of them cannot be brought.
    #[error("the file `{path}`: {why}")]
    File {
        /// Its path.
        path: String,
        /// The reason, a clause.
        why: String,
    },
}

impl Files {
    /// Takes the files by their paths: names with `/` between them, from the folder of `plugin.toml`.
    ///
    /// # Errors
    ///
    /// If a path is not a plain one in `skills`, `commands`, `agents` or `hooks`, or a limit is passed.
    pub fn new(files: BTreeMap<String, Vec<u8>>) -> Result<Self, FilesError> {
        if files.len() > MAX_FILES {
            return Err(FilesError::TooMany { found: files.len() });
        }
        let found = files.values().map(Vec::len).sum();
        if found > MAX_ALL {
            return Err(FilesError::TooLarge { found });
        }
        let mut folded = BTreeSet::new();
        for (path, content) in &files {
            let wrong = |why: String| FilesError::File { path: cut(path), why };
            check_path(path).map_err(wrong)?;
            let limit = if path.ends_with(HOOK_END) { MAX_HOOK } else { MAX_FILE };
            if content.len() > limit {
                return Err(wrong(format!("{} bytes are over the limit of {limit}", content.len())));
            }
            // A file system may not tell them apart.
            if !folded.insert(path.to_ascii_lowercase()) {
                return Err(wrong("another file has the same name in other letters".to_owned()));
            }
        }
        for path in &folded {
            let mut above = path.as_str();
            while let Some((folder, _)) = above.rsplit_once('/') {
                if folded.contains(folder) {
                    let why = "it is a file and a folder at once".to_owned();
                    return Err(FilesError::File { path: cut(folder), why });
                }
                above = folder;
            }
        }
        let files = Self(files);
        for (kind, name) in files.items() {
            let needed = match kind {
                FileKind::Skill => vec![format!("skills/{name}/SKILL.md")],
                FileKind::Hook => vec![format!("hooks/{name}.toml"), format!("hooks/{name}{HOOK_END}")],
                FileKind::Command | FileKind::Agent => Vec::new(),
            };
            if let Some(missing) = needed.iter().find(|path| !files.0.contains_key(*path)) {
                let why = format!("the {kind} has no `{missing}`");
                return Err(FilesError::File { path: format!("{}/{name}", kind.folder()), why });
            }
        }
        Ok(files)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files, by their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// What it brings: each skill, command, agent and hook once, by its name. A command in a folder is `FOLDER:NAME`.
    pub fn items(&self) -> BTreeSet<(FileKind, String)> {
        self.0.keys().filter_map(|path| item(path)).collect()
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Vec::as_slice)
    }

    /// The files of a skill, a command, an agent or a hook.
    pub fn of<'f>(&'f self, kind: FileKind, name: &str) -> impl Iterator<Item = (&'f str, &'f [u8])> {
        let wanted = (kind, name.to_owned());
        self.iter().filter(move |(path, _)| item(path).as_ref() == Some(&wanted))
    }
}

/// How the name of a hook's component ends.
const HOOK_END: &str = ".wasm";

/// What a file belongs to.
fn item(path: &str) -> Option<(FileKind, String)> {
    let (folder, rest) = path.split_once('/')?;
    let kind = FileKind::ALL.into_iter().find(|kind| kind.folder() == folder)?;
    let name = match kind {
        FileKind::Skill => rest.split_once('/')?.0.to_owned(),
        FileKind::Command => rest.strip_suffix(".md").or_else(|| rest.strip_suffix(".toml"))?.replace('/', ":"),
        FileKind::Agent => rest.strip_suffix(".md").filter(|name| !name.contains('/'))?.to_owned(),
        FileKind::Hook => {
            let name = rest.strip_suffix(".toml").or_else(|| rest.strip_suffix(HOOK_END));
            name.filter(|name| !name.contains('/'))?.to_owned()
        }
    };
    Some((kind, name))
}

fn check_path(path: &str) -> Result<(), String> {
    let names: Vec<&str> = path.split('/').collect();
    if names.len() > MAX_NAMES {
        return Err(format!("it is {} folders deep, over the limit of {MAX_NAMES}", names.len()));
    }
    let is_plain = |name: &&&str| {
        (1..=MAX_NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            && !name.starts_with(['.', '-'])
            && !name.ends_with('.')
    };
    if let Some(name) = names.iter().find(|name| !is_plain(name)) {
        return Err(format!(
            "the name `{}` has to be 1 to {MAX_NAME} of ASCII letters, digits, `.`, `_` and `-`, the first a letter, a \
             digit or `_`",
            cut(name)
        ));
    }
    match item(path) {
        Some(_) => Ok(()),
        None => {
            Err("only `skills/NAME/…`, `commands/….md`, `commands/….toml`, `agents/NAME.md`, `hooks/NAME.toml` and \
                 `hooks/NAME.wasm` can be brought"
                .to_owned())
        }
    }
}

impl TryFrom<BTreeMap<String, Content>> for Files {
    type Error = FilesError;

    fn try_from(written: BTreeMap<String, Content>) -> Result<Self, FilesError> {
        let mut files = BTreeMap::new();
        for (path, content) in written {
            let bytes = match content {
                Content::Text(text) => text.into_bytes(),
                Content::Bytes { base64 } => STANDARD
                    .decode(base64)
                    .map_err(|error| FilesError::File { path: cut(&path), why: format!("invalid Base64: {error}") })?,
            };
            files.insert(path, bytes);
        }
        Self::new(files)
    }
}

impl From<Files> for BTreeMap<String, Content> {
    fn from(Files(files): Files) -> Self {
        let content = |bytes: Vec<u8>| match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text),
            Err(error) => Content::Bytes { base64: STANDARD.encode(error.as_bytes()) },
        };
        files.into_iter().map(|(path, bytes)| (path, content(bytes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &[u8])]) -> Result<Files, FilesError> {
        Files::new(all.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect())
    }

    // promise bundle.files: A bundle's files are plain ones in `skills`, `commands`, `agents` and `hooks`, even if the
    //   manifest was made by hand.
    #[test]
    fn files_elsewhere_are_never_brought() {
        for path in [
            "",
            "/etc/passwd",
            "skills",
            "skills/",
            "skills/x",
            "skills/../../x",
            "skills/x/../SKILL.md",
            "skills//SKILL.md",
            "skills/x/.git/config",
            "skills/x/a\0b",
            "skills/x/a b",
            "skills/x/a\\b",
            "skills/x/é",
            "skills/-x/SKILL.md",
            "skills/x/a.",
            "skills/x/1/2/3/4/5/6/7",
            "commands/x",
            "commands/x.sh",
            "agents/a/b.md",
            "agents/a.toml",
            "hooks/x.md",
            "plugin.toml",
        ] {
            let error = files(&[("skills/x/SKILL.md", b""), (path, b"")]).expect_err(path);
            assert!(matches!(error, FilesError::File { .. }), "{path}: {error}");
            let json = serde_json::json!({ path: "" }).to_string();
            serde_json::from_str::<Files>(&json).expect_err(path);
        }
        let long = format!("commands/{}.md", "x".repeat(MAX_NAME));
        files(&[(&long, b"")]).expect_err("its name is too long");
    }

    #[test]
    fn files_that_a_machine_may_confuse_are_rejected() {
        for (one, other, why) in [
            ("commands/a.md", "commands/A.md", "other letters"),
            ("skills/x/SKILL.md", "skills/x/SKILL.md/y", "a folder at once"),
            ("skills/x/a", "skills/x/A/y", "a folder at once"),
            ("skills/x/SKILL.md", "skills/y/readme", "no `skills/y/SKILL.md`"),
            ("hooks/x.toml", "commands/x.md", "no `hooks/x.wasm`"),
            ("hooks/x.wasm", "commands/x.md", "no `hooks/x.toml`"),
        ] {
            let error = files(&[("skills/x/SKILL.md", b""), (one, b""), (other, b"")]).expect_err(why);
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn files_are_limited_in_number_and_size() {
        let many = |count: usize| (0..count).map(|at| (format!("commands/c{at}.md"), Vec::new())).collect();
        Files::new(many(MAX_FILES)).expect("as many as may be");
        assert_eq!(Files::new(many(MAX_FILES + 1)), Err(FilesError::TooMany { found: MAX_FILES + 1 }));
        files(&[("commands/c.md", &vec![0; MAX_FILE])]).expect("as large as may be");
        files(&[("commands/c.md", &vec![0; MAX_FILE + 1])]).expect_err("too large");
        let all = (0..13).map(|at| (format!("commands/c{at}.md"), vec![0; MAX_FILE])).collect();
        assert_eq!(Files::new(all), Err(FilesError::TooLarge { found: 13 * MAX_FILE }));
        files(&[("hooks/h.toml", b""), ("hooks/h.wasm", &vec![0; MAX_HOOK])]).expect("as large as may be");
        files(&[("hooks/h.toml", b""), ("hooks/h.wasm", &vec![0; MAX_HOOK + 1])]).expect_err("too large");
    }

    #[test]
    fn files_of_any_bytes_are_the_same_in_a_manifest() {
        let all = files(&[
            ("skills/pdf/SKILL.md", "---\nname: pdf\n---\nüber".as_bytes()),
            ("skills/pdf/assets/logo.png", b"\x89PNG\xff\0"),
            ("commands/git/commit.md", b"commit"),
            ("commands/plan.toml", b"prompt = \"x\""),
            ("agents/reviewer.md", b""),
        ])
        .expect("all are fine");
        let json = serde_json::to_string(&all).expect("plain data");
        assert_eq!(serde_json::from_str::<Files>(&json).expect("it is read"), all);
        let items: Vec<String> = all.items().iter().map(|(kind, name)| format!("{kind} {name}")).collect();
        assert_eq!(items, ["skill pdf", "command git:commit", "command plan", "agent reviewer"]);
        let of_skill: Vec<&str> = all.of(FileKind::Skill, "pdf").map(|(path, _)| path).collect();
        assert_eq!(of_skill, ["skills/pdf/SKILL.md", "skills/pdf/assets/logo.png"]);
    }
}

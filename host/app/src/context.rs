//! The context of a prompt: the tree of the workspace and the context files, which a model reads first.
//!
//! Owns the context files (`AGENTS.md`, `CLAUDE.md` and `GEMINI.md` of the user and of the repository) and the tree of
//! the workspace. Everything is read with the grants of the tools that read, without what `--deny '*:…'` denies to all
//! of them; the text of a repository's file is marked as such.
//!
//! It is part of the first message of a conversation (`surroundings`). The context files of folders that the model
//! enters later join it (`entered`).
//!
//! Deliberately not here: what a prompt attaches (`attach`).

pub(crate) mod entered;
mod facts;
mod files;
mod include;
pub(crate) mod surroundings;
mod tree;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use host_extensions::grants::UserGrants;
use host_plugin::{FileKind, Reader};
use host_settings::repository::REPOSITORY_MARKS;

use self::files::Files;
use crate::app::App;

/// The context of a workspace.
#[derive(Debug, Default)]
pub struct Context {
    /// Its parts for the first message, without those that are empty.
    pub parts: Vec<(ContextPart, String)>,
    /// What the user should know, a line each.
    pub warnings: Vec<String>,
    /// The context files that were read.
    pub files: Vec<ContextFile>,
}

/// A part of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextPart {
    /// The tree of the workspace.
    Tree,
    /// The context files.
    Files,
    /// The facts that were kept in earlier runs.
    Facts,
    /// The list of skills.
    Skills,
}

impl ContextPart {
    /// All of them, in the order in which a model gets them.
    pub(crate) const ALL: [Self; 4] = [Self::Tree, Self::Files, Self::Facts, Self::Skills];

    /// Returns its name for a user.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "file tree",
            Self::Files => "context files",
            Self::Facts => "facts",
            Self::Skills => "skills",
        }
    }
}

/// A context file that the model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    /// Its path as it is shown: safe, relative to the repository if it is in there.
    pub shown: String,
    /// Its path.
    pub path: PathBuf,
    /// Where it comes from.
    pub origin: ContextOrigin,
    /// The length of its text with what it includes, in characters.
    pub characters: usize,
}

/// Where a context file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextOrigin {
    /// The user's configuration folder.
    User,
    /// The repository, from its top down to the working folder.
    Repository,
    /// A folder that the model entered.
    Entered,
}

impl ContextOrigin {
    /// Returns its name for a user.
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "yours, for all projects",
            Self::Repository => "from the repository",
            Self::Entered => "of a folder that the model entered",
        }
    }
}

/// Reads the context of a workspace.
pub fn read(app: &App, grants: &UserGrants) -> Context {
    let Files { text: files, mut warnings, read } = files::read(app, grants);
    let (facts, unreadable) = facts::read(app, grants);
    warnings.extend(unreadable);
    let tree = workspace_tree(app, grants);
    let mut parts = Vec::new();
    if !tree.is_empty() {
        let about = "Its folders and files, without what is ignored (`…` was not looked into):";
        parts.push((ContextPart::Tree, format!("\n\n# The workspace\n\n{about}\n\n{tree}")));
    }
    if !files.is_empty() {
        parts.push((ContextPart::Files, format!("\n\n# Context files\n\n{files}")));
    }
    if !facts.is_empty() {
        let about = "Kept with the tool `memory` in earlier runs. What the user said they want holds; check a fact \
            about the code before you rely on it, and forget one that is no longer true.";
        parts.push((ContextPart::Facts, format!("\n\n# Facts\n\n{about}\n\n{facts}")));
    }
    Context { parts, warnings, files: read }
}

/// The tree of the files that `ls` could list.
fn workspace_tree(app: &App, grants: &UserGrants) -> String {
    let Some(listing) = app.plugin("ls") else { return String::new() };
    let grants = Arc::new(grants.granted_to(listing));
    let reader = Reader::new(Arc::clone(&app.workspace), grants, listing.manifest.plugin_name());
    tree::tree(|path| {
        let entries = reader.list(path).ok()?.into_iter();
        let shown = entries.filter(|entry| !entry.found.ignored && !REPOSITORY_MARKS.contains(&entry.name.as_str()));
        let entry = |entry: host_plugin::Listed| tree::Entry {
            is_folder: entry.found.kind == FileKind::Folder,
            name: entry.name,
        };
        Some(shown.map(entry).collect())
    })
}

/// A name that cannot break its line or control a terminal.
pub fn name(name: &str) -> Cow<'_, str> {
    host_text::visible_line(name)
}

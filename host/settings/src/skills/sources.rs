//! Where skills come from: the folders of a trusted project, then those of the user, then plugins.
//!
//! Promises: a file of a project is used with the bytes that were trusted; one of the user is read within a limit, and
//! is left out if other users could have written it. A folder of the user that lies in the workspace is the project's,
//! since tools may change it.
//!
//! Deliberately not here: what a skill says.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use host_manifest::FileKind;

use super::file::SkillFault;
use crate::brought::{Brought, BroughtText};
use crate::environment::{Environment, Folders};
use crate::error::Failure;
use crate::file_sizes::MAX_SKILL_FILE;
use crate::own_text;
use crate::project::ProjectFile;
pub use crate::project::contents::SKILL_FILE;
use crate::project::contents::{SKILL_FOLDERS, SKILLS};

/// The most entries of a folder of skills that are looked at. Protects the start from a folder without end.
const MAX_ENTRIES: usize = 1024;

/// Where a skill comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillOrigin {
    /// A trusted project.
    Project,
    /// The user's home.
    User,
    /// The plugin with this name.
    Plugin(String),
}

/// A skill that was found, before its file is understood.
#[derive(Debug)]
pub struct FoundSkill {
    /// The name of its folder.
    pub name: String,
    /// Its folder, without links.
    pub folder: PathBuf,
    /// Where it comes from.
    pub origin: SkillOrigin,
    /// The text of its file, or why there is none.
    pub text: Result<String, SkillFault>,
}

impl SkillOrigin {
    /// Returns its name for a user.
    pub fn words(&self) -> Cow<'static, str> {
        match self {
            Self::Project => "project".into(),
            Self::User => "user".into(),
            Self::Plugin(name) => format!("plugin `{name}`").into(),
        }
    }

    /// Returns what such a skill is called in a list of commands.
    pub fn as_skill(&self) -> &'static str {
        match self {
            Self::Project => "project's skill",
            Self::User => "user's skill",
            Self::Plugin(_) => "plugin's skill",
        }
    }
}

/// Finds all skills, the preferred ones first: of the project, whose files were trusted, then of the user, then of
/// plugins.
///
/// # Errors
///
/// If what a plugin brings cannot be written to the host's own folder.
pub fn find(
    project: &[ProjectFile],
    workspace: &Path,
    environment: &Environment,
    folders: &Folders,
    plugins: &[Brought<'_>],
) -> Result<Vec<FoundSkill>, Failure> {
    let mut found: Vec<FoundSkill> = SKILL_FOLDERS
        .iter()
        .flat_map(|folder| project.iter().filter(move |file| is_in(&file.path, folder)))
        .filter_map(of_project)
        .collect();
    for folder in environment.home().iter().flat_map(|home| SKILL_FOLDERS.map(|folder| home.join(folder).join(SKILLS)))
    {
        // Without the folder there is nothing in it.
        let Ok(folder) = fs::canonicalize(folder) else { continue };
        if !folder.starts_with(workspace) {
            found.extend(of_user(&folder, workspace));
        }
    }
    for plugin in plugins {
        if let Some(unpacked) = plugin.unpacked(folders)? {
            found.extend(of_plugin(*plugin, &unpacked));
        }
    }
    Ok(found)
}

/// Reads the file of one skill of the user again.
///
/// # Errors
///
/// Why it cannot be used.
pub fn read(path: &Path) -> Result<String, SkillFault> {
    own_text::read(path, MAX_SKILL_FILE)?.ok_or(SkillFault::TooLarge)
}

fn is_in(path: &Path, folder: &str) -> bool {
    path.ancestors().nth(3).is_some_and(|above| above.ends_with(folder))
}

fn of_project(file: &ProjectFile) -> Option<FoundSkill> {
    let folder = file.path.parent()?;
    let text = match file.is_too_large() {
        true => Err(SkillFault::TooLarge),
        false => String::from_utf8(file.bytes.clone()).map_err(|_| SkillFault::NotText),
    };
    let name = folder.file_name()?.to_str()?.to_owned();
    Some(FoundSkill { name, folder: folder.to_owned(), origin: SkillOrigin::Project, text })
}

/// The skills that a plugin brings, with the texts that were signed.
fn of_plugin(plugin: Brought<'_>, unpacked: &Path) -> Vec<FoundSkill> {
    // The host's own folder may be behind a link, which no grant follows.
    let unpacked = fs::canonicalize(unpacked).unwrap_or_else(|_| unpacked.to_owned());
    let skill = |brought: BroughtText| {
        let name = brought.path.strip_prefix("skills/")?.strip_suffix(SKILL_FILE)?.strip_suffix('/')?.to_owned();
        let folder = unpacked.join(SKILLS).join(&name);
        // One in a folder of another skill is a file of that.
        let is_skill = !name.contains('/');
        let origin = SkillOrigin::Plugin(brought.plugin);
        is_skill.then_some(FoundSkill { name, folder, origin, text: Ok(brought.text) })
    };
    plugin.texts(FileKind::Skill).into_iter().filter_map(skill).collect()
}

fn of_user(folder: &Path, workspace: &Path) -> Vec<FoundSkill> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.take(MAX_ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let skill = |name: String| {
        // A link to a folder is the user's own arrangement, in which its name is that of the link.
        let folder = fs::canonicalize(folder.join(&name)).ok()?;
        let path = folder.join(SKILL_FILE);
        path.symlink_metadata().is_ok().then(|| {
            let text = if folder.starts_with(workspace) { Err(SkillFault::InWorkspace) } else { read(&path) };
            FoundSkill { name, folder, origin: SkillOrigin::User, text }
        })
    };
    names.into_iter().filter_map(skill).collect()
}

//! Skills: folders with instructions that the model, or the user by `/name`, loads when a task needs them, in the
//! format of agentskills.io.
//!
//! Owns which skills there are, what the model reads of each before it is activated (its name and description), and the
//! text of an activation. Promises: a skill of a project is only read after its project was trusted; a skill that
//! cannot be used is a notice and no error; of two with one name the first counts, and that is said; all of it is
//! bounded.
//!
//! Deliberately not here: activating one in a session (`session::skills`). A further source of skills is a variant of
//! [`SkillOrigin`] and its folders in `sources`.

pub mod file;
pub mod listed;
pub mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_plugin::ProgramAccess;
use host_text::{Advice, Notice, clip, escape_name, exact, visible_line};

pub use self::file::{SkillFault, SkillFile};
pub use self::sources::{FoundSkill, SkillOrigin};
use crate::error::{ErrorKind, Fault};

/// The most skills of a session. Protects the model's window and the time that the start takes.
pub const MAX_SKILLS: usize = 100;

/// The most characters of names and descriptions that the model reads before a skill is activated. Protects its window:
/// they are part of each request.
const MAX_CATALOG: usize = 30_000;

/// The most characters of a description in that list, if all of them together are too long.
const SHORT_DESCRIPTION: usize = 150;

/// The most notices about skills that cannot be used. Protects the user's terminal from a folder that is full of them.
const MAX_NOTICES: usize = 10;

/// The longest name in a notice, in characters.
const SHOWN: usize = 80;

/// A skill that can be activated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What its file says.
    pub file: SkillFile,
    /// Its folder, without links.
    pub folder: PathBuf,
    /// Where it comes from.
    pub origin: SkillOrigin,
    /// The text of its file when it was found.
    pub text: String,
}

/// The skills of a session, by name.
#[derive(Debug, Default)]
pub struct Skills {
    by_name: BTreeMap<String, Arc<Skill>>,
    /// What the user should know about those that are not used, a line each, safe to show.
    pub notices: Vec<Notice>,
}

impl Skills {
    /// Reads what was found. Of two with one name the first counts. There are `unlisted` skills besides.
    pub fn read(found: Vec<FoundSkill>, unlisted: usize) -> Self {
        let mut skills = Self::default();
        let mut left_out = unlisted;
        for FoundSkill { name, folder, origin, text } in found {
            let shown = escape_name(&name, SHOWN);
            let text = match text {
                Ok(text) => text,
                Err(why) => {
                    skills.notice(format!("the skill `{shown}` ({}) is not used: {why}", origin.words()));
                    continue;
                }
            };
            let file = match SkillFile::parse(&text, &name) {
                Ok(file) => file,
                Err(why) => {
                    skills.notice(format!("the skill `{shown}` ({}) is not used: {why}", origin.words()));
                    continue;
                }
            };
            if let Some(first) = skills.by_name.get(&name) {
                // A copy for another agent is not a second skill.
                if first.text != text {
                    let note = format!(
                        "there are two skills `{shown}`: the one of {} is used, not that in `{}`",
                        first.place(),
                        exact(&folder.display().to_string())
                    );
                    skills.notice(note);
                }
                continue;
            }
            if skills.by_name.len() == MAX_SKILLS {
                left_out += 1;
                continue;
            }
            skills.by_name.insert(name, Arc::new(Skill { file, folder, origin, text }));
        }
        if left_out > 0 {
            skills.notices.push(format!("{left_out} skills are left out: a session has {MAX_SKILLS} at most").into());
        }
        skills
    }

    fn notice(&mut self, notice: impl Into<Notice>) {
        match self.notices.len() {
            len if len < MAX_NOTICES => self.notices.push(notice.into()),
            MAX_NOTICES => {
                self.notices.push(Notice::from("more skills are not used; ").command("skill list").text(" says why"))
            }
            _ => {}
        }
    }

    /// Returns all of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.by_name.values()
    }

    /// The skill with this name.
    pub fn find(&self, name: &str) -> Option<&Arc<Skill>> {
        self.by_name.get(name)
    }

    /// Returns those that the model may activate itself.
    pub fn of_model(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.all().filter(|skill| !skill.file.only_by_user)
    }

    /// The part of the system prompt that lists the skills; empty if there are none.
    pub fn catalog(&self) -> String {
        let mut text = String::new();
        for most in [usize::MAX, SHORT_DESCRIPTION, 0] {
            text = self.of_model().map(|skill| skill.line(most)).collect();
            if text.chars().count() <= MAX_CATALOG {
                break;
            }
        }
        match text.is_empty() {
            true => text,
            false => format!(
                "\n\n# Skills\n\nInstructions for kinds of tasks, that the user installed. Before you begin with a task that fits \
                 a description, call `activate_skill` with the name; do not read the file yourself.\n\n{text}"
            ),
        }
    }

    /// The access of programs with the folders of all skills: they are read and run, and stay as they are.
    pub fn readable_by(&self, mut programs: ProgramAccess) -> ProgramAccess {
        for skill in self.all() {
            programs.readable.push(skill.folder.clone());
            programs.protected.push(skill.folder.clone());
        }
        programs
    }
}

/// A folder that the user named has no valid skill.
#[derive(Debug, thiserror::Error)]
#[error("`{folder}` is not a valid skill: {fault}")]
pub struct InvalidSkill {
    /// The folder, safe to show.
    pub folder: String,
    /// Why.
    pub fault: InvalidSkillFault,
}

/// Why a folder has no valid skill.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSkillFault {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(std::io::Error),
    /// The skill is invalid.
    #[error(transparent)]
    Skill(#[from] SkillFault),
}

impl Fault for InvalidSkill {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        Some("docs/skills.md has the format".into())
    }
}

/// Checks the skill in a folder that the user named.
///
/// # Errors
///
/// With the first rule that it breaks, or if it cannot be read.
pub fn check(folder: &Path) -> Result<SkillFile, InvalidSkill> {
    let invalid = |fault| InvalidSkill { folder: escape_name(&folder.display().to_string(), SHOWN * 2), fault };
    let real = std::fs::canonicalize(folder).map_err(|cause| invalid(InvalidSkillFault::Folder(cause)))?;
    let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let read = sources::read(&real.join(sources::SKILL_FILE)).and_then(|text| SkillFile::parse(&text, &name));
    read.map_err(|fault| invalid(fault.into()))
}

impl Skill {
    /// Its file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(sources::SKILL_FILE)
    }

    /// Its file, safe to show.
    pub fn place(&self) -> String {
        format!("`{}`", exact(&self.path().display().to_string()))
    }

    fn line(&self, most: usize) -> String {
        let path = self.path().display().to_string();
        let description = match most {
            0 => String::new(),
            most => format!(": {}", clip(&visible_line(&self.file.description), most)),
        };
        format!("- `{}`{description} ({})\n", self.file.name, exact(&path))
    }
}

#[cfg(test)]
mod tests;

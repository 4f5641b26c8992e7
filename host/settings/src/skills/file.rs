//! `SKILL.md`: its front matter and its instructions, by the specification of agentskills.io.
//!
//! Promises: what breaks a rule of the specification for names and descriptions is an error that says which; keys that
//! mean nothing here are left alone, since other agents have more. Deliberately not here: where a skill lies.

use host_files::FileError;
use host_text::{escape_name, excerpt};
use serde::Deserialize;

use crate::file_sizes::MAX_SKILL_FILE;
use crate::front_matter::{self, FrontMatterError, Texts};
use crate::own_text::OwnTextError;

/// The longest name, in characters, by the specification.
const MAX_NAME: usize = 64;

/// The longest description, in characters, by the specification.
const MAX_DESCRIPTION: usize = 1024;

/// The longest statement of what a skill needs, in characters, by the specification.
const MAX_COMPATIBILITY: usize = 500;

/// The longest value that is repeated in an error, in characters.
const SHOWN: usize = 80;

/// Why a skill cannot be used. Its text is one line that is safe to show.
#[derive(Debug, thiserror::Error)]
pub enum SkillFault {
    /// Its file is over the limit.
    #[error("`SKILL.md` is over the limit of {MAX_SKILL_FILE} bytes; move parts of it into files of their own")]
    TooLarge,
    /// Its front matter is invalid.
    #[error("{}", excerpt(&.0.to_string(), SHOWN * 3))]
    FrontMatter(FrontMatterError),
    /// It has no name.
    #[error("it has no `name`")]
    NoName,
    /// Its name breaks a rule.
    #[error("`{0}` is not a valid name: use lowercase letters, digits and single hyphens between them")]
    Name(String),
    /// Its folder has another name.
    #[error("its name is `{name}` and its folder is called `{folder}`; give both one name")]
    OtherFolder {
        /// The name, safe to show.
        name: String,
        /// The name of the folder, safe to show.
        folder: String,
    },
    /// Nothing says what it is for.
    #[error("it has no `description`, which says when to use it")]
    NoDescription,
    /// A value is over the limit.
    #[error("its `{key}` has {length} characters, over the limit of {most}")]
    TooLong {
        /// The key.
        key: &'static str,
        /// Its length, in characters.
        length: usize,
        /// The most that is allowed.
        most: usize,
    },
    /// Its file is not text.
    #[error("{}", FileError::NotText)]
    NotText,
    /// Tools could change it.
    #[error("it lies in the folder to work in, where tools may change it")]
    InWorkspace,
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] OwnTextError),
}

/// What a `SKILL.md` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its name, which is that of its folder.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// What it needs, in words; empty if it does not say.
    pub compatibility: String,
    /// Whether the model may not activate it itself.
    pub only_by_user: bool,
    /// What its run is limited to.
    pub allowed_tools: Option<Texts>,
    /// Its instructions.
    pub body: String,
}

/// The keys that mean something here.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Front {
    name: Option<String>,
    description: Option<String>,
    compatibility: Option<String>,
    allowed_tools: Option<Texts>,
    #[serde(default)]
    disable_model_invocation: bool,
}

impl SkillFile {
    /// Reads a file. `folder` is the name of its folder.
    ///
    /// # Errors
    ///
    /// With the first rule that it breaks, in one line that is safe to show.
    pub fn parse(text: &str, folder: &str) -> Result<Self, SkillFault> {
        if text.len() as u64 > MAX_SKILL_FILE {
            return Err(SkillFault::TooLarge);
        }
        let (front, body) = front_matter::read::<Front>(text).map_err(SkillFault::FrontMatter)?;
        let name = front.name.unwrap_or_default();
        check_name(&name)?;
        if name != folder {
            let (name, folder) = (escape_name(&name, SHOWN), escape_name(folder, SHOWN));
            return Err(SkillFault::OtherFolder { name, folder });
        }
        let description = front.description.unwrap_or_default().trim().to_owned();
        if description.is_empty() {
            return Err(SkillFault::NoDescription);
        }
        within("description", &description, MAX_DESCRIPTION)?;
        let compatibility = front.compatibility.unwrap_or_default();
        within("compatibility", &compatibility, MAX_COMPATIBILITY)?;
        Ok(Self {
            name,
            description,
            compatibility,
            only_by_user: front.disable_model_invocation,
            allowed_tools: front.allowed_tools,
            body: body.trim().to_owned(),
        })
    }
}

fn check_name(name: &str) -> Result<(), SkillFault> {
    if name.is_empty() {
        return Err(SkillFault::NoName);
    }
    within("name", name, MAX_NAME)?;
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_plain || name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        return Err(SkillFault::Name(escape_name(name, SHOWN)));
    }
    Ok(())
}

fn within(key: &'static str, text: &str, most: usize) -> Result<(), SkillFault> {
    match text.chars().count() {
        length if length > most => Err(SkillFault::TooLong { key, length, most }),
        _ => Ok(()),
    }
}

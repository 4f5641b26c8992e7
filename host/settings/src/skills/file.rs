//! `SKILL.md`: its front matter and its instructions, by the specification of agentskills.io.
//!
//! Promises: what breaks a rule of the specification for names and descriptions is an error that says which; keys that
//! mean nothing here are left alone, since other agents have more. Deliberately not here: where a skill lies.

use host_text::{escape_name, excerpt};
use serde::Deserialize;

use crate::file_sizes::MAX_SKILL_FILE;
use crate::front_matter::{self, Texts};

/// The longest name, in characters, by the specification.
const MAX_NAME: usize = 64;

/// The longest description, in characters, by the specification.
const MAX_DESCRIPTION: usize = 1024;

/// The longest statement of what a skill needs, in characters, by the specification.
const MAX_COMPATIBILITY: usize = 500;

/// The longest value that is repeated in an error, in characters.
const SHOWN: usize = 80;

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
    pub fn parse(text: &str, folder: &str) -> Result<Self, String> {
        if text.len() as u64 > MAX_SKILL_FILE {
            return Err(too_large());
        }
        let (front, body) = front_matter::read::<Front>(text).map_err(|why| excerpt(&why, SHOWN * 3))?;
        let name = front.name.unwrap_or_default();
        check_name(&name)?;
        if name != folder {
            let (name, folder) = (escape_name(&name, SHOWN), escape_name(folder, SHOWN));
            return Err(format!("its name is `{name}` and its folder is called `{folder}`; give both one name"));
        }
        let description = front.description.unwrap_or_default().trim().to_owned();
        if description.is_empty() {
            return Err("it has no `description`, which says when to use it".to_owned());
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

/// The words for a file over the limit.
pub(super) fn too_large() -> String {
    format!("`SKILL.md` is over the limit of {MAX_SKILL_FILE} bytes; move parts of it into files of their own")
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("it has no `name`".to_owned());
    }
    within("name", name, MAX_NAME)?;
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_plain || name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        let name = escape_name(name, SHOWN);
        return Err(format!(
            "`{name}` is not a valid name: use lowercase letters, digits and single hyphens between them"
        ));
    }
    Ok(())
}

fn within(key: &str, text: &str, most: usize) -> Result<(), String> {
    match text.chars().count() {
        length if length > most => Err(format!("its `{key}` has {length} characters, over the limit of {most}")),
        _ => Ok(()),
    }
}

//! The file of a command: what it says about itself, and its prompt as a template.
//!
//! Markdown has front matter or none; TOML has `prompt` and `description`. Keys that mean nothing here are left alone,
//! since other agents have more. Deliberately not here: where the files lie.

use host_text::excerpt;
use serde::Deserialize;

use super::sources::CommandFormat;
use super::template::Template;
use crate::front_matter::{self, Texts};

/// How much of a fault is repeated, in characters.
const SHOWN: usize = 200;

/// What a file says.
#[derive(Debug, PartialEq)]
pub struct CommandFile {
    /// What the command does; the beginning of its prompt if the file does not say.
    pub description: String,
    /// What can be written behind its name; empty if the file does not say.
    pub hint: String,
    /// The model that is to answer; `None` for the session's.
    pub model: Option<String>,
    /// What its run is limited to.
    pub allowed_tools: Option<Texts>,
    /// Its prompt.
    pub template: Template,
}

/// The front matter.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Front {
    description: Option<String>,
    argument_hint: Option<Texts>,
    allowed_tools: Option<Texts>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Toml {
    prompt: String,
    description: Option<String>,
}

impl CommandFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one line that is safe to show.
    pub(crate) fn parse(text: &str, format: CommandFormat) -> Result<Self, String> {
        if text.contains('\0') {
            return Err("it is not text".to_owned());
        }
        let file = match format {
            CommandFormat::Markdown => markdown(text)?,
            CommandFormat::Gemini => toml(text)?,
        };
        match file.template.is_empty() {
            true => Err("its prompt is empty".to_owned()),
            false => Ok(file),
        }
    }
}

fn markdown(text: &str) -> Result<CommandFile, String> {
    let (front, body) = match front_matter::is_there(text) {
        true => front_matter::read::<Front>(text).map_err(|why| excerpt(&why, SHOWN))?,
        false => (Front::default(), text.to_owned()),
    };
    let hint = match front.argument_hint {
        Some(Texts::One(hint)) => hint,
        // `[message]` is a list in YAML.
        Some(Texts::Many(hints)) => format!("[{}]", hints.join("] [")),
        None => String::new(),
    };
    Ok(CommandFile {
        description: described(front.description, &body),
        hint,
        // Claude Code's word for the session's own.
        model: front.model.filter(|model| model != "inherit"),
        allowed_tools: front.allowed_tools,
        template: Template::markdown(body.trim()),
    })
}

fn toml(text: &str) -> Result<CommandFile, String> {
    let Toml { prompt, description } = toml::from_str(text)
        .map_err(|error| format!("it is not TOML as expected: {}", excerpt(error.message(), SHOWN)))?;
    Ok(CommandFile {
        description: described(description, &prompt),
        hint: String::new(),
        model: None,
        allowed_tools: None,
        template: Template::gemini(prompt.trim())?,
    })
}

fn described(description: Option<String>, prompt: &str) -> String {
    let description = description.filter(|text| !text.trim().is_empty());
    let first = || prompt.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    description.unwrap_or_else(|| first().unwrap_or_default().to_owned())
}

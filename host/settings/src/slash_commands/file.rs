//! The file of a command: what it says about itself, and its prompt as a template.
//!
//! Markdown has front matter or none; TOML has `prompt` and `description`. Keys that mean nothing here are left alone,
//! since other agents have more. Deliberately not here: where the files lie.

use host_files::FileError;
use host_text::excerpt;
use serde::Deserialize;

use super::sources::CommandFormat;
use super::template::{OpenBrace, Template};
use crate::file_sizes::MAX_COMMAND_FILE;
use crate::front_matter::{self, FrontMatterError, Texts};
use crate::own_text::OwnTextError;

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

/// Why a command cannot be used. Its text is one line that is safe to show.
#[derive(Debug, thiserror::Error)]
pub enum CommandFault {
    /// Its file is not text.
    #[error("it is not text")]
    NotText,
    /// Its file is not Unicode.
    #[error("{}", FileError::NotText)]
    NotUnicode,
    /// It has no prompt.
    #[error("its prompt is empty")]
    Empty,
    /// Its front matter is invalid.
    #[error("{}", excerpt(&.0.to_string(), SHOWN))]
    FrontMatter(FrontMatterError),
    /// It is not TOML as expected.
    #[error("it is not TOML as expected: {}", excerpt(.0, SHOWN))]
    Toml(String),
    /// A place in its prompt is not closed.
    #[error(transparent)]
    Brace(#[from] OpenBrace),
    /// Its name cannot be typed.
    #[error("`{0}` cannot be typed as a name; use letters, digits, `-` and `_`")]
    Name(String),
    /// Its file is over the limit.
    #[error("it is over the limit of {MAX_COMMAND_FILE} bytes")]
    TooLarge,
    /// Tools could change it.
    #[error("it lies in the folder to work in, where tools may change it")]
    InWorkspace,
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] OwnTextError),
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
    pub(crate) fn parse(text: &str, format: CommandFormat) -> Result<Self, CommandFault> {
        if text.contains('\0') {
            return Err(CommandFault::NotText);
        }
        let file = match format {
            CommandFormat::Markdown => markdown(text)?,
            CommandFormat::Gemini => toml(text)?,
        };
        match file.template.is_empty() {
            true => Err(CommandFault::Empty),
            false => Ok(file),
        }
    }
}

fn markdown(text: &str) -> Result<CommandFile, CommandFault> {
    let (front, body) = match front_matter::is_there(text) {
        true => front_matter::read::<Front>(text).map_err(CommandFault::FrontMatter)?,
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

fn toml(text: &str) -> Result<CommandFile, CommandFault> {
    let Toml { prompt, description } =
        toml::from_str(text).map_err(|error: toml::de::Error| CommandFault::Toml(error.message().to_owned()))?;
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

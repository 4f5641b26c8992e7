//! Commands that are files: `/NAME` sends the prompt that a file has, in the formats of Claude Code (Markdown) and
//! Gemini CLI (TOML).
//!
//! Owns which commands there are and what their files say. Promises: a command of a project is only read after its
//! project was trusted, with the bytes that were trusted; a file that cannot be used is a notice and no error; of two
//! with one name the first counts, and that is said; all of it is bounded.
//!
//! Deliberately not here: running a command, whose shell lines pass the gate (`session::command_files`).

mod file;
pub mod sources;
pub mod template;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use host_text::{escape_name, exact, excerpt};

pub use self::file::{CommandFault, CommandFile};
pub use self::sources::{CommandOwner, CommandSource, FoundCommand};

/// The most commands of a session. Protects the menu and the time that the start takes.
pub const MAX_COMMANDS: usize = 200;

/// The most notices about commands that cannot be used. Protects the user's terminal from a folder that is full of
/// them.
const MAX_NOTICES: usize = 10;

/// The longest name, in characters: a user types it.
const MAX_NAME: usize = 100;

/// The longest name in a notice, in characters.
const SHOWN: usize = 80;

/// A command.
#[derive(Debug)]
pub struct SlashCommand {
    /// The name, as it is typed behind `/`.
    pub name: String,
    /// The content of its file.
    pub file: CommandFile,
    /// The path of its file.
    pub path: PathBuf,
    /// Where it comes from.
    pub source: CommandSource,
}

/// The commands of a session, by name.
#[derive(Debug, Default)]
pub struct SlashCommands {
    by_name: BTreeMap<String, Arc<SlashCommand>>,
    /// What the user should know about those that are not used, a line each, safe to show.
    pub notices: Vec<String>,
}

impl SlashCommands {
    /// Reads what was found. Of two with one name the first counts. There are `unlisted` files besides.
    pub fn read(found: Vec<FoundCommand>, unlisted: usize) -> Self {
        let mut commands = Self::default();
        let mut left_out = unlisted;
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for FoundCommand { name, path, source, text } in found {
            let shown = escape_name(&name, SHOWN);
            let parsed = text.and_then(|text| check_name(&name).map(|()| text)).and_then(|text| {
                let file = CommandFile::parse(&text, source.format)?;
                Ok((text, file))
            });
            let (text, file) = match parsed {
                Ok(parsed) => parsed,
                Err(why) => {
                    commands.notice(format!("the command `/{shown}` ({}) is not used: {why}", source.words()));
                    continue;
                }
            };
            if let Some(first) = commands.by_name.get(&name) {
                // A copy for another agent is not a second command.
                if texts.get(&name) != Some(&text) {
                    let first = exact(&first.path.display().to_string()).into_owned();
                    let second = exact(&path.display().to_string()).into_owned();
                    commands.notice(format!("there are two commands `/{shown}`: `{first}` is used, not `{second}`"));
                }
                continue;
            }
            if commands.by_name.len() == MAX_COMMANDS {
                left_out += 1;
                continue;
            }
            texts.insert(name.clone(), text);
            commands.by_name.insert(name.clone(), Arc::new(SlashCommand { name, file, path, source }));
        }
        if left_out > 0 {
            commands.notices.push(format!("{left_out} commands are left out: a session has {MAX_COMMANDS} at most"));
        }
        commands
    }

    fn notice(&mut self, notice: String) {
        match self.notices.len() {
            len if len < MAX_NOTICES => self.notices.push(notice),
            MAX_NOTICES => self.notices.push("more command files are not used".to_owned()),
            _ => {}
        }
    }

    /// Returns all of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<SlashCommand>> {
        self.by_name.values()
    }

    /// The command with this name.
    pub fn find(&self, name: &str) -> Option<&Arc<SlashCommand>> {
        self.by_name.get(name)
    }
}

fn check_name(name: &str) -> Result<(), CommandFault> {
    let is_plain = |part: &str| {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && part.chars().all(fits)
    };
    match name.chars().count() <= MAX_NAME && name.split(':').all(is_plain) {
        true => Ok(()),
        false => Err(CommandFault::Name(excerpt(name, SHOWN))),
    }
}

#[cfg(test)]
mod tests;

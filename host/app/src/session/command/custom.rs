//! The commands of a session that have no fixed name: `/NAME` for each skill and each command file.
//!
//! A skill wins over a file of its name. Deliberately not here: parsing a line of a conversation.

use std::sync::Arc;

use host_settings::error::Failure;
use host_settings::skills::Skill;
use host_settings::slash_commands::SlashCommand;
use host_text::{exact, excerpt};
use tokio_util::sync::CancellationToken;

use super::super::Session;
use crate::app::App;
use crate::attach::{Attached, Author};

/// How much of a description a list of commands shows, in characters.
const SHOWN_DESCRIPTION: usize = 100;

/// How much of what can be written behind a command is shown, in characters.
const SHOWN_HINT: usize = 60;

/// A command, as a menu lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEntry {
    /// Its name without the slash.
    pub name: String,
    /// What can be written behind it; empty if nothing is known.
    pub hint: String,
    /// What it does, on one line that is safe to show.
    pub description: String,
    /// Where it comes from, in a word or two.
    pub source: &'static str,
}

impl App {
    /// Returns the commands, by name.
    pub fn commands(&self) -> Vec<CommandEntry> {
        let of_skill = |skill: &Arc<Skill>| CommandEntry {
            name: skill.file.name.clone(),
            hint: String::new(),
            description: excerpt(&skill.file.description, SHOWN_DESCRIPTION),
            source: skill.origin.as_skill(),
        };
        let of_file = |command: &Arc<SlashCommand>| CommandEntry {
            name: command.name.clone(),
            hint: excerpt(&command.file.hint, SHOWN_HINT),
            description: excerpt(&command.file.description, SHOWN_DESCRIPTION),
            source: command.source.words(),
        };
        let files = self.commands.all().filter(|command| self.skills.find(&command.name).is_none());
        let mut all: Vec<CommandEntry> = self.skills.all().map(of_skill).chain(files.map(of_file)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Returns whether a line is one of these commands.
    pub fn is_command(&self, line: &str) -> bool {
        name(line).is_some_and(|name| self.skills.find(name).is_some() || self.commands.find(name).is_some())
    }

    /// Returns whether there is an MCP server with this name, whose prompts are commands too.
    pub fn has_server(&self, name: &str) -> bool {
        self.mcp.iter().flat_map(|servers| servers.servers()).any(|server| server.name.as_str() == name)
    }

    /// Returns a notice for each command that has the name of a built-in one, which wins. `built_in` is without
    /// slashes.
    pub fn hidden_commands(&self, built_in: &[&str]) -> Vec<String> {
        let hidden = self.commands().into_iter().filter(|command| built_in.contains(&command.name.as_str()));
        hidden
            .map(|command| {
                let name = exact(&command.name).into_owned();
                format!("`/{name}` runs the built-in command, not `{name}` ({})", command.source)
            })
            .collect()
    }
}

impl Session {
    /// Returns the prompt of a command, with what is written behind its name; `None` if the line is no command. What a
    /// skill changes begins here, so that the prompt has to be the next one. `author` wrote the line.
    ///
    /// # Errors
    ///
    /// If the skill cannot be used, a shell line of the file is denied, or something that is attached may not be read.
    pub async fn command_prompt(
        &self,
        line: &str,
        author: Author,
        cancel: &CancellationToken,
    ) -> Result<Option<Attached>, Failure> {
        let Some(name) = name(line).filter(|_| self.request.agent.is_none()) else { return Ok(None) };
        if let Some(skill) = self.app.skills.find(name) {
            return self.skill_prompt(skill, line.trim(), author, cancel).await.map(Some);
        }
        let Some(command) = self.app.commands.find(name) else { return Ok(None) };
        let words = line.trim().get(1 + name.len()..).unwrap_or_default().trim();
        self.file_prompt(command, words, cancel).await.map(Some)
    }
}

/// The name of the command that a line begins with.
fn name(line: &str) -> Option<&str> {
    line.trim().strip_prefix('/')?.split(char::is_whitespace).next().filter(|name| !name.is_empty())
}

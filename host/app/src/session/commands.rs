//! The commands of a session that are not built into a frontend: `/NAME` for each skill.
//!
//! A frontend asks after its own commands, so those win. Deliberately not here: parsing a line of a conversation.

use std::sync::Arc;

use host_text::{exact, excerpt};
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::app::App;
use crate::attach::{Attached, Author};
use crate::error::Failure;
use crate::skills::Skill;

/// How much of a description a list of commands shows, in characters.
const SHOWN_DESCRIPTION: usize = 100;

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
        self.skills.all().map(of_skill).collect()
    }

    /// Returns whether a line is one of these commands.
    pub fn is_command(&self, line: &str) -> bool {
        name(line).is_some_and(|name| self.skills.find(name).is_some())
    }

    /// Returns a notice for each command that has the name of a built-in one, which wins. `built_in` is without slashes.
    pub fn hidden_commands(&self, built_in: &[&str]) -> Vec<String> {
        let hidden = self.commands().into_iter().filter(|command| built_in.contains(&command.name.as_str()));
        hidden
            .map(|command| {
                let name = exact(&command.name).into_owned();
                format!("`/{name}` is the built-in command, not the {} `{name}`", command.source)
            })
            .collect()
    }
}

impl Session {
    /// Returns the prompt of a command, with what is written behind its name; `None` if the line is no command. What a skill
    /// changes begins here, so that the prompt has to be the next one. `author` wrote the line.
    ///
    /// # Errors
    ///
    /// If the skill cannot be used, or something that the line attaches may not be read.
    pub async fn command_prompt(
        &self,
        line: &str,
        author: Author,
        cancel: &CancellationToken,
    ) -> Result<Option<Attached>, Failure> {
        match name(line).and_then(|name| self.app.skills.find(name)).filter(|_| self.request.agent.is_none()) {
            Some(skill) => self.skill_prompt(skill, line.trim(), author, cancel).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The name of the command that a line begins with.
fn name(line: &str) -> Option<&str> {
    line.trim().strip_prefix('/')?.split(char::is_whitespace).next().filter(|name| !name.is_empty())
}

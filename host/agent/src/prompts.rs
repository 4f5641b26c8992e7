//! The instructions for a model: which texts of `host/agent/prompts` it gets.
//!
//! Owns the families of models that need different words, the situation of a session as far as the instructions depend
//! on it, and the choice of texts. Promises: the same situation gives the same text, byte for byte, and nothing that
//! changes during a conversation is part of a situation: neither the date nor the approval mode.
//!
//! Deliberately not here: what the session may touch, where it works and what is there (`environment`), and the prompts
//! of agents that users declare.

mod environment;
mod family;
mod text;

use std::collections::BTreeSet;

use host_message::ToolName;

pub use self::environment::{ENVIRONMENT, Environment, GitState};
pub use self::family::PromptFamily;
use self::text::PromptText;

/// The sections, in the order in which a model gets them.
const SECTIONS: &[Section] = &[
    Section { name: "role", text: include_str!("../prompts/role.md"), readers: Readers::Main },
    Section { name: "work", text: include_str!("../prompts/work.md"), readers: Readers::Main },
    Section { name: "editing", text: include_str!("../prompts/editing.md"), readers: Readers::Main },
    Section { name: "verification", text: include_str!("../prompts/verification.md"), readers: Readers::Main },
    Section { name: "git", text: include_str!("../prompts/git.md"), readers: Readers::Main },
    Section { name: "tools", text: include_str!("../prompts/tools.md"), readers: Readers::All },
    Section { name: "asking", text: include_str!("../prompts/asking.md"), readers: Readers::All },
    Section { name: "safety", text: include_str!("../prompts/safety.md"), readers: Readers::All },
    Section { name: "answer", text: include_str!("../prompts/answer.md"), readers: Readers::Main },
    Section { name: "example", text: include_str!("../prompts/example.md"), readers: Readers::Main },
];

/// What the instructions of an agent depend on. It is the same as long as a conversation has the same model.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The model's family.
    pub family: PromptFamily,
    /// The tools that the model is offered.
    pub tools: &'a BTreeSet<ToolName>,
    /// Whether a user is there to be asked.
    pub is_attended: bool,
    /// Whether the workspace is in a git repository.
    pub has_git: bool,
    /// Whether the agent gets the context files.
    pub has_context: bool,
    /// Whether the agent ends by calling `complete_task`.
    pub completes: bool,
}

/// A part of the instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSection {
    /// Its name.
    pub name: &'static str,
    /// Its text, without a line break at its end.
    pub text: String,
}

/// A section with all of its variants.
struct Section {
    name: &'static str,
    text: &'static str,
    readers: Readers,
}

/// The agents that get a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    /// The main agent.
    Main,
    /// The main agent and agents with a prompt of their own.
    All,
}

/// Returns the instructions of the main agent, without the sections that have nothing to say here.
pub fn instructions(situation: &Situation<'_>) -> Vec<PromptSection> {
    chosen(situation, |_| true)
}

/// Returns what an agent with a prompt of its own needs besides it, to be put behind that prompt.
pub fn instructions_of_others(situation: &Situation<'_>) -> String {
    joined(&chosen(situation, |section| section.readers == Readers::All))
}

/// Returns the sections as one text.
pub fn joined(sections: &[PromptSection]) -> String {
    sections.iter().map(|section| section.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

fn chosen(situation: &Situation<'_>, is_wanted: impl Fn(&Section) -> bool) -> Vec<PromptSection> {
    let wanted = SECTIONS.iter().filter(|section| is_wanted(section));
    wanted
        .filter_map(|Section { name, text, .. }| {
            let text = PromptText::parse(text).choose(|word| situation.is(word))?;
            Some(PromptSection { name, text })
        })
        .collect()
}

impl Situation<'_> {
    /// Returns whether a word of a condition holds: a family, a fact about the session, or else the name of a tool.
    fn is(&self, word: &str) -> bool {
        match word {
            "attended" => self.is_attended,
            "git" => self.has_git,
            "context" => self.has_context,
            "complete_task" => self.completes,
            // Models that follow a short text less reliably.
            "long" => !matches!(self.family, PromptFamily::Gpt | PromptFamily::Claude),
            word => match PromptFamily::ALL.iter().find(|family| family.name() == word) {
                Some(family) => *family == self.family,
                None => self.tools.contains(&ToolName::new(word)),
            },
        }
    }
}

#[cfg(test)]
mod tests;

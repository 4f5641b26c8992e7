//! The policy: whether a call is allowed, asked about, or denied.
//!
//! Owns [`Rule`] and the files that contain rules, the order of rules ([`Tier`], then priority, then the strictest),
//! the analysis of shell lines into the commands that they would run, and [`Verdict`], which reports which rule decided
//! what.
//!
//! It promises that a line that runs a denied command is never allowed, as far as the text shows it: a line that cannot
//! be read completely is asked about. It ends for any text, and never panics. A decision about a command is about the
//! call as it will run: it looks at the files that the command names, from the folder in which it will run, at the
//! program that a name starts, and at the repository around it, and reads no other file.
//!
//! Deliberately not here: what a plugin may touch at all (its grants hold, whatever a rule says), asking a user, and
//! where files with rules are.

mod built_in;
mod decide;
mod effects;
mod environment;
mod file;
mod glob;
mod place;
mod prefix;
mod protected;
mod reading;
mod remotes;
mod rule;
mod started;
mod suggest;
mod verdict;
mod write;

use std::path::{Path, PathBuf};

use host_capability::Grants;
use host_message::ToolName;
use host_plugin::ProgramWalls;
use serde_json::{Map, Value};

use self::protected::OwnPlaces;

use crate::ApprovalMode;

pub use effects::{Effect, effects};
pub use environment::ProgramEnvironment;
pub use file::{PolicyError, PolicyFile, PolicyProblem};
pub(crate) use place::resolve as real_path;
pub use prefix::CommandPrefix;
pub(crate) use rule::Who;
pub use rule::{ArgumentsPattern, Decision, Rule, RuleSource, Tier};
pub use suggest::{SimpleCommand, Suggestion, commands_in, simple_commands, suggestion};
pub use verdict::{Because, Reason, Verdict};

/// All rules, including the built-in ones.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Of two rules about the same call, the winner comes first.
    rules: Vec<Rule>,
    /// Folders that no command may change.
    own: OwnPlaces,
    /// Whether a command that only reads the workspace needs no question.
    lets_read: bool,
    /// Whether files are hidden from programs, but not what git keeps of them.
    hides_files: bool,
    /// The walls without which every command is asked about.
    walls: Option<ProgramWalls>,
    /// What programs get.
    environment: ProgramEnvironment,
}

/// The facts about a call on which a decision is based.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The plugin that the tool is in; `None` for the agent's own tools.
    pub plugin: Option<&'a str>,
    /// The digest of that plugin's component.
    pub digest: Option<&'a str>,
    /// The arguments, which match the tool's schema.
    pub arguments: &'a Map<String, Value>,
    /// The command that the call would spawn, if it spawns one.
    pub argv: Option<&'a [String]>,
    /// The folder in which it would run: absolute and without links. `None` if it cannot be found, or without a
    /// command.
    pub directory: Option<&'a Path>,
    /// What the call would touch.
    pub touches: &'a Grants,
    /// What is granted without asking.
    pub granted: &'a Grants,
    /// The agent that makes the call.
    pub agent: &'a str,
    /// The mode of the run.
    pub mode: ApprovalMode,
    /// The absolute path of the workspace.
    pub workspace: &'a Path,
}

impl Policy {
    /// Creates a policy of these rules and the built-in ones.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut rules: Vec<Rule> = rules.into_iter().chain(Self::built_in()).collect();
        rules.sort_by_key(Rule::order);
        let environment = ProgramEnvironment::default();
        Self { rules, own: OwnPlaces::default(), lets_read: false, hides_files: false, walls: None, environment }
    }

    /// Adds folders of the host's own and files that other agents obey, absolute, in which no command may change
    /// anything, and the home that they are in.
    #[must_use]
    pub fn protecting(self, own: impl IntoIterator<Item = PathBuf>, home: Option<PathBuf>) -> Self {
        Self { own: OwnPlaces { paths: own.into_iter().collect(), home }, ..self }
    }

    /// Sets whether a command that only reads files of the workspace, as its words and a look at the files show, needs
    /// no question. Right only where every file of the workspace may be read.
    #[must_use]
    pub fn letting_read(self, lets_read: bool) -> Self {
        Self { lets_read, ..self }
    }

    /// Sets whether files are hidden from programs, so that git is asked about where it shows what it keeps of them.
    #[must_use]
    pub fn hiding_files(self, hides: bool) -> Self {
        Self { hides_files: hides, ..self }
    }

    /// Sets the walls around programs: where one of them is missing, no command runs unasked only because it reads or
    /// does no harm. Without this call they are taken to stand.
    #[must_use]
    pub fn behind(self, walls: ProgramWalls) -> Self {
        Self { walls: Some(walls), ..self }
    }

    /// Sets what programs get of the variables that decide which programs run and what they read.
    #[must_use]
    pub fn in_environment(self, environment: ProgramEnvironment) -> Self {
        Self { environment, ..self }
    }

    /// Adds a rule, such as one that a user's answer just made.
    pub fn add(&mut self, rule: Rule) {
        let at = self.rules.partition_point(|known| known.rank() >= rule.rank());
        self.rules.insert(at, rule);
    }

    /// Removes the first rule that is equal to this one; returns whether there was one.
    pub fn remove(&mut self, rule: &Rule) -> bool {
        let at = self.rules.iter().position(|known| known == rule);
        at.map(|at| self.rules.remove(at)).is_some()
    }

    /// Returns the rules, in the order in which they win.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a rule that allows the call names what it may touch.
    pub(crate) fn names_scope(&self, query: &Query<'_>) -> bool {
        let arguments = decide::canonical(query.arguments);
        let names = |rule: &Rule| rule.decision == Decision::Allow && rule.scope.is_some();
        self.rules.iter().any(|rule| names(rule) && rule.holds(query, &arguments))
    }

    /// Returns the rule that denies every call of the tool, so that the tool need not be offered to a model.
    pub(crate) fn never(&self, who: &Who<'_>) -> Option<&Rule> {
        // A rule above it that allows some calls, or asks, leaves the tool usable.
        let mut about = self.rules.iter().filter(|rule| rule.is_about(who));
        about
            .find(|rule| rule.decision != Decision::Deny || rule.is_unconditional())
            .filter(|rule| rule.decision == Decision::Deny)
    }
}

#[cfg(test)]
mod tests;

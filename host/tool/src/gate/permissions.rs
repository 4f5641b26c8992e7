//! What the user allowed by answers, in words, and how it is taken back: lasting answers, answers for the session, and
//! files outside of the workspace that may be read or changed until the session ends.
//!
//! Deliberately not here: rules that a user wrote into a file, and grants given with a flag. Neither was an answer.

use std::path::{Path, PathBuf};

use host_text::exact;

use super::Gate;
use super::lasting::{covered, named};
use crate::{Decision, Policy, Rule, RuleSource, RulesFile, RulesFileError, Suggestion, Tier, Until, suggestion};

/// Something that the user allowed by an answer, and can take back.
#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    /// What it allows, on one line that is safe for a terminal.
    pub words: String,
    /// How long it holds.
    pub until: Until,
    /// The folder that it holds in; `None` is every folder.
    pub workspace: Option<PathBuf>,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Rule(Box<Rule>),
    /// Reading this file or folder.
    Reading(PathBuf),
    /// Reading and changing this file or folder.
    Changing(PathBuf),
}

impl Permission {
    fn of_rule(rule: &Rule, until: Until) -> Self {
        let (workspace, what) = (rule.workspace.clone(), What::Rule(Box::new(rule.clone())));
        Self { words: words(rule), until, workspace, what }
    }

    /// Removes the stored rule of a lasting answer from this file; returns whether it was there.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub fn remove_from(&self, file: &RulesFile) -> Result<bool, RulesFileError> {
        match &self.what {
            What::Rule(rule) => file.remove(rule),
            What::Reading(_) | What::Changing(_) => Ok(false),
        }
    }
}

/// Returns the lasting answers among these rules: those of this file, in its order.
pub fn permissions_in(policy: &Policy, answers: &Path) -> Vec<Permission> {
    let is_answer = |rule: &&Rule| rule.source.file.as_deref() == Some(answers) && rule.decision == Decision::Allow;
    let mut rules: Vec<&Rule> = policy.rules().iter().filter(is_answer).collect();
    // One that was just added is at the end of the file.
    rules.sort_by_key(|rule| if rule.source.line == 0 { usize::MAX } else { rule.source.line });
    rules.into_iter().map(|rule| Permission::of_rule(rule, Until::TakenBack)).collect()
}

impl Gate {
    /// Returns what answers allow here: the lasting ones about this folder, then those for the session.
    pub fn permissions(&self) -> Vec<Permission> {
        let policy = self.policy();
        let mut all = self.shared.kept.as_ref().map_or_else(Vec::new, |kept| permissions_in(&policy, kept.path()));
        all.retain(|one| one.workspace.as_ref().is_none_or(|workspace| *workspace == self.shared.workspace));
        let of_session = policy.rules().iter().filter(|rule| is_of_session(rule));
        all.extend(of_session.map(|rule| Permission::of_rule(rule, Until::SessionEnds)));
        let access = self.shared.access.now();
        let changed = access.writes.allowed();
        let of_files = |does: &str, path: &Path, what: fn(PathBuf) -> What| Permission {
            words: format!("{does} `{}`", exact(&path.display().to_string())),
            until: Until::SessionEnds,
            workspace: None,
            what: what(path.to_owned()),
        };
        let read = access.reads.allowed().into_iter().filter(|path| !changed.contains(path));
        all.extend(read.map(|path| of_files("reading", &path, What::Reading)));
        all.extend(changed.iter().map(|path| of_files("reading and changing", path, What::Changing)));
        all
    }

    /// Takes back what an answer allowed, from now on; returns whether it was still allowed.
    ///
    /// # Errors
    ///
    /// If the file of lasting answers cannot be changed. It then stays allowed.
    pub fn forget(&self, permission: &Permission) -> Result<bool, RulesFileError> {
        let rule = match &permission.what {
            What::Reading(path) => return Ok(self.shared.access.now().reads.take_back(path)),
            What::Changing(path) => {
                let access = self.shared.access.now();
                access.reads.take_back(path);
                return Ok(access.writes.take_back(path));
            }
            What::Rule(rule) => rule,
        };
        if let (Some(kept), Until::TakenBack) = (&self.shared.kept, permission.until) {
            kept.remove(rule)?;
        }
        Ok(self.change_policy(|policy| policy.remove(rule)))
    }

    /// Takes over the rules of another gate, without its answers for the session: that of the conversation before.
    pub fn inherit(&self, before: &Self) {
        let policy = before.policy();
        self.change_policy(|own| {
            *own = Policy::clone(&policy);
            for rule in policy.rules().iter().filter(|rule| is_of_session(rule)) {
                own.remove(rule);
            }
        });
    }
}

/// Whether only an answer of this process made the rule.
fn is_of_session(rule: &Rule) -> bool {
    rule.source == RuleSource::from_tier(Tier::User)
}

/// Describes what a rule that allows covers, on one line.
fn words(rule: &Rule) -> String {
    let whose = match (rule.tool.as_slice(), &rule.plugin) {
        ([], Some(plugin)) => format!("all tools of the plugin `{plugin}`"),
        ([], None) => "every tool".to_owned(),
        (tools, _) => tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", "),
    };
    let commands = rule.command.iter().map(|prefix| match suggestion(&prefix.words) {
        // A rule for one exact command must not read like one for all that begin with it.
        Some(exactly @ Suggestion::Exactly(_)) if !prefix.then_any => exactly,
        Some(_) | None => Suggestion::Prefix(prefix.words.clone()),
    });
    let mut commands: Vec<Suggestion> = commands.collect();
    commands.sort();
    let what = match (commands.as_slice(), &rule.scope) {
        _ if !rule.net.is_empty() => {
            // Over ssh 443 is not a usual port.
            let usual = |server: &'_ str| if server.starts_with("ssh://") { "" } else { ":443" };
            let servers: Vec<&str> =
                rule.net.iter().map(|server| server.strip_suffix(usual(server)).unwrap_or(server)).collect();
            let programs: Vec<String> = rule.command.iter().map(|prefix| format!("`{prefix}`")).collect();
            format!("{} reaches {}", programs.join(", "), servers.join(", "))
        }
        ([], Some(scope)) => named(scope),
        ([], None) => "everything".to_owned(),
        (commands, _) => covered(commands),
    };
    // Rules are files, which anyone may have written: nothing in one may steer a terminal.
    exact(&format!("{whose}: {what}")).into_owned()
}

//! Answers that hold for later calls too: what they would allow, in words and as a rule.
//!
//! Each rule is bound to the workspace, to the plugin and to the digest of its component, and to what the yes covered:
//! another command, another file, another server, another version of the plugin is asked about again.

use std::sync::PoisonError;

use host_capability::{Capability, Grants, Paths, Scope};
use host_plugin::{Confirmation, command_line};

use super::{Considered, Gate};
use crate::{
    Always, Decision, Intent, Lasting, Origin, Question, Rule, RuleSource, SimpleCommand, Tier, suggested_prefix,
};

impl Gate {
    /// What can be answered besides yes and no.
    pub(super) fn offers(
        &self,
        considered: &Considered,
        confirmation: &Confirmation,
        commands: &[SimpleCommand],
    ) -> Vec<Always> {
        let Considered { call, intent, .. } = considered;
        // Without a plugin, or with a call of which nothing is lacking, it was a rule that asked: that rule stays.
        let Some(origin) = intent.origin.as_ref().filter(|_| !intent.touches.le(&intent.granted)) else {
            return Vec::new();
        };
        let offer = |answer: Lasting, words: String| Always { answer, words };
        let plugin = origin.plugin.as_str();
        match confirmation {
            Confirmation::Exec { .. } => match prefixes(commands) {
                Some(prefixes) => {
                    let shown: Vec<String> =
                        prefixes.iter().map(|words| format!("`{}`", command_line(words))).collect();
                    vec![offer(Lasting::Always, format!("commands that begin with {}", shown.join(", ")))]
                }
                None => Vec::new(),
            },
            Confirmation::Edit { path, .. } => vec![
                offer(Lasting::Always, format!("changes of `{path}`")),
                offer(Lasting::AlwaysTool, format!("changes of any file by `{}`", call.name)),
            ],
            Confirmation::Info { requests, writes, .. } if !requests.is_empty() || !writes.is_empty() => vec![
                offer(Lasting::Always, named(&intent.touches)),
                offer(Lasting::AlwaysTool, format!("every call of `{}`: {}", call.name, named(&self.within(intent)))),
            ],
            Confirmation::Info { .. } | Confirmation::Call => vec![
                offer(Lasting::AlwaysTool, format!("every call of `{}`: {}", call.name, named(&self.within(intent)))),
                offer(
                    Lasting::AlwaysPlugin,
                    format!("every call of every tool of the plugin `{plugin}`: {}", named(&self.within(intent))),
                ),
            ],
        }
    }

    /// The rule that an answer makes; none when it was not offered.
    pub(super) fn rule_of(&self, lasting: Lasting, considered: &Considered, question: &Question) -> Option<Rule> {
        question.always.iter().find(|always| always.answer == lasting)?;
        let Considered { call, intent, .. } = considered;
        let Origin { plugin, digest } = intent.origin.clone()?;
        let tool = || vec![call.name.to_string()];
        let bound = Rule {
            plugin: Some(plugin.as_str().to_owned()),
            digest: Some(digest),
            workspace: Some(self.shared.workspace.clone()),
            ..Rule::new(Decision::Allow, RuleSource::of(Tier::User))
        };
        Some(match (lasting, &question.confirmation) {
            (Lasting::Always, Confirmation::Exec { .. }) => {
                Rule { tool: tool(), command: prefixes(&question.commands)?, ..bound }
            }
            (Lasting::Always, _) => Rule { tool: tool(), scope: Some(intent.touches.clone()), ..bound },
            (Lasting::AlwaysTool, _) => Rule { tool: tool(), scope: Some(self.within(intent)), ..bound },
            (Lasting::AlwaysPlugin, _) => Rule { scope: Some(self.within(intent)), ..bound },
        })
    }
}

impl Gate {
    /// Says that what was allowed for good was allowed to another component, and what this one wants besides.
    pub(super) fn another_version(&self, considered: &Considered) -> Option<String> {
        let Considered { call, intent, .. } = considered;
        let Origin { plugin, digest } = intent.origin.as_ref()?;
        let policy = self.shared.policy.read().unwrap_or_else(PoisonError::into_inner);
        let mut earlier = policy.rules().iter().filter(|rule| {
            let is_of_tool = rule.tool.is_empty() || rule.tool.iter().any(|name| name == call.name.as_str());
            rule.decision == Decision::Allow
                && rule.plugin.as_deref() == Some(plugin.as_str())
                && rule.digest.as_ref().is_some_and(|before| before != digest)
                && rule.workspace.as_ref().is_none_or(|workspace| *workspace == self.shared.workspace)
                && is_of_tool
        });
        let rule = earlier.next()?;
        let mut words = format!("the plugin `{plugin}` is another one than when you allowed this at {}", rule.source);
        if let Some(before) = &rule.scope {
            let covered = |scope: &&Scope| before.scope(scope.capability()).is_some_and(|held| scope.le(held));
            let besides: Grants = intent.touches.iter().filter(|scope| !covered(scope)).cloned().collect();
            if besides != Grants::none() {
                words.push_str(&format!("; this call wants besides: {}", named(&besides)));
            }
        }
        Some(words)
    }

    /// All that the tool could be allowed of what this call touches, in this workspace where it is about files. Who
    /// says yes to changes of files says nothing of commands, though the tool may ask for both.
    fn within(&self, intent: &Intent) -> Grants {
        let workspace = Scope::of_path(Capability::FsWrite, &self.shared.workspace).ok();
        let within = |scope: &Scope| match scope.capability() {
            Capability::FsRead => None,
            Capability::FsWrite => scope.meet(workspace.as_ref()?),
            Capability::Process | Capability::Http | Capability::State => Some(scope.clone()),
        };
        let touched = |scope: &&Scope| intent.touches.has(scope.capability());
        intent.at_most.iter().filter(touched).filter_map(within).collect()
    }
}

/// What each of the commands is to begin with; none when one of them is better asked about each time.
fn prefixes(commands: &[SimpleCommand]) -> Option<Vec<Vec<String>>> {
    let prefix = |command: &SimpleCommand| {
        let words = command.words.iter().cloned().collect::<Option<Vec<_>>>().filter(|_| command.doubts.is_empty())?;
        suggested_prefix(&words)
    };
    let mut prefixes = commands.iter().map(prefix).collect::<Option<Vec<_>>>()?;
    prefixes.sort();
    prefixes.dedup();
    (!prefixes.is_empty()).then_some(prefixes)
}

/// Grants in a few words for a person. What is left out of files only narrows them, and is not told.
fn named(grants: &Grants) -> String {
    let words = |scope: &Scope| match scope {
        Scope::Http(servers) => format!("requests to {servers}"),
        Scope::FsWrite(files) => format!("changes of {}", roots(files)),
        Scope::Process(commands) => format!("the command {commands}"),
        Scope::State(_) => "its own notes".to_owned(),
        Scope::FsRead(files) => format!("reading {}", roots(files)),
    };
    grants.iter().map(words).collect::<Vec<_>>().join(", ")
}

fn roots(files: &Paths) -> String {
    files.roots().map(|root| root.path().display().to_string()).collect::<Vec<_>>().join(", ")
}

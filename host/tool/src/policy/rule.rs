//! One rule: its criteria for a call, and its decision.

use std::cmp::Reverse;
use std::fmt;
use std::path::{Path, PathBuf};

use host_capability::{Capability, Grants, Resources, Scope};
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::Query;
use super::prefix::CommandPrefix;
use crate::ApprovalMode;
use crate::file_tools::{APPLY_PATCH, IN_PLACE_OF_PATCHES};

/// The largest program that a pattern may compile to, in bytes. Protects memory from a hostile project's file.
const PATTERN_BYTES: usize = 1 << 20;

/// A decision about a call; ordered, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call runs.
    Allow,
    /// The user is asked; if that is not possible, the call is denied.
    Ask,
    /// The call is denied.
    Deny,
}

impl Decision {
    /// Returns its name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The author of a rule; ordered, the highest authority last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// The host itself.
    BuiltIn,
    /// A plugin's bundle.
    Bundle,
    /// The project's file.
    Project,
    /// The user's file, and the user's lasting answers.
    User,
    /// The machine's administrator.
    Administrator,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::BuiltIn => "built-in",
            Self::Bundle => "bundle",
            Self::Project => "project",
            Self::User => "user",
            Self::Administrator => "administrator",
        })
    }
}

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleSource {
    /// Its author.
    pub tier: Tier,
    /// Its file; `None` for a rule that is built in, or that only an answer made.
    pub file: Option<PathBuf>,
    /// The line in the file on which it begins, from 1; 0 without a file, and if an answer just made it.
    pub line: usize,
}

impl RuleSource {
    /// Creates a source without a file.
    pub fn from_tier(tier: Tier) -> Self {
        Self { tier, file: None, line: 0 }
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            // One that an answer just made.
            Some(file) if self.line == 0 => write!(f, "{} ({})", file.display(), self.tier),
            Some(file) => write!(f, "{}:{} ({})", file.display(), self.line, self.tier),
            None if self.line > 0 => write!(f, "line {} ({})", self.line, self.tier),
            None => write!(f, "{}", self.tier),
        }
    }
}

/// A pattern for a call's arguments, which are written for it as JSON without blanks and with sorted keys.
#[derive(Clone, Debug)]
pub struct ArgumentsPattern(Regex);

impl ArgumentsPattern {
    /// Compiles a pattern; the regex runs in linear time.
    ///
    /// # Errors
    ///
    /// With the engine's message if it is not a regex, or too large.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
        built.map(Self).map_err(|error| error.to_string())
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it matches somewhere in this text.
    pub fn matches(&self, arguments: &str) -> bool {
        self.0.is_match(arguments)
    }
}

impl PartialEq for ArgumentsPattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// A rule. Every given criterion has to hold; an empty list or `None` is not a criterion.
///
/// To make one: `Rule { tool: vec!["shell".into()], ..Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User)) }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Names of tools, one of which has to match; a `*` at the end of a name matches any rest.
    pub tool: Vec<String>,
    /// The plugin's name.
    pub plugin: Option<String>,
    /// Digests, one of which has to be that of the plugin's component, or of the definition of an MCP server's tool.
    pub digest: Vec<String>,
    /// What the call touches has to be within these grants.
    pub scope: Option<Grants>,
    /// The absolute path of the workspace.
    pub workspace: Option<PathBuf>,
    /// A pattern that the arguments have to match.
    pub arguments: Option<ArgumentsPattern>,
    /// Prefixes of commands, with one of which the command has to begin. Each has at least one word.
    pub command: Vec<CommandPrefix>,
    /// Capabilities, one of which the call has to touch.
    pub capability: Vec<Capability>,
    /// Names of agents.
    pub agent: Vec<String>,
    /// Approval modes.
    pub mode: Vec<ApprovalMode>,
    /// Servers that a confined command which the rule names may reach, each as a grant names it. A rule with servers is
    /// about nothing else: whether the command runs, others decide.
    pub net: Vec<String>,
    /// Whether a command that the rule allows runs without walls.
    pub leaves_walls: bool,
    /// Its decision.
    pub decision: Decision,
    /// Its rank among the rules of its tier, 0 to 999.
    pub priority: u16,
    /// The message for the model if it denies.
    pub message: Option<String>,
    /// Where it comes from.
    pub source: RuleSource,
}

/// The priority of a rule that sets none.
pub(super) const USUAL_PRIORITY: u16 = 500;

/// The highest priority.
pub(super) const MAX_PRIORITY: u16 = 999;

impl Rule {
    /// Creates a rule for every call, with the default priority.
    pub fn new(decision: Decision, source: RuleSource) -> Self {
        Self {
            tool: Vec::new(),
            plugin: None,
            digest: Vec::new(),
            scope: None,
            workspace: None,
            arguments: None,
            command: Vec::new(),
            capability: Vec::new(),
            agent: Vec::new(),
            mode: Vec::new(),
            net: Vec::new(),
            leaves_walls: false,
            decision,
            priority: USUAL_PRIORITY,
            message: None,
            source,
        }
    }

    /// Returns what decides between two rules; the greater one wins.
    pub(super) fn rank(&self) -> (Tier, u16, Decision) {
        (self.source.tier, self.priority, self.decision)
    }

    /// Returns the order for sorting: the winner first.
    pub(super) fn order(&self) -> impl Ord + use<> {
        Reverse(self.rank())
    }

    /// Whether the rule applies to this caller, tool, place and mode.
    pub(super) fn is_about(&self, who: &Who<'_>) -> bool {
        let any = |names: &[String], name: &str| names.is_empty() || names.iter().any(|known| known == name);
        self.is_of(who.tool)
            && self.plugin.as_deref().is_none_or(|plugin| who.plugin == Some(plugin))
            && (self.digest.is_empty() || self.digest.iter().any(|digest| who.digest == Some(digest)))
            && self.workspace.as_deref().is_none_or(|workspace| who.workspace == workspace)
            && any(&self.agent, who.agent)
            && (self.mode.is_empty() || self.mode.contains(&who.mode))
    }

    /// Whether its `tool` matches the tool.
    pub(super) fn is_of(&self, tool: &str) -> bool {
        let is_named = |tool: &str| self.tool.iter().any(|pattern| names(pattern, tool));
        // A patch changes files in place of these two: who denies or asks about either means what it does.
        let is_patched = tool == APPLY_PATCH && self.decision != Decision::Allow;
        self.tool.is_empty() || is_named(tool) || (is_patched && IN_PLACE_OF_PATCHES.into_iter().any(is_named))
    }

    /// Whether all criteria except `command` hold; `arguments` are the call's, as text.
    pub(super) fn holds(&self, query: &Query<'_>, arguments: &str) -> bool {
        self.net.is_empty()
            && self.is_about(&Who::new(query))
            && self.scope.as_ref().is_none_or(|scope| query.touches.le(scope))
            && (self.capability.is_empty() || self.capability.iter().any(|one| query.touches.has(*one)))
            && self.arguments.as_ref().is_none_or(|pattern| pattern.matches(arguments))
    }

    /// Returns the servers of the call that the rule does not cover though it allows the call: who allows a tool does
    /// not think of this machine and its network, so a rule reaches private addresses only where its `scope` names
    /// them.
    pub(super) fn beyond(&self, query: &Query<'_>) -> Option<String> {
        if self.decision != Decision::Allow || self.scope.is_some() {
            return None;
        }
        let Some(scope @ Scope::Http(servers)) = query.touches.scope(Capability::Http) else { return None };
        let is_granted = query.granted.scope(Capability::Http).is_some_and(|granted| scope.le(granted));
        (servers.has_private() && !is_granted).then(|| servers.to_string())
    }

    /// Whether it lets a command, or one that it runs, reach this server, which is named as a grant names it.
    pub(crate) fn opens(&self, who: &Who<'_>, commands: &[Vec<String>], server: &str) -> bool {
        let begins = |prefix: &CommandPrefix| {
            commands.iter().any(|command| {
                let program = command.first().and_then(|program| program.rsplit('/').next());
                let same = prefix.words.first().map(String::as_str) == program;
                same && command.get(1..).is_some_and(|rest| rest.starts_with(prefix.words.get(1..).unwrap_or_default()))
            })
        };
        let covers = || {
            let scope = |servers: &[String]| {
                let resources = Resources { servers: servers.to_vec(), ..Resources::default() };
                Scope::for_command_using(&["x".to_owned()], &resources).ok().flatten()
            };
            let (wanted, held) = (scope(&[server.to_owned()]), scope(&self.net));
            wanted.zip(held).is_some_and(|(wanted, held)| wanted.le(&held))
        };
        self.decision == Decision::Allow
            && !self.net.is_empty()
            && self.is_about(who)
            && (self.command.is_empty() || self.command.iter().any(begins))
            && covers()
    }

    /// Whether it decides the same for every call to which it applies.
    pub(super) fn is_unconditional(&self) -> bool {
        self.net.is_empty()
            && self.scope.is_none()
            && self.arguments.is_none()
            && self.command.is_empty()
            && self.capability.is_empty()
    }

    /// Describes it briefly: `deny command = "git push"`.
    pub(super) fn shown(&self) -> String {
        let mut shown = self.decision.to_string();
        let mut add = |key: &str, values: Vec<String>| {
            if !values.is_empty() {
                shown.push_str(&format!(" {key} = {}", values.join(" | ")));
            }
        };
        let option = |text: Option<&str>| text.map(|text| format!("{text:?}")).into_iter().collect::<Vec<_>>();
        add("tool", self.tool.iter().map(|tool| format!("{tool:?}")).collect());
        add("plugin", option(self.plugin.as_deref()));
        add("digest", self.digest.iter().map(|digest| format!("{digest:?}")).collect());
        add("scope", self.scope.iter().map(|scope| format!("{:?}", scope.to_string())).collect());
        add("arguments", option(self.arguments.as_ref().map(ArgumentsPattern::as_str)));
        add("command", self.command.iter().map(|prefix| format!("{:?}", prefix.to_string())).collect());
        add("capability", self.capability.iter().map(ToString::to_string).collect());
        add("agent", self.agent.iter().map(|agent| format!("{agent:?}")).collect());
        add("mode", self.mode.iter().map(ToString::to_string).collect());
        add("net", self.net.iter().map(|server| format!("{server:?}")).collect());
        if self.leaves_walls {
            shown.push_str(" walls = false");
        }
        shown
    }
}

/// Whether the pattern matches the tool.
fn names(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => pattern == tool,
    }
}

/// The caller, the tool, the place and the mode of a call.
pub(crate) struct Who<'a> {
    pub(crate) tool: &'a str,
    pub(crate) plugin: Option<&'a str>,
    pub(crate) digest: Option<&'a str>,
    pub(crate) agent: &'a str,
    pub(crate) mode: ApprovalMode,
    pub(crate) workspace: &'a Path,
}

impl<'a> Who<'a> {
    pub(super) fn new(query: &Query<'a>) -> Self {
        Self {
            tool: query.tool.as_str(),
            plugin: query.plugin,
            digest: query.digest,
            agent: query.agent,
            mode: query.mode,
            workspace: query.workspace,
        }
    }
}

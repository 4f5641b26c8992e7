//! Answers that hold for later calls too: what they would allow, as a description and as a rule.
//!
//! Each rule is bound to the workspace, to the plugin and to the digest of its component, and to what the approval
//! covered: a different command, file, server or version of the plugin is asked about again. A lasting answer allows
//! requests only to servers on the public internet that it names: never to a private address, and never to every
//! server. A call that reaches further is asked about each time, and an older answer that allows more is ignored
//! ([`Rule::is_lasting`]).
//!
//! An answer for the session covers the same, for the agent that asked, and is never stored.
//!
//! Deliberately not here: rules that a user writes into a file, and grants given with a flag; both may reach further.

use host_capability::{Capability, Grants, Paths, Scope};
use host_plugin::{Confirmation, command_line, difference};

use super::{Considered, Gate};
use crate::{
    Always, Decision, Intent, Lasting, Origin, Question, Rule, RuleSource, SimpleCommand, Suggestion, Tier, Until,
    suggestion,
};

/// Why no lasting answer is offered for a call that sends requests.
pub(super) const EACH_TIME: &str = "you are asked each time about requests to private addresses and to unnamed servers";

impl Gate {
    /// Returns the possible answers besides yes and no.
    pub(super) fn offers(
        &self,
        considered: &Considered,
        confirmation: &Confirmation,
        commands: &[SimpleCommand],
    ) -> Vec<Always> {
        let Considered { intent, .. } = considered;
        // Without a plugin, or for a call that lacks no grant, a rule asked: that rule stays.
        let Some(origin) = intent.origin.as_ref().filter(|_| !intent.touches.le(&intent.granted)) else {
            return Vec::new();
        };
        if !intent.changes_outside.is_empty() {
            return considered.offer_outside().into_iter().collect();
        }
        let [narrow, wide] = self.narrow_and_wide(considered, origin, confirmation, commands);
        // For as long as the user looks on, all edits of the tool; of anything else no more than what is asked about.
        let is_edit = matches!(confirmation, Confirmation::Edit { .. } | Confirmation::Edits { .. });
        // Else the narrowest, which is what the user has just read.
        let for_now = if is_edit { wide.as_ref().or(narrow.as_ref()) } else { narrow.as_ref().or(wide.as_ref()) };
        let for_now = for_now.map(|offer| Always { until: Until::SessionEnds, ..offer.clone() });
        [for_now, narrow, wide].into_iter().flatten().collect()
    }

    /// Returns the two answers that are offered until they are taken back, the narrow and the wide one.
    fn narrow_and_wide(
        &self,
        considered: &Considered,
        origin: &Origin,
        confirmation: &Confirmation,
        commands: &[SimpleCommand],
    ) -> [Option<Always>; 2] {
        let Considered { call, intent, .. } = considered;
        let plugin = origin.plugin.as_str();
        // Private addresses, and servers that are not named, are asked about each time.
        let exact = Some(&intent.touches).filter(|touches| is_lasting(touches));
        let within = self.within(intent);
        let offer = |answer: Lasting, words: String| Always { answer, until: Until::TakenBack, words };
        let of_tool = |grants: &Grants| format!("`{}` with {}", call.name, named(grants));
        let of_plugin = |grants: &Grants| format!("all tools of the plugin `{plugin}` with {}", named(grants));
        let uses_more = matches!(intent.touches.scope(Capability::Process), Some(Scope::Process(programs)) if !programs.resources().is_empty());
        match confirmation {
            // A rule names commands, and neither servers nor files.
            Confirmation::Exec { .. } if uses_more => [None, None],
            Confirmation::Exec { .. } => {
                let covered = suggestions(commands).map(|suggestions| covered(&suggestions));
                [covered.map(|words| offer(Lasting::Always, words)), None]
            }
            Confirmation::Edit { path, .. } => [
                exact.map(|_| offer(Lasting::Always, format!("edits of `{path}`"))),
                within.map(|_| offer(Lasting::AlwaysTool, format!("all edits by `{}`", call.name))),
            ],
            Confirmation::Edits { .. } => [
                exact.map(|touches| offer(Lasting::Always, named(touches))),
                within.map(|_| offer(Lasting::AlwaysTool, format!("all edits by `{}`", call.name))),
            ],
            Confirmation::Info { requests, writes, .. } if !requests.is_empty() || !writes.is_empty() => [
                exact.map(|touches| offer(Lasting::Always, named(touches))),
                within
                    .filter(|within| *within != intent.touches)
                    .map(|within| offer(Lasting::AlwaysTool, of_tool(&within))),
            ],
            Confirmation::Mcp { server, .. } => {
                let of_server = of_whole_server(intent);
                [
                    // Of a server the tool and not the plugin, since one plugin makes the calls of all servers.
                    exact.map(|_| offer(Lasting::AlwaysTool, format!("`{}`", call.name))),
                    of_server.map(|_| offer(Lasting::AlwaysPlugin, format!("every tool of the MCP server `{server}`"))),
                ]
            }
            Confirmation::Info { .. } | Confirmation::Call => [
                // Without a preview nothing narrower than the whole ceiling can be named.
                within.as_ref().map(|within| offer(Lasting::AlwaysTool, of_tool(within))),
                within.as_ref().map(|within| offer(Lasting::AlwaysPlugin, of_plugin(within))),
            ],
        }
    }

    /// Returns the rule that an answer makes; `None` if the answer was not offered.
    pub(super) fn rule_of(
        &self,
        lasting: Lasting,
        until: Until,
        considered: &Considered,
        question: &Question,
    ) -> Option<Rule> {
        // Only what was offered becomes a rule: an answer from outside names nothing by itself.
        question.always.iter().find(|always| (always.answer, always.until) == (lasting, until))?;
        let Considered { call, intent, .. } = considered;
        let Origin { plugin, digest } = intent.origin.clone()?;
        let tool = || vec![call.name.to_string()];
        let bound = Rule {
            // Another component under the same name is asked about again.
            plugin: Some(plugin.as_str().to_owned()),
            digest: vec![digest],
            workspace: Some(self.shared.workspace.clone()),
            // A lasting answer is the user's to every agent; one for the session was given to the one that asked.
            agent: match until {
                Until::SessionEnds => vec![self.agent.clone()],
                Until::TakenBack => Vec::new(),
            },
            ..Rule::new(Decision::Allow, RuleSource::from_tier(Tier::User))
        };
        Some(match (lasting, &question.confirmation) {
            (Lasting::Always, Confirmation::Exec { .. }) => {
                let words = suggestions(&question.commands)?;
                let command = words.iter().map(|suggestion| suggestion.words().to_vec().into()).collect();
                Rule { tool: tool(), command, ..bound }
            }
            (Lasting::AlwaysTool, Confirmation::Mcp { .. }) => {
                Rule { tool: tool(), scope: Some(intent.touches.clone()), ..bound }
            }
            (Lasting::AlwaysPlugin, Confirmation::Mcp { .. }) => {
                let digest =
                    intent.mcp.as_ref()?.of_server.iter().map(|definition| definition.digest.clone()).collect();
                Rule { scope: of_whole_server(intent), digest, ..bound }
            }
            (Lasting::Always, _) => Rule { tool: tool(), scope: Some(intent.touches.clone()), ..bound },
            (Lasting::AlwaysTool, _) => Rule { tool: tool(), scope: Some(self.within(intent)?), ..bound },
            (Lasting::AlwaysPlugin, _) => Rule { scope: Some(self.within(intent)?), ..bound },
        })
    }
}

impl Considered {
    /// Returns why nothing about the call can be allowed permanently, if the targets of its requests are the reason.
    pub(super) fn asked_each_time(&self) -> Option<String> {
        let lacks = self.intent.origin.is_some() && !self.intent.touches.le(&self.intent.granted);
        (lacks && !is_lasting(&self.intent.touches)).then(|| EACH_TIME.to_owned())
    }
}

impl Gate {
    /// Explains that a lasting answer was given to a different component, and what this one requests beyond it.
    pub(super) fn another_version(&self, considered: &Considered) -> Option<String> {
        let Considered { call, intent, .. } = considered;
        let Origin { plugin, digest } = intent.origin.as_ref()?;
        let policy = self.policy();
        let mut earlier = policy.rules().iter().filter(|rule| {
            let is_of_tool = rule.tool.is_empty() || rule.tool.iter().any(|name| name == call.name.as_str());
            // Only what would have allowed this call but for its digest.
            rule.decision == Decision::Allow
                && rule.plugin.as_deref() == Some(plugin.as_str())
                && !rule.digest.is_empty()
                && !rule.digest.contains(digest)
                && is_of_same_server(rule, intent)
                && rule.workspace.as_ref().is_none_or(|workspace| *workspace == self.shared.workspace)
                && is_of_tool
        });
        let rule = earlier.next()?;
        let what = match &intent.mcp {
            Some(target) => format!("what the MCP server `{}` says about this tool", target.server),
            None => format!("the plugin `{plugin}`"),
        };
        let mut words = format!("{what} has changed since you allowed this at {}", rule.source);
        // What the new version wants besides is what the user has to decide about.
        if let Some(before) = &rule.scope {
            let covered = |scope: &&Scope| before.scope(scope.capability()).is_some_and(|held| scope.le(held));
            let besides: Grants = intent.touches.iter().filter(|scope| !covered(scope)).cloned().collect();
            if besides != Grants::none() {
                words.push_str(&format!("; this call also wants: {}", named(&besides)));
            }
        }
        Some(words)
    }

    /// Returns how the definition of the MCP server's tool differs from the one that the user allowed lastingly; `None`
    /// if it is the same, or they allowed none.
    pub(super) fn redefined(&self, considered: &Considered) -> Option<String> {
        let Considered { intent, .. } = considered;
        let (target, kept) = (intent.mcp.as_ref()?, self.shared.definitions.as_ref()?);
        let policy = self.policy();
        let digest = &target.definition.digest;
        let digests = policy.rules().iter().filter(|rule| {
            rule.decision == Decision::Allow && !rule.digest.contains(digest) && is_of_same_server(rule, intent)
        });
        let before =
            kept.earlier(&target.definition.original, digests.flat_map(|rule| &rule.digest).map(String::as_str));
        let before = before.filter(|before| *before != target.definition.text)?;
        Some(difference(&target.definition.original, &(before + "\n"), &format!("{}\n", target.definition.text)))
    }

    /// Returns all that a lasting answer could allow the tool, of what this call touches: files in this workspace,
    /// requests to the servers that the call names. An approval of file changes does not cover commands, though the
    /// tool may ask for both. `None` if it would not cover this very call, or would reach further than a lasting answer
    /// may.
    fn within(&self, intent: &Intent) -> Option<Grants> {
        let workspace = Scope::for_path(Capability::FsWrite, &self.shared.workspace).ok();
        let within = |scope: &Scope| match (scope, intent.touches.scope(scope.capability())) {
            (Scope::FsRead(_), _) => None,
            (Scope::FsWrite(_), _) => scope.meet(workspace.as_ref()?),
            (Scope::Http(servers), Some(Scope::Http(asked))) => servers.at_hosts_of(asked).map(Scope::Http),
            (Scope::Http(_), _) => None,
            // A plugin that can call any tool of a server is allowed only the tools that the call names.
            (Scope::Mcp(_), asked) => scope.meet(asked?),
            (Scope::Process(_) | Scope::State(_) | Scope::Tools(_), _) => Some(scope.clone()),
        };
        let touched = |scope: &&Scope| intent.touches.has(scope.capability());
        let within: Grants = intent.at_most.iter().filter(touched).filter_map(within).collect();
        (is_lasting(&within) && intent.touches.le(&within)).then_some(within)
    }
}

impl Rule {
    /// Whether the user's answer can make this rule: it allows requests only to servers on the public internet that it
    /// names. Earlier versions stored answers that reach further; code that reads the file of answers leaves those out.
    pub fn is_lasting(&self) -> bool {
        match (self.decision, &self.scope) {
            (Decision::Ask | Decision::Deny, _) => true,
            (Decision::Allow, Some(scope)) => is_lasting(scope),
            (Decision::Allow, None) => !self.command.is_empty() && !self.leaves_walls,
        }
    }
}

/// Returns all tools of the MCP server that a call names, as its server defines them now.
fn of_whole_server(intent: &Intent) -> Option<Grants> {
    let scope = intent.touches.scope(Capability::Mcp)?.for_whole_mcp_servers()?;
    intent.mcp.is_some().then(|| Grants::none().with(scope))
}

/// Whether a rule for a tool of an MCP server is about the server that the call names: one plugin calls all of them.
fn is_of_same_server(rule: &Rule, intent: &Intent) -> bool {
    match (&intent.mcp, &rule.scope) {
        (Some(_), Some(scope)) => intent.touches.le(scope),
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// Whether a lasting answer may allow these grants.
fn is_lasting(grants: &Grants) -> bool {
    grants.iter().all(|scope| match scope {
        Scope::Http(servers) => servers.are_named_and_public(),
        Scope::Mcp(tools) => tools.are_named(),
        Scope::FsRead(_) | Scope::FsWrite(_) | Scope::Process(_) | Scope::State(_) | Scope::Tools(_) => true,
    })
}

/// Returns what would be covered of each of the commands; `None` if one of them is better asked about each time.
fn suggestions(commands: &[SimpleCommand]) -> Option<Vec<Suggestion>> {
    let of = |command: &SimpleCommand| {
        let words = command.words.iter().cloned().collect::<Option<Vec<_>>>().filter(|_| command.doubts.is_empty())?;
        suggestion(&words)
    };
    let mut suggestions = commands.iter().map(of).collect::<Option<Vec<_>>>()?;
    suggestions.sort();
    suggestions.dedup();
    (!suggestions.is_empty()).then_some(suggestions)
}

/// Describes what the suggestions cover.
pub(super) fn covered(suggestions: &[Suggestion]) -> String {
    let shown = |exact: bool| {
        let of_kind = suggestions.iter().filter(|suggestion| matches!(suggestion, Suggestion::Exactly(_)) == exact);
        of_kind.map(|suggestion| format!("`{}`", command_line(suggestion.words()))).collect::<Vec<_>>().join(", ")
    };
    match (shown(false), shown(true)) {
        (begin, exact) if exact.is_empty() => format!("commands that begin with {begin}"),
        (begin, exact) if begin.is_empty() => format!("exactly {exact}"),
        (begin, exact) => format!("commands that begin with {begin}, and exactly {exact}"),
    }
}

/// Describes grants briefly for a user. Exclusions of files only narrow them, and are not shown.
pub(super) fn named(grants: &Grants) -> String {
    let words = |scope: &Scope| match scope {
        Scope::Http(servers) => format!("{}, never to private addresses", servers.in_words()),
        Scope::FsWrite(files) => format!("changes of files in {}", roots(files)),
        Scope::Process(commands) => format!("the command {commands}"),
        Scope::State(_) => "its own notes".to_owned(),
        Scope::Mcp(tools) => tools.in_words(),
        Scope::Tools(tools) => format!("calls of other tools ({tools})"),
        Scope::FsRead(files) => format!("reading of files in {}", roots(files)),
    };
    grants.iter().map(words).collect::<Vec<_>>().join(", ")
}

fn roots(files: &Paths) -> String {
    files.roots().map(|root| root.path().display().to_string()).collect::<Vec<_>>().join(", ")
}

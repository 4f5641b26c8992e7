//! Limits on the calls of a run that a skill or a command file sets: `allowed-tools`.
//!
//! Promises: a limit only takes away. A call that is outside of one limit is denied, whatever a rule, a grant or an
//! answer allows; a call within all of them is decided as if there were none. Limits are about calls that change
//! something, run programs or reach a server: what only reads, and the agent's own tools, which touch nothing, need not
//! be in a list.
//!
//! Deliberately not here: how the limits are written, and when they begin and end.

use host_message::{FunctionCall, ToolName};
use host_plugin::Confirmation;

use super::Gate;
use crate::policy::{Because, Decision, Reason, Verdict};
use crate::{Intent, simple_commands};
use std::sync::PoisonError;

/// The calls that a run is limited to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowing {
    /// What limits them, such as ``the skill `pdf` ``, safe to show.
    pub by: String,
    /// The calls that are left.
    pub allowed: Vec<AllowedCalls>,
}

/// Calls that a limit leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedCalls {
    /// The tool.
    pub tool: ToolName,
    /// The first words of the command that the tool may run; empty is any call.
    pub command: Vec<String>,
}

impl Narrowing {
    fn leaves(&self, call: &FunctionCall, intent: &Intent) -> bool {
        let of_tool: Vec<_> = self.allowed.iter().filter(|allowed| allowed.tool == call.name).collect();
        if of_tool.iter().any(|allowed| allowed.command.is_empty()) {
            return true;
        }
        let Some(Confirmation::Exec { argv, .. }) = &intent.confirmation else { return false };
        let commands = simple_commands(argv);
        let begins = |words: &[Option<String>], prefix: &[String]| {
            words.len() >= prefix.len() && words.iter().zip(prefix).all(|(word, wanted)| word.as_ref() == Some(wanted))
        };
        // What is only known at run time is none of the commands that are named.
        !commands.is_empty()
            && commands.iter().all(|command| {
                command.doubts.is_empty() && of_tool.iter().any(|allowed| begins(&command.words, &allowed.command))
            })
    }
}

impl Gate {
    /// Limits the calls of all agents further, until [`Gate::widen`]. The same limit twice is one.
    pub fn narrow(&self, narrowing: Narrowing) {
        let mut narrowed = self.shared.narrowed.write().unwrap_or_else(PoisonError::into_inner);
        if !narrowed.contains(&narrowing) {
            narrowed.push(narrowing);
        }
    }

    /// Ends all limits: the next prompt of the user begins without any.
    pub fn widen(&self) {
        self.shared.narrowed.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the verdict, or a denial if a limit does not leave the call.
    pub(super) fn narrowed(&self, verdict: Verdict, call: &FunctionCall, intent: &Intent) -> Verdict {
        if intent.origin.is_none() || intent.touches.le(&intent.touches.reading()) {
            return verdict;
        }
        let narrowed = self.shared.narrowed.read().unwrap_or_else(PoisonError::into_inner);
        let Some(outside) = narrowed.iter().find(|narrowing| !narrowing.leaves(call, intent)) else { return verdict };
        let because = Because::Narrowed(outside.by.clone());
        Verdict {
            decision: Decision::Deny,
            message: None,
            leaves_walls: false,
            reasons: vec![Reason { part: None, decision: Decision::Deny, because }],
        }
    }
}

#[cfg(test)]
mod tests {
    use host_capability::{Grants, PluginName, Scope};
    use host_message::CallId;
    use serde_json::Map;

    use super::*;
    use crate::{ApprovalMode, ApprovalQueue, GateOptions, Origin, Policy};

    fn call(tool: &str) -> FunctionCall {
        FunctionCall::new(CallId::new("1"), ToolName::new(tool), Map::new())
    }

    fn intent(line: Option<&str>) -> Intent {
        let exec = |line: &str| Confirmation::Exec {
            argv: vec!["sh".to_owned(), "-c".to_owned(), line.to_owned()],
            directory: ".".to_owned(),
            input: None,
            ground: host_plugin::Ground::Call,
        };
        Intent {
            confirmation: line.map(exec),
            origin: Some(Origin { plugin: PluginName::new("p"), digest: "d".to_owned() }),
            touches: Grants::none()
                .with(Scope::parse_absolute(host_capability::Capability::FsWrite, "*").expect("a scope")),
            ..Intent::default()
        }
    }

    fn verdict(decision: Decision) -> Verdict {
        Verdict { decision, message: None, leaves_walls: false, reasons: Vec::new() }
    }

    // promise skills.narrow: `allowed-tools` of a skill or a command only takes tools away: it allows no call that
    //   would be asked about or denied without it.
    #[test]
    fn narrowing_takes_calls_away_and_allows_none() {
        let gate = Gate::new(GateOptions {
            policy: Policy::new([]),
            queue: ApprovalQueue::new(),
            mode: ApprovalMode::Default,
            workspace: "/w".into(),
            kept: None,
            definitions: None,
            access: host_plugin::CurrentAccess::default(),
        });
        let decided = |tool: &str, line: Option<&str>, before: Decision| {
            gate.narrowed(verdict(before), &call(tool), &intent(line)).decision
        };
        assert_eq!(decided("edit", None, Decision::Allow), Decision::Allow, "there is no limit");
        let allowed = |tool: &str, words: &[&str]| AllowedCalls {
            tool: ToolName::new(tool),
            command: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        gate.narrow(Narrowing {
            by: "the skill `a`".to_owned(),
            allowed: vec![allowed("write_file", &[]), allowed("shell", &["git", "log"])],
        });
        for (tool, line, left) in [
            ("write_file", None, true),
            ("edit", None, false),
            ("shell", Some("git log -3"), true),
            ("shell", Some("git log && git log -p"), true),
            ("shell", Some("git push"), false),
            ("shell", Some("git log; rm -rf ."), false),
            ("shell", Some("git log $(rm x)"), false),
            ("shell", Some("git"), false),
            ("shell", Some("$GIT log"), false),
            ("shell", None, false),
        ] {
            for before in [Decision::Allow, Decision::Ask, Decision::Deny] {
                let expected = if left { before } else { Decision::Deny };
                assert_eq!(decided(tool, line, before), expected, "{tool} {line:?}");
            }
        }
        let own = Intent { origin: None, ..intent(None) };
        assert_eq!(gate.narrowed(verdict(Decision::Allow), &call("ask_user"), &own).decision, Decision::Allow);
        let reading = Intent { touches: intent(None).touches.reading(), ..intent(None) };
        for before in [Decision::Allow, Decision::Ask, Decision::Deny] {
            assert_eq!(gate.narrowed(verdict(before), &call("read_file"), &reading).decision, before);
        }
        gate.narrow(Narrowing { by: "the skill `b`".to_owned(), allowed: vec![allowed("edit", &[])] });
        assert_eq!(decided("write_file", None, Decision::Allow), Decision::Deny, "both limits hold");
        let other = gate.for_agent("x", &host_message::AgentId::new("x"));
        assert_eq!(
            other.narrowed(verdict(Decision::Allow), &call("write_file"), &intent(None)).decision,
            Decision::Deny
        );
        gate.widen();
        assert_eq!(decided("write_file", None, Decision::Allow), Decision::Allow);
    }
}

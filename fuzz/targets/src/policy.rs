//! Files of rules, and what they decide.

use std::path::Path;

use host_capability::{Capability, Grants, Scope};
use host_message::ToolName;
use host_tool::{
    ApprovalMode, Decision, Policy, PolicyFile, Query, Rule, Tier, Verdict, commands_in, simple_commands, suggestion,
};
use serde_json::{Map, Value};

use crate::shown;

/// A file of rules, a line of `---`, a shell line. A rule can be written and read again; rules of a project never allow
/// what is not allowed without them, and no rule makes a denied line less than denied.
pub fn policy(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (file, line) = text.split_once("\n---\n").unwrap_or((&text, "ls"));
    let argv = ["sh", "-c", line].map(str::to_owned);
    for tier in [Tier::Project, Tier::User] {
        let rules = match Policy::parse(file, PolicyFile { tier, path: None }) {
            Ok(rules) => rules,
            Err(error) => {
                assert!((1..=file.split('\n').count()).contains(&error.line), "{error}");
                continue;
            }
        };
        rules.iter().for_each(check_written);
        let (without, with) = (Policy::new([]), Policy::new(rules));
        for mode in [ApprovalMode::Default, ApprovalMode::Yolo] {
            for granted in [Grants::none(), programs()] {
                let [without, with] = [&without, &with].map(|policy| decide(policy, &argv, mode, &granted));
                if tier == Tier::Project {
                    assert!(with.decision >= without.decision, "{}\n{}", with.explain(), without.explain());
                }
                shown::prose(&host_text::visible(&with.explain()));
            }
        }
    }
    for words in commands_in(&argv) {
        let _ = suggestion(&words);
    }
    assert!(simple_commands(&argv).len() <= 1024);
}

fn programs() -> Grants {
    Grants::none().with(Scope::parse(Capability::Process, "*", Path::new("/w")).expect("all programs"))
}

fn decide(policy: &Policy, argv: &[String], mode: ApprovalMode, granted: &Grants) -> Verdict {
    let touches = programs();
    let arguments = Map::from_iter([("command".to_owned(), Value::from(argv.last().map_or("", String::as_str)))]);
    let verdict = policy.decide(&Query {
        tool: &ToolName::new("shell"),
        plugin: Some("shell"),
        digest: None,
        arguments: &arguments,
        directory: Some(std::path::Path::new("/w")),
        argv: Some(argv),
        touches: &touches,
        granted,
        agent: "main",
        mode,
        workspace: Path::new("/w"),
    });
    assert!(matches!(verdict.decision, Decision::Allow | Decision::Ask | Decision::Deny));
    verdict
}

fn check_written(rule: &Rule) {
    let text = rule.to_toml();
    let file = PolicyFile { tier: rule.source.tier, path: None };
    let read = Policy::parse(&text, file).unwrap_or_else(|error| panic!("{text}: {error}"));
    let [read] = <[Rule; 1]>::try_from(read).expect("one rule");
    assert_eq!(Rule { source: rule.source.clone(), ..read }, *rule, "{text}");
}

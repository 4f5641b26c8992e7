//! Decisions, as tables.

mod deciding;
#[cfg(target_os = "linux")]
mod executed;
mod files;
mod hidden;
mod lines;
mod programs;
mod reaching;
#[cfg(target_os = "linux")]
mod real;
mod suggesting;

use std::path::Path;

use host_capability::{Capability, Grants, Scope};
use serde_json::{Map, Value};

use super::*;

const WORKSPACE: &str = "/w";

/// A call of the tool `shell`; a test changes the fields that it needs.
pub(super) struct Case<'a> {
    pub(super) policy: &'a Policy,
    pub(super) tool: &'a str,
    pub(super) plugin: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
    pub(super) arguments: Value,
    pub(super) argv: Option<Vec<String>>,
    pub(super) touches: Grants,
    pub(super) granted: Grants,
    pub(super) agent: &'a str,
    pub(super) mode: ApprovalMode,
    pub(super) workspace: &'a Path,
    /// The folder to run in; that of the workspace if it is `None`.
    pub(super) directory: Option<&'a Path>,
}

impl<'a> Case<'a> {
    pub(super) fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            tool: "shell",
            plugin: Some("shell"),
            digest: None,
            arguments: Value::Object(Map::new()),
            argv: None,
            touches: Grants::none(),
            granted: Grants::none(),
            agent: "main",
            mode: ApprovalMode::Default,
            workspace: Path::new(WORKSPACE),
            directory: None,
        }
    }

    pub(super) fn line(policy: &'a Policy, line: &str) -> Self {
        let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
        Self { argv: Some(argv), touches: grants("process=sh"), ..Self::new(policy) }
    }

    pub(super) fn verdict(&self) -> Verdict {
        let Value::Object(arguments) = &self.arguments else { panic!("arguments are an object") };
        self.policy.decide(&Query {
            tool: &ToolName::new(self.tool),
            plugin: self.plugin,
            digest: self.digest,
            arguments,
            argv: self.argv.as_deref(),
            directory: Some(self.directory.unwrap_or(self.workspace)),
            touches: &self.touches,
            granted: &self.granted,
            agent: self.agent,
            mode: self.mode,
            workspace: self.workspace,
        })
    }

    pub(super) fn decision(&self) -> Decision {
        self.verdict().decision
    }
}

/// Parses `process=git;fs-read=.`, or nothing.
fn grants(text: &str) -> Grants {
    let scope = |item: &str| {
        let (name, text) = item.split_once('=').expect("a capability and a scope");
        let capability: Capability = name.parse().expect("a capability");
        Scope::parse(capability, text, Path::new(WORKSPACE)).expect("a scope")
    };
    text.split(';').filter(|item| !item.is_empty()).map(scope).collect()
}

fn parse(text: &str) -> Result<Vec<Rule>, PolicyError> {
    Policy::parse(text, PolicyFile { tier: Tier::User, path: Some("policy.toml".into()) })
}

pub(super) fn policy(text: &str) -> Policy {
    Policy::new(parse(text).unwrap_or_else(|error| panic!("{error}")))
}

//! `host policy`: the decision about a call, and the rule that makes it, without running the call.

use std::fmt::Write as _;

use host_app::app::project;
use host_capability::{Grants, Scope};
use host_message::AgentId;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::{denied_files, folder, permissions, policies};
use host_text::{exact, visible};
use host_tool::{ApprovalQueue, Decision, Permission, Rule, permissions_in};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::tool::{call_of, open, print_json};
use crate::arguments::Policy;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(crate) async fn run(policy: Policy, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    match policy {
        Policy::Check { tool, arguments, agent, place, access, json } => {
            let place = open(&place, &access, &environment, &stop).await?;
            let call = call_of(tool, arguments)?;
            // As a subagent has it, when it is one that calls.
            let is_main = agent == "main";
            let tools = match is_main {
                true => place.settled_tools(&place.grants, Some(call.name.as_str())).await?,
                false => place.reading_tools(&place.grants)?,
            };
            let tool = tools.admit(&call).map_err(|failure| Failure::input(failure.message))?;
            let gate = place.gate(ApprovalQueue::new(), &place.grants).for_agent(&agent, &AgentId::new(&agent));
            let told = match gate.explain(&call, &tool, &stop).await {
                Ok((intent, verdict)) => Told {
                    decision: verdict.decision.name(),
                    touches: shown(&intent.touches),
                    granted: shown(&intent.granted),
                    reasons: verdict.reasons.iter().map(ToString::to_string).collect(),
                    words: verdict.explain(),
                    headless: intent.refusal.filter(|_| verdict.decision == Decision::Ask),
                },
                Err(failure) => Told {
                    decision: Decision::Deny.name(),
                    touches: "nothing".to_owned(),
                    granted: "nothing".to_owned(),
                    reasons: vec![failure.message.clone()],
                    words: format!("deny: {}\n", failure.message),
                    headless: None,
                },
            };
            told.print(json, &out)
        }
        Policy::List { place, json } => {
            let folders = environment.folders()?;
            let project = project(&folder::configured(place.request(), &environment)?, &folders)?;
            printer::notes(project.note().as_slice(), &environment);
            let policies = policies::read(&folders, &project.files().policies)?;
            printer::notes(&policies.notes, &environment);
            let answers = permissions_in(&policies.policy, &policies::answers(&folders));
            let own = Configuration::read(&environment, &folders)?;
            let denied = own.with_project(project.files().configuration.as_ref())?.deny.read;
            list(policies.policy.rules(), &answers, &denied, json, &out)
        }
        Policy::Deny { globs } => {
            let file = denied_files::deny(&globs, &environment)?;
            out.write(&visible(&format!("kept from all tools and programs: {}\n", quoted(&globs))));
            printer::notes(&[format!("saved as `[deny]` in {}", exact(&file.display().to_string()))], &environment);
            Ok(Code::Done)
        }
        Policy::Allow { globs } => {
            denied_files::allow(&globs, &environment)?;
            out.write(&visible(&format!("no longer kept from tools and programs: {}\n", quoted(&globs))));
            Ok(Code::Done)
        }
        Policy::Forget { what } => {
            let folders = environment.folders()?;
            let forgotten = permissions::forget_stored(&folders, &what.join(" "))?;
            out.write(&visible(&format!("no longer allowed: {}\n", with_folder(&forgotten))));
            Ok(Code::Done)
        }
    }
}

/// The report about a call.
struct Told {
    decision: &'static str,
    touches: String,
    granted: String,
    reasons: Vec<String>,
    words: String,
    /// The answer to the call if there is no user to ask.
    headless: Option<String>,
}

impl Told {
    fn print(self, json: bool, out: &Out) -> Result<Code, Failure> {
        let Self { decision, touches, granted, reasons, words, headless } = self;
        if json {
            let value = json!({
                "decision": decision, "reasons": reasons, "touches": touches, "granted": granted, "headless": headless,
            });
            return print_json(&value, out);
        }
        let mut text = words;
        let _ = writeln!(text, "It would touch: {touches}\nGranted without asking: {granted}");
        if let Some(headless) = headless {
            let _ = writeln!(text, "Without a terminal: {headless}");
        }
        out.write(&visible(&text));
        Ok(Code::Done)
    }
}

/// Grants without the long list of what is never written.
fn shown(grants: &Grants) -> String {
    let scope = |scope: &Scope| match scope {
        Scope::FsRead(paths) | Scope::FsWrite(paths) => {
            let roots: Vec<String> = paths.roots().map(|root| root.path().display().to_string()).collect();
            format!("{}={}", scope.capability(), roots.join(","))
        }
        Scope::Process(_) | Scope::Http(_) | Scope::State(_) | Scope::Mcp(_) => {
            format!("{}={scope}", scope.capability())
        }
    };
    let scopes: Vec<String> = grants.iter().map(scope).collect();
    if scopes.is_empty() { "nothing".to_owned() } else { scopes.join(" ") }
}

/// What an answer allows, and in which folder.
fn with_folder(permission: &Permission) -> String {
    match &permission.workspace {
        Some(folder) => format!("{} (in {})", permission.words, exact(&folder.display().to_string())),
        None => permission.words.clone(),
    }
}

fn quoted(globs: &[String]) -> String {
    globs.iter().map(|glob| format!("`{}`", exact(glob))).collect::<Vec<_>>().join(", ")
}

fn list(rules: &[Rule], answers: &[Permission], denied: &[String], json: bool, out: &Out) -> Result<Code, Failure> {
    if json {
        let rule = |rule: &Rule| {
            json!({
                "source": rule.source.to_string(), "priority": rule.priority,
                "decision": rule.decision, "rule": rule.to_toml().trim(),
            })
        };
        let denied = (!denied.is_empty()).then(|| json!({"source": "[deny]", "decision": "deny", "read": denied}));
        return print_json(&Value::Array(denied.into_iter().chain(rules.iter().map(rule)).collect()), out);
    }
    let mut text = String::new();
    if !denied.is_empty() {
        let _ = writeln!(text, "# Kept from all tools and programs; `host policy allow GLOB` takes one of yours back");
        let _ = writeln!(text, "# {}\n", quoted(denied));
    }
    if !answers.is_empty() {
        text.push_str("# What you answered with \"always\"; `host policy forget NUMBER` takes one back\n");
        for (number, answer) in answers.iter().enumerate() {
            let _ = writeln!(text, "# {:>3}  {}", number + 1, with_folder(answer));
        }
        text.push('\n');
    }
    for rule in rules {
        let _ = writeln!(text, "# {}, priority {}", rule.source, rule.priority);
        let _ = writeln!(text, "{}\n", rule.to_toml().trim());
    }
    out.write(&visible(&text));
    Ok(Code::Done)
}

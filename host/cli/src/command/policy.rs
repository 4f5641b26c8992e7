//! `host policy`: the decision about a call, and the rule that makes it, without running the call.

use std::fmt::Write as _;

use host_app::app::project;
use host_app::single_call;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::{denied_files, folder, permissions, policies};
use host_text::{exact, visible};
use host_tool::{Permission, Rule, permissions_in};
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
            let decided = single_call::decided(&place, &call, &agent, &stop).await?;
            match json {
                true => print_json(&decided.json(), &out),
                false => {
                    out.write(&visible(&decided.text()));
                    Ok(Code::Done)
                }
            }
        }
        Policy::List { place, json } => {
            let folders = environment.folders()?;
            let project = project(&folder::configured(place.request(), &environment)?, &folders)?;
            printer::notes(project.note().as_slice(), &environment);
            let policies = policies::read(&folders, &project.files().policies)?;
            printer::notes(&policies.notes, &environment);
            let answers = permissions_in(&policies.policy, &policies::answers(&folders));
            let files = project.files();
            let denied = Configuration::read(&environment, &folders, files.configuration.as_ref())?.deny.read;
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

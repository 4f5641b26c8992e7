//! Permissions of other agents as rules.
//!
//! A rule that allows never covers more than the permission said: one that would is not taken over.

use std::path::Path;

use host_settings::foreign_names;
use host_tool::{Decision, Policy, PolicyFile, Rule, Tier};
use toml::Value;

/// Why a permission for every command or request is not taken over.
const EVERYTHING: &str =
    "it allows everything; choose an approval mode instead, such as `auto`, which confines programs";

/// A permission of Claude Code, such as `Bash(npm run test:*)`.
pub(super) fn of_claude(text: &str, decision: Decision, workspace: Option<&Path>) -> Result<Rule, String> {
    if let Some(rest) = text.strip_prefix("mcp__") {
        return rule(&[&of_server(rest)?], &[], decision, workspace);
    }
    let (name, inside) = split(text)?;
    let tools = tools(name)?;
    // There it is about every tool that changes a file.
    let tools = if name == "Edit" { vec!["edit", "write_file"] } else { tools };
    match inside.filter(|inside| !matches!(*inside, "*" | ":*" | "")) {
        None => whole(&tools, decision, workspace),
        Some(command) if name == "Bash" => {
            let words = command.strip_suffix(":*").or_else(|| command.strip_suffix(" *")).unwrap_or(command);
            by_command(words, decision, workspace)
        }
        Some(domain) if name == "WebFetch" => {
            let domain =
                domain.strip_prefix("domain:").ok_or_else(|| "only `domain:NAME` is known of it".to_owned())?;
            rule(&tools, &[("scope", requests_to(domain, decision)?)], decision, workspace)
        }
        Some(_) => Err(format!(
            "rules here are not about single files; {}",
            match decision {
                Decision::Deny => "keep a file from the tools with --deny '*:fs-read=FILE'",
                Decision::Allow | Decision::Ask => "the approval mode and --add-dir decide about files",
            }
        )),
    }
}

/// A tool of Gemini CLI, such as `run_shell_command(git status)`.
pub(super) fn of_gemini(text: &str, decision: Decision) -> Result<Rule, String> {
    let (name, inside) = split(text)?;
    let tools = tools(name)?;
    match inside.filter(|inside| !inside.is_empty()) {
        None => whole(&tools, decision, None),
        Some(command) if tools == ["shell"] => by_command(command, decision, None),
        Some(_) => Err("only commands can be named in it".to_owned()),
    }
}

/// The words of a command, as in a `prefix_rule` of Codex.
pub(super) fn of_words(words: &[String], decision: Decision) -> Result<Rule, String> {
    if words.iter().any(|word| word.contains(|c: char| c.is_whitespace() || "'\"\\$`*?".contains(c))) {
        return Err("a word of it needs quotes".to_owned());
    }
    by_command(&words.join(" "), decision, None)
}

/// A rule about all calls of tools.
fn whole(tools: &[&str], decision: Decision, workspace: Option<&Path>) -> Result<Rule, String> {
    let is_wide = tools.iter().any(|tool| matches!(*tool, "shell" | "web_fetch"));
    if decision == Decision::Allow && is_wide {
        return Err(EVERYTHING.to_owned());
    }
    rule(tools, &[], decision, workspace)
}

fn by_command(words: &str, decision: Decision, workspace: Option<&Path>) -> Result<Rule, String> {
    let words = words.trim();
    if words.is_empty() || words.contains('*') {
        return Err("a `*` is only known at the end of a command".to_owned());
    }
    rule(&["shell"], &[("command", Value::String(words.to_owned()))], decision, workspace)
}

/// Requests to a server: to allow them is about its public addresses with TLS, to ask or deny about any request to it.
fn requests_to(domain: &str, decision: Decision) -> Result<Value, String> {
    // A comma or a blank would begin another server.
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*');
    if domain.is_empty() || !domain.chars().all(is_name) {
        return Err("it is not the name of a server".to_owned());
    }
    if decision == Decision::Allow && domain == "*" {
        return Err(EVERYTHING.to_owned());
    }
    let requests = match decision {
        Decision::Allow => format!("{domain}:443 -private"),
        Decision::Ask | Decision::Deny => format!("* {domain}:* +private"),
    };
    Ok(Value::Table([("http".to_owned(), Value::String(requests))].into_iter().collect()))
}

/// The tools of an MCP server: `server__tool`, or all of `server`.
fn of_server(rest: &str) -> Result<String, String> {
    match rest.split_once("__") {
        Some((server, "" | "*")) => Ok(format!("{server}__*")),
        Some(_) => Ok(rest.to_owned()),
        None if rest.is_empty() => Err("it names no server".to_owned()),
        None => Ok(format!("{rest}__*")),
    }
}

/// Splits `Tool(inside)`.
fn split(text: &str) -> Result<(&str, Option<&str>), String> {
    match text.split_once('(') {
        None => Ok((text, None)),
        Some((name, rest)) => {
            let inside = rest.strip_suffix(')').ok_or_else(|| "a bracket is not closed".to_owned())?;
            Ok((name, Some(inside)))
        }
    }
}

fn tools(name: &str) -> Result<Vec<&'static str>, String> {
    let tools = foreign_names::ours(name);
    if tools.is_empty() { Err("there is no such tool here".to_owned()) } else { Ok(tools) }
}

/// Makes a rule. It goes through the text of a file, so that it is checked as one that a user writes.
fn rule(
    tools: &[&str],
    criteria: &[(&str, Value)],
    decision: Decision,
    workspace: Option<&Path>,
) -> Result<Rule, String> {
    let tools = Value::Array(tools.iter().map(|tool| Value::String((*tool).to_owned())).collect());
    let mut text = format!("[[rule]]\ntool = {tools}\ndecision = \"{}\"\n", decision.name());
    for (key, value) in criteria {
        text.push_str(&format!("{key} = {value}\n"));
    }
    if let Some(workspace) = workspace {
        let path = workspace.to_str().ok_or_else(|| "the project's path is not valid Unicode".to_owned())?;
        text.push_str(&format!("workspace = {}\n", Value::String(path.to_owned())));
    }
    let mut rules = Policy::parse(&text, PolicyFile { tier: Tier::User, path: None })
        .map_err(|error| format!("it is not a rule of this host: {}", error.problem))?;
    rules.pop().ok_or_else(|| "it is not a rule of this host".to_owned())
}

//! Permissions of other agents as rules.
//!
//! A rule that allows never covers more than the permission said: one that would is not taken over.

use std::path::Path;

use host_settings::foreign_names;
use host_text::{Advice, Flag};
use host_tool::file_tools::{APPLY_PATCH, EDIT, WRITE_FILE};
use host_tool::{Decision, Policy, PolicyFile, PolicyProblem, Rule, Tier};
use toml::Value;

/// Why a permission is not taken over.
#[derive(Debug, thiserror::Error)]
pub(super) enum RuleFault {
    /// It is for every command or request.
    #[error("it allows everything; choose an approval mode instead, such as `auto`, which confines programs")]
    Everything,
    /// A request that is not about a domain.
    #[error("only `domain:NAME` is known of it")]
    Domain,
    /// It is about a single file.
    #[error("rules here are not about single files; {}", for_files(*.0))]
    File(Decision),
    /// It is about something other than a command.
    #[error("only commands can be named in it")]
    NotACommand,
    /// A command in which a word needs quotes.
    #[error("a word of it needs quotes")]
    Quotes,
    /// A `*` within a command.
    #[error("a `*` is only known at the end of a command")]
    Star,
    /// No server can be called so.
    #[error("it is not the name of a server")]
    NotAServer,
    /// It names no MCP server.
    #[error("it names no server")]
    NoServer,
    /// It is cut off.
    #[error("a bracket is not closed")]
    OpenBracket,
    /// No tool here does that.
    #[error("there is no such tool here")]
    NoTool,
    /// A rule of another form.
    #[error("only a list of words with a decision is known")]
    NotWords,
    /// The project cannot be named in a rule.
    #[error("the project's path is not valid Unicode")]
    ProjectPath,
    /// It breaks a rule of rules.
    #[error("it is not a rule of this host: {0}")]
    Invalid(PolicyProblem),
    /// It became no rule.
    #[error("it is not a rule of this host")]
    NoRule,
}

/// What there is instead of a rule about a single file.
fn for_files(decision: Decision) -> Advice {
    match decision {
        Decision::Deny => Advice::from("keep a file from the tools with ").flag_with(Flag::Deny, "'*:fs-read=FILE'"),
        Decision::Allow | Decision::Ask => {
            Advice::from("the approval mode and ").flag(Flag::AddDir).text(" decide about files")
        }
    }
}

/// A permission of Claude Code, such as `Bash(npm run test:*)`.
pub(super) fn of_claude(text: &str, decision: Decision, workspace: Option<&Path>) -> Result<Rule, RuleFault> {
    if let Some(rest) = text.strip_prefix("mcp__") {
        return rule(&[&of_server(rest)?], &[], decision, workspace);
    }
    let (name, inside) = split(text)?;
    let tools = tools(name)?;
    // There it is about every tool that changes a file.
    let tools = if name == "Edit" { vec![EDIT, WRITE_FILE, APPLY_PATCH] } else { tools };
    match inside.filter(|inside| !matches!(*inside, "*" | ":*" | "")) {
        None => whole(&tools, decision, workspace),
        Some(command) if name == "Bash" => {
            let words = command.strip_suffix(":*").or_else(|| command.strip_suffix(" *")).unwrap_or(command);
            by_command(words, decision, workspace)
        }
        Some(domain) if name == "WebFetch" => {
            let domain = domain.strip_prefix("domain:").ok_or(RuleFault::Domain)?;
            rule(&tools, &[("scope", requests_to(domain, decision)?)], decision, workspace)
        }
        Some(_) => Err(RuleFault::File(decision)),
    }
}

/// A tool of Gemini CLI, such as `run_shell_command(git status)`.
pub(super) fn of_gemini(text: &str, decision: Decision) -> Result<Rule, RuleFault> {
    let (name, inside) = split(text)?;
    let tools = tools(name)?;
    match inside.filter(|inside| !inside.is_empty()) {
        None => whole(&tools, decision, None),
        Some(command) if tools == ["shell"] => by_command(command, decision, None),
        Some(_) => Err(RuleFault::NotACommand),
    }
}

/// The words of a command, as in a `prefix_rule` of Codex.
pub(super) fn of_words(words: &[String], decision: Decision) -> Result<Rule, RuleFault> {
    if words.iter().any(|word| word.contains(|c: char| c.is_whitespace() || "'\"\\$`*?".contains(c))) {
        return Err(RuleFault::Quotes);
    }
    by_command(&words.join(" "), decision, None)
}

/// A rule about all calls of tools.
fn whole(tools: &[&str], decision: Decision, workspace: Option<&Path>) -> Result<Rule, RuleFault> {
    let is_wide = tools.iter().any(|tool| matches!(*tool, "shell" | "web_fetch"));
    if decision == Decision::Allow && is_wide {
        return Err(RuleFault::Everything);
    }
    rule(tools, &[], decision, workspace)
}

fn by_command(words: &str, decision: Decision, workspace: Option<&Path>) -> Result<Rule, RuleFault> {
    let words = words.trim();
    if words.is_empty() || words.contains('*') {
        return Err(RuleFault::Star);
    }
    rule(&["shell"], &[("command", Value::String(words.to_owned()))], decision, workspace)
}

/// Requests to a server: to allow them is about its public addresses with TLS, to ask or deny about any request to it.
fn requests_to(domain: &str, decision: Decision) -> Result<Value, RuleFault> {
    // A comma or a blank would begin another server.
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*');
    if domain.is_empty() || !domain.chars().all(is_name) {
        return Err(RuleFault::NotAServer);
    }
    if decision == Decision::Allow && domain == "*" {
        return Err(RuleFault::Everything);
    }
    let requests = match decision {
        Decision::Allow => format!("{domain}:443 -private"),
        Decision::Ask | Decision::Deny => format!("* {domain}:* +private"),
    };
    Ok(Value::Table([("http".to_owned(), Value::String(requests))].into_iter().collect()))
}

/// The tools of an MCP server: `server__tool`, or all of `server`.
fn of_server(rest: &str) -> Result<String, RuleFault> {
    match rest.split_once("__") {
        Some((server, "" | "*")) => Ok(format!("{server}__*")),
        Some(_) => Ok(rest.to_owned()),
        None if rest.is_empty() => Err(RuleFault::NoServer),
        None => Ok(format!("{rest}__*")),
    }
}

/// Splits `Tool(inside)`.
fn split(text: &str) -> Result<(&str, Option<&str>), RuleFault> {
    match text.split_once('(') {
        None => Ok((text, None)),
        Some((name, rest)) => {
            let inside = rest.strip_suffix(')').ok_or(RuleFault::OpenBracket)?;
            Ok((name, Some(inside)))
        }
    }
}

fn tools(name: &str) -> Result<Vec<&'static str>, RuleFault> {
    let tools = foreign_names::ours(name);
    if tools.is_empty() { Err(RuleFault::NoTool) } else { Ok(tools) }
}

/// Makes a rule. It goes through the text of a file, so that it is checked as one that a user writes.
fn rule(
    tools: &[&str],
    criteria: &[(&str, Value)],
    decision: Decision,
    workspace: Option<&Path>,
) -> Result<Rule, RuleFault> {
    let tools = Value::Array(tools.iter().map(|tool| Value::String((*tool).to_owned())).collect());
    let mut text = format!("[[rule]]\ntool = {tools}\ndecision = \"{}\"\n", decision.name());
    for (key, value) in criteria {
        text.push_str(&format!("{key} = {value}\n"));
    }
    if let Some(workspace) = workspace {
        let path = workspace.to_str().ok_or(RuleFault::ProjectPath)?;
        text.push_str(&format!("workspace = {}\n", Value::String(path.to_owned())));
    }
    let mut rules = Policy::parse(&text, PolicyFile { tier: Tier::User, path: None })
        .map_err(|error| RuleFault::Invalid(error.problem))?;
    rules.pop().ok_or(RuleFault::NoRule)
}

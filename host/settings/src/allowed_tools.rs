//! `allowed-tools` of a skill or a command: the tools that its run is limited to.
//!
//! Promises: the list grants nothing; a name that is not known leaves nothing; tools that only read are left in any
//! case. Names are ours, those of Claude Code and Gemini CLI for the same tools, and `mcp__SERVER__TOOL`. `Bash(git
//! log:*)` limits the commands; other parentheses, such as a path behind `Edit`, are not looked at.
//!
//! Deliberately not here: the check of a call (`Narrowing` in `host-tool`).

use host_message::ToolName;
use host_text::exact;
use host_tool::{AllowedCalls, Narrowing};

use crate::foreign_names;
use crate::front_matter::Texts;
use crate::mcp::SEPARATOR;

/// The most entries of a list. Protects the check of each call.
const MAX_ENTRIES: usize = 100;

/// The beginning of the name of an MCP server's tool, as Claude Code writes it.
const OF_SERVER: &str = "mcp__";

/// Names of tools that are the agent itself, which no list takes away.
const OWN: &[&str] = &["Task", "Agent", "Skill", "SlashCommand", "AskUserQuestion", "ExitPlanMode", "activate_skill"];

/// A list, as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedTools {
    allowed: Vec<AllowedCalls>,
    /// Entries that name no tool here, safe to show.
    unknown: Vec<String>,
}

impl AllowedTools {
    /// Reads a list. `is_known` says whether a name is that of a tool.
    pub fn parse(written: &Texts, is_known: &dyn Fn(&str) -> bool) -> Self {
        let (mut allowed, mut unknown) = (Vec::new(), Vec::new());
        for entry in entries(written).into_iter().take(MAX_ENTRIES) {
            let (name, arguments) = match entry.split_once('(') {
                Some((name, rest)) => (name.trim(), rest.trim_end_matches(')').trim()),
                None => (entry.as_str(), ""),
            };
            if OWN.contains(&name) {
                continue;
            }
            let server_tool = name.strip_prefix(OF_SERVER).filter(|rest| rest.contains(SEPARATOR));
            let names = match server_tool {
                Some(tool) => vec![tool],
                None if is_known(name) => vec![name],
                None => foreign_names::ours(name),
            };
            if names.is_empty() {
                unknown.push(exact(name).into_owned());
            }
            for tool in names {
                let command = if tool == "shell" { words(arguments) } else { Vec::new() };
                allowed.push(AllowedCalls { tool: ToolName::new(tool), command });
            }
        }
        Self { allowed, unknown }
    }

    /// Returns the limit that it is, by something such as ``the skill `pdf` ``.
    pub fn narrowing(&self, by: String) -> Narrowing {
        Narrowing { by, allowed: self.allowed.clone() }
    }

    /// Describes the limit for a user and a model, on one line that is safe to show.
    pub fn words(&self) -> String {
        let one = |allowed: &AllowedCalls| match allowed.command.is_empty() {
            true => format!("`{}`", allowed.tool),
            false => {
                format!("`{}` with commands that begin with `{}`", allowed.tool, exact(&allowed.command.join(" ")))
            }
        };
        let mut tools: Vec<String> = self.allowed.iter().map(one).collect();
        tools.dedup();
        tools.push("tools that only read".to_owned());
        let tools = tools.join(", ");
        let unknown = match self.unknown.as_slice() {
            [] => String::new(),
            names => format!("; there is no tool `{}`", names.join("`, `")),
        };
        format!(
            "its `allowed-tools` limit this run to {tools}; they allow nothing that is asked about or denied{unknown}"
        )
    }
}

/// The entries of a list, separated by blanks and commas outside of parentheses.
fn entries(written: &Texts) -> Vec<String> {
    let text = match written {
        Texts::Many(all) => return all.iter().map(|one| one.trim().to_owned()).collect(),
        // A list that was not YAML.
        Texts::One(text) => text.trim().trim_start_matches('[').trim_end_matches(']'),
    };
    let (mut all, mut one, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            all.extend(Some(std::mem::take(&mut one)).filter(|one| !one.is_empty()));
        } else {
            one.push(c);
        }
    }
    all.extend(Some(one).filter(|one| !one.is_empty()));
    all
}

/// The first words of the commands that `Bash(…)` names; none for all of them.
fn words(arguments: &str) -> Vec<String> {
    let prefix = arguments.strip_suffix('*').unwrap_or(arguments);
    let prefix = prefix.strip_suffix(':').unwrap_or(prefix);
    prefix.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &Texts, allowed: &[(&str, &[&str])], unknown: &[&str]) {
        let read = AllowedTools::parse(written, &|name| name == "read_file" || name == "my_tool");
        let of = |(tool, command): &(&str, &[&str])| AllowedCalls {
            tool: ToolName::new(*tool),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert_eq!(read.allowed, allowed.iter().map(of).collect::<Vec<_>>(), "{written:?}");
        assert_eq!(read.unknown, unknown, "{written:?}");
    }

    #[test]
    fn allowed_tools_are_read_in_each_way_that_they_are_written() {
        let one = |text: &str| Texts::One(text.to_owned());
        let many = |all: &[&str]| Texts::Many(all.iter().map(|one| (*one).to_owned()).collect());
        let git: &[(&str, &[&str])] = &[("shell", &["git", "add"]), ("shell", &["jq"]), ("grep", &[])];
        check(&one("Bash(git add:*) Bash(jq *) Grep"), git, &[]);
        check(&one("Bash(git add:*), Bash(jq), Grep"), git, &[]);
        check(&one("[Bash(git add:*), Bash(jq:*), Grep]"), git, &[]);
        check(&many(&["Bash(git add:*)", "Bash(jq:*)", "Grep"]), git, &[]);
        check(&one("Read"), &[("read_file", &[]), ("read_many_files", &[])], &[]);
        let edit: &[(&str, &[&str])] = &[("shell", &[]), ("edit", &[]), ("apply_patch", &[]), ("my_tool", &[])];
        check(&one("Bash(*) Edit(src/**) my_tool"), edit, &[]);
        check(
            &one("mcp__github__list mcp__github Task Nothing"),
            &[("github__list", &[])],
            &["mcp__github", "Nothing"],
        );
        check(&one(""), &[], &[]);
        assert!(AllowedTools::parse(&one(""), &|_| true).words().contains("limit this run to tools that only read;"));
    }

    #[test]
    fn allowed_tools_are_bounded_and_their_words_safe_to_show() {
        let long = Texts::One("Grep ".repeat(MAX_ENTRIES * 3));
        assert_eq!(AllowedTools::parse(&long, &|_| false).allowed.len(), MAX_ENTRIES);
        let hostile = Texts::Many(vec!["\u{1b}[2J".to_owned(), "Bash(\u{1b}]0;x)".to_owned()]);
        assert!(!AllowedTools::parse(&hostile, &|_| false).words().contains('\u{1b}'));
    }
}

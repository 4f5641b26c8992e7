//! The rules that hold, with the files that nothing may have and the user's earlier answers, as a list to read and as
//! data.

use std::fmt;

use host_text::{Advice, exact};
use host_tool::{Permission, Rule};
use serde_json::{Value, json};

/// What decides about calls.
#[derive(Clone, Copy, Debug)]
pub struct ListedRules<'a> {
    /// The rules, in the order in which they are tried.
    pub rules: &'a [Rule],
    /// What the user allowed for good.
    pub answers: &'a [Permission],
    /// The files that nothing may have.
    pub denied: &'a [String],
}

impl ListedRules<'_> {
    /// The list as data.
    pub fn json(&self) -> Value {
        let rule = |rule: &Rule| {
            json!({
                "source": rule.source.to_string(), "priority": rule.priority,
                "decision": rule.decision, "rule": rule.to_toml().trim(),
            })
        };
        let denied =
            (!self.denied.is_empty()).then(|| json!({"source": "[deny]", "decision": "deny", "read": self.denied}));
        denied.into_iter().chain(self.rules.iter().map(rule)).collect()
    }
}

/// A file of rules, with the rest as comments.
impl fmt::Display for ListedRules<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.denied.is_empty() {
            let allow = Advice::default().command("policy allow GLOB");
            writeln!(f, "# Kept from all tools and programs; {allow} takes one of yours back")?;
            writeln!(f, "# {}\n", quoted(self.denied))?;
        }
        if !self.answers.is_empty() {
            let forget = Advice::default().command("policy forget NUMBER");
            writeln!(f, "# What you answered with \"always\"; {forget} takes one back")?;
            for (number, answer) in self.answers.iter().enumerate() {
                writeln!(f, "# {:>3}  {}", number + 1, with_folder(answer))?;
            }
            writeln!(f)?;
        }
        for rule in self.rules {
            writeln!(f, "# {}, priority {}", rule.source, rule.priority)?;
            writeln!(f, "{}\n", rule.to_toml().trim())?;
        }
        Ok(())
    }
}

/// What an answer allows, and in which folder.
pub fn with_folder(permission: &Permission) -> String {
    match &permission.workspace {
        Some(folder) => format!("{} (in {})", permission.words, exact(&folder.display().to_string())),
        None => permission.words.clone(),
    }
}

/// Patterns of files, each marked as one.
pub fn quoted(globs: &[String]) -> String {
    globs.iter().map(|glob| format!("`{}`", exact(glob))).collect::<Vec<_>>().join(", ")
}

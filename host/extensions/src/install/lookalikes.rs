//! Names of a plugin that a user, or a model, takes for those of another one.
//!
//! Such a plugin may be honest, so that the question names them and the user decides; a name that is the same is
//! refused (`install`). The rule is that of the tools of MCP servers ([`skeleton`]).

use std::collections::BTreeSet;

use host_agent::{ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH};
use host_manifest::Manifest;
use host_text::{exact, skeleton};

/// The tools that are the agent itself.
const OWN: &[&str] = &[ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH];

/// Returns the names of a plugin and of its tools that look like another one, a line each.
pub(super) fn of<'m>(manifest: &Manifest, others: impl Iterator<Item = &'m Manifest> + Clone) -> Vec<String> {
    let mut found = Vec::new();
    for other in others.clone().filter(|other| alike(&manifest.name, &other.name)) {
        found.push(format!(
            "the plugin `{}` looks like `{}`, which you have",
            exact(&manifest.name),
            exact(&other.name)
        ));
    }
    for tool in manifest.tools.iter().map(|tool| tool.spec.name.as_str()) {
        for own in OWN.iter().filter(|own| alike(tool, own)) {
            found.push(format!("the tool `{}` looks like `{own}`, one of the agent's own tools", exact(tool)));
        }
        for other in others.clone() {
            let names = other.tools.iter().map(|tool| tool.spec.name.as_str());
            for name in names.filter(|name| alike(tool, name)) {
                let of = exact(&other.name);
                found.push(format!("the tool `{}` looks like `{}` of the plugin `{of}`", exact(tool), exact(name)));
            }
        }
    }
    // A plugin may be in the list of the user and in that of the project.
    let mut seen = BTreeSet::new();
    found.retain(|line| seen.insert(line.clone()));
    found
}

fn alike(one: &str, other: &str) -> bool {
    skeleton(one) == skeleton(other)
}

#[cfg(test)]
mod tests {
    use host_manifest::Source;
    use serde_json::{Value, json};

    use super::*;

    fn manifest(name: &str, tools: &[&str]) -> Manifest {
        let tool = |name: &&str| json!({"name": name, "description": "d", "input_schema": {"type": "object"}});
        let tools: Vec<Value> = tools.iter().map(tool).collect();
        let json = json!({
            "manifest": 1, "name": name, "version": "1.0.0", "license": "MIT", "contract": "0.1.0", "capabilities": {},
            "tools": tools,
        });
        Manifest::parse(&json.to_string(), Source::Bundle).expect("it is right")
    }

    // promise install.lookalikes
    #[test]
    fn install_lookalikes_are_found_by_the_drawing_of_their_names() {
        let others = [manifest("acme/hex", &["hex_dump"]), manifest("shell", &["shell"])];
        for (name, tools, found) in [
            ("acme/hexes", &["hex_dump_all", "dump"][..], &[][..]),
            ("acme/he-x", &[], &["the plugin `acme/he-x` looks like `acme/hex`, which you have"]),
            ("acme/x", &["hex-dump"], &["the tool `hex-dump` looks like `hex_dump` of the plugin `acme/hex`"]),
            ("acme/x", &["HexDump"], &["the tool `HexDump` looks like `hex_dump` of the plugin `acme/hex`"]),
            (
                "she11",
                &["she11", "ask-user"],
                &[
                    "the plugin `she11` looks like `shell`, which you have",
                    "the tool `she11` looks like `shell` of the plugin `shell`",
                    "the tool `ask-user` looks like `ask_user`, one of the agent's own tools",
                ],
            ),
        ] {
            assert_eq!(of(&manifest(name, tools), others.iter()), found, "{name} {tools:?}");
        }
    }
}

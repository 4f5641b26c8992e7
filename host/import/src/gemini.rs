//! What Gemini CLI has: `~/.gemini/settings.json` in both of its layouts, its commands and skills.

use host_tool::Decision;
use serde_json::Value;

use super::servers::{from_json, strings};
use super::{ForeignAgent, Found, Place, Source, json, rules};

/// Where the lists of tools are, in the layout with groups and the one before it.
const TOOLS: [(&str, Decision); 4] = [
    ("/tools/exclude", Decision::Deny),
    ("/excludeTools", Decision::Deny),
    ("/tools/allowed", Decision::Allow),
    ("/allowedTools", Decision::Allow),
];

pub(super) fn read(place: &Place<'_>) -> Found {
    let mut found = Found::default();
    let folder = place.home.join(".gemini");
    if let Some(settings) = json(&folder.join("settings.json"), &mut found) {
        for (name, server) in settings.get("mcpServers").and_then(Value::as_object).into_iter().flatten() {
            found.add_server(name, from_json(name, server, true, &place.secrets));
        }
        for (pointer, decision) in TOOLS {
            for tool in strings(settings.pointer(pointer)) {
                found.add_rule(&tool, rules::of_gemini(&tool, decision));
            }
        }
        for pointer in ["/tools/core", "/coreTools"] {
            if !strings(settings.pointer(pointer)).is_empty() {
                found.leave_out("the list of built-in tools", "deny the tools that you do not want by rules");
            }
        }
        if settings.pointer("/general/defaultApprovalMode").and_then(Value::as_str) == Some("auto_edit") {
            found.approval_mode = Some("auto-edit");
        }
        if settings.get("hooks").is_some() {
            found.add_hooks(ForeignAgent::Gemini, &folder, place);
        }
        for (pointer, name, why) in [
            ("/model/name", "the model", "choose a model as `model` in config.toml"),
            ("/model", "the model", "choose a model as `model` in config.toml"),
            ("/context/fileName", "names of context files", "set `[context] files` in config.toml"),
            ("/contextFileName", "names of context files", "set `[context] files` in config.toml"),
        ] {
            if settings.pointer(pointer).is_some_and(|value| value.is_string() || value.is_array()) {
                found.leave_out(name, why);
            }
        }
    }
    if folder.join("policies").is_dir() {
        found.leave_out("policies", "write them as rules into your policies folder; their format differs");
    }
    found.commands.push(Source { folder: folder.join("commands"), is_read: true });
    found.skills.push(Source { folder: folder.join("skills"), is_read: false });
    found
}

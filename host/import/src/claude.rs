//! What Claude Code has: `~/.claude.json`, `~/.claude/settings.json`, its commands and skills, and what a project's
//! settings ask about and deny.

use host_tool::Decision;
use serde_json::Value;

use super::servers::{from_json, strings};
use super::{DECISIONS, ForeignAgent, Found, Place, Source, json, rules};

pub(super) fn read(place: &Place<'_>) -> Found {
    let mut found = Found::default();
    let folder = place.of_agent("CLAUDE_CONFIG_DIR", ".claude");
    let main = match place.environment.variable("CLAUDE_CONFIG_DIR") {
        Some(_) => folder.join(".claude.json"),
        None => place.home.join(".claude.json"),
    };
    if let Some(main) = json(&main, &mut found) {
        servers(&main, place, &mut found);
    }
    if let Some(settings) = json(&folder.join("settings.json"), &mut found) {
        permissions(&settings, &mut found);
        mode(&settings, &mut found);
        if settings.get("hooks").is_some() {
            found.add_hooks(ForeignAgent::Claude, &folder, place);
        }
        for (key, why) in [
            ("env", "set variables where you start host; MCP servers have their own `env`"),
            ("apiKeyHelper", "host reads keys from variables, or asks for one at the first start"),
            ("model", "choose a model as `model` in config.toml"),
            ("statusLine", "the row below the input line cannot be changed by a command"),
        ] {
            if settings.get(key).is_some() {
                found.leave_out(format!("setting `{key}`"), why);
            }
        }
    }
    of_project(place, &mut found);
    if folder.join("agents").is_dir() {
        found.leave_out("agents", "their prompts fit, their settings do not; write them again as agents of host");
    }
    let is_read = place.is_usual(ForeignAgent::Claude, &folder);
    found.commands.push(Source { folder: folder.join("commands"), is_read });
    found.skills.push(Source { folder: folder.join("skills"), is_read });
    found
}

fn servers(main: &Value, place: &Place<'_>, found: &mut Found) {
    for (name, server) in main.get("mcpServers").and_then(Value::as_object).into_iter().flatten() {
        found.add_server(name, from_json(name, server, false, &place.secrets));
    }
    let projects = main.get("projects").and_then(Value::as_object).into_iter().flatten();
    for (project, settings) in projects {
        for name in settings.get("mcpServers").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name) {
            let why = "it is only for that folder; add it to `.mcp.json` there, or as [mcp.NAME] for all folders";
            found.leave_out(format!("MCP server `{name}` of `{project}`"), why);
        }
    }
}

fn permissions(settings: &Value, found: &mut Found) {
    let permissions = settings.get("permissions");
    for (key, decision) in DECISIONS {
        for permission in strings(permissions.and_then(|permissions| permissions.get(key))) {
            found.add_rule(&permission, rules::of_claude(&permission, decision, None));
        }
    }
    if !strings(permissions.and_then(|permissions| permissions.get("additionalDirectories"))).is_empty() {
        found.leave_out("additional directories", "/add-dir adds them to a conversation");
    }
}

fn mode(settings: &Value, found: &mut Found) {
    match settings.pointer("/permissions/defaultMode").and_then(Value::as_str) {
        Some("acceptEdits") => found.approval_mode = Some("auto-edit"),
        Some("plan") => found.approval_mode = Some("plan"),
        None | Some("default") => {}
        Some(mode) => {
            found.leave_out(
                format!("default mode `{mode}`"),
                "a mode that asks about less has to be chosen by you, as `approval_mode` in config.toml",
            );
        }
    }
}

/// A project's settings are a repository's word: what they allow is not taken over.
fn of_project(place: &Place<'_>, found: &mut Found) {
    for name in ["settings.json", "settings.local.json"] {
        let path = place.folder.join(".claude").join(name);
        let Some(settings) = json(&path, found) else { continue };
        for (key, decision) in DECISIONS {
            let listed = strings(settings.pointer(&format!("/permissions/{key}")));
            if decision == Decision::Allow && !listed.is_empty() {
                let what = format!("what `{}` allows", path.display());
                found.leave_out(
                    what,
                    "a repository could have written it; an answer for always, or a rule of yours, allows calls",
                );
                continue;
            }
            for permission in listed {
                found.add_rule(&permission, rules::of_claude(&permission, decision, Some(place.folder)));
            }
        }
    }
}

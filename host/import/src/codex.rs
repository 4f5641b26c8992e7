//! What Codex has: `~/.codex/config.toml`, its rules about commands, its prompts and skills.

use std::path::Path;

use host_settings::own_file::Server;
use host_tool::Decision;
use toml::{Table, Value};

use super::rules::RuleFault;
use super::servers::ServerFault;
use super::{ForeignAgent, Found, MAX_SETTINGS, Place, Source, rules};

/// The largest file with rules, in bytes. Protects memory.
const MAX_RULES: u64 = 1 << 20;

pub(super) fn read(place: &Place<'_>) -> Found {
    let mut found = Found::default();
    let folder = place.of_agent("CODEX_HOME", ".codex");
    let path = folder.join("config.toml");
    let name = format!("`{}`", path.display());
    match host_files::read_text(&path, MAX_SETTINGS) {
        Ok(text) => match text.parse::<Table>() {
            Ok(config) => settings(&config, place, &mut found),
            // The full error shows the line, which may have a secret.
            Err(error) => found.leave_out(name, format!("it is not TOML: {}", error.message())),
        },
        Err(error) if error.is_missing() => {}
        Err(error) => found.leave_out(name, format!("it cannot be read: {error}")),
    }
    command_rules(&folder.join("rules"), &mut found);
    if folder.join("hooks.json").exists() {
        found.add_hooks(ForeignAgent::Codex, &folder, place);
    }
    found.commands.push(Source { folder: folder.join("prompts"), is_read: false });
    found.skills.push(Source { folder: folder.join("skills"), is_read: false });
    found
}

fn settings(config: &Table, place: &Place<'_>, found: &mut Found) {
    for (name, server) in config.get("mcp_servers").and_then(Value::as_table).into_iter().flatten() {
        found.add_server(name, self::server(name, server, place));
    }
    let text = |key: &str| config.get(key).and_then(Value::as_str);
    match (text("sandbox_mode"), text("approval_policy")) {
        (Some("danger-full-access"), _) | (_, Some("never")) => {
            found.leave_out(
                "sandbox and approval settings",
                "a mode that asks about less has to be chosen by you, as `approval_mode` in config.toml",
            );
        }
        (Some("workspace-write"), _) => found.approval_mode = Some("auto-edit"),
        (Some("read-only"), _) | (None, Some(_)) => {
            found.leave_out(
                "sandbox and approval settings",
                "the default here asks before each change and each command, too",
            );
        }
        _ => {}
    }
    for (key, why) in [
        ("notify", "write `notify_command` in config.toml; it gets other arguments"),
        ("model", "choose a model as `model` in config.toml"),
        ("profiles", "there are no profiles here; HOST_CONFIG names another file"),
        ("hooks", "write them into `hooks.json` beside it, which Codex and host read"),
    ] {
        if config.contains_key(key) {
            found.leave_out(format!("setting `{key}`"), why);
        }
    }
}

fn server(name: &str, server: &Value, place: &Place<'_>) -> Result<Server, ServerFault> {
    let mut read = Server::new(name)?;
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let words = |key: &str| -> Vec<String> {
        let list = server.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let pairs = |key: &str| -> Vec<(String, String)> {
        let table = server.get(key).and_then(Value::as_table).into_iter().flatten();
        table.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    };
    match (text("command"), text("url")) {
        (Some(command), None) => {
            read.set("command", Value::String(command.to_owned()));
            read.list("args", words("args"))?;
            if let Some(folder) = text("cwd") {
                read.set("directory", Value::String(folder.to_owned()));
            }
            for (key, value) in pairs("env") {
                read.add("env", &key, &value, &place.secrets);
            }
            for variable in words("env_vars") {
                read.refer("env", &variable, "env", &variable);
            }
        }
        (None, Some(url)) => {
            read.set("url", Value::String(url.to_owned()));
            for (key, value) in pairs("http_headers") {
                read.add("headers", &key, &value, &place.secrets);
            }
            for (key, variable) in pairs("env_http_headers") {
                read.refer("headers", &key, "env", &variable);
            }
            if let Some(variable) = text("bearer_token_env_var") {
                let why = "set a variable to `Bearer ` and the token, and add headers = { Authorization = { env = \"NAME\" } }";
                read.leave_out(&format!("bearer_token_env_var = {variable}"), why);
            }
        }
        (Some(_), Some(_)) => return Err(ServerFault::Both),
        (None, None) => return Err(ServerFault::Neither),
    }
    if server.get("enabled").and_then(Value::as_bool) == Some(false) {
        read.set("enabled", Value::Boolean(false));
    }
    read.list("tools", words("enabled_tools"))?;
    if !words("disabled_tools").is_empty() {
        read.leave_out("disabled_tools", "add the tools that you want as `tools`");
    }
    let seconds =
        server.get("tool_timeout_sec").and_then(|value| value.as_integer().or(Some(value.as_float()? as i64)));
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0) {
        read.set("timeout_seconds", Value::Integer(seconds));
    }
    Ok(read)
}

/// Reads `prefix_rule(pattern=["git", "status"], decision="allow")` of the files with rules.
fn command_rules(folder: &Path, found: &mut Found) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "rules")) {
        let text = match host_files::read_text(path, MAX_RULES) {
            Ok(text) => text,
            Err(error) => {
                found.leave_out(format!("`{}`", path.display()), format!("it cannot be read: {error}"));
                continue;
            }
        };
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| [line, "\n"]).collect();
        for rest in code.split("prefix_rule").skip(1) {
            let shown = host_text::one_line(
                &format!("prefix_rule{}", rest.split_inclusive(')').next().unwrap_or_default()),
                80,
            );
            let rule = prefix_rule(rest).and_then(|(words, decision)| rules::of_words(&words, decision));
            found.add_rule(&shown, rule);
        }
    }
}

/// Reads the arguments of a `prefix_rule`.
fn prefix_rule(rest: &str) -> Result<(Vec<String>, Decision), RuleFault> {
    let unknown = || RuleFault::NotWords;
    let inside = rest.trim_start().strip_prefix('(').ok_or_else(unknown)?;
    let after = |key: &str| -> Option<&str> {
        let (_, rest) = inside.split_once(key)?;
        Some(rest.trim_start().strip_prefix('=')?.trim_start())
    };
    let list = after("pattern").and_then(|rest| rest.strip_prefix('[')?.split_once(']')).ok_or_else(unknown)?.0;
    if list.contains(['[', '\\']) {
        return Err(unknown());
    }
    let words = list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(|word| {
        let quoted = |quote| word.strip_prefix(quote).and_then(|word| word.strip_suffix(quote));
        quoted('"').or_else(|| quoted('\'')).map(str::to_owned).ok_or_else(unknown)
    });
    let words = words.collect::<Result<Vec<_>, _>>()?;
    // Without a decision Codex allows.
    let decision = match after("decision").map(|rest| rest.trim_start_matches(['"', '\''])) {
        None => Decision::Allow,
        Some(rest) if rest.starts_with("allow") => Decision::Allow,
        Some(rest) if rest.starts_with("prompt") => Decision::Ask,
        Some(rest) if rest.starts_with("forbidden") => Decision::Deny,
        Some(_) => return Err(unknown()),
    };
    Ok((words, decision))
}

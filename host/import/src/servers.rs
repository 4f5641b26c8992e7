//! MCP servers of Claude Code and Gemini CLI, read from their JSON.
//!
//! Deliberately not here: what becomes of a value (`own_file`).

use std::collections::BTreeMap;
use std::path::Path;

use host_settings::own_file::{Server, ServerError, literal};
use serde_json::Value as Json;
use toml::Value;

/// Why an MCP server is not taken over.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerFault {
    /// It cannot be written into a configuration.
    #[error(transparent)]
    Written(#[from] ServerError),
    /// It uses an old transport.
    #[error("it uses the transport `sse`, which is not supported; use its streamable HTTP address")]
    Sse,
    /// It is a program and at an address.
    #[error("it has both a command and an address")]
    Both,
    /// It is neither.
    #[error("it has neither a command nor an address")]
    Neither,
}

/// Reads a server of Claude Code or Gemini CLI.
pub(super) fn from_json(name: &str, server: &Json, is_gemini: bool, secrets: &Path) -> Result<Server, ServerFault> {
    let mut read = Server::new(name)?;
    let text = |key: &str| server.get(key).and_then(Json::as_str);
    let url = text("httpUrl").or_else(|| text("url"));
    let is_old = text("type") == Some("sse") || is_gemini && text("httpUrl").is_none() && text("url").is_some();
    match (text("command"), url) {
        (_, Some(_)) if is_old && text("command").is_none() => {
            return Err(ServerFault::Sse);
        }
        (Some(command), None) => {
            read.set("command", literal(command)?);
            read.list("args", strings(server.get("args")))?;
            if let Some(folder) = text("cwd") {
                read.set("directory", literal(folder)?);
            }
            for (key, value) in pairs(server.get("env")) {
                read.add("env", &key, &value, secrets);
            }
        }
        (None, Some(url)) => {
            read.set("url", literal(url)?);
            for (key, value) in pairs(server.get("headers")) {
                read.add("headers", &key, &value, secrets);
            }
        }
        (Some(_), Some(_)) => return Err(ServerFault::Both),
        (None, None) => return Err(ServerFault::Neither),
    }
    if let Some(tools) = server.get("includeTools") {
        read.list("tools", strings(Some(tools)))?;
    }
    if let Some(milliseconds) = server.get("timeout").and_then(Json::as_i64).filter(|time| *time > 0) {
        read.set("timeout_seconds", Value::Integer((milliseconds / 1_000).max(1)));
    }
    for (key, why) in [
        ("excludeTools", "add the tools that you want as `tools`"),
        ("trust", "its tools are asked about; a rule or a grant allows them"),
    ] {
        if server.get(key).is_some_and(|value| *value != Json::Bool(false)) {
            read.leave_out(key, why);
        }
    }
    Ok(read)
}

pub(super) fn strings(list: Option<&Json>) -> Vec<String> {
    let items = list.and_then(Json::as_array).into_iter().flatten();
    items.filter_map(Json::as_str).map(str::to_owned).collect()
}

fn pairs(table: Option<&Json>) -> BTreeMap<String, String> {
    let all = table.and_then(Json::as_object).into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

//! What a plugin may touch, in plain words.
//!
//! Promises: the text is based on the component's imports and on the manifest, not on the plugin's description of
//! itself; its own words are marked as such, and everything is safe for a terminal. Each capability has one line, the
//! strongest first; a scope that does not fit on it stands below all of them, whole.

use host_capability::Capability;
use host_plugin::admission::Imports;
use host_text::{clip, counted, exact, visible_line};

use crate::Manifest;

/// The longest line about a capability, in characters. Protects the lines about the others.
const LINE: usize = 120;

/// Explains what the plugin may touch, and what it may not.
pub fn explain(manifest: &Manifest, imports: &Imports) -> String {
    let mut text = format!("{} {} ({})\n", exact(&manifest.name), manifest.version, exact(&manifest.license));
    for tool in &manifest.tools {
        let title = tool.spec.title.as_deref().unwrap_or_default();
        text.push_str(&format!("  {}  {}\n", tool.spec.name, visible_line(title)));
    }
    if !manifest.files.is_empty() {
        text.push_str("\nIt brings\n");
    }
    for (kind, name) in manifest.files.items() {
        let files = manifest.files.of(kind, &name);
        let (count, bytes) =
            files.fold((0_usize, 0), |(count, bytes), (_, content)| (count + 1, bytes + content.len()));
        text.push_str(&format!("  the {kind} {name} ({}, {bytes} bytes)\n", counted(count, "file")));
    }
    let asked: Vec<Capability> = Capability::STRONGEST_FIRST
        .into_iter()
        .filter(|it| imports.capabilities.contains(*it) && manifest.capabilities.contains_key(it.name()))
        .collect();
    if !asked.is_empty() {
        text.push_str("\nIt asks to\n");
    }
    let (mut whole, mut reasons) = (String::new(), String::new());
    for capability in &asked {
        let Some(declared) = manifest.capabilities.get(capability.name()) else { continue };
        let optional = if declared.optional { " (optional)" } else { "" };
        let line = can(*capability, &declared.scope);
        text.push_str(&format!("  {}{optional}\n", clip(&line, LINE)));
        if line.chars().nth(LINE).is_some() {
            whole.push_str(&format!("  {capability}: {}\n", exact(declared.scope.trim())));
        }
        reasons.push_str(&format!("  {capability}: {}\n", visible_line(&declared.reason)));
    }
    if !whole.is_empty() {
        text.push_str(&format!("The whole scopes:\n{whole}"));
    }
    if !asked.is_empty() {
        text.push_str(&format!("It says why:\n{reasons}"));
        text.push_str(match asked.iter().any(|it| matches!(it, Capability::FsRead | Capability::State)) {
            true => "Unless you grant more, it can only read: the workspace and its own state, and only what it asks for above.\n",
            false => "It gets only what you grant.\n",
        });
    }
    text.push_str(&settings(manifest));
    let never: Vec<&str> = Capability::ALL.into_iter().filter(|it| !asked.contains(it)).map(cannot).collect();
    if !never.is_empty() {
        let besides = if asked.is_empty() { "It" } else { "Whatever is granted, it" };
        text.push_str(&format!("\n{besides} cannot {}: its component has no import for that.\n", listed(&never)));
    }
    if imports.wasi {
        text.push_str("\nIts language includes parts of WASI, which give it a clock and random numbers, but no files and no network.\n");
    }
    text
}

/// Describes its settings, and where its secrets go.
fn settings(manifest: &Manifest) -> String {
    let mut text = String::new();
    if !manifest.secrets.is_empty() {
        text.push_str("\nIt sends, and never reads,\n");
    }
    for (name, secret) in &manifest.secrets {
        let (header, format, servers) = (&secret.header, secret.format(), secret.servers.join(", "));
        let optional = if secret.optional { " (optional)" } else { "" };
        let shown = exact(format).replace("{}", "…");
        text.push_str(&format!(
            "  your secret `{name}`{optional}, as `{}: {shown}`, to {} and no other server\n",
            exact(header),
            exact(&servers)
        ));
        text.push_str(&format!("    it says: {}\n", visible_line(&secret.description)));
    }
    if !manifest.config.is_empty() {
        text.push_str("\nYou can set\n");
    }
    for (name, key) in &manifest.config {
        let needed = match (&key.default, key.required) {
            (_, true) => ", required".to_owned(),
            (Some(default), false) => format!("; default {}", exact(&default.to_string())),
            (None, false) => String::new(),
        };
        let words = visible_line(&key.description);
        text.push_str(&format!("  {name}, a `{}`{needed}\n    it says: {words}\n", key.kind.name()));
    }
    text
}

/// Describes a capability with its scope.
fn can(capability: Capability, scope: &str) -> String {
    let scope = scope.trim();
    let of = exact(scope);
    match (capability, scope) {
        (Capability::FsRead, "*") => "read the files that you allow".to_owned(),
        (Capability::FsRead, ".") => "read the files of the workspace".to_owned(),
        (Capability::FsRead, _) => format!("read files: {of}"),
        (Capability::FsWrite, "*") => "change, create and remove the files that you allow".to_owned(),
        (Capability::FsWrite, ".") => "change, create and remove files of the workspace".to_owned(),
        (Capability::FsWrite, _) => format!("change, create and remove files: {of}"),
        (Capability::Process, "*") => "run the programs that you allow on this machine, outside the sandbox".to_owned(),
        (Capability::Process, _) => format!("run programs on this machine, outside the sandbox: {of}"),
        (Capability::Http, "*") => "send requests to the servers that you allow".to_owned(),
        (Capability::Http, _) => requests(scope),
        (Capability::State, "read") => "read the state that it kept in earlier calls".to_owned(),
        (Capability::State, _) => "keep state of its own between calls".to_owned(),
        (Capability::Mcp, "*") => "call the tools of the MCP servers that you allow".to_owned(),
        (Capability::Mcp, _) => format!("call tools of MCP servers: {of}"),
        (Capability::Tools, "*") => {
            "call the other tools of the session, each as if the model had called it".to_owned()
        }
        (Capability::Tools, _) => format!("call other tools of the session, each as if the model had called it: {of}"),
    }
}

/// Describes a scope of `http`: methods joined by `+` unless all are meant, servers, and `+private`.
fn requests(scope: &str) -> String {
    let items = scope.split(',').map(|item| {
        let mut words: Vec<&str> = item.split_whitespace().collect();
        let private = words.iter().position(|word| *word == "+private").map(|place| words.remove(place)).is_some();
        let methods = match words.as_slice() {
            [methods, _, ..] => methods.replace('+', " and "),
            [] | [_] => "any".to_owned(),
        };
        let server = match words.last() {
            None | Some(&"*:*") => "any server".to_owned(),
            Some(&"*") => "port 443 of any server".to_owned(),
            Some(server) => exact(server).into_owned(),
        };
        let private = if private { ", those of private networks too" } else { "" };
        format!("{} requests to {server}{private}", exact(&methods))
    });
    format!("send {}", items.collect::<Vec<_>>().join("; "))
}

fn cannot(capability: Capability) -> &'static str {
    match capability {
        Capability::FsRead => "read files",
        Capability::FsWrite => "change files",
        Capability::Process => "run programs",
        Capability::Http => "reach the network",
        Capability::State => "keep anything between calls",
        Capability::Mcp => "call tools of MCP servers",
        Capability::Tools => "call other tools",
    }
}

fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

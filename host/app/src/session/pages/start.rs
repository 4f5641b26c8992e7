//! What a session has besides its model and its folder, for the first lines of a conversation: which context files the
//! model reads, what the project brings, which MCP servers there are, and whether walls are missing.

use host_settings::project::FOLDER;

use crate::session::Session;

/// The most context files that are named.
const FILES: usize = 8;

/// The most MCP servers that are named.
const SERVERS: usize = 8;

/// The lines; none if there is nothing to say.
pub fn lines(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    let files = session.context_files();
    if !files.is_empty() {
        let more = match files.len().saturating_sub(FILES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named: Vec<&str> = files.iter().take(FILES).map(|file| file.shown.as_str()).collect();
        lines.push(format!("context: {}{more}", named.join(", ")));
    }
    if let Some(brings) = session.app().project().brings() {
        lines.push(format!("project: {FOLDER} (trusted): {brings}"));
    }
    if let Some(servers) = session.app().mcp() {
        let names: Vec<&str> = servers.servers().iter().map(|server| server.name.as_str()).collect();
        let more = match names.len().saturating_sub(SERVERS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = names.get(..SERVERS.min(names.len())).unwrap_or_default().join(", ");
        lines.push(format!("MCP servers: {named}{more} (/mcp shows their state)"));
    }
    if !host_process::level().missing().iter().all(|wall| wall.is_covered) {
        lines.push(
            "walls: this machine cannot confine programs in every way (host doctor says what is missing)".to_owned(),
        );
    }
    lines
}

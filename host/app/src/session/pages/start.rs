//! What a session has besides its model and its folder, for the first lines of a conversation: which context files the
//! model reads, what the project brings, which MCP servers there are, and whether walls are missing.

use host_settings::project::FOLDER;
use host_text::Notice;

use crate::session::Session;

/// The most context files that are named.
const FILES: usize = 8;

/// The most MCP servers that are named.
const SERVERS: usize = 8;

/// The lines; none if there is nothing to say.
pub fn lines(session: &Session) -> Vec<Notice> {
    let mut lines = Vec::new();
    let files = session.context_files();
    if !files.is_empty() {
        let more = match files.len().saturating_sub(FILES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named: Vec<&str> = files.iter().take(FILES).map(|file| file.shown.as_str()).collect();
        lines.push(format!("context: {}{more}", named.join(", ")).into());
    }
    if let Some(brings) = session.app().project().brings() {
        lines.push(format!("project: {FOLDER} (trusted): {brings}").into());
    }
    if let Some(servers) = session.app().mcp() {
        let names: Vec<&str> = servers.servers().iter().map(|server| server.name.as_str()).collect();
        let more = match names.len().saturating_sub(SERVERS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = names.get(..SERVERS.min(names.len())).unwrap_or_default().join(", ");
        lines.push(format!("MCP servers: {named}{more} (/mcp shows their state)").into());
    }
    if !host_process::level().missing().iter().all(|wall| wall.is_covered) {
        let walls = Notice::from("walls: this machine cannot confine programs in every way (");
        lines.push(walls.bare_command("doctor").text(" says what is missing)"));
    }
    lines
}

//! What the first lines of a conversation say besides model and folder: which context files the model reads, and what the
//! project brings.

use host_app::project::FOLDER;
use host_app::session::Session;
use host_terminal::wrapped;

/// The most context files that are named.
const FILES: usize = 8;

/// The indent of further rows.
const INDENT: usize = 9;

/// The lines, wrapped to this width; none if there is nothing to say.
pub(super) fn lines(session: &Session, columns: usize) -> Vec<String> {
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
    if let Some(brings) = session.app().project.brings() {
        lines.push(format!("project: {FOLDER} (trusted): {brings}"));
    }
    lines.into_iter().map(|line| wrapped(&line, columns, INDENT)).collect()
}

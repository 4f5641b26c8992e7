//! The recorded sessions, for a client that offers them.

use agent_client_protocol::v1::schema::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use host_sessions::list::{self, SessionSummary};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::folder;
use host_text::{excerpt, one_line};

/// How many sessions are on a page.
const PAGE: usize = 50;

/// The longest title of a session, in characters.
const TITLE: usize = 80;

/// Lists a page of the sessions, of one folder or of all.
///
/// # Errors
///
/// If the cursor is none of ours, or the sessions cannot be listed.
pub(crate) fn list(environment: &Environment, request: ListSessionsRequest) -> Result<ListSessionsResponse, Failure> {
    let cursor = request.cursor.as_deref();
    let begin = match cursor.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(begin)) => begin,
        Some(Err(_)) => {
            let shown = excerpt(cursor.unwrap_or_default(), TITLE);
            return Err(Failure::input(format!("invalid cursor `{shown}`")).help("send the `nextCursor` of a page"));
        }
    };
    let folder = request.cwd.as_deref().map(folder::resolved);
    let sessions = environment.folders()?.journals();
    // One that is damaged cannot be loaded.
    let all = list::list(&sessions, folder.as_deref())?.into_iter().filter(|session| session.damage.is_none());
    let mut page = all.skip(begin);
    let infos: Vec<_> = page.by_ref().take(PAGE).filter_map(info).collect();
    let next = page.next().is_some().then(|| begin.saturating_add(PAGE).to_string());
    Ok(ListSessionsResponse::new(infos).next_cursor(next))
}

fn info(session: SessionSummary) -> Option<SessionInfo> {
    let title = Some(session.name()).filter(|name| !name.is_empty()).map(title);
    let last = session.last.map(|last| last.to_string());
    Some(SessionInfo::new(session.id, session.workspace?).title(title).updated_at(last))
}

/// The title of a session, from the one that the user gave it or its first prompt.
pub(crate) fn title(prompt: &str) -> String {
    one_line(prompt, TITLE)
}

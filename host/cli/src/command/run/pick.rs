//! Which session a conversation resumes: the last one of the folder, or the one that the user picks from a list.
//!
//! Sessions without a conversation are never offered. Deliberately not here: reading logs, which `host-app` does.

use std::path::Path;

use host_app::app::App;
use host_app::session::resume::Resume;
use host_journal::Journals;
use host_sessions::list::{self, SessionSummary};
use host_sessions::pages::offered;
use host_sessions::{find, title};
use host_settings::error::{ErrorKind, Failure};
use host_terminal::{Pick, PickEntry, TerminalMode};
use host_text::exact;
use jiff::Timestamp;

use crate::ask::{Answered, Asker};

/// The entry behind the sessions of the folder.
const ELSEWHERE: &str = "Sessions of other folders…";

/// How a session is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choose {
    /// The last one.
    Last,
    /// The user picks one.
    Picked,
}

/// Chooses a session of the folder with a conversation.
///
/// # Errors
///
/// If there is none, or the user picks none.
pub(super) async fn choose(how: Choose, app: &App, asker: Option<&Asker<'_>>) -> Result<Resume, Failure> {
    let here = app.workspace().root();
    let sessions = &**app.journals();
    let mut offered = list::resumable(sessions, here)?;
    if offered.is_empty() {
        return Err(Failure::input(format!("there is no session of `{}` to continue", here.display()))
            .help("start one with `host`; host session list --all lists those of other folders"));
    }
    let at = match asker.filter(|asker| how == Choose::Picked && asker.mode() == TerminalMode::Ansi) {
        None => 0,
        Some(asker) => {
            let title = "Which session do you want to continue?";
            let offers = Offer { asker, sessions, title, folders: Folders::One };
            let elsewhere = list::has_elsewhere(sessions, here)?.then_some(ELSEWHERE);
            match offers.picked(&mut offered, elsewhere).await? {
                Some(at) => at,
                None => {
                    let title = "Which session of another folder do you look for?";
                    let offers = Offer { title, folders: Folders::Many, ..offers };
                    return Err(belongs_elsewhere(&offers, here).await?);
                }
            }
        }
    };
    let chosen = if at < offered.len() { offered.swap_remove(at) } else { offered.swap_remove(0) };
    Ok(Resume::Id(chosen.id))
}

/// A session works in one folder: what it read and changed is there. So one of another folder is named, with the
/// command.
async fn belongs_elsewhere(offers: &Offer<'_>, here: &Path) -> Result<Failure, Failure> {
    let mut offered = list::resumable_elsewhere(offers.sessions, here)?;
    if offered.is_empty() {
        return Ok(Failure::input("no session of another folder has a conversation")
            .help("host session list --all lists those without one, too"));
    }
    let at = offers.picked(&mut offered, None).await?.unwrap_or_default();
    let session = offered.swap_remove(at.min(offered.len().saturating_sub(1)));
    let folder = session.workspace.unwrap_or_default();
    Ok(Failure::input(format!("session {} belongs to `{}`", session.id, exact(&folder)))
        .help(format!("in that folder: host run --resume {}", session.id)))
}

/// A list of sessions to pick from.
struct Offer<'a> {
    asker: &'a Asker<'a>,
    sessions: &'a dyn Journals,
    title: &'static str,
    folders: Folders,
}

/// Whose sessions a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folders {
    One,
    /// Each entry has to say its own.
    Many,
}

impl Offer<'_> {
    /// Returns the position of the picked session; `None` if the entry `more` behind them was picked. Those that the
    /// user renames get their titles.
    async fn picked(&self, offered: &mut [SessionSummary], more: Option<&str>) -> Result<Option<usize>, Failure> {
        loop {
            let now = Timestamp::now();
            let mut entries: Vec<PickEntry> = offered.iter().map(|session| entry(session, self.folders, now)).collect();
            let renamed = entries.len();
            entries.extend(more.map(|title| PickEntry {
                title: title.to_owned(),
                details: "Enter lists them".to_owned(),
                preview: Vec::new(),
            }));
            let lines = vec![self.asker.style().bold(self.title)];
            let (answered, title) = self.asker.pick_or_rename(Pick { lines, entries, renamed }).await?;
            let Answered::Choice(at) = answered else {
                return Err(Failure::new(ErrorKind::Cancelled, "no session was chosen"));
            };
            match offered.get_mut(at) {
                Some(_) if title.is_empty() => return Ok(Some(at)),
                Some(session) => {
                    title::rename(&find::by_id(self.sessions, &session.id)?.artifacts(), &title)?;
                    session.title = Some(title);
                }
                None => return Ok(None),
            }
        }
    }
}

fn entry(session: &SessionSummary, folders: Folders, now: Timestamp) -> PickEntry {
    let title = offered::title(session);
    let details = offered::details(session, folders == Folders::Many, now);
    PickEntry { title, details, preview: offered::preview(session) }
}

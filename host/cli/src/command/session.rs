//! `host session`: what was recorded, as a list, as a page to read, and as a document or data.
//!
//! Promises that a mistyped id removes nothing. Deliberately not here: the texts (`host_app::session::pages`), and
//! going on with a session, which is `host run --resume`.

use std::path::{Path, PathBuf};

use host_journal::{Clock, Journals, Stored};
use host_sessions::pages::{blame, list, markdown, show, verify};
use host_sessions::transcript::{self, Transcript};
use host_sessions::verify::{SessionVerdict, Verdict};
use host_sessions::{find, title};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::visible_line;
use tokio_util::sync::CancellationToken;

use crate::arguments::{ExportFormat, Session};
use crate::exit::Code;
use crate::printer::Out;

pub(crate) fn run(session: Session, environment: &Environment) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let sessions = folders.journals();
    let out = Out::new(CancellationToken::new());
    match session {
        Session::List { folder, all, json } => {
            let here = canonical(folder.as_deref().unwrap_or(Path::new(".")))?;
            let listed = host_sessions::list::list(&sessions, (!all).then_some(here.as_path()))?;
            out.write(&if json { list::json(&listed)? } else { list::text(&listed, all) });
        }
        Session::Show { id } => {
            let transcript = Transcript::read(&one(&sessions, id.as_deref())?);
            out.write(&show::text(&transcript));
            // Shows the readable part, and then reports the fault in the rest.
            return transcript.whole().map(|_| Code::Done);
        }
        Session::Fork { id } => {
            let stored = one(&sessions, id.as_deref())?;
            let fork = stored.fork(Clock::system(), &folders.chains()?)?;
            out.write(&format!("{fork}\n"));
            let copied = format!("copied {}; continue the copy with host run --resume {fork}\n", stored.id);
            crate::printer::to_stderr(&copied);
        }
        Session::Rename { id, title } => {
            let stored = find::by_id(&sessions, &id)?;
            title::rename(&stored.artifacts(), &title)?;
            let named = title::title_of(&stored.artifacts());
            out.write(&match named {
                Some(title) => format!("session {} is named “{}”\n", stored.id, visible_line(&title)),
                None => format!("session {} has no title\n", stored.id),
            });
        }
        Session::Rm { ids } => remove(&ids, &sessions, &out)?,
        Session::Verify { ids, all, json } => {
            let verdicts = match (all, ids.as_slice()) {
                (true, _) => verify::all(&sessions, &folders.chains()?)?,
                (false, []) => verify::here(&sessions, &canonical(Path::new("."))?, &folders.chains()?)?,
                (false, ids) => verify::named(&sessions, ids, &folders.chains()?)?,
            };
            out.write(&if json { transcript::to_json(&verdicts)? } else { verify::text(&verdicts) });
            return Ok(verified(&verdicts));
        }
        Session::Blame { file, json } => {
            let blamed = host_sessions::blame::blame(&file, &sessions, &folders.chains()?)?;
            out.write(&if json { transcript::to_json(&blamed)? } else { blame::text(&blamed) });
        }
        Session::Export { id, format, output } => {
            let transcript = Transcript::read(&one(&sessions, id.as_deref())?).whole()?;
            let text = match format {
                ExportFormat::Markdown => markdown::text(&transcript),
                ExportFormat::Json => transcript.json()?,
            };
            match output {
                None => out.write(&text),
                Some(file) => write(&file, &text)?,
            }
        }
    }
    Ok(Code::Done)
}

/// Removes the sessions with these ids; none of them if one means none or several.
fn remove(ids: &[String], sessions: &dyn Journals, out: &Out) -> Result<(), Failure> {
    let found = ids.iter().map(|id| find::by_id(sessions, id)).collect::<Result<Vec<_>, _>>()?;
    for (number, stored) in found.iter().enumerate() {
        // Two beginnings may name the same one.
        if !found.iter().take(number).any(|before| before.id == stored.id) {
            sessions.remove(&stored.id)?;
            out.write(&format!("removed session {}\n", stored.id));
        }
    }
    Ok(())
}

/// Writes a text to a file that the user named.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| {
        Failure::input(format!("`{}` cannot be written: {error}", file.display()))
            .help("name a file in a folder that you may write")
    })
}

/// The session with this id, or the last one of the current folder.
fn one(sessions: &dyn Journals, id: Option<&str>) -> Result<Stored, Failure> {
    match id {
        Some(id) => find::by_id(sessions, id),
        None => find::last_of(sessions, &canonical(Path::new("."))?),
    }
}

fn canonical(folder: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(folder)
        .map_err(|error| Failure::input(format!("there is no folder `{}`: {error}", folder.display())))
}

/// The exit code: 0 only if all was verified.
fn verified(verdicts: &[SessionVerdict]) -> Code {
    match verdicts.iter().all(|verdict| verdict.verdict == Verdict::Verified) {
        true => Code::Done,
        false => Code::Failed(ErrorKind::Altered),
    }
}

//! `host undo`: which calls of a session changed files, and taking their changes back. `/undo` shows the same.
//!
//! Deliberately not here: what is kept, and which files are restored, which `host-sessions` decides.

use std::path::Path;

use host_app::session::pages::undo as pages;
use host_sessions::find;
use host_sessions::undo::{Became, ChangingCall, Undo};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_terminal::{Interrupt, Pick, PickEntry, TerminalMode};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::UndoArguments;
use crate::ask::{Answered, Asker};
use crate::exit::Code;
use crate::printer::page::drawn;
use crate::printer::{self, Out, Style};

pub(crate) async fn run(
    arguments: UndoArguments,
    environment: &Environment,
    interrupt: &Interrupt,
) -> Result<Code, Failure> {
    let UndoArguments { id, to, json } = arguments;
    let folders = environment.folders()?;
    let chains = folders.chains()?;
    let sessions = folders.journals();
    let stored = match id {
        Some(id) => find::by_id(&sessions, &id)?,
        None => {
            let here = std::fs::canonicalize(Path::new("."))
                .map_err(|error| Failure::input(format!("the current folder cannot be read: {error}")))?;
            find::last_of(&sessions, &here)?
        }
    };
    let session = stored.id.clone();
    let (out, style) = (Out::new(CancellationToken::new()), printer::style(environment));
    let undo = Undo::of_stored(&sessions, stored, &chains)?;
    let calls = undo.calls()?;
    let asker = Asker::new(environment, interrupt).filter(|asker| !json && asker.mode() == TerminalMode::Ansi);
    let to = match (to, asker) {
        (None, Some(asker)) if !calls.is_empty() => match asker.pick(choices(&calls, style)).await? {
            Answered::Choice(at) => Some(number(&calls, at)),
            Answered::Dismissed => return Ok(Code::Done),
        },
        (to, _) => to,
    };
    let Some(to) = to else {
        let text = match json {
            true => printer::json(&json!({"session": session, "calls": calls}))?,
            false if calls.is_empty() => format!("session {session} changed no files\n"),
            false => {
                let help =
                    format!("\nhost undo {session} --to NUMBER takes back what that call and all later ones changed\n");
                drawn(&pages::calls(&calls), usize::MAX, style, TerminalMode::Dumb) + &help
            }
        };
        out.write(&text);
        return Ok(Code::Done);
    };
    let undone = undo.take_back(to)?;
    out.write(&match json {
        true => printer::json(&json!({"session": session, "files": undone}))?,
        false => drawn(&pages::report(&undone), usize::MAX, style, TerminalMode::Dumb),
    });
    let left_alone = undone.iter().any(|undoing| matches!(undoing.became, Became::LeftAlone(_)));
    Ok(if left_alone { Code::Failed(ErrorKind::Tool) } else { Code::Done })
}

/// What the user picks from, the latest call first.
pub(crate) fn choices(calls: &[ChangingCall], style: Style) -> Pick {
    let entry = |call: &ChangingCall| PickEntry {
        title: format!("{}  {}", call.number, call.title),
        details: pages::details(call),
        preview: Vec::new(),
    };
    Pick { lines: vec![style.bold(pages::WHICH)], entries: calls.iter().rev().map(entry).collect(), renamed: 0 }
}

/// Returns the number of the call at this place of [`choices`].
pub(crate) fn number(calls: &[ChangingCall], at: usize) -> usize {
    calls.len().saturating_sub(at)
}

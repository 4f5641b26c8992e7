//! `host undo`: which calls of a session changed files, and taking their changes back. `/undo` shows the same.
//!
//! Deliberately not here: what is kept, and which files are restored, which `host-app` decides.

use std::fmt::Write as _;
use std::path::Path;

use host_app::session::find;
use host_app::session::undo::{Became, ChangeKind, ChangingCall, Undo, Undoing};
use host_journal::Sessions;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_terminal::{Interrupt, Pick, PickEntry, TerminalMode};
use host_text::counted;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::UndoArguments;
use crate::ask::{Answered, Asker};
use crate::exit::Code;
use crate::printer::{self, Out, Style};

/// The most files of a call that a list names.
const NAMED: usize = 8;

pub(crate) async fn run(
    arguments: UndoArguments,
    environment: &Environment,
    interrupt: &Interrupt,
) -> Result<Code, Failure> {
    let UndoArguments { id, to, json } = arguments;
    let folders = environment.folders()?;
    let chains = folders.chains()?;
    let sessions = Sessions::new(folders.sessions);
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
    let undo = Undo::of_stored(stored, &chains)?;
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
                list(&calls, style) + &help
            }
        };
        out.write(&text);
        return Ok(Code::Done);
    };
    let undone = undo.take_back(to)?;
    out.write(&match json {
        true => printer::json(&json!({"session": session, "files": undone}))?,
        false => report(&undone, style),
    });
    let left_alone = undone.iter().any(|undoing| matches!(undoing.became, Became::LeftAlone(_)));
    Ok(if left_alone { Code::Failed(ErrorKind::Tool) } else { Code::Done })
}

/// What the user picks from, the latest call first.
pub(crate) fn choices(calls: &[ChangingCall], style: Style) -> Pick {
    let entry = |call: &ChangingCall| PickEntry {
        title: format!("{}  {}", call.number, call.title),
        details: details(call),
        preview: Vec::new(),
    };
    let title = style.bold("Undo back to before which call? Later calls are undone, too.");
    Pick { lines: vec![title], entries: calls.iter().rev().map(entry).collect(), renamed: 0 }
}

/// What a call changed, on one line. One that only removed what it had made, or of whose changes nothing is kept, has
/// no files.
fn details(call: &ChangingCall) -> String {
    let names: Vec<String> = call.files.iter().take(NAMED).map(|file| file.path.clone()).collect();
    match (call.files.len(), call.not_kept.first()) {
        (0, None) => "nothing that it changed is left".to_owned(),
        (0, Some(why)) => format!("nothing to undo: {why}"),
        (count, _) => format!("{}: {}", counted(count as u64, "file"), names.join(" ")),
    }
}

/// Returns the number of the call at this place of [`choices`].
pub(crate) fn number(calls: &[ChangingCall], at: usize) -> usize {
    calls.len().saturating_sub(at)
}

/// The calls with what each changed.
pub(crate) fn list(calls: &[ChangingCall], style: Style) -> String {
    let mut text = String::new();
    for call in calls {
        // A string takes everything.
        let _ = writeln!(text, "{:>3}  {}", call.number, style.bold(&call.title));
        for file in call.files.iter().take(NAMED) {
            let sign = match file.kind {
                ChangeKind::Created => '+',
                ChangeKind::Changed => '~',
                ChangeKind::Removed => '-',
            };
            let why = file.not_kept.as_ref().map(|why| format!(" (not kept: {why})")).unwrap_or_default();
            let later = file.run_later_by.map(|by| format!(" (run by {by} later)")).unwrap_or_default();
            let _ = writeln!(text, "     {sign} {}{}{}", file.path, style.bold(&later), style.dim(&why));
        }
        if let Some(more) = call.files.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let _ = writeln!(text, "     and {} more", counted(more as u64, "file"));
        }
        for why in &call.not_kept {
            let _ = writeln!(text, "     {}", style.dim(&format!("! {why}")));
        }
    }
    text
}

/// What became of each file.
pub(crate) fn report(undone: &[Undoing], style: Style) -> String {
    let mut text = String::new();
    for undoing in undone {
        let path = &undoing.path;
        let _ = match &undoing.became {
            Became::Restored => writeln!(text, "restored {path}"),
            Became::Removed => writeln!(text, "removed {path}"),
            Became::Already => writeln!(text, "{}", style.dim(&format!("{path} is as before already"))),
            Became::LeftAlone(why) => writeln!(text, "{} {path}: {why}", style.bold("left alone")),
        };
    }
    if text.is_empty() {
        text.push_str("there was nothing to undo\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use host_app::session::undo::FileChange;

    use super::*;

    #[test]
    fn undo_names_what_a_call_changed_or_why_there_is_nothing() {
        let call = |files: &[&str], not_kept: &[&str]| ChangingCall {
            number: 1,
            id: "c1".to_owned(),
            title: "shell make".to_owned(),
            files: files
                .iter()
                .map(|path| FileChange {
                    path: (*path).to_owned(),
                    kind: ChangeKind::Changed,
                    not_kept: None,
                    run_later_by: None,
                })
                .collect(),
            not_kept: not_kept.iter().map(|why| (*why).to_owned()).collect(),
        };
        for (files, not_kept, said) in [
            (&["a", "b"][..], &["x"][..], "2 files: a b"),
            (&["a"], &[], "1 file: a"),
            (&[], &["`make` was not confined"], "nothing to undo: `make` was not confined"),
            (&[], &[], "nothing that it changed is left"),
        ] {
            assert_eq!(details(&call(files, not_kept)), said);
        }
    }
}

//! The calls that changed files, and what became of files that were taken back.

use host_sessions::undo::{Became, ChangeKind, ChangingCall, Undoing};
use host_text::counted;

use crate::page::{Line, Page, Weight};

/// The most files of a call that a list names.
const NAMED: usize = 8;

/// The question which call to go back to.
pub const WHICH: &str = "Undo back to before which call? Later calls are undone, too.";

/// The indent of what belongs to a call.
const INDENT: usize = 7;

/// The calls with what each changed, oldest first.
pub fn calls(calls: &[ChangingCall]) -> Page {
    let mut page = Page::default();
    for call in calls {
        let number = Line::new(format!("{:>3}  ", call.number));
        page.push(number.and(&call.title, Weight::Strong).indented(INDENT));
        for file in call.files.iter().take(NAMED) {
            let sign = match file.kind {
                ChangeKind::Created => '+',
                ChangeKind::Changed => '~',
                ChangeKind::Removed => '-',
            };
            let why = file.not_kept.as_ref().map(|why| format!(" (not kept: {why})")).unwrap_or_default();
            let later = file.run_later_by.map(|by| format!(" (run by {by} later)")).unwrap_or_default();
            let line = Line::new(format!("     {sign} {}", file.path));
            page.push(line.and(later, Weight::Strong).and(why, Weight::Faint).indented(INDENT));
        }
        if let Some(more) = call.files.len().checked_sub(NAMED).filter(|more| *more > 0) {
            page.push(Line::new(format!("     and {} more", counted(more as u64, "file"))).indented(INDENT));
        }
        for why in &call.not_kept {
            page.push(Line::new("     ").and(format!("! {why}"), Weight::Faint).indented(INDENT));
        }
    }
    page
}

/// What a call changed, on one line. One that only removed what it had made, or of whose changes nothing is kept, has
/// no files.
pub fn details(call: &ChangingCall) -> String {
    let names: Vec<String> = call.files.iter().take(NAMED).map(|file| file.path.clone()).collect();
    match (call.files.len(), call.not_kept.first()) {
        (0, None) => "nothing that it changed is left".to_owned(),
        (0, Some(why)) => format!("nothing to undo: {why}"),
        (count, _) => format!("{}: {}", counted(count as u64, "file"), names.join(" ")),
    }
}

/// What became of each file.
pub fn report(undone: &[Undoing]) -> Page {
    if undone.is_empty() {
        return Page::of("there was nothing to undo");
    }
    let line = |Undoing { path, became }: &Undoing| match became {
        Became::Restored => Line::new(format!("restored {path}")),
        Became::Removed => Line::new(format!("removed {path}")),
        Became::Already => Line::faint(format!("{path} is as before already")),
        Became::LeftAlone(why) => Line::strong("left alone").and(format!(" {path}: {why}"), Weight::Plain),
    };
    undone.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_sessions::undo::FileChange;

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

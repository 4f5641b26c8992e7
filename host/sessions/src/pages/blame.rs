//! The versions of a file and the calls that made them, as a page.

use std::fmt::Write as _;

use host_text::counted;
use host_tool::Decided;

use super::list::local;
use crate::blame::{Blame, Content, Now, Version};
use crate::undo::ChangeKind;

/// How much of a digest is shown, in characters. JSON has all of it.
const DIGEST: usize = 12;

/// The page.
pub fn text(Blame { path, versions, now, notes }: &Blame) -> String {
    let mut text = match versions.is_empty() {
        true if !notes.is_empty() => format!("no change of {path} is recorded, but not all is known\n"),
        true => format!("no recorded session changed {path}\n"),
        false => format!("{path}: {}, the oldest first\n", counted(versions.len(), "version")),
    };
    for version in versions {
        text.push('\n');
        one(&mut text, version);
    }
    let word = match now {
        Now::NoVersion => None,
        Now::Unchanged => Some("now as the last version left it"),
        Now::Changed => Some("changed outside of a session since"),
        Now::Removed => Some("removed outside of a session since"),
        Now::Unknown => Some("whether it changed since is not known: its content cannot be compared"),
    };
    // A string takes everything, here and below.
    if let Some(word) = word {
        let _ = writeln!(text, "\n{word}");
    }
    for note in notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn one(text: &mut String, version: &Version) {
    if version.changed_before {
        text.push_str("changed outside of a session\n\n");
    }
    let when = version.time.map_or_else(|| "-".to_owned(), local);
    let named = format!("{} {}", version.tool.as_deref().unwrap_or_default(), version.title);
    let _ = writeln!(text, "{when}  {} call {}  {}", version.session, version.call, named.trim());
    let kind = match (version.kind, version.not_written) {
        (_, true) => "not written: the call was stopped or failed",
        (ChangeKind::Created, false) => "created",
        (ChangeKind::Changed, false) => "changed",
        (ChangeKind::Removed, false) => "removed",
    };
    let content = match &version.content {
        Content::Absent => String::new(),
        Content::File { digest, bytes } => {
            format!(", {}, {}", counted(bytes, "byte"), digest.get(..DIGEST).unwrap_or(digest))
        }
        Content::Folder => ", a folder".to_owned(),
        Content::Link { target } => format!(", a link to {target}"),
        Content::Unknown => ", a content that was not kept".to_owned(),
    };
    let by = if version.by_program { " by a program of the call" } else { "" };
    let _ = writeln!(text, "  file      {kind}{by}{content}");
    if let Some(prompt) = &version.prompt {
        let _ = writeln!(text, "  prompt    {prompt}");
    }
    let _ = writeln!(text, "  approval  {}", approval(version));
}

fn approval(version: &Version) -> String {
    let word = match version.decided {
        None if version.because.is_empty() => return "not recorded".to_owned(),
        None => return version.because.join("; "),
        Some(Decided::Allowed) => "allowed without a question",
        Some(Decided::Approved) => "approved",
        Some(Decided::Changed) => "approved after the user changed it",
        Some(Decided::Rejected) => "rejected",
        Some(Decided::Denied) => "denied",
    };
    match version.because.is_empty() {
        true => word.to_owned(),
        false => format!("{word}: {}", version.because.join("; ")),
    }
}

//! The tool `write_file`: a whole file, new or in place of what is there.
//!
//! What is there is read first, and the write names its digest: what changed in between is not overwritten.
//!
//! Deliberately not here: changing part of a file (`edit`).

mod change;

use change::Change;
use host_sdk::{
    Annotations, Confirmation, Failure, FileDifference, InfoConfirmation, Outcome, Tool, export_plugin, fs_read,
    fs_write,
};
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "\
Writes a whole file: makes it, or replaces everything that is in it. The user who approves the call is shown the \
difference first. To change part of a file use `edit`.";

export_plugin!(write_file());

fn write_file() -> Tool {
    Tool::new("write_file", DESCRIPTION, include_str!("input.json"), call)
        .title("Write a file")
        .annotations(Annotations { read_only: false, destructive: true, idempotent: true, open_world: false })
        .needs("fs-read", "*", "compare with what is there before it is overwritten")
        .needs("fs-write", "*", "write the files that the model names")
        .preview(preview)
        .revise(revise)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    let Arguments { path, content } = arguments;
    let change = Change::of(&path, there(&path)?.as_ref().map(|whole| whole.data.as_slice()), &content);
    Ok(match change {
        Change::None => None,
        Change::Binary { size } => Some(Confirmation::Info(InfoConfirmation {
            text: change::replaces_binary(&path, size, &content),
            requests: Vec::new(),
            writes: vec![path],
        })),
        Change::Text { unified } => Some(Confirmation::Edit(FileDifference { path, unified, proposed: content })),
    })
}

fn revise(arguments: Arguments, content: String) -> Result<Value, Failure> {
    Ok(json!({"path": arguments.path, "content": content}))
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { path, content } = arguments;
    let there = there(&path)?;
    let change = Change::of(&path, there.as_ref().map(|whole| whole.data.as_slice()), &content);
    if let Change::None = change {
        let line = format!("`{path}` has this content already; nothing was written");
        return Ok(Outcome::text(line.clone()).with_summary(line));
    }
    let expected = match there {
        Some(whole) => fs_write::Expected::Digest(whole.digest),
        None => fs_write::Expected::Absent,
    };
    let written = fs_write::write(&path, content.as_bytes(), &expected)?;
    let line = change::written(&path, written.created, &content);
    let outcome = Outcome::text(line.clone());
    Ok(match change {
        Change::Text { unified } => outcome.with_difference(FileDifference { path, unified, proposed: content }),
        Change::None | Change::Binary { .. } => outcome.with_summary(line),
    })
}

/// What is at the path now; none for nothing.
fn there(path: &str) -> Result<Option<fs_read::Whole>, Failure> {
    match fs_read::read_whole(path) {
        Ok(whole) => Ok(Some(whole)),
        Err(fs_read::Error::NotFound(_)) => Ok(None),
        // Without a digest it would be overwritten unseen, and a file of that size is hardly a text.
        Err(fs_read::Error::TooLarge(size)) => Err(Failure::Conflict(format!(
            "`{path}` exists and has {size} bytes, too many to compare with: remove it first if it is to be replaced"
        ))),
        Err(error) => Err(error.into()),
    }
}

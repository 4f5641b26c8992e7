//! The tool `edit`: one text in a file replaced by another.
//!
//! The write names the digest of what was read, so a file that changed in between stays as it is.
//!
//! Deliberately not here: regular expressions and line numbers, which a model gets wrong without noticing; text
//! that must be there is its own check.

mod file;
mod flexible;
mod replace;

use file::TextFile;
use host_sdk::{Annotations, Confirmation, Failure, FileDifference, Outcome, Tool, export_plugin, fs_read, fs_write};
use replace::{Replaced, replace};
use serde::Deserialize;
use serde_json::{Value, json};
use tool_difference::unified;
use tool_text::printable;

const DESCRIPTION: &str = "\
Replaces text in a file. `old_string` must stand in the file exactly `expected_replacements` times (default 1). \
When it is not there to the letter, lines that differ only in the white space at their start and end are taken, \
and the new lines are indented like them. Line endings are kept. Read the file before you edit it. With an empty \
`old_string` a new file is made.";

export_plugin!(edit());

fn edit() -> Tool {
    Tool::new("edit", DESCRIPTION, include_str!("input.json"), call)
        .title("Edit a file")
        .annotations(Annotations { read_only: false, destructive: true, idempotent: false, open_world: false })
        .needs("fs-read", "*", "find the text that is to be replaced")
        .needs("fs-write", "*", "change the files that the model names")
        .preview(preview)
        .revise(revise)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default = "once")]
    expected_replacements: usize,
}

fn once() -> usize {
    1
}

/// An edit that was thought through and not yet done.
struct Plan {
    difference: FileDifference,
    expected: fs_write::Expected,
    /// What will have been done, for the model.
    words: String,
}

fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    Ok(Some(Confirmation::Edit(plan(arguments)?.difference)))
}

/// The call that replaces the whole file, as it is now, with what the user made of it.
fn revise(arguments: Arguments, content: String) -> Result<Value, Failure> {
    let path = arguments.path;
    let old_string = match fs_read::read_whole(&path) {
        Ok(whole) => TextFile::new(&whole.data).map(|file| file.text).ok_or_else(|| no_text(&path))?,
        Err(fs_read::Error::NotFound(_)) => String::new(),
        Err(error) => return Err(error.into()),
    };
    // As a model knows it: what the file needs besides is put on again by the call.
    let content = content.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    Ok(json!({"path": path, "old_string": old_string, "new_string": content}))
}

fn no_text(path: &str) -> Failure {
    Failure::InvalidArguments(format!("`{path}` is no UTF-8 text, and cannot be edited as one"))
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Plan { difference, expected, words } = plan(arguments)?;
    fs_write::write(&difference.path, difference.proposed.as_bytes(), &expected)?;
    Ok(Outcome::text(words).with_difference(difference))
}

fn plan(arguments: Arguments) -> Result<Plan, Failure> {
    let Arguments { path, old_string, new_string, expected_replacements } = arguments;
    let whole = match fs_read::read_whole(&path) {
        Ok(whole) => Some(whole),
        Err(fs_read::Error::NotFound(_)) => None,
        Err(fs_read::Error::TooLarge(size)) => {
            return Err(Failure::InvalidArguments(format!("`{path}` has {size} bytes, too many to edit")));
        }
        Err(error) => return Err(error.into()),
    };
    let Some(whole) = whole else {
        if !old_string.is_empty() {
            return Err(Failure::NotFound(format!("there is no file `{path}`; to make it, leave `old_string` empty")));
        }
        let words = format!("Created `{}`", printable(&path));
        let unified = unified(&path, None, &new_string);
        let difference = FileDifference { path, unified, proposed: new_string };
        return Ok(Plan { difference, expected: fs_write::Expected::Absent, words });
    };
    if old_string.is_empty() {
        return Err(Failure::Conflict(format!(
            "`{path}` exists: an empty `old_string` makes a new file; use `write_file` to replace all of it"
        )));
    }
    let file = TextFile::new(&whole.data).ok_or_else(|| no_text(&path))?;
    let Replaced { text, count, exactly } = replace(&file.text, &old_string, &new_string, expected_replacements)
        .map_err(|why| Failure::Conflict(format!("`{path}` was not changed: {why}")))?;
    let proposed = file.restore(&text);
    if proposed.as_bytes() == whole.data {
        return Err(Failure::Conflict(format!("`{path}` was not changed: the edit makes no difference to it")));
    }
    let before = String::from_utf8_lossy(&whole.data);
    let unified = unified(&path, Some(&before), &proposed);
    let times = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    let how = if exactly { "" } else { " (matched without regard to indentation; the new lines are indented alike)" };
    let words = format!("Edited `{}` in {times}{how}", printable(&path));
    let difference = FileDifference { path, unified, proposed };
    Ok(Plan { difference, expected: fs_write::Expected::Digest(whole.digest), words })
}

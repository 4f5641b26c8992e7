//! The tool `edit`: one text in a file replaced by another.
//!
//! The write names the digest of what was read, so a file that changed in between stays as it is.
//!
//! Deliberately not here: regular expressions and line numbers, which a model gets wrong without noticing; text
//! that must be there is its own check. Which ways of writing it count as the same is in `tool-matching`.

mod replace;

use host_sdk::{Annotations, Confirmation, Failure, FileDifference, Outcome, Tool, export_plugin, fs_read, fs_write};
use replace::{Replaced, how, replace};
use serde::Deserialize;
use serde_json::{Value, json};
use tool_difference::unified;
use tool_matching::TextFile;
use tool_text::printable;

const DESCRIPTION: &str = "\
Replaces text in a file. `old_string` is text of the file as you read it, without the line numbers, and with just \
enough of the lines around it to be there only once; `replace_all` replaces each place. If the text is not there to \
the letter, text is taken that differs only in white space or in the form of quotes and dashes; what you do not change \
stays as it is in the file, and new lines are indented like those around them. Line ends are kept. If the text is not \
there, the nearest lines are shown. An empty `old_string` creates a file. Only UTF-8 text of at most 20 MiB; a file that \
somebody else changed since you last saw it is not changed, and the difference is shown.";

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
    #[serde(default)]
    replace_all: bool,
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
        Ok(whole) => TextFile::new(&whole.data).map(|file| file.text().to_owned()).ok_or_else(|| no_text(&path))?,
        Err(fs_read::Error::NotFound(_)) => String::new(),
        Err(error) => return Err(error.into()),
    };
    // As a model knows it: what the file needs besides is put on again by the call.
    let content = content.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    Ok(json!({"path": path, "old_string": old_string, "new_string": content}))
}

fn no_text(path: &str) -> Failure {
    Failure::InvalidArguments(format!("`{path}` is not UTF-8 text, and cannot be edited as such"))
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Plan { difference, expected, words } = plan(arguments)?;
    fs_write::write(&difference.path, difference.proposed.as_bytes(), &expected)?;
    Ok(Outcome::text(words).with_difference(difference))
}

fn plan(arguments: Arguments) -> Result<Plan, Failure> {
    let Arguments { path, old_string, new_string, replace_all } = arguments;
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
    let Replaced { text, count, closeness, read_as } = replace(file.text(), &old_string, &new_string, replace_all)
        .map_err(|why| Failure::Conflict(format!("`{path}` was not changed: {why}")))?;
    let proposed = file.restore(&text);
    if proposed.as_bytes() == whole.data {
        return Err(Failure::Conflict(format!("`{path}` was not changed: the edit makes no difference to it")));
    }
    let before = String::from_utf8_lossy(&whole.data);
    let unified = unified(&path, Some(&before), &proposed);
    let times = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    let how = how(closeness, read_as).map(|how| format!(" ({how})")).unwrap_or_default();
    let words = format!("Edited `{}` in {times}{how}", printable(&path));
    let difference = FileDifference { path, unified, proposed };
    Ok(Plan { difference, expected: fs_write::Expected::Digest(whole.digest), words })
}

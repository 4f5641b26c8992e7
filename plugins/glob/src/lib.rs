//! The tool `glob`: files by their names.

mod found;

use found::Found;
use host_sdk::fs_read::{Walk, WalkOptions};
use host_sdk::{Annotations, Failure, Outcome, Tool, context, export_plugin};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Finds files whose path matches a glob, at any depth. The first line says how many there are; then come their \
paths, one on a line: first what was changed within a day of the latest change, newest first, then the rest in \
the order of their paths. At most 1000 are listed. Files that ignore rules leave out are not found.";

export_plugin!(glob());

fn glob() -> Tool {
    Tool::new("glob", DESCRIPTION, include_str!("input.json"), call)
        .title("Find files")
        .annotations(Annotations::READ_ONLY)
        .needs("fs-read", "*", "find files by their names")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    #[serde(default = "workspace")]
    path: String,
    #[serde(default)]
    case_sensitive: bool,
    #[serde(default = "yes")]
    respect_ignore: bool,
}

fn workspace() -> String {
    ".".to_owned()
}

fn yes() -> bool {
    true
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { pattern, path, case_sensitive, respect_ignore } = arguments;
    let walk = Walk::open(&WalkOptions {
        root: path.clone(),
        globs: vec![pattern.clone()],
        globs_ignore_case: !case_sensitive,
        respect_ignore,
        // A model looks for `.github/workflows` as for anything else; `.git` is never walked.
        hidden: true,
        ..WalkOptions::default()
    })?;
    let mut found = Found::default();
    while let Some(batch) = walk.next_batch()? {
        for index in 0..batch.len() {
            found.add(&batch.name(index), batch.modified(index));
        }
        if context::should_stop() {
            return Err(Failure::Cancelled(found.write(&pattern, &path, &walk.summary())));
        }
    }
    let text = found.write(&pattern, &path, &walk.summary());
    Ok(Outcome::text(text).with_summary(found.summary()))
}

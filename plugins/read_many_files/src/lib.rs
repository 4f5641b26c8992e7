//! The tool `read_many_files`: the text of all files that match some globs.
//!
//! Deliberately not here: choosing which of many files matter; the order is that of their paths, and what does not
//! fit is named, not summarised.

mod collected;

use collected::Collected;
use host_sdk::fs_read::{Walk, WalkOptions};
use host_sdk::{Annotations, Failure, Outcome, Tool, context, export_plugin};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Reads all files that match the globs in `include`, in the order of their paths, each under a line `--- path ---`. \
Shows the first 2000 lines of each file and 400000 characters in all, and says what was left out. Images, audio and \
PDF files come as data when a glob names their extension; other binary files are listed and skipped. Use it to get \
an overview of several files at once; use `read_file` for one.";

/// Larger files are not read; they are counted, and that is said. As much as the host hands over at once.
const MAX_FILE: u64 = 20 * 1024 * 1024;

export_plugin!(read_many_files());

fn read_many_files() -> Tool {
    Tool::new("read_many_files", DESCRIPTION, include_str!("input.json"), call)
        .title("Read many files")
        .annotations(Annotations::READ_ONLY)
        .needs("fs-read", "*", "read the files that the model names by globs")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default = "yes")]
    respect_ignore: bool,
}

fn yes() -> bool {
    true
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { include, exclude, respect_ignore } = arguments;
    if include.is_empty() {
        return Err(Failure::InvalidArguments("`include` names no files".to_owned()));
    }
    let excluded = exclude.iter().map(|glob| format!("!{}", glob.strip_prefix('!').unwrap_or(glob)));
    let walk = Walk::open(&WalkOptions {
        globs: include.iter().cloned().chain(excluded).collect(),
        respect_ignore,
        // A model names `.github/**` like anything else; `.git` is never walked.
        hidden: true,
        contents: true,
        max_file_size: MAX_FILE,
        // What fits is then always the same, and the walk ends where nothing more fits.
        sorted: true,
        ..WalkOptions::default()
    })?;
    let mut collected = Collected::new(include);
    'walk: while let Some(batch) = walk.next_batch()? {
        for index in 0..batch.len() {
            collected.add(&batch.name(index), batch.content(index));
            if collected.is_full() {
                break 'walk;
            }
        }
        if context::should_stop() {
            return Err(Failure::Cancelled(collected.finish(&walk.summary()).text));
        }
    }
    let finished = collected.finish(&walk.summary());
    let summary = finished.summary.clone();
    Ok(Outcome::of(finished.into_content()).with_summary(summary))
}

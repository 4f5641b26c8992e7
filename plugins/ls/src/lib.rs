//! The tool `ls`: the entries of one directory.
//!
//! Deliberately not here: directories beneath it (`glob` finds files at any depth).

mod listing;
mod name_glob;

use host_sdk::{Annotations, Failure, Outcome, Tool, export_plugin, fs_read};
use name_glob::NameGlob;
use serde::Deserialize;

const DESCRIPTION: &str = "\
Lists the entries of one directory: directories first (`[dir] src`), then files with their size \
(`Cargo.toml (1234 bytes)`), each group in the order of their names. Entries that ignore rules leave out are \
counted, not listed. Use `glob` to find files at any depth.";

export_plugin!(ls());

fn ls() -> Tool {
    Tool::new("ls", DESCRIPTION, include_str!("input.json"), call)
        .title("List a directory")
        .annotations(Annotations::READ_ONLY)
        .needs("fs-read", "*", "list the entries of a directory")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default = "workspace")]
    path: String,
    #[serde(default)]
    ignore: Vec<String>,
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
    let Arguments { path, ignore, respect_ignore } = arguments;
    let ignore = ignore.iter().map(|glob| NameGlob::new(glob)).collect::<Result<Vec<_>, _>>()?;
    let entries = match fs_read::list(&path) {
        Ok(entries) => entries,
        Err(fs_read::Error::TooLarge(count)) => {
            return Err(Failure::Failed(format!("`{path}` has {count} entries, too many to list: use `glob`")));
        }
        Err(error) => return Err(error.into()),
    };
    let leaves_out = |entry: &fs_read::Entry| {
        (respect_ignore && entry.ignored) || ignore.iter().any(|glob| glob.matches(&entry.name))
    };
    let (left_out, kept): (Vec<_>, Vec<_>) = entries.into_iter().partition(leaves_out);
    let text = listing::write(&path, &kept, left_out.len());
    Ok(Outcome::text(text).with_summary(listing::summary(kept.len(), left_out.len())))
}

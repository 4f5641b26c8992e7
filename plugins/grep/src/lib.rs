//! The tool `grep`: lines of many files that match a regular expression.
//!
//! Files are read by the host, on all cores, which leaves out those without the texts that every match contains. The
//! others arrive many at once in one buffer; the pattern runs over the buffer, not over each file. The walk is in no order, so
//! what is found is sorted, and where only the first matches are kept they are the first by path: the same tree
//! gives the same answer each time. The price is that the whole tree is read even when the first 100 matches
//! come early; a walk in order would stop there, and take several times as long whenever they do not.
//!
//! Deliberately not here: matches across lines, and encodings other than UTF-8.

mod counts;
mod literals;
mod matches;
mod pattern;
mod required;
mod scan;
mod text;

use counts::{Counts, Files};
use host_sdk::fs_read::{Batch, Walk, WalkOptions, WalkSummary};
use host_sdk::{Annotations, Failure, Outcome, Tool, context, export_plugin};
use matches::Matches;
use pattern::Pattern;
use required::Required;
use scan::Scanner;
use serde::Deserialize;

const DESCRIPTION: &str = "\
Searches the contents of files for a regular expression, line by line. The first line says how many matches were \
found in how many files; then come the matching lines as `path:line: text`, in the order of their paths. Shows \
the first 100 matches and says when there are more. Binary files and files that ignore rules leave out are not \
searched.";

/// Larger files are not searched; they are counted, and that is said. As much as the host hands over at once.
const MAX_FILE: u64 = 20 * 1024 * 1024;

/// How many lines of context there may be, as the schema says.
const MAX_CONTEXT: usize = 10;

export_plugin!(grep());

fn grep() -> Tool {
    Tool::new("grep", DESCRIPTION, include_str!("input.json"), call)
        .title("Search in files")
        .annotations(Annotations::READ_ONLY)
        .needs("fs-read", "*", "search the files of the workspace")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    #[serde(default = "workspace")]
    path: String,
    include: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    fixed_strings: bool,
    #[serde(default)]
    context: usize,
    #[serde(default = "yes")]
    respect_ignore: bool,
    #[serde(default)]
    output: Output,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Output {
    #[default]
    Matches,
    Files,
    Count,
}

fn workspace() -> String {
    ".".to_owned()
}

fn yes() -> bool {
    true
}

/// What becomes of the matches, by the kind of output that was asked for.
enum Collector {
    Matches(Matches),
    Files(Files),
    Counts(Counts),
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { pattern: source, path, include, ignore_case, fixed_strings, context, respect_ignore, output } =
        arguments;
    let pattern = Pattern::new(&source, fixed_strings, ignore_case)?;
    let mut scanner = Scanner::new(&pattern);
    let mut collector = match output {
        Output::Matches => Collector::Matches(Matches::new(context.min(MAX_CONTEXT))),
        Output::Files => Collector::Files(Files::default()),
        Output::Count => Collector::Counts(Counts::default()),
    };
    let options = WalkOptions {
        root: path,
        globs: include.into_iter().collect(),
        respect_ignore,
        // A model looks into `.github` as into anything else; `.git` is never walked.
        hidden: true,
        contents: true,
        max_file_size: MAX_FILE,
        ..WalkOptions::default()
    };
    let walk = match pattern.required() {
        Some(Required { texts, ignore_case }) => Walk::open_search(&options, texts, *ignore_case)?,
        None => Walk::open(&options)?,
    };
    while let Some(batch) = walk.next_batch()? {
        collector.search(&mut scanner, &pattern, &batch)?;
        if context::should_stop() {
            return Err(Failure::Cancelled(collector.write(&source, &walk.summary())));
        }
    }
    let text = collector.write(&source, &walk.summary());
    let summary = summary(&text).to_owned();
    Ok(Outcome::text(text).with_summary(summary))
}

/// The line for a user, to whom the pattern is shown already: the first line for the model without it.
fn summary(text: &str) -> &str {
    let found = text.split(" for `").next().unwrap_or_default();
    found.strip_prefix("Found ").unwrap_or("no matches")
}

impl Collector {
    fn search(&mut self, scanner: &mut Scanner, pattern: &Pattern, batch: &Batch) -> Result<(), Failure> {
        match self {
            Self::Matches(matches) => scanner.scan(pattern, batch, |hit| matches.take(pattern, batch, &hit)),
            Self::Files(files) => scanner.scan(pattern, batch, |hit| files.take(&batch.name(hit.file))),
            Self::Counts(counts) => scanner.scan(pattern, batch, |hit| counts.take(&batch.name(hit.file))),
        }
    }

    fn write(&self, pattern: &str, summary: &WalkSummary) -> String {
        let mut text = match self {
            Self::Matches(matches) => matches.write(pattern),
            Self::Files(files) => files.write(pattern),
            Self::Counts(counts) => counts.write(pattern),
        };
        text::left_out(&mut text, summary);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grep_summary_is_without_the_pattern() {
        for (text, line) in [
            ("No matches found for `x`\n", "no matches"),
            ("Found 3 matches in 2 files for `a for `b`\na:1: a\n", "3 matches in 2 files"),
            ("Found matches in 1 file for `x`\na\n", "matches in 1 file"),
            (
                "Found the first 200 matches in 9 files for `x` (stopped there: ...)\n",
                "the first 200 matches in 9 files",
            ),
        ] {
            assert_eq!(summary(text), line);
        }
    }
}

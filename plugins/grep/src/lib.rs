//! The tool `grep`: lines of many files that match a regular expression.
//!
//! Files are read by the host, on all cores, which leaves out those without the texts that every match contains. The
//! others arrive many at once in one buffer; the pattern runs over the buffer, not over each file. The walk is in no order, so
//! what is found is sorted, and where only the first matches are kept they are the first by path: the same tree
//! gives the same answer each time. The price is that the whole tree is read even when the first 100 matches
//! come early; a walk in order would stop there, and take several times as long whenever they do not.
//!
//! Deliberately not here: encodings other than UTF-8.

mod across;
mod counts;
mod literals;
mod matches;
mod page;
mod pattern;
mod required;
mod scan;
mod text;
mod types;

use std::ops::Range;

use across::AcrossLines;
use counts::{Counts, Files};
use host_sdk::fs_read::{Batch, Walk, WalkOptions, WalkSummary};
use host_sdk::{Annotations, Failure, Outcome, Tool, context, export_plugin};
use matches::{Around, Matches};
use page::Page;
use pattern::Pattern;
use required::Required;
use scan::{Hit, Next, Scanner};
use serde::Deserialize;
use types::FileType;

const DESCRIPTION: &str = "\
Searches the contents of files for a regular expression, line by line, or over several lines with `multiline`. The \
first line says how many matches were found in how many files; then come the matching lines as `path:line: text`, in \
the order of their paths. Limits: 100 matches at once, or `limit`; when there are more, the first line says with which \
`offset` to go on. A line is cut after 500 characters, a match over several lines after 20 lines. Not searched: binary \
files, files over 20 MiB, and what ignore rules leave out. Text has to be UTF-8.";

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
    multiline: bool,
    #[serde(rename = "type")]
    file_type: Option<String>,
    #[serde(default)]
    context: usize,
    before: Option<usize>,
    after: Option<usize>,
    #[serde(default = "yes")]
    respect_ignore: bool,
    #[serde(default)]
    output: Output,
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
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

impl Output {
    /// How many results are shown unless the call says so: paths are short.
    fn usual_limit(self) -> usize {
        match self {
            Self::Matches | Self::Count => 100,
            Self::Files => 1_000,
        }
    }
}

/// How files are searched.
enum Search {
    Lines(Box<Pattern>, Scanner),
    Across(AcrossLines),
}

/// What becomes of the matches, by the kind of output that was asked for.
enum Collector {
    Matches(Matches),
    Files(Files),
    Counts(Counts),
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let source = arguments.pattern;
    let mut search = Search::new(&source, arguments.multiline, arguments.fixed_strings, arguments.ignore_case)?;
    let file_type = arguments.file_type.as_deref().map(FileType::new).transpose()?;
    let page = Page::new(arguments.offset, arguments.limit.unwrap_or(arguments.output.usual_limit()));
    let lines = |of_one_side: Option<usize>| of_one_side.unwrap_or(arguments.context).min(MAX_CONTEXT);
    let mut collector = match arguments.output {
        Output::Matches => {
            let around = Around { before: lines(arguments.before), after: lines(arguments.after) };
            Collector::Matches(Matches::new(page, around))
        }
        Output::Files => Collector::Files(Files::new(page)),
        Output::Count => Collector::Counts(Counts::new(page)),
    };
    // Globs of a walk are alternatives: beside `include` the type is left to `collector`.
    let (globs, checked) = match (arguments.include, file_type) {
        (Some(include), file_type) => (vec![include], file_type),
        (None, Some(file_type)) => (file_type.globs().to_vec(), None),
        (None, None) => (Vec::new(), None),
    };
    let options = WalkOptions {
        root: arguments.path,
        globs,
        respect_ignore: arguments.respect_ignore,
        // A model looks into `.github` as into anything else; `.git` is never walked.
        hidden: true,
        contents: true,
        max_file_size: MAX_FILE,
        ..WalkOptions::default()
    };
    let walk = match search.required() {
        Some(Required { texts, ignore_case }) => Walk::open_search(&options, texts, *ignore_case)?,
        None => Walk::open(&options)?,
    };
    while let Some(batch) = walk.next_batch()? {
        collector.search(&mut search, checked.as_ref(), &batch)?;
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
    let none = if found.starts_with("No more") { "no more matches" } else { "no matches" };
    found.strip_prefix("Found ").unwrap_or(none)
}

impl Search {
    fn new(pattern: &str, multiline: bool, fixed: bool, ignore_case: bool) -> Result<Self, Failure> {
        if multiline {
            return Ok(Self::Across(AcrossLines::new(pattern, fixed, ignore_case)?));
        }
        let pattern = Pattern::new(pattern, fixed, ignore_case)?;
        let scanner = Scanner::new(&pattern);
        Ok(Self::Lines(Box::new(pattern), scanner))
    }

    fn required(&self) -> Option<&Required> {
        match self {
            Self::Lines(pattern, _) => pattern.required(),
            Self::Across(pattern) => pattern.required(),
        }
    }
}

impl Collector {
    fn search(&mut self, search: &mut Search, file_type: Option<&FileType>, batch: &Batch) -> Result<(), Failure> {
        let mut take = |hit: Hit, find: &dyn Fn(&[u8]) -> Option<Range<usize>>| match self {
            _ if file_type.is_some_and(|of_type| !of_type.has(&batch.name(hit.file))) => Next::File,
            Self::Matches(matches) => matches.take(batch, &hit, find),
            Self::Files(files) => files.take(&batch.name(hit.file)),
            Self::Counts(counts) => counts.take(&batch.name(hit.file)),
        };
        match search {
            Search::Lines(pattern, scanner) => {
                scanner.scan(pattern, batch, |hit| take(hit, &|line| pattern.first_in(line)))
            }
            Search::Across(pattern) => {
                pattern.scan(batch, |hit| take(hit, &|_| None));
                Ok(())
            }
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
            ("No more matches for `x`: 5 matches in all, and `offset` is 5\n", "no more matches"),
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

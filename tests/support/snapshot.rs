//! What a command gave its user, whole, as an inline snapshot: exit code, standard output, standard error.
//!
//! `FILTERS` replaces what differs from run to run or from machine to machine, and nothing else. A line that ends with
//! a backslash goes on in the next one. A test with a table of cases collects them in a [`Transcript`], which is one
//! snapshot.
//!
//! `cargo insta accept` writes the snapshots of tests that failed into their sources; without it, and in CI, nothing is
//! written. Read the diff as a user would before you commit. Deliberately not here: what is drawn on a terminal, which
//! `tests/e2e/screens` compares.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::host::{Ended, Host};
use crate::{cache, repository};

pub use insta;

/// Runs a command line of this host, compares how it ended with the snapshot, and returns it.
///
/// Without arguments it is the host's own command line.
#[macro_export]
macro_rules! host_snapshot {
    ($host:expr, @$snapshot:literal) => {{
        let ended = $host.run();
        $crate::outcome_snapshot!(ended, @$snapshot);
        ended
    }};
    ($host:expr, $arguments:expr, @$snapshot:literal) => {{
        let ended = $host.run_of(&$arguments);
        $crate::outcome_snapshot!(ended, @$snapshot);
        ended
    }};
}

/// Compares how a command ended with the snapshot.
#[macro_export]
macro_rules! outcome_snapshot {
    ($ended:expr, @$snapshot:literal) => {
        $crate::snapshot::insta::assert_snapshot!($crate::snapshot::outcome(&$ended), @$snapshot)
    };
}

/// Compares the cases of a [`Transcript`] with the snapshot.
#[macro_export]
macro_rules! transcript_snapshot {
    ($transcript:expr, @$snapshot:literal) => {
        $crate::snapshot::insta::assert_snapshot!($transcript.text(), @$snapshot)
    };
}

/// How several commands ended, each under a heading.
#[derive(Default)]
pub struct Transcript(String);

impl Transcript {
    /// Adds how a command ended. Streams to which it wrote nothing are left out.
    pub fn add(&mut self, heading: impl AsRef<str>, ended: &Ended) {
        let heading: String =
            heading.as_ref().lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect();
        let text = format!("{heading}exit: {}\n{}", code(ended), streams(ended, false));
        self.0.push_str(&filtered(&format!("{text}\n"), ended.folders()));
    }

    /// Runs a command, and adds how it ended.
    pub fn run(&mut self, host: &Host, arguments: &[&str]) {
        self.add(format!("host {}", arguments.join(" ")), &host.run_of(arguments));
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// How a command ended, as a snapshot has it.
pub fn outcome(ended: &Ended) -> String {
    filtered(&format!("exit: {}\n{}", code(ended), streams(ended, true)), ended.folders())
}

fn code(ended: &Ended) -> String {
    ended.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string())
}

fn streams(ended: &Ended, has_empty_ones: bool) -> String {
    let mut text = String::new();
    for (name, stream) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if has_empty_ones || !stream.is_empty() {
            let end = if stream.is_empty() || stream.ends_with('\n') { "" } else { "[no newline]\n" };
            write!(text, "----- {name}\n{stream}{end}").expect("a text takes everything");
        }
    }
    text
}

/// What is replaced in each snapshot: a name, what it matches, and what stands there instead.
const FILTERS: &[(&str, &str, &str)] = &[
    ("folders of tests", r"(/private)?/(var/)?tmp/\.tmp\w{6}", "[TEMP]"),
    // Grants are in the order of the folders' names, which are random.
    ("the order of grants", r"\[HOME\],\[REPOSITORY\]", "[REPOSITORY],[HOME]"),
    ("ids of sessions", r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", "[SESSION]"),
    ("digests", r"\b[0-9a-f]{64}\b", "[DIGEST]"),
    ("shortened digests", r"\bsha256:[0-9a-f]{8,63}\b", "sha256:[DIGEST]"),
    ("ids of keys", r"\b[0-9A-F]{16}\b", "[KEY]"),
    ("public keys", r"\bRW[A-Za-z0-9+/]{54}", "[PUBLIC KEY]"),
    ("times", r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "[TIME]"),
    ("dates", r"\b20[2-9]\d-\d\d-\d\d\b", "[DATE]"),
    ("times of the day", r"\b\d\d:\d\d:\d\d\b", "[TIME]"),
    ("ages", r"\bjust now\b|\b\d+ (minute|second)s? ago\b", "[AGE]"),
    ("durations", r"\b(\d+ ms|\d+\.\d+ m?s)\b", "[DURATION]"),
    ("ports", r"\b(127\.0\.0\.1|localhost):\d{4,5}\b", "${1}:[PORT]"),
    ("processes", r"\bprocess \d+\b", "process [ID]"),
    ("sizes of components", r"(\(|size +)\d{4,} bytes\b", "${1}[SIZE] bytes"),
    // They have paths in them.
    ("sizes of lists of plugins", r"(`plugins\.lock`: .*)\(\d+ bytes\)", "${1}([SIZE] bytes)"),
    ("sizes of session logs", r" +\d+ K?B\b", " [SIZE]"),
    ("estimates of conversations", r"\babout \d+ tokens(, now \d+)?", "about [NUMBER] tokens"),
    (
        "estimates of use",
        r"\b\d+ tokens sent and received \(an estimate",
        "[NUMBER] tokens sent and received (an estimate",
    ),
    ("files of a new plugin", r"\bwords: \d+ files\.", "words: [NUMBER] files."),
    ("the version of the host", r"\bhost \d+\.\d+\.\d+\b", "host [VERSION]"),
];

fn filtered(text: &str, folders: &[(PathBuf, &str)]) -> String {
    static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let compiled = |(name, pattern, instead): &(&str, &str, &'static str)| {
            (Regex::new(pattern).unwrap_or_else(|error| panic!("{name}: {error}")), *instead)
        };
        FILTERS.iter().map(compiled).collect()
    });
    let mut text = text.to_owned();
    let shared = [(cache(), "[CACHE]"), (repository(), "[SOURCES]")];
    for (folder, name) in folders.iter().chain(&shared) {
        for spelling in spellings(folder) {
            text = text.replace(&spelling, name);
        }
    }
    for (pattern, instead) in PATTERNS.iter() {
        if let Cow::Owned(replaced) = pattern.replace_all(&text, *instead) {
            text = replaced;
        }
    }
    text.lines().map(|line| folded(line) + "\n").collect()
}

/// A folder as it was made, and as the system knows it: on macOS a link leads to the folder for temporary files.
fn spellings(folder: &Path) -> impl Iterator<Item = String> {
    let canonical = std::fs::canonicalize(folder).ok();
    canonical.into_iter().chain([folder.to_owned()]).map(|path| path.display().to_string())
}

/// The line in parts that an editor shows without wrapping, when the snapshot is indented in a test.
fn folded(line: &str) -> String {
    const WIDTH: usize = 104;
    let mut text = String::new();
    let mut rest = line;
    while let Some((limit, _)) = rest.char_indices().nth(WIDTH) {
        // What is at the end of a part is not a blank: the backslash follows it.
        let at = rest[..limit].rfind(' ').filter(|at| !rest[..*at].trim().is_empty()).map_or(limit, |at| at + 1);
        text.push_str(&rest[..at]);
        text.push_str("\\\n");
        rest = &rest[at..];
    }
    let shown = rest.trim_end_matches(' ');
    // Editors take blanks away from the end of a line.
    text + shown + &"␠".repeat(rest.len() - shown.len())
}

//! `exit-codes.md`: the exit codes, from the enum that has their numbers.

use std::fmt::Write as _;

use host_tests::repository;

use super::sources::{doc_above, plain};
use super::{Page, cell};

/// The source that declares them.
const FILE: &str = "host/settings/src/error.rs";

pub(super) fn page() -> Page {
    let text = std::fs::read_to_string(repository().join(FILE)).unwrap_or_else(|error| panic!("{FILE}: {error}"));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut body =
        "The exit codes of every command. The numbers are part of the public interface and never change.\n\n\
                    | code | meaning |\n|---|---|\n| 0 | The command succeeded; a run reached its end. |\n"
            .to_owned();
    let begin = lines.iter().position(|line| line.ends_with("enum ErrorKind {")).expect("the enum is in this file");
    let mut codes = 0;
    for (at, line) in lines.iter().enumerate().skip(begin).take_while(|(_, line)| *line != "}") {
        let Some((_, number)) = line.trim().trim_end_matches(',').split_once(" = ") else { continue };
        let doc = doc_above(&lines, at);
        assert!(!doc.is_empty(), "{FILE}: the code {number} has no documentation");
        codes += 1;
        let _ = writeln!(body, "| {number} | {} |", cell(&plain(&doc)));
    }
    assert!(codes > 5, "{FILE} declares {codes} codes");
    Page { file: "exit-codes.md", title: "Exit codes", body }
}

//! `exit-codes.md`: the exit codes, from the kinds of failure and the numbers that the command line gives them.

use std::fmt::Write as _;

use host_tests::repository;

use super::sources::{doc_above, plain};
use super::{Page, cell};

/// The source that declares the kinds.
const FILE: &str = "host/settings/src/error.rs";

/// The source that has their numbers.
const NUMBERS: &str = "host/cli/src/exit.rs";

pub(super) fn page() -> Page {
    let read = |file: &str| {
        let text = std::fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        text.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let (kinds, numbers) = (read(FILE), read(NUMBERS));
    let number = |kind: &str| {
        let arm = format!("ErrorKind::{kind} => ");
        let number = numbers.iter().find_map(|line| line.trim().strip_prefix(&arm));
        number.unwrap_or_else(|| panic!("{NUMBERS} has no number for {kind}")).trim_end_matches(',').to_owned()
    };
    let mut body =
        "The exit codes of every command. The numbers are part of the public interface and never change.\n\n\
                    | code | meaning |\n|---|---|\n| 0 | The command succeeded; a run reached its end. |\n"
            .to_owned();
    let begin = kinds.iter().position(|line| line.ends_with("enum ErrorKind {")).expect("the enum is in this file");
    let mut codes = 0;
    for (at, line) in kinds.iter().enumerate().skip(begin + 1).take_while(|(_, line)| *line != "}") {
        let Some(kind) = line.trim().strip_suffix(',').filter(|_| !line.trim().starts_with("//")) else { continue };
        let doc = doc_above(&kinds, at);
        assert!(!doc.is_empty(), "{FILE}: {kind} has no documentation");
        codes += 1;
        let _ = writeln!(body, "| {} | {} |", number(kind), cell(&plain(&doc)));
    }
    assert!(codes > 5, "{FILE} declares {codes} kinds");
    Page { file: "exit-codes.md", title: "Exit codes", body }
}

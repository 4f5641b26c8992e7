//! The messages of the commits that the remote does not have yet: an area, and a reason.
//!
//! Deliberately not here: what was pushed before, which no test could still change.

use std::process::Command;

use host_tests::repository;

/// The branch that the commits are compared with.
const REMOTE: &str = "origin/main";

/// The most characters of a subject: what fits a line of `git log` and of a list of commits.
const MAX_SUBJECT: usize = 72;

/// The fewest characters of a line that can give a reason.
const LEAST_REASON: usize = 20;

#[test]
fn commits_name_their_area_and_their_reason() {
    let range = format!("{REMOTE}..HEAD");
    let Some(log) = git(&["log", "--no-merges", "-z", "--format=%H%n%B", &range]) else {
        println!("not checked: there is no git, or no `{REMOTE}`");
        return;
    };
    let commits = log.split('\0').map(str::trim).filter(|commit| !commit.is_empty());
    let commits = commits.map(|commit| commit.split_once('\n').unwrap_or((commit, "")));
    let wrong: Vec<String> = commits
        .filter_map(|(commit, message)| Some(format!("{commit}: {}", fault(message, || is_moves_only(commit))?)))
        .collect();
    assert!(wrong.is_empty(), "CONTRIBUTING.md, \"Commits\":\n{}", wrong.join("\n"));
}

/// Returns what is wrong with a message.
fn fault(message: &str, is_moves_only: impl FnOnce() -> bool) -> Option<String> {
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or_default();
    let length = subject.chars().count();
    if length > MAX_SUBJECT {
        return Some(format!("the subject has {length} characters, and {MAX_SUBJECT} are the most: `{subject}`"));
    }
    let is_area = |area: &str| area.starts_with(|c: char| c.is_ascii_lowercase()) && !area.ends_with(' ');
    if !subject.split_once(": ").is_some_and(|(area, text)| is_area(area) && !text.trim().is_empty()) {
        return Some(format!("the subject is not `area: text`: `{subject}`"));
    }
    let is_reason = |line: &str| line.trim().chars().count() >= LEAST_REASON && !is_trailer(line);
    let has_reason = lines.next().is_some_and(|line| line.trim().is_empty()) && lines.any(is_reason);
    (!has_reason && !is_moves_only()).then(|| format!("no reason follows after an empty line: `{subject}`"))
}

/// Whether the line is one like `Signed-off-by: A Name`.
fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(key, _)| key.ends_with("-by") && !key.contains(' '))
}

/// Whether a commit moves files and changes nothing in them.
fn is_moves_only(commit: &str) -> bool {
    let changes = git(&["diff-tree", "-r", "--root", "--no-commit-id", "-M100%", "--name-status", commit]);
    changes.is_some_and(|changes| !changes.is_empty() && changes.lines().all(|change| change.starts_with("R100\t")))
}

/// What git prints about the repository; `None` if it is missing or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(repository()).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn commits_without_an_area_or_a_reason_are_found() {
    let long = format!("text: {}\n\nThe reason is long enough.", "x".repeat(MAX_SUBJECT));
    for (message, moves_only, want) in [
        ("text: one newtype for secrets\n\nThere were five of them before.\n", false, None),
        ("text: one newtype for secrets\n\nIn short:\nthere were five of them before.\n", false, None),
        ("app, cli: move the pages\n", true, None),
        ("app, cli: move the pages\n", false, Some("no reason")),
        ("text: one newtype for secrets\n\nToo short.\n", false, Some("no reason")),
        ("text: one newtype for secrets\nThere were five of them before.\n", false, Some("no reason")),
        ("text: one newtype for secrets\n\nCo-authored-by: Some Body <a@b.example>\n", false, Some("no reason")),
        ("One newtype for secrets\n\nThere were five of them before.\n", false, Some("area: text")),
        ("Text: one newtype for secrets\n\nThere were five of them before.\n", false, Some("area: text")),
        ("text:\n\nThere were five of them before.\n", false, Some("area: text")),
        ("", false, Some("area: text")),
        (long.as_str(), false, Some("78 characters")),
    ] {
        let found = fault(message, || moves_only);
        let is_as_wanted = match (&found, want) {
            (None, None) => true,
            (Some(found), Some(want)) => found.contains(want),
            (Some(_), None) | (None, Some(_)) => false,
        };
        assert!(is_as_wanted, "{message}: {found:?}");
    }
}

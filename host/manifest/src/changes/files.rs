//! Differences between what two versions bring besides tools.

use std::collections::BTreeSet;

use super::{Change, Weight, push};
use crate::manifest::{FileKind, Files};

/// The most files that a change names.
const NAMED: usize = 8;

/// Adds the differences. What a model or a user called may be gone; a text that is read otherwise is named with its
/// size, since it is what the model will follow.
pub(super) fn compare(old: &Files, new: &Files, found: &mut Vec<Change>) {
    let (before, now) = (old.items(), new.items());
    for (kind, name) in before.difference(&now) {
        push(found, Weight::Breaking, format!("the {kind} `{name}` is gone"));
    }
    for (kind, name) in now.difference(&before) {
        push(found, Weight::Addition, format!("the {kind} `{name}` is new"));
    }
    for (kind, name) in before.intersection(&now) {
        let changed = changed(old, new, *kind, name);
        if !changed.is_empty() {
            push(found, Weight::Fix, format!("the {kind} `{name}` has changed: {}", changed.join(", ")));
        }
    }
}

/// Returns how the files of one thing differ, a phrase for each.
fn changed(old: &Files, new: &Files, kind: FileKind, name: &str) -> Vec<String> {
    let of =
        |files: &Files, path: &str| files.of(kind, name).find(|(other, _)| *other == path).map(|(_, it)| it.to_vec());
    let paths: BTreeSet<&str> = old.of(kind, name).chain(new.of(kind, name)).map(|(path, _)| path).collect();
    let words = |path: &&str| match (of(old, path), of(new, path)) {
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => Some(format!("`{path}` {}", counted(&old, &new))),
        (None, _) => Some(format!("`{path}` is new")),
        (_, None) => Some(format!("`{path}` is gone")),
    };
    let mut all: Vec<String> = paths.iter().filter_map(words).collect();
    if all.len() > NAMED {
        let more = all.len() - NAMED;
        all.truncate(NAMED);
        all.push(format!("and {more} more"));
    }
    all
}

/// Returns how many lines were added and removed, or the sizes of what is not text.
fn counted(old: &[u8], new: &[u8]) -> String {
    let (Ok(before), Ok(now)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return format!("({} bytes instead of {})", new.len(), old.len());
    };
    let difference = host_plugin::difference("", before, now);
    let count = |sign: char| difference.lines().skip(2).filter(|line| line.starts_with(sign)).count();
    format!("(+{} −{} lines)", count('+'), count('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Files {
        Files::new(all.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect())
            .expect("all are fine")
    }

    // promise bundle.files-changed: An update names each skill, command and agent that is new, gone or changed.
    #[test]
    fn files_of_two_versions_differ_by_what_they_belong_to() {
        let old = files(&[
            ("skills/pdf/SKILL.md", "one\ntwo\n"),
            ("skills/pdf/a.sh", "x"),
            ("commands/gone.md", ""),
            ("agents/same.md", "same"),
        ]);
        let new = files(&[
            ("skills/pdf/SKILL.md", "one\nTWO\nthree\n"),
            ("skills/pdf/b.sh", "x"),
            ("commands/new.md", ""),
            ("agents/same.md", "same"),
        ]);
        let mut found = Vec::new();
        compare(&old, &new, &mut found);
        let found: Vec<(Weight, &str)> = found.iter().map(|change| (change.weight, change.what.as_str())).collect();
        assert_eq!(
            found,
            [
                (Weight::Breaking, "the command `gone` is gone"),
                (Weight::Addition, "the command `new` is new"),
                (
                    Weight::Fix,
                    "the skill `pdf` has changed: `skills/pdf/SKILL.md` (+2 −1 lines), `skills/pdf/a.sh` is gone, \
                     `skills/pdf/b.sh` is new"
                ),
            ]
        );
    }
}

//! `@path` in a context file: where another file is included. The caller finds out which of the paths are files.
//!
//! Fenced and inline code is left alone, since it is full of decorators and addresses.

use std::ops::Range;

use host_text::{CodeBlocks, Indent, LineKind};

/// A place where a file may be included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Include {
    /// The bytes of `@path` in the text.
    pub(super) range: Range<usize>,
    /// Its line, from 1.
    pub(super) line: usize,
    /// The path as it is written.
    pub(super) path: String,
    /// Whether it can only be a file, so that a missing file is reported.
    pub(super) certain: bool,
}

/// The places in the order of the text.
pub(super) fn includes(text: &str) -> Vec<Include> {
    let mut found = Vec::new();
    let mut blocks = CodeBlocks::new(Indent::Any);
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if blocks.line(line) == LineKind::Text {
            in_line(line, start, at + 1, &mut found);
        }
        start += line.len();
    }
    found
}

fn in_line(line: &str, start: usize, number: usize, found: &mut Vec<Include>) {
    let mut in_code = false;
    let mut before = ' ';
    let mut skip_to = 0;
    for (at, c) in line.char_indices() {
        if at < skip_to {
            continue;
        }
        if c == '`' {
            // A backquote that is never closed opens no code.
            in_code = !in_code && line[at + 1..].contains('`');
        } else if c == '@' && !in_code && (before.is_whitespace() || matches!(before, '(' | '[' | '"' | '\'')) {
            let written = &line[at + 1..];
            let end = written.find(char::is_whitespace).unwrap_or(written.len());
            let path = written[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'']);
            if !path.is_empty() {
                let end = at + 1 + path.len();
                let (range, path) = (start + at..start + end, path.to_owned());
                found.push(Include { range, line: number, certain: is_certain(&path), path });
                skip_to = end;
            }
        }
        before = c;
    }
}

/// Returns whether it begins with a folder (`./a`, `~/a`), or has the ending of a file.
fn is_certain(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    let has_ending = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending = |c: char| c.is_ascii_alphanumeric();
        !stem.is_empty() && (1..=8).contains(&ending.len()) && ending.chars().all(is_ending)
    });
    ["./", "../", "/", "~/"].iter().any(|start| path.starts_with(start)) || has_ending
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[(usize, &str, bool)]) {
        let found = includes(text);
        let short: Vec<_> = found.iter().map(|one| (one.line, one.path.as_str(), one.certain)).collect();
        assert_eq!(short, want, "{text}");
        for one in &found {
            assert_eq!(text[one.range.clone()], format!("@{}", one.path), "{text}");
        }
    }

    #[test]
    fn context_include_is_a_path_behind_an_at() {
        check("@./a.md", &[(1, "./a.md", true)]);
        check("@~/a and @~alice", &[(1, "~/a", true), (1, "~alice", false)]);
        check(
            "# T\n\nsee @docs/b.md, and (@c).\r\n@../d\n",
            &[(3, "docs/b.md", true), (3, "c", false), (4, "../d", true)],
        );
        check("@a.md @b.md", &[(1, "a.md", true), (1, "b.md", true)]);
        check("ü @ä/ö.md ü", &[(1, "ä/ö.md", true)]);
        check("ask @alice, install @types/node", &[(1, "alice", false), (1, "types/node", false)]);
    }

    #[test]
    fn context_include_is_not_found_in_code_and_addresses() {
        for text in [
            "me@example.org",
            "`@a.md` and `x @b.md`",
            "```\n@a.md\n```\n",
            "~~~ts\n@a.md\n```\n@b.md\n",
            "````\n```\n@a.md\n````",
            "  ```\n@a.md",
            "@ a, @. @",
        ] {
            check(text, &[]);
        }
        check("```x``` @a.md\n@b.md", &[(1, "a.md", true), (2, "b.md", true)]);
        check("a ` that is left open @a.md", &[(1, "a.md", true)]);
        check("```\nx\n```\n@a.md", &[(4, "a.md", true)]);
    }
}

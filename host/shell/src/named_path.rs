//! Paths that a command names, as they were written.

use crate::word::{UNKNOWN, Word};

/// How many words a brace expansion may become.
const BRACED: usize = 64;

/// A file or a folder that a command names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// The path, relative to where the command runs. A `\0` is a part that is known only at run time.
    pub path: String,
    /// It has `*`, `?` or `[` in it, which the shell replaces by the names that match.
    pub glob: bool,
}

impl NamedPath {
    /// Creates the path in a word, or in a part of it, whose glob characters count if those of the word do.
    pub(crate) fn new(path: impl Into<String>, word: &Word) -> Self {
        Self { path: path.into(), glob: word.glob }
    }

    /// Creates a path that is known only at run time.
    pub(crate) fn unknown() -> Self {
        Self { path: UNKNOWN.to_string(), glob: false }
    }

    /// Returns the path that a word stands for when a shell has expanded it: one that begins with a `~`, or has a part
    /// that is known only at run time, leads anywhere.
    pub(crate) fn expanded(word: &Word) -> Self {
        match word.dynamic || word.tilde || word.brace {
            true => Self::unknown(),
            false => Self::new(word.text.as_str(), word),
        }
    }

    /// Returns the same path, or those that bash makes of it if a part of the word is in braces.
    pub(crate) fn with_braces(self, word: &Word) -> Vec<Self> {
        if !word.brace {
            return vec![self];
        }
        match braced(&self.path) {
            Some(paths) => paths.into_iter().map(|path| Self { glob: self.glob || path.contains('*'), path }).collect(),
            // Too many: any name could be among them.
            None => vec![Self { path: "*".to_owned(), glob: true }],
        }
    }
}

/// Returns the words that a brace expansion makes; `None` if they are too many. A sequence is one word with a `*`.
fn braced(text: &str) -> Option<Vec<String>> {
    let Some((before, items, behind)) = first_group(text) else { return Some(vec![text.to_owned()]) };
    let mut words = Vec::new();
    for item in items {
        words.extend(braced(&format!("{before}{item}{behind}"))?);
        if words.len() > BRACED {
            return None;
        }
    }
    Some(words)
}

/// Splits a text at its first group in braces that is expanded: `a{b,c}d` becomes `a`, `b` and `c`, `d`.
fn first_group(text: &str) -> Option<(&str, Vec<String>, &str)> {
    for (open, _) in text.match_indices('{') {
        let (mut depth, mut from, mut items) = (0, open + 1, Vec::new());
        for (at, c) in text[open..].char_indices() {
            let at = open + at;
            match c {
                '{' => depth += 1,
                '}' if depth > 1 => depth -= 1,
                ',' if depth == 1 => {
                    items.push(text[from..at].to_owned());
                    from = at + 1;
                }
                '}' => {
                    let last = &text[from..at];
                    // `{1..9}` can be long, and for a path it is as good as a pattern.
                    if items.is_empty() && last.contains("..") {
                        items.push("*".to_owned());
                    } else if !items.is_empty() {
                        items.push(last.to_owned());
                    }
                    if !items.is_empty() {
                        return Some((&text[..open], items, &text[at + 1..]));
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_become_the_words_that_bash_makes_of_them() {
        let check = |text: &str, wanted: &str| {
            assert_eq!(braced(text).map(|words| words.join(" ")).as_deref(), Some(wanted), "{text}");
        };
        check("a", "a");
        check("a{b,c}d", "abd acd");
        check(".g{it,x}/config", ".git/config .gx/config");
        check("{a,b{c,d}}", "a bc bd");
        check("{a}{b,c}", "{a}b {a}c");
        check("{1..3}x", "*x");
        check("{a,}", "a ");
        check("{a,b", "{a,b");
        assert_eq!(braced(&"{a,b}".repeat(10)), None);
    }
}

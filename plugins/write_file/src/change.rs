//! What a write changes, and the words for it.

use tool_difference::unified;
use tool_text::{lines, printable};

/// What a write changes.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    /// Nothing: the file has this content.
    None,
    /// Text comes, or takes the place of text.
    Text {
        /// The difference.
        unified: String,
    },
    /// Something that is no text is lost.
    Binary {
        /// Its size in bytes.
        size: usize,
    },
}

impl Change {
    /// What writing `content` changes, where `there` is what the file holds now, or none.
    pub(crate) fn of(path: &str, there: Option<&[u8]>, content: &str) -> Self {
        match there {
            Some(bytes) if bytes == content.as_bytes() => Self::None,
            None => Self::Text { unified: unified(path, None, content) },
            Some(bytes) => match std::str::from_utf8(bytes) {
                Ok(old) if !old.contains('\0') => Self::Text { unified: unified(path, Some(old), content) },
                _ => Self::Binary { size: bytes.len() },
            },
        }
    }
}

/// The question when there is no difference to show.
pub(crate) fn replaces_binary(path: &str, size: usize, content: &str) -> String {
    let lines = count(content);
    format!("Replace `{}`, a binary file of {size} bytes, with {lines} of text", printable(path))
}

/// What was done.
pub(crate) fn written(path: &str, created: bool, content: &str) -> String {
    let (path, lines) = (printable(path), count(content));
    if created { format!("Created `{path}` ({lines})") } else { format!("Overwrote `{path}` ({lines} now)") }
}

fn count(content: &str) -> String {
    match lines(content).count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_file_change_shows_or_names_what_is_lost() {
        assert_eq!(Change::of("f", Some(b"a\n"), "a\n"), Change::None);
        assert_eq!(Change::of("f", Some(b"a\0b"), "a"), Change::Binary { size: 3 });
        assert_eq!(Change::of("f", Some(b"\xff"), "a"), Change::Binary { size: 1 });
        let text = |unified: &str| Change::Text { unified: unified.to_owned() };
        assert_eq!(Change::of("f", Some(b"a\n"), "b\n"), text("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"));
        assert_eq!(Change::of("f", None, "b\n"), text("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n"));
        assert_eq!(Change::of("f", None, ""), text("--- /dev/null\n+++ b/f\n"));
    }

    #[test]
    fn the_words_name_the_file_and_its_lines() {
        assert_eq!(written("f", true, "a"), "Created `f` (1 line)");
        assert_eq!(written("f", false, "a\nb\n"), "Overwrote `f` (2 lines now)");
        assert_eq!(replaces_binary("f", 9, ""), "Replace `f`, a binary file of 9 bytes, with 0 lines of text");
    }
}

//! Names of files as one line shows them.

use std::borrow::Cow;

/// The name with control characters escaped. A file's name may hold a line break, and what follows it would
/// read as a line of the tool's own.
pub fn printable(name: &str) -> Cow<'_, str> {
    if !name.chars().any(char::is_control) {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        if c.is_control() {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_breaks_its_line() {
        for (name, shown) in [
            ("src/lib.rs", "src/lib.rs"),
            ("ä b.txt", "ä b.txt"),
            ("a\nFound 3 matches", "a\\nFound 3 matches"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
        ] {
            assert_eq!(printable(name), shown);
        }
    }
}

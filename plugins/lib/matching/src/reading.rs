//! The ways to read what a model gave as text of a file and as text to come in its place.

/// A pair of texts as a model may have meant them.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) old: String,
    pub(crate) new: String,
    /// The line that it begins at, if the model copied the numbers of lines as well.
    pub(crate) first_line: Option<usize>,
    /// What was done to the texts; `None` for those that were given.
    pub(crate) changed: Option<&'static str>,
    /// Whether the text stands for whole lines, and so is not looked for within lines.
    pub(crate) whole_lines: bool,
}

/// The readings of two texts, the likeliest first. The first one are the texts as they are.
pub(crate) fn readings(old: &str, new: &str) -> Vec<Reading> {
    let reading = |old: &str, new: &str, first_line, changed, whole_lines| Reading {
        old: old.to_owned(),
        new: new.to_owned(),
        first_line,
        changed,
        whole_lines,
    };
    let mut readings = vec![reading(old, new, None, None, false)];
    if let Some((first, bare)) = without_numbers(old) {
        // New lines may have numbers, too, some or all of them.
        let new: Vec<&str> = new.split('\n').map(|line| number(line).map_or(line, |(_, line)| line)).collect();
        readings.push(reading(&bare, &new.join("\n"), Some(first), Some("without its line numbers"), true));
    }
    if let Some(bare) = unescaped(old) {
        let new = unescaped(new).unwrap_or_else(|| new.to_owned());
        readings.push(reading(&bare, &new, None, Some("without its escapes"), false));
    }
    let trimmed = without_blank_ends(old);
    if trimmed != old.strip_suffix('\n').unwrap_or(old) {
        let how = "without the blank lines at its ends";
        readings.push(reading(trimmed, without_blank_ends(new), None, Some(how), true));
    }
    readings
}

/// The number in front of a line, as `read_file` and `nl` write it, and the line behind it.
fn number(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.trim_start_matches(' ').split_once('\t')?;
    Some((number.parse().ok()?, rest))
}

/// The text without the numbers in front of its lines, and the first number; `None` unless each line has its number.
fn without_numbers(text: &str) -> Option<(usize, String)> {
    let mut bare = Vec::new();
    let mut first = None;
    let lines = text.strip_suffix('\n').unwrap_or(text);
    for (index, line) in lines.split('\n').enumerate() {
        let (number, line) = number(line)?;
        if *first.get_or_insert(number) + index != number {
            return None;
        }
        bare.push(line);
    }
    let mut bare = bare.join("\n");
    if text.ends_with('\n') {
        bare.push('\n');
    }
    Some((first?, bare))
}

/// The text with one layer of escapes taken off; `None` if it has none, or a backslash that begins no escape.
///
/// A text of which only a part was escaped is left alone: nobody knows which part.
fn unescaped(text: &str) -> Option<String> {
    let mut bare = String::with_capacity(text.len());
    let mut characters = text.chars();
    let mut has_any = false;
    while let Some(c) = characters.next() {
        if c == '"' {
            // One that is not escaped, in a text that is escaped otherwise.
            return None;
        }
        if c != '\\' {
            bare.push(c);
            continue;
        }
        has_any = true;
        bare.push(match characters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            c @ ('"' | '\\' | '\'' | '`') => c,
            _ => return None,
        });
    }
    has_any.then(|| bare.replace("\r\n", "\n"))
}

/// The text from its first to its last line that is not blank, without a line break at its end.
fn without_blank_ends(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let line = text.get(..start).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    text.get(line..).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_off_lines_that_follow_each_other() {
        for (text, expected) in [
            ("12\tlet a;\n13\t\tb\n", Some((12, "let a;\n\tb\n"))),
            (" 9\ta\n10\tb", Some((9, "a\nb"))),
            ("7\t", Some((7, ""))),
            // Data that begins with numbers, and lines of which one has none.
            ("1\ta\n3\tb", None),
            ("1\ta\nb", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(without_numbers(text), expected.map(|(first, text)| (first, text.to_owned())), "{text:?}");
        }
    }

    #[test]
    fn escapes_are_taken_off_a_text_that_is_escaped_throughout() {
        for (text, expected) in [
            (r#"a(\"b\");\n\tc"#, Some("a(\"b\");\n\tc")),
            (r"a\\n", Some(r"a\n")),
            (r#"a("b\n")"#, None),
            (r"a\d", None),
            (r"a\", None),
            ("a", None),
        ] {
            assert_eq!(unescaped(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn blank_lines_are_taken_off_the_ends() {
        for (text, expected) in [("\n\n  a\n\n b \n\n", "  a\n\n b"), ("a", "a"), (" \n", ""), ("", "")] {
            assert_eq!(without_blank_ends(text), expected, "{text:?}");
        }
    }
}

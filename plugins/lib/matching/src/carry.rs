//! What comes in place of text that differs from its copy in white space and punctuation.
//!
//! A model that writes `"` for `“`, or spaces for a tab, does so in the lines that it leaves alone as well. So what the
//! edit does not change is taken from the file, and what it adds is indented with the file's own means.

use crate::find::Closeness;
use similar::DiffOp;
use similar::algorithms::{Capture, Replace, myers};

/// The text that comes in place of `found`, which is `old` as the file has it, when `new` comes in place of `old`.
///
/// `found` and `old` have equally many lines, and are as close as `closeness` says.
pub fn carry(found: &str, old: &str, new: &str, closeness: Closeness) -> String {
    let lines = |text: &'_ str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (found, old, new) = (lines(found), lines(old), lines(new));
    // A first line that begins within the file's line shows nothing of its indentation.
    let hidden = usize::from(closeness == Closeness::PartOfLines);
    let indents = Indents::between(&old, &found, hidden);
    let bare = |lines: &[String]| lines.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let mut result: Vec<String> = Vec::with_capacity(new.len());
    for op in changes(&bare(&old), &bare(&new)) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                result.extend(found.iter().skip(old_index).take(len).cloned());
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { old_index, new_index, new_len } => {
                let lines = new.iter().skip(new_index).take(new_len);
                result.extend(lines.map(|line| indents.put_on(line, old_index)));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                for (index, line) in new.iter().skip(new_index).take(new_len).enumerate() {
                    let at = old_index + index;
                    let pair = old.get(at).zip(found.get(at)).filter(|_| index < old_len);
                    result.push(match pair {
                        Some((old, found)) => changed_line(found, old, line, &indents, at),
                        None => indents.put_on(line, at.min(old_index + old_len.saturating_sub(1))),
                    });
                }
            }
        }
    }
    result.join("\n")
}

/// How the second list comes of the first one. The algorithm is named here: a choice at run time would put all of them
/// into the component.
fn changes<T: AsRef<str>>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let words = |all: &'_ [T]| all.iter().map(|word| word.as_ref().to_owned()).collect::<Vec<String>>();
    let (old, new) = (words(old), words(new));
    let mut capture = Replace::new(Capture::new());
    let Ok(()) = myers::diff(&mut capture, &old, 0..old.len(), &new, 0..new.len());
    capture.into_inner().into_ops()
}

/// A changed line: what it has in common with the old one is as the file has it.
fn changed_line(found: &str, old: &str, new: &str, indents: &Indents, at: usize) -> String {
    if new.trim().is_empty() {
        return String::new();
    }
    let indentation = if indent(old) == indent(new) { indent(found).to_owned() } else { indents.map(indent(new), at) };
    let (found, old, new_body) = (tokens(found.trim()), tokens(old.trim()), tokens(new.trim()));
    let new_end = new.trim_end().len();
    let mut line = indentation;
    if found.len() != old.len() {
        // They would have to be the same but for white space; without that there is nothing to go by.
        line.push_str(new.trim_start());
        return line;
    }
    for op in changes(&old, &new_body) {
        let (from, range) = match op {
            DiffOp::Equal { old_index, len, .. } => (&found, old_index..old_index + len),
            DiffOp::Delete { .. } => continue,
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                (&new_body, new_index..new_index + new_len)
            }
        };
        from.get(range).unwrap_or_default().iter().for_each(|token| line.push_str(token));
    }
    line.push_str(new.get(new_end..).unwrap_or(""));
    line
}

/// A line as its words, its runs of white space, and its other characters.
fn tokens(line: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_whitespace() {
            0
        } else if c.is_alphanumeric() || c == '_' {
            1
        } else {
            2
        }
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in line.char_indices() {
        if before.is_some_and(|before| before != kind(c) || kind(c) == 2) {
            tokens.extend(line.get(start..at));
            start = at;
        }
        before = Some(kind(c));
    }
    tokens.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    tokens
}

/// The white space in front of a line.
fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or("")
}

/// How the indentation of a copy becomes that of the file.
struct Indents {
    /// For each line of the copy that is not blank: its number, its indentation, and that of the file's line.
    pairs: Vec<(usize, String, String)>,
    /// What one step is in the copy and in the file, where one of them has tabs and the other one spaces.
    step: Option<(String, String)>,
}

impl Indents {
    /// From the lines of the copy and of the file, but for the first ones that are `hidden`.
    fn between(old: &[String], found: &[String], hidden: usize) -> Self {
        let pairs: Vec<_> = old
            .iter()
            .zip(found)
            .enumerate()
            .skip(hidden)
            .filter(|(_, (old, _))| !old.trim().is_empty())
            .map(|(number, (old, found))| (number, indent(old).to_owned(), indent(found).to_owned()))
            .collect();
        let step = pairs.iter().find_map(|(_, old, found)| step(old, found));
        Self { pairs, step }
    }

    /// The line with the file's indentation, near line `at` of the copy.
    fn put_on(&self, line: &str, at: usize) -> String {
        if line.trim().is_empty() {
            return String::new();
        }
        self.map(indent(line), at) + line.trim_start()
    }

    /// The file's indentation for one of the copy, near its line `at`.
    fn map(&self, indentation: &str, at: usize) -> String {
        let distance = |pair: &&(usize, String, String)| (pair.0.abs_diff(at), pair.0 > at);
        // The nearest line with this indentation shows what the file has for it.
        if let Some((_, _, found)) = self.pairs.iter().filter(|(_, old, _)| old == indentation).min_by_key(distance) {
            return found.clone();
        }
        // Otherwise it is that of a line which is indented less, and more.
        let less = self.pairs.iter().filter(|(_, old, _)| indentation.starts_with(old.as_str()));
        if let Some((_, old, found)) = less.max_by_key(|pair| (pair.1.len(), std::cmp::Reverse(distance(pair)))) {
            return format!("{found}{}", self.converted(indentation.get(old.len()..).unwrap_or("")));
        }
        // It is indented less than each line of the copy: the file's line is moved to the left as well.
        match self.pairs.iter().min_by_key(|pair| (pair.1.len(), distance(pair))) {
            Some((_, old, found)) => {
                let missing = self.converted(old.get(indentation.len()..).unwrap_or(""));
                found.get(..found.len().saturating_sub(missing.len())).unwrap_or("").to_owned()
            }
            None => indentation.to_owned(),
        }
    }

    /// Further indentation in the file's own means.
    fn converted(&self, more: &str) -> String {
        match &self.step {
            Some((copy, file)) if !more.is_empty() && more.len().is_multiple_of(copy.len()) => {
                let steps = more.len() / copy.len();
                if copy.repeat(steps) == more { file.repeat(steps) } else { more.to_owned() }
            }
            _ => more.to_owned(),
        }
    }
}

/// One step of indentation in the copy and in the file, from the indentation of one line in both.
fn step(old: &str, found: &str) -> Option<(String, String)> {
    let all = |text: &str, c: char| !text.is_empty() && text.chars().all(|other| other == c);
    let (spaces, tabs, file_has_tabs) = match (all(old, ' '), all(found, '\t'), all(old, '\t'), all(found, ' ')) {
        (true, true, ..) => (old.len(), found.len(), true),
        (_, _, true, true) => (found.len(), old.len(), false),
        _ => return None,
    };
    let width = spaces / tabs;
    if width == 0 || width * tabs != spaces {
        return None;
    }
    let (tab, spaces) = ("\t".to_owned(), " ".repeat(width));
    Some(if file_has_tabs { (spaces, tab) } else { (tab, spaces) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &str, old: &str, new: &str, expected: &str) {
        assert_eq!(carry(found, old, new, Closeness::Spacing), expected, "{found:?} {old:?} {new:?}");
    }

    #[test]
    fn characters_that_an_edit_does_not_change_stay_the_files() {
        // In a changed line, too.
        check("say(“a”, “b”) – now", "say(\"a\", \"b\") - now", "say(\"a\", \"c\") - now", "say(“a”, “c”) – now");
        check("a  =  b;  ", "a = b;", "a = c;", "a  =  c;");
        check("x\u{a0}y", "x y", "x y z", "x\u{a0}y z");
        check("one \n“two”\nthree", "one\n\"two\"\nthree", "one\n\"two\"\n\"three\"", "one \n“two”\n\"three\"");
    }

    #[test]
    fn new_lines_are_indented_with_the_means_of_the_file() {
        let tabs = "\tif a {\n\t\tb();\n\t}";
        let spaces = "    if a {\n        b();\n    }";
        let nested = "    if a {\n        for c in d {\n            b();\n        }\n    }";
        check(tabs, spaces, nested, "\tif a {\n\t\tfor c in d {\n\t\t\tb();\n\t\t}\n\t}");
        let nested = "\tif a {\n\t\tfor c in d {\n\t\t\tb();\n\t\t}\n\t}";
        check(spaces, tabs, nested, "    if a {\n        for c in d {\n            b();\n        }\n    }");
        // Less than any line of the copy, and blank lines.
        check("        a\n        b", "    a\n    b", "  a\n\n    b", "      a\n\n        b");
        check("    a", "a", "", "");
        // A copy without any indentation: a line is indented like the nearest one.
        check("  a\n    b", "a\nb", "a\nb\nc", "  a\n    b\n    c");
    }

    #[test]
    fn lines_are_taken_apart_without_loss() {
        for line in ["let a_b = “c”;", "", "  ", "ä—ö  x()", "a"] {
            assert_eq!(tokens(line).concat(), line);
        }
        assert_eq!(tokens("a_b  (1)"), ["a_b", "  ", "(", "1", ")"]);
    }
}

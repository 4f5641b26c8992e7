//! Distinguishes the prose in a model's text from lines whose form repeats itself by nature: fenced and other code,
//! tables, lists, headings, quotes, rules, drawings, JSON.
//!
//! It is judged by the look of a line alone, the whole of it or its first [`HELD`] characters.

use host_text::{CodeBlocks, Indent, LineKind};

/// Number of characters of a line that are examined. A paragraph is often one line, and a loop in it must be noticed
/// before it ends; a table's row or a drawing is seldom wider.
pub(super) const HELD: usize = 400;

/// Minimum number of visible characters for a line of mostly one character to count as a drawing.
const DRAWING: usize = 20;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words. What repeats in it counts.
    Prose,
    /// A form. What repeats in it does not.
    Form,
}

/// The available part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// Its beginning.
    Beginning,
}

/// Knows, from one line to the next, whether they are in fenced code.
#[derive(Debug)]
pub(super) struct Lines {
    blocks: CodeBlocks,
}

impl Default for Lines {
    fn default() -> Self {
        Self { blocks: CodeBlocks::new(Indent::Any) }
    }
}

impl Lines {
    /// Returns the kind of the next line.
    pub(super) fn kind(&mut self, line: &str, extent: Extent) -> Kind {
        let trimmed = line.trim();
        match self.blocks.line(line) {
            LineKind::Opens | LineKind::Code | LineKind::Closes => Kind::Form,
            // Code within the line, which begins it.
            LineKind::Text if trimmed.starts_with("```") => Kind::Form,
            LineKind::Text => of_line(line, trimmed, extent),
        }
    }
}

fn of_line(line: &str, trimmed: &str, extent: Extent) -> Kind {
    // Between paragraphs: a sentence is the same with an empty line behind it.
    if trimmed.is_empty() {
        return Kind::Prose;
    }
    let is_form = is_indented(line)
        || is_marked(trimmed)
        || is_row(trimmed)
        || is_drawing(trimmed, extent)
        || is_code(trimmed, extent);
    if is_form { Kind::Form } else { Kind::Prose }
}

/// Four columns in: code, or what belongs to a list.
fn is_indented(line: &str) -> bool {
    line.starts_with('\t') || line.starts_with("    ")
}

/// The item of a list, a heading, a quote.
fn is_marked(trimmed: &str) -> bool {
    let after_number = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_number.len() < trimmed.len() && after_number.starts_with(['.', ')']);
    let bullet = ['-', '*', '+', '•', '·', '–', '—', '◦', '▪', '✓', '✗', '✅', '❌'];
    let listed = trimmed.strip_prefix(bullet).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    numbered || listed || trimmed.starts_with(['#', '>'])
}

/// The row of a table.
fn is_row(trimmed: &str) -> bool {
    let bars = || trimmed.bytes().filter(|byte| *byte == b'|').count() + trimmed.matches('│').count();
    trimmed.starts_with(['|', '│', '┃', '║']) || bars() >= 2 || trimmed.contains('\t')
}

/// A rule, a line of symbols, a line of mostly one character.
fn is_drawing(trimmed: &str, extent: Extent) -> bool {
    if !trimmed.chars().any(char::is_alphanumeric) {
        return true;
    }
    // A character has at least one byte.
    if extent == Extent::Beginning || trimmed.len() < DRAWING {
        return false;
    }
    let visible = || trimmed.chars().filter(|c| !c.is_whitespace());
    // What is more than half of them wins this vote (Boyer and Moore, 1981).
    let (winner, votes, all) = visible().fold((' ', 0_usize, 0), |(leader, votes, all), c| match votes {
        0 => (c, 1, all + 1),
        _ if c == leader => (leader, votes + 1, all + 1),
        _ => (leader, votes - 1, all + 1),
    });
    // Each of the others takes one vote at the most, so three fifths leave it more than a fifth.
    if all < DRAWING || votes * 5 <= all {
        return false;
    }
    visible().filter(|c| *c == winner).count() * 5 > all * 3
}

/// JSON, markup, or a statement of most programming languages.
fn is_code(trimmed: &str, extent: Extent) -> bool {
    let whole = extent == Extent::Whole;
    let is_call = || {
        let open = trimmed.find('(').and_then(|at| trimmed.get(..at)?.chars().next_back());
        trimmed.ends_with(')') && open.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '!'))
    };
    let is_member = || trimmed.starts_with('"') && (trimmed.contains("\":") || trimmed.ends_with(['"', ',']));
    trimmed.starts_with(['{', '}', '[', ']', '<', '(', ')'])
        || is_member()
        || (whole && (trimmed.ends_with(['{', '}', '[', ']', '(', ';', '>']) || is_call()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, extent: Extent, kind: Kind) {
        assert_eq!(Lines::default().kind(line, extent), kind, "{line}");
    }

    #[test]
    fn words_are_prose() {
        for line in [
            "",
            "I will look at the file again.",
            "  I will look at `a.rs` (and `b.rs`) again.",
            "So: 3.5 times, e.g. this - or that | either.",
            "Let me check the results of the run, and then",
            "我来再看一遍这个文件。",
            "10 files have it, and that is that",
            "-5 is less than 3",
            "\"I will,\" it said, \"do it again\" and again.",
        ] {
            check(line, Extent::Whole, Kind::Prose);
        }
        check("ha ha ha ha ha ha ha ha ha ha ha ha ha ha", Extent::Whole, Kind::Prose);
        check(&"a".repeat(HELD), Extent::Beginning, Kind::Prose);
    }

    #[test]
    fn forms_are_no_prose() {
        for line in [
            "```rust",
            "~~~",
            "    let a = 1",
            "\tlet a = 1",
            "- an item",
            "* an item",
            "12. an item",
            "3) an item",
            "### Heading",
            "> quoted",
            "---",
            "* * *",
            "══════════",
            "--- a title ---------------------------------",
            "=======================================.......",
            "MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM:.MMMMMMM",
            "| a | b |",
            "a | b | c",
            "name\tsize",
            "+------+-----+",
            "{",
            "  \"name\": \"a\",",
            "\"a\",",
            "[{\"a\": 1}, {\"a\": 1}]",
            "fn main() {",
            "let a = b;",
            "print(\"the same line again\")",
            "println!(\"{a}\")",
            "<li>item</li>",
        ] {
            check(line, Extent::Whole, Kind::Form);
        }
        check("[{\"a\": 1}, {\"a\": 1}, {\"a", Extent::Beginning, Kind::Form);
    }

    #[test]
    fn loops_code_block_continues_until_its_fence_is_closed() {
        let mut lines = Lines::default();
        let text =
            "````md\nprose\n```\nprose\n~~~~\n````js\n`````\nprose\n```x``` is code\nprose\n~~~\n```\n~~~ \nprose";
        let kinds: String =
            text.lines().map(|line| if lines.kind(line, Extent::Whole) == Kind::Form { '.' } else { 'p' }).collect();
        assert_eq!(kinds, ".......p.p...p");
    }
}

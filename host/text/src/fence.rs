//! Markdown's fenced code: where a block begins and ends, and how to put text into a block that it cannot end.
//!
//! The rules are CommonMark's: three or more of one mark, then the info string; closed by as many of that mark or more,
//! alone on their line; within a block no other fence counts; backticks behind backticks make code within the line. The
//! readers differ in one thing, how far a fence may be indented, which [`Indent`] says.

/// How far a fence may be indented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// By up to three spaces, as in CommonMark outside of lists: for text whose blocks are acted on.
    ThreeSpaces,
    /// By any spaces and tabs, so that blocks within lists are found without knowing the list.
    Any,
}

/// The fence that opened a block of code, and closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    mark: char,
    length: usize,
}

/// The role of a line in blocks of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Outside of a block.
    Text,
    /// It opens a block.
    Opens,
    /// In a block.
    Code,
    /// It closes the block.
    Closes,
}

/// Follows the blocks of a text, line by line.
#[derive(Clone, Debug)]
pub struct CodeBlocks {
    indent: Indent,
    open: Option<Fence>,
}

/// The fewest marks that make a fence.
const FEWEST_MARKS: usize = 3;

impl Fence {
    /// Returns the fence that the line opens, and its info string.
    pub fn opened_by(line: &str, indent: Indent) -> Option<(Self, &str)> {
        let (fence, info) = marks(unindented(line, indent)?)?;
        (fence.length >= FEWEST_MARKS && !fence.is_inline(info)).then(|| (fence, info.trim()))
    }

    /// Whether the line closes the block that this fence opened.
    pub fn is_closed_by(self, line: &str, indent: Indent) -> bool {
        unindented(line, indent).and_then(marks).is_some_and(|(fence, rest)| {
            fence.mark == self.mark && fence.length >= self.length && rest.trim().is_empty()
        })
    }

    /// Returns the mark: a backtick or a tilde.
    pub fn mark(self) -> char {
        self.mark
    }

    /// Returns the number of marks.
    pub fn length(self) -> usize {
        self.length
    }

    /// Whether this text behind the marks makes them code within the line.
    fn is_inline(self, info: &str) -> bool {
        self.mark == '`' && info.contains('`')
    }
}

impl CodeBlocks {
    /// Creates the state at the beginning of a text.
    pub fn new(indent: Indent) -> Self {
        Self { indent, open: None }
    }

    /// Classifies the next line.
    pub fn line(&mut self, line: &str) -> LineKind {
        match self.open {
            Some(fence) if fence.is_closed_by(line, self.indent) => {
                self.open = None;
                LineKind::Closes
            }
            Some(_) => LineKind::Code,
            None => {
                self.open = Fence::opened_by(line, self.indent).map(|(fence, _)| fence);
                if self.open.is_some() { LineKind::Opens } else { LineKind::Text }
            }
        }
    }
}

/// Whether a line with this beginning can become a fence.
pub fn could_be_fence(begun: &str, indent: Indent) -> bool {
    let Some(rest) = unindented(begun, indent) else { return false };
    match marks(rest) {
        None => rest.is_empty(),
        Some((fence, info)) => info.is_empty() || (fence.length >= FEWEST_MARKS && !fence.is_inline(info)),
    }
}

/// Whether a line with this beginning can become the opening fence of backticks with exactly this info string.
pub fn could_open_with(begun: &str, info: &str, indent: Indent) -> bool {
    let Some(rest) = unindented(begun, indent) else { return false };
    match marks(rest) {
        None => rest.is_empty(),
        Some((fence, _)) if fence.mark != '`' => false,
        Some((_, "")) => true,
        Some((fence, behind)) => {
            fence.length >= FEWEST_MARKS && (info.starts_with(behind.trim_start()) || behind.trim() == info)
        }
    }
}

/// Returns a fence that nothing in the text can close.
pub fn fence_for(text: &str) -> String {
    "`".repeat(longest_run(text).max(FEWEST_MARKS - 1) + 1)
}

/// Formats the text as a block of code, with this info string.
pub fn fenced(info: &str, text: &str) -> String {
    let fence = fence_for(text);
    format!("{fence}{info}\n{}\n{fence}", text.strip_suffix('\n').unwrap_or(text))
}

/// Formats the text as code within a line.
pub fn inline_code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let marks = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns the line without the indentation that a fence may have.
fn unindented(line: &str, indent: Indent) -> Option<&str> {
    match indent {
        Indent::Any => Some(line.trim_start_matches([' ', '\t'])),
        Indent::ThreeSpaces => {
            let rest = line.trim_start_matches(' ');
            (line.len() - rest.len() <= 3).then_some(rest)
        }
    }
}

/// Returns the run of marks that a text begins with, however short, and the rest of the line.
fn marks(text: &str) -> Option<(Fence, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    Some((Fence { mark, length: text.len() - rest.len() }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fence_is_three_marks_and_an_info_string() {
        for (line, both, any) in [
            ("```rust", Some("rust"), Some("rust")),
            ("~~~~ a `b`\n", Some("a `b`"), Some("a `b`")),
            ("   ```", Some(""), Some("")),
            ("    ```", None, Some("")),
            ("\t~~~", None, Some("")),
            ("``", None, None),
            ("```a``` b", None, None),
            ("text ```", None, None),
        ] {
            let info = |indent| Fence::opened_by(line, indent).map(|(_, info)| info);
            assert_eq!((info(Indent::ThreeSpaces), info(Indent::Any)), (both, any), "{line:?}");
            assert!(any.is_none() || could_be_fence(line, Indent::Any), "{line:?}");
        }
    }

    #[test]
    fn text_code_block_ends_where_its_fence_is_closed() {
        let text = "a\n````md\n```\n~~~~\n````js\n`````\nb\n```x``` c\n~~~\n```\n~~~ \nd";
        let mut blocks = CodeBlocks::new(Indent::ThreeSpaces);
        let kinds: Vec<LineKind> = text.lines().map(|line| blocks.line(line)).collect();
        use LineKind::{Closes, Code, Opens, Text};
        assert_eq!(kinds, [Text, Opens, Code, Code, Code, Closes, Text, Text, Opens, Code, Closes, Text]);
    }

    #[test]
    fn text_beginning_of_a_line_can_become_a_fence() {
        for (begun, fence, call) in [
            ("", true, true),
            ("  `", true, true),
            ("```", true, true),
            ("```to", true, true),
            ("``` tool_call ", true, true),
            ("```tool_calls", true, false),
            ("~~~", true, false),
            ("``x", false, false),
            ("```a`", false, false),
            ("     ", false, false),
            ("a", false, false),
        ] {
            assert_eq!(could_be_fence(begun, Indent::ThreeSpaces), fence, "{begun:?}");
            assert_eq!(could_open_with(begun, "tool_call", Indent::ThreeSpaces), call, "{begun:?}");
        }
    }

    #[test]
    fn text_in_a_block_cannot_end_it() {
        for (text, fence) in [("a", "```"), ("```\nx\n```", "````"), ("a ````` b\n", "``````")] {
            let block = fenced("", text);
            assert!(block.starts_with(&format!("{fence}\n")) && block.ends_with(&format!("\n{fence}")), "{block}");
        }
        for (text, want) in [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("", "`  `")] {
            assert_eq!(inline_code(text), want);
        }
    }
}

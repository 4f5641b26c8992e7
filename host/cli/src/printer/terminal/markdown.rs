//! Markdown as it arrives: colours and weights on the text as the model wrote it.
//!
//! Only colours are added and nothing is removed: marks stay, dimmed, so that text copied from the screen is what the
//! model wrote, and mistaking a character for a mark does no harm. A line is shown while it arrives; only a mark is
//! held back, until the character that decides it. Without colour the text passes unchanged.
//!
//! Deliberately not here: redrawn tables, and anything else that would need the end of a paragraph.

use anstyle::AnsiColor;

use host_text::{Escaper, Fence as CodeFence, Indent, Newlines};

use crate::printer::Style;

/// The longest beginning of a line that is held back, in bytes: longer it is text.
const MAX_HELD: usize = 40;

const RESET: &str = "\u{1b}[0m";

/// A text that is coming.
#[derive(Debug)]
pub(super) struct Markdown {
    style: Style,
    escaper: Escaper,
    /// The fence that began the block of code; `None` outside a block.
    fence: Option<Fence>,
    line: Line,
    /// Text that is held back: the beginning of a line, or a run of marks.
    held: String,
    last: Option<char>,
    bold: bool,
    italic: bool,
    /// With how many backticks code began.
    code: Option<usize>,
    /// Whether colours are active that must be reset.
    coloured: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fence {
    fence: CodeFence,
    is_difference: bool,
}

/// The kind of the current line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// Not known yet.
    Unknown,
    Text,
    Heading,
    Table,
    /// A line of code, or one that begins it: nothing in it is a mark.
    Verbatim(Option<AnsiColor>),
    /// A line that begins with three marks or more, as far as it has arrived: a fence, unless it is inline code.
    Fence(String),
}

impl Markdown {
    pub(super) fn new(style: Style) -> Self {
        let (fence, held, last, code) = Default::default();
        let escaper = Escaper::new(Newlines::Keep);
        let (line, bold, italic, coloured) = (Line::Unknown, false, false, false);
        Self { style, escaper, fence, line, held, last, bold, italic, code, coloured }
    }

    /// Takes a piece; what can be shown of it.
    pub(super) fn feed(&mut self, text: &str) -> String {
        let text = self.escaper.push(text);
        self.safe(text)
    }

    /// Takes a piece that is safe to show.
    fn safe(&mut self, text: String) -> String {
        if !self.style.colour {
            return text;
        }
        let mut out = String::with_capacity(text.len() + 16);
        text.chars().for_each(|character| self.character(character, &mut out));
        out
    }

    /// Ends the text and returns what was held back.
    pub(super) fn finish(&mut self) -> String {
        let rest = self.escaper.finish();
        let mut out = self.safe(rest);
        self.end_line(&mut out);
        *self = Self::new(self.style);
        out
    }

    fn character(&mut self, character: char, out: &mut String) {
        if character == '\n' {
            self.end_line(out);
            out.push('\n');
            return;
        }
        if self.line != Line::Unknown {
            return self.within(character, out);
        }
        self.held.push(character);
        if let Some((line, marks)) = self.decided() {
            self.begin(line, marks, out);
        }
    }

    /// Begins a line of this kind; `marks` is the number of bytes of the held text that are its mark.
    fn begin(&mut self, line: Line, marks: usize, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let (mark, rest) = held.split_at_checked(marks).unwrap_or(("", &held));
        if !mark.is_empty() {
            let mark = match line {
                Line::Text => self.style.paint(mark, AnsiColor::Cyan),
                Line::Heading | Line::Table | Line::Verbatim(_) | Line::Fence(_) | Line::Unknown => {
                    self.style.dim(mark)
                }
            };
            out.push_str(&mark);
            self.last = None;
        }
        self.line = line;
        self.restyle(out);
        rest.chars().for_each(|character| self.within(character, out));
    }

    /// Returns the kind of the line by its beginning, and the number of bytes that are a mark; `None` while more is
    /// needed.
    fn decided(&self) -> Option<(Line, usize)> {
        let text = self.held.trim_start_matches([' ', '\t']);
        let indent = self.held.len() - text.len();
        let first = text.chars().next();
        if let Some(Fence { fence, is_difference }) = &self.fence {
            let is_mark = text.chars().all(|c| c == fence.mark()) && self.held.len() < MAX_HELD;
            return match first {
                Some(first) if !is_mark => Some((Line::Verbatim(colour_of(first, *is_difference)), 0)),
                None if self.held.len() >= MAX_HELD => Some((Line::Verbatim(None), 0)),
                Some(_) | None => None,
            };
        }
        let plain = Some((Line::Text, 0));
        if self.held.len() >= MAX_HELD {
            return plain;
        }
        let first = first?;
        let run = text.chars().take_while(|c| *c == first).count();
        let behind = text.chars().nth(run);
        match (first, behind) {
            ('#', Some(' ')) if run <= 6 => Some((Line::Heading, indent + run)),
            ('#', None) if run <= 6 => None,
            ('`' | '~', Some(_)) if run >= 3 => {
                let marks: String = text.chars().take(run).collect();
                Some((Line::Fence(marks), indent + run))
            }
            ('`' | '~', None) => None,
            ('>', _) => Some((Line::Text, indent + 1)),
            ('|', _) => Some((Line::Table, 0)),
            ('-' | '*' | '+', Some(' ')) if run == 1 => Some((Line::Text, indent + 1)),
            ('-' | '*' | '+', None) => None,
            ('0'..='9', _) => {
                let digits = text.chars().take_while(char::is_ascii_digit).count();
                let mut rest = text.chars().skip(digits);
                match (rest.next(), rest.next()) {
                    (None, _) | (Some('.' | ')'), None) if digits <= 9 => None,
                    (Some('.' | ')'), Some(' ')) if digits <= 9 => Some((Line::Text, indent + digits + 1)),
                    _ => plain,
                }
            }
            _ => plain,
        }
    }

    /// A character of a line whose kind is known.
    fn within(&mut self, character: char, out: &mut String) {
        match &mut self.line {
            Line::Verbatim(_) => out.push(character),
            Line::Fence(line) => {
                line.push(character);
                out.push(character);
            }
            Line::Unknown | Line::Text | Line::Heading | Line::Table => {
                if self.held.starts_with(character) && self.held.len() < MAX_HELD {
                    self.held.push(character);
                    return;
                }
                self.end_run(Some(character), out);
                let is_mark = match character {
                    '`' => self.last != Some('\\') || self.code.is_some(),
                    '*' => self.code.is_none() && self.last != Some('\\'),
                    _ => false,
                };
                if is_mark {
                    self.held.push(character);
                } else if character == '|' && self.line == Line::Table && self.code.is_none() {
                    self.plain(out);
                    out.push_str(&self.style.dim("|"));
                    self.restyle(out);
                    self.last = Some(character);
                } else {
                    out.push(character);
                    self.last = Some(character);
                }
            }
        }
    }

    /// Ends a run of marks, which `next` follows.
    fn end_run(&mut self, next: Option<char>, out: &mut String) {
        let run = std::mem::take(&mut self.held);
        let Some(mark) = run.chars().next() else { return };
        let length = run.len();
        let is_text = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        let opens = is_text(next) && !self.last.is_some_and(char::is_alphanumeric);
        let closes = is_text(self.last);
        let (weak, strong) = (length % 2 == 1, length >= 2);
        let changes = match (mark, self.code) {
            ('`', None) => {
                self.code = next.is_some().then_some(length);
                self.code.is_some()
            }
            ('`', Some(began)) if began == length => {
                self.code = None;
                true
            }
            ('*', None) if length <= 3 => {
                let (ends_italic, ends_bold) = (weak && self.italic, strong && self.bold);
                if closes && (ends_italic || ends_bold) {
                    self.italic &= !ends_italic;
                    self.bold &= !ends_bold;
                    true
                } else if opens {
                    self.italic |= weak;
                    self.bold |= strong;
                    true
                } else {
                    false
                }
            }
            _ => false,
        };
        self.last = Some(mark);
        if changes {
            self.plain(out);
            out.push_str(&self.style.dim(&run));
            self.restyle(out);
        } else {
            out.push_str(&run);
        }
    }

    fn end_line(&mut self, out: &mut String) {
        match std::mem::replace(&mut self.line, Line::Unknown) {
            Line::Unknown if !self.held.is_empty() => self.end_short_line(out),
            Line::Unknown => {}
            Line::Text | Line::Heading | Line::Table => self.end_run(None, out),
            Line::Verbatim(_) => {}
            Line::Fence(line) => self.open(&line),
        }
        (self.bold, self.italic, self.code, self.last) = Default::default();
        self.plain(out);
    }

    /// The line has ended, and may open a block.
    fn open(&mut self, line: &str) {
        self.fence = CodeFence::opened_by(line, Indent::Any)
            .map(|(fence, info)| Fence { fence, is_difference: matches!(info, "diff" | "patch") });
    }

    /// Ends the colours that hold.
    fn plain(&mut self, out: &mut String) {
        if std::mem::take(&mut self.coloured) {
            out.push_str(RESET);
        }
    }

    /// The line ended before it was known what it is.
    fn end_short_line(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let text = held.trim();
        let first = text.chars().next().unwrap_or(' ');
        let is_run = text.chars().all(|c| c == first);
        match &self.fence {
            Some(open) => {
                if open.fence.is_closed_by(&held, Indent::Any) {
                    self.fence = None;
                    out.push_str(&self.style.dim(&held));
                } else {
                    out.push_str(&held);
                }
            }
            None if is_run && matches!(first, '`' | '~') && text.len() >= 3 => {
                self.open(text);
                out.push_str(&self.style.dim(&held));
            }
            None if is_run && matches!(first, '-' | '*') && text.len() >= 3 => out.push_str(&self.style.dim(&held)),
            None => {
                self.line = Line::Text;
                held.chars().for_each(|character| self.within(character, out));
                self.end_run(None, out);
                self.line = Line::Unknown;
            }
        }
    }

    /// Sets the colours for the text that follows, if none are active.
    fn restyle(&mut self, out: &mut String) {
        let before = out.len();
        match &self.line {
            Line::Heading => out.push_str("\u{1b}[1m\u{1b}[36m"),
            Line::Fence(_) => out.push_str("\u{1b}[2m"),
            Line::Verbatim(Some(colour)) => out.push_str(&colour.on_default().render().to_string()),
            Line::Verbatim(None) | Line::Unknown | Line::Text | Line::Table => {}
        }
        for (holds, code) in [(self.bold, "1"), (self.italic, "3"), (self.code.is_some(), "36")] {
            if holds {
                out.push_str(&format!("\u{1b}[{code}m"));
            }
        }
        self.coloured = out.len() > before;
    }
}

/// The colour of a line of a difference.
fn colour_of(first: char, is_difference: bool) -> Option<AnsiColor> {
    match first {
        '+' if is_difference => Some(AnsiColor::Green),
        '-' if is_difference => Some(AnsiColor::Red),
        '@' if is_difference => Some(AnsiColor::Cyan),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(pieces: &[&str]) -> String {
        let mut markdown = Markdown::new(Style { colour: true });
        let mut out: String = pieces.iter().map(|piece| markdown.feed(piece)).collect();
        out.push_str(&markdown.finish());
        out
    }

    /// The text without its colours.
    fn plain(text: &str) -> String {
        let mut rest = text;
        let mut plain = String::new();
        while let Some((before, behind)) = rest.split_once("\u{1b}[") {
            plain.push_str(before);
            rest = behind.split_once('m').map_or("", |(_, behind)| behind);
        }
        plain + rest
    }

    /// The text with a letter for what holds at each change: b(old), i(talic), c(yan), d(im), g(reen), r(ed).
    fn marked(text: &str) -> String {
        let codes = [("0", "|"), ("1", "b"), ("2", "d"), ("3", "i"), ("36", "c"), ("32", "g"), ("31", "r")];
        let mut marked = codes.iter().fold(shown(&[text]), |text, (code, letter)| {
            text.replace(&format!("\u{1b}[{code}m"), &format!("‹{letter}›"))
        });
        marked = marked.replace('›', "").replace('‹', "^");
        while marked.contains("^|^|") {
            marked = marked.replace("^|^|", "^|");
        }
        marked
    }

    #[test]
    fn marks_are_dimmed_and_what_they_mark_is_styled() {
        for (text, expected) in [
            ("# Title\n", "^d#^|^b^c Title^|\n"),
            ("a **b** *c* `d`.\n", "a ^d**^|^bb^|^d**^| ^d*^|^ic^|^d*^| ^d`^|^cd^|^d`^|.\n"),
            ("- item\n", "^b^c-^| item\n"),
            ("```diff\n+a\n-b\n```\n", "^d```^|^ddiff^|\n^g+a^|\n^r-b^|\n^d```^|\n"),
            ("---\n", "^d---^|\n"),
        ] {
            assert_eq!(marked(text), expected, "{text}");
        }
    }

    #[test]
    fn markdown_characters_that_mark_nothing_are_text() {
        for text in
            ["2 * 3 * 4\n", "a*b*c and __init__\n", "x\\*y\\*\n", "#include\n", "1.5 and -3\n", "```\n*a* `b`\n```\n"]
        {
            let shown = shown(&[text]);
            assert!(
                !shown.contains("\u{1b}[1m") && !shown.contains("\u{1b}[3m") && !shown.contains("36m"),
                "{shown:?}"
            );
        }
    }

    #[test]
    fn text_is_shown_while_its_line_comes() {
        let mut markdown = Markdown::new(Style { colour: true });
        for (piece, seen) in [("He", "He"), ("llo *", "llo "), ("wor", "*wor"), ("ld* a", "ld* a"), ("\n- ", "\n-")] {
            assert!(plain(&markdown.feed(piece)).starts_with(seen), "{piece}");
        }
    }

    #[test]
    fn code_ends_where_its_fence_does_and_not_before() {
        let shown = shown(&["````\n```\n**a**\n````\n**b**\n"]);
        assert!(shown.contains("**a**") && !shown.contains("**b**"), "{shown:?}");
    }

    #[test]
    fn without_colour_it_is_as_it_was_written() {
        let mut markdown = Markdown::new(Style { colour: false });
        assert_eq!(markdown.feed("# A **b**\u{1b}[2J\n-") + &markdown.finish(), "# A **b**\\u{1b}[2J\n-");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_added_in_whatever_pieces(
            text in "([-#*`~>|+0-9. \\\\\n]|[a-z]|\u{1b}|ä){0,60}", at in 0usize..60,
        ) {
            let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let whole = shown(&[&text]);
            prop_assert_eq!(plain(&whole), host_text::visible(&text).into_owned());
            prop_assert_eq!(plain(&shown(&[&text[..at], &text[at..]])), plain(&whole));
        }
    }
}

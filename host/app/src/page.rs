//! A text that a frontend draws in its own way: lines of words with a weight, perhaps a bar.
//!
//! A terminal wraps the lines and colours the weights; an editor shows the plain text. Promises that every text in a
//! page is safe to show. Deliberately not here: widths, colours and Markdown.

use host_text::Notice;

/// A text to read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The lines, without their ends.
    pub lines: Vec<Line>,
}

/// A line of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its words, one behind the other.
    pub spans: Vec<Span>,
    /// By how many columns its further rows are indented where it does not fit.
    pub indent: usize,
    /// A bar behind it, where there is room for one.
    pub bar: Option<Bar>,
}

/// Words of one weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The words, safe to show; options and commands in them are data, which a frontend names in its own terms.
    pub text: Notice,
    /// How much they stand out.
    pub weight: Weight,
}

/// How much words stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Like most of a page.
    Plain,
    /// More: a name, a heading.
    Strong,
    /// Less: details.
    Faint,
}

/// A share as a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The share, from 0 to 1.
    pub share: f64,
    /// Whether it is of something that is used, or of what is left.
    pub of: BarOf,
}

/// What a bar is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarOf {
    /// Something in use.
    Used,
    /// What is left.
    Left,
}

impl Line {
    /// Creates a line of plain words.
    pub fn new(text: impl Into<Notice>) -> Self {
        Self::default().and(text, Weight::Plain)
    }

    /// Creates a heading.
    pub fn strong(text: impl Into<Notice>) -> Self {
        Self::default().and(text, Weight::Strong)
    }

    /// Creates a line of details.
    pub fn faint(text: impl Into<Notice>) -> Self {
        Self::default().and(text, Weight::Faint)
    }

    /// Adds words of this weight.
    #[must_use]
    pub fn and(mut self, text: impl Into<Notice>, weight: Weight) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { text, weight });
        }
        self
    }

    /// Indents its further rows.
    #[must_use]
    pub fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Adds a bar.
    #[must_use]
    pub fn with_bar(self, share: f64, of: BarOf) -> Self {
        Self { bar: Some(Bar { share, of }), ..self }
    }

    /// Returns its words, as on the command line.
    pub fn text(&self) -> String {
        self.worded(&Notice::to_string)
    }

    fn worded(&self, words: &dyn Fn(&Notice) -> String) -> String {
        self.spans.iter().map(|span| words(&span.text)).collect()
    }
}

impl Page {
    /// Creates a page of one line.
    pub fn of(text: impl Into<Notice>) -> Self {
        Self { lines: vec![Line::new(text)] }
    }

    /// Adds a line.
    pub fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Returns the words of all lines, each with its end, as on the command line.
    pub fn text(&self) -> String {
        self.worded(&Notice::to_string)
    }

    /// Returns the words of all lines, each with its end, in the terms of a frontend.
    pub fn worded(&self, words: &dyn Fn(&Notice) -> String) -> String {
        self.lines.iter().map(|line| line.worded(words).trim_end().to_owned() + "\n").collect()
    }
}

impl FromIterator<Line> for Page {
    fn from_iter<T: IntoIterator<Item = Line>>(lines: T) -> Self {
        Self { lines: lines.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_text_has_each_line_without_weights_and_bars() {
        let mut page = Page::of("one ");
        page.push(Line::strong("two").and("", Weight::Faint).and(" three", Weight::Faint).with_bar(0.5, BarOf::Left));
        assert_eq!(page.text(), "one\ntwo three\n");
        assert_eq!(page.lines[1].spans.len(), 2, "words that are empty are no span");
        page.push(Line::new(Notice::from("needs a login: ").bare_command("mcp login x")));
        assert_eq!(page.text(), "one\ntwo three\nneeds a login: host mcp login x\n");
        let words = |notice: &Notice| notice.parts().len().to_string();
        assert_eq!(page.worded(&words), "1\n11\n2\n", "each frontend has its own words for the parts");
    }
}

//! Colour and weight of text, where supported.

use anstyle::AnsiColor;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether standard error supports colour.
    pub colour: bool,
}

impl Style {
    /// Returns the text in a colour, if colour is on.
    pub fn paint(self, text: &str, colour: AnsiColor) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = colour.on_default().bold();
        format!("{style}{text}{style:#}")
    }

    /// Returns the text in bold, where that is possible.
    pub fn bold(self, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = anstyle::Style::new().bold();
        format!("{style}{text}{style:#}")
    }

    /// Returns the text dimmed, where that is possible.
    pub fn dim(self, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = anstyle::Style::new().dimmed();
        format!("{style}{text}{style:#}")
    }
}

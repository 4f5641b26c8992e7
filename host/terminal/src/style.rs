//! Colour and weight of text, where there is any.

use anstyle::AnsiColor;

/// Whether there is colour.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether standard error takes colour.
    pub colour: bool,
}

impl Style {
    /// The text in a colour, where there is any.
    pub fn paint(self, text: &str, colour: AnsiColor) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = colour.on_default().bold();
        format!("{style}{text}{style:#}")
    }

    /// The text in bold, where that is possible.
    pub fn bold(self, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = anstyle::Style::new().bold();
        format!("{style}{text}{style:#}")
    }

    /// The text dimmed, where that is possible.
    pub fn dim(self, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = anstyle::Style::new().dimmed();
        format!("{style}{text}{style:#}")
    }
}

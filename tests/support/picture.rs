//! A picture of a terminal's rows as SVG, in colours of its own: for documents that show what the program prints.
//!
//! Deliberately not here: which session is shown (the test that compares the picture).

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

/// Pixels of a character and a row at the size of the font, and around all of it.
const COLUMN: f32 = 8.43;
const ROW: usize = 20;
const MARGIN: usize = 18;

const BACKGROUND: &str = "#1e1e2e";
const FOREGROUND: &str = "#cdd6f4";
const DIMMED: &str = "#8b90a8";

/// The sixteen colours of a terminal, the bright ones behind the others.
const PALETTE: [&str; 16] = [
    "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de", "#585b70", "#f38ba8",
    "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8",
];

/// A piece of a row that looks the same from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it says.
    pub text: String,
    colour: &'static str,
    bold: bool,
    italic: bool,
}

impl Span {
    /// Text in the usual colour.
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), colour: FOREGROUND, bold: false, italic: false }
    }

    fn of_cell(cell: &Cell) -> Self {
        let colour = match (cell.fgcolor(), cell.dim()) {
            (Color::Idx(index), _) => PALETTE.get(usize::from(index)).copied().unwrap_or(FOREGROUND),
            (Color::Default | Color::Rgb(..), true) => DIMMED,
            (Color::Default | Color::Rgb(..), false) => FOREGROUND,
        };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        Self { text: text.to_owned(), colour, bold: cell.bold(), italic: cell.italic() }
    }

    fn looks_as(&self, other: &Self) -> bool {
        (self.colour, self.bold, self.italic) == (other.colour, other.bold, other.italic)
    }
}

/// The spans of one row of a screen, without the blanks at its end.
pub fn row(screen: &Screen, row: u16) -> Vec<Span> {
    let (_, columns) = screen.size();
    let cells = (0..columns.get()).filter_map(|column| screen.cell(row, column));
    let mut spans: Vec<Span> = Vec::new();
    for span in cells.filter(|cell| !cell.is_wide_continuation()).map(Span::of_cell) {
        match spans.last_mut() {
            Some(last) if last.looks_as(&span) => last.text.push_str(&span.text),
            Some(_) | None => spans.push(span),
        }
    }
    while spans.last().is_some_and(|last| last.text.trim_end().is_empty()) {
        spans.pop();
    }
    if let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    spans
}

/// The rows as an SVG document.
pub fn svg(title: &str, columns: u16, rows: &[Vec<Span>]) -> String {
    let width = f32::from(columns).mul_add(COLUMN, 2.0 * MARGIN as f32).ceil();
    let height = rows.len() * ROW + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n",
        escaped(title)
    );
    for (number, spans) in rows.iter().enumerate().filter(|(_, spans)| !spans.is_empty()) {
        let y = MARGIN + number * ROW + 14;
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">");
        for Span { text, colour, bold, italic } in spans {
            let weight = if *bold { " font-weight=\"bold\"" } else { "" };
            let style = if *italic { " font-style=\"italic\"" } else { "" };
            let _ = write!(svg, "<tspan fill=\"{colour}\"{weight}{style}>{}</tspan>", escaped(text));
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

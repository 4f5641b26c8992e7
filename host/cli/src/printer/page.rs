//! Pages of the application on a terminal: wrapped, with weights as colours and shares as bars.
//!
//! The bars are characters, so that they can be read without colour.

use host_app::page::{Bar, BarOf, Line, Page, Weight};
use host_terminal::{Style, TerminalMode, truncate_to_width, width, wrapped};

/// The narrowest and the widest bar.
const BARS: std::ops::RangeInclusive<usize> = 6..=40;

/// A bar that ends within a character: an eighth of it, two eighths and so on.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The indent of further rows where the terminal is too narrow for the line's own.
const NARROW_INDENT: usize = 4;

/// The page in so many columns, each line with its end.
pub(crate) fn drawn(page: &Page, columns: usize, style: Style, mode: TerminalMode) -> String {
    page.lines.iter().map(|line| one(line, columns, style, mode) + "\n").collect()
}

fn one(line: &Line, columns: usize, style: Style, mode: TerminalMode) -> String {
    let words: String = line
        .spans
        .iter()
        .map(|span| match span.weight {
            Weight::Plain => span.text.to_string(),
            Weight::Strong => style.bold(&span.text.to_string()),
            Weight::Faint => style.dim(&span.text.to_string()),
        })
        .collect();
    match line.bar {
        Some(bar) => {
            let words = truncate_to_width(&words, columns);
            let room = columns.saturating_sub(width(&words) + 1).min(*BARS.end());
            let bar = if room < *BARS.start() { String::new() } else { drawn_bar(bar, room, style, mode) };
            format!("{words} {bar}").trim_end().to_owned()
        }
        None if columns < line.indent.saturating_mul(3) => wrapped(&words, columns, NARROW_INDENT.min(line.indent)),
        None => wrapped(&words, columns, line.indent),
    }
}

/// A bar for a share of the window. What is not empty has at least a mark.
fn drawn_bar(Bar { share, of }: Bar, width: usize, style: Style, mode: TerminalMode) -> String {
    let eighths = ((share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize).max(usize::from(share > 0.0));
    let bar = match mode {
        TerminalMode::Ansi => {
            let last = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
            format!("{}{last}", "█".repeat(eighths / 8))
        }
        TerminalMode::Dumb => "#".repeat(eighths.div_ceil(8)),
    };
    match of {
        BarOf::Used => bar,
        BarOf::Left => style.dim(&bar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { colour: false };

    fn page() -> Page {
        let row = |name: &str, share: f64| Line::new(format!("{name:15}{:>6}", "0.5 %")).with_bar(share, BarOf::Used);
        let heading = Line::strong("context").and(" of a long conversation with a model", Weight::Faint);
        let lines = [heading.indented(2), row("instructions", 0.005), row("results", 0.5), row("tree", 0.0)];
        lines.into_iter().collect()
    }

    #[test]
    fn page_fits_any_width() {
        for columns in [20, 30, 40, 80, 120] {
            for mode in [TerminalMode::Ansi, TerminalMode::Dumb] {
                let text = drawn(&page(), columns, PLAIN, mode);
                assert!(text.lines().all(|line| width(line) <= columns), "{columns}:\n{text}");
            }
        }
        let expected = "context of a long conversation\n  with a model\ninstructions    0.5 % ▏\n\
                        results         0.5 % ████▌\ntree            0.5 %\n";
        assert_eq!(drawn(&page(), 31, PLAIN, TerminalMode::Ansi), expected);
    }

    #[test]
    fn page_bar_of_something_is_never_empty() {
        let bar = |share, mode| drawn_bar(Bar { share, of: BarOf::Left }, 8, PLAIN, mode);
        assert_eq!(bar(0.0, TerminalMode::Ansi), "");
        assert_eq!(bar(0.000_01, TerminalMode::Ansi), "▏");
        assert_eq!(bar(0.000_01, TerminalMode::Dumb), "#");
        assert_eq!(bar(7.0, TerminalMode::Dumb), "########");
    }
}

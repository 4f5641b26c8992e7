//! `/context`: what fills the model's window, as rows with bars.
//!
//! The bars are characters, so that they can be read without colour. Deliberately not here: the numbers
//! (`host_app::session::window`).

use std::fmt::Write as _;

use host_app::report::run_stats::count;
use host_app::session::servers::ServerTokens;
use host_app::session::window::{WindowReport, WindowTotal};
use host_terminal::{Style, TerminalMode, truncate_to_width, wrapped};
use host_text::counted;

/// Width of the names of rows.
const NAMES: usize = 15;

/// Width of a row without its bar.
const BESIDES_BAR: usize = NAMES + 7 + 9;

/// The narrowest and the widest bar.
const BARS: std::ops::RangeInclusive<usize> = 6..=40;

/// A bar that ends within a character: an eighth of it, two eighths and so on.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The text, in so many columns.
pub(super) fn text(report: &WindowReport, columns: usize, mode: TerminalMode, style: Style) -> String {
    let WindowReport { window, reply, compressed_at, contents, servers, total } = report;
    let share = |tokens: u64| tokens as f64 / (*window).max(1) as f64;
    let percent = |tokens: u64| format!("{:.1} %", share(tokens) * 100.0);
    let how = match total {
        WindowTotal::Counted(_) => "by the service's last count",
        WindowTotal::Estimated(_) => "estimated",
    };
    let used =
        format!("{} of {} tokens in use ({}), {how}", count(total.tokens()), count(*window), percent(total.tokens()));
    let mut text = wrapped(&used, columns, 0) + "\n";
    let width = columns.saturating_sub(BESIDES_BAR).min(*BARS.end());
    let mut row = |name: &str, tokens: u64, is_in_use: bool| {
        let bar = match width < *BARS.start() {
            true => String::new(),
            false => bar(share(tokens), width, mode),
        };
        let bar = if is_in_use { bar } else { style.dim(&bar) };
        let line = truncate_to_width(&format!("{name:NAMES$}{:>7}{:>8} ", count(tokens), percent(tokens)), columns);
        // A string takes everything.
        let _ = writeln!(text, "{}", format!("{line}{bar}").trim_end());
    };
    for (content, tokens) in contents {
        row(content.name(), *tokens, true);
    }
    row("free", report.free(), false);
    row("for the reply", *reply, false);
    for ServerTokens { name, tools, declared, tokens } in servers {
        let (tokens, all) = (count(*tokens), counted(*tools, "tool"));
        let line = match (*tools, *declared) {
            (0, _) => format!("MCP server {name}: no tools"),
            (tools, declared) if declared == tools => format!("MCP server {name}: {tokens} tokens for {all}"),
            (_, declared) => format!(
                "MCP server {name}: {tokens} tokens for all {all}; {declared} declared, and the model finds the others \
                 with tool_search"
            ),
        };
        text.push_str(&wrapped(&line, columns, 2));
        text.push('\n');
    }
    let compressed = match compressed_at {
        Some(at) => {
            format!(
                "The conversation is compressed at {} tokens ({}); /compress does it now.",
                count(*at),
                percent(*at)
            )
        }
        None => {
            "The conversation is never compressed (`compression.threshold` is 0); /compress does it now.".to_owned()
        }
    };
    text.push_str(&wrapped(&compressed, columns, 0));
    text.push('\n');
    text.push_str(&style.dim(&wrapped("The rows are estimates.", columns, 0)));
    text
}

/// A bar for a share of the window. What is not empty has at least a mark.
fn bar(share: f64, width: usize, mode: TerminalMode) -> String {
    let eighths = ((share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize).max(usize::from(share > 0.0));
    match mode {
        TerminalMode::Ansi => {
            let last = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
            format!("{}{last}", "█".repeat(eighths / 8))
        }
        TerminalMode::Dumb => "#".repeat(eighths.div_ceil(8)),
    }
}

#[cfg(test)]
mod tests {
    use host_app::session::window::WindowContent;

    use super::*;

    fn report() -> WindowReport {
        let contents = vec![
            (WindowContent::Instructions, 500),
            (WindowContent::Tree, 0),
            (WindowContent::Tools, 12_000),
            (WindowContent::Results, 50_000),
        ];
        let total = WindowTotal::Counted(63_000);
        let servers = vec![ServerTokens {
            name: host_capability::McpServerName::parse("github").expect("a name"),
            tools: 30,
            declared: 2,
            tokens: 11_000,
        }];
        WindowReport { window: 100_000, reply: 8_192, compressed_at: Some(70_000), contents, servers, total }
    }

    #[test]
    fn context_fits_any_width_and_shows_each_kind_with_its_share() {
        for columns in [20, 30, 40, 80, 120] {
            for mode in [TerminalMode::Ansi, TerminalMode::Dumb] {
                let text = text(&report(), columns, mode, Style { colour: false });
                assert!(text.lines().all(|line| host_terminal::width(line) <= columns), "{columns}:\n{text}");
            }
        }
        let text = text(&report(), 40, TerminalMode::Ansi, Style { colour: false });
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(
            rows,
            [
                "63.0k of 100.0k tokens in use (63.0 %),",
                "by the service's last count",
                "instructions       500   0.5 % ▏",
                "file tree            0   0.0 %",
                "tools            12.0k  12.0 % █▏",
                "results          50.0k  50.0 % ████▌",
                "free             28.8k  28.8 % ██▋",
                "for the reply     8192   8.2 % ▊",
                "MCP server github: 11.0k tokens for all",
                "  30 tools; 2 declared, and the model",
                "  finds the others with tool_search",
                "The conversation is compressed at 70.0k",
                "tokens (70.0 %); /compress does it now.",
                "The rows are estimates.",
            ]
        );
    }

    #[test]
    fn context_bar_of_something_is_never_empty() {
        assert_eq!(bar(0.0, 8, TerminalMode::Ansi), "");
        assert_eq!(bar(0.000_01, 8, TerminalMode::Ansi), "▏");
        assert_eq!(bar(0.000_01, 8, TerminalMode::Dumb), "#");
        assert_eq!(bar(7.0, 8, TerminalMode::Dumb), "########");
    }
}

//! What fills the model's window: a row for each kind of content, with a bar where there is room.

use host_sessions::report::run_stats::count;
use host_text::counted;

use crate::page::{BarOf, Line, Page, Weight};
use crate::session::servers::ServerTokens;
use crate::session::window::{WindowReport, WindowTotal};

/// Width of the names of rows.
const NAMES: usize = 15;

/// The page.
pub fn page(report: &WindowReport) -> Page {
    let WindowReport { window, reply, compressed_at, contents, servers, total } = report;
    let share = |tokens: u64| tokens as f64 / (*window).max(1) as f64;
    let percent = |tokens: u64| format!("{:.1} %", share(tokens) * 100.0);
    let how = match total {
        WindowTotal::Counted(_) => "by the service's last count",
        WindowTotal::Estimated(_) => "estimated",
    };
    let (used, all) = (count(total.tokens()), count(*window));
    let mut page = Page::of(format!("{used} of {all} tokens in use ({}), {how}", percent(total.tokens())));
    let mut row = |name: &str, tokens: u64, of: BarOf| {
        let words = format!("{name:NAMES$}{:>7}{:>8}", count(tokens), percent(tokens));
        page.push(Line::new(words).with_bar(share(tokens), of));
    };
    for (content, tokens) in contents {
        row(content.name(), *tokens, BarOf::Used);
    }
    row("free", report.free(), BarOf::Left);
    row("for the reply", *reply, BarOf::Left);
    for server in servers {
        page.push(Line::new(of_server(server)).indented(2));
    }
    page.push(Line::new(match compressed_at {
        Some(at) => {
            let share = percent(*at);
            format!("The conversation is compressed at {} tokens ({share}); /compress does it now.", count(*at))
        }
        None => {
            "The conversation is never compressed (`compression.threshold` is 0); /compress does it now.".to_owned()
        }
    }));
    page.push(Line::default().and("The rows are estimates.", Weight::Faint));
    page
}

fn of_server(ServerTokens { name, tools, declared, tokens }: &ServerTokens) -> String {
    let (tokens, all) = (count(*tokens), counted(*tools, "tool"));
    match (*tools, *declared) {
        (0, _) => format!("MCP server {name}: no tools"),
        (tools, declared) if declared == tools => format!("MCP server {name}: {tokens} tokens for {all}"),
        (_, declared) => format!(
            "MCP server {name}: {tokens} tokens for all {all}; {declared} declared, and the model finds the others \
             with tool_search"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::window::WindowContent;

    #[test]
    fn context_shows_each_kind_with_its_share_and_the_servers() {
        let contents = vec![(WindowContent::Instructions, 500), (WindowContent::Results, 50_000)];
        let servers = vec![ServerTokens {
            name: host_capability::McpServerName::parse("github").expect("a name"),
            tools: 30,
            declared: 2,
            tokens: 11_000,
        }];
        let total = WindowTotal::Counted(63_000);
        let report =
            WindowReport { window: 100_000, reply: 8_192, compressed_at: Some(70_000), contents, servers, total };
        let page = page(&report);
        let expected = "63.0k of 100.0k tokens in use (63.0 %), by the service's last count\n\
                        instructions       500   0.5 %\n\
                        results          50.0k  50.0 %\n\
                        free             28.8k  28.8 %\n\
                        for the reply     8192   8.2 %\n\
                        MCP server github: 11.0k tokens for all 30 tools; 2 declared, and the model finds the others with \
                        tool_search\n\
                        The conversation is compressed at 70.0k tokens (70.0 %); /compress does it now.\n\
                        The rows are estimates.\n";
        assert_eq!(page.text(), expected);
        let shares: Vec<f64> = page.lines.iter().filter_map(|line| line.bar).map(|bar| bar.share).collect();
        assert_eq!(shares.len(), 4, "each row has a bar");
    }
}

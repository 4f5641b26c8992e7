//! `host mcp`: MCP servers.

use host_app::mcp::McpReport;

/// A server in one line.
pub(crate) fn listed(report: &McpReport) -> String {
    let mut line = format!("{}: {}", report.server.name, report.state());
    if report.status.revision.is_some() {
        line.push_str(&format!(" · {}", report.offers()));
    }
    line.push_str(&format!(" · {}", report.identity()));
    line
}

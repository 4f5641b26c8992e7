//! `/mcp`: the MCP servers of the conversation.

use host_app::app::App;
use host_settings::mcp::McpPromptArgument;
use host_terminal::wrapped;
use host_text::exact;

use crate::command::mcp::listed;

/// The servers, in so many columns, each with the names of its tools and how its prompts are written.
pub(super) fn text(app: &App, columns: usize) -> String {
    let Some(servers) = &app.mcp else {
        return wrapped("no MCP server is configured; docs/mcp.md says how", columns, 0);
    };
    let mut text = String::new();
    for report in servers.reports() {
        text.push_str(&wrapped(&listed(&report), columns, 2));
        text.push('\n');
        for (what, names) in
            [("tools", report.tools.iter().map(|tool| tool.name.clone()).collect()), ("prompts", prompts(&report))]
        {
            if !names.is_empty() {
                text.push_str(&wrapped(&format!("  {what}: {}", names.join(", ")), columns, 4));
                text.push('\n');
            }
        }
        for note in &report.notes {
            text.push_str(&wrapped(&format!("  {note}"), columns, 4));
            text.push('\n');
        }
    }
    text
}

fn prompts(report: &host_extensions::servers::McpReport) -> Vec<String> {
    let argument = |one: &McpPromptArgument| match one.is_required {
        true => format!(" <{}>", exact(&one.name)),
        false => format!(" [{}]", exact(&one.name)),
    };
    let prompts = report.status.prompts.iter();
    prompts
        .map(|prompt| {
            let arguments: String = prompt.arguments.iter().map(argument).collect();
            format!("/{}:{}{arguments}", report.status.name, exact(&prompt.name))
        })
        .collect()
}

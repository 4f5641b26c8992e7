//! The MCP servers of a session, each with the names of its tools and how its prompts are written.

use std::fmt::Write as _;

use host_extensions::servers::McpReport;
use host_settings::mcp::{McpPromptArgument, McpStatus, McpTransport};
use host_text::{Notice, exact, excerpt, visible, visible_line};

use crate::app::App;
use crate::page::{Line, Page};

/// How much of a description is shown, in characters.
const DESCRIPTION: usize = 120;

/// The first line of the list where servers are configured and none of them can be used.
pub const NONE_USABLE: &str = "no MCP server can be used";

/// The page.
pub fn page(app: &App) -> Page {
    let Some(servers) = &app.mcp else {
        return match app.mcp_left_out() {
            [] => Page::of("no MCP server is configured; docs/mcp.md says how"),
            left_out => {
                let lines = left_out.iter().map(|why| Line::new(format!("  {}", visible_line(why))).indented(4));
                std::iter::once(Line::new(format!("{NONE_USABLE}:"))).chain(lines).collect()
            }
        };
    };
    let mut page = Page::default();
    for report in servers.reports() {
        page.push(Line::new(listed(&report)).indented(2));
        let tools = report.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        for (what, names) in [("tools", tools), ("prompts", prompts(&report))] {
            if !names.is_empty() {
                page.push(Line::new(format!("  {what}: {}", names.join(", "))).indented(4));
            }
        }
        for note in &report.notes {
            page.push(Line::new(format!("  {note}")).indented(4));
        }
    }
    page
}

/// A server in one line.
pub fn listed(report: &McpReport) -> Notice {
    let line = Notice::from(format!("{}: ", report.server.name)).then(report.state());
    let line = match report.status.revision {
        Some(_) => line.text(format!(" · {}", report.offers())),
        None => line,
    };
    line.text(format!(" · {}", report.identity()))
}

/// A server with all that is known of it.
pub fn show(report: &McpReport) -> String {
    let McpStatus { program, revision, instructions, resources, prompts, .. } = &report.status;
    let mut text = format!("{}\n\n", listed(report));
    // A string takes everything.
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:14} {value}");
    };
    row("configured in", exact(&report.server.origin.display().to_string()).into_owned());
    if let Some((name, version)) = program {
        row("program", format!("{} {}", excerpt(name, 60), excerpt(version, 40)));
    }
    if let Some(revision) = revision {
        row("protocol", exact(revision).into_owned());
    }
    if let McpTransport::Program(program) = &report.server.transport {
        let resources = &program.resources;
        if !resources.servers.is_empty() {
            row("may reach", resources.servers.join(", "));
        }
    }
    let hints = if report.server.trusts_hints {
        "its tools that say they only read run without asking"
    } else {
        "not believed"
    };
    row("its hints", hints.to_owned());
    let lists = [
        ("Tools", report.tools.iter().map(|tool| (tool.name.clone(), tool.description.clone())).collect::<Vec<_>>()),
        (
            "Resources",
            resources.iter().map(|one| (format!("@{}:{}", report.server.name, one.uri), one.name.clone())).collect(),
        ),
        (
            "Prompts",
            prompts
                .iter()
                .map(|one| {
                    (format!("/{}:{}", report.server.name, one.name), one.description.clone().unwrap_or_default())
                })
                .collect(),
        ),
    ];
    for (title, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let _ = writeln!(text, "\n{title}:");
        for (name, words) in list {
            let _ = writeln!(text, "  {}: {}", exact(&name), excerpt(&words, DESCRIPTION));
        }
    }
    if let Some(instructions) = instructions {
        let _ = writeln!(text, "\nIt says about its use:\n{}", visible(instructions.trim()));
    }
    if !report.notes.is_empty() {
        text.push_str("\nNot used:\n");
        report.notes.iter().for_each(|note| {
            let _ = writeln!(text, "  {note}");
        });
    }
    text
}

fn prompts(report: &McpReport) -> Vec<String> {
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

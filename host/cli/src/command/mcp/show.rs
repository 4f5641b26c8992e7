//! `host mcp show`: what a server offers and what it says about itself.

use std::fmt::Write as _;

use host_app::app::App;
use host_extensions::servers::McpReport;
use host_settings::error::Failure;
use host_settings::mcp::{McpStatus, McpTransport};
use host_text::{exact, excerpt, visible};
use tokio_util::sync::CancellationToken;

use super::super::tool::print_json;
use super::listed;
use crate::exit::Code;
use crate::printer::Out;

/// How much of a description is shown in the list, in characters.
const DESCRIPTION: usize = 120;

pub(super) async fn run(
    app: &App,
    name: &str,
    json: bool,
    out: &Out,
    stop: &CancellationToken,
) -> Result<Code, Failure> {
    let servers = super::named(app, name)?;
    let reports = super::reports(app, servers, stop).await?;
    let Some(report) = reports.iter().find(|report| report.server.name.as_str() == name) else {
        return Err(Failure::input(format!("there is no MCP server `{}`", exact(name))));
    };
    if json {
        return print_json(&report.json(), out);
    }
    out.write(&text(report));
    Ok(Code::Done)
}

fn text(report: &McpReport) -> String {
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

//! `host mcp list`: the servers, a line each.

use host_app::app::App;
use host_app::session::pages::servers::{NONE_USABLE, listed};
use host_extensions::servers::McpReport;
use host_settings::error::Failure;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::tool::print_json;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(super) async fn run(app: &App, json: bool, out: &Out, stop: &CancellationToken) -> Result<Code, Failure> {
    let Some(servers) = app.mcp() else {
        if json {
            return print_json(&json!([]), out);
        }
        // The reason why one is left out was printed when the application was opened.
        let note = match app.mcp_left_out() {
            [] => "no MCP server is configured; `host mcp --help` shows how",
            [_, ..] => NONE_USABLE,
        };
        printer::notes(&[note], app.environment());
        return Ok(Code::Done);
    };
    let reports = super::reports(app, servers, stop).await?;
    if json {
        return print_json(&Value::Array(reports.iter().map(McpReport::json).collect()), out);
    }
    for report in &reports {
        out.write(&format!("{}\n", listed(report)));
        report.notes.iter().for_each(|note| out.write(&format!("  {note}\n")));
    }
    Ok(Code::Done)
}

//! `host mcp test`: connects a server and reports what works.

use std::time::Instant;

use host_app::app::App;
use host_capability::McpServerName;
use host_extensions::servers::PATIENCE;
use host_settings::error::{ErrorKind, Failure};
use host_settings::mcp::McpState;
use host_text::exact;
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::printer::Out;

pub(super) async fn run(app: &App, name: &str, out: &Out, stop: &CancellationToken) -> Result<Code, Failure> {
    let servers = super::named(app, name)?;
    let began = Instant::now();
    let is_it = |server: &McpServerName| server.as_str() == name;
    let connected = servers.connected();
    let settled = tokio::time::timeout(PATIENCE, connected.settled(&is_it));
    tokio::select! {
        biased;
        () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        _ = settled => {}
    }
    let failed = |why: String| Failure::configuration(format!("the MCP server `{name}` cannot be used")).cause(why);
    let report = servers.reports().into_iter().find(|report| report.server.name.as_str() == name);
    let Some(report) = report else { return Err(failed("it is not configured".to_owned())) };
    match &report.status.state {
        McpState::Ready => {}
        McpState::NeedsLogin => {
            return Err(failed("it wants a login".to_owned()).help(format!("host mcp login {name}")));
        }
        McpState::Starting => {
            return Err(failed(format!("it did not answer within {} s", PATIENCE.as_secs()))
                .help("run its command by hand to see what it prints, or set HOST_LOG=debug"));
        }
        McpState::Unavailable { why, .. } => {
            return Err(failed(why.clone())
                .help(format!("it is configured in {}", exact(&report.server.origin.display().to_string()))));
        }
    }
    let revision = report.status.revision.as_deref().unwrap_or_default();
    let time = began.elapsed().as_millis();
    out.write(&format!("{name}: connected in {time} ms, protocol {}, {}\n", exact(revision), report.offers()));
    report.notes.iter().for_each(|note| out.write(&format!("  {note}\n")));
    Ok(Code::Done)
}

//! `host mcp login`: logs the user in at a server, in their browser.

use host_app::app::App;
use host_capability::McpServerName;
use host_settings::error::{ErrorKind, Failure};
use host_text::exact;
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::printer::Out;

pub(super) async fn run(app: &App, name: &str, out: &Out, stop: &CancellationToken) -> Result<Code, Failure> {
    let servers = super::named(app, name)?;
    let server = McpServerName::parse(name).map_err(|error| Failure::input(error.to_string()).help(error.help()))?;
    let show = |address: &str| {
        out.write(&format!(
            "Open this address in your browser, and come back when you are logged in:\n\n  {}\n\n",
            exact(address)
        ));
    };
    match servers.connected().login(&server, &show, stop).await {
        Ok(()) => {
            out.write(&format!("logged in at `{name}`\n"));
            Ok(Code::Done)
        }
        Err(_) if stop.is_cancelled() => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        Err(error) => {
            Err(Failure::configuration(format!("cannot log in at the MCP server `{name}`")).cause(error.to_string()))
        }
    }
}

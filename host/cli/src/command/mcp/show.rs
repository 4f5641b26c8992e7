//! `host mcp show`: what a server offers and what it says about itself.

use host_app::app::App;
use host_app::session::pages::servers;
use host_settings::error::Failure;
use host_text::exact;
use tokio_util::sync::CancellationToken;

use super::super::tool::print_json;
use crate::exit::Code;
use crate::printer::Out;

pub(super) async fn run(
    app: &App,
    name: &str,
    json: bool,
    out: &Out,
    stop: &CancellationToken,
) -> Result<Code, Failure> {
    let hub = super::named(app, name)?;
    let reports = super::reports(app, hub, stop).await?;
    let Some(report) = reports.iter().find(|report| report.server.name.as_str() == name) else {
        return Err(Failure::input(format!("there is no MCP server `{}`", exact(name))));
    };
    if json {
        return print_json(&report.json(), out);
    }
    out.write(&servers::show(report));
    Ok(Code::Done)
}

//! `host mcp`: MCP servers, and our tools for other agents.

mod add;
mod list;
mod login;
mod serve;
mod show;
mod test;

use std::sync::Arc;
use std::time::Duration;

use host_app::app::App;
use host_app::session::pages::servers::NONE_USABLE;
use host_extensions::servers::{McpHub, McpReport};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::{Advice, exact};
use tokio_util::sync::CancellationToken;

use super::tool::open;
use crate::arguments::mcp::{Mcp, Named};
use crate::exit::Code;
use crate::printer::{self, Out};

/// How long nothing is said while servers are waited for.
const SILENCE: Duration = Duration::from_secs(1);

pub(crate) async fn run(mcp: Mcp, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    match mcp {
        Mcp::Serve(serve) => serve::run(serve, environment, stop).await,
        Mcp::Add(add) => add::add(add, &environment, &out),
        Mcp::Remove(remove) => add::remove(remove, &environment, &out),
        Mcp::List { place, access, json } => {
            let app = open(&place, &access, &environment, &stop).await?;
            list::run(&app, json, &out, &stop).await
        }
        Mcp::Show { server: Named { name, place, access }, json } => {
            let app = open(&place, &access, &environment, &stop).await?;
            show::run(&app, &name, json, &out, &stop).await
        }
        Mcp::Test(Named { name, place, access }) => {
            let app = open(&place, &access, &environment, &stop).await?;
            test::run(&app, &name, &out, &stop).await
        }
        Mcp::Login(Named { name, place, access }) => {
            let app = open(&place, &access, &environment, &stop).await?;
            login::run(&app, &name, &out, &stop).await
        }
    }
}

/// The reports on all servers once they answered; says on standard error what is waited for.
async fn reports(app: &App, servers: &Arc<McpHub>, stop: &CancellationToken) -> Result<Vec<McpReport>, Failure> {
    let settled = servers.settled_reports();
    tokio::pin!(settled);
    tokio::select! {
        biased;
        () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        reports = &mut settled => return Ok(reports),
        () = tokio::time::sleep(SILENCE) => {}
    }
    if app.environment().stderr_is_terminal {
        let names: Vec<&str> = servers.servers().iter().map(|server| server.name.as_str()).collect();
        printer::notes(&[format!("waiting for MCP servers: {}", names.join(", "))], app.environment());
    }
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        reports = settled => Ok(reports),
    }
}

/// The servers of the application.
fn configured(app: &App) -> Result<&Arc<McpHub>, Failure> {
    app.mcp().ok_or_else(|| match app.mcp_left_out() {
        [] => Failure::input("no MCP server is configured")
            .help("`host mcp --help` shows how to configure one; docs/mcp.md has all keys"),
        left_out => left_out.iter().cloned().fold(Failure::input(NONE_USABLE), Failure::cause),
    })
}

/// The servers, if this one is among them.
fn named<'a>(app: &'a App, name: &str) -> Result<&'a Arc<McpHub>, Failure> {
    let servers = configured(app)?;
    if servers.servers().iter().any(|server| server.name.as_str() == name) {
        return Ok(servers);
    }
    let known = servers.servers().iter().map(|server| server.name.as_str());
    let quoted = format!("`{}`", exact(name));
    let left_out: Vec<&String> = app.mcp_left_out().iter().filter(|why| why.contains(&quoted)).collect();
    if !left_out.is_empty() {
        let failure = Failure::input(format!("the MCP server {quoted} cannot be used"));
        return Err(left_out.into_iter().cloned().fold(failure, Failure::cause));
    }
    Err(Failure::input(format!("there is no MCP server {quoted}")).help(Advice::on_name(
        name,
        known,
        Advice::default().command("mcp list").text(" lists all"),
    )))
}

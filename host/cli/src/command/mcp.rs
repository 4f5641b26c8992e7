//! `host mcp`: the Model Context Protocol.

mod serve;

use host_app::environment::Environment;
use host_app::error::Failure;
use tokio_util::sync::CancellationToken;

use crate::arguments::mcp::Mcp;
use crate::exit::Code;

pub(crate) async fn run(mcp: Mcp, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    match mcp {
        Mcp::Serve(serve) => serve::run(serve, environment, stop).await,
    }
}

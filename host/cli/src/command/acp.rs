//! `host acp`: the agent for an editor that speaks the Agent Client Protocol on the standard streams.
//!
//! Promises: standard output has messages of the protocol and nothing else; logs are on standard error, and an
//! editor that never reads them stops nothing.

use host_acp::{Setup, serve};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use tokio_util::sync::CancellationToken;

use crate::arguments::acp::Acp;
use crate::exit::Code;
use crate::{printer, process};

/// Serves the editor until it ends the input.
pub(crate) async fn run(acp: Acp, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    printer::never_wait();
    let (access, run) = (acp.access.request(), acp.request());
    let tooling = process::tooling(&environment);
    let setup = Setup { environment, tooling, access, run, any_folder: acp.any_folder };
    serve(setup, Box::new(std::io::stdin()), Box::new(std::io::stdout()), stop.clone()).await?;
    Ok(if stop.is_cancelled() { Code::Failed(ErrorKind::Cancelled) } else { Code::Done })
}

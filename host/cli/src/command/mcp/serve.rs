//! `host mcp serve`: the tools for other agents, on standard streams or HTTP.
//!
//! Promises: standard output has messages of the protocol and nothing else, or, with `--http`, the one line with the
//! address; a client that never reads standard error stops nothing; an address that other machines reach is used only
//! if the user names the server for them.
//!
//! Deliberately not here: the protocol (`host-mcp`).

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use host_app::tool_service::ToolService;
use host_files::{Access, PrivateFile};
use host_mcp::{HttpOptions, Token, serve_http, serve_stdio};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use rustix::event::{PollFd, PollFlags, poll};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::arguments::mcp::Serve;
use crate::command::tool;
use crate::exit::Code;
use crate::printer::{self, Out};
use crate::streams;

/// The variable with the token.
const TOKEN_VARIABLE: &str = "HOST_MCP_TOKEN";

/// The largest token file that is read, in bytes.
const MAX_TOKEN: u64 = 4 << 10;

pub(crate) async fn run(serve: Serve, environment: Environment, stop: CancellationToken) -> Result<Code, Failure> {
    let Serve { http, token_file, host_name, model, place, access } = serve;
    if http.is_none() {
        printer::never_wait();
    }
    // Before anything is opened, so that a mistake is reported at once.
    let http = match http {
        Some(address) => Some((listen(address, &host_name).await?, token(token_file.as_deref(), &environment)?)),
        None => None,
    };
    let app = tool::open(&place, &access, &environment, &stop).await?;
    let service = Arc::new(ToolService::new(app, model)?);
    printer::notes(&service.notices(), &environment);
    let ended = match http {
        Some((listener, token)) => {
            let address = listener.local_addr().map_err(|error| unable(&error.to_string()))?;
            Out::new(stop.clone()).write(&format!("http://{address}/mcp\n"));
            serve_http(service, listener, HttpOptions { token, names: host_name }, stop).await
        }
        None => {
            end_without_reader(&stop);
            serve_stdio(service, streams::input(), streams::output(), stop).await
        }
    };
    match ended {
        Ok(()) => Ok(Code::Done),
        Err(error) => Err(Failure::from_error(ErrorKind::Input, &error)),
    }
}

fn unable(why: &str) -> Failure {
    Failure::input("cannot serve on HTTP").cause(why.to_owned())
}

/// Opens the address, if it is of this machine alone or the user named the server for other machines.
async fn listen(address: SocketAddr, names: &[String]) -> Result<TcpListener, Failure> {
    if !address.ip().is_loopback() && names.is_empty() {
        return Err(Failure::input(format!("other machines can reach `{address}`")).help(
            "use 127.0.0.1, or name the server for their clients with --host-name; put a proxy with TLS before it",
        ));
    }
    TcpListener::bind(address).await.map_err(|error| {
        Failure::input(format!("cannot listen on `{address}`: {error}"))
            .help("use another port; with port 0 the system chooses one")
    })
}

/// Returns the token: of the variable, or of the file, which is made if it is missing.
fn token(file: Option<&Path>, environment: &Environment) -> Result<Token, Failure> {
    if let Some(text) = environment.text(TOKEN_VARIABLE) {
        return Token::new(&text).map_err(|error| {
            Failure::input(format!("invalid {TOKEN_VARIABLE}: {error}")).help("make one with `openssl rand -hex 32`")
        });
    }
    let path = match file {
        Some(file) => file.to_owned(),
        None => environment.folders()?.mcp_token,
    };
    let failed = |why: String| {
        Failure::input(format!("cannot use the token file `{}`: {why}", path.display()))
            .help("remove it, so that a new one is made, or make it readable for you alone with `chmod 600`")
    };
    let private = PrivateFile::new(&path, Access::ReadOrWrite, MAX_TOKEN);
    let text = match private.read().map_err(|error| failed(error.to_string()))? {
        Some(text) => text,
        None => {
            let text = Token::random().map_err(|error| failed(error.to_string()))?;
            let written = private.lock().and_then(|file| file.replace(&format!("{text}\n")));
            written.map_err(|error| failed(error.to_string()))?;
            text
        }
    };
    printer::notes(&[format!("clients need the token in {}", path.display())], environment);
    Token::new(text.trim()).map_err(|error| failed(error.to_string()))
}

/// Stops the server when nobody reads its standard output any more, also while nothing is written: the client is gone,
/// and what its calls started has to end. The thread ends with the process.
fn end_without_reader(stop: &CancellationToken) {
    let stop = stop.clone();
    let watching = std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let stdout = std::io::stdout();
        loop {
            let mut output = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut output, None) {
                Ok(_) if output[0].revents().is_empty() => {}
                Ok(_) => return stop.cancel(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    });
    if let Err(error) = watching {
        tracing::info!(%error, "no thread to watch standard output with; its end is noticed at the next message");
    }
}

//! The server on HTTP, for clients that do not start it themselves.
//!
//! Promises: nothing is answered without the token, nor for a `Host` that the user did not name, nor for a page of any
//! browser (`Origin`); connections, sessions, headers and bodies are limited, and whoever sends nothing keeps nobody
//! out.
//!
//! Deliberately not here: TLS, and which addresses may be listened on (`host/cli`).

mod connections;
mod sessions;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_app::tool_service::ToolService;
use http::header::{AUTHORIZATION, CONNECTION, HOST, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::connections::{Place, Places};
use self::sessions::BoundedSessions;
use super::{MAX_MESSAGE, ServeError, Token, ToolServer};

/// The path of the server.
const PATH: &str = "/mcp";

/// How long a client may take to send the headers of a request. Protects the connections from one that sends nothing.
const HEADER_LIMIT: Duration = Duration::from_secs(10);

/// The most bytes of the headers of a request. Protects memory.
const MAX_HEADERS: usize = 64 << 10;

/// How long to wait after a connection could not be accepted, for example because there are no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How a server on HTTP is reached.
pub struct HttpOptions {
    /// What clients have to know.
    pub token: Token,
    /// The names that clients may reach it by besides those of this machine: the `Host` of their requests.
    pub names: Vec<String>,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Http = StreamableHttpService<ToolServer, BoundedSessions>;

/// Serves clients that connect, until `stop` is cancelled. Then their calls end.
///
/// # Errors
///
/// If connections cannot be accepted any more.
pub async fn serve_http(
    service: Arc<ToolService>,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let server = ToolServer::new(service);
    let shared = Arc::clone(&server.shared);
    let config = configuration(&listener, options.names, &stop);
    let http: Http = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(BoundedSessions::new()), config);
    let token = Arc::new(options.token);
    let places = Places::new();
    let mut connections = JoinSet::new();
    loop {
        let (stream, peer) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            // The set keeps what has ended until somebody asks.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    // Out of descriptors: without a pause this would use a whole processor.
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        // Small messages wait for nothing.
        stream.set_nodelay(true).ok();
        let (http, token) = (http.clone(), Arc::clone(&token));
        // Limited by the peer, so that one who opens connections keeps nobody else out.
        places.serve(peer.ip(), &mut connections, |place| async move {
            let service = service_fn(move |request| {
                let (http, token, place) = (http.clone(), Arc::clone(&token), Arc::clone(&place));
                async move { Ok::<_, Infallible>(answer(&http, &token, &place, request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                // A client that sends its head byte by byte would hold a place for ever.
                .header_read_timeout(HEADER_LIMIT)
                .max_buf_size(MAX_HEADERS)
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
        });
    }
    // Calls end before this returns, so that no program is left.
    shared.end().await;
    Ok(())
}

/// What the server takes: small messages, from this machine's own names and from no web page.
fn configuration(
    listener: &TcpListener,
    names: impl IntoIterator<Item = String>,
    stop: &CancellationToken,
) -> StreamableHttpServerConfig {
    let mut config = StreamableHttpServerConfig::default()
        // Any web page can send requests to this machine's ports.
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE)
        .with_cancellation_token(stop.child_token());
    // A page of this very address is none of a browser's: nothing here is a page.
    if let Ok(address) = listener.local_addr() {
        let port = address.port();
        config.allowed_origins = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("http://{name}:{port}")).into();
    }
    // Against names that an attacker lets lead to this machine.
    config.allowed_hosts.extend(names);
    config
}

/// Whether something but a port follows an address in brackets: the library compares what is in the brackets alone.
fn has_more_than_an_address(host: &[u8]) -> bool {
    let Some(at) = host.iter().rposition(|byte| *byte == b']') else { return false };
    match &host[at + 1..] {
        [] => false,
        [b':', port @ ..] => !port.iter().all(u8::is_ascii_digit),
        _ => true,
    }
}

/// Answers a request. Nothing of it is read before its token is known to be right.
async fn answer(http: &Http, token: &Token, place: &Place, request: Request<Incoming>) -> Answer {
    if !token.is_in(request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes)) {
        let mut answer =
            plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong: send `Authorization: Bearer TOKEN`");
        answer.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
        // The body is not read.
        answer.headers_mut().insert(CONNECTION, http::HeaderValue::from_static("close"));
        return answer;
    }
    place.admit().await;
    let host = request.headers().get(HOST).map(http::HeaderValue::as_bytes);
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    if host.into_iter().chain(authority).any(has_more_than_an_address) {
        return plain(StatusCode::FORBIDDEN, "the host is not a name of this server");
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "nothing is here: the server is at /mcp");
    }
    http.handle(request).await
}

fn plain(status: StatusCode, words: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

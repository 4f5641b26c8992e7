//! Logging the user in at a server: OAuth 2.1 with PKCE, in the user's browser.
//!
//! Promises: discovery, registration and tokens go through the checked client, so that a server cannot lead the host to
//! a private address that it is not at itself; the browser is sent back to a port of this machine that the system
//! chose, and what does not carry this login's state is ignored; an answer of another issuer ends the login.
//!
//! Deliberately not here: opening the browser.

use std::time::Duration;

use host_plugin::McpError;
use host_settings::mcp::{McpAddress, McpTransport};
use rmcp::transport::auth::AuthorizationCallback;
use rmcp::transport::{AuthError, AuthorizationRequest, AuthorizationSession, WWWAuthenticateParams};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::connection::Opener;
use super::shared::Shared;
use super::tokens::Tokens;
use super::{failures, remote};

/// How long the user may take to log in.
const LOGIN_LIMIT: Duration = Duration::from_secs(600);

/// The largest request of a browser that comes back from a login, in bytes. Protects the host's memory.
const MAX_REQUEST: usize = 16 << 10;

/// How long a browser may take to send it. Protects the login from a connection that says nothing.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// The pause after a connection that could not be accepted. Protects the machine from a loop without end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Where a browser comes back to.
const PATH: &str = "/callback";

/// Logs the user in. `show` gets the address to visit.
pub(super) async fn login(
    shared: &Shared,
    opener: &Opener,
    show: &(dyn Fn(&str) + Send + Sync),
    cancel: &CancellationToken,
) -> Result<(), McpError> {
    let server = &shared.config.name;
    let McpTransport::Http(address) = &shared.config.transport else {
        return Err(McpError::Invalid(format!("the MCP server `{server}` is a program, which needs no login")));
    };
    if address.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
        let what = "is configured with the header field `authorization`, and so is logged in by it";
        return Err(McpError::Invalid(format!("the MCP server `{server}` {what}")));
    }
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(failed(shared, "it was cancelled")),
        done = tokio::time::timeout(LOGIN_LIMIT, in_browser(shared, opener, address, show)) => match done {
            Ok(done) => done,
            Err(_) => Err(failed(shared, &format!("the browser did not come back within {} minutes", LOGIN_LIMIT.as_secs() / 60))),
        },
    }
}

fn failed(shared: &Shared, why: &str) -> McpError {
    McpError::Unavailable(format!("the login at the MCP server `{}` failed: {why}", shared.config.name))
}

async fn in_browser(
    shared: &Shared,
    opener: &Opener,
    address: &McpAddress,
    show: &(dyn Fn(&str) + Send + Sync),
) -> Result<(), McpError> {
    let not = |error: AuthError| failed(shared, &failures::words(&error));
    // Discovery and tokens as well: a server could lead the host to an address within its network.
    let client = opener.runtime.remote_client(&address.url, address.reaches_private);
    let client = client.map_err(|error| failed(shared, &error.to_string()))?;
    // A port that the system chose, on this machine alone.
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| failed(shared, &error.to_string()))?;
    let port = listener.local_addr().map_err(|error| failed(shared, &error.to_string()))?.port();

    let mut manager = remote::authorization(address, &client, &opener.runtime, &opener.folder).await.map_err(not)?;
    // What the server asked for when it refused: it may want more than the login that there is.
    let challenge = shared.challenge().get();
    let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(not)?;
    manager.set_metadata(found.metadata);
    // A login for more keeps what was granted before.
    let scopes = scopes(challenge.as_deref(), &address.url, Tokens::new(&opener.folder, &address.url).granted());
    let request = request(address, port, scopes);
    let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| not(error))?;
    let visited =
        url::Url::parse(session.get_authorization_url()).map_err(|error| failed(shared, &error.to_string()))?;
    // The address is opened in a browser, where other schemes start programs.
    if !matches!(visited.scheme(), "https" | "http") {
        return Err(failed(shared, "the address to visit is not a web page"));
    }
    // This login's own mark: what comes back without it is another page's.
    let state = visited.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned());
    let state = state.ok_or_else(|| failed(shared, "the address to visit has no state"))?;
    show(visited.as_str());

    let (stream, callback) = came_back(&listener, port, &state).await;
    let done = match callback {
        Ok(callback) => {
            let tokens =
                // With the issuer: a code from another authorization server would go to the wrong one.
                session.handle_callback_with_issuer(&callback.code, &callback.csrf_token, callback.issuer.as_deref());
            tokens.await.map(drop).map_err(not)
        }
        Err(why) => Err(failed(shared, &why)),
    };
    let page = match &done {
        Ok(()) => "You are logged in. You can close this page.",
        Err(_) => "The login failed. The terminal says why. You can close this page.",
    };
    // Answered only now, so that the page says how it really ended.
    answer(stream, "200 OK", page).await;
    done?;
    shared.again.notify_one();
    Ok(())
}

/// The request for a login that comes back to this port.
fn request(address: &McpAddress, port: u16, scopes: Vec<String>) -> AuthorizationRequest {
    // By its number, since `localhost` may be an address that something else listens on.
    let request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}{PATH}"))
        .with_client_name("host")
        .with_initial_scope_selection()
        .with_scopes(scopes);
    // An id that is an address is that of a document about this client, which the authorization server reads itself.
    match &address.client_id {
        Some(id) if id.starts_with("https://") => request.with_client_metadata_url(id.as_str()),
        Some(id) => {
            let request = request.with_preregistered_client(id.as_str());
            match &address.client_secret {
                Some(secret) => request.with_client_secret(secret.expose()),
                None => request,
            }
        }
        None => request,
    }
}

/// Returns what to ask for: what the server wants besides what it granted before. Empty if it is left to what the
/// servers say about themselves.
fn scopes(challenge: Option<&str>, url: &str, granted: Vec<String>) -> Vec<String> {
    let (Some(challenge), Ok(url)) = (challenge, url::Url::parse(url)) else { return Vec::new() };
    let wanted = WWWAuthenticateParams::parse(challenge, &url);
    let Some(wanted) = wanted.scope.filter(|_| !granted.is_empty()) else { return Vec::new() };
    let mut scopes = granted;
    for scope in wanted.split_whitespace() {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Waits for the browser with the answer to this login. Whatever else connects is answered and ignored.
async fn came_back(
    listener: &TcpListener,
    port: u16,
    state: &str,
) -> (TcpStream, Result<AuthorizationCallback, String>) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            // This machine has no descriptor left, say.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // A connection that sends nothing must not keep the browser out.
        let path = tokio::time::timeout(REQUEST_LIMIT, request_path(&mut stream)).await.ok().flatten();
        let url = path.and_then(|path| url::Url::parse(&format!("http://127.0.0.1:{port}{path}")).ok());
        // Browsers ask for icons as well.
        let Some(url) = url.filter(|url| url.path() == PATH) else {
            answer(stream, "404 Not Found", "There is nothing here.").await;
            continue;
        };
        let value = |key: &str| url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned());
        // Another page on this machine could send a browser here with a code of its own.
        if value("state").is_none_or(|found| found != state) {
            answer(stream, "400 Bad Request", "This is not the login that is waited for.").await;
            continue;
        }
        if let Some(error) = value("error") {
            let details = value("error_description").unwrap_or_default();
            let why = format!("the authorization server says `{error}` {details}");
            // The words are a stranger's, and are shown.
            return (stream, Err(host_text::excerpt(why.trim_end(), 500)));
        }
        let callback = AuthorizationCallback::from_redirect_url(url.as_str());
        return (stream, callback.map_err(|error| failures::words(&error)));
    }
}

/// Reads a request, and returns its path; `None` if it is none of a browser's.
async fn request_path(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    let mut piece = [0; 1024];
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        read.extend_from_slice(piece.get(..count)?);
        if read.len() > MAX_REQUEST {
            return None;
        }
    }
    let text = String::from_utf8(read).ok()?;
    let mut words = text.lines().next()?.split(' ');
    (words.next()? == "GET").then_some(())?;
    words.next().filter(|path| path.starts_with('/')).map(str::to_owned)
}

async fn answer(mut stream: TcpStream, status: &str, text: &str) {
    let page = format!("<!doctype html><meta charset=utf-8><title>host</title><p>{text}\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
        page.len()
    );
    // A browser that is gone needs no page.
    stream.write_all(format!("{head}{page}").as_bytes()).await.ok();
    stream.shutdown().await.ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_for_more_keeps_what_was_granted() {
        let check = |challenge: Option<&str>, granted: &[&str], expected: &[&str]| {
            let granted = granted.iter().map(|scope| (*scope).to_owned()).collect();
            assert_eq!(scopes(challenge, "https://mcp.example.com/mcp", granted), expected, "{challenge:?}");
        };
        let wants = Some(r#"Bearer error="insufficient_scope", scope="write read""#);
        check(wants, &["read", "list"], &["read", "list", "write"]);
        check(wants, &[], &[]);
        check(Some("Bearer"), &["read"], &[]);
        check(None, &["read"], &[]);
    }
}

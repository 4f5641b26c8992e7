//! A server at an address: its transport, with the tokens of a login.
//!
//! Promises: whatever is sent goes through the checked client of `host-plugin`; header fields of the user are marked so
//! that nothing logs them.

use std::collections::HashMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use host_plugin::{Redirects, RemoteClient, RemoteError, Runtime};
use host_settings::mcp::McpAddress;
use http::{HeaderName, HeaderValue};
use rmcp::transport::auth::{OAuthClientConfig, OAuthHttpClientFuture};
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{AuthError, AuthorizationManager, OAuthHttpClient, OAuthHttpRedirectPolicy, OAuthHttpRequest};

use super::lines::MAX_MESSAGE;
use super::tokens::Tokens;

/// How often a stream of an MCP server that broke is resumed, and the pause before. Protects the server.
const MAX_RESUMPTIONS: usize = 5;
/// See [`MAX_RESUMPTIONS`].
const PAUSE: Duration = Duration::from_secs(1);

/// The largest answer of an authorization server, in bytes. Protects the host's memory; theirs have a few kilobytes.
const MAX_METADATA: usize = 1 << 20;

/// The longest exchange with an authorization server.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Resumes a stream that broke, some times.
#[derive(Debug)]
struct Resume;

impl SseRetryPolicy for Resume {
    fn retry(&self, times: usize) -> Option<Duration> {
        (times < MAX_RESUMPTIONS).then_some(PAUSE)
    }
}

/// Returns the configuration of the transport.
pub(super) fn configuration(address: &McpAddress) -> Result<StreamableHttpClientTransportConfig, RemoteError> {
    let mut headers = HashMap::new();
    for (name, value) in &address.headers {
        let wrong = |what: &str| RemoteError::Invalid(format!("the header field `{}` {what}", host_text::exact(name)));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong("has an invalid name"))?;
        // These say how to read the message: a wrong one would break it, or let it be read in another way.
        if [
            "accept",
            "content-type",
            "content-length",
            "host",
            "mcp-session-id",
            "mcp-protocol-version",
            "last-event-id",
        ]
        .contains(&name.as_str())
        {
            return Err(wrong("belongs to the protocol"));
        }
        let mut value = HeaderValue::try_from(value.expose()).map_err(|_| wrong("has an invalid value"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let mut configuration = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MAX_MESSAGE)
        .max_json_response_size(MAX_MESSAGE);
    configuration.retry_config = Arc::new(Resume);
    Ok(configuration)
}

/// Returns what logs the user in at a server, and keeps its tokens.
pub(super) async fn authorization(
    address: &McpAddress,
    client: &RemoteClient,
    runtime: &Arc<Runtime>,
    folder: &Path,
) -> Result<AuthorizationManager, AuthError> {
    let checked = Checked { runtime: Arc::clone(runtime), by: client.clone() };
    let mut manager = AuthorizationManager::new_with_oauth_http_client(&*address.url, Arc::new(checked)).await?;
    // A user who writes the header field needs no login.
    if !address.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
        manager.set_credential_store(Tokens::new(folder, &address.url));
    }
    Ok(manager)
}

/// Gives a manager with stored tokens the client's secret, which it needs to renew them and which is not stored with
/// them.
pub(super) fn with_secret(manager: &mut AuthorizationManager, address: &McpAddress) -> Result<(), AuthError> {
    let (Some(id), Some(secret)) = (&address.client_id, &address.client_secret) else { return Ok(()) };
    // No browser is sent back: this client only renews tokens.
    let client = OAuthClientConfig::new(id.as_str(), "http://127.0.0.1/callback");
    manager.configure_client(client.with_client_secret(secret.expose()))
}

/// Sends the requests of a login, each to a server that the configured one named.
struct Checked {
    runtime: Arc<Runtime>,
    by: RemoteClient,
}

impl OAuthHttpClient for Checked {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let OAuthHttpRequest { request, redirect_policy, .. } = request;
        let redirects = match redirect_policy {
            OAuthHttpRedirectPolicy::Stop => Redirects::None,
            _ => Redirects::SameOrigin,
        };
        let sending = async move {
            let client = self.runtime.named_client(&self.by, &request.uri().to_string(), redirects)?;
            match tokio::time::timeout(TIME_LIMIT, client.send(request, MAX_METADATA)).await {
                Ok(answer) => Ok(answer?),
                Err(_) => Err(format!("no answer within {} seconds", TIME_LIMIT.as_secs()).into()),
            }
        };
        Box::pin(sending) as Pin<Box<_>>
    }
}

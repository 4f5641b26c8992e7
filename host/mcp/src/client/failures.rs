//! What went wrong with a server, in words and as the host's errors.
//!
//! Promises: no text of a server reaches a user or a model unless it was made safe and clipped.

use std::error::Error;

use host_capability::McpServerName;
use host_plugin::{McpError, RemoteFailure};
use host_text::with_causes;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::end::End;
use super::lines::FOUND_HERE;

/// The longest message of a server in an error, in characters. Protects the context of the model.
const MAX_MESSAGE: usize = 2_000;

/// Returns an error with its causes, made safe and clipped. Causes that a message repeats are left out.
pub(super) fn words(error: &(dyn Error + 'static)) -> String {
    host_text::excerpt(&with_causes(error), MAX_MESSAGE)
}

/// Returns the command that logs the user in.
pub(super) fn needs_login(server: &McpServerName) -> String {
    format!("the MCP server `{server}` wants the user to log in: run `host mcp login {server}`")
}

/// What a request failed with.
pub(super) fn of_request(server: &McpServerName, error: &ServiceError, end: &End, what_happens: &str) -> McpError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return McpError::NeedsLogin(needs_login(server));
    }
    let unavailable = |why: String| McpError::Unavailable(format!("the MCP server `{server}` {why}; {what_happens}"));
    match error {
        ServiceError::McpError(data) => of_server(server, data),
        ServiceError::TransportClosed => unavailable(match end.get() {
            Some(why) => format!("went away: {why}"),
            None => "went away".to_owned(),
        }),
        ServiceError::TransportSend(failed) => {
            let why = transport(&*failed.error);
            match is_about_size(&why) {
                true => McpError::Protocol(format!("the MCP server `{server}`: {why}")),
                false if is_unreachable(&*failed.error) => McpError::Unavailable(unreachable(server, &why)),
                false => unavailable(format!("failed: {why}")),
            }
        }
        ServiceError::Cancelled { .. } => unavailable("cancelled the request".to_owned()),
        other => McpError::Protocol(format!("the MCP server `{server}`: {}", words(other))),
    }
}

/// What a server says is wrong.
fn of_server(server: &McpServerName, data: &ErrorData) -> McpError {
    let says = if data.data.as_ref().is_some_and(|data| data == FOUND_HERE) { ":" } else { " says:" };
    let text = format!("the MCP server `{server}`{says} {}", host_text::excerpt(&data.message, MAX_MESSAGE));
    match data.code {
        ErrorCode::INVALID_PARAMS => McpError::Invalid(text),
        ErrorCode::METHOD_NOT_FOUND | ErrorCode::RESOURCE_NOT_FOUND => McpError::NotFound(text),
        _ => McpError::Protocol(text),
    }
}

/// Whether an answer was over a limit, or no answer of the protocol.
fn is_about_size(why: &str) -> bool {
    ["maximum size", "Unexpected content type", "Deserialize error"].iter().any(|part| why.contains(part))
}

/// Returns why a transport failed.
pub(super) fn transport(error: &(dyn Error + 'static)) -> String {
    match client_failure(error) {
        Some(failure) => host_text::excerpt(&host_plugin::remote_failure(failure), MAX_MESSAGE),
        None => words(error),
    }
}

/// Whether no connection could be made, so that nothing was sent.
fn is_unreachable(error: &(dyn Error + 'static)) -> bool {
    client_failure(error).is_some_and(RemoteFailure::is_connect)
}

/// The failure of the HTTP client within that of a transport, which does not name it as its source.
fn client_failure<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e RemoteFailure> {
    match error.downcast_ref::<StreamableHttpError<RemoteFailure>>()? {
        StreamableHttpError::Client(failure) => Some(failure),
        _ => None,
    }
}

/// The beginning of what is said of a server that no connection can be made to.
fn unreachable(server: &McpServerName, why: &str) -> String {
    format!("the MCP server `{server}` {UNREACHABLE}: {why}")
}

const UNREACHABLE: &str = "cannot be reached";

/// Whether an error is that no connection could be made.
pub(super) fn shows_that_it_is_away(error: &McpError) -> bool {
    match error {
        McpError::NeedsLogin(_) => true,
        McpError::Unavailable(why) => why.contains(UNREACHABLE),
        McpError::NotFound(_) | McpError::Invalid(_) | McpError::Protocol(_) => false,
    }
}

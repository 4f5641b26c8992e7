//! Failures as errors of the protocol: what failed, its causes and what to do, in one message that every client shows.

use agent_client_protocol::Error;
use host_settings::error::{ErrorKind, Failure};
use host_text::visible;
use serde_json::json;

/// The code of invalid parameters.
const INVALID_PARAMS: i32 = -32602;
/// The code of a request that the state of the connection or the session does not allow.
const INVALID_REQUEST: i32 = -32600;
/// The code of a failure of the agent.
const INTERNAL: i32 = -32603;
/// The code of something that does not exist, such as a session that is not open.
const NOT_FOUND: i32 = -32002;
/// The code of a missing or rejected key.
const AUTH_REQUIRED: i32 = -32000;

/// Returns the error of a failed request.
pub(crate) fn error(failure: &Failure) -> Error {
    let code = match failure.kind {
        ErrorKind::Authentication => AUTH_REQUIRED,
        ErrorKind::Input | ErrorKind::Untrusted => INVALID_PARAMS,
        ErrorKind::Configuration
        | ErrorKind::TurnLimit
        | ErrorKind::Tool
        | ErrorKind::Loop
        | ErrorKind::TimeLimit
        | ErrorKind::NoCompleteTask
        | ErrorKind::Service
        | ErrorKind::Altered
        | ErrorKind::Write
        | ErrorKind::Cancelled => INTERNAL,
    };
    let data = json!({
        "code": failure.kind.number(),
        "causes": failure.causes.iter().map(|cause| visible(cause)).collect::<Vec<_>>(),
        "help": failure.help.as_deref().map(visible),
    });
    Error::new(code, words(failure)).data(data)
}

/// Returns the error of a run that failed: whatever the reason, the request itself was valid.
pub(crate) fn run_error(failure: &Failure) -> Error {
    let mut error = error(failure);
    if failure.kind != ErrorKind::Authentication {
        error.code = INTERNAL.into();
    }
    error
}

/// Returns a failure as text of one or more lines.
pub(crate) fn words(failure: &Failure) -> String {
    let mut text = visible(&failure.message).into_owned();
    for cause in &failure.causes {
        text.push_str(": ");
        text.push_str(&visible(cause));
    }
    if let Some(help) = &failure.help {
        text.push_str("\nhelp: ");
        text.push_str(&visible(help));
    }
    text
}

/// Returns the error of invalid parameters.
pub(crate) fn invalid(message: impl Into<String>, help: impl Into<String>) -> Error {
    error(&Failure::input(message).help(help))
}

/// Returns the error of something that does not exist.
pub(crate) fn not_found(message: impl Into<String>, help: impl Into<String>) -> Error {
    let mut error = invalid(message, help);
    error.code = NOT_FOUND.into();
    error
}

/// Returns the error of a request that is valid, but not now.
pub(crate) fn not_now(message: &str) -> Error {
    Error::new(INVALID_REQUEST, message)
}

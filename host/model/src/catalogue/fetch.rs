//! Gets a published catalogue over the network: one request, without a key, to the address that the user named.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::timeout;
use url::Url;

use super::MAX_CATALOGUE;

/// How long the whole answer may take. The list of models.dev has some megabytes.
const LIMIT: Duration = Duration::from_secs(60);

/// Why a catalogue was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The request failed, or its answer broke off.
    #[error("{0}")]
    Network(String),
    /// The server answered with another status than 200.
    #[error("the server answers {0}")]
    Status(u16),
    /// The answer is larger than a catalogue may be.
    #[error("the answer is larger than {} MiB", MAX_CATALOGUE >> 20)]
    TooLarge,
    /// The answer took too long.
    #[error("the answer takes longer than {} s", LIMIT.as_secs())]
    Slow,
    /// The answer is not UTF-8 text.
    #[error("the answer is not UTF-8 text")]
    NotText,
    /// Others could change what is sent on the way.
    #[error("only addresses with https are fetched, or this machine itself")]
    Unsafe,
}

/// Gets the text at an address.
///
/// # Errors
///
/// If the address is not safe, or its server does not answer with a text of a catalogue's size.
pub async fn fetch(address: &Url) -> Result<String, FetchError> {
    if !host_http::is_safe(address) {
        return Err(FetchError::Unsafe);
    }
    timeout(LIMIT, get(address)).await.map_err(|_| FetchError::Slow)?
}

async fn get(address: &Url) -> Result<String, FetchError> {
    let network = |error: reqwest::Error| FetchError::Network(host_http::words(&error));
    let client = host_http::client().build().map_err(network)?;
    let answer = client.get(address.clone()).send().await.map_err(network)?;
    if answer.status() != reqwest::StatusCode::OK {
        return Err(FetchError::Status(answer.status().as_u16()));
    }
    let mut text = Vec::new();
    let mut body = answer.bytes_stream();
    while let Some(bytes) = body.next().await {
        let bytes = bytes.map_err(network)?;
        if text.len() as u64 + bytes.len() as u64 > MAX_CATALOGUE {
            return Err(FetchError::TooLarge);
        }
        text.extend_from_slice(&bytes);
    }
    String::from_utf8(text).map_err(|_| FetchError::NotText)
}

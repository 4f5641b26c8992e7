//! The server that a request goes to, and the header fields that a guest cannot set.

use host_capability::{Authority, HostError};
use host_text::exact;
use reqwest::Url;

use crate::bindings::http::Error;

/// Fields that belong to the transport, or to the owner of the credentials.
const REFUSED: &[&str] = &[
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// The longest address, in bytes.
const MAX_URL: usize = 8 << 10;

/// Parses an address to which the host sends requests.
pub(crate) fn address(text: &str) -> Result<Url, Error> {
    let wrong = |why: &str| Error::Invalid(format!("the address `{}` {why}", exact(text)));
    if text.len() > MAX_URL {
        return Err(Error::Invalid(format!("an address of {} bytes is over the limit of {MAX_URL}", text.len())));
    }
    let url = Url::parse(text).map_err(|error| wrong(&format!("is invalid: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("has a user name or password in it, and the host puts in credentials itself"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("has no host"));
    }
    Ok(url)
}

/// Whether two addresses are the same request: the part after `#` is not sent.
pub(crate) fn same_request(one: &str, other: &str) -> bool {
    let sent = |text: &str| {
        let mut url = address(text).ok()?;
        url.set_fragment(None);
        Some(url)
    };
    sent(one).is_some_and(|one| sent(other) == Some(one))
}

/// Returns the server that an address names, or why the host sends nothing there.
pub(crate) fn authority(url: &str) -> Result<Authority, String> {
    let url = address(url).map_err(|error| match error {
        Error::Invalid(why) => why,
        Error::Denied(_) | Error::RedirectDenied(_) | Error::Unavailable(_) | Error::TimedOut => {
            "it is not an address".to_owned()
        }
    })?;
    server(&url).map_err(|error| error.to_string())
}

/// Returns the server of an accepted address.
pub(crate) fn server(url: &Url) -> Result<Authority, HostError> {
    // An address is accepted only with a host, and its schemes have known ports.
    Authority::new(url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Whether a guest cannot set this header field; takes its name in lower case.
pub(crate) fn belongs_to_the_host(lower: &str) -> bool {
    REFUSED.contains(&lower) || lower.starts_with("proxy-") || lower.starts_with("sec-")
}

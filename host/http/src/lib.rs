//! What every HTTP client of the host has in common: how it names itself, how it fails in words, which addresses are
//! safe without TLS, how long it waits before a server is tried again.
//!
//! It never follows a redirect of its own accord, and chooses the implementation of TLS once for the process.
//!
//! Deliberately not here: requests, what is tried again and how often, credentials, which redirects are followed, and
//! which addresses a guest may reach (`host-plugin` decides that with permits).

mod backoff;

use std::error::Error;

use host_text::append_causes;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use url::{Host, Url};

pub use backoff::Backoff;

/// A client to be, with the host's name and without redirects.
pub fn client() -> ClientBuilder {
    // Without a default the TLS library panics. The process may have chosen one: then this changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent(concat!("host/", env!("CARGO_PKG_VERSION"))).redirect(Policy::none())
}

/// Why a request failed, outermost first, without the address, which the caller names.
pub fn words(error: &reqwest::Error) -> String {
    if error.is_connect() {
        // What lies between names the layers of the client.
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        return format!("cannot connect: {cause}");
    }
    let mut text = error.to_string();
    if let Some(url) = error.url() {
        text = text.replace(&format!(" for url ({url})"), "").replace(url.as_str(), "…");
    }
    append_causes(text, error)
}

/// Whether the server is this machine itself.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether it is this machine itself, without encryption.
pub fn is_plain_loopback(url: &Url) -> bool {
    url.scheme() == "http" && is_loopback(url)
}

/// Whether others cannot read what is sent: TLS, or this machine itself.
pub fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || is_plain_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_is_safe_with_tls_or_on_this_machine() {
        for (address, plain_loopback, safe) in [
            ("http://127.0.0.1:1/v1", true, true),
            ("http://127.8.8.8", true, true),
            ("http://[::1]:1", true, true),
            ("http://LOCALHOST", true, true),
            ("https://localhost", false, true),
            ("https://example.com", false, true),
            ("http://localhost.example.com", false, false),
            ("http://10.0.0.1", false, false),
            ("ftp://localhost", false, false),
            ("data:text/plain,x", false, false),
        ] {
            let url = Url::parse(address).expect("an address");
            assert_eq!((is_plain_loopback(&url), is_safe(&url)), (plain_loopback, safe), "{address}");
        }
    }

    #[test]
    fn http_error_words_leave_out_the_address() {
        let error = client().build().expect("a client").get("http://user:secret@[bad/x?key=1").build();
        let words = words(&error.expect_err("it is not an address"));
        assert!(!words.is_empty() && !words.contains("secret"), "{words}");
    }
}

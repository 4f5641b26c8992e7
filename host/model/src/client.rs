//! The HTTP client of services and logins.

use std::time::Duration;

use host_http::is_plain_loopback;
use reqwest::{Client, Proxy};
use url::Url;

/// Ends the wait for a service that does not answer its door.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// A client for an address. `near` says that it lies in this machine's own network, where no proxy stands.
pub(crate) fn client(address: &Url, proxy: Option<&Proxy>, near: bool) -> reqwest::Result<Client> {
    let mut builder = host_http::client().connect_timeout(CONNECT_LIMIT);
    if let Some(proxy) = proxy {
        builder = builder.proxy(proxy.clone());
    } else if near || is_plain_loopback(address) {
        // No certificate is needed, so none are read, and no proxy stands before this machine itself.
        builder = builder.tls_certs_only([]).no_proxy();
    }
    builder.build()
}

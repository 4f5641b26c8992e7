//! Creates the HTTP client for services and logins.

use std::time::Duration;

use host_http::is_plain_loopback;
use reqwest::{Client, Proxy};
use url::Url;

/// Limits the wait for a connection to a service.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// Creates a client for an address. `near` means that it is in this machine's own network, where no proxy is used.
pub(crate) fn client(address: &Url, proxy: Option<&Proxy>, near: bool) -> reqwest::Result<Client> {
    let mut builder = host_http::client().connect_timeout(CONNECT_LIMIT);
    if let Some(proxy) = proxy {
        builder = builder.proxy(proxy.clone());
    } else if near || is_plain_loopback(address) {
        // No certificate is needed, so none are loaded, and no proxy is used for this machine itself.
        builder = builder.tls_certs_only([]).no_proxy();
    }
    builder.build()
}

//! The name of a server and its port, in one spelling, so that two spellings of one server are compared as one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::is_public;
use crate::visible::visible;

/// The longest host name, in characters without the last dot (RFC 1035, 2.3.4).
const HOST_LIMIT: usize = 253;

/// The longest label of a host name, in characters (RFC 1035, 2.3.4).
const LABEL_LIMIT: usize = 63;

/// A server: host and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Authority {
    host: String,
    port: u16,
}

/// A text that is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid host `{host}`: {why}")]
pub struct HostError {
    /// The text, safe for a terminal.
    pub host: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

impl Authority {
    /// Takes an ASCII host name (an international one in its `xn--` form), an IPv4 address in dotted decimals, or
    /// an IPv6 address, with or without its brackets. Letters become small, a last dot goes, and an address is
    /// put into its canonical form.
    ///
    /// # Errors
    ///
    /// When the host is none of these. A text that looks like an address in another spelling (`127.1`, `0x7f000001`) is
    /// rejected, since resolvers disagree about it.
    pub fn new(host: &str, port: u16) -> Result<Self, HostError> {
        Ok(Self { host: canonical_host(host)?, port })
    }

    /// The host: a name in small letters, or an address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address, if the host is an address and not a name.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Returns whether the host itself shows that it is this machine or in a private network: an address, or
    /// `localhost`. Any other name says nothing about its addresses.
    pub fn is_plainly_private(&self) -> bool {
        let here = self.host == "localhost" || self.host.ends_with(".localhost");
        here || self.address().is_some_and(|address| !is_public(address))
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", bracketed(&self.host), self.port)
    }
}

/// Returns the host as it is written before a port.
pub(crate) fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// Returns the canonical spelling of a host.
pub(crate) fn canonical_host(text: &str) -> Result<String, HostError> {
    let error = |why| HostError { host: visible(text), why };
    // Brackets are part of the notation and not of the address, so both spellings are one server.
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if inner.is_some() || text.contains(':') {
        let address: Result<Ipv6Addr, _> = inner.unwrap_or(text).parse();
        return address.map(|address| address.to_string()).map_err(|_| error("it is not an IPv6 address"));
    }
    // A dot at the end says that the name is complete; resolvers find the same server.
    let host = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if host.is_empty() {
        return Err(error("it is empty"));
    }
    if host.len() > HOST_LIMIT {
        return Err(error("it has over 253 characters"));
    }
    // ASCII alone: two names of other letters can look the same, and resolvers map them.
    if !host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
        return Err(error(
            "a host name has ASCII letters, digits, `-`, `_` and `.`; an international name starts with \
                          `xn--`",
        ));
    }
    if host.split('.').any(|label| label.is_empty() || label.len() > LABEL_LIMIT || label.starts_with('-')) {
        return Err(error("between its dots are 1 to 63 characters, the first no `-`"));
    }
    // `127.1` and `0x7f.1` are addresses to resolvers. A grant for such a name would be one for an address that nobody
    // read.
    if ends_in_number(&host) {
        let address: Result<Ipv4Addr, _> = host.parse();
        return address.map(|address| address.to_string()).map_err(|_| error("an IPv4 address has four decimals"));
    }
    Ok(host)
}

/// Returns whether a URL parser takes the host for an IPv4 address, in any spelling (WHATWG URL, "ends in a number").
fn ends_in_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let hex = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    hex || last.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        let authority = Authority::new(text, 443).unwrap();
        assert_eq!(authority.to_string(), shown, "{text}");
        assert_eq!(Authority::new(authority.host(), 443), Ok(authority.clone()), "{text}: it stays as it is");
    }

    #[test]
    fn a_host_has_one_spelling() {
        check("API.Example.COM", "api.example.com:443");
        check("example.com.", "example.com:443");
        check("_dmarc.xn--bcher-kva.example", "_dmarc.xn--bcher-kva.example:443");
        check("localhost", "localhost:443");
        check("127.0.0.1", "127.0.0.1:443");
        check("[::1]", "[::1]:443");
        check("2001:DB8:0:0::1", "[2001:db8::1]:443");
    }

    #[test]
    fn authority_shows_by_itself_that_it_is_private() {
        let is = |host: &str| Authority::new(host, 80).unwrap().is_plainly_private();
        for host in ["localhost", "LocalHost.", "a.localhost", "127.0.0.1", "10.1.2.3", "[::1]", "[::ffff:127.0.0.1]"] {
            assert!(is(host), "{host}");
        }
        for host in ["example.com", "8.8.8.8", "localhost.example.com", "notlocalhost", "[2606:4700::1111]"] {
            assert!(!is(host), "{host}");
        }
    }

    #[test]
    fn authority_with_an_invalid_host_is_an_error() {
        let long = "a".repeat(64);
        let longer = "a.".repeat(127) + "a";
        for text in [
            "",
            ".",
            "a..b",
            "a b",
            "bücher.example",
            "a/b",
            "a@b",
            "a%2e",
            "*.a",
            "127.1",
            "127.0.0.1.2",
            "0x7f000001",
            "2130706433",
            "017700000001",
            "a.0x",
            "1.2.3.04",
            "[::1",
            "::1]",
            "[::1]:8",
            "[fe80::1%eth0]",
            "[1.2.3.4]",
            "-a",
            "a.-private",
            &long,
            &longer,
            "a\u{1b}b",
            "a\0",
        ] {
            assert!(Authority::new(text, 443).is_err(), "{text:?}");
        }
    }
}

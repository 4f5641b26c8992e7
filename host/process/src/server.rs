//! The name of a server and its port.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest name of a host (RFC 1035, 2.3.4), and the longest label of one.
const NAME: usize = 253;
const LABEL: usize = 63;

/// A server, as a program names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    /// Its name in lower case, of letters, digits, hyphens and dots, or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Server {
    /// Returns the server with this name, if it is one that a resolver can only take for a name or an address in its
    /// usual form.
    pub(crate) fn parse(host: &[u8], port: u16) -> Option<Self> {
        let host = std::str::from_utf8(host).ok()?.to_ascii_lowercase();
        // `host.` and `host` are one server, and would be two names in a grant.
        let host = host.strip_suffix('.').unwrap_or(&host);
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if let Some(address) = bare.or(Some(host)).and_then(|host| host.parse::<Ipv6Addr>().ok()) {
            return Some(Self { host: address.to_string(), port });
        }
        let is_label = |label: &str| {
            (1..=LABEL).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let last = host.rsplit('.').next().unwrap_or_default();
        // Resolvers take `127.1`, `2130706433` and `0x7f000001` for addresses.
        let is_number = last.starts_with(|c: char| c.is_ascii_digit());
        let is_name = (1..=NAME).contains(&host.len()) && host.split('.').all(is_label) && port != 0;
        // What looks like a number must be an address in its usual form, or a resolver could take it for one that
        // nobody granted.
        let fits = is_name && (!is_number || host.parse::<Ipv4Addr>().is_ok());
        fits.then(|| Self { host: host.to_owned(), port })
    }

    /// The name that a client of TLS greets; `None` for an address, which has none.
    pub(crate) fn name(&self) -> Option<&str> {
        let is_address = self.host.contains(':') || self.host.parse::<Ipv4Addr>().is_ok();
        (!is_address).then_some(self.host.as_str())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

//! Servers that the user configured by their address, as those of the Model Context Protocol.
//!
//! A configured address is the user's word, and covers its host and port alone. Promises: a name leads to this machine
//! or a private network only if the address shows that it is there, or the user said so; a server that the configured
//! one names gets no wider reach than that one.

use std::net::IpAddr;

use crate::Authority;
use crate::address::is_public;
use crate::authorities::Reach;

/// Proof that the user configured a server. Each address that its name leads to needs [`RemotePermit::permit_address`].
#[derive(Clone, Debug)]
#[must_use = "a permit does nothing by itself"]
pub struct RemotePermit {
    authority: Authority,
    reach: Reach,
}

/// An address that a configured server may not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{server}` leads to `{address}`, which is not a public address")]
pub struct NotPublic {
    /// The server that was named.
    pub server: Authority,
    /// The address that its name leads to.
    pub address: IpAddr,
}

impl RemotePermit {
    /// Returns the permit for a server whose address the user configured. `reaches_private` is whether the user said
    /// that the name may lead to this machine or a private network.
    pub fn configured(server: Authority, reaches_private: bool) -> Self {
        let anywhere = reaches_private || server.is_plainly_private();
        Self { authority: server, reach: if anywhere { Reach::Anywhere } else { Reach::Public } }
    }

    /// Returns the permit for a server that this one names, such as the one where users log in.
    pub fn named_by_it(&self, server: Authority) -> Self {
        Self { authority: server, reach: self.reach }
    }

    /// The server.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Whether private addresses are covered.
    pub fn reaches_private(&self) -> bool {
        self.reach == Reach::Anywhere
    }

    /// Checks that the connection may go to this address. Call it for each address that the name leads to, and connect
    /// only to addresses that were checked.
    ///
    /// # Errors
    ///
    /// When the address is not on the public internet, and the permit covers public addresses only.
    pub fn permit_address(&self, address: IpAddr) -> Result<(), NotPublic> {
        if self.reach == Reach::Anywhere || is_public(address) {
            return Ok(());
        }
        Err(NotPublic { server: self.authority.clone(), address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_server_reaches_private_addresses_only_if_the_user_shows_it() {
        let check = |host: &str, says_so: bool, address: &str, allowed: bool| {
            let permit = RemotePermit::configured(Authority::new(host, 443).expect("a host"), says_so);
            let address = address.parse().expect("an address");
            assert_eq!(permit.permit_address(address).is_ok(), allowed, "{host} at {address}");
            // What it names reaches no further.
            let named = permit.named_by_it(Authority::new("localhost", 443).expect("a host"));
            assert_eq!(named.permit_address(address).is_ok(), allowed, "what {host} names at {address}");
        };
        check("example.com", false, "93.184.216.34", true);
        for private in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"] {
            check("example.com", false, private, false);
            check("example.com", true, private, true);
            check("localhost", false, private, true);
        }
    }
}

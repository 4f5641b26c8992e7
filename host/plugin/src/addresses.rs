//! The one way from a server's name to the addresses that are connected to.
//!
//! Promises: each address that a name leads to is checked, and those that were checked are the ones connected to, so
//! that a name that resolves differently the second time gains nothing.

use std::net::{IpAddr, SocketAddr};

use tokio::net::lookup_host;

/// Why a name leads to no address that may be connected to.
#[derive(Debug)]
pub(crate) enum Unresolved<E> {
    /// One of its addresses is not covered.
    Denied(E),
    /// It cannot be looked up.
    Unknown(std::io::Error),
}

/// Returns the addresses of a host, which is a name or an address, all of them checked.
pub(crate) async fn resolve<E>(
    host: &str,
    port: u16,
    check: impl Fn(IpAddr) -> Result<(), E>,
) -> Result<Vec<SocketAddr>, Unresolved<E>> {
    let found = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => lookup_host((host, port)).await.map_err(Unresolved::Unknown)?.collect(),
    };
    checked(found, check).map_err(Unresolved::Denied)
}

/// A single address that is not covered denies the name, because which one is used is arbitrary.
fn checked<E>(found: Vec<SocketAddr>, check: impl Fn(IpAddr) -> Result<(), E>) -> Result<Vec<SocketAddr>, E> {
    match found.iter().find_map(|address| check(address.ip()).err()) {
        Some(denied) => Err(denied),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_that_is_not_covered_denies_the_name() {
        let check = |addresses: &[&str], allowed: bool| {
            let found = addresses.iter().map(|text| text.parse().expect("an address")).collect();
            let is_public = |address: IpAddr| if address.is_loopback() { Err(address) } else { Ok(()) };
            assert_eq!(checked(found, is_public).is_ok(), allowed, "{addresses:?}");
        };
        check(&["93.184.216.34:443"], true);
        check(&["93.184.216.34:443", "127.0.0.1:443"], false);
        check(&["[::1]:443"], false);
        check(&[], true);
    }
}

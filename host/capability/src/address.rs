//! Distinguishes internet addresses on the public internet from those of this machine and its neighbourhood.
//!
//! The tables are the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates). An address
//! counts as public only if it is known to be public: in IPv6 only the space for global unicast, without its special
//! parts. An IPv6 address that contains an IPv4 address is judged by the IPv4 address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks that are not the public internet: first address, length of the prefix in bits.
const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    // This network; 0.0.0.0 reaches this machine on Linux.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private (RFC 1918).
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Shared between a provider and its customers (RFC 6598).
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, where clouds keep their metadata services.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // IETF protocol assignments.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation (RFC 5737).
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // The old relays to 6to4 (RFC 7526).
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Benchmarks between networks (RFC 2544).
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, broadcast included.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// IPv6 global unicast: all that the internet routes today (RFC 4291, 2.4).
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Blocks of it that are not the public internet.
const SPECIAL_V6: &[(Ipv6Addr, u32)] = &[
    // IETF protocol assignments: Teredo, benchmarks, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation (RFC 3849, RFC 9637).
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// IPv6 blocks that contain an IPv4 address: first address, length, and the bit from the left at which the IPv4 address
/// starts.
const CARRIERS: &[(Ipv6Addr, u32, u32)] = &[
    // IPv4-mapped.
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, 96),
    // The well-known prefix of NAT64 (RFC 6052).
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, 96),
    // 6to4 (RFC 3056).
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, 16),
];

/// Returns whether the address is on the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match CARRIERS.iter().find(|(block, length, _)| within_v6(address, *block, *length)) {
            Some((_, _, at)) => is_public_v4(carried(address, *at)),
            None => {
                within_v6(address, GLOBAL_V6.0, GLOBAL_V6.1)
                    && !SPECIAL_V6.iter().any(|(block, length)| within_v6(address, *block, *length))
            }
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |(block, length): &(Ipv4Addr, u32)| (address.to_bits() ^ block.to_bits()).leading_zeros() >= *length;
    !SPECIAL_V4.iter().any(within)
}

fn within_v6(address: Ipv6Addr, block: Ipv6Addr, length: u32) -> bool {
    (address.to_bits() ^ block.to_bits()).leading_zeros() >= length
}

/// Returns the 32 bits that start `at` bits from the left; the table's positions are at most 96.
fn carried(address: Ipv6Addr, at: u32) -> Ipv4Addr {
    let [a, b, c, d, ..] = (address.to_bits() << at).to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: bool, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn the_public_internet_is_public() {
        check(true, &["8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255"]);
        check(true, &["100.128.0.0", "169.253.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255"]);
        check(true, &["11.0.0.0", "9.255.255.255", "128.0.0.0", "126.255.255.255", "192.0.1.0", "192.167.255.255"]);
        check(true, &["2606:4700:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2a00::1", "3ffe::1"]);
    }

    // promise http.private
    #[test]
    fn this_machine_and_its_neighbourhood_are_not() {
        check(false, &["0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "169.254.169.254", "169.254.0.0"]);
        check(false, &["10.0.0.1", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.1", "192.168.255.255"]);
        check(false, &["100.64.0.0", "100.127.255.255", "192.0.0.8", "192.0.2.1", "198.51.100.7", "203.0.113.9"]);
        check(false, &["192.88.99.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "239.255.255.255"]);
        check(false, &["240.0.0.1", "255.255.255.255"]);
        check(false, &["::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1"]);
        check(false, &["100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff:fff::1"]);
        check(false, &["4000::1", "5f00::1", "::1.2.3.4", "::8.8.8.8", "64:ff9b:1::8.8.8.8", "::ffff:0:8.8.8.8"]);
    }

    // promise http.private
    #[test]
    fn an_address_inside_another_is_judged_by_itself() {
        check(false, &["::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0.0.0.0"]);
        check(false, &["64:ff9b::127.0.0.1", "64:ff9b::192.168.1.1", "64:ff9b::100.64.0.1"]);
        check(false, &["2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::5", "2002:a9fe:a9fe::"]);
        check(true, &["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]);
    }
}

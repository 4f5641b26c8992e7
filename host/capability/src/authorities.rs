//! Servers and the requests that they may be sent: hosts, ports, methods, and the reach of a host's addresses.
//!
//! A name says little about its addresses: its owner can point it at this machine. So each grant has a reach: public
//! addresses only, or any. A host that is written out reaches any address, since the user named it; a pattern reaches
//! public addresses only. `+private` and `-private` override this. The reach is part of the order; otherwise, the meet
//! of a plugin's request for one private name and a grant of `*` would reach addresses that were never granted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::antichain::{Antichain, Element};
use crate::authority::{Authority, bracketed, canonical_host};
use crate::error::ScopeError;
use crate::list::{self, Form, Item};
use crate::visible::visible;

/// The port where a grant names none: that of `https`. Plain `http` must be asked for, as `:80`.
const DEFAULT_PORT: u16 = 443;

/// The methods where a grant names none: those that only read (RFC 9110, 9.2.1).
const DEFAULT_METHODS: [&str; 2] = ["GET", "HEAD"];

/// The most methods in one item, and the most letters in one: a meet compares each with each.
const METHOD_LIMIT: usize = 16;

/// The requests that a grant covers: at least one endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authorities(Antichain<Endpoint>);

/// The addresses that a host's name may resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reach {
    /// The public internet only.
    Public,
    /// Private networks and this machine too.
    Anywhere,
}

/// One method at one server, or at several by patterns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Endpoint {
    host: Host,
    port: AnyOr<u16>,
    reach: Reach,
    method: AnyOr<String>,
}

/// Hosts by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Host {
    Exact(String),
    /// Whatever ends in a dot and this.
    Beneath(String),
    Any,
}

/// One, or whichever.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum AnyOr<T> {
    One(T),
    Any,
}

impl Authorities {
    /// Reads a list of `[METHOD[+METHOD…] ]HOST[:PORT][ +private| -private]`.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let mut endpoints = Vec::new();
        for item in list::items(text, form)? {
            endpoints.extend(parse_item(&item)?);
        }
        Ok(Self(Antichain::new(endpoints)))
    }

    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let both = self.0.meet(&other.0);
        (!both.is_empty()).then_some(Self(both))
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.join(&other.0))
    }

    pub(crate) fn le(&self, other: &Self) -> bool {
        self.0.le(&other.0)
    }

    /// Returns whether each server is named in full and only on the public internet. A pattern does not name a server,
    /// and a name that may lead to this machine or a private network says too little.
    pub fn are_named_and_public(&self) -> bool {
        self.0.iter().all(|endpoint| matches!(endpoint.host, Host::Exact(_)) && endpoint.reach == Reach::Public)
    }

    /// Returns whether one of the servers shows that it is this machine or in a private network, or is any server of
    /// such a network by a pattern. A full name with `+private` does not show where it leads.
    pub fn has_private(&self) -> bool {
        let is_pattern = |endpoint: &Endpoint| !matches!(endpoint.host, Host::Exact(_));
        let mut beyond = self.0.iter().filter(|endpoint| endpoint.reach == Reach::Anywhere);
        beyond.any(is_pattern) || self.name_a_private_host()
    }

    /// Returns whether the host of one of the servers shows that it is this machine or in a private network.
    pub(crate) fn name_a_private_host(&self) -> bool {
        let is_private =
            |host: &str| Authority::new(host, DEFAULT_PORT).is_ok_and(|server| server.is_plainly_private());
        self.0.iter().any(|endpoint| matches!(&endpoint.host, Host::Exact(host) if is_private(host)))
    }

    /// Returns the part for the hosts that `asked` names in full, whatever the port and the method, limited to public
    /// addresses. `None` if there is no such part.
    #[must_use]
    pub fn at_hosts_of(&self, asked: &Self) -> Option<Self> {
        let named = asked.0.iter().filter(|endpoint| matches!(endpoint.host, Host::Exact(_)));
        let whole = |endpoint: &Endpoint| Endpoint {
            host: endpoint.host.clone(),
            port: AnyOr::Any,
            reach: Reach::Public,
            method: AnyOr::Any,
        };
        self.meet(&Self(Antichain::new(named.map(whole))))
    }

    /// Describes the requests without their reach: ``GET requests to `example.com:443` ``.
    pub fn in_words(&self) -> String {
        // Methods together for each server: `GET and POST requests to …` is one thing to agree to, and not two.
        let item = |((host, port, _), methods): ((&Host, &AnyOr<u16>, Reach), BTreeSet<&str>)| {
            let methods: Vec<&str> = methods.into_iter().collect();
            let requests = match methods.as_slice() {
                ["*"] => "requests".to_owned(),
                [first @ .., last] if !first.is_empty() => format!("{} and {last} requests", first.join(", ")),
                _ => format!("{} requests", methods.concat()),
            };
            // `any server` for a host alone would be wrong: without a port only 443 is meant.
            let server = match (host, port) {
                (Host::Any, AnyOr::Any) => "any server".to_owned(),
                (Host::Any, AnyOr::One(port)) => format!("port {port} of any server"),
                (host, AnyOr::Any) => format!("`{host}` at any port"),
                (host, AnyOr::One(port)) => format!("`{host}:{port}`"),
            };
            format!("{requests} to {server}")
        };
        self.items().into_iter().map(item).collect::<Vec<_>>().join("; ")
    }

    /// The endpoints, with those that differ in their methods alone as one.
    fn items(&self) -> BTreeMap<(&Host, &AnyOr<u16>, Reach), BTreeSet<&str>> {
        let mut items: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for Endpoint { host, port, reach, method } in self.0.iter() {
            let method = match method {
                AnyOr::One(method) => method,
                AnyOr::Any => "*",
            };
            items.entry((host, port, *reach)).or_default().insert(method);
        }
        items
    }

    /// Returns the reach of a request; `None` if it is not covered.
    pub(crate) fn reach(&self, method: &str, authority: &Authority) -> Option<Reach> {
        let covers = |endpoint: &&Endpoint| {
            endpoint.host.covers(authority.host())
                && endpoint.port.covers(|port| *port == authority.port())
                && endpoint.method.covers(|granted| granted == method)
        };
        self.0.iter().filter(covers).map(|endpoint| endpoint.reach).max()
    }
}

/// A request in words, as close as can be to the scope that covers it.
pub(crate) fn request(method: &str, authority: &Authority) -> String {
    match method {
        method if DEFAULT_METHODS.contains(&method) => authority.to_string(),
        method => format!("{method} {authority}"),
    }
}

/// The text of a small scope that covers the request and reaches anywhere. `None` if a scope cannot name the method: a
/// guest could write a `,*` into it, for a user to grant.
pub(crate) fn naming(method: &str, authority: &Authority) -> Option<String> {
    is_method(method).then(|| request(method, authority))
}

/// Returns whether a scope can contain the method, as it is written.
pub(crate) fn is_method(text: &str) -> bool {
    (1..=METHOD_LIMIT).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
}

fn parse_item(item: &Item) -> Result<Vec<Endpoint>, ScopeError> {
    let words = item.words.iter().map(|word| word.text.as_str()).collect();
    let Parsed { methods, host, port, reach } = parse_words(words, &item.whole.text)?;
    let reach = reach.unwrap_or(host.own_reach());
    let methods = methods.unwrap_or_else(|| DEFAULT_METHODS.map(|method| AnyOr::One(method.to_owned())).to_vec());
    let endpoint = |method| Endpoint { host: host.clone(), port: port.clone(), reach, method };
    Ok(methods.into_iter().map(endpoint).collect())
}

impl Endpoint {
    /// Parses a server that a program may reach: `HOST[:PORT][ +private| -private]`. A program sends what it likes, so
    /// there is no method; and since a name is often not the user's own, it reaches public addresses only, unless the
    /// user says otherwise.
    pub(crate) fn parse_server(words: Vec<&str>, whole: &str) -> Result<Self, ScopeError> {
        let Parsed { methods, host, port, reach } = parse_words(words, whole)?;
        match methods {
            Some(_) => Err(ScopeError::Endpoint { text: visible(whole) }),
            None => Ok(Self { host, port, reach: reach.unwrap_or(Reach::Public), method: AnyOr::Any }),
        }
    }

    /// Creates the pattern of all servers.
    pub(crate) fn any_server() -> Self {
        Self { host: Host::Any, port: AnyOr::Any, reach: Reach::Anywhere, method: AnyOr::Any }
    }

    /// Returns the reach of a connection to a server; `None` if it is not covered.
    pub(crate) fn reach_of(&self, authority: &Authority) -> Option<Reach> {
        let covers = self.host.covers(authority.host()) && self.port.covers(|port| *port == authority.port());
        covers.then_some(self.reach)
    }
}

/// A server that a program may reach, as [`Endpoint::parse_server`] takes it.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.host)?;
        match &self.port {
            AnyOr::One(port) => write!(f, ":{port}")?,
            AnyOr::Any => f.write_str(":*")?,
        }
        f.write_str(if self.reach == Reach::Anywhere { " +private" } else { "" })
    }
}

/// The parts of an item.
struct Parsed {
    methods: Option<Vec<AnyOr<String>>>,
    host: Host,
    port: AnyOr<u16>,
    reach: Option<Reach>,
}

fn parse_words(mut words: Vec<&str>, whole: &str) -> Result<Parsed, ScopeError> {
    let invalid = || ScopeError::Endpoint { text: visible(whole) };
    let reach = match words.last() {
        Some(&"+private") => Some(Reach::Anywhere),
        Some(&"-private") => Some(Reach::Public),
        _ => None,
    };
    words.truncate(words.len() - usize::from(reach.is_some()));
    let (methods, authority) = match words.as_slice() {
        [authority] => (None, *authority),
        [methods, authority] => (Some(parse_methods(methods)?), *authority),
        _ => return Err(invalid()),
    };
    let (host, port) = match authority.rsplit_once(':') {
        // A colon within brackets, or one of several without them, is part of an address.
        Some((host, port)) if !port.ends_with(']') && (!host.contains(':') || host.ends_with(']')) => {
            (host, parse_port(port)?)
        }
        _ => (authority, AnyOr::One(DEFAULT_PORT)),
    };
    let host = match (host, host.strip_prefix("*.")) {
        ("*", _) => Host::Any,
        (_, Some(suffix)) => {
            let suffix = canonical_host(suffix)?;
            // `*.1.2.3.4` would look like a range of addresses and is one of names.
            if suffix.contains(':') || suffix.parse::<std::net::Ipv4Addr>().is_ok() {
                return Err(invalid());
            }
            Host::Beneath(suffix)
        }
        // Without brackets, which of an address's numbers is the port would be a guess.
        (exact, None) if exact.contains(':') && !exact.starts_with('[') => {
            return Err(invalid());
        }
        (exact, None) => Host::Exact(canonical_host(exact)?),
    };
    Ok(Parsed { methods, host, port, reach })
}

fn parse_methods(text: &str) -> Result<Vec<AnyOr<String>>, ScopeError> {
    if text == "*" {
        return Ok(vec![AnyOr::Any]);
    }
    let methods: Vec<String> = text.split('+').map(str::to_ascii_uppercase).collect();
    if methods.len() > METHOD_LIMIT || !methods.iter().all(|method| is_method(method)) {
        return Err(ScopeError::Method { text: visible(text) });
    }
    Ok(methods.into_iter().map(AnyOr::One).collect())
}

fn parse_port(text: &str) -> Result<AnyOr<u16>, ScopeError> {
    match text {
        "*" => Ok(AnyOr::Any),
        _ => {
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            let port = text.parse().ok().filter(|port| digits && *port != 0);
            port.map(AnyOr::One).ok_or_else(|| ScopeError::Port { text: visible(text) })
        }
    }
}

impl Element for Endpoint {
    fn meet(&self, other: &Self) -> Option<Self> {
        Some(Self {
            host: self.host.meet(&other.host)?,
            port: self.port.meet(&other.port)?,
            reach: self.reach.min(other.reach),
            method: self.method.meet(&other.method)?,
        })
    }

    fn is_below(&self, other: &Self) -> bool {
        self.host.is_below(&other.host)
            && self.port.is_below(&other.port)
            && self.reach <= other.reach
            && self.method.is_below(&other.method)
    }
}

impl Host {
    fn covers(&self, host: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == host,
            Self::Beneath(suffix) => host.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.ends_with('.')),
            Self::Any => true,
        }
    }

    fn own_reach(&self) -> Reach {
        match self {
            Self::Exact(_) => Reach::Anywhere,
            Self::Beneath(_) | Self::Any => Reach::Public,
        }
    }
}

impl Element for Host {
    fn meet(&self, other: &Self) -> Option<Self> {
        match () {
            () if self.is_below(other) => Some(self.clone()),
            () if other.is_below(self) => Some(other.clone()),
            () => None,
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        match self {
            Self::Exact(host) => other.covers(host),
            Self::Beneath(suffix) => self == other || !matches!(other, Self::Exact(_)) && other.covers(suffix),
            Self::Any => *other == Self::Any,
        }
    }
}

impl<T> AnyOr<T> {
    fn covers(&self, is_wanted: impl FnOnce(&T) -> bool) -> bool {
        match self {
            Self::One(one) => is_wanted(one),
            Self::Any => true,
        }
    }
}

impl<T: Clone + Ord> Element for AnyOr<T> {
    fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (one, Self::Any) | (Self::Any, one) => Some(one.clone()),
            (one, same) => (one == same).then(|| one.clone()),
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        *other == Self::Any || self == other
    }
}

/// A host as a scope has it.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => f.write_str(&bracketed(host)),
            Self::Beneath(suffix) => write!(f, "*.{suffix}"),
            Self::Any => f.write_str("*"),
        }
    }
}

/// Endpoints that differ in their methods alone are one item; what an item has by default is left out, but for the
/// port.
impl fmt::Display for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, ((host, port, reach), methods)) in self.items().into_iter().enumerate() {
            f.write_str(if at > 0 { "," } else { "" })?;
            // Left out where they are what a text without methods means, so that a scope is read back as it was.
            if !methods.iter().eq(&DEFAULT_METHODS) {
                write!(f, "{} ", methods.into_iter().collect::<Vec<_>>().join("+"))?;
            }
            write!(f, "{host}")?;
            match port {
                AnyOr::One(port) => write!(f, ":{port}")?,
                AnyOr::Any => f.write_str(":*")?,
            }
            match reach {
                reach if reach == host.own_reach() => {}
                Reach::Anywhere => f.write_str(" +private")?,
                Reach::Public => f.write_str(" -private")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Authorities, ScopeError> {
        Authorities::parse(text, Form::Stored)
    }

    fn check(scope: &str, shown: &str, covered: &[(&str, &str, u16)], not: &[(&str, &str, u16)]) {
        let authorities = parse(scope).unwrap();
        assert_eq!(authorities.to_string(), shown, "{scope}");
        assert_eq!(parse(shown), Ok(authorities.clone()), "{scope}");
        for (requests, expected) in [(covered, true), (not, false)] {
            for (method, host, port) in requests {
                let reach = authorities.reach(method, &Authority::new(host, *port).unwrap());
                assert_eq!(reach.is_some(), expected, "{scope}: {method} {host} {port}");
            }
        }
    }

    #[test]
    fn a_host_alone_is_reading_over_https() {
        let not =
            [("POST", "a.b", 443), ("GET", "a.b", 80), ("GET", "x.a.b", 443), ("GET", "b", 443), ("get", "a.b", 443)];
        check("A.B.", "a.b:443", &[("GET", "a.b", 443), ("HEAD", "A.b.", 443)], &not);
    }

    #[test]
    fn a_suffix_covers_any_depth_but_not_itself() {
        let covered = [("GET", "x.a.b", 443), ("GET", "y.x.a.b", 443)];
        check("*.a.b", "*.a.b:443", &covered, &[("GET", "a.b", 443), ("GET", "xa.b", 443), ("GET", "b", 443)]);
    }

    // promise http.checked
    #[test]
    fn ports_and_methods_are_part_of_a_grant() {
        check("a:8080", "a:8080", &[("GET", "a", 8080)], &[("GET", "a", 443)]);
        check("post+get a:*", "GET+POST a:*", &[("POST", "a", 1), ("GET", "a", 2)], &[("HEAD", "a", 1)]);
        check("* a", "* a:443", &[("BREW", "a", 443)], &[("BREW", "a", 80)]);
        check("* *:*", "* *:*", &[("PUT", "127.0.0.1", 9), ("GET", "::1", 80)], &[]);
        check(
            "[::1]:80,[::2]",
            "[::1]:80,[::2]:443",
            &[("GET", "::1", 80), ("GET", "[::2]", 443)],
            &[("GET", "::1", 443)],
        );
    }

    #[test]
    fn authorities_that_mean_the_same_are_written_once() {
        check("GET a,HEAD a", "a:443", &[], &[]);
        check("a,*.b,x.b -private,* *:* +private", "* *:* +private", &[], &[]);
        check("a,a -private", "a:443", &[], &[]);
        check("a -private,* +private", "*:443 +private", &[], &[]);
        check("a,*", "a:443,*:443", &[], &[]);
    }

    // promise http.private: This machine, private, link-local and reserved addresses need a grant that names the host
    //   or says `+private`; patterns reach public addresses only.
    #[test]
    fn only_what_is_written_out_reaches_private_networks_by_itself() {
        let reach = |scope: &str| parse(scope).unwrap().reach("GET", &Authority::new("a.b", 443).unwrap());
        for scope in ["a.b", "*,a.b", "*.b +private", "* +private"] {
            assert_eq!(reach(scope), Some(Reach::Anywhere), "{scope}");
        }
        for scope in ["*", "*.b", "a.b -private", "POST a.b,*"] {
            assert_eq!(reach(scope), Some(Reach::Public), "{scope}");
        }
        let met = parse("a.b").unwrap().meet(&parse("*").unwrap()).unwrap();
        assert_eq!(met.to_string(), "a.b:443 -private");
    }

    #[test]
    fn http_servers_are_named_and_public_only_when_every_item_is() {
        for (scope, expected) in [
            ("a.b -private", true),
            ("GET a.b -private,POST c:8080 -private", true),
            ("a.b", false),
            ("127.0.0.1:80", false),
            ("*.a.b", false),
            ("* *:*", false),
            ("a.b -private,*:443", false),
            ("a.b -private,c +private", false),
        ] {
            assert_eq!(parse(scope).unwrap().are_named_and_public(), expected, "{scope}");
        }
        for (scope, expected) in
            [("a.b,*.c:443,*", false), ("a.b,10.0.0.1", true), ("[::ffff:127.0.0.1]:80", true), ("*.c +private", true)]
        {
            assert_eq!(parse(scope).unwrap().has_private(), expected, "{scope}");
        }
    }

    #[test]
    fn http_part_at_the_hosts_of_a_request_is_public_and_no_wider_than_the_whole() {
        let part = |whole: &str, asked: &str| {
            let part = parse(whole).unwrap().at_hosts_of(&parse(asked).unwrap());
            part.map(|part| part.to_string()).unwrap_or_default()
        };
        for (whole, asked, expected) in [
            ("GET+HEAD *:* +private", "GET a.b:443 -private", "a.b:* -private"),
            ("* *:* +private", "GET a.b -private,POST c -private", "* a.b:* -private,* c:* -private"),
            ("*.b:443", "GET a.b:80", "a.b:443 -private"),
            ("*:* +private", "GET 127.0.0.1:80", "127.0.0.1:* -private"),
            ("*.b", "a.c", ""),
            ("*:*", "*:*", ""),
            ("*:*", "*.b", ""),
        ] {
            assert_eq!(part(whole, asked), expected, "{whole} at {asked}");
        }
    }

    #[test]
    fn http_servers_are_put_into_words() {
        for (scope, words) in [
            ("GET a.b", "GET requests to `a.b:443`"),
            ("a.b:* -private", "GET and HEAD requests to `a.b` at any port"),
            ("* [::1]:8", "requests to `[::1]:8`"),
            ("POST+PUT+GET *.b", "GET, POST and PUT requests to `*.b:443`"),
            ("GET *,* *:* +private", "requests to any server"),
            ("GET a,POST b", "GET requests to `a:443`; POST requests to `b:443`"),
        ] {
            assert_eq!(parse(scope).unwrap().in_words(), words, "{scope}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "+private",
            "a b c",
            "G=T a",
            "+ a",
            "a:0",
            "a:65536",
            "a:+80",
            "a:",
            ":80",
            "*.",
            "*a.b",
            "a.*",
            "*.*",
            "*.1.2.3.4",
            "*.[::1]",
            "1.2.3",
            "http://a",
            "a/b",
            "GET a -public",
            "::1",
            "::1:80",
            "[::1]80",
            "GET,",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&format!("{} a", vec!["GET"; METHOD_LIMIT + 1].join("+"))).is_err());
    }
}

//! Git's repositories on other machines, which git reaches over ssh with the user's keys.
//!
//! Written as `ssh://[USER@]HOST[:PORT][ +push][ +private]`; `ssh://*` is any. Fetching and sending are different:
//! without `+push` nothing is sent. A server that a program may connect to says nothing about this, and the other way
//! round: over ssh the host acts with keys of the user, which the program never has.

use std::fmt;

use crate::antichain::Element;
use crate::authorities::Reach;
use crate::authority::{Authority, bracketed};
use crate::error::ScopeError;
use crate::visible::visible;

/// The beginning of the name.
const SCHEME: &str = "ssh://";

/// The port where none is named.
const PORT: u16 = 22;

/// The longest name of a user, in characters, as `useradd` takes it.
const USER_LIMIT: usize = 32;

/// What git does with a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GitDirection {
    /// It fetches from there.
    Fetch,
    /// It sends to there.
    Push,
}

/// One use of the repositories on a server, over ssh.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitRemote {
    user: Option<String>,
    server: Authority,
    direction: GitDirection,
}

/// What a program may do with git's repositories over ssh.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GitAccess {
    /// `None` for any user on any server.
    at: Option<(Option<String>, Authority)>,
    direction: GitDirection,
    reach: Reach,
}

impl GitRemote {
    /// Takes a user of ASCII letters, digits, `.`, `_` and `-`, and a host as [`Authority::new`] does; `None` for the
    /// usual user and port. Returns `None` if one of them is none of these.
    pub fn new(user: Option<&str>, host: &str, port: Option<u16>, direction: GitDirection) -> Option<Self> {
        let server = Authority::new(host, port.unwrap_or(PORT)).ok().filter(|server| server.port() != 0)?;
        let is_usual = user.is_none_or(is_user);
        is_usual.then(|| Self { user: user.map(str::to_owned), server, direction })
    }

    /// The server.
    pub fn server(&self) -> &Authority {
        &self.server
    }

    /// What git does there.
    pub fn direction(&self) -> GitDirection {
        self.direction
    }

    /// Returns `[USER@]HOST[:PORT]`, without the usual port.
    pub fn at(&self) -> String {
        at(self.user.as_deref(), &self.server)
    }
}

/// As a grant names it.
impl fmt::Display for GitRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}{}", self.at(), self.direction.suffix())
    }
}

impl GitDirection {
    fn suffix(self) -> &'static str {
        match self {
            Self::Fetch => "",
            Self::Push => " +push",
        }
    }
}

fn at(user: Option<&str>, server: &Authority) -> String {
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    match server.port() {
        PORT => format!("{user}{}", bracketed(server.host())),
        _ => format!("{user}{server}"),
    }
}

fn is_user(user: &str) -> bool {
    (1..=USER_LIMIT).contains(&user.len())
        && !user.starts_with('-')
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

impl GitAccess {
    /// Whether the first word is the beginning of such a name.
    pub(crate) fn is_named(word: &str) -> bool {
        word.starts_with(SCHEME)
    }

    /// Parses `ssh://[USER@]HOST[:PORT]` or `ssh://*`, and the words behind it.
    pub(crate) fn parse(words: &[&str], whole: &str) -> Result<Self, ScopeError> {
        let invalid = || ScopeError::Remote { text: visible(whole) };
        let (name, behind) = words.split_first().ok_or_else(invalid)?;
        let (mut direction, mut reach) = (None, None);
        for word in behind {
            let is_new = match *word {
                "+push" => direction.replace(GitDirection::Push).is_none(),
                "+private" => reach.replace(Reach::Anywhere).is_none(),
                "-private" => reach.replace(Reach::Public).is_none(),
                _ => false,
            };
            if !is_new {
                return Err(invalid());
            }
        }
        // The narrower of each where nothing is said.
        let (direction, reach) = (direction.unwrap_or(GitDirection::Fetch), reach.unwrap_or(Reach::Public));
        let name = name.strip_prefix(SCHEME).ok_or_else(invalid)?;
        if name == "*" {
            return Ok(Self { at: None, direction, reach });
        }
        let (user, server) = match name.split_once('@') {
            Some((user, server)) => (Some(user), server),
            None => (None, name),
        };
        let (host, port) = match server.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                let digits = port.bytes().all(|byte| byte.is_ascii_digit());
                (host, Some(port.parse().ok().filter(|_| digits).ok_or_else(invalid)?))
            }
            _ => (server, None),
        };
        // Without brackets, which of an address's numbers is the port would be a guess.
        if host.contains(':') && !host.starts_with('[') {
            return Err(invalid());
        }
        let remote = GitRemote::new(user, host, port, direction).ok_or_else(invalid)?;
        Ok(Self { at: Some((remote.user, remote.server)), direction, reach })
    }

    /// Creates the access to all repositories on all servers.
    pub(crate) fn any() -> Self {
        Self { at: None, direction: GitDirection::Push, reach: Reach::Anywhere }
    }

    /// Returns the reach of a use; `None` if it is not covered.
    pub(crate) fn reach_of(&self, remote: &GitRemote) -> Option<Reach> {
        let is_there = self.at.as_ref().is_none_or(|(user, server)| *user == remote.user && *server == remote.server);
        (is_there && remote.direction <= self.direction).then_some(self.reach)
    }
}

impl fmt::Display for GitAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.as_ref().map_or_else(|| "*".to_owned(), |(user, server)| at(user.as_deref(), server));
        let reach = if self.reach == Reach::Anywhere { " +private" } else { "" };
        write!(f, "{SCHEME}{at}{}{reach}", self.direction.suffix())
    }
}

impl Element for GitAccess {
    fn meet(&self, other: &Self) -> Option<Self> {
        let at = match (&self.at, &other.at) {
            (Some(mine), Some(theirs)) if mine != theirs => return None,
            (Some(one), _) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        };
        Some(Self { at, direction: self.direction.min(other.direction), reach: self.reach.min(other.reach) })
    }

    fn is_below(&self, other: &Self) -> bool {
        (other.at.is_none() || self.at == other.at) && self.direction <= other.direction && self.reach <= other.reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<GitAccess, ScopeError> {
        GitAccess::parse(&text.split(' ').collect::<Vec<_>>(), text)
    }

    #[test]
    fn git_access_has_one_spelling_and_is_read_back() {
        for (text, shown) in [
            ("ssh://git@Example.ORG", "ssh://git@example.org"),
            ("ssh://git@example.org.:22", "ssh://git@example.org"),
            ("ssh://example.org:443 +push", "ssh://example.org:443 +push"),
            ("ssh://a.b_c-d@[::1]:2222 +private +push", "ssh://a.b_c-d@[::1]:2222 +push +private"),
            ("ssh://my_host -private", "ssh://my_host"),
            ("ssh://* +push", "ssh://* +push"),
        ] {
            let access = parse(text).expect(text);
            assert_eq!(access.to_string(), shown);
            assert_eq!(parse(shown), Ok(access));
        }
        for text in [
            "ssh://",
            "ssh://@h",
            "ssh://-a@h",
            "ssh://a@-h",
            "ssh://-oProxyCommand=x",
            "ssh://a b",
            "ssh://a@b@c",
            "ssh://a:b@c",
            "ssh://h:",
            "ssh://h:0",
            "ssh://h:+22",
            "ssh://h:65536",
            "ssh://h/path",
            "ssh://*.h",
            "ssh://*:22",
            "ssh://git@*",
            "ssh://127.1",
            "ssh://::1",
            "ssh://h\n",
            "ssh://h +push +push",
            "ssh://h +pull",
            "SSH://h",
            "git@h",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn git_access_covers_only_its_user_its_server_and_its_direction() {
        let remote = |user, host, port, direction| GitRemote::new(user, host, port, direction).expect("valid");
        let fetch = parse("ssh://git@h.org").expect("valid");
        let push = parse("ssh://git@h.org +push").expect("valid");
        let fetching = remote(Some("git"), "H.org", Some(22), GitDirection::Fetch);
        let pushing = remote(Some("git"), "h.org", None, GitDirection::Push);
        assert_eq!(fetch.reach_of(&fetching), Some(Reach::Public));
        assert_eq!(fetch.reach_of(&pushing), None);
        assert!(push.reach_of(&fetching).is_some() && push.reach_of(&pushing).is_some());
        for other in [
            remote(None, "h.org", None, GitDirection::Fetch),
            remote(Some("root"), "h.org", None, GitDirection::Fetch),
            remote(Some("git"), "h.org", Some(2222), GitDirection::Fetch),
            remote(Some("git"), "a.h.org", None, GitDirection::Fetch),
        ] {
            assert_eq!(push.reach_of(&other), None, "{other}");
            assert!(GitAccess::any().reach_of(&other).is_some());
        }
        assert!(fetch.is_below(&push) && !push.is_below(&fetch) && push.is_below(&GitAccess::any()));
        assert_eq!(push.meet(&parse("ssh://* +private").expect("valid")), Some(fetch));
        assert_eq!(push.meet(&parse("ssh://h.org +push").expect("valid")), None);
        assert_eq!(pushing.to_string(), "ssh://git@h.org +push");
    }
}

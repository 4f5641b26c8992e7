//! The kinds of things that a plugin may touch, and small sets of them.
//!
//! Each is one interface of the package `host:cap`. Which files, programs or hosts exactly is the scope's matter.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::visible::visible;

/// A kind of thing that a plugin may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Reading files.
    FsRead,
    /// Changing files.
    FsWrite,
    /// Running programs outside the sandbox.
    Process,
    /// Fetching over HTTP.
    Http,
    /// Keeping small things between calls.
    State,
    /// Calling the tools of MCP servers.
    Mcp,
    /// Calling other tools of the session.
    Tools,
}

impl Capability {
    /// All of them, in their order.
    pub const ALL: [Self; 7] =
        [Self::FsRead, Self::FsWrite, Self::Process, Self::Http, Self::State, Self::Mcp, Self::Tools];

    /// All of them, by how much a plugin can do with them: a program can do what its user can, and what is sent is
    /// gone.
    pub const STRONGEST_FIRST: [Self; 7] =
        [Self::Process, Self::FsWrite, Self::Http, Self::Mcp, Self::Tools, Self::FsRead, Self::State];

    /// Returns what a table has by the names of capabilities, the strongest first; names that this host does not know
    /// come last.
    pub fn strongest_first<V>(by_name: &BTreeMap<String, V>) -> impl Iterator<Item = (&str, &V)> {
        let known = Self::STRONGEST_FIRST.into_iter().filter_map(|it| by_name.get_key_value(it.name()));
        let unknown = by_name.iter().filter(|(name, _)| name.parse::<Self>().is_err());
        known.chain(unknown).map(|(name, value)| (name.as_str(), value))
    }

    /// Returns its name in manifests, flags and messages, which is also the name of its interface in `host:cap`.
    pub fn name(self) -> &'static str {
        match self {
            Self::FsRead => "fs-read",
            Self::FsWrite => "fs-write",
            Self::Process => "process",
            Self::Http => "http",
            Self::State => "state",
            Self::Mcp => "mcp",
            Self::Tools => "tools",
        }
    }

    /// Returns whether it always allows more than reading, whatever its scope: files, programs and servers can be
    /// changed through it. `State` and `Mcp` are false here, since their grants can be for reading alone, and `Tools`
    /// is, since each call that is made through it has grants of its own.
    pub fn changes(self) -> bool {
        match self {
            Self::FsWrite | Self::Process | Self::Http => true,
            Self::FsRead | Self::State | Self::Mcp | Self::Tools => false,
        }
    }

    fn bit(self) -> u8 {
        match self {
            Self::FsRead => 1,
            Self::FsWrite => 1 << 1,
            Self::Process => 1 << 2,
            Self::Http => 1 << 3,
            Self::State => 1 << 4,
            Self::Mcp => 1 << 5,
            Self::Tools => 1 << 6,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no capability `{name}`; the capabilities are `fs-read`, `fs-write`, `process`, `http`, `state`, `mcp` \
         and `tools`"
)]
pub struct UnknownCapability {
    /// The text, safe for a terminal.
    pub name: String,
}

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(name: &str) -> Result<Self, UnknownCapability> {
        let known = Self::ALL.into_iter().find(|capability| capability.name() == name);
        known.ok_or_else(|| UnknownCapability { name: visible(name) })
    }
}

/// A set of capabilities, small enough to be copied and to be the key of a linker.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilitySet(u8);

impl CapabilitySet {
    /// The set without any.
    pub const EMPTY: Self = Self(0);

    /// Returns whether it contains the capability.
    pub fn contains(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Puts the capability into it.
    pub fn insert(&mut self, capability: Capability) {
        self.0 |= capability.bit();
    }

    /// Returns whether it is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over its capabilities, in their order.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.contains(*capability))
    }
}

impl FromIterator<Capability> for CapabilitySet {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        let mut set = Self::EMPTY;
        capabilities.into_iter().for_each(|capability| set.insert(capability));
        set
    }
}

impl fmt::Debug for CapabilitySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Capability::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_as_its_capability() {
        for capability in Capability::ALL {
            assert_eq!(capability.name().parse(), Ok(capability));
            let json = serde_json::to_string(&capability).unwrap();
            assert_eq!(json, format!("\"{capability}\""));
            assert_eq!(serde_json::from_str::<Capability>(&json).unwrap(), capability);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        let error = "fs-reed\u{1b}[2J".parse::<Capability>().unwrap_err().to_string();
        for capability in Capability::ALL {
            assert!(error.contains(capability.name()), "{error}");
        }
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        for bits in 0..1_u8 << Capability::ALL.len() {
            let chosen: Vec<_> =
                Capability::ALL.into_iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, c)| c).collect();
            let set: CapabilitySet = chosen.iter().copied().collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), chosen);
            assert_eq!(set.is_empty(), chosen.is_empty());
        }
    }
}

//! All that a plugin may touch.
//!
//! Grants are ordered by what they permit, and cut by [`Grants::meet`]. What a call gets is what its plugin requests,
//! met with what the user grants, with the session's policy, and with what the agent's parent has.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Capability, CapabilitySet, Scope, StateAccess};

/// All that a plugin may touch: for each capability at most one scope.
///
/// As JSON or TOML it is a table from the capability's name to the scope's absolute text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grants {
    /// Each scope under its own capability.
    scopes: BTreeMap<Capability, Scope>,
}

impl Grants {
    /// Creates empty grants: no file, no program, no server, no state. Every plugin starts with them.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns these grants, extended by the scope.
    #[must_use]
    pub fn with(mut self, scope: Scope) -> Self {
        let capability = scope.capability();
        let joined = self.scopes.get(&capability).and_then(|held| held.join(&scope));
        self.scopes.insert(capability, joined.unwrap_or(scope));
        self
    }

    /// Returns the grants that permit what either permits.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        other.iter().cloned().fold(self.clone(), Self::with)
    }

    /// Returns the grants that permit what both permit.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let both = |scope: &Scope| scope.meet(other.scope(scope.capability())?);
        self.iter().filter_map(both).collect()
    }

    /// Returns whether the other permits all that this permits. It can be false although the other does, if two
    /// differently written deny globs mean the same.
    pub fn le(&self, other: &Self) -> bool {
        self.iter().all(|scope| other.scope(scope.capability()).is_some_and(|wider| scope.le(wider)))
    }

    /// Returns whether anything is granted for the capability.
    pub fn has(&self, capability: Capability) -> bool {
        self.scopes.contains_key(&capability)
    }

    /// Returns the granted scope of the capability.
    pub fn scope(&self, capability: Capability) -> Option<&Scope> {
        self.scopes.get(&capability)
    }

    /// Returns the capabilities for which anything is granted.
    pub fn capabilities(&self) -> CapabilitySet {
        self.scopes.keys().copied().collect()
    }

    /// Returns the part that only reads: the readable files, reading the plugin's own state, the tools of MCP servers
    /// that the host knows to read, and calling other tools, each of which has grants of its own. Fetching is not part
    /// of it, since a URL can leak what was read.
    #[must_use]
    pub fn reading(&self) -> Self {
        let reading = |scope: &Scope| match scope {
            Scope::FsRead(paths) => Some(Scope::FsRead(paths.clone())),
            Scope::State(_) => Some(Scope::State(StateAccess::Read)),
            Scope::Mcp(tools) => Some(Scope::Mcp(tools.reading())),
            // Each call that is made through it passes the gate with grants of its own, which are for reading, too.
            Scope::Tools(tools) => Some(Scope::Tools(tools.clone())),
            Scope::FsWrite(_) | Scope::Process(_) | Scope::Http(_) => None,
        };
        self.iter().filter_map(reading).collect()
    }

    /// The scopes, in the order of their capabilities.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.values()
    }
}

impl FromIterator<Scope> for Grants {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        scopes.into_iter().fold(Self::none(), Self::with)
    }
}

/// For people: `fs-read=/w http=example.com:443`, or `nothing`.
impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scopes.is_empty() {
            return f.write_str("nothing");
        }
        for (at, scope) in self.iter().enumerate() {
            write!(f, "{}{}={scope}", if at > 0 { " " } else { "" }, scope.capability())?;
        }
        Ok(())
    }
}

impl Serialize for Grants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|scope| (scope.capability(), scope.to_string())))
    }
}

impl<'de> Deserialize<'de> for Grants {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = BTreeMap::<Capability, String>::deserialize(deserializer)?;
        let scope = |(capability, text): (Capability, String)| Scope::parse_absolute(capability, &text);
        texts.into_iter().map(scope).collect::<Result<_, _>>().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn grants(all: &[(&str, &str)]) -> Grants {
        let scope = |(name, text): &(&str, &str)| {
            Scope::parse(name.parse().unwrap(), text, Path::new("/w")).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        all.iter().map(scope).collect()
    }

    fn everything() -> Grants {
        grants(&[
            ("fs-read", "*"),
            ("fs-write", "*"),
            ("process", "*"),
            ("http", "* *:* +private"),
            ("state", "*"),
            ("mcp", "*"),
            ("tools", "*"),
        ])
    }

    // promise plugin.nothing: Nothing is granted by default.
    #[test]
    fn nothing_is_granted_by_default() {
        assert_eq!(Grants::none(), Grants::default());
        assert!(Grants::none().capabilities().is_empty());
        assert_eq!(Grants::none().to_string(), "nothing");
        assert_eq!(everything().meet(&Grants::none()), Grants::none());
    }

    #[test]
    fn the_same_capability_twice_covers_both() {
        let both = grants(&[("process", "git"), ("process", "ls"), ("state", "write"), ("state", "read")]);
        assert_eq!(both.to_string(), "process=git,ls state=write");
        assert_eq!(grants(&[("process", "git")]).join(&grants(&[("process", "ls"), ("state", "write")])), both);
    }

    #[test]
    fn a_meet_keeps_what_both_have() {
        let requested = grants(&[("fs-read", "."), ("http", "*"), ("state", "write")]);
        let granted = grants(&[("fs-read", "src"), ("process", "*"), ("state", "read"), ("http", "a:80")]);
        assert_eq!(requested.meet(&granted).to_string(), "fs-read=/w/src state=read");
    }

    // promise plugin.preview
    #[test]
    fn reading_leaves_nothing_that_changes_or_reaches_out() {
        let reading = everything().reading();
        assert_eq!(reading.to_string(), "fs-read=/ state=read mcp=* read tools=*");
        assert!(!reading.capabilities().iter().any(Capability::changes));
    }

    #[test]
    fn grants_survive_the_session_log() {
        let some = grants(&[("fs-read", ".,!.env;/data"), ("process", "cargo test --"), ("http", "POST+GET a")]);
        let json = serde_json::to_string(&some).unwrap();
        let fs = r#""fs-read":"/data;/w,!'/**/.env'""#;
        assert_eq!(json, format!(r#"{{{fs},"process":"cargo test --","http":"GET+POST a:443"}}"#));
        assert_eq!(serde_json::from_str::<Grants>(&json).unwrap(), some);
        for bad in [r#"{"fs-read":"src"}"#, r#"{"fs":"/"}"#, r#"{"http":""}"#, r#"{"state":1}"#] {
            assert!(serde_json::from_str::<Grants>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn grants_written_within_the_limits_are_read_back() {
        let deep = format!("/{}", "directory/".repeat(60));
        let many: Vec<String> = (0..63).map(|n| format!("r{n}")).collect();
        let scope = Scope::parse(Capability::FsRead, &(many.join(",") + ",!a/b"), Path::new(&deep)).unwrap();
        let all = Grants::none().with(scope);
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Grants>(&json).unwrap(), all);
    }
}

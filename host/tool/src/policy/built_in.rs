//! The rules that the host comes with: the lowest tier, so that anyone's rule wins over them.

use super::{Policy, PolicyFile, Rule, Tier};

/// The rules, as a file has them.
const TEXT: &str = include_str!("built_in.toml");

impl Policy {
    /// The rules that the host comes with.
    ///
    /// What needs to know a program's options is in code beside them: destroying what git keeps is asked about, and
    /// nothing changes version control's own folders, the host's, and the files that a shell starts with.
    pub fn built_in() -> Vec<Rule> {
        let source = PolicyFile { tier: Tier::BuiltIn, path: None };
        Self::parse(TEXT, source).expect("a test reads the file that is built in")
    }
}

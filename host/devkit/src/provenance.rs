//! Provenance of built components, so that others can build them again and compare.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The file next to built components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The compiler, as `rustc --version` says it. Another one makes other bytes.
    pub compiler: String,
    /// The target that was built for.
    pub target: String,
    /// The version of the library that made components of the compiler's modules.
    pub componentizer: String,
    /// Each plugin, by name.
    pub plugins: BTreeMap<String, ProvenanceEntry>,
}

/// Provenance of one component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenanceEntry {
    /// SHA-256 over the names and digests of all source files of this repository that went into it.
    pub sources: String,
    /// The component's size in bytes.
    pub size: usize,
    /// The component's SHA-256.
    pub sha256: String,
}

impl Provenance {
    /// The file's text: the same for the same provenance.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("it is plain data with text for keys");
        json.push('\n');
        json
    }
}

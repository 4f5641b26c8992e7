//! Provenance of built components, so that others can build them again and compare.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The file next to built components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Who built the components.
    #[serde(default, skip_serializing_if = "Origin::is_built")]
    pub origin: Origin,
    /// The compiler, as `rustc --version` says it. Another one makes other bytes. Of an adopted component what it says
    /// itself.
    pub compiler: String,
    /// The target that was built for; `unknown` if the component was adopted.
    pub target: String,
    /// The version of the library that made components of the compiler's modules; `unknown` if the component was
    /// adopted.
    pub componentizer: String,
    /// Each plugin, by name.
    pub plugins: BTreeMap<String, ProvenanceEntry>,
}

/// Who built components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// `host plugin build`, from the sources.
    #[default]
    Built,
    /// Somebody else: `host plugin adopt` took the component as it was.
    Adopted,
}

impl Origin {
    fn is_built(&self) -> bool {
        match self {
            Self::Built => true,
            Self::Adopted => false,
        }
    }
}

/// Provenance of one component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenanceEntry {
    /// SHA-256 over the names and digests of all source files that went into it; `unknown` if it was adopted.
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

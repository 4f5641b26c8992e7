//! A plugin in an index: what a user compares before installing it.
//!
//! Promises: every text is bounded; where the bundle is cannot lead out of the folder of the index.

use std::collections::BTreeMap;

use host_capability::Capability;
use host_manifest::{cut, is_name};
use host_plugin::MAX_TOOLS;
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::oci::OciDigest;
use crate::signature::{KeyId, PublicKey};

/// Characters of a description. Protects the line that it is shown on.
const MAX_WORDS: usize = 500;
/// Characters of a scope, a licence and an address. Protects what shows them.
const MAX_TEXT: usize = 1_000;
/// Keys of a plugin.
const MAX_KEYS: usize = 16;

/// A version of a plugin in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexEntry {
    /// The name, `PUBLISHER/NAME`.
    pub name: String,
    /// The version.
    #[schemars(with = "String")]
    pub version: Version,
    /// The publisher: the part of the name before the slash.
    pub publisher: String,
    /// The description of the plugin, in one line.
    pub description: String,
    /// Its licence, as an SPDX expression.
    pub license: String,
    /// Where the bundle is: `REGISTRY/REPOSITORY:TAG`, an `https` address, or a file beside the index.
    pub source: String,
    /// The digest of the bundle. Nothing else is installed under this name.
    #[schemars(with = "String")]
    pub digest: OciDigest,
    /// The public keys that signed the bundle, to be compared with those that its publisher names. They do not count
    /// until the user trusts them.
    #[schemars(with = "Vec<String>")]
    pub keys: Vec<PublicKey>,
    /// The scopes that it requests, by capability.
    pub capabilities: BTreeMap<String, String>,
    /// Its tools.
    pub tools: Vec<IndexTool>,
}

/// A tool of a plugin in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexTool {
    /// Its name.
    pub name: String,
    /// The beginning of its description.
    pub description: String,
}

/// A bundle without a signature that counts, which no index takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` has no signature by a key that you trust for it")]
pub struct UnsignedBundle(pub String);

impl IndexEntry {
    /// The entry of a bundle that these keys signed, and that will be found at this place.
    ///
    /// # Errors
    ///
    /// When there are no keys.
    pub fn from_bundle(bundle: &Bundle, keys: Vec<PublicKey>, source: String) -> Result<Self, UnsignedBundle> {
        let manifest = bundle.manifest();
        let publisher = bundle.publisher().filter(|_| !keys.is_empty());
        let publisher = publisher.ok_or_else(|| UnsignedBundle(bundle.statement()))?.to_owned();
        let short = |text: &str| text.chars().take(MAX_WORDS).collect::<String>();
        let tools = manifest.tools.iter().map(|tool| IndexTool {
            name: tool.spec.name.to_string(),
            description: short(tool.spec.description.lines().next().unwrap_or_default()),
        });
        let asked = |(name, declared): (&String, &host_manifest::Declared)| (name.clone(), declared.scope.clone());
        Ok(Self {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            publisher,
            description: short(manifest.description.as_deref().unwrap_or_default()),
            license: manifest.license.clone(),
            source,
            digest: bundle.digest().clone(),
            keys,
            capabilities: manifest.capabilities.iter().map(asked).collect(),
            tools: tools.collect(),
        })
    }

    /// Returns the ids of its keys.
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.keys.iter().map(PublicKey::id).collect()
    }

    /// Returns whether one of its keys signed a bundle. Whether that key counts for it is another question.
    pub fn is_signed(&self, bundle: &Bundle) -> bool {
        let statement = bundle.statement();
        let by = |key: &PublicKey| {
            bundle.signatures().iter().any(|it| it.check(key, bundle.signed_bytes(), &statement).is_ok())
        };
        self.keys.iter().any(by)
    }

    /// Returns how a bundle differs from what the entry says of it; `None` if it does not.
    pub fn difference(&self, bundle: &Bundle) -> Option<String> {
        let manifest = bundle.manifest();
        let differs = |what: &str, found: &str, said: &str| {
            Some(format!("the bundle's {what} is `{}`, and the index says `{}`", cut(found), cut(said)))
        };
        if *bundle.digest() != self.digest {
            return differs("digest", bundle.digest().as_str(), self.digest.as_str());
        }
        if manifest.name != self.name {
            return differs("name", &manifest.name, &self.name);
        }
        if manifest.version != self.version {
            return differs("version", &manifest.version.to_string(), &self.version.to_string());
        }
        let asked = |scopes: &mut dyn Iterator<Item = (&String, &String)>| {
            scopes.map(|(name, scope)| format!("{name}={scope}")).collect::<Vec<_>>().join(" ")
        };
        let found = asked(&mut manifest.capabilities.iter().map(|(name, declared)| (name, &declared.scope)));
        let said = asked(&mut self.capabilities.iter());
        if found != said { differs("list of requests", &found, &said) } else { None }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let (publisher, name) = self.name.split_once('/').unwrap_or_default();
        if !is_name(publisher) || !is_name(name) {
            return Err("its name is not PUBLISHER/NAME".to_owned());
        }
        // Said twice, for readers that show one of the two; both must be the same.
        if publisher != self.publisher {
            return Err(format!("its publisher is `{}`", cut(&self.publisher)));
        }
        for (what, text) in [("description", &self.description), ("licence", &self.license), ("source", &self.source)] {
            // An index can have thousands of entries, all of which are shown.
            if text.trim().is_empty() || text.chars().count() > MAX_TEXT {
                return Err(format!("its {what} is empty or has over {MAX_TEXT} characters"));
            }
        }
        // Without a key nobody could compare who signed the bundle.
        if self.keys.is_empty() || self.keys.len() > MAX_KEYS {
            return Err(format!("it has {} keys, and not 1 to {MAX_KEYS}", self.keys.len()));
        }
        for (name, scope) in &self.capabilities {
            // An unknown one could not be explained to a user.
            if name.parse::<Capability>().is_err() || scope.chars().count() > MAX_TEXT {
                return Err(format!("`{}` is not a capability, or its scope is too long", cut(name)));
            }
        }
        if self.tools.len() > MAX_TOOLS {
            return Err(format!("it has {} tools, over the limit of {MAX_TOOLS}", self.tools.len()));
        }
        let long = |tool: &&IndexTool| tool.name.len() > MAX_WORDS || tool.description.chars().count() > MAX_WORDS;
        if let Some(tool) = self.tools.iter().find(long) {
            return Err(format!("the description of its tool `{}` is too long", cut(&tool.name)));
        }
        Ok(())
    }
}

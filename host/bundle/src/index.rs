//! An index of plugins: what a publisher or a company offers, in one signed file that users search.
//!
//! Promises: an index is read only after a signature of one of the keys that the user named for it was checked over its
//! bytes; everything in it is bounded, no object has the same key twice, and each version of a plugin is listed once. A
//! signature of an index is not valid for a bundle, nor the other way round: each covers a comment that names its kind.
//!
//! Deliberately not here: getting an index (`host-registry`), which one was seen before, and whether a plugin that it
//! names may be installed: an index grants no trust, and a bundle is checked as if there were none.

mod entry;

use std::collections::BTreeSet;

use host_manifest::{check_unique_keys, cut, is_name};
use jiff::Timestamp;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bundle::MINISIG_TYPE;
use crate::listing::AnyManifest;
use crate::oci::{self, Descriptor, EMPTY, EMPTY_TYPE, IMAGE_TYPE, ImageManifest, OciDigest};
use crate::signature::{KeyId, MAX_SIGNATURE, PublicKey, SecretKey, SecretKeyError, Signature, SignatureError};
use crate::trust::Trust;

pub use entry::{IndexEntry, IndexTool, UnsignedBundle};

/// The artifact type of an index in a registry.
pub const PLUGIN_INDEX_TYPE: &str = "application/vnd.host.plugin.index.v1";
/// The media type of an index.
pub const PLUGIN_INDEX_JSON: &str = "application/vnd.host.plugin.index.v1+json";
/// The end of the name of an index's signature, which is beside it, as minisign writes it.
pub const SIGNATURE_END: &str = ".minisig";
/// The largest index. Protects memory and time; ten thousand plugins with few tools stay below.
pub const MAX_PLUGIN_INDEX: u64 = 8 << 20;
/// The largest signature of an index.
pub const MAX_INDEX_SIGNATURE: u64 = MAX_SIGNATURE as u64;

/// The layout of an index that this host reads and writes.
const LAYOUT: u32 = 1;
/// Plugins of an index, each version counted. Protects the search.
const MAX_ENTRIES: usize = 10_000;

/// An index of plugins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "An index of plugins")]
pub struct PluginIndex {
    /// The version of this file's layout; 1.
    pub index: u32,
    /// The name of the index, in the words of its publisher: small letters, digits, `-` and `_`.
    pub name: String,
    /// A number that grows with each edition. An edition with a smaller one than was seen before is reported.
    pub serial: u64,
    /// When this edition was made.
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// The plugins, each version once.
    pub plugins: Vec<IndexEntry>,
}

/// The bytes of an index and the text of its signature, as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIndex {
    /// The bytes of the index.
    pub bytes: Vec<u8>,
    /// The text of its signature.
    pub signature: String,
}

/// Why an index is not used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// None of the user's keys signed it.
    #[error("it is signed by the key {by}, not by {}", listed(keys))]
    OtherKey {
        /// The id in the signature.
        by: KeyId,
        /// The keys that are configured for it.
        keys: Vec<KeyId>,
    },
    /// The key was revoked.
    #[error("its key {key} is revoked: {reason}")]
    Revoked {
        /// The key.
        key: KeyId,
        /// The reason that the user gave.
        reason: String,
    },
    /// The signature does not hold.
    #[error("its signature does not hold: {0}")]
    Signature(#[from] SignatureError),
    /// It has another layout.
    #[error("its layout is {found}, and this host reads {LAYOUT}; use a newer host")]
    Layout {
        /// Its layout.
        found: u64,
    },
    /// It is not an index.
    #[error("it is not an index of plugins: {0}")]
    Malformed(String),
    /// An entry breaks a rule.
    #[error("its entry `{name}` is invalid: {why}")]
    Entry {
        /// The plugin, or as much of it as can be shown.
        name: String,
        /// The rule.
        why: String,
    },
    /// It is too large to be read by anyone.
    #[error("it has {found} bytes, over the limit of {MAX_PLUGIN_INDEX}")]
    TooLarge {
        /// Its size.
        found: u64,
    },
    /// The key makes no signature.
    #[error(transparent)]
    Key(#[from] SecretKeyError),
}

impl PluginIndex {
    /// Makes an index of these plugins, which are put in order.
    pub fn new(name: String, serial: u64, created: Timestamp, mut plugins: Vec<IndexEntry>) -> Self {
        plugins.sort_by(|one, other| (&one.name, &other.version).cmp(&(&other.name, &one.version)));
        Self { index: LAYOUT, name, serial, created, plugins }
    }

    /// Signs it.
    ///
    /// # Errors
    ///
    /// When it is not an index that a host would read, or the system has no random numbers.
    pub fn sign(&self, secret: &SecretKey) -> Result<SignedIndex, IndexError> {
        self.check()?;
        let malformed = |error: serde_json::Error| IndexError::Malformed(error.to_string());
        let mut bytes = serde_json::to_vec_pretty(self).map_err(malformed)?;
        bytes.push(b'\n');
        if bytes.len() as u64 > MAX_PLUGIN_INDEX {
            return Err(IndexError::TooLarge { found: bytes.len() as u64 });
        }
        SignedIndex::sign(bytes, secret)
    }

    /// Reads an index whose signature is not asked for: one that the user is about to replace.
    ///
    /// # Errors
    ///
    /// When it is not an index, or an entry breaks a rule.
    pub fn parse(bytes: &[u8]) -> Result<Self, IndexError> {
        let malformed = |error: serde_json::Error| IndexError::Malformed(cut(&error.to_string()));
        if bytes.len() as u64 > MAX_PLUGIN_INDEX {
            return Err(IndexError::TooLarge { found: bytes.len() as u64 });
        }
        #[derive(Deserialize)]
        struct Layout {
            index: u64,
        }
        check_unique_keys(bytes).map_err(malformed)?;
        let Layout { index } = serde_json::from_slice(bytes).map_err(malformed)?;
        if index != u64::from(LAYOUT) {
            return Err(IndexError::Layout { found: index });
        }
        let index: Self = serde_json::from_slice(bytes).map_err(malformed)?;
        index.check()?;
        Ok(index)
    }

    /// Checks the rules that its types do not hold.
    fn check(&self) -> Result<(), IndexError> {
        if !is_name(&self.name) {
            let why = format!("its name `{}` is not one of a-z, 0-9, `-` and `_`", cut(&self.name));
            return Err(IndexError::Malformed(why));
        }
        if self.plugins.len() > MAX_ENTRIES {
            let why = format!("it has {} plugins, over the limit of {MAX_ENTRIES}", self.plugins.len());
            return Err(IndexError::Malformed(why));
        }
        let (mut versions, mut digests) = (BTreeSet::new(), BTreeSet::new());
        for entry in &self.plugins {
            let invalid = |why: String| IndexError::Entry { name: cut(&entry.name), why };
            entry.check().map_err(invalid)?;
            if !versions.insert((&entry.name, &entry.version)) {
                return Err(invalid(format!("duplicate version {}", entry.version)));
            }
            if !digests.insert(&entry.digest) {
                return Err(invalid(format!("duplicate digest {}", entry.digest)));
            }
        }
        Ok(())
    }
}

impl SignedIndex {
    /// Signs bytes as an index, whatever they are: a reader checks them, since a publisher can sign what it wants.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub fn sign(bytes: Vec<u8>, secret: &SecretKey) -> Result<Self, IndexError> {
        let signature = Signature::make(secret, &bytes, &statement(&bytes))?;
        Ok(Self { bytes, signature: signature.text().to_owned() })
    }

    /// Reads the index, if one of these keys signed it and was not revoked.
    ///
    /// # Errors
    ///
    /// When none of the keys signed it, the key was revoked, or it is not an index.
    pub fn open(&self, keys: &[PublicKey], trust: &Trust) -> Result<PluginIndex, IndexError> {
        let signature = Signature::new(self.signature.as_str())?;
        let by = signature.key_id()?;
        if let Some(revoked) = trust.revocation(by) {
            return Err(IndexError::Revoked { key: by, reason: revoked.reason.clone() });
        }
        let Some(key) = keys.iter().find(|key| key.id() == by) else {
            return Err(IndexError::OtherKey { by, keys: keys.iter().map(PublicKey::id).collect() });
        };
        signature.check(key, &self.bytes, &statement(&self.bytes))?;
        PluginIndex::parse(&self.bytes)
    }

    /// Returns the digest of the index.
    pub fn digest(&self) -> OciDigest {
        OciDigest::of(&self.bytes)
    }

    /// The artifact of an index in a registry: its image manifest, and the blobs that it names.
    pub fn artifact(&self) -> (Vec<u8>, [Vec<u8>; 3]) {
        let signature = self.signature.clone().into_bytes();
        let manifest = ImageManifest {
            schema_version: 2,
            media_type: IMAGE_TYPE.to_owned(),
            artifact_type: PLUGIN_INDEX_TYPE.to_owned(),
            config: Descriptor::new(EMPTY_TYPE, EMPTY),
            layers: vec![
                Descriptor::new(PLUGIN_INDEX_JSON, &self.bytes).titled("index.json"),
                Descriptor::new(MINISIG_TYPE, &signature).titled("index.json.minisig"),
            ],
            subject: None,
            annotations: Default::default(),
        };
        (oci::to_bytes(&manifest), [EMPTY.to_vec(), self.bytes.clone(), signature])
    }

    /// Returns the descriptors of the index and of its signature from the manifest of an artifact.
    ///
    /// # Errors
    ///
    /// When it is not the artifact of an index, or one of them is too large.
    pub fn layers(manifest: &[u8]) -> Result<[Descriptor; 2], IndexError> {
        let malformed = |why: String| IndexError::Malformed(why);
        let manifest: AnyManifest = check_unique_keys(manifest)
            .and_then(|()| serde_json::from_slice(manifest))
            .map_err(|error| malformed(cut(&error.to_string())))?;
        let kind = manifest.artifact_type.as_deref().unwrap_or("nothing");
        if kind != PLUGIN_INDEX_TYPE {
            return Err(malformed(format!("its `artifactType` is `{}`, not `{PLUGIN_INDEX_TYPE}`", cut(kind))));
        }
        let layer = |media_type: &str, limit: u64| {
            let mut all = manifest.layers.iter().flatten().filter(|layer| layer.media_type == media_type);
            let (Some(layer), None) = (all.next(), all.next()) else {
                return Err(malformed(format!("it does not have one layer `{media_type}`")));
            };
            if layer.size > limit {
                return Err(malformed(format!("its layer `{media_type}` has {} bytes, over {limit}", layer.size)));
            }
            layer.descriptor().map_err(malformed)
        };
        Ok([layer(PLUGIN_INDEX_JSON, MAX_PLUGIN_INDEX)?, layer(MINISIG_TYPE, MAX_INDEX_SIGNATURE)?])
    }
}

/// The JSON Schema of an index.
pub fn index_schema() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<PluginIndex>().to_value()
}

/// The trusted comment of an index's signature. No bundle has this one: a plugin's name has no blank.
fn statement(bytes: &[u8]) -> String {
    format!("plugin index {}", OciDigest::of(bytes))
}

fn listed(keys: &[KeyId]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests;

//! The shapes of OCI that a bundle is made of: digests, descriptors, the image manifest, the index, the layout file.
//!
//! Promises: the same value gives the same bytes, and an unknown field of what is signed is an error, so that what was
//! checked is all that there is.
//!
//! Deliberately not here: what the blobs mean (`bundle`), the lists of other clients (`listing`), and the crate
//! `oci-spec`, which keeps annotations in a map without an order, so that the same manifest would have different bytes
//! each time.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The media type of an image manifest.
pub const IMAGE_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an index.
pub const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of a configuration that says nothing: `{}`.
pub const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// The bytes of a configuration that says nothing.
pub(crate) const EMPTY: &[u8] = b"{}";

/// The file at the top of a layout, and what it says.
pub(crate) const LAYOUT_FILE: &str = "oci-layout";
/// The only version of layouts.
pub(crate) const LAYOUT: &str = "{\"imageLayoutVersion\":\"1.0.0\"}";
/// The file that lists the manifests of a layout.
pub(crate) const INDEX_FILE: &str = "index.json";
/// The folder of the blobs.
pub(crate) const BLOBS: &str = "blobs/sha256";

/// A file's name, or what something is called.
pub(crate) const TITLE: &str = "org.opencontainers.image.title";
/// The version of what is packed.
pub(crate) const VERSION: &str = "org.opencontainers.image.version";
/// The licence, as an SPDX expression.
pub(crate) const LICENSES: &str = "org.opencontainers.image.licenses";
/// Annotation with the address of the sources.
pub(crate) const SOURCE: &str = "org.opencontainers.image.source";
/// Annotation with the address of further documentation.
pub(crate) const URL: &str = "org.opencontainers.image.url";
/// A description in one line.
pub(crate) const DESCRIPTION: &str = "org.opencontainers.image.description";

/// A digest as OCI writes it: `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OciDigest(String);

/// A text that is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid digest `{0}`: it must be `sha256:` and 64 characters of 0-9 and a-f")]
pub struct NoDigest(pub String);

impl OciDigest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_sha256(&Sha256::digest(bytes).into())
    }

    /// A digest that was taken elsewhere.
    pub fn from_sha256(bytes: &[u8; 32]) -> Self {
        let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        let digits = halves.filter_map(|half| char::from_digit(half.into(), 16));
        Self("sha256:".chars().chain(digits).collect())
    }

    /// The 32 bytes.
    pub fn to_sha256(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        // Nothing makes a digest but of 64 such digits.
        for (byte, digits) in bytes.iter_mut().zip(self.digits().as_bytes().chunks(2)) {
            *byte = digits.iter().fold(0, |byte, digit| (byte << 4) | (*digit as char).to_digit(16).unwrap_or(0) as u8);
        }
        bytes
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The 64 digits.
    pub fn digits(&self) -> &str {
        self.0.strip_prefix("sha256:").unwrap_or(&self.0)
    }

    /// Returns the blob's path in a layout.
    pub(crate) fn path(&self) -> String {
        format!("{BLOBS}/{}", self.digits())
    }
}

impl FromStr for OciDigest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<Self, NoDigest> {
        let is_one = text.strip_prefix("sha256:").is_some_and(|digits| {
            digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        });
        if is_one { Ok(Self(text.to_owned())) } else { Err(NoDigest(text.chars().take(100).collect())) }
    }
}

impl TryFrom<String> for OciDigest {
    type Error = NoDigest;

    fn try_from(text: String) -> Result<Self, NoDigest> {
        text.parse()
    }
}

impl From<OciDigest> for String {
    fn from(digest: OciDigest) -> Self {
        digest.0
    }
}

impl fmt::Display for OciDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The type, size and digest of a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Descriptor {
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub digest: OciDigest,
    /// Its size in bytes.
    pub size: u64,
    /// The artifact type of a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// The descriptor of these bytes.
    pub fn new(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: OciDigest::of(bytes),
            size: bytes.len() as u64,
            artifact_type: None,
            annotations: BTreeMap::new(),
        }
    }

    /// With the name of the file that it would be.
    pub(crate) fn titled(mut self, title: &str) -> Self {
        self.annotations.insert(TITLE.to_owned(), title.to_owned());
        self
    }

    /// The name of the file that it would be.
    pub(crate) fn title(&self) -> Option<&str> {
        self.annotations.get(TITLE).map(String::as_str)
    }
}

/// An image manifest: of a plugin, or of something that refers to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageManifest {
    /// 2.
    pub schema_version: u32,
    /// [`IMAGE_TYPE`].
    pub media_type: String,
    /// The artifact type.
    pub artifact_type: String,
    /// The configuration.
    pub config: Descriptor,
    /// The files.
    pub layers: Vec<Descriptor>,
    /// The manifest that this one refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// The list of a layout's manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Index {
    /// 2.
    pub schema_version: u32,
    /// [`INDEX_TYPE`].
    #[serde(default = "index_type")]
    pub media_type: String,
    /// The manifests.
    pub manifests: Vec<Descriptor>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Index {
    /// Its bytes: the same for the same index.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

/// The type of an index that does not name it, which OCI allows.
fn index_type() -> String {
    INDEX_TYPE.to_owned()
}

/// The layout file. Other clients may add fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Layout {
    pub(crate) image_layout_version: String,
}

/// The bytes of one of these shapes: the same for the same value.
pub(crate) fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("these shapes are plain data with text for keys")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_in_one_way() {
        let digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let digest = OciDigest::of(b"");
        assert_eq!((digest.digits(), digest.path()), (digits, format!("blobs/sha256/{digits}")));
        assert_eq!(OciDigest::from_sha256(&digest.to_sha256()), digest);
        assert_eq!(format!("sha256:{digits}").parse(), Ok(digest));
        for text in ["", digits, "sha256:", "sha512:00", &format!("sha256:{}", digits.to_uppercase()), "sha256:../../x"]
        {
            assert!(text.parse::<OciDigest>().is_err(), "{text}");
        }
    }
}

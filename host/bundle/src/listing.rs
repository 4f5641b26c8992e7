//! The lists and manifests of other OCI clients, read as leniently as the image specification asks: fields that it does
//! not have are ignored, those that it makes optional may be missing or `null`.
//!
//! Promises: nothing that is signed is read with these types; they only say where to look. Lists are bounded by
//! what is read of them.
//!
//! Deliberately not here: writing; what the host writes has one spelling (`oci`).

use std::collections::BTreeMap;

use host_manifest::{check_unique_keys, cut};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bundle::{KEY_ANNOTATION, check_title};
use crate::oci::{Descriptor, NoDigest, OciDigest, TITLE};

/// The annotation with the name of a manifest in a layout.
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// A manifest or blob that another client lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Its media type; empty if the list has none.
    #[serde(default)]
    pub media_type: String,
    /// Its digest, of any algorithm.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
    /// The artifact type of a manifest. Clients that copy a list leave it out.
    #[serde(default)]
    pub artifact_type: Option<String>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
}

impl Listed {
    /// Returns the key that a signature claims to be made with, as its list says.
    pub fn claimed_key(&self) -> Option<&str> {
        self.annotations.as_ref()?.get(KEY_ANNOTATION).map(String::as_str)
    }

    /// Returns it as the host's own clients need it, if its title is the name of a file.
    pub(crate) fn descriptor(&self) -> Result<Descriptor, String> {
        let title = self.annotations.as_ref().and_then(|annotations| annotations.get(TITLE));
        check_title(title.map(String::as_str)).map_err(|error| error.to_string())?;
        Ok(Descriptor {
            media_type: self.media_type.clone(),
            digest: self.digest.parse().map_err(|error: NoDigest| cut(&error.to_string()))?,
            size: self.size,
            artifact_type: None,
            annotations: BTreeMap::new(),
        })
    }

    /// Returns its name in a layout.
    pub(crate) fn name(&self) -> Option<&str> {
        self.annotations.as_ref()?.get(REF_NAME).map(String::as_str)
    }

    /// Returns whether a layout lists it by this name: alone, or after the repository that it was copied from.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let tag = |known: &str| known.rsplit_once(':').is_some_and(|(_, tag)| tag == name);
        self.name().is_some_and(|known| known == name || tag(known))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    schema_version: u32,
    #[serde(default)]
    manifests: Option<Vec<Listed>>,
}

/// Any manifest or list.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnyManifest {
    #[serde(default)]
    pub(crate) artifact_type: Option<String>,
    #[serde(default)]
    pub(crate) config: Option<Listed>,
    #[serde(default)]
    pub(crate) layers: Option<Vec<Listed>>,
    #[serde(default)]
    pub(crate) subject: Option<Listed>,
    #[serde(default)]
    pub(crate) manifests: Option<Vec<Listed>>,
}

impl AnyManifest {
    /// Returns the blobs that it names.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = &Listed> {
        self.config.iter().chain(self.layers.iter().flatten())
    }

    /// Returns whether it is about the manifest with this digest.
    pub(crate) fn refers_to(&self, digest: &OciDigest) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.digest == digest.as_str())
    }
}

/// Reads a document in which no object has a key twice.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    check_unique_keys(bytes).and_then(|()| serde_json::from_slice(bytes)).map_err(|error| cut(&error.to_string()))
}

/// Reads a list of manifests that another client wrote.
///
/// # Errors
///
/// If it is not a list of version 2.
pub fn listing(bytes: &[u8]) -> Result<Vec<Listed>, String> {
    let Listing { schema_version, manifests } = read(bytes)?;
    match schema_version {
        2 => Ok(manifests.unwrap_or_default()),
        other => Err(format!("its version is {other}, and not 2")),
    }
}

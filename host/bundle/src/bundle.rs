//! A bundle in memory: what a plugin is shipped as, checked, with the signatures that came with it.
//!
//! A bundle is an OCI image manifest whose configuration is the plugin's manifest and whose layers are the component,
//! the README, the licence and each tool's schemas. Signatures are manifests of their own, which refer to it, so that
//! adding one leaves what is signed as it is.
//!
//! Promises: the parts of a `Bundle` always agree: every constructor goes through `from_image`. The same parts give the
//! same bytes.
//!
//! Deliberately not here: whom to believe (`trust`), and files (`unpack` reads them, the binary writes them).

mod check;
mod pack;

use std::collections::BTreeMap;

use host_manifest::Manifest;

use crate::oci::{self, Descriptor, EMPTY, EMPTY_TYPE, IMAGE_TYPE, ImageManifest, OciDigest};
use crate::signature::{SecretKey, SecretKeyError, Signature};

pub use check::ContentError;
pub(crate) use check::check_title;
pub use pack::{PackError, Parts};

/// The artifact type of a plugin's image manifest.
pub const PLUGIN_TYPE: &str = "application/vnd.host.plugin.v1";
/// The media type of a plugin's manifest.
pub const MANIFEST_TYPE: &str = "application/vnd.host.plugin.manifest.v1+json";
/// The media type of a component.
pub const COMPONENT_TYPE: &str = "application/wasm";
/// The media type of a README.
pub const README_TYPE: &str = "text/markdown";
/// The media type of a licence.
pub const LICENSE_TYPE: &str = "text/plain";
/// The media type of a tool's schema.
pub const SCHEMA_TYPE: &str = "application/schema+json";
/// The artifact type of a signature's manifest.
pub const SIGNATURE_TYPE: &str = "application/vnd.host.plugin.signature.v1";
/// The media type of a signature's text.
pub const MINISIG_TYPE: &str = "application/vnd.host.plugin.minisig.v1";

/// The largest image manifest and index. Protects memory before anything of a bundle is known; three files and two
/// schemas for each of 128 tools are a tenth of it.
pub const MAX_IMAGE: u64 = 1 << 20;
/// The largest README and the largest licence. Protects a terminal that shows them.
pub(crate) const MAX_TEXT: u64 = 1 << 20;
/// Signatures that are fetched for a bundle, and that one may have when another is added. Protects the time that
/// fetching them takes; a file has as many as its files allow, and each of a trusted key is checked.
pub const MAX_SIGNATURES: usize = 64;
/// The annotation of a signature's manifest with the id of its key. It is a claim, by which those of trusted keys are
/// fetched first.
pub const KEY_ANNOTATION: &str = "vnd.host.plugin.signature.key";

/// The configuration and all layers of a bundle, by their digests.
pub type BundleFiles = BTreeMap<OciDigest, Vec<u8>>;

/// A plugin as it is shipped.
///
/// `F` is what is at hand of its files: all of them, or the place of its component
/// ([`StoredBundle`](crate::StoredBundle)).
#[derive(Clone, Debug)]
pub struct Bundle<F = BundleFiles> {
    manifest: Manifest,
    image: Vec<u8>,
    digest: OciDigest,
    files: F,
    component: OciDigest,
    readme: Option<OciDigest>,
    license: Option<OciDigest>,
    signatures: Vec<Signature>,
    /// Signatures that its source has, and that were not fetched.
    unread_signatures: usize,
    /// Signatures that were fetched, do not count, and are over the limit.
    left_out_signatures: usize,
}

/// Why a bundle is not signed, or a signature not added.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// There are enough.
    #[error("`{0}` has {MAX_SIGNATURES} signatures already, and a bundle may not have more")]
    TooMany(String),
    /// Nobody could say whose it is.
    #[error("`{0}` has no publisher; name it PUBLISHER/{0} in its plugin.toml, build and pack it again")]
    NoPublisher(String),
    /// The key makes no signature.
    #[error(transparent)]
    Key(#[from] SecretKeyError),
}

impl<F> Bundle<F> {
    /// The plugin's manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The digest of the image manifest: what the bundle is called by, and what its signatures name.
    pub fn digest(&self) -> &OciDigest {
        &self.digest
    }

    /// The image manifest's bytes: what is signed.
    pub fn signed_bytes(&self) -> &[u8] {
        &self.image
    }

    /// The component's own digest.
    pub fn component_digest(&self) -> &OciDigest {
        &self.component
    }

    /// The signatures that came with it. Nothing is known of them before they are checked.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// How many signatures its source has that were not looked at: over the limit, or no signatures of it.
    pub fn unread_signatures(&self) -> usize {
        self.unread_signatures
    }

    /// How many signatures of its source were looked at, do not count, and were left out because of the limit.
    pub fn left_out_signatures(&self) -> usize {
        self.left_out_signatures
    }

    /// Notes how many more signatures its source has: not looked at, and left out.
    pub fn set_other_signatures(&mut self, unread: usize, left_out: usize) {
        (self.unread_signatures, self.left_out_signatures) = (unread, left_out);
    }

    /// The trusted comment of its signatures: name, version and digest.
    pub fn statement(&self) -> String {
        format!("{}@{} {}", self.manifest.name, self.manifest.version, self.digest)
    }

    /// The plugin's publisher: the part of its name before the slash.
    pub fn publisher(&self) -> Option<&str> {
        self.manifest.name.split_once('/').map(|(publisher, _)| publisher)
    }

    /// Adds a signature to the bundle. The signed bytes and the other signatures do not change.
    ///
    /// # Errors
    ///
    /// When the plugin's name has no publisher, or there are [`MAX_SIGNATURES`] signatures already.
    pub fn sign(&mut self, secret: &SecretKey) -> Result<(), SignError> {
        if self.publisher().is_none() {
            return Err(SignError::NoPublisher(self.manifest.name.clone()));
        }
        let signature = Signature::make(secret, &self.image, &self.statement())?;
        self.add_signature(signature)
    }

    /// Adds a signature that was made elsewhere, without trusting it; a signature that the bundle already has is not
    /// added again, whatever its untrusted comment says.
    ///
    /// # Errors
    ///
    /// When there are [`MAX_SIGNATURES`] already.
    pub fn add_signature(&mut self, signature: Signature) -> Result<(), SignError> {
        if self.signatures.len() >= MAX_SIGNATURES && !self.signatures.iter().any(|known| known.is_same(&signature)) {
            return Err(SignError::TooMany(self.manifest.name.clone()));
        }
        self.keep_signature(signature);
        Ok(())
    }

    /// The manifest, and what is at hand of the files.
    pub(crate) fn into_parts(self) -> (Manifest, F) {
        (self.manifest, self.files)
    }

    /// Keeps a signature of a file, unless it is already there. The number of files limits them.
    pub(crate) fn keep_signature(&mut self, signature: Signature) {
        if !self.signatures.iter().any(|known| known.is_same(&signature)) {
            self.signatures.push(signature);
            self.signatures.sort();
        }
    }

    /// The signatures as OCI has what refers to a manifest: the manifest of each, and the blobs that it names.
    pub fn referrers(&self) -> Vec<Referrer> {
        let subject = Descriptor::new(IMAGE_TYPE, &self.image);
        let referrer = |signature: &Signature| {
            let text = signature.text().as_bytes().to_vec();
            let manifest = ImageManifest {
                schema_version: 2,
                media_type: IMAGE_TYPE.to_owned(),
                artifact_type: SIGNATURE_TYPE.to_owned(),
                config: Descriptor::new(EMPTY_TYPE, EMPTY),
                layers: vec![Descriptor::new(MINISIG_TYPE, &text).titled("plugin.minisig")],
                subject: Some(subject.clone()),
                annotations: signature
                    .key_id()
                    .ok()
                    .map(|key| (KEY_ANNOTATION.to_owned(), key.to_string()))
                    .into_iter()
                    .collect(),
            };
            let annotations = manifest.annotations.clone();
            Referrer { manifest: oci::to_bytes(&manifest), blobs: vec![EMPTY.to_vec(), text], annotations }
        };
        self.signatures.iter().map(referrer).collect()
    }
}

impl Bundle {
    /// The component.
    pub fn component(&self) -> &[u8] {
        self.blob(&self.component)
    }

    /// The README, a UTF-8 text.
    pub fn readme(&self) -> Option<&[u8]> {
        self.readme.as_ref().map(|digest| self.blob(digest))
    }

    /// The licence's text, UTF-8.
    pub fn license(&self) -> Option<&[u8]> {
        self.license.as_ref().map(|digest| self.blob(digest))
    }

    /// The configuration and the layers, each once: what a registry is handed before the image manifest.
    pub fn blobs(&self) -> impl Iterator<Item = (&OciDigest, &[u8])> {
        self.files.iter().map(|(digest, bytes)| (digest, bytes.as_slice()))
    }

    fn blob(&self, digest: &OciDigest) -> &[u8] {
        self.files.get(digest).map_or(&[], Vec::as_slice)
    }
}

/// Something that refers to a bundle's image manifest: a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referrer {
    /// Its manifest.
    pub manifest: Vec<u8>,
    /// The blobs that the manifest names.
    pub blobs: Vec<Vec<u8>>,
    /// Its annotations, which a list of what refers to the bundle repeats.
    pub annotations: BTreeMap<String, String>,
}

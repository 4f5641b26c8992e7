//! Manifests that refer to a plugin's image manifest: only signatures.

use host_manifest::cut;

use super::UnpackError;
use crate::bundle::{Bundle, MINISIG_TYPE, SIGNATURE_TYPE};
use crate::listing::{self, AnyManifest};
use crate::oci::{Descriptor, EMPTY_TYPE, OciDigest};
use crate::signature::MAX_SIGNATURE;

impl Bundle {
    /// Returns the descriptor of a signature's text from a manifest that claims to refer to this bundle: for callers
    /// that fetch both from a registry, and then add the signature with [`Bundle::add_signature`].
    ///
    /// # Errors
    ///
    /// When the manifest is not of a signature, refers to something else, or its text is too long.
    pub fn signature_layer(&self, referrer: &[u8]) -> Result<Descriptor, UnpackError> {
        let wrong = |why: String| UnpackError::Referrer { digest: OciDigest::of(referrer), why };
        let manifest: AnyManifest = listing::read(referrer).map_err(wrong)?;
        layer(&manifest, self.digest(), self.signed_bytes().len() as u64).map_err(wrong)
    }

    /// Returns whether a manifest says that it is a signature of this bundle: for callers whose list does not say what
    /// a manifest is.
    pub fn is_signed_by(&self, referrer: &[u8]) -> bool {
        let manifest = listing::read::<AnyManifest>(referrer).ok();
        manifest.is_some_and(|manifest| {
            manifest.artifact_type.as_deref() == Some(SIGNATURE_TYPE) && manifest.refers_to(self.digest())
        })
    }
}

/// The one layer of a signature's manifest. Other clients that attach a signature add fields of their own.
pub(super) fn layer(manifest: &AnyManifest, plugin: &OciDigest, size: u64) -> Result<Descriptor, String> {
    let subject = manifest.subject.as_ref();
    if subject.is_none_or(|subject| subject.digest != plugin.as_str() || subject.size != size) {
        let of = subject.map_or("nothing".to_owned(), |subject| format!("`{}`", cut(&subject.digest)));
        return Err(format!("it refers to {of}"));
    }
    let kind = manifest.artifact_type.as_deref().unwrap_or_default();
    if kind != SIGNATURE_TYPE {
        return Err(format!("it is `{}`, not `{SIGNATURE_TYPE}`", cut(kind)));
    }
    let config = manifest.config.as_ref().map(|config| config.media_type.as_str()).unwrap_or_default();
    // A signature has no configuration, and one that has could mean more than it says.
    if config != EMPTY_TYPE {
        return Err(format!("its configuration is `{}`, not `{EMPTY_TYPE}`", cut(config)));
    }
    match manifest.layers.as_deref().unwrap_or_default() {
        [layer] if layer.media_type != MINISIG_TYPE => {
            Err(format!("its layer is `{}`, not `{MINISIG_TYPE}`", cut(&layer.media_type)))
        }
        // By the descriptor, before it is fetched.
        [layer] if layer.size > MAX_SIGNATURE as u64 => {
            Err(format!("its text has {} bytes, over the limit of {MAX_SIGNATURE}", layer.size))
        }
        [layer] => layer.descriptor(),
        layers => Err(format!("it has {} layers, and a signature has one", layers.len())),
    }
}

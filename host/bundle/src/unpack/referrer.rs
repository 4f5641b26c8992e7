//! Manifests that refer to a plugin's image manifest: only signatures.

use host_manifest::cut;

use super::UnpackError;
use crate::bundle::{Bundle, MINISIG_TYPE, SIGNATURE_TYPE, any_image};
use crate::oci::{Descriptor, EMPTY_TYPE, ImageManifest, OciDigest};
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
        let image = any_image(referrer).map_err(|error| wrong(error.to_string()))?;
        let size = self.signed_bytes().len() as u64;
        layer(&image, self.digest(), size).cloned().map_err(wrong)
    }
}

/// The one layer of a signature's manifest.
pub(super) fn layer<'a>(image: &'a ImageManifest, plugin: &OciDigest, size: u64) -> Result<&'a Descriptor, String> {
    let subject = image.subject.as_ref();
    if subject.is_none_or(|subject| subject.digest != *plugin || subject.size != size) {
        let of = subject.map_or("nothing".to_owned(), |subject| format!("`{}`", subject.digest));
        return Err(format!("it refers to {of}"));
    }
    if image.artifact_type != SIGNATURE_TYPE {
        return Err(format!("it is `{}`, and not `{SIGNATURE_TYPE}`", cut(&image.artifact_type)));
    }
    if image.config.media_type != EMPTY_TYPE {
        return Err(format!("its configuration is `{}`, and not `{EMPTY_TYPE}`", cut(&image.config.media_type)));
    }
    match image.layers.as_slice() {
        [layer] if layer.media_type != MINISIG_TYPE => {
            Err(format!("its layer is `{}`, and not `{MINISIG_TYPE}`", cut(&layer.media_type)))
        }
        [layer] if layer.size > MAX_SIGNATURE as u64 => {
            Err(format!("its text has {} bytes, over the limit of {MAX_SIGNATURE}", layer.size))
        }
        [layer] => Ok(layer),
        layers => Err(format!("it has {} layers, and a signature has one", layers.len())),
    }
}

//! Indexes of plugins, and the lists and manifests of other OCI clients.

use host_bundle::{PluginIndex, SecretKey, SignedIndex, Trust, listing};

use crate::shown;

/// The bytes are read as an index, as a list of another client, and as the manifest of an index in a registry. An index
/// that is read is the same when it was signed, opened and read again.
pub fn plugin_index(data: &[u8]) {
    if let Err(why) = listing(data) {
        shown::prose(&host_text::visible(&why));
    }
    match SignedIndex::layers(data) {
        Ok(layers) => assert!(layers.iter().all(|layer| layer.size <= host_bundle::MAX_PLUGIN_INDEX)),
        Err(error) => shown::prose(&host_text::visible(&error.to_string())),
    }
    match PluginIndex::parse(data) {
        Ok(index) => {
            let secret = SecretKey::without_password().expect("random numbers");
            // What is written is longer than what was read, if that had no blanks.
            let Ok(signed) = index.sign(&secret) else { return };
            let keys = [secret.public().clone()];
            assert_eq!(signed.open(&keys, &Trust::default()).expect("it was just signed"), index);
            let unsigned = SignedIndex { bytes: data.to_vec(), signature: signed.signature };
            assert!(unsigned.open(&keys, &Trust::default()).is_err() || data == signed.bytes);
        }
        Err(error) => shown::prose(&host_text::visible(&error.to_string())),
    }
}

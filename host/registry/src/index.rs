//! Indexes of plugins: from any web server, and from a registry and to one.
//!
//! Promises: an index and its signature are limited where they enter. Nothing is kept of them.
//!
//! Deliberately not here: whether the signature counts, and how long the user waits.

use std::collections::BTreeMap;

use host_bundle::{
    Descriptor, IMAGE_TYPE, IndexError, MAX_INDEX_SIGNATURE, MAX_PLUGIN_INDEX, OciDigest, SIGNATURE_END, SignedIndex,
};
use host_http::is_safe;
use reqwest::{StatusCode, Url};

use crate::client::{Http, body, protocol, refused, send};
use crate::pace::Timer;
use crate::{Progress, Reference, Registry, RegistryError};

/// Gets the index at an address, which has to be `https` or on this machine, and the signature beside it.
///
/// # Errors
///
/// If the server does not send both, or more than an index has.
pub async fn download_index(address: &str) -> Result<SignedIndex, RegistryError> {
    let invalid = |why: String| RegistryError::Protocol { registry: address.to_owned(), why };
    let url = Url::parse(address).map_err(|error| invalid(error.to_string()))?;
    let mut beside = url.clone();
    beside.set_path(&format!("{}{SIGNATURE_END}", url.path()));
    let http = Http::new()?;
    let bytes = get(&http, &url, MAX_PLUGIN_INDEX).await?;
    let signature = get(&http, &beside, MAX_INDEX_SIGNATURE).await?;
    let signature = String::from_utf8(signature).map_err(|_| invalid("its signature is not UTF-8 text".to_owned()))?;
    Ok(SignedIndex { bytes, signature })
}

async fn get(http: &Http, url: &Url, limit: u64) -> Result<Vec<u8>, RegistryError> {
    let server = url.host_str().unwrap_or_default().to_owned();
    if !is_safe(url) {
        return Err(RegistryError::Insecure { registry: server, url: url.to_string() });
    }
    let what = format!("`{url}`");
    let answer = send(&server, http.0.get(url.clone())).await?;
    match answer.status() {
        StatusCode::OK => body(&server, &what, answer, limit).await,
        _ => Err(refused(&server, &what, answer).await),
    }
}

impl Registry {
    /// Gets the index that a reference names, with its signature.
    ///
    /// # Errors
    ///
    /// If the registry does not have it, or what it has is not an index.
    pub async fn pull_index(&self, reference: &Reference) -> Result<SignedIndex, RegistryError> {
        let manifest = self.manifest(reference, &reference.which(), IMAGE_TYPE).await?;
        let manifest = manifest.ok_or_else(|| RegistryError::NotFound {
            registry: reference.registry().to_owned(),
            what: format!("`{}:{}`", reference.repository(), reference.which()),
        })?;
        let invalid = |error: IndexError| protocol(reference, error.to_string());
        let [index, signature] = SignedIndex::layers(&manifest).map_err(invalid)?;
        let bytes = self.one_blob(reference, &index).await?;
        let signature = String::from_utf8(self.one_blob(reference, &signature).await?)
            .map_err(|_| protocol(reference, "the signature of the index is not UTF-8 text".to_owned()))?;
        Ok(SignedIndex { bytes, signature })
    }

    async fn one_blob(&self, reference: &Reference, descriptor: &Descriptor) -> Result<Vec<u8>, RegistryError> {
        let mut found = BTreeMap::new();
        self.blob(reference, descriptor, &mut found, &|_| {}).await?;
        Ok(found.remove(&descriptor.digest).unwrap_or_default())
    }

    /// Pushes an index under the tag of the reference, `latest` if it has none.
    ///
    /// # Errors
    ///
    /// If the registry rejects it.
    pub async fn push_index(
        &self,
        reference: &Reference,
        index: &SignedIndex,
        progress: Progress<'_>,
    ) -> Result<Reference, RegistryError> {
        let reference = reference.clone().or_tag(crate::reference::LATEST);
        let (manifest, blobs) = index.artifact();
        let (mut timer, what) = (Timer::start(self.pace), "the index");
        for blob in &blobs {
            timer.expect(blob.len() as u64);
            let digest = OciDigest::of(blob);
            timer.wait(reference.registry(), what, self.put_blob(&reference, &digest, blob, progress)).await?;
        }
        let tag = reference.tag().unwrap_or_default().to_owned();
        let put = self.put_manifest(&reference, &tag, IMAGE_TYPE, &manifest);
        timer.wait(reference.registry(), what, put).await?;
        Ok(reference.pinned(OciDigest::of(&manifest)))
    }
}

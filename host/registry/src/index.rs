//! Indexes of plugins: from any web server, and from a registry and to one.
//!
//! Promises: an index and its signature are limited where they enter. Nothing is kept of them.
//!
//! Deliberately not here: whether the signature counts, and a shorter time in which the user has an answer.

use std::collections::BTreeMap;

use host_bundle::{
    Descriptor, IMAGE_TYPE, IndexError, MAX_INDEX_SIGNATURE, MAX_PLUGIN_INDEX, OciDigest, SIGNATURE_END, SignedIndex,
};
use host_http::is_safe;
use reqwest::{StatusCode, Url};

use crate::client::{Exchange, Http, body, protocol, refused};
use crate::pace::{Timer, within};
use crate::{Pace, Progress, Reference, Registry, RegistryError};

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
    let server = url.host_str().unwrap_or_default().to_owned();
    let (bytes, signature) = within(Pace::default(), &server, |timer| async move {
        let bytes = get(&timer, &http, &url, MAX_PLUGIN_INDEX).await?;
        Ok((bytes, get(&timer, &http, &beside, MAX_INDEX_SIGNATURE).await?))
    })
    .await?;
    let signature = String::from_utf8(signature).map_err(|_| invalid("its signature is not UTF-8 text".to_owned()))?;
    Ok(SignedIndex { bytes, signature })
}

async fn get(timer: &Timer, http: &Http, url: &Url, limit: u64) -> Result<Vec<u8>, RegistryError> {
    let server = url.host_str().unwrap_or_default().to_owned();
    if !is_safe(url) {
        return Err(RegistryError::Insecure { registry: server, url: url.to_string() });
    }
    let what = format!("`{url}`");
    timer.begin(&what);
    let answer = timer.send(http.0.get(url.clone())).await?;
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
        self.exchange(reference, |exchange| async move { exchange.pull_index().await }).await
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
        let digest =
            self.exchange(&reference, |exchange| async move { exchange.push_index(index, progress).await }).await?;
        Ok(reference.pinned(digest))
    }
}

impl Exchange<'_> {
    async fn pull_index(&self) -> Result<SignedIndex, RegistryError> {
        let reference = self.reference;
        self.timer.begin("the index");
        let manifest = self.manifest(&reference.which(), IMAGE_TYPE).await?;
        let manifest = manifest.ok_or_else(|| RegistryError::NotFound {
            registry: reference.registry().to_owned(),
            what: format!("`{}:{}`", reference.repository(), reference.which()),
        })?;
        let invalid = |error: IndexError| protocol(reference, error.to_string());
        let [index, signature] = SignedIndex::layers(&manifest).map_err(invalid)?;
        let bytes = self.one_blob(&index).await?;
        let signature = String::from_utf8(self.one_blob(&signature).await?)
            .map_err(|_| protocol(reference, "the signature of the index is not UTF-8 text".to_owned()))?;
        Ok(SignedIndex { bytes, signature })
    }

    async fn one_blob(&self, descriptor: &Descriptor) -> Result<Vec<u8>, RegistryError> {
        let mut found = BTreeMap::new();
        self.blob(descriptor, &mut found, &|_| {}).await?;
        Ok(found.remove(&descriptor.digest).unwrap_or_default())
    }

    async fn push_index(&self, index: &SignedIndex, progress: Progress<'_>) -> Result<OciDigest, RegistryError> {
        self.timer.begin("the index");
        let (manifest, blobs) = index.artifact();
        for blob in &blobs {
            self.timer.expect(blob.len() as u64);
            self.put_blob(&OciDigest::of(blob), blob, progress).await?;
        }
        self.put_manifest(self.reference.tag().unwrap_or_default(), IMAGE_TYPE, &manifest).await?;
        Ok(OciDigest::of(&manifest))
    }
}

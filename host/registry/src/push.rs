//! Pushes a bundle to a registry.

use host_bundle::{Bundle, Descriptor, IMAGE_TYPE, INDEX_TYPE, Index, OciDigest, SIGNATURE_TYPE};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode};

use crate::client::{Asked, protocol, refused};
use crate::pace::Timer;
use crate::{Progress, Reference, Registry, RegistryError, Transfer};

/// The header by which a registry says that it lists referrers itself (distribution specification 1.1).
const SUBJECT: &str = "oci-subject";

impl Registry {
    /// Pushes a bundle, under the tag of the reference or its version, and its signatures beside it. What the registry
    /// already has is not sent again. An existing tag is moved: the registry decides whether that is allowed.
    ///
    /// # Errors
    ///
    /// If the registry rejects it.
    pub async fn push(
        &self,
        reference: &Reference,
        bundle: &Bundle,
        progress: Progress<'_>,
    ) -> Result<Reference, RegistryError> {
        let reference = reference.clone().or_tag(&tag(bundle));
        let registry = reference.registry();
        let mut timer = Timer::start(self.pace);
        for (digest, bytes) in bundle.blobs() {
            timer.expect(bytes.len() as u64);
            let what = format!("the blob {digest}");
            timer.wait(registry, &what, self.put_blob(&reference, digest, bytes, progress)).await?;
        }
        let tag = reference.tag().unwrap_or_default().to_owned();
        let image = bundle.signed_bytes();
        timer.wait(registry, "the manifest", self.put_manifest(&reference, &tag, IMAGE_TYPE, image)).await?;

        let mut unlisted = Vec::new();
        for referrer in bundle.referrers() {
            let mut descriptor = Descriptor::of(IMAGE_TYPE, &referrer.manifest);
            descriptor.artifact_type = Some(SIGNATURE_TYPE.to_owned());
            let name = descriptor.digest.to_string();
            let what = format!("the signature {name}");
            for blob in &referrer.blobs {
                let (digest, put) = (OciDigest::of(blob), blob.as_slice());
                timer.wait(registry, &what, self.put_blob(&reference, &digest, put, progress)).await?;
            }
            let put = self.put_manifest(&reference, &name, IMAGE_TYPE, &referrer.manifest);
            if !timer.wait(registry, &what, put).await? {
                unlisted.push(descriptor);
            }
        }
        if !unlisted.is_empty() {
            let listed = self.list(&reference, bundle.digest(), unlisted);
            timer.wait(registry, "the list of signatures", listed).await?;
        }
        Ok(reference.pinned(bundle.digest().clone()))
    }

    async fn put_blob(
        &self,
        reference: &Reference,
        digest: &OciDigest,
        bytes: &[u8],
        progress: Progress<'_>,
    ) -> Result<(), RegistryError> {
        let what = format!("the blob {digest}");
        let total = bytes.len() as u64;
        let url = self.url(reference, &format!("blobs/{digest}"))?;
        let there = self.ask(reference, &Asked::to_push(Method::HEAD, url, None)).await?;
        if there.status() != StatusCode::OK {
            let mut begin = Asked::to_push(Method::POST, self.url(reference, "blobs/uploads/")?, Some(&[]));
            begin.headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
            let begun = self.ask(reference, &begin).await?;
            if begun.status() != StatusCode::ACCEPTED {
                return Err(refused(reference.registry(), &what, begun).await);
            }
            let place = begun.headers().get(LOCATION).and_then(|place| place.to_str().ok());
            let mut place = place
                .and_then(|place| begun.url().join(place).ok())
                .ok_or_else(|| protocol(reference, "it takes an upload, and does not say where".to_owned()))?;
            place.query_pairs_mut().append_pair("digest", digest.as_str());
            progress(Transfer { digest: digest.clone(), done: 0, total });
            let mut put = Asked::to_push(Method::PUT, place, Some(bytes));
            put.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
            let done = self.ask(reference, &put).await?;
            if done.status() != StatusCode::CREATED {
                return Err(refused(reference.registry(), &what, done).await);
            }
        }
        progress(Transfer { digest: digest.clone(), done: total, total });
        Ok(())
    }

    /// Pushes a manifest; returns whether the registry lists its subject's referrers itself.
    async fn put_manifest(
        &self,
        reference: &Reference,
        name: &str,
        media_type: &'static str,
        bytes: &[u8],
    ) -> Result<bool, RegistryError> {
        let url = self.url(reference, &format!("manifests/{name}"))?;
        let mut put = Asked::to_push(Method::PUT, url, Some(bytes));
        put.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        let answer = self.ask(reference, &put).await?;
        if answer.status() != StatusCode::CREATED {
            return Err(refused(reference.registry(), &format!("the manifest `{name}`"), answer).await);
        }
        Ok(answer.headers().contains_key(SUBJECT))
    }

    /// Adds signatures to the list under the tag of a plugin's digest, if the registry keeps no list.
    async fn list(
        &self,
        reference: &Reference,
        plugin: &OciDigest,
        signatures: Vec<Descriptor>,
    ) -> Result<(), RegistryError> {
        let mut index = match self.listed(reference, plugin).await? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| protocol(reference, format!("its list of signatures: {error}")))?,
            None => Index {
                schema_version: 2,
                media_type: INDEX_TYPE.to_owned(),
                manifests: Vec::new(),
                annotations: Default::default(),
            },
        };
        for signature in signatures {
            if !index.manifests.iter().any(|known| known.digest == signature.digest) {
                index.manifests.push(signature);
            }
        }
        index.manifests.sort_by(|one, other| one.digest.cmp(&other.digest));
        let name = plugin.as_str().replace(':', "-");
        self.put_manifest(reference, &name, INDEX_TYPE, &index.to_bytes()).await.map(drop)
    }
}

/// Returns the tag of a version: `+` is not allowed in a tag, and `_` not in a version.
fn tag(bundle: &Bundle) -> String {
    bundle.manifest().version.to_string().replace('+', "_")
}

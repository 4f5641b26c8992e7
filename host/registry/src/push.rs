//! Pushes a bundle to a registry.

use host_bundle::{Bundle, Descriptor, IMAGE_TYPE, INDEX_TYPE, OciDigest, SIGNATURE_TYPE};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode};
use semver::Version;
use serde_json::{Value, json};

use crate::client::{Asked, Exchange, protocol, refused};
use crate::reference::LATEST;
use crate::{Progress, Reference, Registry, RegistryError, Transfer, Which};

/// The header by which a registry says that it lists referrers itself (distribution specification 1.1).
const SUBJECT: &str = "oci-subject";

/// A bundle that was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Where it is, with its digest.
    pub reference: Reference,
    /// The tag `latest`.
    pub latest: LatestTag,
}

/// What a push did with the tag `latest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatestTag {
    /// It is the bundle now.
    Moved,
    /// It stays at a version that is newer.
    Newer(Version),
    /// A tag was written, or the version is a pre-release.
    Untouched,
}

impl Registry {
    /// Pushes a bundle and its signatures beside it: under the tag of the reference; without one, under its version,
    /// and under `latest` if it is a release and no newer one is there. What the registry already has is not sent
    /// again. An existing tag is moved: the registry decides whether that is allowed.
    ///
    /// # Errors
    ///
    /// If the registry rejects it.
    pub async fn push(
        &self,
        reference: &Reference,
        bundle: &Bundle,
        progress: Progress<'_>,
    ) -> Result<Pushed, RegistryError> {
        let is_release = reference.tag().is_none() && bundle.manifest().version.pre.is_empty();
        let reference = reference.clone().or_tag(&tag(bundle));
        let latest = self
            .exchange(&reference, |exchange| async move { exchange.push(bundle, is_release, progress).await })
            .await?;
        Ok(Pushed { reference: reference.pinned(bundle.digest().clone()), latest })
    }
}

impl Exchange<'_> {
    async fn push(
        &self,
        bundle: &Bundle,
        is_release: bool,
        progress: Progress<'_>,
    ) -> Result<LatestTag, RegistryError> {
        let Self { reference, timer, .. } = self;
        // Blobs first: a registry rejects a manifest that names something it does not have.
        for (digest, bytes) in bundle.blobs() {
            timer.expect(bytes.len() as u64);
            timer.begin(format!("the blob {digest}"));
            self.put_blob(digest, bytes, progress).await?;
        }
        let tag = reference.tag().unwrap_or_default();
        timer.begin("the manifest");
        // The manifest before its signatures, which refer to it.
        self.put_manifest(tag, IMAGE_TYPE, bundle.signed_bytes()).await?;

        let mut unlisted = Vec::new();
        for referrer in bundle.referrers() {
            let mut descriptor = Descriptor::new(IMAGE_TYPE, &referrer.manifest);
            descriptor.artifact_type = Some(SIGNATURE_TYPE.to_owned());
            descriptor.annotations = referrer.annotations.clone();
            let name = descriptor.digest.to_string();
            timer.begin(format!("the signature {name}"));
            for blob in &referrer.blobs {
                self.put_blob(&OciDigest::of(blob), blob, progress).await?;
            }
            // A registry without the referrers API says so in its answer, and needs the list below.
            if !self.put_manifest(&name, IMAGE_TYPE, &referrer.manifest).await? {
                unlisted.push(descriptor);
            }
        }
        if !unlisted.is_empty() {
            timer.begin("the list of signatures");
            self.list(bundle.digest(), unlisted).await?;
        }
        // Last, so that nobody gets it by this tag without its signatures.
        timer.begin("the tag `latest`");
        if is_release { self.move_latest(bundle).await } else { Ok(LatestTag::Untouched) }
    }

    /// Moves the tag `latest` to a release, unless a newer version of the same plugin has it: a correction of an older
    /// release is not the latest one.
    async fn move_latest(&self, bundle: &Bundle) -> Result<LatestTag, RegistryError> {
        let there = self.manifest(&Which::Tag(LATEST.to_owned()), IMAGE_TYPE).await?;
        if let Some((name, version)) = there.as_deref().and_then(Bundle::named)
            && name == bundle.manifest().name
            && version > bundle.manifest().version
        {
            return Ok(LatestTag::Newer(version));
        }
        self.put_manifest(LATEST, IMAGE_TYPE, bundle.signed_bytes()).await?;
        Ok(LatestTag::Moved)
    }

    pub(crate) async fn put_blob(
        &self,
        digest: &OciDigest,
        bytes: &[u8],
        progress: Progress<'_>,
    ) -> Result<(), RegistryError> {
        let what = format!("the blob {digest}");
        let total = bytes.len() as u64;
        let url = self.url(&format!("blobs/{digest}"))?;
        // A blob that is there is not sent again: versions of a plugin share many.
        let there = self.ask(&Asked::to_push(Method::HEAD, url, None)).await?;
        if there.status() != StatusCode::OK {
            let mut begin = Asked::to_push(Method::POST, self.url("blobs/uploads/")?, Some(&[]));
            begin.headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
            let begun = self.ask(&begin).await?;
            if begun.status() != StatusCode::ACCEPTED {
                return Err(refused(self.reference.registry(), &what, begun).await);
            }
            let place = begun.headers().get(LOCATION).and_then(|place| place.to_str().ok());
            let mut place = place
                // The place may be relative, and on another host of the registry's.
                .and_then(|place| begun.url().join(place).ok())
                .ok_or_else(|| protocol(self.reference, "it takes an upload, and does not say where".to_owned()))?;
            place.query_pairs_mut().append_pair("digest", digest.as_str());
            progress(Transfer { digest: digest.clone(), done: 0, total });
            let mut put = Asked::to_push(Method::PUT, place, Some(bytes));
            put.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
            let done = self.ask(&put).await?;
            if done.status() != StatusCode::CREATED {
                return Err(refused(self.reference.registry(), &what, done).await);
            }
        }
        progress(Transfer { digest: digest.clone(), done: total, total });
        Ok(())
    }

    /// Pushes a manifest; returns whether the registry lists its subject's referrers itself.
    pub(crate) async fn put_manifest(
        &self,
        name: &str,
        media_type: &'static str,
        bytes: &[u8],
    ) -> Result<bool, RegistryError> {
        let url = self.url(&format!("manifests/{name}"))?;
        let mut put = Asked::to_push(Method::PUT, url, Some(bytes));
        put.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        let answer = self.ask(&put).await?;
        if answer.status() != StatusCode::CREATED {
            return Err(refused(self.reference.registry(), &format!("the manifest `{name}`"), answer).await);
        }
        Ok(answer.headers().contains_key(SUBJECT))
    }

    /// Adds signatures to the list under the tag of a plugin's digest, if the registry keeps no list. What other
    /// clients listed there stays as they wrote it.
    async fn list(&self, plugin: &OciDigest, signatures: Vec<Descriptor>) -> Result<(), RegistryError> {
        let invalid = |why: String| protocol(self.reference, format!("its list of signatures: {why}"));
        // Read as plain JSON: fields that this host does not know stay as they are.
        let mut index: Value = match self.listed(plugin).await? {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?,
            None => json!({ "schemaVersion": 2, "mediaType": INDEX_TYPE }),
        };
        let members = index.as_object_mut().ok_or_else(|| invalid("it is not an object".to_owned()))?;
        let entries = members.entry("manifests").or_insert(Value::Null);
        if entries.is_null() {
            *entries = json!([]);
        }
        let entries = entries.as_array_mut().ok_or_else(|| invalid("`manifests` is not a list".to_owned()))?;
        for signature in signatures {
            let entry = serde_json::to_value(&signature).map_err(|error| invalid(error.to_string()))?;
            let known = entries.iter_mut().find(|known| known["digest"] == entry["digest"]);
            match known.and_then(Value::as_object_mut) {
                // A client that copied the list may have left out what it is.
                Some(known) => drop(known.insert("artifactType".to_owned(), entry["artifactType"].clone())),
                None => entries.push(entry),
            }
        }
        let bytes = serde_json::to_vec(&index).map_err(|error| invalid(error.to_string()))?;
        let name = plugin.as_str().replace(':', "-");
        self.put_manifest(&name, INDEX_TYPE, &bytes).await.map(drop)
    }
}

/// Returns the tag of a version: `+` is not allowed in a tag, and `_` not in a version.
fn tag(bundle: &Bundle) -> String {
    bundle.manifest().version.to_string().replace('+', "_")
}

//! The signatures of a bundle in a registry, whoever put them there.
//!
//! A registry lists them by its referrers API, or a client keeps a list under the tag `sha256-HEX` (distribution
//! specification 1.1, "Unavailable Referrers API"). Both are read: a registry can have the API and not know what another
//! client mirrored. Such clients leave out the artifact type of what they list; then the manifest says what it is.
//!
//! Deliberately not here: whether a signature holds.

use std::collections::BTreeSet;

use host_bundle::{Bundle, IMAGE_TYPE, INDEX_TYPE, Listed, MAX_IMAGE, MAX_SIGNATURES, OciDigest, SIGNATURE_TYPE};
use reqwest::StatusCode;

use crate::client::{Asked, body, protocol, refused};
use crate::{Reference, Registry, RegistryError, Which};

/// Manifests that a list does not say the type of, and that are fetched to see it. Protects the user's time.
const MAX_UNTYPED: usize = 64;
/// Pages of an answer that are read. Protects the user's time; a page has at least dozens of entries.
pub(crate) const MAX_PAGES: usize = 32;

impl Registry {
    /// Returns the manifests of the signatures that are listed for a bundle.
    pub(crate) async fn signatures(
        &self,
        reference: &Reference,
        bundle: &Bundle,
    ) -> Result<Vec<Vec<u8>>, RegistryError> {
        let mut signatures = BTreeSet::new();
        let mut untyped = BTreeSet::new();
        for Listed { media_type, digest, artifact_type, .. } in self.referrers(reference, bundle.digest()).await? {
            let Ok(digest) = digest.parse::<OciDigest>() else { continue };
            match artifact_type.as_deref().unwrap_or_default() {
                SIGNATURE_TYPE => {
                    signatures.insert(digest);
                }
                "" if media_type.is_empty() || media_type == IMAGE_TYPE => {
                    untyped.insert(digest);
                }
                _ => {}
            }
        }
        untyped.retain(|digest| !signatures.contains(digest));
        for (what, found, limit) in
            [("signatures", signatures.len(), MAX_SIGNATURES), ("manifests without a type", untyped.len(), MAX_UNTYPED)]
        {
            if found > limit {
                return Err(protocol(reference, format!("it lists {found} {what}, over the limit of {limit}")));
            }
        }
        let mut manifests = Vec::new();
        for digest in signatures {
            let which = Which::Digest(digest);
            let manifest = self.manifest(reference, &which, IMAGE_TYPE).await?;
            manifests.push(manifest.ok_or_else(|| protocol(reference, format!("it lists {which}, and has no such")))?);
        }
        for digest in untyped {
            // What is not of this bundle need not be there.
            let manifest = self.manifest(reference, &Which::Digest(digest), IMAGE_TYPE).await?;
            manifests.extend(manifest.filter(|manifest| bundle.is_signed_by(manifest)));
        }
        if manifests.len() > MAX_SIGNATURES {
            let found = manifests.len();
            let why = format!("it lists {found} signatures, over the limit of {MAX_SIGNATURES}");
            return Err(protocol(reference, why));
        }
        Ok(manifests)
    }

    /// Returns what refers to a manifest, by the API and by the tag.
    async fn referrers(&self, reference: &Reference, digest: &OciDigest) -> Result<Vec<Listed>, RegistryError> {
        let what = format!("what refers to {digest}");
        let read =
            |bytes: &[u8]| host_bundle::listing(bytes).map_err(|error| protocol(reference, format!("{what}: {error}")));
        let mut all = Vec::new();
        let mut next = Some(self.url(reference, &format!("referrers/{digest}"))?);
        for _ in 0..MAX_PAGES {
            let Some(url) = next.take() else { break };
            let answer = self.ask(reference, &Asked::get(url)).await?;
            match answer.status() {
                StatusCode::OK => {}
                // No such API, in the words of various registries.
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => break,
                _ => return Err(refused(reference.registry(), &what, answer).await),
            }
            next = self.next_page(reference, &answer)?;
            all.extend(read(&body(reference.registry(), &what, answer, MAX_IMAGE).await?)?);
        }
        if let Some(listed) = self.listed(reference, digest).await? {
            all.extend(read(&listed)?);
        }
        Ok(all)
    }

    /// Returns the list under the tag of a digest.
    pub(crate) async fn listed(
        &self,
        reference: &Reference,
        digest: &OciDigest,
    ) -> Result<Option<Vec<u8>>, RegistryError> {
        self.manifest(reference, &Which::Tag(digest.as_str().replace(':', "-")), INDEX_TYPE).await
    }
}

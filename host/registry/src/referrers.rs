//! The signatures of a bundle in a registry, whoever put them there.
//!
//! A registry lists them by its referrers API, or a client keeps a list under the tag `sha256-HEX` (distribution
//! specification 1.1, "Unavailable Referrers API"). Both are read: a registry can have the API and not know what another
//! client mirrored. Such clients leave out the artifact type of what they list; then the manifest says what it is.
//!
//! Deliberately not here: whether a signature holds.

use std::collections::{BTreeMap, BTreeSet};

use host_bundle::{
    Bundle, IMAGE_TYPE, INDEX_TYPE, KeyId, Listed, MAX_IMAGE, MAX_SIGNATURES, OciDigest, SIGNATURE_TYPE,
};
use reqwest::StatusCode;

use crate::client::{Asked, body, protocol, refused};
use crate::pull::is_of_this_one;
use crate::{Reference, Registry, RegistryError, Which};

/// Manifests that a list does not say the type of, and that are fetched to see it. Protects the user's time.
const MAX_UNTYPED: usize = 64;
/// Pages of an answer that are read. Protects the user's time; a page has at least dozens of entries.
pub(crate) const MAX_PAGES: usize = 32;

impl Registry {
    /// Returns the manifests of the signatures that are listed for a bundle, those that claim a preferred key first, and how
    /// many were not looked at. What others listed and is no signature is passed over.
    pub(crate) async fn signatures(
        &self,
        reference: &Reference,
        bundle: &Bundle,
        preferred: &BTreeSet<KeyId>,
    ) -> Result<(Vec<Vec<u8>>, usize), RegistryError> {
        let mut signatures = BTreeMap::new();
        let mut untyped = BTreeSet::new();
        for listed in self.referrers(reference, bundle.digest()).await? {
            let Ok(digest) = listed.digest.parse::<OciDigest>() else { continue };
            match listed.artifact_type.as_deref().unwrap_or_default() {
                SIGNATURE_TYPE => {
                    let rank = rank(&listed, preferred);
                    let known = signatures.entry(digest).or_insert(rank);
                    *known = rank.min(*known);
                }
                "" if listed.media_type.is_empty() || listed.media_type == IMAGE_TYPE => {
                    untyped.insert(digest);
                }
                _ => {}
            }
        }
        untyped.retain(|digest| !signatures.contains_key(digest));
        let mut ranked: Vec<(u8, OciDigest)> = signatures.into_iter().map(|(digest, rank)| (rank, digest)).collect();
        ranked.sort();
        let mut unread = ranked.len().saturating_sub(MAX_SIGNATURES) + untyped.len().saturating_sub(MAX_UNTYPED);
        let mut manifests = Vec::new();
        for (_, digest) in ranked.into_iter().take(MAX_SIGNATURES) {
            match self.manifest(reference, &Which::Digest(digest), IMAGE_TYPE).await {
                Ok(Some(manifest)) => manifests.push(manifest),
                Ok(None) => unread += 1,
                Err(error) if is_of_this_one(&error) => unread += 1,
                Err(error) => return Err(error),
            }
        }
        for digest in untyped.into_iter().take(MAX_UNTYPED) {
            match self.manifest(reference, &Which::Digest(digest), IMAGE_TYPE).await {
                // What is not of this bundle need not be there.
                Ok(manifest) => manifests.extend(manifest.filter(|manifest| bundle.is_signed_by(manifest))),
                Err(error) if is_of_this_one(&error) => {}
                Err(error) => return Err(error),
            }
        }
        unread += manifests.len().saturating_sub(MAX_SIGNATURES);
        manifests.truncate(MAX_SIGNATURES);
        Ok((manifests, unread))
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

/// The place of a listed signature among others: those that claim a preferred key, those that claim none, and the others.
fn rank(listed: &Listed, preferred: &BTreeSet<KeyId>) -> u8 {
    match listed.claimed_key().map(|key| key.parse::<KeyId>()) {
        Some(Ok(key)) if preferred.contains(&key) => 0,
        None => 1,
        Some(Ok(_) | Err(_)) => 2,
    }
}

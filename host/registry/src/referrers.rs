//! The lists of the signatures of a bundle in a registry, whoever put them there.
//!
//! A registry lists them by its referrers API, or a client keeps a list under the tag `sha256-HEX` (distribution
//! specification 1.1, "Unavailable Referrers API"). Both are read: a registry can have the API and not know what
//! another client mirrored. Such clients leave out the artifact type of what they list; then the manifest says what it
//! is.
//!
//! Deliberately not here: which of them are fetched (`signatures`).

use host_bundle::{INDEX_TYPE, Listed, MAX_IMAGE, OciDigest};
use reqwest::StatusCode;

use crate::client::{Asked, Exchange, body, protocol, refused};
use crate::{RegistryError, Which};

/// Pages of an answer that are read. Protects the user's time; a page has at least dozens of entries.
pub(crate) const MAX_PAGES: usize = 32;

impl Exchange<'_> {
    /// Returns what refers to a manifest, by the API and by the tag.
    pub(crate) async fn referrers(&self, digest: &OciDigest) -> Result<Vec<Listed>, RegistryError> {
        let what = format!("what refers to {digest}");
        let read = |bytes: &[u8]| {
            host_bundle::listing(bytes).map_err(|error| protocol(self.reference, format!("{what}: {error}")))
        };
        let mut all = Vec::new();
        let mut next = Some(self.url(&format!("referrers/{digest}"))?);
        // A registry can link its pages in a circle.
        for _ in 0..MAX_PAGES {
            let Some(url) = next.take() else { break };
            let answer = self.ask(&Asked::get(url)).await?;
            match answer.status() {
                StatusCode::OK => {}
                // No such API, in the words of various registries.
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => break,
                _ => return Err(refused(self.reference.registry(), &what, answer).await),
            }
            next = self.next_page(&answer)?;
            all.extend(read(&body(self.reference.registry(), &what, answer, MAX_IMAGE).await?)?);
        }
        // Not only where the API is missing: what another client mirrored may be in the list alone.
        if let Some(listed) = self.listed(digest).await? {
            all.extend(read(&listed)?);
        }
        Ok(all)
    }

    /// Returns the list under the tag of a digest.
    pub(crate) async fn listed(&self, digest: &OciDigest) -> Result<Option<Vec<u8>>, RegistryError> {
        self.manifest(&Which::Tag(digest.as_str().replace(':', "-")), INDEX_TYPE).await
    }
}

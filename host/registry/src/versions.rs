//! The tags of a repository, with the plugins that they name.
//!
//! Promises: the number of tags, of pages and of requests at a time is bounded; a tag that is not a plugin's is listed
//! as that. What a registry says about a plugin is not checked: an installation checks the bundle itself.
//!
//! Deliberately not here: the order in which versions are shown.

use futures::{StreamExt as _, TryStreamExt as _};
use host_bundle::{Bundle, IMAGE_TYPE, OciDigest};
use reqwest::header::LINK;
use reqwest::{Response, StatusCode, Url};
use semver::Version;
use serde::Deserialize;

use crate::client::{Asked, Exchange, body, protocol, refused};
use crate::reference::is_tag;
use crate::referrers::MAX_PAGES;
use crate::{Reference, Registry, RegistryError, Which};

/// Tags of a repository that are listed. Protects the user's time: each costs a request.
const MAX_TAGS: usize = 1_000;
/// The largest page of tags.
const MAX_PAGE: u64 = 1 << 20;
/// The bytes of a manifest for which there is time. Protects the user's time, as in a transfer.
const USUAL_MANIFEST: u64 = 16 << 10;
/// Requests for manifests at a time. Protects the registry.
const AT_A_TIME: usize = 8;

/// The tags of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// Each tag.
    pub tags: Vec<Tagged>,
    /// Whether there are more than are listed.
    pub has_more: bool,
}

/// A tag, and what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// The tag.
    pub tag: String,
    /// The digest of its manifest.
    pub digest: OciDigest,
    /// The plugin and its version, in the words of the manifest; `None` if it is not a plugin.
    pub plugin: Option<(String, Version)>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

impl Registry {
    /// Lists the tags of a repository, without those by which clients find signatures.
    ///
    /// # Errors
    ///
    /// If there is no such repository, or the registry does not list it.
    pub async fn tags(&self, reference: &Reference) -> Result<Tags, RegistryError> {
        self.exchange(reference, |exchange| async move { exchange.tags().await }).await
    }
}

impl Exchange<'_> {
    async fn tags(&self) -> Result<Tags, RegistryError> {
        let Self { reference, timer, .. } = self;
        let what = format!("the tags of `{}`", reference.repository());
        timer.begin(&what);
        let registry = reference.registry();
        let mut names = Vec::new();
        let mut next = Some(self.url(&format!("tags/list?n={MAX_TAGS}"))?);
        let mut pages = 0;
        while let Some(url) = next.take().filter(|_| pages < MAX_PAGES && names.len() <= MAX_TAGS) {
            pages += 1;
            let answer = self.ask(&Asked::get(url)).await?;
            match answer.status() {
                StatusCode::OK => {}
                StatusCode::NOT_FOUND => {
                    let (registry, what) = (registry.to_owned(), format!("`{}`", reference.repository()));
                    return Err(RegistryError::NotFound { registry, what });
                }
                _ => return Err(refused(registry, &what, answer).await),
            }
            next = self.next_page(&answer)?;
            let page: Page = serde_json::from_slice(&body(registry, &what, answer, MAX_PAGE).await?)
                .map_err(|error| protocol(reference, format!("{what}: {error}")))?;
            // Tags that only hold lists of signatures are not versions.
            names.extend(page.tags.into_iter().flatten().filter(|tag| is_tag(tag) && !is_of_a_digest(tag)));
        }
        // Said to the user, who would take the list for complete.
        let has_more = next.is_some() || names.len() > MAX_TAGS;
        names.truncate(MAX_TAGS);
        // One request for each tag: a long list takes its time.
        timer.expect(names.len() as u64 * USUAL_MANIFEST);
        let tags = futures::stream::iter(names).map(|tag| self.tagged(tag)).buffered(AT_A_TIME);
        // A tag can go while they are listed.
        let tags = tags.try_filter_map(|tagged| async { Ok(tagged) }).try_collect().await?;
        Ok(Tags { tags, has_more })
    }

    async fn tagged(&self, tag: String) -> Result<Option<Tagged>, RegistryError> {
        let manifest = self.manifest(&Which::Tag(tag.clone()), IMAGE_TYPE).await?;
        let found = |image: Vec<u8>| Tagged { tag, digest: OciDigest::of(&image), plugin: Bundle::named(&image) };
        Ok(manifest.map(found))
    }

    /// Returns the address of the next page of an answer (RFC 8288); `None` if it is the last one.
    pub(crate) fn next_page(&self, answer: &Response) -> Result<Option<Url>, RegistryError> {
        let Some(link) = answer.headers().get(LINK).and_then(|link| link.to_str().ok()) else { return Ok(None) };
        let next = link.split(',').find(|part| part.replace('"', "").contains("rel=next"));
        let address = next.and_then(|part| part.trim().strip_prefix('<')?.split_once('>')).map(|(address, _)| address);
        let Some(address) = address else { return Ok(None) };
        match answer.url().join(address) {
            // Whoever lists a repository says nothing about other servers.
            Ok(url) if url.origin() == answer.url().origin() => Ok(Some(url)),
            Ok(_) | Err(_) => Err(protocol(self.reference, format!("its next page is at `{address}`"))),
        }
    }
}

/// Whether clients keep something about a digest under this tag, such as its signatures.
fn is_of_a_digest(tag: &str) -> bool {
    let digits = tag.strip_prefix("sha256-").and_then(|rest| rest.get(..64));
    digits.is_some_and(|digits| format!("sha256:{digits}").parse::<OciDigest>().is_ok())
}

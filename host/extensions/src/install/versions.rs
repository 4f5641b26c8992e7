//! The versions of a plugin in a registry.
//!
//! Deliberately not here: whether one of them may be installed. What is listed here is what the registry says.

use std::collections::BTreeMap;
use std::path::Path;

use host_bundle::OciDigest;
use host_registry::{Login, Reference, Registry, Tagged, Tags};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::Advice;
use semver::Version;
use serde::Serialize;

use super::registry_failure;

/// The content of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The newest version first; what is not a plugin comes last.
    pub versions: Vec<PublishedVersion>,
    /// Whether there are more tags than are listed.
    pub has_more: bool,
}

/// A bundle in a registry, with all of its tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublishedVersion {
    /// The name of the plugin; `None` if it is not a plugin.
    pub plugin: Option<String>,
    /// Its version.
    pub version: Option<Version>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its digest.
    pub digest: OciDigest,
}

/// Why no versions are listed.
#[derive(Debug, thiserror::Error)]
pub(super) enum VersionsError {
    /// The reference names one bundle.
    #[error("`{0}` is one bundle, and versions are those of a repository")]
    OneBundle(Reference),
}

impl Fault for VersionsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::OneBundle(cause) => {
                Some(format!("name the repository alone: `{}/{}`", cause.registry(), cause.repository()).into())
            }
        }
    }
}

/// Lists what a repository has. The registry is asked with the login that `login` has for it.
///
/// # Errors
///
/// If the reference names a tag or a digest, or the registry has no such repository or does not list it.
pub async fn versions(
    reference: &Reference,
    downloads: &Path,
    login: impl FnOnce(&str) -> Result<Option<Login>, Failure>,
) -> Result<Published, Failure> {
    if reference.tag().is_some() || reference.digest().is_some() {
        return Err(VersionsError::OneBundle(reference.clone()).into());
    }
    let registry = Registry::new(login(reference.registry())?, downloads.to_owned()).map_err(registry_failure)?;
    let Tags { tags, has_more } = registry.tags(reference).await.map_err(registry_failure)?;
    Ok(Published { versions: grouped(tags), has_more })
}

/// One row for each bundle, the newest version first.
fn grouped(tags: Vec<Tagged>) -> Vec<PublishedVersion> {
    let mut bundles: BTreeMap<OciDigest, PublishedVersion> = BTreeMap::new();
    for Tagged { tag, digest, plugin } in tags {
        let (plugin, version) = plugin.unzip();
        let row = PublishedVersion { plugin, version, tags: Vec::new(), digest: digest.clone() };
        bundles.entry(digest).or_insert(row).tags.push(tag);
    }
    let mut rows: Vec<PublishedVersion> = bundles.into_values().collect();
    rows.iter_mut().for_each(|row| row.tags.sort());
    rows.sort_by(|one, other| {
        (&other.version, &one.plugin, &one.tags).cmp(&(&one.version, &other.plugin, &other.tags))
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed_once_and_the_newest_first() {
        let tagged = |tag: &str, content: &str, version: Option<&str>| Tagged {
            tag: tag.to_owned(),
            digest: OciDigest::of(content.as_bytes()),
            plugin: version.map(|version| ("acme/x".to_owned(), version.parse().expect("a version"))),
        };
        let rows = grouped(vec![
            tagged("1.10.0", "b", Some("1.10.0")),
            tagged("1.9.0", "a", Some("1.9.0")),
            tagged("2.0.0-rc.1", "c", Some("2.0.0-rc.1")),
            tagged("image", "d", None),
            tagged("latest", "b", Some("1.10.0")),
        ]);
        let shown: Vec<String> = rows.iter().map(|row| row.tags.join("+")).collect();
        assert_eq!(shown, ["2.0.0-rc.1", "1.10.0+latest", "1.9.0", "image"]);
    }
}

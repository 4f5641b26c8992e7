//! The name of a bundle in a registry: `REGISTRY/REPOSITORY[:TAG][@DIGEST]`.
//!
//! The grammar is that of the distribution specification 1.1. Unlike Docker's, it has no default
//! registry: a reference always names one.

use std::fmt;
use std::str::FromStr;

use host_bundle::OciDigest;

/// The longest reference. The specification allows repositories and registries of 255 characters together.
const MAX_REFERENCE: usize = 512;
/// The longest tag that the specification allows.
const MAX_TAG: usize = 128;

/// The tag of a reference that has none.
pub(crate) const LATEST: &str = "latest";

/// Where a bundle is in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<OciDigest>,
}

/// A manifest of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The manifest with this tag, which may change.
    Tag(String),
    /// The manifest with this digest.
    Digest(OciDigest),
}

/// A text that is not a reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a reference REGISTRY/REPOSITORY[:TAG][@DIGEST]: {why}")]
pub struct NoReference {
    text: String,
    why: &'static str,
}

impl Reference {
    /// Returns the server: a name or an address, with a port if one was written.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// Returns the repository.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the tag that was written.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the digest that was written.
    pub fn digest(&self) -> Option<&OciDigest> {
        self.digest.as_ref()
    }

    /// Returns the manifest: by its digest if there is one, else by its tag, else by `latest`.
    pub fn which(&self) -> Which {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => Which::Digest(digest.clone()),
            (None, Some(tag)) => Which::Tag(tag.clone()),
            (None, None) => Which::Tag(LATEST.to_owned()),
        }
    }

    /// Returns the same reference, with this tag if none was written.
    #[must_use]
    pub fn or_tag(mut self, tag: &str) -> Self {
        self.tag.get_or_insert_with(|| tag.to_owned());
        self
    }

    /// Returns the same reference with the digest of what was found, so that it finds the same content again.
    #[must_use]
    pub fn pinned(mut self, digest: OciDigest) -> Self {
        self.digest = Some(digest);
        self
    }
}

impl FromStr for Reference {
    type Err = NoReference;

    fn from_str(text: &str) -> Result<Self, NoReference> {
        let no = |why| NoReference { text: text.chars().take(100).collect(), why };
        if text.len() > MAX_REFERENCE {
            return Err(no("it is too long"));
        }
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (
                rest,
                Some(digest.parse().map_err(|_| no("its digest is not `sha256:` and 64 characters of 0-9 and a-f"))?),
            ),
            None => (text, None),
        };
        let (registry, rest) = rest.split_once('/').ok_or_else(|| no("it names no registry, such as ghcr.io"))?;
        // No default registry: a name without one would mean another place for each client.
        if !is_registry(registry) {
            return Err(no("its registry is not a server name; write it as ghcr.io or localhost:5000"));
        }
        let (repository, tag) = match rest.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (rest, None),
        };
        if !repository.split('/').all(is_component) {
            return Err(no("its repository is not of a-z, 0-9 and single `.`, `_`, `-` between them"));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(no("its tag is not of letters, digits, `_`, `.` and `-`"));
        }
        Ok(Self {
            // Names of servers have no case; the rest has.
            registry: registry.to_ascii_lowercase(),
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

/// Whether a text is a DNS name with a dot or `localhost`, or an address, with or without a port.
fn is_registry(text: &str) -> bool {
    let Ok(url) = url::Url::parse(&format!("https://{text}/")) else { return false };
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let is_server = match url.host() {
        Some(url::Host::Domain(name)) => {
            name == "localhost" || name.contains('.') && !name.starts_with('.') && !name.contains("..")
        }
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => true,
        None => false,
    };
    plain && (is_server || url.port().is_some()) && url.path() == "/"
}

/// Whether a text is one part of a repository's name.
fn is_component(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = text.as_bytes();
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().copied().all(good) && !text.contains("..")
}

pub(crate) fn is_tag(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first && text.len() <= MAX_TAG && text.bytes().all(good)
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_and_written_alike() {
        let digest = OciDigest::of(b"");
        for text in [
            "ghcr.io/acme/fetch",
            "ghcr.io/acme/fetch:1.2.0",
            "localhost:5000/a",
            "127.0.0.1:5000/a-b/c_d:x",
            "[::1]:5000/a",
        ] {
            assert_eq!(text.parse::<Reference>().map(|it| it.to_string()), Ok(text.to_owned()));
            let pinned = format!("{text}@{digest}");
            assert_eq!(pinned.parse::<Reference>().map(|it| it.which()), Ok(Which::Digest(digest.clone())));
        }
        let plain: Reference = "ghcr.io/acme/fetch".parse().expect("it is one");
        assert_eq!(plain.which(), Which::Tag("latest".to_owned()));
        assert_eq!(plain.or_tag("1.0.0").which(), Which::Tag("1.0.0".to_owned()));
    }

    #[test]
    fn reference_that_is_invalid_is_reported_with_the_reason() {
        for (text, why) in [
            ("fetch", "names no registry"),
            ("acme/fetch", "not a server name"),
            ("../fetch.tar", "not a server name"),
            ("./fetch.tar", "not a server name"),
            ("a..b/fetch", "not a server name"),
            ("https://ghcr.io/acme/fetch", "not a server name"),
            ("user@ghcr.io/acme/fetch", "its digest"),
            ("ghcr.io/", "its repository"),
            ("ghcr.io/Acme/fetch", "its repository"),
            ("ghcr.io/acme/../fetch", "its repository"),
            ("ghcr.io/acme//fetch", "its repository"),
            ("ghcr.io/acme/fetch:", "its tag"),
            ("ghcr.io/acme/fetch:a/b", "its tag"),
            ("ghcr.io/acme/fetch@sha256:12", "its digest"),
            ("gh\u{202e}cr.io/acme/fetch", "not a server name"),
            ("ghcr.io?x=/acme/fetch", "not a server name"),
        ] {
            let error = text.parse::<Reference>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}

//! `plugins.lock`: which plugins, to the byte, a project or a user has, who signed them, and what they were granted.
//!
//! Promises: a parsed entry is complete (a plugin without signers states this explicitly), and [`check_update`] says
//! what a new version changes of what the user agreed to.
//!
//! Deliberately not here: where the file is, and scopes as more than text: the binary reads those, as it reads a
//! `--grant`.

mod update;

use std::collections::BTreeMap;

use host_capability::Capability;
use host_manifest::{check_name, cut, cut_lines};
use host_text::Advice;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::oci::OciDigest;
use crate::signature::KeyId;

pub use update::{Allow, SignerChange, Update, UpdateRefusal, VersionChange, check_update};

/// The largest file. Protects memory; a thousand plugins stay below.
const MAX_FILE: usize = 4 << 20;
/// Plugins of a file. Protects the reader.
const MAX_PLUGINS: usize = 1_000;
/// The layout of the file.
const VERSION: u32 = 1;

/// The plugins of a `plugins.lock`, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Each plugin.
    pub plugins: BTreeMap<String, Locked>,
}

/// One plugin, as it was when it was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Where it came from: a registry's reference, an address or a path.
    pub source: String,
    /// Its version.
    pub version: Version,
    /// The digest of its image manifest: all of it.
    pub digest: OciDigest,
    /// The digest of its component: what runs.
    pub component: OciDigest,
    /// Its signers.
    pub signers: Signers,
    /// Its grants, as `--grant` has them, by capability.
    pub grants: BTreeMap<String, String>,
}

/// The signers of a plugin whose signatures were counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signers {
    /// These keys.
    Keys(Vec<KeyId>),
    /// Nobody whom the user trusts, and the user took it nevertheless.
    Unsigned,
}

/// Why a lock file is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It is not TOML, or has an unknown key.
    #[error("invalid plugins.lock: {0}")]
    Malformed(String),
    /// It was written by a newer host.
    #[error("plugins.lock is of version {found}, and this host reads version {VERSION}; update the host")]
    Newer {
        /// Its version.
        found: u32,
    },
    /// An entry is invalid.
    #[error("invalid entry `{plugin}` in plugins.lock: {why}; install the plugin again")]
    Plugin {
        /// The plugin.
        plugin: String,
        /// The reason.
        why: String,
    },
}

impl LockError {
    /// Returns what the user can do; `None` if the text of the error says it.
    pub fn help(&self) -> Option<Advice> {
        match self {
            Self::Malformed(_) => {
                Some(Advice::default().command("plugin install").text(" writes it, so install the plugins again"))
            }
            Self::Newer { .. } | Self::Plugin { .. } => None,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    #[serde(default)]
    plugin: Vec<Written>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    source: String,
    version: Version,
    digest: OciDigest,
    component: OciDigest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signers: Option<Vec<KeyId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unsigned: Option<bool>,
    #[serde(default)]
    grants: BTreeMap<String, String>,
}

impl Locked {
    /// The entry of a checked bundle.
    pub fn new(bundle: &Bundle, source: &str, signers: Signers, grants: BTreeMap<String, String>) -> Self {
        Self {
            source: source.to_owned(),
            version: bundle.manifest().version.clone(),
            digest: bundle.digest().clone(),
            component: bundle.component_digest().clone(),
            signers,
            grants,
        }
    }
}

impl LockFile {
    /// Reads the text of a `plugins.lock`.
    ///
    /// # Errors
    ///
    /// With its line, when it has an unknown or a missing key; when a plugin is in it twice, has an invalid name, or
    /// has neither or both of `signers` and `unsigned`.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        /// The key that every version of the format has.
        #[derive(Deserialize)]
        struct Any {
            version: u32,
        }
        if text.len() > MAX_FILE {
            return Err(LockError::Malformed(format!("it has {} bytes, over the limit of {MAX_FILE}", text.len())));
        }
        let malformed = |error: toml::de::Error| LockError::Malformed(cut_lines(error.to_string().trim_end()));
        let Any { version } = toml::from_str(text).map_err(malformed)?;
        // A newer host wrote it: guessing would drop what it wrote.
        if version > VERSION {
            return Err(LockError::Newer { found: version });
        }
        let document: Document = toml::from_str(text).map_err(malformed)?;
        if document.version != VERSION || document.plugin.len() > MAX_PLUGINS {
            let why = format!("it is of version {version} and has {} plugins", document.plugin.len());
            return Err(LockError::Malformed(why));
        }
        let mut plugins = BTreeMap::new();
        for written in document.plugin {
            let plugin = written.name.clone();
            let wrong = |why: String| LockError::Plugin { plugin: cut(&plugin), why };
            // Names become paths and are shown.
            check_name(&plugin).map_err(|error| wrong(error.to_string()))?;
            if let Some(error) = written.grants.keys().find_map(|name| name.parse::<Capability>().err()) {
                return Err(wrong(error.to_string()));
            }
            // Exactly one of the two: an entry that lost its signers must not become one that needs none.
            let signers = match (written.signers, written.unsigned) {
                (Some(keys), None) if !keys.is_empty() => Signers::Keys(keys),
                (None, Some(true)) => Signers::Unsigned,
                _ => return Err(wrong("it has either `signers`, with a key, or `unsigned = true`".to_owned())),
            };
            let locked = Locked {
                source: written.source,
                version: written.version,
                digest: written.digest,
                component: written.component,
                signers,
                grants: written.grants,
            };
            // Two entries would be one plugin for one reader and another for the next.
            if plugins.insert(written.name, locked).is_some() {
                return Err(wrong("duplicate entry".to_owned()));
            }
        }
        Ok(Self { plugins })
    }

    /// The file's text: the same for the same plugins, in the order of their names, so that versions of it compare
    /// well.
    pub fn to_toml(&self) -> String {
        let written = |(name, locked): (&String, &Locked)| Written {
            name: name.clone(),
            source: locked.source.clone(),
            version: locked.version.clone(),
            digest: locked.digest.clone(),
            component: locked.component.clone(),
            signers: match &locked.signers {
                Signers::Keys(keys) => Some(keys.clone()),
                Signers::Unsigned => None,
            },
            unsigned: (locked.signers == Signers::Unsigned).then_some(true),
            grants: locked.grants.clone(),
        };
        let document = Document { version: VERSION, plugin: self.plugins.iter().map(written).collect() };
        let text = toml::to_string(&document).expect("the file is plain data with text for keys");
        format!("# Written by `host plugin install`; do not edit.\n{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(signers: Signers) -> Locked {
        Locked {
            source: "registry.example.com/acme/fetch:1.2.0".to_owned(),
            version: Version::new(1, 2, 0),
            digest: OciDigest::of(b"image"),
            component: OciDigest::of(b"component"),
            signers,
            grants: BTreeMap::from([("http".to_owned(), "api.example.com".to_owned())]),
        }
    }

    #[test]
    fn a_lock_file_reads_as_it_was_written() {
        let id = "E7620F1842B4E81F".parse().expect("an id");
        let file = LockFile {
            plugins: BTreeMap::from([
                ("acme/fetch".to_owned(), locked(Signers::Keys(vec![id]))),
                ("mine".to_owned(), Locked { grants: BTreeMap::new(), ..locked(Signers::Unsigned) }),
            ]),
        };
        let text = file.to_toml();
        assert_eq!(LockFile::parse(&text), Ok(file.clone()));
        assert_eq!(LockFile::parse(&text).map(|file| file.to_toml()), Ok(text.clone()));
        assert!(text.contains("unsigned = true\n") && text.contains("signers = [\"E7620F1842B4E81F\"]\n"), "{text}");
        assert_eq!(LockFile::parse("version = 1\n"), Ok(LockFile::default()));
    }

    #[test]
    fn a_lock_file_that_leaves_something_out_is_refused() {
        let good = LockFile { plugins: BTreeMap::from([("acme/x".to_owned(), locked(Signers::Unsigned))]) }.to_toml();
        let plugin = good.split_once("[[plugin]]").expect("a plugin").1.to_owned();
        for (text, says) in [
            (String::new(), "missing field `version`"),
            (good.replace("version = 1\n", "version = 2\nnews = 1\n"), "version 2, and this host reads version 1"),
            (good.replace("version = 1\n", "version = 0\n"), "of version 0"),
            (good.replace("unsigned = true\n", ""), "either `signers`"),
            (good.replace("unsigned = true", "unsigned = false"), "either `signers`"),
            (good.replace("unsigned = true", "signers = []"), "either `signers`"),
            (good.replace("unsigned = true", "unsigned = true\nsigners = [\"E7620F1842B4E81F\"]"), "either `signers`"),
            (good.replace("unsigned = true", "signers = [\"x\"]"), "invalid key id"),
            (good.replace("acme/x", "../x"), "invalid plugin name"),
            (good.replace("http =", "htp ="), "htp"),
            (good.replace("sha256:", "sha256:0"), "invalid digest"),
            (good.replace("source =", "sauce ="), "unknown field `sauce`"),
            (format!("{good}[[plugin]]{plugin}"), "duplicate entry"),
            (format!("{good}{}", format!("[[plugin]]{plugin}").repeat(1000)), "has 1001 plugins"),
            ("#".repeat(5 << 20), "over the limit"),
        ] {
            let error = LockFile::parse(&text).expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}

//! Indexes of plugins: getting those that the user configured, searching them, and finding a plugin by its name.
//!
//! Promises: only the user's own configuration names an index; one counts only if a key that the configuration names
//! for it signed it; it has a limited size and time; one that is older than one seen before is reported and not used.
//! An index grants nothing: what it names is installed as any bundle is, by the keys that the user trusts for plugins.
//!
//! Deliberately not here: what an index is and the check of its signature (`host-bundle`), and showing anything.

mod made;
mod place;
mod search;
mod seen;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host_bundle::{Bundle, IndexEntry, IndexError as Unopened, OciDigest, PluginIndex, PublicKey, SignedIndex, Trust};
use host_manifest::is_name;
use host_registry::{Login, Progress, Reference, Registry, RegistryError};
use host_settings::configuration::{Configuration, IndexConfig};
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Flag, Notice};
use jiff::Timestamp;
use semver::Version;

pub use self::made::{IndexRequest, make};
use self::place::Place;
pub use self::search::{Match, search};
pub use self::seen::OlderIndex;
use self::seen::Seen;
use crate::install::{BundleSource, registry_failure};
use crate::plugins::store;

/// An index that was read and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedIndex {
    /// The name in the configuration.
    pub name: String,
    /// Its contents.
    pub index: PluginIndex,
    /// Where it came from; files beside it are there, too.
    place: Place,
}

/// The indexes of a user: those that count, and why others do not.
#[derive(Debug, Default)]
pub struct Indexes {
    /// Those that count, in the order of their names.
    pub loaded: Vec<LoadedIndex>,
    /// Why others are not used.
    pub failed: Vec<Failure>,
}

/// What an index says of a plugin that is to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The name of the index in the configuration.
    pub index: String,
    /// What it says.
    pub entry: IndexEntry,
    /// Where the bundle is.
    pub source: String,
}

/// A plugin as a user names it without its place: `PUBLISHER/NAME[@VERSION]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginQuery {
    /// The name.
    pub name: String,
    /// The version; the newest release if there is none.
    pub version: Option<Version>,
}

/// Gets all indexes of the user.
///
/// # Errors
///
/// If none is configured, none counts, or the user's own files cannot be read.
pub async fn load(
    environment: &Environment,
    login: impl Fn(&str) -> Result<Option<Login>, Failure>,
    older: OlderIndex,
) -> Result<Indexes, Failure> {
    let folders = environment.folders()?;
    let configuration = Configuration::read(environment, &folders, None)?;
    if configuration.indexes.is_empty() {
        return Err(none("no index of plugins is configured".to_owned(), environment, &folders));
    }
    let trust = store::trusted_keys(&folders)?;
    let (folders, trust, login) = (&folders, &trust, &login);
    let got = configuration.indexes.iter().map(|(name, config)| async move {
        let place = Place::parse(&config.source, environment)?;
        let signed = place.get(folders, login).await?;
        let index = opened(&signed, &config.keys, trust)?;
        Ok::<_, Failure>((LoadedIndex { name: name.clone(), index, place }, signed.digest()))
    });
    let got = futures::future::join_all(got).await;
    let seen = Seen::new(folders);
    let mut indexes = Indexes::default();
    for (name, got) in configuration.indexes.keys().zip(got) {
        let counts = got.and_then(|(loaded, digest)| {
            let noted = seen.note(name, loaded.index.serial, &digest, older, Timestamp::now());
            noted.map(|()| loaded).map_err(Failure::from)
        });
        match counts {
            Ok(loaded) => indexes.loaded.push(loaded),
            Err(failure) => indexes.failed.push(about(name, &configuration.indexes, failure)),
        }
    }
    if indexes.loaded.is_empty() {
        let mut failed = indexes.failed.into_iter();
        if let Some(first) = failed.next() {
            return Err(failed.map(|other| other.notice()).fold(first, Failure::cause));
        }
        return Ok(Indexes::default());
    }
    Ok(indexes)
}

/// Why an index, or a plugin that it offers, is not used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The user configured no index.
    #[error("{message}")]
    NoIndex {
        /// What is not done.
        message: String,
        /// The user's configuration.
        path: PathBuf,
    },
    /// No index has the plugin.
    #[error("no index has the plugin `{plugin}`")]
    NoPlugin {
        /// The plugin, with its version if one is wanted.
        plugin: String,
        /// Why other indexes are not used.
        failed: Vec<Notice>,
    },
    /// Two indexes have different bundles of one version.
    #[error("two indexes have different bundles of `{plugin}` {version}")]
    Differing {
        /// The plugin.
        plugin: String,
        /// The version.
        version: Version,
        /// An index, and the bundle that it has.
        one: (String, OciDigest),
        /// The other index.
        other: (String, OciDigest),
    },
    /// A bundle differs from its entry.
    #[error("`{plugin}` {version} is not what the index `{index}` says")]
    OtherBundle {
        /// The plugin.
        plugin: String,
        /// The version.
        version: Version,
        /// The index.
        index: String,
        /// Why, in words.
        why: String,
    },
    /// The index names another bundle than the wanted one.
    #[error("`{plugin}` is not {wanted}")]
    OtherDigest {
        /// The plugin.
        plugin: String,
        /// The digest of the wanted bundle.
        wanted: OciDigest,
        /// What the index says.
        says: String,
    },
}

impl Fault for IndexError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoIndex { .. } => ErrorKind::Configuration,
            Self::NoPlugin { .. } => ErrorKind::Input,
            Self::Differing { .. } | Self::OtherBundle { .. } | Self::OtherDigest { .. } => ErrorKind::Untrusted,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoIndex { .. } => Vec::new(),
            Self::NoPlugin { failed, .. } => failed.clone(),
            Self::Differing { one, other, .. } => {
                vec![format!("`{}` has {}, `{}` has {}", one.0, one.1, other.0, other.1).into()]
            }
            Self::OtherBundle { why, .. } => vec![why.clone().into()],
            Self::OtherDigest { says, .. } => vec![says.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoIndex { path, .. } => Some(
                Advice::from(format!(
                    "add one to `{}`: [indexes.NAME] with source = \"https://…/index.json\" and keys = [\"RW…\"], the \
                     public key of its publisher; ",
                    path.display()
                ))
                .command("plugin index")
                .text(" makes one"),
            ),
            Self::NoPlugin { .. } => Some(
                Advice::default()
                    .command("plugin search")
                    .text(" lists what the indexes have; a bundle of a registry is REGISTRY/REPOSITORY"),
            ),
            Self::Differing { .. } => Some(
                Advice::from("ask its publisher which digest is right, and install it with ")
                    .flag(Flag::Digest)
                    .text(" from its own place"),
            ),
            Self::OtherBundle { .. } => Some("it is not installed; ask its publisher which one is right".into()),
            Self::OtherDigest { .. } => None,
        }
    }
}

/// The error of a user who configured no index.
fn none(message: String, environment: &Environment, folders: &Folders) -> Failure {
    let (path, _) = Configuration::path(environment, folders);
    IndexError::NoIndex { message, path }.into()
}

/// The failure of an index, with its name and source.
fn about(name: &str, indexes: &BTreeMap<String, IndexConfig>, failure: Failure) -> Failure {
    let source = indexes.get(name).map(|config| config.source.as_str()).unwrap_or_default();
    let mut causes = vec![Notice::from(failure.message)];
    causes.extend(failure.causes);
    let (name, source) = (host_text::exact(name), host_text::exact(source));
    Failure { message: format!("the index `{name}` ({source}) is not used"), causes, ..failure }
}

fn opened(signed: &SignedIndex, keys: &[PublicKey], trust: &Trust) -> Result<PluginIndex, Failure> {
    signed.open(keys, trust).map_err(|error| {
        let failure = Failure::from_error(ErrorKind::Untrusted, &error);
        match unopened_help(&error) {
            Some(help) => failure.help(help),
            None => failure,
        }
    })
}

/// What a user can do about an index that does not open; `None` if the error says it.
fn unopened_help(error: &Unopened) -> Option<&'static str> {
    match error {
        Unopened::OtherKey { .. } | Unopened::Revoked { .. } => {
            Some("ask its publisher; a new key of theirs is added to `keys` of the index in your configuration")
        }
        Unopened::Signature(_) => Some("ask its publisher, who signs it again after each change"),
        Unopened::Malformed(_) | Unopened::Entry { .. } | Unopened::TooLarge { .. } => {
            Some("its publisher has to correct it, and to sign it again")
        }
        Unopened::Layout { .. } | Unopened::Key(_) => None,
    }
}

impl PluginQuery {
    /// Reads `PUBLISHER/NAME[@VERSION]`; `None` for anything else, such as a file that exists or a reference.
    pub fn parse(text: &str) -> Option<Self> {
        if Path::new(text).exists() {
            return None;
        }
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version.parse().ok()?)),
            None => (text, None),
        };
        let (publisher, plugin) = name.split_once('/')?;
        // A server without a dot and a port can be meant: `localhost`.
        let is_query = is_name(publisher) && is_name(plugin) && publisher != "localhost";
        is_query.then(|| Self { name: name.to_owned(), version })
    }
}

impl Indexes {
    /// Finds a plugin by its name.
    ///
    /// # Errors
    ///
    /// If no index has it, or two indexes have different bundles of this version.
    pub fn find(&self, query: &PluginQuery) -> Result<Offer, Failure> {
        let is_wanted = |entry: &IndexEntry| {
            entry.name == query.name && query.version.as_ref().is_none_or(|version| *version == entry.version)
        };
        let all = self.loaded.iter().flat_map(|loaded| loaded.index.plugins.iter().map(move |entry| (loaded, entry)));
        let mut found: Vec<_> = all.filter(|(_, entry)| is_wanted(entry)).collect();
        // A release comes before a pre-release, then the newest one.
        found.sort_by_key(|(_, entry)| (entry.version.pre.is_empty(), entry.version.clone()));
        let Some((loaded, entry)) = found.last() else {
            let wanted = query.version.as_ref().map(|version| format!("@{version}")).unwrap_or_default();
            let plugin = format!("{}{wanted}", query.name);
            return Err(
                IndexError::NoPlugin { plugin, failed: self.failed.iter().map(Failure::notice).collect() }.into()
            );
        };
        let same = found.iter().filter(|(_, other)| other.version == entry.version);
        if let Some((other, different)) = same.into_iter().find(|(_, other)| other.digest != entry.digest) {
            return Err(IndexError::Differing {
                plugin: entry.name.clone(),
                version: entry.version.clone(),
                one: (loaded.name.clone(), entry.digest.clone()),
                other: (other.name.clone(), different.digest.clone()),
            }
            .into());
        }
        let source = loaded.place.beside(&entry.source)?;
        Ok(Offer { index: loaded.name.clone(), entry: (*entry).clone(), source })
    }
}

impl Offer {
    /// Checks that a bundle is what the index says. Whether it may be installed is another question.
    ///
    /// # Errors
    ///
    /// If it differs, or none of the keys that the index names signed it.
    pub fn check(&self, bundle: &Bundle) -> Result<(), Failure> {
        let differs = |why: String| IndexError::OtherBundle {
            plugin: self.entry.name.clone(),
            version: self.entry.version.clone(),
            index: self.index.clone(),
            why,
        };
        if let Some(why) = self.entry.difference(bundle) {
            return Err(differs(why).into());
        }
        if !self.entry.is_signed(bundle) {
            return Err(differs("none of the keys that the index names signed it".to_owned()).into());
        }
        Ok(())
    }
}

/// Gets the bundle of a plugin that the user named without its place, and where it was.
///
/// # Errors
///
/// If no index has it, or the bundle is not what the index says.
pub async fn fetch(
    query: &PluginQuery,
    digest: Option<&OciDigest>,
    environment: &Environment,
    login: impl Fn(&str) -> Result<Option<Login>, Failure>,
    older: OlderIndex,
    progress: Progress<'_>,
) -> Result<(Bundle, String), Failure> {
    let folders = environment.folders()?;
    if Configuration::read(environment, &folders, None)?.indexes.is_empty() {
        let message = format!("`{}` is not a file, and no index of plugins is configured", query.name);
        return Err(none(message, environment, &folders));
    }
    let offer = load(environment, &login, older).await?.find(query)?;
    let says = format!("the index `{}` says that it is {}", offer.index, offer.entry.digest);
    if let Some(wanted) = digest.filter(|wanted| **wanted != offer.entry.digest) {
        return Err(IndexError::OtherDigest { plugin: query.name.clone(), wanted: wanted.clone(), says }.into());
    }
    let source = BundleSource::parse(&offer.source, Some(&offer.entry.digest))?;
    let fetched = source.fetch(&folders, &login, progress).await;
    let is_other = |failure: &Failure| failure.kind == ErrorKind::Untrusted;
    let (bundle, place) = fetched.map_err(|failure| if is_other(&failure) { failure.cause(says) } else { failure })?;
    offer.check(&bundle)?;
    Ok((bundle, place))
}

/// Pushes an index to a registry.
///
/// # Errors
///
/// If the registry rejects it.
pub async fn push(
    reference: &Reference,
    index: &SignedIndex,
    folders: &Folders,
    login: impl FnOnce(&str) -> Result<Option<Login>, Failure>,
) -> Result<Reference, Failure> {
    let registry = Registry::new(login(reference.registry())?, folders.downloads.clone());
    let pushed = async { registry?.push_index(reference, index, &|_| {}).await };
    pushed.await.map_err(|error: RegistryError| registry_failure(error))
}

#[cfg(test)]
mod tests;

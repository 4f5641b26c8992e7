//! The places of indexes: an address, a registry, or a file; and of the bundles beside them.
//!
//! Promises: what arrives is limited in size and time; a bundle beside an index cannot be anywhere else.
//!
//! Deliberately not here: whether the index counts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use host_bundle::{MAX_INDEX_SIGNATURE, MAX_PLUGIN_INDEX, SIGNATURE_END, SignedIndex};
use host_files::FileError;
use host_registry::{Login, NoReference, Reference, Registry};
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Notice};

use crate::install::registry_failure;

/// How long an index may take to arrive. Protects the user from a slow server.
pub(super) const MAX_TIME: Duration = Duration::from_secs(30);

/// Why an index is not read from its place.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlaceError {
    /// The place is beneath the home.
    #[error("cannot find your home folder")]
    NoHome,
    /// The configured source is no place.
    #[error("its source is not an https address, a reference or an absolute path")]
    NoPlace(NoReference),
    /// The index names a place that a user cannot use.
    #[error("the index has an invalid place `{place}`")]
    Beside {
        /// The place, safe to show.
        place: String,
        /// Why, in words.
        why: &'static str,
    },
    /// It took too long.
    #[error("it did not arrive within {} seconds", MAX_TIME.as_secs())]
    TooSlow,
    /// Its file or signature cannot be read.
    #[error("`{}` cannot be read", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
}

impl Fault for PlaceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoHome | Self::NoPlace(_) | Self::Unreadable { .. } => ErrorKind::Configuration,
            Self::Beside { .. } => ErrorKind::Untrusted,
            Self::TooSlow => ErrorKind::Input,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoHome | Self::TooSlow => Vec::new(),
            Self::NoPlace(cause) => vec![cause.to_string().into()],
            Self::Beside { why, .. } => vec![(*why).to_owned().into()],
            Self::Unreadable { cause, .. } => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoHome | Self::NoPlace(_) | Self::Beside { .. } | Self::Unreadable { .. } => None,
            Self::TooSlow => Some("try again, or remove it from your configuration".into()),
        }
    }
}

/// The place of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Web(String),
    Registry(Reference),
    Path(PathBuf),
}

impl Place {
    pub(super) fn parse(source: &str, environment: &Environment) -> Result<Self, PlaceError> {
        if source.starts_with("https://") || source.starts_with("http://") {
            return Ok(Self::Web(source.to_owned()));
        }
        if let Some(rest) = source.strip_prefix("~/") {
            let home = environment.home().ok_or(PlaceError::NoHome)?;
            return Ok(Self::Path(home.join(rest)));
        }
        if Path::new(source).is_absolute() {
            return Ok(Self::Path(PathBuf::from(source)));
        }
        source.parse().map(Self::Registry).map_err(PlaceError::NoPlace)
    }

    pub(super) async fn get(
        &self,
        folders: &Folders,
        login: &impl Fn(&str) -> Result<Option<Login>, Failure>,
    ) -> Result<SignedIndex, Failure> {
        let got = async {
            match self {
                Self::Web(address) => host_registry::download_index(address).await.map_err(registry_failure),
                Self::Registry(reference) => {
                    let login = login(reference.registry())?;
                    let registry = Registry::new(login, folders.downloads.clone()).map_err(registry_failure)?;
                    registry.pull_index(reference).await.map_err(registry_failure)
                }
                Self::Path(path) => Ok(read(path)?),
            }
        };
        in_time(got).await
    }

    /// Returns the source of a bundle that is beside the index.
    pub(super) fn beside(&self, source: &str) -> Result<String, PlaceError> {
        let invalid = |why| PlaceError::Beside { place: host_text::exact(source).into_owned(), why };
        // A name without a slash is a file, not a reference.
        if source.starts_with("https://") || source.parse::<Reference>().is_ok() {
            return Ok(source.to_owned());
        }
        if matches!(source, "." | "..") || source.contains(['/', '\\', ':', '?', '#', '%']) {
            return Err(invalid("it is not an https address, a reference, or a file beside the index"));
        }
        match self {
            Self::Web(address) => match address.split(['?', '#']).next().unwrap_or_default().rsplit_once('/') {
                Some((folder, _)) => Ok(format!("{folder}/{source}")),
                None => Err(invalid("the address of the index has no path")),
            },
            Self::Path(path) => Ok(path.with_file_name(source).display().to_string()),
            Self::Registry(_) => Err(invalid("an index in a registry has no files beside it")),
        }
    }
}

/// Waits for an index, and not for ever.
pub(super) async fn in_time<T>(got: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(MAX_TIME, got).await.unwrap_or_else(|_| Err(PlaceError::TooSlow.into()))
}

fn read(path: &Path) -> Result<SignedIndex, PlaceError> {
    let unreadable = |path: &Path, cause| PlaceError::Unreadable { path: path.to_owned(), cause };
    let bytes = host_files::read_file(path, MAX_PLUGIN_INDEX).map_err(|cause| unreadable(path, cause))?;
    let beside = PathBuf::from(format!("{}{SIGNATURE_END}", path.display()));
    let signature = host_files::read_text(&beside, MAX_INDEX_SIGNATURE).map_err(|cause| unreadable(&beside, cause))?;
    Ok(SignedIndex { bytes, signature })
}

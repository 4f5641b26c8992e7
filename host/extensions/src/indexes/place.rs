//! The places of indexes: an address, a registry, or a file; and of the bundles beside them.
//!
//! Promises: what arrives is limited in size and time; a bundle beside an index cannot be anywhere else.
//!
//! Deliberately not here: whether the index counts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use host_bundle::{MAX_INDEX_SIGNATURE, MAX_PLUGIN_INDEX, SIGNATURE_END, SignedIndex};
use host_registry::{Login, Reference, Registry};
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure};

use crate::install::registry_failure;

/// How long an index may take to arrive. Protects the user from a slow server.
pub(super) const MAX_TIME: Duration = Duration::from_secs(30);

/// The place of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Web(String),
    Registry(Reference),
    Path(PathBuf),
}

impl Place {
    pub(super) fn parse(source: &str, environment: &Environment) -> Result<Self, Failure> {
        if source.starts_with("https://") || source.starts_with("http://") {
            return Ok(Self::Web(source.to_owned()));
        }
        if let Some(rest) = source.strip_prefix("~/") {
            let home = environment.home().ok_or_else(|| Failure::configuration("cannot find your home folder"))?;
            return Ok(Self::Path(home.join(rest)));
        }
        if Path::new(source).is_absolute() {
            return Ok(Self::Path(PathBuf::from(source)));
        }
        source.parse().map(Self::Registry).map_err(|error: host_registry::NoReference| {
            Failure::configuration("its source is not an https address, a reference or an absolute path")
                .cause(error.to_string())
        })
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
                Self::Path(path) => read(path),
            }
        };
        in_time(got).await
    }

    /// Returns the source of a bundle that is beside the index.
    pub(super) fn beside(&self, source: &str) -> Result<String, Failure> {
        let invalid = |why: &str| {
            Failure::new(ErrorKind::Untrusted, format!("the index has an invalid place `{}`", host_text::exact(source)))
                .cause(why.to_owned())
        };
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
    tokio::time::timeout(MAX_TIME, got).await.unwrap_or_else(|_| {
        let seconds = MAX_TIME.as_secs();
        Err(Failure::input(format!("it did not arrive within {seconds} seconds"))
            .help("try again, or remove it from your configuration"))
    })
}

fn read(path: &Path) -> Result<SignedIndex, Failure> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::configuration(format!("`{}` cannot be read", path.display())).cause(error.to_string())
    };
    let bytes = host_files::read_file(path, MAX_PLUGIN_INDEX).map_err(|error| unreadable(path, &error))?;
    let beside = PathBuf::from(format!("{}{SIGNATURE_END}", path.display()));
    let signature = host_files::read_text(&beside, MAX_INDEX_SIGNATURE).map_err(|error| unreadable(&beside, &error))?;
    Ok(SignedIndex { bytes, signature })
}

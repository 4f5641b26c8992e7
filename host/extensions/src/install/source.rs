//! Sources of bundles: a registry, a file or folder, or a web server.
//!
//! Deliberately not here: whether the bundle may be installed.

use std::io;
use std::path::{Path, PathBuf};

use host_bundle::{Bundle, OciDigest, UnpackError};
use host_registry::{Login, NoReference, Pace, Progress, Reference, Registry, RegistryError};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Flag, Notice};
use jiff::Timestamp;

use crate::plugins::store;

/// The location of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleSource {
    /// At an address, known by the digest of what is there.
    Web {
        /// The address.
        url: String,
        /// The digest of the bundle.
        digest: OciDigest,
    },
    /// In a file or folder.
    Path(PathBuf),
    /// In a registry.
    Registry(Reference),
}

/// Why a bundle is not got from its source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// An address without a digest.
    #[error("`{0}` needs the digest of its bundle")]
    NoDigest(String),
    /// It is no source.
    #[error("`{text}` is neither a file nor a bundle in a registry")]
    NoSource {
        /// What the user named.
        text: String,
        /// Why.
        cause: NoReference,
    },
    /// A file cannot be read.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It is another bundle than the wanted one.
    #[error("`{named}` is a different bundle")]
    OtherBundle {
        /// The source, as the user named it.
        named: String,
        /// Its digest.
        found: OciDigest,
        /// The digest of the wanted bundle.
        wanted: OciDigest,
    },
    /// It is no bundle.
    #[error("cannot read the bundle `{}`", .path.display())]
    Bundle {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: Box<UnpackError>,
    },
}

impl Fault for SourceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoDigest(_) | Self::NoSource { .. } | Self::Unreadable { .. } | Self::Bundle { .. } => {
                ErrorKind::Input
            }
            Self::OtherBundle { .. } => ErrorKind::Untrusted,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NoDigest(_) | Self::Unreadable { .. } => Vec::new(),
            Self::NoSource { cause, .. } => vec![cause.to_string().into()],
            Self::OtherBundle { found, wanted, .. } => vec![format!("its digest is {found}, not {wanted}").into()],
            Self::Bundle { cause, .. } => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NoDigest(_) => {
                Some(Advice::from("add ").flag_with(Flag::Digest, "sha256:…").text(", as its publisher gives it"))
            }
            Self::NoSource { .. } | Self::Unreadable { .. } => None,
            Self::OtherBundle { .. } => Some("ask the publisher which digest is right".into()),
            Self::Bundle { cause, .. } => match **cause {
                UnpackError::Unreadable { .. } => Some("check the path, and that you may read it".into()),
                UnpackError::Several { .. } => None,
                UnpackError::Archive(_)
                | UnpackError::Entry { .. }
                | UnpackError::TooMany
                | UnpackError::TooLarge
                | UnpackError::NoFile(_)
                | UnpackError::Changed { .. }
                | UnpackError::Layout { .. }
                | UnpackError::Referrer { .. }
                | UnpackError::Content(_) => {
                    Some(Advice::from("get it again from its publisher; ").command("plugin pack").text(" makes one"))
                }
            },
        }
    }
}

impl BundleSource {
    /// Reads a source as a user writes it. What comes from an address needs a digest.
    pub fn parse(text: &str, digest: Option<&OciDigest>) -> Result<Self, SourceError> {
        if text.starts_with("https://") || text.starts_with("http://") {
            return match digest {
                Some(digest) => Ok(Self::Web { url: text.to_owned(), digest: digest.clone() }),
                None => Err(SourceError::NoDigest(text.to_owned())),
            };
        }
        if Path::new(text).exists() || layout(text).is_some() {
            return Ok(Self::Path(PathBuf::from(text)));
        }
        let reference = text.parse().map_err(|cause| SourceError::NoSource { text: text.to_owned(), cause });
        reference.map(Self::Registry)
    }

    /// Gets the bundle, and the name that finds the same bundle again. A registry is asked with the login that `login`
    /// has for it, and for the signatures of the keys that the user trusts first; downloads that broke off are kept.
    pub async fn fetch(
        &self,
        folders: &Folders,
        login: impl FnOnce(&str) -> Result<Option<Login>, Failure>,
        progress: Progress<'_>,
    ) -> Result<(Bundle, String), Failure> {
        match self {
            Self::Web { url, digest } => {
                let bundle = host_registry::download(url, digest, &folders.downloads, Pace::default(), progress).await;
                Ok((bundle.map_err(registry_failure)?, url.clone()))
            }
            Self::Path(path) => {
                let (file, name) = place(path);
                let real = std::fs::canonicalize(file)
                    .map_err(|cause| SourceError::Unreadable { path: file.to_owned(), cause })?;
                let found_again = match name {
                    Some(name) => format!("oci:{}:{name}", real.display()),
                    None => real.display().to_string(),
                };
                Ok((read_bundle(path)?, found_again))
            }
            Self::Registry(reference) => {
                let login = login(reference.registry())?;
                let registry = Registry::new(login, folders.downloads.clone()).map_err(registry_failure)?;
                let preferred = store::trusted_keys(folders)?.preferred(Timestamp::now());
                let bundle = registry.pull(reference, &preferred, progress).await.map_err(|error| {
                    let is_missing = matches!(error, RegistryError::NotFound { .. });
                    let failure = registry_failure(error);
                    let repository = format!("{}/{}", reference.registry(), reference.repository());
                    match is_missing {
                        true => {
                            let versions = Advice::default().command(format!("plugin versions {repository}"));
                            failure.help(versions.text(" lists what it has"))
                        }
                        false => failure,
                    }
                })?;
                let pinned = reference.clone().pinned(bundle.digest().clone());
                Ok((bundle, pinned.to_string()))
            }
        }
    }
}

/// Gets the bundle of a source as a user writes it; with a digest, the one with this digest.
pub async fn fetch(
    source: &str,
    digest: Option<&OciDigest>,
    folders: &Folders,
    login: impl FnOnce(&str) -> Result<Option<Login>, Failure>,
    progress: Progress<'_>,
) -> Result<(Bundle, String), Failure> {
    let (bundle, place) = BundleSource::parse(source, digest)?.fetch(folders, login, progress).await?;
    match digest {
        Some(wanted) if wanted != bundle.digest() => {
            let (named, found) = (source.to_owned(), bundle.digest().clone());
            Err(SourceError::OtherBundle { named, found, wanted: wanted.clone() }.into())
        }
        Some(_) | None => Ok((bundle, place)),
    }
}

/// Reads a bundle from an untrusted source: a file or folder, or one of several in a layout as other clients name it,
/// `oci:PATH[:NAME]` or `oci-archive:PATH[:NAME]`.
pub fn read_bundle(file: &Path) -> Result<Bundle, SourceError> {
    let (path, name) = place(file);
    Bundle::read_named(path, name)
        .map_err(|cause| SourceError::Bundle { path: file.to_owned(), cause: Box::new(cause) })
}

/// Whether a source is a layout that may have more in it than one bundle, so that nothing can be added to it as to a
/// file.
pub fn is_layout(file: &Path) -> bool {
    file.is_dir() || place(file).0 != file
}

/// The file or folder of a source, and the name of one bundle in it. A file that exists is meant, however it is called.
fn place(file: &Path) -> (&Path, Option<&str>) {
    match file.to_str().and_then(layout) {
        Some((path, name)) if !file.exists() => (Path::new(path), name),
        Some(_) | None => (file, None),
    }
}

/// Reads the name of a layout as other clients write it: the path has no colon in it.
fn layout(text: &str) -> Option<(&str, Option<&str>)> {
    let rest = text.strip_prefix("oci:").or_else(|| text.strip_prefix("oci-archive:"))?;
    Some(match rest.split_once(':') {
        Some((path, name)) => (path, Some(name)),
        None => (rest, None),
    })
}

/// A failed transfer, with its exit code.
pub fn registry_failure(error: RegistryError) -> Failure {
    let kind = match error {
        RegistryError::Unauthorized { .. } => ErrorKind::Authentication,
        RegistryError::Changed { .. }
        | RegistryError::Content(_)
        | RegistryError::Refused(_)
        | RegistryError::Insecure { .. } => ErrorKind::Untrusted,
        RegistryError::Io { .. } | RegistryError::Client(_) => ErrorKind::Configuration,
        RegistryError::Unreachable { .. }
        | RegistryError::Redirected { .. }
        | RegistryError::NotFound { .. }
        | RegistryError::Status { .. }
        | RegistryError::Protocol { .. }
        | RegistryError::TooLarge { .. }
        | RegistryError::TooSlow { .. }
        | RegistryError::BrokeOff { .. } => ErrorKind::Input,
    };
    Failure::from_error(kind, &error)
}

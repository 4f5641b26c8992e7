//! The plugin store: installed bundles, the user's grants for each, and the lock files that name them.
//!
//! A lock file is a project's `.host/plugins.lock`, which counts if the project is trusted, or the user's own; the
//! bundles and the grants are the user's alone, so that no project grants anything. Promises: whatever is read of a
//! bundle is hashed and compared with its digest, each time.
//!
//! Deliberately not here: getting a bundle, and asking the user (`install`).

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_bundle::{
    Bundle, LockError, LockFile, Locked, OciDigest, StoreError as KeysError, StoredBundle, Trust, TrustStore,
    UnpackError,
};
use host_capability::{Capability, Grants, Scope, ScopeError, UnknownCapability};
use host_files::{Access, FileError, Mode, PrivateFile};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::project::ProjectFile;
use host_text::{Advice, Notice};
use serde::{Deserialize, Serialize};

/// The user's own lock file, in the folder of the configuration.
pub const USER_LOCKFILE: &str = "plugins.lock";

/// The file with the user's grants, in the folder of the bundles.
const AGREED: &str = "agreed.json";

/// The largest of these files. Protects memory.
const MAX_FILE: u64 = 16 << 20;

/// The layout of the file.
const VERSION: u32 = 1;

/// Grants of a plugin without a question: scopes in the format of `--grant`, by capability.
pub type Agreed = BTreeMap<String, String>;

/// The installed bundles, and the user's grants for each.
#[derive(Clone, Debug)]
pub struct PluginStore {
    folder: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    bundles: BTreeMap<OciDigest, Agreed>,
}

impl PluginStore {
    /// The store of this user.
    pub fn new(folders: &Folders) -> Self {
        Self { folder: folders.plugins.clone() }
    }

    fn path(&self, digest: &OciDigest) -> PathBuf {
        self.folder.join(format!("{}.tar", digest.digits()))
    }

    /// Keeps a bundle, with the user's grants for it.
    pub fn keep(&self, bundle: &Bundle, agreed: Agreed) -> Result<(), StoreError> {
        write(&self.path(bundle.digest()), &bundle.to_archive())?;
        let mut document = self.document()?;
        document.bundles.insert(bundle.digest().clone(), agreed);
        let text = serde_json::to_string_pretty(&document).map_err(|error| self.unusable(error.to_string()))?;
        write(&self.folder.join(AGREED), text.as_bytes())
    }

    /// The bundle with this digest, whole; `None` if it is not installed.
    pub fn bundle(&self, digest: &OciDigest) -> Result<Option<Bundle>, StoreError> {
        self.read(digest, Bundle::read)
    }

    /// The bundle of this entry, with its component where it is; `None` if it is not installed.
    pub fn stored(&self, locked: &Locked) -> Result<Option<StoredBundle>, StoreError> {
        self.read(&locked.digest, |path| StoredBundle::open(path, &locked.component))
    }

    fn read<F>(
        &self,
        digest: &OciDigest,
        read: impl FnOnce(&Path) -> Result<Bundle<F>, UnpackError>,
    ) -> Result<Option<Bundle<F>>, StoreError> {
        let path = self.path(digest);
        if !path.exists() {
            return Ok(None);
        }
        let changed = |why: String| StoreError::Changed { path: path.clone(), why };
        let bundle = read(&path).map_err(|error| changed(error.to_string()))?;
        if bundle.digest() != digest {
            return Err(changed(format!("its digest is now {}", bundle.digest())));
        }
        Ok(Some(bundle))
    }

    /// The user's grants for a bundle.
    pub fn agreed(&self, digest: &OciDigest) -> Result<Agreed, StoreError> {
        Ok(self.all_agreed()?.remove(digest).unwrap_or_default())
    }

    /// The user's grants for all bundles.
    pub fn all_agreed(&self) -> Result<BTreeMap<OciDigest, Agreed>, StoreError> {
        Ok(self.document()?.bundles)
    }

    fn document(&self) -> Result<Document, StoreError> {
        let path = self.folder.join(AGREED);
        let Some(text) = read(&path, PrivateFile::new(&path, Access::Write, MAX_FILE).read())? else {
            return Ok(Document { version: VERSION, ..Document::default() });
        };
        let document: Document = serde_json::from_str(&text).map_err(|error| self.unusable(error.to_string()))?;
        if document.version != VERSION {
            return Err(
                self.unusable(format!("its version is {}, and this host reads version {VERSION}", document.version))
            );
        }
        Ok(document)
    }

    fn unusable(&self, why: String) -> StoreError {
        StoreError::Agreed { path: self.folder.join(AGREED), why }
    }
}

/// Why installed plugins, or the lists of them, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A bundle is not the one that was installed.
    #[error("the plugin `{}` was changed since it was installed", .path.display())]
    Changed {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// The file with what the user agreed to is invalid.
    #[error("invalid `{}`: {why}", .path.display())]
    Agreed {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// A list of plugins is invalid.
    #[error("`{}` cannot be used", .path.display())]
    List {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: LockError,
    },
    /// A list of plugins cannot be written.
    #[error("`{}` cannot be written: {cause}", .path.display())]
    ListUnwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The list of trusted keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// A grant is for something that is no capability.
    #[error("invalid grant `{name}={text}`")]
    Capability {
        /// The name.
        name: String,
        /// The scope.
        text: String,
        /// Why.
        cause: UnknownCapability,
    },
    /// A grant has an invalid scope.
    #[error("invalid grant `{name}={text}`")]
    Scope {
        /// The capability.
        name: String,
        /// The scope.
        text: String,
        /// Why.
        cause: ScopeError,
    },
    /// Other users could have changed a file.
    #[error("`{}` cannot be used: {cause}", .path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
    /// A file cannot be read.
    #[error("`{}` cannot be used: {cause}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
    /// A file cannot be written.
    #[error("`{}` cannot be written: {cause}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for StoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Changed { .. }
            | Self::Agreed { .. }
            | Self::List { .. }
            | Self::ListUnwritable { .. }
            | Self::Keys(_)
            | Self::Exposed { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. } => ErrorKind::Configuration,
            Self::Capability { .. } | Self::Scope { .. } => ErrorKind::Input,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Changed { why, .. } => vec![why.clone().into()],
            Self::Agreed { .. }
            | Self::ListUnwritable { .. }
            | Self::Keys(_)
            | Self::Exposed { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. } => Vec::new(),
            Self::List { cause, .. } => vec![cause.to_string().into()],
            Self::Capability { cause, .. } => vec![cause.to_string().into()],
            Self::Scope { cause, .. } => vec![cause.to_string().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Changed { .. } => {
                Some("remove the file and install the plugin again, unless you know who changed it".into())
            }
            Self::Agreed { .. } => Some("remove the file, and answer again for each plugin that you install".into()),
            Self::List { cause, .. } => cause.help(),
            Self::ListUnwritable { .. } | Self::Keys(_) | Self::Capability { .. } | Self::Unreadable { .. } => None,
            Self::Scope { cause, .. } => Some(cause.help().into()),
            Self::Exposed { path, .. } => {
                Some(format!("if its contents are right: chmod 600 '{}'", path.display()).into())
            }
            Self::Unwritable { .. } => Some("make its folder writable for you".into()),
        }
    }
}

/// A list of plugins, and where it is.
#[derive(Clone, Debug)]
pub struct List {
    /// The path of the list.
    pub path: PathBuf,
    /// Its entries.
    pub file: LockFile,
}

impl List {
    /// Reads the user's own list.
    pub fn own(folders: &Folders) -> Result<Self, StoreError> {
        Self::at(folders.configuration.join(USER_LOCKFILE))
    }

    /// Reads the list at this path, which need not exist.
    pub fn at(path: PathBuf) -> Result<Self, StoreError> {
        let text = read(&path, host_files::read_text(&path, MAX_FILE).map(Some))?
            .unwrap_or_else(|| "version = 1\n".to_owned());
        Self::parse(path, &text)
    }

    /// Reads the list of a trusted project.
    pub fn from_project(file: &ProjectFile) -> Result<Self, Failure> {
        Ok(Self::parse(file.path.clone(), file.text()?)?)
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, StoreError> {
        let file = match LockFile::parse(text) {
            Ok(file) => file,
            Err(cause) => return Err(StoreError::List { path, cause }),
        };
        Ok(Self { path, file })
    }

    /// Writes it, readable as the files around it.
    pub fn save(&self) -> Result<(), StoreError> {
        let unwritable = |cause| StoreError::ListUnwritable { path: self.path.clone(), cause };
        std::fs::create_dir_all(self.path.parent().unwrap_or(Path::new("."))).map_err(unwritable)?;
        write(&self.path, self.file.to_toml().as_bytes())?;
        std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(0o644)).map_err(unwritable)
    }
}

/// The keys that the user trusts.
pub fn trusted_keys(folders: &Folders) -> Result<Trust, StoreError> {
    Ok(TrustStore::at(folders.keys.clone()).load()?)
}

/// The user's grants, parsed.
pub fn grants(agreed: &Agreed, workspace: &Path) -> Result<Grants, StoreError> {
    let scope = |(name, text): (&String, &String)| {
        let of = || (name.clone(), text.clone());
        let capability: Capability = name.parse().map_err(|cause| {
            let (name, text) = of();
            StoreError::Capability { name, text, cause }
        })?;
        Scope::parse(capability, text, workspace).map_err(|cause| {
            let (name, text) = of();
            StoreError::Scope { name, text, cause }
        })
    };
    agreed.iter().map(scope).collect()
}

/// Returns the text of a file that the host keeps; `None` if there is no file.
fn read(path: &Path, text: Result<Option<String>, FileError>) -> Result<Option<String>, StoreError> {
    match text {
        Ok(text) => Ok(text),
        Err(error) if error.is_missing() => Ok(None),
        Err(cause @ FileError::Exposed(_)) => Err(StoreError::Exposed { path: path.to_owned(), cause }),
        Err(cause) => Err(StoreError::Unreadable { path: path.to_owned(), cause }),
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let unwritable = |cause| StoreError::Unwritable { path: path.to_owned(), cause };
    let folder = path.parent().unwrap_or(Path::new("."));
    host_files::make_private_folder(folder).map_err(unwritable)?;
    host_files::replace(path, bytes, Mode::Private).map_err(unwritable)
}

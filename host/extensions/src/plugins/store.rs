//! The plugin store: installed bundles, the user's grants for each, and the lock files that name them.
//!
//! A lock file is a project's `.host/plugins.lock`, which counts if the project is trusted, or the user's own; the
//! bundles and the grants are the user's alone, so that no project grants anything. Promises: whatever is read of a
//! bundle is hashed and compared with its digest, each time.
//!
//! Deliberately not here: getting a bundle, and asking the user (`install`).

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_bundle::{Bundle, LockFile, Locked, OciDigest, StoredBundle, Trust, TrustStore, UnpackError};
use host_capability::{Capability, Grants, Scope};
use host_files::{Access, FileError, Mode, PrivateFile};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::ProjectFile;
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
    pub fn keep(&self, bundle: &Bundle, agreed: Agreed) -> Result<(), Failure> {
        write(&self.path(bundle.digest()), &bundle.to_archive())?;
        let mut document = self.document()?;
        document.bundles.insert(bundle.digest().clone(), agreed);
        let text = serde_json::to_string_pretty(&document).map_err(|error| self.unusable(&error.to_string()))?;
        write(&self.folder.join(AGREED), text.as_bytes())
    }

    /// The bundle with this digest, whole; `None` if it is not installed.
    pub fn bundle(&self, digest: &OciDigest) -> Result<Option<Bundle>, Failure> {
        self.read(digest, Bundle::read)
    }

    /// The bundle of this entry, with its component where it is; `None` if it is not installed.
    pub fn stored(&self, locked: &Locked) -> Result<Option<StoredBundle>, Failure> {
        self.read(&locked.digest, |path| StoredBundle::open(path, &locked.component))
    }

    fn read<F>(
        &self,
        digest: &OciDigest,
        read: impl FnOnce(&Path) -> Result<Bundle<F>, UnpackError>,
    ) -> Result<Option<Bundle<F>>, Failure> {
        let path = self.path(digest);
        if !path.exists() {
            return Ok(None);
        }
        let changed = |why: String| {
            Failure::configuration(format!("the plugin `{}` was changed since it was installed", path.display()))
                .cause(why)
                .help("remove the file and install the plugin again, unless you know who changed it")
        };
        let bundle = read(&path).map_err(|error| changed(error.to_string()))?;
        if bundle.digest() != digest {
            return Err(changed(format!("its digest is now {}", bundle.digest())));
        }
        Ok(Some(bundle))
    }

    /// The user's grants for a bundle.
    pub fn agreed(&self, digest: &OciDigest) -> Result<Agreed, Failure> {
        Ok(self.all_agreed()?.remove(digest).unwrap_or_default())
    }

    /// The user's grants for all bundles.
    pub fn all_agreed(&self) -> Result<BTreeMap<OciDigest, Agreed>, Failure> {
        Ok(self.document()?.bundles)
    }

    fn document(&self) -> Result<Document, Failure> {
        let path = self.folder.join(AGREED);
        let Some(text) = read(&path, PrivateFile::new(&path, Access::Write, MAX_FILE).read())? else {
            return Ok(Document { version: VERSION, ..Document::default() });
        };
        let document: Document = serde_json::from_str(&text).map_err(|error| self.unusable(&error.to_string()))?;
        if document.version != VERSION {
            return Err(
                self.unusable(&format!("its version is {}, and this host reads version {VERSION}", document.version))
            );
        }
        Ok(document)
    }

    fn unusable(&self, why: &str) -> Failure {
        Failure::configuration(format!("invalid `{}`: {why}", self.folder.join(AGREED).display()))
            .help("remove the file, and answer again for each plugin that you install")
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
    pub fn own(folders: &Folders) -> Result<Self, Failure> {
        Self::at(folders.configuration.join(USER_LOCKFILE))
    }

    /// Reads the list at this path, which need not exist.
    pub fn at(path: PathBuf) -> Result<Self, Failure> {
        let text = read(&path, host_files::read_text(&path, MAX_FILE).map(Some))?
            .unwrap_or_else(|| "version = 1\n".to_owned());
        Self::parse(path, &text)
    }

    /// Reads the list of a trusted project.
    pub fn from_project(file: &ProjectFile) -> Result<Self, Failure> {
        Self::parse(file.path.clone(), file.text()?)
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, Failure> {
        let file = LockFile::parse(text).map_err(|error| {
            Failure::configuration(format!("`{}` cannot be used", path.display())).cause(error.to_string())
        })?;
        Ok(Self { path, file })
    }

    /// Writes it, readable as the files around it.
    pub fn save(&self) -> Result<(), Failure> {
        let unwritable =
            |error| Failure::configuration(format!("`{}` cannot be written: {error}", self.path.display()));
        std::fs::create_dir_all(self.path.parent().unwrap_or(Path::new("."))).map_err(unwritable)?;
        write(&self.path, self.file.to_toml().as_bytes())?;
        std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(0o644)).map_err(unwritable)
    }
}

/// The keys that the user trusts.
pub fn trusted_keys(folders: &Folders) -> Result<Trust, Failure> {
    TrustStore::at(folders.keys.clone()).load().map_err(|error| Failure::from_error(ErrorKind::Configuration, &error))
}

/// The user's grants, parsed.
pub fn grants(agreed: &Agreed, workspace: &Path) -> Result<Grants, Failure> {
    let scope = |(name, text): (&String, &String)| {
        let wrong = |error: String| Failure::input(format!("invalid grant `{name}={text}`")).cause(error);
        let capability: Capability = name.parse().map_err(|error| wrong(format!("{error}")))?;
        Scope::parse(capability, text, workspace).map_err(|error| wrong(error.to_string()).help(error.help()))
    };
    agreed.iter().map(scope).collect()
}

/// Returns the text of a file that the host keeps; `None` if there is no file.
fn read(path: &Path, text: Result<Option<String>, FileError>) -> Result<Option<String>, Failure> {
    match text {
        Ok(text) => Ok(text),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => {
            let failure = Failure::configuration(format!("`{}` cannot be used: {error}", path.display()));
            Err(match error {
                FileError::Exposed(_) => {
                    failure.help(format!("if its contents are right: chmod 600 '{}'", path.display()))
                }
                _ => failure,
            })
        }
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| {
        Failure::configuration(format!("`{}` cannot be written: {error}", path.display()))
            .help("make its folder writable for you")
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    host_files::make_private_folder(folder).map_err(unwritable)?;
    host_files::replace(path, bytes, Mode::Private).map_err(unwritable)
}

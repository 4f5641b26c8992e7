//! The host side of `host:cap/state`: small values that a plugin keeps between calls.
//!
//! Each plugin has a folder of its own for each project, created with mode 0700; each value is a file in it, replaced
//! as a whole. A lock on the folder makes compare-and-put atomic between processes too.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use host_capability::{PluginName, StateAccess};
use host_files::{FileError, Mode};

use crate::bindings::denial::denial;
use crate::bindings::state::{Error, Expected, Host, Item};
use crate::store::StoreData;

/// The largest value.
const MAX_VALUE: u64 = 1 << 20;
/// The most keys of one plugin in one project.
const MAX_KEYS: usize = 1_024;
/// The most bytes of all values of one plugin in one project.
const MAX_TOTAL: u64 = 16 << 20;
/// The longest key, in characters.
const MAX_KEY: usize = 128;

impl Host for StoreData {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Item>, Error>> {
        self.keeping(StateAccess::Read, key, |folder, key| folder.get(&key)).await
    }

    async fn put(
        &mut self,
        key: String,
        value: Vec<u8>,
        expected: Expected,
    ) -> wasmtime::Result<Result<String, Error>> {
        self.keeping(StateAccess::Write, key, move |folder, key| folder.put(&key, &value, &expected)).await
    }

    async fn delete(&mut self, key: String, expected: Expected) -> wasmtime::Result<Result<(), Error>> {
        self.keeping(StateAccess::Write, key, move |folder, key| folder.delete(&key, &expected)).await
    }

    async fn list(&mut self) -> wasmtime::Result<Result<Vec<String>, Error>> {
        // Any valid key will do: it is not used.
        self.keeping(StateAccess::Read, "list".to_owned(), |folder, _| {
            Ok(folder.keys()?.into_iter().map(|(key, _)| key).collect())
        })
        .await
    }
}

impl StoreData {
    async fn keeping<T: Send + 'static>(
        &mut self,
        access: StateAccess,
        key: String,
        work: impl FnOnce(Folder, String) -> Result<T, Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let folder = match self.call.grants.permit_state(&self.plugin, access) {
            Ok(_permit) => {
                self.shared.state.as_deref().map(|states| folder(states, &self.plugin, self.call.workspace.root()))
            }
            Err(refused) => return Ok(self.denials.noting(Err(Error::Denied(denial(&refused, self.shared.wording))))),
        };
        let Some(path) = folder else {
            return Ok(Err(Error::Io("no state can be stored: host was started without a folder for it".to_owned())));
        };
        if !is_key(&key) {
            return Ok(Err(Error::Invalid(format!(
                "invalid key `{}`: it has 1 to {MAX_KEY} of a-z, A-Z, 0-9, `.`, `_`, `-`, the first no dot",
                host_text::excerpt(&key, MAX_KEY)
            ))));
        }
        Ok(tokio::task::spawn_blocking(move || work(Folder::open(path)?, key)).await?)
    }
}

/// Returns the folder of a plugin in a project. Names are kept readable and made unique by a hash.
fn folder(states: &Path, plugin: &PluginName, project: &Path) -> PathBuf {
    let readable: String =
        plugin.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let unique = |bytes: &[u8]| blake3::hash(bytes).to_hex().chars().take(16).collect::<String>();
    let plugin = format!("{readable}-{}", unique(plugin.as_str().as_bytes()));
    states.join(plugin).join(unique(project.as_os_str().as_encoded_bytes()))
}

/// Returns a value without a lock: it is replaced as a whole.
pub(crate) fn stored(states: &Path, plugin: &PluginName, project: &Path, key: &str) -> io::Result<Option<Vec<u8>>> {
    match host_files::read_file(&folder(states, plugin, project).join(key), MAX_VALUE) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_key(key: &str) -> bool {
    (1..=MAX_KEY).contains(&key.len())
        && !key.starts_with('.')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// A plugin's folder, locked against all other calls of the plugin in the project.
struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    fn open(path: PathBuf) -> Result<Self, Error> {
        host_files::make_private_folder(&path)?;
        let lock = host_files::lock(&path.join(".lock"))?;
        Ok(Self { path, _lock: lock })
    }

    fn get(&self, key: &str) -> Result<Option<Item>, Error> {
        let value = match host_files::read_file(&self.path.join(key), MAX_VALUE) {
            Ok(value) => value,
            Err(error) if error.is_missing() => return Ok(None),
            Err(FileError::TooLarge { limit }) => {
                return Err(Error::Io(format!("the value of `{key}` is over {limit} bytes; host did not write it")));
            }
            Err(other) => return Err(io::Error::from(other).into()),
        };
        let version = blake3::hash(&value).to_hex().to_string();
        Ok(Some(Item { value, version }))
    }

    fn put(&self, key: &str, value: &[u8], expected: &Expected) -> Result<String, Error> {
        if value.len() as u64 > MAX_VALUE {
            return Err(Error::Full(format!("a value of {} bytes is over the limit of {MAX_VALUE}", value.len())));
        }
        self.check(key, expected)?;
        let keys = self.keys()?;
        let others = || keys.iter().filter(|(other, _)| other != key);
        if others().count() >= MAX_KEYS {
            return Err(Error::Full(format!("there are {MAX_KEYS} keys already")));
        }
        if others().map(|(_, size)| size).sum::<u64>() + value.len() as u64 > MAX_TOTAL {
            return Err(Error::Full(format!("all values together would be over {MAX_TOTAL} bytes")));
        }
        host_files::replace(&self.path.join(key), value, Mode::Private)?;
        Ok(blake3::hash(value).to_hex().to_string())
    }

    fn delete(&self, key: &str, expected: &Expected) -> Result<(), Error> {
        self.check(key, expected)?;
        match fs::remove_file(self.path.join(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn check(&self, key: &str, expected: &Expected) -> Result<(), Error> {
        let found = self.get(key)?.map(|item| item.version);
        match (expected, &found) {
            (Expected::Anything, _) | (Expected::Absent, None) => Ok(()),
            (Expected::Version(wanted), Some(found)) if wanted == found => Ok(()),
            (Expected::Absent | Expected::Version(_), _) => Err(Error::Changed(found)),
        }
    }

    /// Returns the keys in order, each with the size of its value.
    fn keys(&self) -> Result<Vec<(String, u64)>, Error> {
        let mut keys = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if let Ok(key) = entry.file_name().into_string()
                && is_key(&key)
            {
                keys.push((key, entry.metadata()?.len()));
            }
        }
        keys.sort();
        Ok(keys)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

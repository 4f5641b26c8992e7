//! Compiled components, kept in the user's cache folder.
//!
//! Loading a compiled component that somebody else wrote is running their native code. So each entry carries a
//! keyed hash over everything in it, under a key that only this user on this machine can read (mode 0600), and
//! an entry that does not verify is thrown away and compiled anew. The key is no defence against a program that
//! already runs as the user; it is one against a cache folder that was copied, restored or shared.
//!
//! Several processes can use one folder: entries and the key appear whole (written beside and renamed), and who
//! loses a race reads what the winner wrote.
//!
//! A cache that cannot be used is a warning and a slower start, never a failed call.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::plugin::Digest;

/// The first bytes of an entry; the number changes with the layout.
const MAGIC: &[u8; 8] = b"hostaot1";
const KEY_BYTES: usize = 32;
const MAC_BYTES: usize = 32;

/// The largest entry that is read. Protects memory from a file that is no entry; machine code is up to about six
/// times its component.
const MAX_ENTRY: u64 = 512 << 20;

/// The compiled components of this user.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
}

/// Why a cache cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the key cannot be read or made.
    #[error("the cache of compiled components in `{}` cannot be used: {error}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Others could have read or written the key.
    #[error("`{}` belongs to another user", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}

/// What came of looking for an entry.
pub(crate) enum Lookup {
    Hit(Component),
    Miss,
    /// It was there and was not to be trusted; it has been removed.
    Refused,
}

impl Cache {
    /// Opens the cache in a folder, which is made with mode 0700 where it is missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, CacheError> {
        let failed = |path: &Path, error| CacheError::Io { path: path.to_owned(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| failed(folder, error))?;
        let path = folder.join("key");
        let key = match read_key(&path)? {
            Some(key) => key,
            None => make_key(folder, &path)?,
        };
        Ok(Self { folder: folder.to_owned(), key })
    }

    /// Loads the compiled form of a component.
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Lookup {
        let path = self.path(engine, digest);
        let bytes = match read_bounded(&path, MAX_ENTRY) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Lookup::Miss,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a compiled component cannot be read");
                return Lookup::Miss;
            }
        };
        match self.verify(&path, &bytes) {
            // SAFETY: deserialising runs what the bytes say, and the keyed hash over them and over their name
            // shows that this code wrote them, for this component and this engine.
            Some(code) => match unsafe { Component::deserialize(engine, code) } {
                Ok(component) => Lookup::Hit(component),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "a compiled component does not load");
                    self.refuse(&path, "it was made for another engine")
                }
            },
            None => self.refuse(&path, "it was not written by this host, or was changed since"),
        }
    }

    /// Keeps the compiled form of a component.
    pub(crate) fn store(&self, engine: &Engine, digest: &Digest, code: &[u8]) -> io::Result<()> {
        let path = self.path(engine, digest);
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(self.mac(&path, code).as_bytes())?;
        file.write_all(code)?;
        file.persist(&path)?;
        Ok(())
    }

    fn path(&self, engine: &Engine, digest: &Digest) -> PathBuf {
        let mut hasher = Fingerprint(blake3::Hasher::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        hasher.0.update(digest.as_str().as_bytes());
        self.folder.join(format!("{}.aot", hasher.0.finalize().to_hex()))
    }

    fn mac(&self, path: &Path, code: &[u8]) -> blake3::Hash {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        blake3::Hasher::new_keyed(&self.key).update(MAGIC).update(name).update(code).finalize()
    }

    fn verify<'a>(&self, path: &Path, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (mac, code) = bytes.strip_prefix(MAGIC)?.split_at_checked(MAC_BYTES)?;
        // Comparing hashes of this library takes the same time wherever they differ.
        (self.mac(path, code) == *<&[u8; MAC_BYTES]>::try_from(mac).ok()?).then_some(code)
    }

    fn refuse(&self, path: &Path, why: &'static str) -> Lookup {
        tracing::warn!(path = %path.display(), why, "a compiled component is not trusted and is compiled anew");
        if let Err(error) = fs::remove_file(path) {
            tracing::warn!(path = %path.display(), %error, "and it cannot be removed");
        }
        Lookup::Refused
    }
}

/// Reads the key; none when there is none yet, or when others could have read it and it must be made anew.
fn read_key(path: &Path) -> Result<Option<[u8; KEY_BYTES]>, CacheError> {
    let failed = |error| CacheError::Io { path: path.to_owned(), error };
    let mut file = match OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let about = file.metadata().map_err(failed)?;
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(CacheError::Foreign { path: path.to_owned() });
    }
    let mut key = [0; KEY_BYTES];
    let whole = about.len() == KEY_BYTES as u64 && file.read_exact(&mut key).is_ok();
    if about.mode() & 0o077 != 0 || !whole {
        tracing::warn!(path = %path.display(), "the cache's key was open to others or is damaged; all is compiled anew");
        fs::remove_file(path).map_err(failed)?;
        return Ok(None);
    }
    Ok(Some(key))
}

fn make_key(folder: &Path, path: &Path) -> Result<[u8; KEY_BYTES], CacheError> {
    let failed = |error| CacheError::Io { path: path.to_owned(), error };
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|error| failed(io::Error::other(error)))?;
    // Temporary files are made with mode 0600.
    let mut file = tempfile::Builder::new().prefix(".key-").tempfile_in(folder).map_err(failed)?;
    file.write_all(&key).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(key),
        // Another process was faster: its key is the key.
        Err(lost) if lost.error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| failed(io::Error::other("it vanishes as soon as it is made")))
        }
        Err(lost) => Err(failed(lost.error)),
    }
}

fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file: File = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > limit {
        return Err(io::Error::other(format!("it is no file of at most {limit} bytes")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An entry is a file of its own, never a link to somebody else's; a pipe in its place does not make us wait.
const NO_FOLLOW: i32 = (rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits()) as i32;

/// Feeds a [`Hash`] into a hash that is the same in every process.
struct Fingerprint(blake3::Hasher);

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

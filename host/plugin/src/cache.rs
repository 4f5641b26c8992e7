//! Compiled components, kept in the user's cache folder.
//!
//! Loading a compiled component that somebody else wrote is running their native code. So each entry carries a
//! keyed hash over everything in it, under a key that only this user on this machine can read (mode 0600), and
//! an entry that does not verify is thrown away and compiled anew. The key is no defence against a program that
//! already runs as the user; it is one against a cache folder that was copied, restored or shared.
//!
//! A loaded entry stays mapped, so it costs no copy. That is as safe as the key: the folder and the entry must be the
//! user's own and closed to the writing of others, and the very file that was verified is the one that is mapped.
//!
//! Several processes can use one folder: entries and the key appear whole (written beside and renamed), and who
//! loses a race reads what the winner wrote.
//!
//! A cache that cannot be used is a warning and a slower start, never a failed call.

use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use host_files::{Access, Exposed, Mode, NewFile, is_private};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::digest::Digest;

/// The last bytes of an entry, behind the code and its keyed hash; the number changes with the layout.
const MAGIC: &[u8; 8] = b"hostaot2";
const KEY_BYTES: usize = 32;
const MAC_BYTES: usize = 32;
const TAIL_BYTES: usize = MAC_BYTES + MAGIC.len();

/// How much of an entry is read at once while it is verified.
const PIECE: usize = 64 << 10;

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
    /// Others could have read or written the key, or put an entry into the folder.
    #[error("`{}` belongs to another user, or others may write in it", path.display())]
    Foreign {
        /// The file or folder.
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
        host_files::make_private_folder(folder).map_err(|error| failed(folder, error))?;
        let about = fs::metadata(folder).map_err(|error| failed(folder, error))?;
        if !is_private(&about, Access::Write) {
            return Err(CacheError::Foreign { path: folder.to_owned() });
        }
        let path = folder.join("key");
        let key = match read_key(&path)? {
            Some(key) => key,
            None => make_key(&path)?,
        };
        Ok(Self { folder: folder.to_owned(), key })
    }

    /// Loads the compiled form of a component.
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Lookup {
        let path = self.path(engine, digest);
        let (mut file, length) = match open_bounded(&path, MAX_ENTRY) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Lookup::Miss,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a compiled component cannot be read");
                return Lookup::Miss;
            }
        };
        match self.verify(&path, &mut file, length) {
            Ok(true) => {}
            Ok(false) => return self.refuse(&path, "it was not written by this host, or was changed since"),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a compiled component cannot be read");
                return Lookup::Miss;
            }
        }
        // SAFETY: loading runs what the file says. The keyed hash over it and over its name shows that this code wrote
        // it, for this component and this engine; nobody but this user may write to it.
        match unsafe { map(engine, &mut file, length) } {
            Ok(component) => Lookup::Hit(component),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a compiled component does not load");
                self.refuse(&path, "it was made for another engine")
            }
        }
    }

    /// Keeps the compiled form of a component.
    pub(crate) fn store(&self, engine: &Engine, digest: &Digest, code: &[u8]) -> io::Result<()> {
        let path = self.path(engine, digest);
        let mut file = NewFile::beside(&path, Mode::Private)?;
        file.write_all(code)?;
        file.write_all(self.mac(&path).update(code).finalize().as_bytes())?;
        file.write_all(MAGIC)?;
        // It is verified whenever it is read.
        file.replace_unsynced()
    }

    fn path(&self, engine: &Engine, digest: &Digest) -> PathBuf {
        // With the layout in its name, an entry of an older host is not found rather than refused.
        let mut hasher = Fingerprint(blake3::Hasher::new());
        hasher.0.update(MAGIC);
        engine.precompile_compatibility_hash().hash(&mut hasher);
        hasher.0.update(digest.as_str().as_bytes());
        self.folder.join(format!("{}.aot", hasher.0.finalize().to_hex()))
    }

    /// The keyed hash of an entry, which its code is still to go into.
    fn mac(&self, path: &Path) -> blake3::Hasher {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(MAGIC).update(name);
        hasher
    }

    fn verify(&self, path: &Path, file: &mut File, length: u64) -> io::Result<bool> {
        let Some(code) = length.checked_sub(TAIL_BYTES as u64) else { return Ok(false) };
        let mut hasher = self.mac(path);
        let mut piece = vec![0; PIECE];
        let mut reader = file.take(code);
        loop {
            match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => hasher.update(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
        }
        let mut tail = Vec::with_capacity(TAIL_BYTES);
        file.read_to_end(&mut tail)?;
        let Some((mac, magic)) = tail.split_first_chunk::<MAC_BYTES>() else { return Ok(false) };
        // Comparing hashes of this library takes the same time wherever they differ.
        Ok(hasher.finalize() == *mac && magic == MAGIC)
    }

    fn refuse(&self, path: &Path, why: &'static str) -> Lookup {
        tracing::warn!(path = %path.display(), why, "a compiled component is not trusted and is compiled again");
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
    let privacy = host_files::check(&about, Access::ReadOrWrite);
    if privacy == Err(Exposed::Owner) {
        return Err(CacheError::Foreign { path: path.to_owned() });
    }
    let mut key = [0; KEY_BYTES];
    let whole = about.len() == KEY_BYTES as u64 && file.read_exact(&mut key).is_ok();
    if privacy.is_err() || !whole {
        tracing::warn!(path = %path.display(), "the cache's key was readable by others or is damaged; everything is compiled again");
        fs::remove_file(path).map_err(failed)?;
        return Ok(None);
    }
    Ok(Some(key))
}

fn make_key(path: &Path) -> Result<[u8; KEY_BYTES], CacheError> {
    let failed = |error| CacheError::Io { path: path.to_owned(), error };
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|error| failed(io::Error::other(error)))?;
    match host_files::create(path, &key, Mode::Private) {
        Ok(()) => Ok(key),
        // Another process was faster: its key is the key.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| failed(io::Error::other("it vanishes as soon as it is made")))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Maps a verified entry, or copies it where the folder lies on a disk from which nothing may be run, or the system
/// has no name for an open file.
///
/// # Safety
///
/// The file must hold what [`Component::serialize`] gave, and must not change while it is mapped.
unsafe fn map(engine: &Engine, file: &mut File, length: u64) -> wasmtime::Result<Component> {
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: as above.
    match unsafe { Component::deserialize_file(engine, name) } {
        Ok(component) => Ok(component),
        Err(error) => {
            tracing::debug!(%error, "a compiled component cannot be mapped and is copied");
            let mut bytes = Vec::with_capacity(usize::try_from(length)?);
            file.seek(io::SeekFrom::Start(0))?;
            file.take(length).read_to_end(&mut bytes)?;
            let code = bytes.len().saturating_sub(TAIL_BYTES);
            // SAFETY: as above; it is the same open file.
            unsafe { Component::deserialize(engine, bytes.get(..code).unwrap_or_default()) }
        }
    }
}

/// Opens an entry, which must be a file of this user's own; also says how long it is.
fn open_bounded(path: &Path, limit: u64) -> io::Result<(File, u64)> {
    let file: File = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > limit {
        return Err(io::Error::other(format!("it is not a file of at most {limit} bytes")));
    }
    host_files::check(&about, Access::Write).map_err(io::Error::other)?;
    Ok((file, about.len()))
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

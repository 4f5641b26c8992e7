//! Compiled components, stored in the user's cache folder.
//!
//! To load a compiled component is to run its native code, whoever wrote it. So each entry carries a keyed hash over
//! its whole content, with a key that only this user on this machine can read (mode 0600), and an entry that cannot be
//! verified is removed and compiled again. An entry that was verified before and has not changed since, by its stamp
//! ([`stamp`]), is not hashed again. The key does not protect against a program that already runs as the user; it
//! does protect against a cache folder that was copied, restored or shared.
//!
//! A loaded entry stays mapped, so it costs no copy. That is as safe as the key: the folder and the entry must belong
//! to the user and must not be writable by others, and the file that is mapped is the same one that was verified.
//!
//! Several processes can use one folder: entries and the key appear complete (written beside and renamed), and the
//! process that loses a race reads what the winner wrote.
//!
//! An unusable cache causes a warning and a slower start, never a failed call.

mod stamp;
mod turn;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host_files::{Access, Exposed, Mode, NewFile, is_private};
use wasmtime::Engine;
use wasmtime::component::Component;

use self::stamp::Stamp;
pub(crate) use self::turn::{Asked, Compiling, Turn};
use crate::digest::Digest;
use crate::engine;

/// The last bytes of an entry, after the code and its keyed hash; the number changes with the layout.
const MAGIC: &[u8; 8] = b"hostaot2";
const KEY_BYTES: usize = 32;
const MAC_BYTES: usize = 32;
const TAIL_BYTES: usize = MAC_BYTES + MAGIC.len();

/// How much of an entry is read at once while it is verified.
const PIECE: usize = 64 << 10;

/// The largest entry that is read. Protects memory from a file that is not an entry; machine code is up to about six
/// times as large as its component.
pub(crate) const MAX_ENTRY: u64 = 512 << 20;

/// How much larger machine code may be than its component.
const GROWTH: u64 = 8;

/// The age of an unfinished file that no process writes any more.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// The compiled components of this user.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    /// How long an entry must have been as it is before it gets a stamp.
    settled: Duration,
}

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the key cannot be read or created.
    #[error("the cache of compiled components in `{}` cannot be used: {error}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Other users could have read or written the key, or put an entry into the folder.
    #[error("`{}` belongs to another user, or others may write in it", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
    },
}

/// The result of looking up an entry.
pub(crate) enum Lookup {
    Hit(Component),
    Miss,
    /// The entry existed but could not be trusted; it has been removed.
    Refused,
}

impl Cache {
    /// Opens the cache in a folder, which is created with mode 0700 if it is missing.
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
        Ok(Self { folder: folder.to_owned(), key, settled: stamp::SETTLED })
    }

    /// Loads the compiled form of a component.
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Lookup {
        let path = self.path(engine, digest);
        let unreadable = |error: io::Error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "a compiled component cannot be read");
            }
            Lookup::Miss
        };
        // One open file from here to the mapping: a path could lead to another file after it was verified.
        let (mut file, about) = match open_bounded(&path, MAX_ENTRY) {
            Ok(opened) => opened,
            Err(error) => return unreadable(error),
        };
        let mac = match claimed(&file, about.len()) {
            Ok(mac) => mac,
            Err(error) => return unreadable(error),
        };
        let not_ours = || self.refuse(&path, "it was not written by this host, or was changed since");
        // Removed and compiled again: an entry that does not verify may be anyone's code.
        let Some(mac) = mac else { return not_ours() };
        let stamp = Stamp::new(&self.key, &path, &about, &mac);
        // Hashing all compiled tools was a large part of each start. `ctime` is in the stamp, which no program can set.
        let is_known = stamp.is_there();
        if !is_known {
            match self.verify(&path, &mut file, about.len(), &mac) {
                Ok(true) => {}
                Ok(false) => return not_ours(),
                Err(error) => return unreadable(error),
            }
        }
        // SAFETY: loading runs the code in the file. The keyed hash over the file and its name proves that this code
        // wrote it, for this component and this engine, and only this user can write to it. The hash was computed just
        // now, or when the file was last looked at, and by its stamp it was not changed since.
        match unsafe { map(engine, &mut file, about.len()) } {
            Ok(component) => {
                // Only for what was verified and loaded just now.
                if !is_known && let Err(error) = stamp.make(&file, &about, self.settled) {
                    tracing::debug!(path = %path.display(), %error, "a compiled component is verified again at each start");
                }
                Lookup::Hit(component)
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a compiled component does not load");
                // The name binds an entry to the engine, so this is a bug or a changed setting; compiling again helps
                // in both.
                self.refuse(&path, "it was made for another engine")
            }
        }
    }

    /// Stores the compiled form of a component.
    pub(crate) fn store(&self, engine: &Engine, digest: &Digest, code: &[u8]) -> io::Result<()> {
        let path = self.path(engine, digest);
        let mut file = NewFile::beside(&path, Mode::Private)?;
        file.write_all(code)?;
        file.write_all(self.mac(&path).update(code).finalize().as_bytes())?;
        file.write_all(MAGIC)?;
        // Every read verifies it.
        file.replace_unsynced()
    }

    /// Asks for the turn to compile a component ahead, without waiting.
    pub(crate) fn ask_turn(&self, engine: &Engine, digest: &Digest) -> Asked {
        Turn::ask(&self.path(engine, digest), Compiling::Ahead)
    }

    /// Waits for the turn to compile a component for a call, but not without an end. What another process compiled
    /// meanwhile is to be looked up then.
    pub(crate) async fn wait_for_turn(&self, engine: &Engine, digest: &Digest) -> Option<Turn> {
        Turn::wait(&self.path(engine, digest)).await
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether the disk has room for the compiled form of a component of this size. One that does not say so
    /// has.
    pub(crate) fn has_room_for(&self, component: usize) -> bool {
        let needed = (component as u64).saturating_mul(GROWTH);
        rustix::fs::statvfs(&self.folder)
            .map_or(true, |disk| disk.f_blocks == 0 || disk.f_bavail.saturating_mul(disk.f_frsize) > needed)
    }

    /// Removes what processes left behind that were killed while they stored an entry.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let is_unfinished = entry.file_name().as_encoded_bytes().starts_with(host_files::UNFINISHED.as_bytes());
            let age = || entry.metadata().and_then(|about| about.modified()).ok()?.elapsed().ok();
            if is_unfinished && age().is_some_and(|age| age > ABANDONED) {
                fs::remove_file(entry.path()).ok();
            }
        }
    }

    fn path(&self, engine: &Engine, digest: &Digest) -> PathBuf {
        // With the layout in its name, an entry of an older host is not found, and so not refused.
        let mut hasher = blake3::Hasher::new();
        hasher.update(MAGIC);
        engine::identify(engine, &mut hasher);
        hasher.update(digest.as_str().as_bytes());
        self.folder.join(format!("{}.aot", hasher.finalize().to_hex()))
    }

    /// Returns the keyed hash of an entry, to which the code is still to be added.
    fn mac(&self, path: &Path) -> blake3::Hasher {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(MAGIC).update(name);
        hasher
    }

    /// Whether the content of an entry has this keyed hash.
    fn verify(&self, path: &Path, file: &mut File, length: u64, mac: &[u8; MAC_BYTES]) -> io::Result<bool> {
        let mut hasher = self.mac(path);
        let mut piece = vec![0; PIECE];
        let mut reader = file.take(length.saturating_sub(TAIL_BYTES as u64));
        loop {
            match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => hasher.update(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
        }
        // Comparing hashes of this library takes constant time.
        Ok(hasher.finalize() == *mac)
    }

    fn refuse(&self, path: &Path, why: &'static str) -> Lookup {
        tracing::warn!(path = %path.display(), why, "a compiled component is not trusted and is compiled again");
        if let Err(error) = fs::remove_file(path) {
            tracing::warn!(path = %path.display(), %error, "and it cannot be removed");
        }
        Lookup::Refused
    }
}

/// Reads the key; `None` if there is no key yet, or if other users could have read it and it must be replaced.
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
        // Another process was faster: its key is used.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| failed(io::Error::other("it vanishes as soon as it is made")))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Maps a verified entry, or copies it if the folder is on a disk from which nothing may be executed, or the system has
/// no name for an open file.
///
/// # Safety
///
/// The file must contain the output of [`Component::serialize`], and must not change while it is mapped.
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

/// Returns the keyed hash at the end of an entry; `None` if it does not end like one.
fn claimed(file: &File, length: u64) -> io::Result<Option<[u8; MAC_BYTES]>> {
    let Some(at) = length.checked_sub(TAIL_BYTES as u64) else { return Ok(None) };
    let mut tail = [0; TAIL_BYTES];
    file.read_exact_at(&mut tail, at)?;
    let (mac, magic) = tail.split_first_chunk().map_or(([0; MAC_BYTES], &tail[..]), |(mac, magic)| (*mac, magic));
    Ok((magic == MAGIC).then_some(mac))
}

/// Opens an entry, which must be a file that belongs to this user; also returns what the system says about it.
fn open_bounded(path: &Path, limit: u64) -> io::Result<(File, Metadata)> {
    let file: File = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > limit {
        return Err(io::Error::other(format!("it is not a file of at most {limit} bytes")));
    }
    host_files::check(&about, Access::Write).map_err(io::Error::other)?;
    Ok((file, about))
}

/// An entry is a regular file, never a link to another user's file; a pipe in its place must not block us.
pub(crate) const NO_FOLLOW: i32 = (rustix::fs::OFlags::NOFOLLOW.bits() | rustix::fs::OFlags::NONBLOCK.bits()) as i32;

#[cfg(test)]
mod tests;

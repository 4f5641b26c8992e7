//! Chained lines: each line of a file carries a keyed hash of everything before it, so that no byte of the file can
//! change unnoticed.
//!
//! A line is a JSON object. Its last field, `chain`, is the id of the key and a keyed BLAKE3 hash over the name of the
//! file and all bytes of the file up to that field. The first link of a file that had none before covers what was
//! there, too. Beside the key lies the head of each file: the number of its lines and its last link, without which
//! nobody would notice that lines at the end are gone.
//!
//! Promises: only a process that can read the key can make a link; key and heads are the user's alone, in a folder
//! apart from the files. Deliberately not here: what the lines mean, and protection from a program that runs as the
//! user, which can read the key.

mod examine;
mod sealed;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

pub use self::examine::{ChainFault, Examined, LineState, without_link};
use crate::{Access, Mode, check, create, make_private_folder};

/// What comes before a link in its line.
const FIELD: &[u8] = b",\"chain\":\"";

/// What comes behind it.
const END: &[u8] = b"\"}\n";

/// Bytes of the key.
const KEY: usize = 32;

/// Hexadecimal digits of a link that name the key.
const KEY_ID: usize = 8;

/// Hexadecimal digits of a link: the key's id, and 128 bits of the hash.
const LINK: usize = KEY_ID + 32;

/// Bytes of a head: its number of lines with leading zeros, a space, a link, a line end. One size, so that it is
/// replaced by one write.
const HEAD: usize = 20 + 1 + LINK + 1;

/// Reasons why lines cannot be chained.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The key or a head cannot be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// Others could have read the key, so that it proves nothing.
    #[error("the key `{}` could have been read by other users", path.display())]
    Exposed {
        /// The key.
        path: PathBuf,
    },
    /// The file with the key holds something else.
    #[error("`{}` is not a key of {KEY} bytes", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
}

impl ChainError {
    /// Returns advice on how to fix it, as a sentence without a full stop.
    pub fn help(&self) -> String {
        match self {
            Self::Io { path, .. } => format!("check that you may read and write `{}`", path.display()),
            Self::Exposed { path } => format!(
                "make it yours alone with chmod 600 '{0}'; if other people use this machine, remove it instead: a new \
                 one is made, and what was recorded until then can no longer be verified",
                path.display()
            ),
            Self::NotAKey { path } => format!(
                "restore `{}` from a backup, or remove it: a new one is made, and what was recorded until then can no \
                 longer be verified",
                path.display()
            ),
        }
    }
}

/// The key of this user's chains, and their heads.
#[derive(Clone)]
pub struct ChainStore {
    folder: PathBuf,
    key: [u8; KEY],
}

impl fmt::Debug for ChainStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainStore").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The end of a chained file, as it was when its last line was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    lines: u64,
    link: String,
}

/// The links of the next lines of a file.
pub struct Chain {
    hasher: blake3::Hasher,
    key_id: String,
    lines: u64,
    head: File,
    path: PathBuf,
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("path", &self.path).field("lines", &self.lines).finish_non_exhaustive()
    }
}

/// A line with its link that was not written yet. See [`Chain::advance`].
pub struct Sealed {
    hasher: blake3::Hasher,
    link: String,
}

impl ChainStore {
    /// Opens the folder with the key and the heads. What is missing is made, for this user alone.
    ///
    /// # Errors
    ///
    /// When it cannot be read or made, or others could have read the key.
    pub fn open(folder: &Path) -> Result<Self, ChainError> {
        let heads = folder.join("heads");
        make_private_folder(&heads).map_err(|cause| ChainError::Io { path: heads, cause })?;
        let path = folder.join("key");
        let key = match read_key(&path)? {
            Some(key) => key,
            None => make_key(&path)?,
        };
        Ok(Self { folder: folder.to_owned(), key })
    }

    /// Begins or continues the chain of the file with this name, which has these bytes so far, in whole lines. They are
    /// covered as they are, whether they have links or not: examine them before.
    ///
    /// # Errors
    ///
    /// When the bytes cannot be read, or the head cannot be written.
    pub fn chain(&self, name: &str, mut earlier: impl Read) -> Result<Chain, ChainError> {
        let path = self.head_path(name);
        let failed = |cause| ChainError::Io { path: path.clone(), cause };
        let mut hasher = self.hasher(name);
        let (mut buffer, mut lines) = (vec![0; 64 << 10], 0);
        loop {
            let count = match earlier.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else { break };
            hasher.update(piece);
            // Lines are counted with the hash, since a log of a hundred megabytes is read once only.
            lines += memchr::memchr_iter(b'\n', piece).count() as u64;
        }
        // The head stays as it is until the next line is written: what it says of missing lines is not lost before.
        let mut options = OpenOptions::new();
        // Not followed where it is a link: a head elsewhere would be written over.
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(NO_FOLLOW);
        let head = options.open(&path).map_err(failed)?;
        Ok(Chain { hasher, key_id: self.key_id(), lines, head, path })
    }

    /// Removes the head of a file that is removed.
    ///
    /// # Errors
    ///
    /// When that fails.
    pub fn forget(&self, name: &str) -> Result<(), ChainError> {
        let path = self.head_path(name);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(ChainError::Io { path, cause }),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns the names of all files that have a head, in their order.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn names(&self) -> Result<Vec<String>, ChainError> {
        let path = self.folder.join("heads");
        let entries: io::Result<Vec<_>> = fs::read_dir(&path).and_then(Iterator::collect);
        let entries = entries.map_err(|cause| ChainError::Io { path, cause })?;
        let mut names: Vec<String> =
            entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Returns the head of a file; `None` if there is none, or it cannot be understood.
    fn head(&self, name: &str) -> Result<Option<Head>, ChainError> {
        let path = self.head_path(name);
        let text = match OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(&path) {
            Ok(file) => crate::read_text_limited(file, HEAD as u64).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(ChainError::Io { path, cause }),
        };
        let parsed = text.strip_suffix('\n').and_then(|line| line.split_once(' '));
        let Some((lines, link)) = parsed.filter(|(_, link)| link.len() == LINK) else { return Ok(None) };
        Ok(lines.parse().ok().map(|lines| Head { lines, link: link.to_owned() }))
    }

    fn head_path(&self, name: &str) -> PathBuf {
        self.folder.join("heads").join(name)
    }

    fn key_id(&self) -> String {
        let id = blake3::keyed_hash(&self.key, b"host: id of a key of chains").to_hex();
        id.chars().take(KEY_ID).collect()
    }

    /// Returns the keyed hash of a file, to which its bytes are still to be added.
    fn hasher(&self, name: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(b"host: chained lines 1\0").update(name.as_bytes()).update(b"\0");
        hasher
    }
}

impl Chain {
    /// Ends a line with its link: a JSON object that is not empty, without a line end, which it gets too. The chain
    /// stays as it is until the line was written.
    ///
    /// # Errors
    ///
    /// When the line is not an object.
    pub fn seal(&self, line: &mut Vec<u8>) -> io::Result<Sealed> {
        // The link goes in as the object's last field, so that each line stays one JSON object.
        if line.pop() != Some(b'}') {
            return Err(io::Error::other("a line is not an object"));
        }
        // A copy: if the line cannot be written, the chain goes on from where it was.
        let mut hasher = self.hasher.clone();
        hasher.update(line);
        let hash = hasher.finalize().to_hex();
        let mut link = self.key_id.clone();
        // 128 bits of the hash: nobody without the key can find another line that fits.
        link.extend(hash.chars().take(LINK - KEY_ID));
        for piece in [FIELD, link.as_bytes(), END] {
            hasher.update(piece);
            line.extend_from_slice(piece);
        }
        Ok(Sealed { hasher, link })
    }

    /// Takes in a line that was written.
    ///
    /// # Errors
    ///
    /// When the head cannot be written.
    pub fn advance(&mut self, sealed: Sealed) -> io::Result<()> {
        self.hasher = sealed.hasher;
        self.lines += 1;
        self.keep_head(&sealed.link)
    }

    fn keep_head(&self, link: &str) -> io::Result<()> {
        let mut head = [0; HEAD];
        writeln!(head.as_mut_slice(), "{:020} {link}", self.lines)?;
        self.head.write_all_at(&head, 0)
    }
}

/// Reads the key; `None` if there is none.
fn read_key(path: &Path) -> Result<Option<[u8; KEY]>, ChainError> {
    let failed = |cause| ChainError::Io { path: path.to_owned(), cause };
    // A link could lead to a key that someone else knows.
    let mut file = match OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let about = file.metadata().map_err(failed)?;
    // Of the open file, and before it is read.
    if check(&about, Access::ReadOrWrite).is_err() {
        return Err(ChainError::Exposed { path: path.to_owned() });
    }
    let mut key = [0; KEY];
    let is_whole = about.len() == KEY as u64 && file.read_exact(&mut key).is_ok();
    if is_whole { Ok(Some(key)) } else { Err(ChainError::NotAKey { path: path.to_owned() }) }
}

fn make_key(path: &Path) -> Result<[u8; KEY], ChainError> {
    let failed = |cause| ChainError::Io { path: path.to_owned(), cause };
    let mut key = [0; KEY];
    getrandom::fill(&mut key).map_err(|error| failed(io::Error::other(error)))?;
    // Fails if there is one: two processes that start together must end up with one key.
    match create(path, &key, Mode::Private) {
        Ok(()) => Ok(key),
        // Another process was faster: its key is used.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
        }
        Err(error) => Err(failed(error)),
    }
}

/// A key or head is a regular file, never a link to another file; a pipe in its place must not block us.
const NO_FOLLOW: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

#[cfg(test)]
mod tests;

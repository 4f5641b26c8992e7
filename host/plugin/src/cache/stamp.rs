//! What proves that an entry is still the file that was verified, so that it is not hashed at each load.
//!
//! A stamp lies beside an entry, and is a keyed hash over the entry's name, its own keyed hash, and what the system
//! says about the file: device, inode, size, and the times of its last change in content and in anything. The last of
//! these no program can set, so a file that was written, copied or restored since has another one. Whoever can go
//! around that can read the key too.
//!
//! Promises: a stamp is made only for an entry that was just verified, is on the disk, and has not changed for
//! [`SETTLED`]; any doubt means that the entry is hashed. Losing stamps costs time and nothing else.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use host_files::{Mode, NewFile};

use super::{KEY_BYTES, MAC_BYTES, NO_FOLLOW};

/// What distinguishes the hash of a stamp from that of an entry, which has the same key.
const PURPOSE: &[u8; 8] = b"hoststp1";

/// How long an entry must have been as it is: a change within the same tick of the file system's clock would not show.
/// The coarsest clocks in use tick every two seconds (FAT).
pub(super) const SETTLED: Duration = Duration::from_secs(3);

/// The stamp of an entry.
pub(super) struct Stamp {
    path: PathBuf,
    mac: blake3::Hash,
}

impl Stamp {
    /// The stamp that this open entry has as it is now, if `mac` is its keyed hash.
    pub(super) fn new(key: &[u8; KEY_BYTES], entry: &Path, about: &Metadata, mac: &[u8; MAC_BYTES]) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(PURPOSE).update(mac);
        for number in [about.dev(), about.ino(), about.len()] {
            hasher.update(&number.to_le_bytes());
        }
        for number in [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(entry.file_name().unwrap_or_default().as_encoded_bytes());
        Self { path: entry.with_extension("stamp"), mac: hasher.finalize() }
    }

    /// Whether it was made before.
    pub(super) fn is_there(&self) -> bool {
        let mut found = [0; MAC_BYTES];
        let opened = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(&self.path);
        // Comparing hashes of this library takes constant time.
        opened.and_then(|mut file| file.read_exact(&mut found)).is_ok() && self.mac == found
    }

    /// Makes it for an entry that was just verified, if that has been as it is for so long.
    pub(super) fn make(&self, entry: &File, about: &Metadata, settled: Duration) -> io::Result<()> {
        let changed = u64::try_from(about.ctime()).map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let is_settled = changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|since| since >= settled));
        if !is_settled {
            return Ok(());
        }
        // What is only in memory may be lost with the power, and the system's words about the file may not.
        entry.sync_data()?;
        let mut file = NewFile::beside(&self.path, Mode::Private)?;
        file.write_all(self.mac.as_bytes())?;
        file.replace_unsynced()
    }
}

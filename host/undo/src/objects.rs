//! Contents by their digest.
//!
//! Promises: a content is there whole or not at all, under the digest of what it is; it is never changed.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

use crate::state::Digest;

/// The name of the folder with the contents, beside the journal.
pub(crate) const FOLDER: &str = "objects";

/// A folder with contents, each in a file with its digest as its name.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    folder: PathBuf,
}

impl Objects {
    /// Creates the folder, if it is missing.
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        host_files::make_private_folder(&folder)?;
        Ok(Self { folder })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(digest.as_str())
    }

    /// Keeps a content. Returns its digest, its size in bytes, and whether it was not kept before.
    pub(crate) fn keep(&self, mut content: impl Read) -> io::Result<(Digest, u64, bool)> {
        // In the same folder: a rename from another file system would be a copy, and could be seen half.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        let mut hasher = blake3::Hasher::new();
        let (mut buffer, mut size) = (vec![0; 64 << 10], 0);
        loop {
            let count = content.read(&mut buffer)?;
            let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else { break };
            // Hashed while it is copied: read twice, it could change in between and lie under a wrong digest.
            hasher.update(piece);
            size += count as u64;
            file.write_all(piece)?;
        }
        let digest = Digest::try_from(hasher.finalize().to_string()).map_err(io::Error::other)?;
        if self.has(&digest) {
            return Ok((digest, size, false));
        }
        // Before the rename: after a power failure the name would otherwise stand for a file that is empty.
        file.as_file().sync_all()?;
        // Another process may keep the same content at this moment; what is there is the same and stays.
        match file.persist_noclobber(self.path(&digest)) {
            Ok(_) => Ok((digest, size, true)),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Ok((digest, size, false)),
            Err(failed) => Err(failed.error),
        }
    }

    pub(crate) fn has(&self, digest: &Digest) -> bool {
        self.path(digest).is_file()
    }

    /// Returns the size of a content in bytes; `None` if it is not kept.
    pub(crate) fn size(&self, digest: &Digest) -> Option<u64> {
        fs::metadata(self.path(digest)).ok().map(|about| about.len())
    }

    /// Returns the bytes of all contents.
    pub(crate) fn total(&self) -> io::Result<u64> {
        let mut total = 0_u64;
        for entry in fs::read_dir(&self.folder)? {
            total = total.saturating_add(entry?.metadata()?.len());
        }
        Ok(total)
    }

    /// Removes a content.
    pub(crate) fn remove(&self, digest: &Digest) -> io::Result<()> {
        fs::remove_file(self.path(digest))
    }

    /// Opens a content, which is checked: what was damaged on the disk is never restored.
    pub(crate) fn open_kept(&self, digest: &Digest) -> io::Result<File> {
        let mut file = File::open(self.path(digest))?;
        let (found, _) = Digest::of_reader(&mut file)?;
        if found != *digest {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what was kept of it is damaged"));
        }
        file.rewind()?;
        Ok(file)
    }
}

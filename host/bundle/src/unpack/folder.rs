//! Reading a bundle from the folder of an OCI image layout. Only what the plugin needs is opened, since such a folder
//! can hold further artifacts; no link is followed, within it or at its top.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use host_files::{FileError, read_limited};
use rustix::fs::OFlags;

use super::layout::Blobs;
use super::{EntryFault, Found, UnpackError};
use crate::bundle::MAX_IMAGE;
use crate::oci::{BLOBS, INDEX_FILE, LAYOUT_FILE, OciDigest};
use crate::sizes::MAX_BUNDLE;

/// The blobs in a folder.
pub(super) struct BlobFolder {
    root: PathBuf,
    /// The bytes read so far.
    bytes: u64,
}

pub(super) fn read(root: &Path) -> Result<Found, UnpackError> {
    for folder in ["blobs", BLOBS] {
        // A missing one is reported with the blob that is missing.
        if root.join(folder).symlink_metadata().is_ok_and(|about| about.is_symlink()) {
            return Err(UnpackError::Entry { name: folder.to_owned(), why: EntryFault::Link });
        }
    }
    Ok(Found {
        layout: file(root, LAYOUT_FILE, MAX_IMAGE)?,
        index: file(root, INDEX_FILE, MAX_IMAGE)?,
        blobs: Blobs::Folder(BlobFolder { root: root.to_owned(), bytes: 0 }),
    })
}

impl BlobFolder {
    /// Reads a blob; `None` if there is no such blob.
    pub(super) fn blob(&mut self, digest: &OciDigest, limit: u64) -> Result<Option<Vec<u8>>, UnpackError> {
        let Some(bytes) = file(&self.root, &digest.path(), limit)? else { return Ok(None) };
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > MAX_BUNDLE {
            return Err(UnpackError::TooLarge);
        }
        let found = OciDigest::of(&bytes);
        if found != *digest {
            return Err(UnpackError::Changed { name: digest.clone(), found });
        }
        Ok(Some(bytes))
    }
}

/// Reads a file of at most `limit` bytes; `None` if there is none.
fn file(root: &Path, name: &str, limit: u64) -> Result<Option<Vec<u8>>, UnpackError> {
    let path = root.join(name);
    let unreadable = |error: io::Error| UnpackError::Unreadable { path: path.clone(), error };
    let fault = |why| UnpackError::Entry { name: name.to_owned(), why };
    // A link is not followed, and a pipe is not waited for.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if path.symlink_metadata().is_ok_and(|about| about.is_symlink()) => {
            return Err(fault(EntryFault::Link));
        }
        Err(error) => return Err(unreadable(error)),
    };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(fault(EntryFault::Device));
    }
    match read_limited(&file, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FileError::Io(error)) => Err(unreadable(error)),
        Err(_) => Err(fault(EntryFault::TooLarge)),
    }
}

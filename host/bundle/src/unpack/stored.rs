//! A bundle that was checked when it was installed: it is read again at each start, but for its component, the largest
//! part by far.
//!
//! Promises: everything that is read is hashed and compared as in any bundle. The component is hashed when it is read,
//! and only one that is compiled is read: a compiled form is found by the digest that the image manifest names.
//!
//! Deliberately not here: what the component imports. That was checked against the manifest when the bundle was
//! installed.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use host_manifest::Manifest;
use host_plugin::{Digest, StoredComponent};

use super::UnpackError;
use super::archive::{self, MAX_ARCHIVE};
use crate::bundle::{Bundle, ContentError};
use crate::oci::OciDigest;

/// A bundle whose component is where it is stored.
pub type StoredBundle = Bundle<StoredComponent>;

impl StoredBundle {
    /// Reads the bundle in this archive around its component.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is refused, or this is not its component: see [`UnpackError`].
    pub fn open(path: &Path, component: &OciDigest) -> Result<Self, UnpackError> {
        let unreadable = |error| UnpackError::Unreadable { path: path.to_owned(), error };
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(unreadable(io::Error::other("it is not a file")));
        }
        if about.len() > MAX_ARCHIVE {
            return Err(UnpackError::TooLarge);
        }
        let (found, place) = archive::read_around(Skipping { file: BufReader::new(&file), at: 0 }, component)?;
        let Some(place) = place else {
            return Err(ContentError::Missing { what: "component".to_owned(), digest: component.clone() }.into());
        };
        let bundle = found.made(None, |image, blobs| Bundle::agreeing(image, &blobs, Some((component, place.size))))?;
        let digest = Digest::from_sha256(&component.to_sha256());
        let stored = StoredComponent::new(file, path.to_owned(), place.offset, place.size, digest);
        Ok(bundle.with_files(stored))
    }

    /// The manifest and the component, to run it.
    pub fn into_manifest_and_component(self) -> (Manifest, StoredComponent) {
        let (manifest, component) = self.into_parts();
        (manifest, component)
    }
}

/// A file that keeps its buffer when it skips a part within it.
struct Skipping<'a> {
    file: BufReader<&'a File>,
    at: u64,
}

impl Read for Skipping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Skipping<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Current(by) => {
                let at = self.at.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
                self.file.seek_relative(by)?;
                self.at = at;
            }
            SeekFrom::Start(_) | SeekFrom::End(_) => self.at = self.file.seek(to)?,
        }
        Ok(self.at)
    }
}

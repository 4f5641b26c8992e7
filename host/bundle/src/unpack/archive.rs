//! Reads a bundle's tar. Entries are taken literally: the extensions by which a tar renames and resizes others are
//! refused, since two readers could understand them in two ways.

use std::collections::BTreeMap;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::layout::Blobs;
use super::{EntryFault, Found, MAX_BLOB, MAX_BUNDLE, MAX_ENTRIES, UnpackError};
use crate::bundle::MAX_IMAGE;
use crate::oci::{BLOBS, INDEX_FILE, LAYOUT_FILE, OciDigest};

/// Zeros after the last entry: the end itself, and the block that it fills up. Protects the reader from a file that goes
/// on for ever.
const MAX_END: u64 = 1 << 20;
/// Maximum total size of an archive: its files, and a header and the rest of a block for each.
const MAX_ARCHIVE: u64 = MAX_BUNDLE + (2 << 20);

pub(super) fn read(from: impl Read) -> Result<Found, UnpackError> {
    let broken = |error: std::io::Error| UnpackError::Archive(error.to_string());
    let mut archive = tar::Archive::new(from.take(MAX_ARCHIVE));
    let mut found = Entries::default();
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let entry = entry.map_err(broken)?;
        found.count()?;
        let name = String::from_utf8_lossy(&entry.header().path_bytes()).into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        let size = entry.size();
        match fault(entry.header().entry_type()) {
            Some(why) => return Err(UnpackError::Entry { name, why }),
            None if entry.header().entry_type().is_dir() => {
                if !is_folder(&name) || size != 0 {
                    return Err(UnpackError::Entry { name, why: EntryFault::Unknown });
                }
            }
            None => found.file(&name, size, entry)?,
        }
    }
    // Something after the end would be part of the file and of nothing that is checked.
    let mut rest = archive.into_inner().take(MAX_END + 1);
    let mut chunk = [0; 16 << 10];
    let mut length = 0;
    loop {
        let read = rest.read(&mut chunk).map_err(broken)?;
        length += read as u64;
        // The reader has taken one empty block for the end, and there are two.
        if read == 0 && length < 512 {
            return Err(UnpackError::Archive("it breaks off before its end".to_owned()));
        } else if read == 0 {
            let Entries { layout, index, blobs, .. } = found;
            return Ok(Found { layout, index, blobs: Blobs::Archive(blobs) });
        }
        if length > MAX_END || chunk.iter().take(read).any(|byte| *byte != 0) {
            return Err(UnpackError::Archive("something follows its end".to_owned()));
        }
    }
}

/// Why an entry of this type is refused; `None` for a file and a folder.
fn fault(kind: tar::EntryType) -> Option<EntryFault> {
    use tar::EntryType as Kind;
    match kind {
        Kind::Regular | Kind::Directory => None,
        Kind::Link | Kind::Symlink => Some(EntryFault::Link),
        Kind::Char | Kind::Block | Kind::Fifo => Some(EntryFault::Device),
        Kind::GNUSparse => Some(EntryFault::Sparse),
        Kind::GNULongName | Kind::GNULongLink | Kind::XGlobalHeader | Kind::XHeader => Some(EntryFault::Extension),
        // The library's own enum, which it may add to.
        _ => Some(EntryFault::Unknown),
    }
}

/// The files read so far.
#[derive(Debug, Default)]
struct Entries {
    entries: usize,
    bytes: u64,
    layout: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    blobs: BTreeMap<OciDigest, Vec<u8>>,
}

impl Entries {
    /// Counts an entry, before anything else is asked of it.
    fn count(&mut self) -> Result<(), UnpackError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(UnpackError::TooMany) } else { Ok(()) }
    }

    /// Reads a file, which is said to have `size` bytes.
    fn file(&mut self, name: &str, size: u64, mut from: impl Read) -> Result<(), UnpackError> {
        let fault = |why| UnpackError::Entry { name: name.to_owned(), why };
        let digest = match place(name).map_err(fault)? {
            Place::Layout | Place::Index => None,
            Place::Blob(digest) => Some(digest),
        };
        let is_there = match &digest {
            Some(digest) => self.blobs.contains_key(digest),
            None if name == LAYOUT_FILE => self.layout.is_some(),
            None => self.index.is_some(),
        };
        if is_there {
            return Err(fault(EntryFault::Twice));
        }
        if size > if digest.is_some() { MAX_BLOB } else { MAX_IMAGE } {
            return Err(fault(EntryFault::TooLarge));
        }
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > MAX_BUNDLE {
            return Err(UnpackError::TooLarge);
        }
        let mut hash = Sha256::new();
        let mut bytes = Vec::new();
        let mut chunk = [0; 16 << 10];
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => chunk.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(UnpackError::Archive(error.to_string())),
            };
            if (bytes.len() + read.len()) as u64 > size {
                return Err(fault(EntryFault::Size));
            }
            hash.update(read);
            bytes.extend_from_slice(read);
        }
        if bytes.len() as u64 != size {
            return Err(fault(EntryFault::Size));
        }
        match digest {
            Some(name) => {
                let found = OciDigest::from_sha256(&hash.finalize().into());
                if found != name {
                    return Err(UnpackError::Changed { name, found });
                }
                self.blobs.insert(name, bytes);
            }
            None if name == LAYOUT_FILE => self.layout = Some(bytes),
            None => self.index = Some(bytes),
        }
        Ok(())
    }
}

/// The role of a file.
enum Place {
    Layout,
    Index,
    Blob(OciDigest),
}

/// The place of a name in a layout.
fn place(name: &str) -> Result<Place, EntryFault> {
    match name {
        LAYOUT_FILE => return Ok(Place::Layout),
        INDEX_FILE => return Ok(Place::Index),
        _ => {}
    }
    let digits = name.strip_prefix(BLOBS).and_then(|rest| rest.strip_prefix('/'));
    if let Some(digest) = digits.and_then(|digits| format!("sha256:{digits}").parse().ok()) {
        return Ok(Place::Blob(digest));
    }
    if name.starts_with('/') {
        Err(EntryFault::Absolute)
    } else if name.split('/').any(|part| part == "..") {
        Err(EntryFault::Upward)
    } else {
        Err(EntryFault::Unknown)
    }
}

/// Returns whether a name is one of the folders of a layout.
fn is_folder(name: &str) -> bool {
    matches!(name.trim_end_matches('/'), "" | "." | "blobs") || name.trim_end_matches('/') == BLOBS
}

//! Reads a bundle's tar. Entries are taken literally: the extensions by which a tar renames and resizes others are
//! refused, since two readers could understand them in two ways.

use std::io::{self, Read, Seek};

use super::layout::Blobs;
use super::{EntryFault, Found, MAX_ENTRIES, UnpackError};
use crate::bundle::{BundleFiles, MAX_IMAGE};
use crate::oci::{BLOBS, INDEX_FILE, LAYOUT_FILE, OciDigest};
use crate::sizes::{MAX_BLOB, MAX_BUNDLE};

/// Zeros after the last entry: the end itself, and the block that it fills up. Protects the reader from a file that
/// goes on for ever.
const MAX_END: u64 = 1 << 20;
/// Maximum total size of an archive: its files, and a header and the rest of a block for each.
pub(super) const MAX_ARCHIVE: u64 = MAX_BUNDLE + (2 << 20);

/// Reads the archive of a bundle.
pub(super) fn read(from: impl Read) -> Result<Found, UnpackError> {
    let mut archive = tar::Archive::new(from.take(MAX_ARCHIVE));
    let mut entries = Entries::default();
    for entry in archive.entries().map_err(broken)?.raw(true) {
        entries.add(entry.map_err(broken)?)?;
    }
    end(archive.into_inner())?;
    Ok(entries.found())
}

/// Where a blob is in an archive that was read around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// Reads the archive of a bundle around one blob, which is not read and so not hashed; returns where that is, if it is
/// there.
pub(super) fn read_around(from: impl Read + Seek, blob: &OciDigest) -> Result<(Found, Option<Place>), UnpackError> {
    let mut archive = tar::Archive::new(from);
    let mut entries = Entries { around: Some(blob.clone()), ..Entries::default() };
    for entry in archive.entries_with_seek().map_err(broken)?.raw(true) {
        entries.add(entry.map_err(broken)?)?;
    }
    end(archive.into_inner())?;
    let place = entries.place;
    Ok((entries.found(), place))
}

fn broken(error: io::Error) -> UnpackError {
    UnpackError::Archive(error.to_string())
}

/// Checks that nothing follows the last entry: it would be part of the file and of nothing that is checked.
fn end(rest: impl Read) -> Result<(), UnpackError> {
    let mut rest = rest.take(MAX_END + 1);
    let mut chunk = [0; 16 << 10];
    let mut length = 0;
    loop {
        let read = rest.read(&mut chunk).map_err(broken)?;
        length += read as u64;
        // The reader has taken one empty block for the end, and there are two.
        if read == 0 && length < 512 {
            return Err(UnpackError::Archive("it breaks off before its end".to_owned()));
        } else if read == 0 {
            return Ok(());
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
    blobs: BundleFiles,
    /// The blob that is not read.
    around: Option<OciDigest>,
    /// Where that is.
    place: Option<Place>,
}

impl Entries {
    fn add(&mut self, entry: tar::Entry<'_, impl Read>) -> Result<(), UnpackError> {
        self.count()?;
        let name = String::from_utf8_lossy(&entry.header().path_bytes()).into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        let size = entry.size();
        match fault(entry.header().entry_type()) {
            Some(why) => Err(UnpackError::Entry { name, why }),
            None if entry.header().entry_type().is_dir() => match is_folder(&name) && size == 0 {
                true => Ok(()),
                false => Err(UnpackError::Entry { name, why: EntryFault::Unknown }),
            },
            None => self.file(&name, Place { offset: entry.raw_file_position(), size }, entry),
        }
    }

    fn found(self) -> Found {
        let Self { layout, index, blobs, .. } = self;
        Found { layout, index, blobs: Blobs::Archive(blobs) }
    }

    /// Counts an entry, before anything else is asked of it.
    fn count(&mut self) -> Result<(), UnpackError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(UnpackError::TooMany) } else { Ok(()) }
    }

    /// Reads a file, which is said to be at this place.
    fn file(&mut self, name: &str, place: Place, mut from: impl Read) -> Result<(), UnpackError> {
        let size = place.size;
        let fault = |why| UnpackError::Entry { name: name.to_owned(), why };
        // By the name alone: only names that an image layout has are read at all.
        let digest = match role(name).map_err(fault)? {
            Role::Layout | Role::Index => None,
            Role::Blob(digest) => Some(digest),
        };
        // The component is left where it lies and read when it is needed.
        let is_skipped = digest.is_some() && digest == self.around;
        let is_there = match &digest {
            Some(_) if is_skipped => self.place.is_some(),
            Some(digest) => self.blobs.contains_key(digest),
            None if name == LAYOUT_FILE => self.layout.is_some(),
            None => self.index.is_some(),
        };
        // Two entries of one name: one reader takes the first and another the last.
        if is_there {
            return Err(fault(EntryFault::Twice));
        }
        // By the size in the header, before anything is read.
        if size > if digest.is_some() { MAX_BLOB } else { MAX_IMAGE } {
            return Err(fault(EntryFault::TooLarge));
        }
        self.bytes = self.bytes.saturating_add(size);
        // All together too, since a thousand parts of the largest size would each be allowed.
        if self.bytes > MAX_BUNDLE {
            return Err(UnpackError::TooLarge);
        }
        if is_skipped {
            self.place = Some(place);
            return Ok(());
        }
        let mut bytes = Vec::new();
        // One byte more than there may be shows that there are more.
        from.by_ref()
            .take(size.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| UnpackError::Archive(error.to_string()))?;
        // An entry that is shorter than it says ends the archive in its middle.
        if bytes.len() as u64 != size {
            return Err(fault(EntryFault::Size));
        }
        match digest {
            Some(name) => {
                let found = OciDigest::of(&bytes);
                // Hashed as it is read: everything in here is known by its digest from now on.
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
enum Role {
    Layout,
    Index,
    Blob(OciDigest),
}

/// The role of the file with this name in a layout.
fn role(name: &str) -> Result<Role, EntryFault> {
    match name {
        LAYOUT_FILE => return Ok(Role::Layout),
        INDEX_FILE => return Ok(Role::Index),
        _ => {}
    }
    let digits = name.strip_prefix(BLOBS).and_then(|rest| rest.strip_prefix('/'));
    if let Some(digest) = digits.and_then(|digits| format!("sha256:{digits}").parse().ok()) {
        return Ok(Role::Blob(digest));
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

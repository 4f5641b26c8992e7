//! Reads a bundle's tar. Entries are taken literally: the extensions by which a tar renames and resizes others are
//! refused, since two readers could understand them in two ways.

use std::io::Read;

use super::{EntryFault, Found, MAX_BUNDLE, UnpackError, is_folder};

/// Zeros after the last entry: the end itself, and the block that it fills up. Protects the reader from a file that goes
/// on for ever.
const MAX_END: u64 = 1 << 20;
/// Maximum total size of an archive: its files, and a header and the rest of a block for each.
const MAX_ARCHIVE: u64 = MAX_BUNDLE + (2 << 20);

pub(super) fn read(from: impl Read) -> Result<Found, UnpackError> {
    let broken = |error: std::io::Error| UnpackError::Archive(error.to_string());
    let mut archive = tar::Archive::new(from.take(MAX_ARCHIVE));
    let mut found = Found::default();
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
            return Ok(found);
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

//! Git's index, read as far as it says whether there are submodules.
//!
//! The format is that of `gitformat-index(5)`, versions 2 to 4, with SHA-1.

/// The bytes before the first entry: a signature, a version, a number of entries.
const HEAD: usize = 12;

/// The bytes of an entry before its name, in version 2.
const ENTRY: usize = 62;

/// Where in an entry its mode is, and its flags.
const MODE: usize = 24;
/// See [`MODE`].
const FLAGS: usize = 60;

/// The kind of an entry that is a commit of another repository, in the upper four bits of its mode.
const SUBMODULE: u32 = 0o16;

/// The bytes of the checksum at the end.
const CHECKSUM: usize = 20;

/// Whether an entry of the index is a submodule; `None` if that cannot be told, as where a part of it is in another file.
pub(super) fn has_submodules(index: &[u8]) -> Option<bool> {
    let end = index.len().checked_sub(CHECKSUM)?;
    if index.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(index, 4)?;
    let count = number(index, 8)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = HEAD;
    for _ in 0..count {
        if number(index, at + MODE)? >> 12 & 0o17 == SUBMODULE {
            return Some(true);
        }
        let extended = version > 2 && index.get(at + FLAGS)? & 0x40 != 0;
        let name = at + ENTRY + if extended { 2 } else { 0 };
        let from = if version == 4 { after_varint(index, name)? } else { name };
        let length = index.get(from..end)?.iter().position(|byte| *byte == 0)?;
        at = match version {
            4 => from + length + 1,
            // One to eight zeros, so that the next entry begins at a multiple of eight from this one's begin.
            _ => at + (name - at + length + 8) / 8 * 8,
        };
    }
    while at < end {
        // The entries of a split index are in another file.
        if index.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(index, at + 4)?).ok()?)?;
    }
    (at == end).then_some(false)
}

/// Returns the index behind a number of variable length.
fn after_varint(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes.get(at..)?.iter().position(|byte| byte & 0x80 == 0)?;
    Some(at + length + 1)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

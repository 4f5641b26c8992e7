//! Git's index, read as far as it says which files it lists.
//!
//! The format is that of `gitformat-index(5)`, versions 2 to 4. An index whose entries are partly in another file
//! (`core.splitIndex`) is not understood.

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use crate::names::is_tracked_path;

/// The largest index that is read, in bytes: that of a repository with 400,000 files.
pub(crate) const MAX_INDEX: u64 = 48 << 20;

/// The bytes before the first entry: a signature, a version, a number of entries.
const HEAD: usize = 12;

/// Where in an entry its mode is, and its object.
const MODE: usize = 24;
/// See [`MODE`].
const OBJECT: usize = 40;

/// Where in an entry the time of the last change of its file is, in seconds and nanoseconds, and the size.
const MODIFIED: usize = 8;
/// See [`MODIFIED`].
const SIZE: usize = 36;

/// The modes of regular files.
const FILES: &[u32] = &[0o100_644, 0o100_755];

/// The flags by which git takes a file as unchanged, or leaves it out of the work tree.
const NOT_COMPARED: u32 = 0x8000 | 0x4000 << 16;

/// The mode of an entry that is a commit of another repository.
const SUBMODULE: u32 = 0o160_000;

/// The modes that git writes: a file, a program, a link, a submodule, a folder outside of a sparse checkout.
const MODES: &[u32] = &[0o100_644, 0o100_755, 0o120_000, SUBMODULE, 0o040_000];

/// The extensions that name no other file. Of `FSMN` and `UNTR` git takes what it saw of files, never a name to run.
const EXTENSIONS: &[&[u8; 4]] = &[b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT", b"sdir"];

/// How objects are named in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    /// 20 bytes.
    Sha1,
    /// 32 bytes.
    Sha256,
}

impl Hash {
    /// The bytes of a name.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// Returns the name of a file's content.
    pub(crate) fn of_blob(self, content: &[u8]) -> Vec<u8> {
        let head = format!("blob {}\0", content.len());
        self.digest(&[head.as_bytes(), content].concat())
    }

    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }
}

/// A regular file, as git saw it when it was staged, committed or checked out.
pub(crate) struct TrackedFile<'a> {
    /// Its path beneath the top of the repository.
    pub(crate) path: &'a [u8],
    /// The name of its content.
    pub(crate) object: &'a [u8],
    /// The time of its last change, in seconds and nanoseconds.
    pub(crate) modified: (u32, u32),
    /// Its size, modulo 2^32.
    pub(crate) size: u32,
}

/// One entry.
struct Entry<'a> {
    /// What git saw of the file.
    modified: (u32, u32),
    size: u32,
    mode: u32,
    object: &'a [u8],
    /// The stage of a merge, and what else is not only seen of the file.
    flags: u32,
    path: &'a [u8],
}

/// Calls a function with each regular file that an index lists and git compares with the work tree, until it returns
/// false.
///
/// # Errors
///
/// Those of [`submodules`].
pub(crate) fn for_each_file(
    index: &[u8],
    hash: Hash,
    mut each: impl FnMut(TrackedFile<'_>) -> bool,
) -> Result<(), &'static str> {
    for_each(index, hash, |Entry { modified, size, mode, object, flags, path }| {
        !FILES.contains(&mode) || flags & NOT_COMPARED != 0 || each(TrackedFile { path, object, modified, size })
    })
}

/// Returns the paths of the submodules that an index lists.
///
/// # Errors
///
/// What is wrong with it, if git could read it in another way, or would reject it.
pub(crate) fn submodules(index: &[u8], hash: Hash) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut found = Vec::new();
    for_each(index, hash, |entry| {
        if entry.mode == SUBMODULE {
            found.push(entry.path.to_vec());
        }
        true
    })?;
    Ok(found)
}

/// Checks a whole index that a program left, and returns the submodules that it lists.
///
/// # Errors
///
/// Those of [`submodules`]; a wrong checksum; a path that git's own folder or another place could be taken for.
pub(crate) fn check(index: &[u8], hash: Hash) -> Result<Vec<Vec<u8>>, &'static str> {
    let (body, sum) = index.split_at_checked(index.len().saturating_sub(hash.size())).ok_or("it is too short")?;
    // `index.skipHash` writes zeros.
    if sum.iter().any(|byte| *byte != 0) && hash.digest(body) != sum {
        return Err("its checksum is wrong");
    }
    let mut found = Vec::new();
    let mut valid = true;
    // The checksum says nothing about the paths: a program can list any with a right one.
    for_each(index, hash, |entry| {
        if entry.mode == SUBMODULE {
            found.push(entry.path.to_vec());
        }
        // A path such as `.git/hooks/x` in the index would be written there by the next checkout.
        valid = MODES.contains(&entry.mode) && is_tracked_path(entry.path);
        valid
    })?;
    if valid { Ok(found) } else { Err("it lists a path or a mode that git rejects") }
}

/// Returns whether two indexes list the same: they may differ in what git saw of the files.
pub(crate) fn lists_the_same(one: &[u8], other: &[u8], hash: Hash) -> bool {
    let digest = |index: &[u8]| {
        let mut all = Sha256::new();
        // Times, sizes and inode numbers are left out: `git status` writes these again whenever it looks.
        let read = for_each(index, hash, |entry| {
            all.update(entry.mode.to_be_bytes());
            all.update(entry.flags.to_be_bytes());
            all.update(entry.object);
            all.update(entry.path);
            all.update([0]);
            true
        });
        read.is_ok().then(|| all.finalize())
    };
    // The same bytes are the common case, and need no reading.
    one == other || matches!((digest(one), digest(other)), (Some(one), Some(other)) if one == other)
}

/// What is wrong with an index in which something is missing.
const CUT: &str = "it is cut off";

/// Calls the function for each entry, until it says no.
fn for_each(index: &[u8], hash: Hash, mut each: impl FnMut(Entry<'_>) -> bool) -> Result<(), &'static str> {
    let end = index.len().checked_sub(hash.size()).ok_or("it is too short")?;
    let body = index.get(..end).ok_or(CUT)?;
    if body.get(..4) != Some(b"DIRC") {
        return Err("it does not begin like an index");
    }
    let version = number(body, 4).ok_or(CUT)?;
    let count = number(body, 8).ok_or(CUT)?;
    if !(2..=4).contains(&version) {
        return Err("its version is not known");
    }
    let mut path = Vec::new();
    let mut at = HEAD;
    for _ in 0..count {
        // Each offset is checked by `get`: lengths and counts are what a program wrote.
        let flags_at = at + OBJECT + hash.size();
        let object = body.get(at + OBJECT..flags_at).ok_or(CUT)?;
        let flags =
            u32::from(u16::from_be_bytes(body.get(flags_at..flags_at + 2).ok_or(CUT)?.try_into().or(Err(CUT))?));
        let extended = version > 2 && flags & 0x4000 != 0;
        let more = match extended {
            true => number(body, flags_at).ok_or(CUT)? & 0xffff,
            false => 0,
        };
        let name = flags_at + if extended { 4 } else { 2 };
        let path_end = read_path(body, name, version, &mut path)?;
        let mode = number(body, at + MODE).ok_or(CUT)?;
        let modified = (number(body, at + MODIFIED).ok_or(CUT)?, number(body, at + MODIFIED + 4).ok_or(CUT)?);
        let size = number(body, at + SIZE).ok_or(CUT)?;
        at = match version {
            4 => path_end + 1,
            // One to eight zeros, so that the next entry begins at a multiple of eight from this one's begin.
            _ => at + (path_end - at + 8) / 8 * 8,
        };
        // The upper bits say what git assumes of the file, the lower ones how long its path is.
        if !each(Entry { modified, size, mode, object, flags: flags & 0xb000 | more << 16, path: &path }) {
            return Ok(());
        }
    }
    while at < end {
        let name: &[u8; 4] = body.get(at..at + 4).and_then(|name| name.try_into().ok()).ok_or(CUT)?;
        // An unknown extension in capitals is optional for git, but could change what the entries mean, as a split
        // index does.
        if !EXTENSIONS.contains(&name) {
            return Err("a part of it is in another file, or not known");
        }
        let size = number(body, at + 4).and_then(|size| usize::try_from(size).ok()).ok_or(CUT)?;
        at = at.checked_add(8).and_then(|at| at.checked_add(size)).ok_or(CUT)?;
    }
    if at == end { Ok(()) } else { Err(CUT) }
}

/// Reads a path into the one before it; returns the position of the zero behind it.
fn read_path(body: &[u8], name: usize, version: u32, path: &mut Vec<u8>) -> Result<usize, &'static str> {
    let from = match version {
        4 => {
            // Version 4 leaves out what a path has in common with the one before it.
            let (dropped, from) = varint(body, name).ok_or(CUT)?;
            path.truncate(path.len().checked_sub(dropped).ok_or("a path is shorter than it says")?);
            from
        }
        _ => {
            path.clear();
            name
        }
    };
    let rest = body.get(from..).ok_or(CUT)?;
    // By its end and not by the length in the flags: that is cut at 4095.
    let length = memchr::memchr(0, rest).ok_or(CUT)?;
    path.extend_from_slice(rest.get(..length).ok_or(CUT)?);
    Ok(from + length)
}

/// Returns a number of variable length, and the position behind it.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = 0usize;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, at));
        }
        // Git counts each further byte from one on. No path is so long that four bytes do not hold its length.
        value = value.checked_add(1).filter(|value| *value < 1 << 28)?;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;

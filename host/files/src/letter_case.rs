//! Whether a file system takes names that differ in the case of letters for the same.
//!
//! A deny of `.env` has to hold for `.ENV` where both are one file, and there alone. Which names are the same is asked
//! of the file system itself, by looking the other spelling up, since one mount can have folders of both kinds.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How many entries of a folder are looked up in another case. Protects the host's time: one with a letter is enough.
const LOOKED_UP: usize = 64;

/// Whether one of the folders on the way from `root` to the path, which is beneath it, takes names of another case for
/// the same. If that cannot be found out, it is assumed.
pub fn is_ignored_on_the_way(root: &Path, path: &Path) -> bool {
    let below = path.ancestors().take_while(|above| *above != root && above.starts_with(root));
    let mut folders = below.filter_map(|above| Some((above.parent()?, above.file_name()?)));
    folders.any(|(folder, name)| name.to_str().is_none_or(|name| is_ignored(folder, name).unwrap_or(true)))
}

/// Whether the folder takes the name, which need not exist, and the same in another case for one.
fn is_ignored(folder: &Path, name: &str) -> io::Result<bool> {
    if let Some(known) = are_one(folder, name)? {
        return Ok(known);
    }
    if has_flag(folder) {
        return Ok(true);
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // What does not exist yet gets the kind of the folder in which it is made.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return of_parent(folder),
        Err(error) => return Err(error),
    };
    for entry in entries.take(LOOKED_UP) {
        if let Some(name) = entry?.file_name().to_str()
            && let Some(known) = are_one(folder, name)?
        {
            return Ok(known);
        }
    }
    of_parent(folder)
}

fn of_parent(folder: &Path) -> io::Result<bool> {
    match (folder.parent(), folder.file_name().map(|name| name.to_str())) {
        (Some(above), Some(Some(name))) => is_ignored(above, name),
        (_, Some(None)) => Ok(true),
        (None, _) | (_, None) => Ok(false),
    }
}

/// Whether the name and its other case are one file; `None` if the name does not exist or has no other case.
fn are_one(folder: &Path, name: &str) -> io::Result<Option<bool>> {
    let other = other_case(name);
    if other == name {
        return Ok(None);
    }
    let found = |name: &str| match fs::symlink_metadata(folder.join(name)) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    };
    let same = |one: &Metadata, other: &Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    let Some(one) = found(name)? else { return Ok(None) };
    Ok(Some(found(&other)?.is_some_and(|other| same(&one, &other))))
}

/// The name with the case of each letter exchanged.
fn other_case(name: &str) -> String {
    let exchanged =
        |c: char| -> String { if c.is_lowercase() { c.to_uppercase().collect() } else { c.to_lowercase().collect() } };
    name.chars().map(exchanged).collect()
}

/// Whether the folder is marked as one whose names are folded, as those of ext4 and others can be.
#[cfg(target_os = "linux")]
fn has_flag(folder: &Path) -> bool {
    let flags = fs::File::open(folder).ok().and_then(|folder| rustix::fs::ioctl_getflags(&folder).ok());
    // FS_CASEFOLD_FL of linux/fs.h.
    flags.is_some_and(|flags| flags.bits() & 0x4000_0000 != 0)
}

#[cfg(not(target_os = "linux"))]
fn has_flag(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_counts_where_the_file_system_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        fs::create_dir(root.join("empty")).expect("made");
        fs::create_dir(root.join("sub")).expect("made");
        fs::write(root.join("sub/.env"), "").expect("written");
        for path in [".git", "sub/.ENV", "sub/.env", "empty/x", "empty/new/.git", "sub/123", "new/new/new"] {
            assert!(!is_ignored_on_the_way(&root, &root.join(path)), "{path}");
        }
        // A name that is there in both cases, as one file: what a file system that folds names shows.
        fs::hard_link(root.join("sub/.env"), root.join("sub/.ENV")).expect("linked");
        assert!(is_ignored_on_the_way(&root, &root.join("sub/.ENV")));
    }

    #[test]
    fn letter_case_is_exchanged() {
        for (name, other) in
            [(".git", ".GIT"), ("ReadMe", "rEADmE"), ("123", "123"), ("straße", "STRASSE"), ("ÄÖ", "äö")]
        {
            assert_eq!(other_case(name), other);
        }
    }
}

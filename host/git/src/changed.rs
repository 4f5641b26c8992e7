//! How many tracked files are not as git's index has them, without running git.
//!
//! As `git status` does, it compares time and size, and reads a file only if they leave it open. Deliberately not here:
//! files that git does not track, what is staged, and filters such as `core.autocrlf`, with which a file of which only
//! the time changed counts as changed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::index::{self, Hash, MAX_INDEX, TrackedFile};
use crate::place::read_alone;
use crate::repository::Repository;

/// The most files that are looked at. Protects the time until a session starts.
const MAX_FILES: usize = 10_000;

/// The most bytes of files that are read. See [`MAX_FILES`].
const MAX_READ: u64 = 16 << 20;

/// Returns how many tracked files of the repository around a folder are not as git's index has them; `None` without a
/// repository, or if there are too many files to tell.
pub fn changed_files(folder: &Path) -> Option<usize> {
    let repository = Repository::around(folder).ok()??;
    let hash = repository.hash().ok()?;
    let Some(index) = read_alone(&repository.folder.join("index"), MAX_INDEX).ok()? else { return Some(0) };
    let (mut seen, mut changed, mut left) = (0, 0, MAX_READ);
    index::for_each_file(&index, hash, |file| {
        seen += 1;
        let path = repository.top.join(OsStr::from_bytes(file.path));
        match is_changed(&path, &file, hash, &mut left) {
            Some(is_changed) if seen <= MAX_FILES => {
                changed += usize::from(is_changed);
                true
            }
            // Too much to look at.
            _ => {
                seen = usize::MAX;
                false
            }
        }
    })
    .ok()?;
    (seen <= MAX_FILES).then_some(changed)
}

/// Returns whether a file is not as the index has it; `None` if that would take reading more than `left`.
fn is_changed(path: &Path, file: &TrackedFile<'_>, hash: Hash, left: &mut u64) -> Option<bool> {
    let Ok(found) = path.symlink_metadata() else { return Some(true) };
    // The index has the lower 32 bits. A size of zero may also say that git could not tell.
    let same_size = found.size() as u32 == file.size;
    if !found.is_file() || (!same_size && file.size != 0) {
        return Some(true);
    }
    if same_size && (found.mtime() as u32, found.mtime_nsec() as u32) == file.modified {
        return Some(false);
    }
    *left = left.checked_sub(found.size())?;
    let bytes = read_alone(path, found.size()).ok().flatten();
    Some(bytes.is_none_or(|bytes| hash.of_blob(&bytes) != file.object))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, FileTimes};
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        let git = git.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let ended = git.env("GIT_CONFIG_SYSTEM", "/dev/null").output().expect("git is there");
        assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }

    #[test]
    fn changed_files_are_those_that_git_would_show() {
        for format in ["sha1", "sha256"] {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path();
            assert_eq!(changed_files(root), None);
            git(root, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
            assert_eq!(changed_files(root), Some(0), "nothing is tracked");
            for name in ["a", "b", "c", "d"] {
                fs::write(root.join(name), name).expect("written");
            }
            git(root, &["add", "."]);
            assert_eq!(changed_files(root), Some(0));
            fs::write(root.join("untracked"), "x").expect("written");
            fs::write(root.join("a"), "longer").expect("written");
            fs::remove_file(root.join("b")).expect("removed");
            let later = FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(60));
            // Only its time is different, and of the other its content, too.
            fs::File::options().write(true).open(root.join("c")).expect("there").set_times(later).expect("set");
            assert_eq!(changed_files(root), Some(2));
            fs::write(root.join("d"), "D").expect("written");
            fs::File::options().write(true).open(root.join("d")).expect("there").set_times(later).expect("set");
            assert_eq!(changed_files(&root.join(".")), Some(3));
        }
    }
}

//! Reading what the system has in memory, where a call runs, without a thread that may wait for a disk.
//!
//! A thread that is woken and wakes the call again takes some 50 µs, and opening and reading a small file that is in
//! memory a fifth of it. A file is in memory if it was written or read lately, as most files are that a model asks for.
//!
//! Promises: the path is checked and opened as on any other thread, with the permit; only where that happens is decided
//! here. Nothing that a network or another program is behind is taken for being in memory.
//! Deliberately not here: files with rules about what is ignored. They are small and read with each path, so only the
//! first time can wait.

use std::path::Path;

use cap_std::fs::{Dir, File};

/// The largest part of a file that is read at once, in bytes: copying it takes less time than a thread would.
pub(super) const MAX_AT_ONCE: usize = 64 << 10;

/// Returns whether the system knows what is at this path beneath the folder without asking a disk. Opens nothing.
#[cfg(target_os = "linux")]
pub(crate) fn is_known(folder: &Dir, path: &Path) -> bool {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    // `RESOLVE_CACHED` (Linux 5.12) fails where the file system would have to look something up, to ask whether what it
    // knows still holds, or to write down that a link was read. A kernel without it says that the flag is invalid.
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::CACHED;
    rustix::fs::openat2(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_known(_: &Dir, _: &Path) -> bool {
    false
}

/// Fills the buffer from this place of the file; returns false if not all of that is in memory.
#[cfg(target_os = "linux")]
pub(super) fn fill(file: &File, buffer: &mut [u8], offset: u64) -> bool {
    use rustix::io::{IoSliceMut, ReadWriteFlags, preadv2};
    let length = buffer.len();
    length == 0 || preadv2(file, &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT) == Ok(length)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn fill(_: &File, _: &mut [u8], _: u64) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;

    use cap_std::ambient_authority;

    use super::*;

    /// Whether it works one time of many: the system may refuse at any moment, as when something is renamed meanwhile.
    fn ever(mut works: impl FnMut() -> bool) -> bool {
        (0..1_000).any(|_| {
            std::thread::yield_now();
            works()
        })
    }

    #[test]
    fn at_once_is_for_what_is_beneath_the_folder_and_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let beneath = folder.path().join("beneath");
        std::fs::create_dir(&beneath).expect("made");
        std::fs::write(folder.path().join("outside"), "secret").expect("written");
        std::fs::write(beneath.join("file"), "text").expect("written");
        symlink("../outside", beneath.join("out")).expect("linked");
        symlink("/proc/self/exe", beneath.join("magic")).expect("linked");
        let dir = Dir::open_ambient_dir(&beneath, ambient_authority()).expect("it is there");
        for (path, known) in [
            ("file", true),
            (".", true),
            ("none", false),
            ("file/x", false),
            ("out", false),
            ("../outside", false),
            ("/etc/passwd", false),
            ("magic", false),
        ] {
            assert_eq!(ever(|| is_known(&dir, Path::new(path))), known, "{path}");
        }
    }

    #[test]
    fn at_once_reads_all_or_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("file"), "0123456789").expect("written");
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("it is there");
        let file = dir.open("file").expect("it opens");
        for (offset, length, expected) in [(0, 10, Some("0123456789")), (4, 3, Some("456")), (10, 0, Some(""))] {
            let mut buffer = vec![0; length];
            let read = ever(|| fill(&file, &mut buffer, offset)).then_some(buffer);
            assert_eq!(read.as_deref(), expected.map(str::as_bytes), "{offset} {length}");
        }
        assert!(!ever(|| fill(&file, &mut [0; 4], 8)), "there are two bytes");
        let folder = dir.open(".").expect("it opens");
        assert!(!ever(|| fill(&folder, &mut [0; 4], 0)), "it is a folder");
    }
}

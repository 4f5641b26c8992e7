//! Writes the new content of a file beside it, to be renamed over it.
//!
//! Promises: what is beside it under a name of its own is complete and on the disk. On Linux the file has no name
//! before that, so a host that is killed while it writes leaves nothing behind; elsewhere, and on file systems that
//! cannot do so, it leaves a file that begins with a dot and ends in `.new`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};

use crate::digest::hex;

/// The mode of a new file, without the bits of the umask.
const NEW: u32 = 0o666;

/// Writes the content to a new file in the folder and returns its name.
pub(super) fn write(
    folder: &Dir,
    name: &Path,
    content: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    // A name that another program could guess could be there before, as a link.
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    // A name may have 255 bytes, and the longest ones would have no room for what is added.
    let stem = name.file_name().unwrap_or(OsStr::new("file")).to_string_lossy().chars().take(64).collect::<String>();
    let beside = PathBuf::from(format!(".{stem}.{}.new", hex(&random)));
    // Never more permissive than the file that it replaces, not even for a moment.
    let mode = permissions.map(|permissions| permissions.mode() & 0o7777);
    #[cfg(target_os = "linux")]
    if let Some(file) = without_a_name(folder, mode.unwrap_or(NEW))? {
        fill(&file, content, mode)?;
        if named(&file, folder, &beside).is_ok() {
            return Ok(beside);
        }
        // There is no `/proc`, by which a file gets its first name. It is gone when it is closed.
    }
    let mut options = OpenOptions::new();
    // Nothing that is there is opened, no link either.
    options.write(true).create_new(true).mode(mode.unwrap_or(NEW));
    let file = folder.open_with(&beside, &options)?.into_std();
    if let Err(error) = fill(&file, content, mode) {
        // A half file with a dot in front would stay in the user's folder.
        folder.remove_file(&beside).ok();
        return Err(error);
    }
    Ok(beside)
}

fn fill(mut file: &File, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(mode) = mode {
        // The umask took bits from it.
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

/// Makes a file without a name; `None` if the file system has none such.
#[cfg(target_os = "linux")]
fn without_a_name(folder: &Dir, mode: u32) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, openat};
    use rustix::io::Errno;
    match openat(folder, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(mode)) {
        Ok(file) => Ok(Some(file.into())),
        // Kernels and file systems say in different ways that they do not know it.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a file its first name.
#[cfg(target_os = "linux")]
fn named(file: &File, folder: &Dir, name: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD, linkat};
    let by_number = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, by_number, folder, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).expect("opened");
        (folder, dir)
    }

    #[test]
    fn beside_a_file_is_its_whole_content_with_its_permissions() {
        let (at, dir) = folder();
        for mode in [0o600, 0o640, 0o777] {
            let permissions = Permissions::from_mode(mode);
            let name = write(&dir, Path::new("a.txt"), b"content", Some(permissions)).expect("written");
            let path = at.path().join(&name);
            assert_eq!(std::fs::read(&path).expect("there"), b"content");
            assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o7777, mode);
            assert!(name.to_string_lossy().starts_with(".a.txt.") && name.to_string_lossy().ends_with(".new"));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn beside_a_file_is_nothing_while_its_content_is_written() {
        let (at, dir) = folder();
        let names = || std::fs::read_dir(at.path()).expect("there").count();
        let Some(file) = without_a_name(&dir, NEW).expect("made") else { panic!("the folder for temporary files can") };
        fill(&file, b"content", None).expect("written");
        assert_eq!(names(), 0, "one that is killed here leaves nothing");
        named(&file, &dir, Path::new("b")).expect("named");
        assert_eq!(std::fs::read(at.path().join("b")).expect("there"), b"content");
        assert!(named(&file, &dir, Path::new("b")).is_err(), "a name that is taken stays");
    }
}

//! Writes a file whole or not at all: a new file next to it is written, synchronised and renamed, and then the folder
//! is synchronised, so that the new name also survives a power failure.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// How the name of a file begins that is not yet at its final path.
pub const UNFINISHED: &str = ".new-";

/// Access to a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// This user alone: 0600, from the beginning.
    Private,
    /// The same users as for any new file of this user: 0666 without the bits of the umask.
    Umask,
    /// The same users as for any new program of this user: 0777 without the bits of the umask.
    Program,
}

/// A file that is written next to its final path. Dropping it removes it.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// A new, empty file that will take this place.
    ///
    /// # Errors
    ///
    /// When its folder cannot be written.
    pub fn beside(path: &Path, mode: Mode) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        match mode {
            Mode::Private => {}
            Mode::Umask => _ = builder.permissions(Permissions::from_mode(0o666)),
            Mode::Program => _ = builder.permissions(Permissions::from_mode(0o777)),
        }
        Ok(Self { file: builder.tempfile_in(folder_of(path))?, path: path.to_owned() })
    }

    /// Takes the place, of another file too, once its bytes are on the disk.
    ///
    /// # Errors
    ///
    /// When it cannot be synchronised or renamed. The other file is then as it was.
    pub fn replace(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map_err(|error| error.error)?;
        sync_folder(&self.path);
        Ok(())
    }

    /// Takes the place if it is free, once its bytes are on the disk.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the path exists; when it cannot be synchronised or renamed.
    pub fn create(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path).map_err(|error| error.error)?;
        sync_folder(&self.path);
        Ok(())
    }

    /// Takes the place without waiting for the disk: for what is verified whenever it is read, such as a cache.
    ///
    /// # Errors
    ///
    /// When it cannot be renamed.
    pub fn replace_unsynced(self) -> io::Result<()> {
        self.file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file whole or not at all, replacing an existing one.
///
/// # Errors
///
/// When it cannot be written. What was there is then as it was.
pub fn replace(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let mut file = NewFile::beside(path, mode)?;
    file.write_all(bytes)?;
    file.replace()
}

/// Writes a new file whole or not at all.
///
/// # Errors
///
/// `AlreadyExists` if the path exists; when it cannot be written.
pub fn create(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let mut file = NewFile::beside(path, mode)?;
    file.write_all(bytes)?;
    file.create()
}

/// Makes a folder and those above it that are missing, each for this user alone.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a new file for this user alone, to append to.
///
/// # Errors
///
/// `AlreadyExists` if the path exists; when it cannot be made.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file to append to; one that is missing is made for this user alone.
///
/// # Errors
///
/// When it cannot be opened or made.
pub fn append_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The folder that a path lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sync_folder(path: &Path) {
    // The file is in its place. Some file systems cannot synchronise a folder, and none loses the file without a power
    // failure, so this is no reason to report the change as failed.
    File::open(folder_of(path)).and_then(|folder| folder.sync_all()).ok();
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is there");
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect()
    }

    #[test]
    fn files_are_replaced_whole_and_created_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        replace(&path, b"one", Mode::Private).expect("written");
        assert_eq!(path.metadata().expect("it is there").mode() & 0o777, 0o600);
        replace(&path, b"two", Mode::Private).expect("written");
        let taken = create(&path, b"three", Mode::Private).expect_err("it is there");
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("read"), b"two");
        // A file that is given up leaves nothing, and nothing is changed until it takes its place.
        let mut file = NewFile::beside(&path, Mode::Umask).expect("made");
        file.write_all(b"half").expect("written");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        drop(file);
        assert_eq!(names(folder.path()), ["a"]);
        assert!(replace(&folder.path().join("none/a"), b"", Mode::Private).is_err());
    }

    #[test]
    fn files_are_private_from_the_beginning() {
        let folder = tempfile::tempdir().expect("a folder");
        let (deep, file) = (folder.path().join("a/b"), folder.path().join("a/b/c"));
        make_private_folder(&deep).expect("made");
        make_private_folder(&deep).expect("it is there");
        append_private(&file).and_then(|mut file| file.write_all(b"1")).expect("written");
        append_private(&file).and_then(|mut file| file.write_all(b"2")).expect("written");
        assert_eq!(fs::read(&file).expect("read"), b"12");
        assert_eq!(create_private(&file).expect_err("it is there").kind(), io::ErrorKind::AlreadyExists);
        let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
        assert_eq!((mode(&folder.path().join("a")), mode(&deep), mode(&file)), (0o700, 0o700, 0o600));
    }
}

//! Reading within a limit: protects memory from a file, a pipe or a stream without end.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::Exposed;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is longer than the limit.
    #[error("it is over the limit of {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// It is not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It is a folder, a pipe or a device.
    #[error("it is {what}, not a regular file")]
    NotAFile {
        /// What it is, with its article.
        what: &'static str,
    },
    /// It is a pipe that no process has open for writing.
    #[error("it is a pipe that no process writes to")]
    NoWriter,
    /// Somebody else could have read or written it.
    #[error(transparent)]
    Exposed(#[from] Exposed),
}

impl FileError {
    /// Returns whether the error is that the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// The error for what is there, if that is not a regular file.
    ///
    /// # Errors
    ///
    /// [`FileError::NotAFile`].
    pub fn unless_regular(about: &Metadata) -> Result<(), Self> {
        let kind = about.file_type();
        let what = match () {
            () if kind.is_file() => return Ok(()),
            () if kind.is_dir() => "a folder",
            () if kind.is_fifo() => "a pipe",
            () if kind.is_socket() => "a socket",
            () if kind.is_symlink() => "a symbolic link",
            () => "a device",
        };
        Err(Self::NotAFile { what })
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            other => Self::other(other),
        }
    }
}

/// All bytes of a source.
///
/// # Errors
///
/// [`FileError::TooLarge`] if there are more than `limit` bytes; what the source failed with.
pub fn read_limited(source: impl Read, limit: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    // One byte more than the limit, so that what is longer is noticed. What says that it is small may have grown.
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(FileError::TooLarge { limit }) } else { Ok(bytes) }
}

/// The whole text of a source.
///
/// # Errors
///
/// Those of [`read_limited`]; [`FileError::NotText`].
pub fn read_text_limited(source: impl Read, limit: u64) -> Result<String, FileError> {
    String::from_utf8(read_limited(source, limit)?).map_err(|_| FileError::NotText)
}

/// Opens a regular file; a symbolic link is followed. Anything else is an error at once: opening a pipe that nobody
/// writes to would wait for ever, and a device has no end.
///
/// # Errors
///
/// [`FileError::NotAFile`]; when it cannot be opened.
pub fn open_file(path: &Path) -> Result<File, FileError> {
    let file = open_without_waiting(path)?;
    FileError::unless_regular(&file.metadata()?)?;
    Ok(file)
}

/// What the user names as an input: a file, or a pipe such as a shell makes for `<(…)`.
#[derive(Debug)]
pub struct Input {
    /// Taken out of a pipe to find out whether somebody writes to it.
    first: Option<u8>,
    file: File,
}

impl Input {
    /// Opens an input. A pipe without a writer is an error at once; one with a writer is read until the writer closes
    /// it.
    ///
    /// # Errors
    ///
    /// [`FileError::NoWriter`]; [`FileError::NotAFile`] for a folder; when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        // Opening a pipe would wait for a writer, perhaps for ever.
        let mut file = open_without_waiting(path)?;
        let about = file.metadata()?;
        if about.is_dir() {
            FileError::unless_regular(&about)?;
        }
        let mut first = None;
        if about.file_type().is_fifo() {
            // A read says at once which of the two an empty pipe is: at its end, or waiting for a writer. One that
            // still waits in its own `open` for a reader counts as a writer. A poll does not tell the two apart.
            let mut byte = [0];
            match file.read(&mut byte) {
                Ok(0) => return Err(FileError::NoWriter),
                Ok(_) => first = Some(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        // From here on a read waits for the writer. No other process shares this opened file, so none notices.
        let flags = rustix::fs::fcntl_getfl(&file).map_err(io::Error::from)?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(io::Error::from)?;
        Ok(Self { first, file })
    }

    /// Returns what the system knows of it.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.first, buffer.first_mut()) {
            (Some(first), Some(byte)) => {
                *byte = first;
                self.first = None;
                Ok(1)
            }
            _ => self.file.read(buffer),
        }
    }
}

/// All bytes of a regular file.
///
/// # Errors
///
/// Those of [`open_file`] and [`read_limited`].
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    read_limited(open_file(path)?, limit)
}

/// The text of a regular file.
///
/// # Errors
///
/// Those of [`open_file`] and [`read_text_limited`].
pub fn read_text(path: &Path, limit: u64) -> Result<String, FileError> {
    read_text_limited(open_file(path)?, limit)
}

/// The text of what the user names as an input, which may be a pipe: see [`Input`].
///
/// # Errors
///
/// Those of [`Input::open`] and [`read_text_limited`].
pub fn read_input(path: &Path, limit: u64) -> Result<String, FileError> {
    read_text_limited(Input::open(path)?, limit)
}

/// Reads a regular file that was found and not named: it lies in a folder that others can fill. A symbolic link
/// anywhere on its path is not followed, a pipe is not waited for, and a device is not read.
///
/// # Errors
///
/// Those of [`read_limited`]; [`FileError::NotAFile`]; when it cannot be opened, as at a symbolic link.
pub fn read_found(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = open_found(path)?;
    FileError::unless_regular(&file.metadata()?)?;
    read_limited(file, limit)
}

/// Opens whatever is there for reading; of a pipe nobody is waited for, and a terminal does not become the process's
/// own.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Opens a file without following a link and without waiting for what it might be.
fn open_found(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        // One call for the whole path: no folder on the way can be swapped for a link in between.
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // A kernel before 5.6, or a filter that does not know the call.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            opened => return Ok(File::from(opened?)),
        }
    }
    // Here the last name alone is checked as it is opened.
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        for (bytes, limit, read) in
            [(&b""[..], 0, true), (b"abc", 3, true), (b"abcd", 3, false), (b"abcd", u64::MAX, true)]
        {
            match read_limited(bytes, limit) {
                Ok(all) => assert!(read && all == bytes),
                Err(error) => {
                    assert!(!read);
                    assert_eq!(error.to_string(), format!("it is over the limit of {limit} bytes"));
                }
            }
        }
        assert!(matches!(read_limited(io::repeat(b'x'), 1 << 16), Err(FileError::TooLarge { .. })));
        assert!(matches!(read_text_limited(&b"a\xff"[..], 3), Err(FileError::NotText)));
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read_file(&folder.path().join("none"), 3).is_err_and(|error| error.is_missing()));
    }

    /// Runs this on a thread of its own and fails if it does not end: a reader that waits for a writer waits for ever.
    fn ends<T: Send + 'static>(what: &str, read: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(read()));
        ended.recv_timeout(std::time::Duration::from_secs(30)).unwrap_or_else(|_| panic!("{what} waits"))
    }

    fn pipe(at: &Path) {
        rustix::fs::mknodat(rustix::fs::CWD, at, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("made");
    }

    #[test]
    fn files_that_are_no_files_are_named_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        pipe(&at("pipe"));
        std::os::unix::fs::symlink(at("pipe"), at("link")).expect("linked");
        std::fs::write(at("file"), "abc").expect("written");
        std::os::unix::fs::symlink(at("file"), at("linked")).expect("linked");
        for (path, said) in [
            (at("pipe"), "it is a pipe, not a regular file"),
            (at("link"), "it is a pipe, not a regular file"),
            (at("."), "it is a folder, not a regular file"),
            ("/dev/zero".into(), "it is a device, not a regular file"),
        ] {
            let shown = path.display().to_string();
            let read = ends(&shown, move || read_file(&path, 3).map_err(|error| error.to_string()));
            assert_eq!(read, Err(said.to_owned()), "{shown}");
        }
        for path in [at("file"), at("linked")] {
            assert_eq!(read_text(&path, 3).expect("read"), "abc", "{}", path.display());
        }
    }

    #[test]
    fn files_as_inputs_may_be_pipes_that_somebody_writes_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        pipe(&at("pipe"));
        let input = |path: &Path| {
            let path = path.to_owned();
            ends("the input", move || read_input(&path, 1 << 20).map_err(|error| error.to_string()))
        };
        assert_eq!(input(&at("pipe")), Err("it is a pipe that no process writes to".to_owned()));
        assert_eq!(input(&at(".")), Err("it is a folder, not a regular file".to_owned()));
        // As a shell makes for `<(…)`: more than the pipe holds, so that reading has to wait for the writer.
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let written: String = (0..200_000).map(|number| char::from(b'a' + (number % 26) as u8)).collect();
        let text = written.clone();
        let writing = std::thread::spawn(move || io::Write::write_all(&mut writer, text.as_bytes()));
        use std::os::fd::AsRawFd as _;
        assert_eq!(input(Path::new(&format!("/dev/fd/{}", reader.as_raw_fd()))), Ok(written));
        writing.join().expect("it ends").expect("written");
    }

    #[test]
    fn files_found_are_regular_and_reached_without_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        // The path of a temporary folder may have links of its own.
        let root = folder.path().canonicalize().expect("a path");
        let at = |name: &str| root.join(name);
        std::fs::create_dir(at("real")).expect("made");
        std::fs::write(at("real/file"), "abc").expect("written");
        std::os::unix::fs::symlink(at("real"), at("folder")).expect("linked");
        std::os::unix::fs::symlink(at("real/file"), at("link")).expect("linked");
        std::os::unix::fs::symlink("/dev/zero", at("endless")).expect("linked");
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("made");
        assert_eq!(read_found(&at("real/file"), 3).expect("read"), b"abc");
        assert!(matches!(read_found(&at("real/file"), 2), Err(FileError::TooLarge { limit: 2 })));
        assert!(read_found(&at("none"), 3).is_err_and(|error| error.is_missing()));
        for not_read in ["link", "endless", "pipe", "real", "folder/file"] {
            assert!(read_found(&at(not_read), 3).is_err(), "{not_read}");
        }
        assert!(matches!(read_found(Path::new("/dev/zero"), 3), Err(FileError::NotAFile { what: "a device" })));
    }
}

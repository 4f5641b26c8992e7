//! A download that can be interrupted: its bytes are kept in a file, and the next attempt resumes.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use host_bundle::OciDigest;
use host_files::{FileError, read_limited, read_text};
use sha2::{Digest as _, Sha256};

use crate::RegistryError;

/// How often an interrupted download is resumed before it fails.
pub(crate) const ATTEMPTS: usize = 3;

/// The bytes of a download.
pub(crate) struct Part {
    file: File,
    path: Option<PathBuf>,
    pub(crate) done: u64,
    hash: Sha256,
}

impl Part {
    /// Opens the part with this name, of at most `limit` bytes; an empty one while another process downloads the same
    /// file.
    pub(crate) fn open(folder: &Path, name: &str, limit: u64) -> Result<Self, RegistryError> {
        let path = folder.join(format!("{name}.part"));
        let unusable = |error| RegistryError::Io { path: path.clone(), error };
        std::fs::create_dir_all(folder).map_err(unusable)?;
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let file = options.open(&path).map_err(unusable)?;
        // The system unlocks it when the process ends, for whatever reason.
        if file.try_lock().is_err() {
            let file = tempfile::tempfile_in(folder).map_err(unusable)?;
            return Ok(Self { file, path: None, done: 0, hash: Sha256::new() });
        }
        let mut part = Self { file, path: Some(path.clone()), done: 0, hash: Sha256::new() };
        part.take_up(limit).map_err(unusable)?;
        Ok(part)
    }

    /// Hashes the bytes that are already there.
    fn take_up(&mut self, limit: u64) -> std::io::Result<()> {
        let mut chunk = vec![0; 64 << 10];
        loop {
            let read = self.file.read(&mut chunk)?;
            if read == 0 || self.done > limit {
                return Ok(());
            }
            self.hash.update(chunk.get(..read).unwrap_or_default());
            self.done += read as u64;
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), RegistryError> {
        self.file.write_all(bytes).map_err(|error| self.unusable(error))?;
        self.hash.update(bytes);
        self.done += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn restart(&mut self) -> Result<(), RegistryError> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        emptied.map_err(|error| self.unusable(error))?;
        (self.done, self.hash) = (0, Sha256::new());
        Ok(())
    }

    pub(crate) fn digest(&self) -> OciDigest {
        OciDigest::from_sha256(&self.hash.clone().finalize().into())
    }

    /// Returns all bytes and removes the file.
    pub(crate) fn finish(mut self, size: u64) -> Result<Vec<u8>, RegistryError> {
        let read = self.file.seek(SeekFrom::Start(0)).map_err(FileError::from);
        let bytes = read.and_then(|_| read_limited(&self.file, size)).map_err(|error| self.unusable(error.into()))?;
        if let Some(note) = self.note_path() {
            // Most parts have none.
            std::fs::remove_file(note).ok();
        }
        if let Some(path) = &self.path {
            std::fs::remove_file(path).map_err(|error| self.unusable(error))?;
        }
        Ok(bytes)
    }

    /// Returns the note beside the part, if it is at most this long.
    pub(crate) fn note(&self, limit: u64) -> Option<String> {
        read_text(&self.note_path()?, limit).ok()
    }

    /// Writes a note beside the part, which is removed with it.
    pub(crate) fn write_down(&self, note: &str) -> Result<(), RegistryError> {
        let Some(path) = self.note_path() else { return Ok(()) };
        std::fs::write(path, note).map_err(|error| self.unusable(error))
    }

    fn note_path(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.with_extension("from"))
    }

    fn unusable(&self, error: std::io::Error) -> RegistryError {
        RegistryError::Io { path: self.path.clone().unwrap_or_default(), error }
    }
}

//! Reads files beneath a granted root: opens them with their permit, lists and walks folders.
//!
//! Deliberately not here: the store of a call, and which call may read which files.

mod at_once;
mod bounded;
mod found;
mod ignored;
mod texts;
mod walk;

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use cap_std::fs::{DirEntry, File, FileType, Metadata as CapMetadata};
use host_capability::{Grants, PluginName, ReadPermit};
use host_text::Wording;

pub use self::ignored::read_git_settings;
use self::ignored::{Rules, Verdict};
use crate::bindings::denial::{denial, escape};
use crate::bindings::fs_read::{Entry, Error, Kind, Metadata, Range};
use crate::workspace::{OpenError, Workspace};

pub(crate) use walk::Search;
#[expect(unreachable_pub, reason = "the generated bindings name it")]
pub use walk::Walk;

/// The most entries of one folder. Protects the host's memory.
pub(crate) const MAX_ENTRIES: usize = 100_000;

/// The largest part of a file that one read returns. Protects the guest's memory and the host's.
pub(crate) const MAX_RANGE: u32 = 8 << 20;

/// Returns whether the ignore rules of a folder, whose path is real, leave out folders beneath it.
pub(crate) fn folders_left_out(root: &Path) -> Box<dyn Fn(&Path) -> bool> {
    let rules = Rules::at(root);
    Box::new(move |folder| rules.verdict(folder, true) == Verdict::LeftOut)
}

/// A path that may be read.
pub(crate) struct Readable {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) absolute: PathBuf,
    pub(crate) permit: ReadPermit,
    wording: Wording,
}

impl Readable {
    pub(crate) fn new(
        workspace: &Arc<Workspace>,
        grants: &Grants,
        plugin: &PluginName,
        path: &str,
        wording: Wording,
    ) -> Result<Self, Error> {
        let absolute = workspace.absolute(path).map_err(|error| Error::Invalid(error.to_string()))?;
        let permit = grants.permit_read(plugin, &absolute);
        let permit = permit.map_err(|refused| Error::Denied(denial(&refused, wording)))?;
        Ok(Self { workspace: Arc::clone(workspace), absolute, permit, wording })
    }

    /// Returns what a guest learns about it.
    pub(crate) fn metadata(&self) -> Result<Metadata, Error> {
        let about = self.about(&self.open()?)?;
        let ignored = self.is_ignored(about.is_dir());
        Ok(Metadata { kind: kind(about.file_type()), size: size(&about), modified: modified(&about), ignored })
    }

    /// Returns its kind, and whether ignore rules leave it out.
    pub(crate) fn look(&self) -> Result<(Kind, bool), Error> {
        let about = self.about(&self.open()?)?;
        Ok((kind(about.file_type()), self.is_ignored(about.is_dir())))
    }

    /// Returns the entries of a folder, without those that a deny leaves out.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Error> {
        self.each(|entry, ignored| {
            let about = entry.metadata().ok()?;
            Some(Entry {
                kind: kind(about.file_type()),
                size: size(&about),
                modified: modified(&about),
                ignored: ignored(about.is_dir()),
                name: entry.file_name().to_string_lossy().into_owned(),
            })
        })
    }

    /// Returns the names of these entries, the kind of each, and whether ignore rules leave it out. The system says it
    /// with the names, so that none is looked at.
    pub(crate) fn names(&self) -> Result<Vec<(String, Kind, bool)>, Error> {
        self.each(|entry, ignored| {
            // Some file systems do not say.
            let known = entry.file_type().ok().filter(|found| *found != FileType::unknown());
            let found = known.or_else(|| Some(entry.metadata().ok()?.file_type()))?;
            Some((entry.file_name().to_string_lossy().into_owned(), kind(found), ignored(found.is_dir())))
        })
    }

    /// Returns what is made of each entry of a folder, from the entry and whether it is ignored if it is a folder, or
    /// if it is none. One can vanish between the listing and a query, and is left out as one that a deny leaves out.
    fn each<T>(&self, of: impl Fn(&DirEntry, &dyn Fn(bool) -> bool) -> Option<T>) -> Result<Vec<T>, Error> {
        let file = self.open()?;
        if !self.about(&file)?.is_dir() {
            return Err(Error::NotDirectory(self.shown()));
        }
        let folder = cap_std::fs::Dir::from_std_file(file.into_std());
        let all_ignored = self.is_ignored(true);
        let rules = Rules::at(&self.absolute);
        let mut all = Vec::new();
        for entry in folder.entries().map_err(|error| self.failed(&error))? {
            let entry = entry.map_err(|error| self.failed(&error))?;
            let path = self.absolute.join(entry.file_name());
            if self.permit.denies(&path) {
                continue;
            }
            if all.len() == MAX_ENTRIES {
                return Err(Error::TooLarge(MAX_ENTRIES as u64 + 1));
            }
            let ignored = |is_folder| all_ignored || rules.verdict(&path, is_folder) == Verdict::LeftOut;
            all.extend(of(&entry, &ignored));
        }
        Ok(all)
    }

    /// Returns whether the project's ignore rules leave it out.
    fn is_ignored(&self, is_folder: bool) -> bool {
        ignored::is_ignored(self.workspace.root(), &self.absolute, is_folder)
    }

    pub(crate) fn shown(&self) -> String {
        self.workspace.shown(&self.absolute)
    }

    pub(crate) fn open(&self) -> Result<File, Error> {
        self.workspace.open(&self.permit).map_err(|error| match error {
            OpenError::Denied(refused) => Error::Denied(denial(&refused, self.wording)),
            OpenError::Escapes => Error::Denied(escape("fs-read", &self.absolute)),
            OpenError::Io(error) => self.failed(&error),
        })
    }

    pub(crate) fn about(&self, file: &File) -> Result<CapMetadata, Error> {
        file.metadata().map_err(|error| self.failed(&error))
    }

    /// Returns what an error of the system about it is to a guest.
    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::NotFound => Error::NotFound(self.shown()),
            io::ErrorKind::NotADirectory => Error::NotDirectory(self.shown()),
            io::ErrorKind::IsADirectory => Error::IsDirectory(self.shown()),
            _ => Error::Io(format!("{}: {error}", self.shown())),
        }
    }

    /// The same as [`Readable::metadata`], if no disk has to be asked.
    pub(crate) fn metadata_at_once(&self) -> Option<Result<Metadata, Error>> {
        self.is_known().then(|| self.metadata())
    }

    /// Returns whether the system knows what is at it without asking a disk.
    fn is_known(&self) -> bool {
        self.workspace.opened(self.permit.root()).is_some_and(|root| at_once::is_known(&root, self.permit.relative()))
    }

    /// Returns a part of it: at most `length` bytes, and [`MAX_RANGE`].
    pub(crate) fn range(&self, offset: u64, length: u32) -> Result<Range, Error> {
        let (file, size) = self.open_regular()?;
        let mut data = vec![0; part(size, offset, length)];
        let mut filled = 0;
        let file = file.into_std();
        while let Some(rest) = data.get_mut(filled..)
            && !rest.is_empty()
        {
            match file.read_at(rest, offset.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        data.truncate(filled);
        Ok(Range { data, size })
    }

    /// The same, if it is little and in memory.
    pub(crate) fn range_at_once(&self, offset: u64, length: u32) -> Option<Result<Range, Error>> {
        if !self.is_known() {
            return None;
        }
        let (file, size) = match self.open_regular() {
            Ok(opened) => opened,
            Err(error) => return Some(Err(error)),
        };
        let part = part(size, offset, length);
        if part > at_once::MAX_AT_ONCE {
            return None;
        }
        let mut data = vec![0; part];
        at_once::fill(&file, &mut data, offset).then_some(Ok(Range { data, size }))
    }

    pub(crate) fn open_regular(&self) -> Result<(File, u64), Error> {
        let file = self.open()?;
        let about = self.about(&file)?;
        if about.is_dir() {
            return Err(Error::IsDirectory(self.shown()));
        }
        if !about.is_file() {
            return Err(Error::Invalid(format!("`{}` is not a regular file", self.shown())));
        }
        Ok((file, about.len()))
    }
}

/// The bytes to read of a file of this size.
fn part(size: u64, offset: u64, length: u32) -> usize {
    let part = u64::from(length.min(MAX_RANGE)).min(size.saturating_sub(offset));
    usize::try_from(part).unwrap_or(0)
}

fn kind(file_type: FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Other
    }
}

fn size(about: &CapMetadata) -> u64 {
    if about.is_dir() { 0 } else { about.len() }
}

fn modified(about: &CapMetadata) -> Option<u64> {
    milliseconds(about.modified().ok()?.into_std())
}

/// Returns milliseconds since the Unix epoch; `None` before it.
pub(crate) fn milliseconds(time: std::time::SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

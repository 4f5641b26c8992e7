//! The host side of `host:cap/fs-read`.
//!
//! Promises: nothing is opened without a permit; only regular files and folders are read, so no guest waits on a
//! pipe; every answer is bounded. System calls run on threads of their own, so dropping a call never waits for a
//! disk.

mod ignored;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use cap_std::fs::{File, FileType, Metadata as CapMetadata};
use host_capability::{Denied, Grants, PluginName, ReadPermit};
use wasmtime::component::Resource;

use crate::bindings::cap_types::Denial;
use crate::bindings::fs_read::{
    Batch, Entry, Error, Host, HostWalk, Kind, Metadata, Range, WalkOptions, WalkSummary, Whole,
};
use crate::plugin::Digest;
use crate::store::CallState;
use crate::workspace::{OpenError, Workspace};

#[expect(unreachable_pub, reason = "the generated bindings name it")]
pub use walk::Walk;

/// The largest part of a file that is handed over at once. Protects the guest's memory and the host's.
const MAX_RANGE: u32 = 8 << 20;
/// The largest file that is handed over whole.
pub(crate) const MAX_WHOLE: u64 = 20 << 20;
/// Entries of one folder. Protects the host's memory.
pub(crate) const MAX_ENTRIES: usize = 100_000;

impl Host for CallState {
    async fn stat(&mut self, path: String) -> wasmtime::Result<Result<Metadata, Error>> {
        self.reading(path, |at| {
            let file = at.open()?;
            let about = file.metadata()?;
            let ignored = ignored::is_ignored(at.workspace.root(), &at.absolute);
            Ok(Metadata { kind: kind(about.file_type()), size: size(&about), modified: modified(&about), ignored })
        })
        .await
    }

    async fn list(&mut self, path: String) -> wasmtime::Result<Result<Vec<Entry>, Error>> {
        self.reading(path, |at| at.entries()).await
    }

    async fn read(&mut self, path: String, offset: u64, length: u32) -> wasmtime::Result<Result<Range, Error>> {
        self.reading(path, move |at| {
            use std::os::unix::fs::FileExt;
            let (file, size) = at.open_regular()?;
            let left = size.saturating_sub(offset);
            let wanted = u64::from(length.min(MAX_RANGE)).min(left);
            let mut data = vec![0; usize::try_from(wanted).unwrap_or(0)];
            let mut filled = 0;
            let file = file.into_std();
            while let Some(rest) = data.get_mut(filled..)
                && !rest.is_empty()
            {
                match file.read_at(rest, offset.saturating_add(filled as u64)) {
                    Ok(0) => break,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
            data.truncate(filled);
            Ok(Range { data, size })
        })
        .await
    }

    async fn read_whole(&mut self, path: String) -> wasmtime::Result<Result<Whole, Error>> {
        self.reading(path, |at| {
            let (file, size) = at.open_regular()?;
            let data = read_whole(file, size)?;
            let digest = Digest::of(&data).as_str().to_owned();
            Ok(Whole { data, digest })
        })
        .await
    }

    async fn open_walk(&mut self, options: WalkOptions) -> wasmtime::Result<Result<Resource<Walk>, Error>> {
        let path = options.root.clone();
        let walk = match self.reading(path, move |at| Walk::begin(at, options)).await? {
            Ok(walk) => walk,
            Err(error) => return Ok(Err(error)),
        };
        Ok(Ok(self.table.push(walk)?))
    }
}

impl HostWalk for CallState {
    async fn next(&mut self, walk: Resource<Walk>) -> wasmtime::Result<Result<Option<Batch>, Error>> {
        Ok(self.table.get_mut(&walk)?.next().await)
    }

    fn summary(&mut self, walk: Resource<Walk>) -> wasmtime::Result<WalkSummary> {
        Ok(self.table.get(&walk)?.summary())
    }

    async fn drop(&mut self, walk: Resource<Walk>) -> wasmtime::Result<()> {
        self.table.delete(walk)?;
        Ok(())
    }
}

/// A path that may be read.
pub(crate) struct Readable {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) absolute: PathBuf,
    pub(crate) permit: ReadPermit,
}

impl CallState {
    /// Checks the path, and does the work on a thread that may wait for a disk.
    async fn reading<T: Send + 'static>(
        &mut self,
        path: String,
        work: impl FnOnce(Readable) -> Result<T, Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let at = match self.readable(&path) {
            Ok(at) => at,
            Err(error) => return Ok(Err(error)),
        };
        Ok(tokio::task::spawn_blocking(move || work(at)).await?)
    }

    fn readable(&self, path: &str) -> Result<Readable, Error> {
        Readable::of(&self.workspace, &self.grants, &self.plugin, path)
    }
}

impl Readable {
    pub(crate) fn of(
        workspace: &Arc<Workspace>,
        grants: &Grants,
        plugin: &PluginName,
        path: &str,
    ) -> Result<Self, Error> {
        let absolute = workspace.absolute(path).map_err(|error| Error::Invalid(error.to_string()))?;
        let permit = grants.permit_read(plugin, &absolute).map_err(denied)?;
        Ok(Self { workspace: Arc::clone(workspace), absolute, permit })
    }

    /// What it is, and whether ignore rules leave it out.
    pub(crate) fn look(&self) -> Result<(Kind, bool), Error> {
        let about = self.open()?.metadata()?;
        Ok((kind(about.file_type()), ignored::is_ignored(self.workspace.root(), &self.absolute)))
    }

    /// The entries of a folder, without what a deny leaves out.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Error> {
        let file = self.open()?;
        if !file.metadata()?.is_dir() {
            return Err(Error::NotDirectory(self.shown()));
        }
        let folder = cap_std::fs::Dir::from_std_file(file.into_std());
        let kept = ignored::kept(self.workspace.root(), &self.absolute);
        let mut entries = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            if self.permit.denies(&self.absolute.join(&name)) {
                continue;
            }
            if entries.len() == MAX_ENTRIES {
                return Err(Error::TooLarge(MAX_ENTRIES as u64 + 1));
            }
            // An entry can vanish between being named and being asked about.
            let Ok(about) = entry.metadata() else { continue };
            entries.push(Entry {
                kind: kind(about.file_type()),
                size: size(&about),
                modified: modified(&about),
                ignored: !kept.contains(&name),
                name: name.to_string_lossy().into_owned(),
            });
        }
        Ok(entries)
    }

    pub(crate) fn shown(&self) -> String {
        self.workspace.shown(&self.absolute)
    }

    pub(crate) fn open(&self) -> Result<File, Error> {
        self.workspace.open(&self.permit).map_err(|error| match error {
            OpenError::Denied(refused) => denied(refused),
            OpenError::Escapes => Error::Denied(escape("fs-read", &self.absolute)),
            OpenError::Io(error) => from_io(&error, &self.shown()),
        })
    }

    pub(crate) fn open_regular(&self) -> Result<(File, u64), Error> {
        let file = self.open()?;
        let about = file.metadata()?;
        if about.is_dir() {
            return Err(Error::IsDirectory(self.shown()));
        }
        if !about.is_file() {
            return Err(Error::Invalid(format!("`{}` is no regular file", self.shown())));
        }
        Ok((file, about.len()))
    }
}

/// Reads a file that was found to have `size` bytes, and notices when it has grown past what may be handed over.
fn read_whole(file: File, size: u64) -> Result<Vec<u8>, Error> {
    use std::io::Read;
    if size > MAX_WHOLE {
        return Err(Error::TooLarge(size));
    }
    let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(MAX_WHOLE + 1).read_to_end(&mut data)?;
    if data.len() as u64 > MAX_WHOLE {
        return Err(Error::TooLarge(data.len() as u64));
    }
    Ok(data)
}

/// A symbolic link leads out of the root that was granted.
pub(crate) fn escape(capability: &str, path: &Path) -> Denial {
    let wanted = path.display().to_string();
    let help = format!(
        "a symbolic link on the way to `{wanted}` leads out of the granted folder; name the place that it leads to, \
         with a grant for it"
    );
    Denial { capability: capability.to_owned(), wanted, help }
}

/// A refusal in the contract's words.
pub(crate) fn denial(refused: &Denied) -> Denial {
    Denial { capability: refused.capability.name().to_owned(), wanted: refused.wanted.clone(), help: refused.explain() }
}

fn denied(refused: Denied) -> Error {
    Error::Denied(denial(&refused))
}

fn from_io(error: &io::Error, path: &str) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound(path.to_owned()),
        io::ErrorKind::NotADirectory => Error::NotDirectory(path.to_owned()),
        io::ErrorKind::IsADirectory => Error::IsDirectory(path.to_owned()),
        _ => Error::Io(format!("{path}: {error}")),
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
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

/// Milliseconds since the Unix epoch; none before it.
pub(crate) fn milliseconds(time: std::time::SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

//! The host side of `host:cap/fs-read`.
//!
//! Promises: nothing is opened without a permit; only regular files and folders are read, so no guest blocks on a pipe;
//! every answer is bounded. What may wait for a disk runs on threads of its own, so dropping a call never does; files
//! with rules about what is ignored are small, and can be waited for the first time.

use cap_std::fs::File;
use host_files::{FileError, read_limited};
use wasmtime::component::Resource;

use crate::bindings::fs_read::{Batch, Entry, Error, Host, HostWalk, Metadata, Range, WalkOptions, WalkSummary, Whole};
use crate::digest::Digest;
use crate::limits::{MAX_WALKS, MAX_WHOLE};
use crate::readable::{MAX_RANGE, Readable, Search, Walk};
use crate::store::StoreData;

impl Host for StoreData {
    async fn stat(&mut self, path: String) -> wasmtime::Result<Result<Metadata, Error>> {
        self.reading_at_once(path, Readable::metadata_at_once, |at| at.metadata()).await
    }

    async fn list(&mut self, path: String) -> wasmtime::Result<Result<Vec<Entry>, Error>> {
        self.reading(path, |at| at.entries()).await
    }

    async fn read(&mut self, path: String, offset: u64, length: u32) -> wasmtime::Result<Result<Range, Error>> {
        if let Some(text) = self.unsaved(&path).await {
            let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
            let end = begin.saturating_add(length.min(MAX_RANGE) as usize).min(text.len());
            let data = text.as_bytes().get(begin..end).unwrap_or_default().to_vec();
            self.look_at_whole(&path, text.as_bytes());
            return Ok(Ok(Range { data, size: text.len() as u64 }));
        }
        let named = path.clone();
        let (at_once, range) =
            (move |at: &Readable| at.range_at_once(offset, length), move |at: Readable| at.range(offset, length));
        // Before it is read: what changes meanwhile was not seen.
        self.look_at_part(&named);
        let read = self.reading_at_once(path, at_once, range).await?;
        if let Ok(range) = &read
            && offset == 0
            && range.data.len() as u64 == range.size
        {
            self.look_at_whole(&named, &range.data);
        }
        Ok(read)
    }

    async fn read_whole(&mut self, path: String) -> wasmtime::Result<Result<Whole, Error>> {
        if let Some(text) = self.unsaved(&path).await {
            // A write that expects this digest finds another one on the disk.
            let digest = Digest::of(text.as_bytes()).as_str().to_owned();
            self.look_at_whole(&path, text.as_bytes());
            return Ok(Ok(Whole { data: text.into_bytes(), digest }));
        }
        let named = path.clone();
        let read = self.reading(path, |at| {
            let (file, size) = at.open_regular()?;
            let data = read_whole(&at, file, size)?;
            let digest = Digest::of(&data).as_str().to_owned();
            Ok(Whole { data, digest })
        });
        let read = read.await?;
        if let Ok(whole) = &read {
            self.look_at_whole(&named, &whole.data);
        }
        Ok(read)
    }

    async fn open_walk(&mut self, options: WalkOptions) -> wasmtime::Result<Result<Resource<Walk>, Error>> {
        self.begin_walk(options, None).await
    }

    async fn open_search(
        &mut self,
        options: WalkOptions,
        texts: Vec<Vec<u8>>,
        ignore_case: bool,
    ) -> wasmtime::Result<Result<Resource<Walk>, Error>> {
        self.begin_walk(options, Some(Search { texts, ignore_case })).await
    }
}

impl HostWalk for StoreData {
    async fn next(&mut self, walk: Resource<Walk>) -> wasmtime::Result<Result<Option<Batch>, Error>> {
        let batch = self.table.get_mut(&walk)?.next().await;
        if let Ok(Some(batch)) = &batch {
            self.look_at_walked(batch);
        }
        Ok(self.denials.noting(batch))
    }

    fn summary(&mut self, walk: Resource<Walk>) -> wasmtime::Result<WalkSummary> {
        Ok(self.table.get(&walk)?.summary())
    }

    async fn drop(&mut self, walk: Resource<Walk>) -> wasmtime::Result<()> {
        self.table.delete(walk)?;
        self.walks -= 1;
        Ok(())
    }
}

impl StoreData {
    /// Begins a walk, of a search or of all files.
    async fn begin_walk(
        &mut self,
        options: WalkOptions,
        search: Option<Search>,
    ) -> wasmtime::Result<Result<Resource<Walk>, Error>> {
        if self.walks >= MAX_WALKS {
            return Ok(Err(Error::Io(format!("{MAX_WALKS} walks are open already, and a call has no more at once"))));
        }
        self.has_walked = true;
        if search.is_some() {
            self.looked.searches();
        }
        let path = options.root.clone();
        let walk = match self.reading(path, move |at| Walk::begin(at, options, search)).await? {
            Ok(walk) => walk,
            Err(error) => return Ok(Err(error)),
        };
        let handle = self.table.push(walk)?;
        self.walks += 1;
        Ok(Ok(handle))
    }

    /// Takes note of a whole file that the call read, if its conversation wants to know.
    fn look_at_whole(&mut self, path: &str, content: &[u8]) {
        if self.call.seen.is_some()
            && let Ok(absolute) = self.call.workspace.absolute(path)
        {
            self.looked.whole(absolute, content);
        }
    }

    fn look_at_part(&mut self, path: &str) {
        if self.call.seen.is_some()
            && let Ok(absolute) = self.call.workspace.absolute(path)
        {
            self.looked.part(absolute);
        }
    }

    fn look_at_walked(&mut self, batch: &Batch) {
        if self.call.seen.is_none() || !self.looked.wants_walked() {
            return;
        }
        let (mut name_from, mut content_from) = (0, 0);
        for (name_end, content_end) in batch.name_ends.iter().zip(&batch.content_ends) {
            let (name_end, content_end) = (*name_end as usize, *content_end as usize);
            let name = batch.names.get(name_from..name_end).and_then(|name| std::str::from_utf8(name).ok());
            let content = batch.contents.get(content_from..content_end).unwrap_or_default();
            if let Some(absolute) = name.and_then(|name| self.call.workspace.absolute(name).ok()) {
                self.looked.walked(absolute, content);
            }
            (name_from, content_from) = (name_end, content_end);
        }
    }

    /// Checks the path, and runs the work on a thread that may wait for a disk.
    async fn reading<T: Send + 'static>(
        &mut self,
        path: String,
        work: impl FnOnce(Readable) -> Result<T, Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        self.reading_at_once(path, |_| None, work).await
    }

    /// The same where what is in memory is read at once. `at_once` returns `None` if it would have to wait for a disk.
    async fn reading_at_once<T: Send + 'static>(
        &mut self,
        path: String,
        at_once: impl FnOnce(&Readable) -> Option<Result<T, Error>>,
        work: impl FnOnce(Readable) -> Result<T, Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let at = match self.readable(&path) {
            Ok(at) => at,
            Err(error) => return Ok(self.denials.noting(Err(error))),
        };
        let done = match at_once(&at) {
            Some(done) => done,
            None => tokio::task::spawn_blocking(move || work(at)).await?,
        };
        Ok(self.denials.noting(done))
    }

    /// Returns the text of a file that the user changed in an editor and did not save. A path that may not be read has
    /// none; that is reported by reading it.
    async fn unsaved(&mut self, path: &str) -> Option<String> {
        if self.has_walked || !self.shared.unsaved.has_editor() {
            return None;
        }
        let at =
            Readable::new(&self.call.workspace, &self.call.grants, &self.plugin, path, self.shared.wording).ok()?;
        let absolute = at.absolute.clone();
        // Opening it checks the permit against the file that is really there.
        tokio::task::spawn_blocking(move || at.open_regular().map(drop)).await.ok()?.ok()?;
        self.shared.unsaved.text(self.call.workspace.root(), &absolute).await
    }

    fn readable(&self, path: &str) -> Result<Readable, Error> {
        if !self.call.absent.is_empty()
            && let Ok(absolute) = self.call.workspace.absolute(path)
            && self.call.absent.contains(&absolute)
        {
            return Err(Error::NotFound(self.call.workspace.shown(&absolute)));
        }
        let readable = Readable::new(&self.call.workspace, &self.call.grants, &self.plugin, path, self.shared.wording);
        if let (Err(Error::Denied(_)), Ok(absolute)) = (&readable, self.call.workspace.absolute(path)) {
            self.call.listener.read_denied(&absolute);
        }
        readable
    }
}

/// Reads a file that had `size` bytes, and detects when it has grown beyond the limit.
fn read_whole(at: &Readable, file: File, size: u64) -> Result<Vec<u8>, Error> {
    if size > MAX_WHOLE {
        return Err(Error::TooLarge(size));
    }
    match read_limited(file, MAX_WHOLE) {
        Err(FileError::TooLarge { limit }) => Err(Error::TooLarge(limit + 1)),
        read => read.map_err(|error| at.failed(&error.into())),
    }
}

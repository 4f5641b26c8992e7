//! The capability `fs-read`: reading files beneath the granted roots.
//!
//! A path is relative to the workspace or absolute. [`stat`], [`list`], [`read`], [`read_whole`] and [`read_text`] are one
//! file at a time; [`Walk`] hands over many at once, ignore rules and globs applied by the host, and is much
//! faster than listing and reading in turn.

use std::borrow::Cow;
use std::ops::Range;

use crate::Failure;
#[cfg(target_family = "wasm")]
use crate::bindings::host::cap::fs_read as imports;
use crate::bindings::host::cap::fs_read::{self as bindings};
pub use crate::bindings::host::cap::fs_read::{
    Entry, Error, Kind, Metadata, Range as Part, WalkOptions, WalkSummary, Whole,
};
#[cfg(not(target_family = "wasm"))]
use crate::fake::fs_read as imports;
pub use imports::{list, read, read_whole, stat};

/// Reads a whole file of at most 20 MiB as UTF-8 text.
///
/// # Errors
///
/// As [`read_whole`], each already the failure that says it to the model; `invalid-arguments` when it is no UTF-8.
pub fn read_text(path: &str) -> Result<String, Failure> {
    let whole = read_whole(path)?;
    String::from_utf8(whole.data).map_err(|_| Failure::InvalidArguments(format!("`{path}` is no UTF-8 text")))
}

/// A walk under way. Dropping it ends it.
pub struct Walk(imports::Walk);

impl Walk {
    /// Begins a walk.
    ///
    /// # Errors
    ///
    /// When the root is not granted or not there, or a glob is invalid.
    pub fn open(options: &WalkOptions) -> Result<Self, Error> {
        imports::open_walk(options).map(Self)
    }

    /// Begins a walk over the files that contain at least one of these texts, in which the host looks on all cores. 1 to 64
    /// texts of 1 to 256 bytes; with `ignore_case` the letters of ASCII match in either case.
    ///
    /// # Errors
    ///
    /// As [`Walk::open`], and when there are no texts, too many, or one is empty or too long.
    pub fn open_search(options: &WalkOptions, texts: &[Vec<u8>], ignore_case: bool) -> Result<Self, Error> {
        imports::open_search(options, texts, ignore_case).map(Self)
    }

    /// The next files; none when the walk is done.
    ///
    /// # Errors
    ///
    /// When the walk cannot go on. A single file that cannot be read is counted in [`Walk::summary`] instead.
    pub fn next_batch(&self) -> Result<Option<Batch>, Error> {
        Ok(self.0.next()?.map(Batch))
    }

    /// What was left out until now.
    pub fn summary(&self) -> WalkSummary {
        self.0.summary()
    }
}

/// The whole workspace with ignore rules, dot files left out, names and facts without contents, in no order.
impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            root: ".".to_owned(),
            globs: Vec::new(),
            globs_ignore_case: false,
            respect_ignore: true,
            hidden: false,
            max_depth: None,
            contents: false,
            max_file_size: u64::MAX,
            sorted: false,
        }
    }
}

/// Some of a walk's files.
pub struct Batch(bindings::Batch);

impl Batch {
    /// A batch of these files, each a path and its bytes, as a walk with contents gives it: for testing what a
    /// tool does with one.
    ///
    /// # Panics
    ///
    /// When the bytes are over 4 GiB, which no batch is.
    pub fn of(files: &[(&str, &[u8])]) -> Self {
        let mut batch = bindings::Batch {
            names: Vec::new(),
            name_ends: Vec::new(),
            contents: Vec::new(),
            content_ends: Vec::new(),
            sizes: Vec::new(),
            modified: Vec::new(),
        };
        let end = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a batch of a test fits into 4 GiB");
        for (name, content) in files {
            batch.names.extend_from_slice(name.as_bytes());
            batch.name_ends.push(end(&batch.names));
            batch.contents.extend_from_slice(content);
            batch.content_ends.push(end(&batch.contents));
        }
        Self(batch)
    }

    /// How many files.
    pub fn len(&self) -> usize {
        self.0.name_ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The path of the file at `index`. Bytes that are not UTF-8 are replaced; empty past the last file.
    pub fn name(&self, index: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(slice(&self.0.names, span(&self.0.name_ends, index)))
    }

    /// The bytes of the file at `index`; empty past the last file and in a walk without contents.
    pub fn content(&self, index: usize) -> &[u8] {
        slice(&self.0.contents, self.content_span(index))
    }

    /// All files' bytes, one file after the other without a gap.
    pub fn contents(&self) -> &[u8] {
        &self.0.contents
    }

    /// Where in [`Batch::contents`] the file at `index` lies.
    pub fn content_span(&self, index: usize) -> Range<usize> {
        span(&self.0.content_ends, index)
    }

    /// Which file the byte at `offset` of [`Batch::contents`] belongs to; [`Batch::len`] past the last byte.
    pub fn file_at(&self, offset: usize) -> usize {
        self.0.content_ends.partition_point(|&end| end as usize <= offset)
    }

    /// The size in bytes of the file at `index`; 0 past the last file. Known in either kind of walk.
    pub fn size(&self, index: usize) -> u64 {
        match self.0.sizes.get(index) {
            Some(&size) => size,
            None => self.content(index).len() as u64,
        }
    }

    /// When the file at `index` was last changed, in milliseconds since the Unix epoch, 0 where unknown; known
    /// only in a walk without contents.
    pub fn modified(&self, index: usize) -> u64 {
        self.0.modified.get(index).copied().unwrap_or(0)
    }
}

fn span(ends: &[u32], index: usize) -> Range<usize> {
    let Some(&end) = ends.get(index) else { return 0..0 };
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    start as usize..end as usize
}

/// The host promises ends that ascend and fit; a host that broke it gets no panic here, but nothing found.
fn slice(bytes: &[u8], span: Range<usize>) -> &[u8] {
    bytes.get(span).unwrap_or(&[])
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(denial) => denial.into(),
            Error::NotFound(path) => Self::NotFound(format!("there is nothing at `{path}`")),
            Error::IsDirectory(path) => Self::InvalidArguments(format!("`{path}` is a directory, not a file")),
            Error::NotDirectory(path) => Self::InvalidArguments(format!("`{path}` is a file, not a directory")),
            Error::TooLarge(size) => Self::Failed(format!("it is too large: {size} bytes or entries")),
            Error::Invalid(why) => Self::InvalidArguments(why),
            Error::Io(why) => Self::Failed(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch::of(&[("a", b"12"), ("b", b""), ("b/c", b"345")])
    }

    #[test]
    fn a_batch_gives_each_file_its_own_bytes() {
        let batch = batch();
        let all: Vec<_> =
            (0..batch.len()).map(|i| (batch.name(i).into_owned(), batch.content(i).to_vec(), batch.size(i))).collect();
        let expected = [("a", "12", 2), ("b", "", 0), ("b/c", "345", 3)];
        assert_eq!(all, expected.map(|(name, content, size)| (name.to_owned(), content.as_bytes().to_vec(), size)));
    }

    #[test]
    fn an_offset_belongs_to_the_file_that_holds_it() {
        let batch = batch();
        for (offset, file) in [(0, 0), (1, 0), (2, 2), (4, 2), (5, 3), (99, 3)] {
            assert_eq!(batch.file_at(offset), file, "{offset}");
        }
    }

    #[test]
    fn ends_that_lie_are_no_panic() {
        let mut wrong = batch();
        wrong.0.content_ends = vec![4, 1, 900];
        for index in [0, 1, 2, 3, usize::MAX] {
            wrong.content(index);
            wrong.name(index);
        }
        assert_eq!(wrong.content(1), b"");
        assert_eq!(wrong.content(2), b"");
    }
}

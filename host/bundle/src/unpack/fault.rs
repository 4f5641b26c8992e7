//! Why a bundle cannot be read.

use std::io;
use std::path::PathBuf;

use super::MAX_ENTRIES;
use crate::bundle::ContentError;
use crate::oci::OciDigest;
use crate::sizes::MAX_BUNDLE;

/// Why a bundle cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It cannot be read.
    #[error("the bundle `{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It is not an archive, or an incomplete one.
    #[error("it is not a complete archive of a bundle: {0}")]
    Archive(String),
    /// There is something in it that a bundle does not have.
    #[error("it has `{name}`, {why}")]
    Entry {
        /// The name, as far as it is text.
        name: String,
        /// Why it is refused.
        why: EntryFault,
    },
    /// There are files without end.
    #[error("it has over {MAX_ENTRIES} files")]
    TooMany,
    /// It is too large.
    #[error("it has over {MAX_BUNDLE} bytes")]
    TooLarge,
    /// A file of every layout is missing.
    #[error("it has no `{0}`")]
    NoFile(&'static str),
    /// A blob is not what its name says.
    #[error("the blob `{name}` was changed: its bytes have the digest `{found}`")]
    Changed {
        /// The digest in its name.
        name: OciDigest,
        /// The digest of its bytes.
        found: OciDigest,
    },
    /// The layout is invalid.
    #[error("its `{file}` is invalid: {why}")]
    Layout {
        /// The file.
        file: &'static str,
        /// Why.
        why: String,
    },
    /// The layout is fine, and has several plugins of which none was chosen.
    #[error("it lists {count} plugins{}", choice(.names))]
    Several {
        /// How many.
        count: usize,
        /// The names by which it lists them, as far as it has any.
        names: Vec<String>,
    },
    /// A manifest that refers to the plugin is not a signature of it.
    #[error("the manifest `{digest}` is not a signature of this plugin: {why}")]
    Referrer {
        /// Its digest.
        digest: OciDigest,
        /// Why.
        why: String,
    },
    /// The parts do not agree.
    #[error(transparent)]
    Content(#[from] ContentError),
}

/// How one of several plugins is chosen.
fn choice(names: &[String]) -> String {
    match names {
        [] => " and no names for them, so none can be chosen".to_owned(),
        names => format!(", {}; choose one, as oci:PATH:NAME", names.join(", ")),
    }
}

/// Why something in an archive or a folder is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// Its name leads upward.
    #[error("whose name leads out of the bundle")]
    Upward,
    /// Its name begins at the root.
    #[error("whose name begins at the root")]
    Absolute,
    /// It is a link.
    #[error("a link; a bundle has only files")]
    Link,
    /// It is a device, a pipe or a socket.
    #[error("a device, a pipe or a socket; a bundle has only files")]
    Device,
    /// It is a file with holes.
    #[error("a sparse file; a bundle has only complete files")]
    Sparse,
    /// It changes how other entries are read.
    #[error("an entry that says how others are to be read; a bundle has none")]
    Extension,
    /// An entry before it has its name.
    #[error("a duplicate entry")]
    Twice,
    /// A bundle has no such file.
    #[error("which no bundle has")]
    Unknown,
    /// It is too large.
    #[error("which is larger than anything that a bundle has")]
    TooLarge,
    /// It has fewer or more bytes than was said.
    #[error("whose size is not the declared one")]
    Size,
}

//! Reads a bundle from an untrusted source: an archive, or the folder of an OCI image layout.
//!
//! Promises: nothing is written to a disk; each file is bounded before it is kept, and hashed (`stored` leaves one for
//! later); whatever an archive has besides a layout is an error with its name and the reason. The rest goes to
//! `Bundle::from_image`.
//!
//! Deliberately not here: whether a signature holds. One whose text is malformed is kept, and is worth nothing when it
//! is checked, so that adding one cannot spoil a good bundle.

mod archive;
mod fault;
mod folder;
mod layout;
mod referrer;
mod stored;

use std::io::{self, Read};
use std::path::Path;

use host_manifest::{check_unique_keys, cut};

use self::layout::Blobs;
use crate::bundle::{Bundle, BundleFiles, ContentError};
use crate::oci::{INDEX_FILE, LAYOUT_FILE, Layout};

pub use fault::{EntryFault, UnpackError};
pub use stored::StoredBundle;

/// Files and folders of a bundle, two for each of its signatures. Protects the reader from a list without end: a plugin
/// of 128 tools has a quarter of it in schemas.
const MAX_ENTRIES: usize = 1_000;

impl Bundle {
    /// Reads a bundle: the archive at a path, or the OCI image layout in a folder.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is refused: see [`UnpackError`].
    pub fn read(path: &Path) -> Result<Self, UnpackError> {
        Self::read_named(path, None)
    }

    /// Reads the bundle that a layout with several plugins lists by this name, such as `1.2.0`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is refused: see [`UnpackError`].
    pub fn read_named(path: &Path, name: Option<&str>) -> Result<Self, UnpackError> {
        let unreadable = |error| UnpackError::Unreadable { path: path.to_owned(), error };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if about.is_dir() {
            folder::read(path)?.bundle(name)
        } else if about.is_file() {
            let file = std::fs::File::open(path).map_err(unreadable)?;
            archive::read(io::BufReader::new(file))?.bundle(name)
        } else {
            Err(unreadable(io::Error::other("it is neither a file nor a folder")))
        }
    }

    /// Reads the archive of a bundle.
    ///
    /// # Errors
    ///
    /// When it is refused: see [`UnpackError`].
    pub fn read_archive(from: impl Read) -> Result<Self, UnpackError> {
        archive::read(from)?.bundle(None)
    }
}

/// What a layout has, before anything of it is believed.
struct Found {
    layout: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    blobs: Blobs,
}

impl Found {
    /// Makes the bundle of its plugin; of several, of the one with this name.
    fn bundle(self, name: Option<&str>) -> Result<Bundle, UnpackError> {
        self.made(name, Bundle::from_image)
    }

    /// The same, by `make`: see [`layout::bundle`].
    fn made<F>(
        self,
        name: Option<&str>,
        make: impl FnOnce(Vec<u8>, BundleFiles) -> Result<Bundle<F>, ContentError>,
    ) -> Result<Bundle<F>, UnpackError> {
        let layout: Layout = json(LAYOUT_FILE, self.layout.as_deref())?;
        if layout.image_layout_version != "1.0.0" {
            let why = format!("its version is `{}`, and there is 1.0.0", cut(&layout.image_layout_version));
            return Err(UnpackError::Layout { file: LAYOUT_FILE, why });
        }
        let index = self.index.ok_or(UnpackError::NoFile(INDEX_FILE))?;
        layout::bundle(&index, self.blobs, name, make)
    }
}

fn json<T: serde::de::DeserializeOwned>(file: &'static str, bytes: Option<&[u8]>) -> Result<T, UnpackError> {
    let bytes = bytes.ok_or(UnpackError::NoFile(file))?;
    let read = check_unique_keys(bytes).and_then(|()| serde_json::from_slice(bytes));
    read.map_err(|error| UnpackError::Layout { file, why: cut(&error.to_string()) })
}

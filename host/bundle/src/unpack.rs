//! Reads a bundle from an untrusted source: an archive, or the folder of an OCI image layout.
//!
//! Promises: nothing is written to a disk; each file is hashed while it is read and bounded before it is kept; whatever
//! is not part of a bundle is an error with its name and the reason. The rest goes to `Bundle::from_image`.
//!
//! Deliberately not here: whether a signature holds. One whose text is malformed is kept, and is worth nothing when it is
//! checked, so that adding one cannot spoil a good bundle.

mod archive;
mod fault;
mod folder;
mod referrer;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::Path;

use host_manifest::cut;
use sha2::{Digest as _, Sha256};

use crate::bundle::{Bundle, MAX_IMAGE, MAX_SIGNATURES, PLUGIN_TYPE, SIGNATURE_TYPE, any_image, find};
use crate::oci::{
    BLOBS, Descriptor, EMPTY, IMAGE_TYPE, INDEX_FILE, INDEX_TYPE, ImageManifest, Index, LAYOUT_FILE, Layout, OciDigest,
};
use crate::signature::{MAX_SIGNATURE, Signature, SignatureError};

pub use fault::{EntryFault, UnpackError};

/// Files and folders of a bundle. Protects the reader from a list without end: a plugin of 128 tools with all its schemas
/// and signatures has half as many.
const MAX_ENTRIES: usize = 1_000;
/// All bytes of a bundle together. Protects memory: the largest component and the largest manifest fit, and as much again
/// as all else may have.
pub const MAX_BUNDLE: u64 = 100 << 20;
/// The largest blob: a component.
pub const MAX_BLOB: u64 = host_plugin::MAX_COMPONENT as u64;

impl Bundle {
    /// Reads a bundle: the archive at a path, or the OCI image layout in a folder.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is refused: see [`UnpackError`].
    pub fn read(path: &Path) -> Result<Self, UnpackError> {
        let unreadable = |error| UnpackError::Unreadable { path: path.to_owned(), error };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if about.is_dir() {
            folder::read(path)?.bundle()
        } else if about.is_file() {
            let file = std::fs::File::open(path).map_err(unreadable)?;
            Self::read_archive(io::BufReader::new(file))
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
        archive::read(from)?.bundle()
    }
}

/// The files read so far.
#[derive(Debug, Default)]
struct Found {
    entries: usize,
    bytes: u64,
    layout: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    blobs: BTreeMap<OciDigest, Vec<u8>>,
}

impl Found {
    /// Counts an entry, before anything else is asked of it.
    fn count(&mut self) -> Result<(), UnpackError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(UnpackError::TooMany) } else { Ok(()) }
    }

    /// Reads a file, which is said to have `size` bytes.
    fn file(&mut self, name: &str, size: u64, mut from: impl Read) -> Result<(), UnpackError> {
        let fault = |why| UnpackError::Entry { name: name.to_owned(), why };
        let digest = match place(name).map_err(fault)? {
            Place::Layout | Place::Index => None,
            Place::Blob(digest) => Some(digest),
        };
        let is_there = match &digest {
            Some(digest) => self.blobs.contains_key(digest),
            None if name == LAYOUT_FILE => self.layout.is_some(),
            None => self.index.is_some(),
        };
        if is_there {
            return Err(fault(EntryFault::Twice));
        }
        if size > if digest.is_some() { MAX_BLOB } else { MAX_IMAGE } {
            return Err(fault(EntryFault::TooLarge));
        }
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > MAX_BUNDLE {
            return Err(UnpackError::TooLarge);
        }
        let mut hash = Sha256::new();
        let mut bytes = Vec::new();
        let mut chunk = [0; 16 << 10];
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => chunk.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(UnpackError::Archive(error.to_string())),
            };
            if (bytes.len() + read.len()) as u64 > size {
                return Err(fault(EntryFault::Size));
            }
            hash.update(read);
            bytes.extend_from_slice(read);
        }
        if bytes.len() as u64 != size {
            return Err(fault(EntryFault::Size));
        }
        match digest {
            Some(name) => {
                let found = OciDigest::from_sha256(&hash.finalize().into());
                if found != name {
                    return Err(UnpackError::Changed { name, found });
                }
                self.blobs.insert(name, bytes);
            }
            None if name == LAYOUT_FILE => self.layout = Some(bytes),
            None => self.index = Some(bytes),
        }
        Ok(())
    }

    /// Makes the bundle.
    fn bundle(mut self) -> Result<Bundle, UnpackError> {
        let layout: Layout = json(LAYOUT_FILE, self.layout.as_deref())?;
        if layout.image_layout_version != "1.0.0" {
            let why = format!("its version is `{}`, and there is 1.0.0", cut(&layout.image_layout_version));
            return Err(UnpackError::Layout { file: LAYOUT_FILE, why });
        }
        let index: Index = json(INDEX_FILE, self.index.as_deref())?;
        let (plugin, signatures) = split(&index)?;
        let image = find(&self.blobs, plugin, "image manifest".to_owned(), MAX_IMAGE)?.to_vec();
        let mut used = BTreeSet::from([plugin.digest.clone()]);
        let texts = signatures
            .into_iter()
            .map(|descriptor| self.signature(descriptor, plugin, &mut used))
            .collect::<Result<Vec<_>, _>>()?;
        // A blob that only signatures use is not signed; one that both use, such as `{}`, is.
        let signed = oci_blobs(&image);
        self.blobs.retain(|digest, _| !used.contains(digest) || signed.contains(digest));
        let mut bundle = Bundle::from_image(image, self.blobs)?;
        for text in texts {
            // `split` has counted them.
            let _ = bundle.add_signature(text);
        }
        Ok(bundle)
    }

    /// Reads the signature in a manifest that refers to the plugin.
    fn signature(
        &self,
        descriptor: &Descriptor,
        plugin: &Descriptor,
        used: &mut BTreeSet<OciDigest>,
    ) -> Result<Signature, UnpackError> {
        let wrong = |why: String| UnpackError::Referrer { digest: descriptor.digest.clone(), why };
        let manifest = find(&self.blobs, descriptor, "signature's manifest".to_owned(), MAX_IMAGE)?;
        let image: ImageManifest = any_image(manifest).map_err(|error| wrong(error.to_string()))?;
        let layer = referrer::layer(&image, &plugin.digest, plugin.size).map_err(wrong)?;
        if find(&self.blobs, &image.config, "signature's configuration".to_owned(), EMPTY.len() as u64)? != EMPTY {
            return Err(wrong("its configuration is not empty".to_owned()));
        }
        let text = find(&self.blobs, layer, "signature".to_owned(), MAX_SIGNATURE as u64)?;
        used.extend([descriptor.digest.clone(), image.config.digest.clone(), layer.digest.clone()]);
        let text = std::str::from_utf8(text).map_err(|_| wrong("its text is not UTF-8".to_owned()))?;
        Signature::new(text).map_err(|error: SignatureError| wrong(error.to_string()))
    }
}

/// The role of a file.
enum Place {
    Layout,
    Index,
    Blob(OciDigest),
}

/// The place of a name in a layout.
fn place(name: &str) -> Result<Place, EntryFault> {
    match name {
        LAYOUT_FILE => return Ok(Place::Layout),
        INDEX_FILE => return Ok(Place::Index),
        _ => {}
    }
    let digits = name.strip_prefix(BLOBS).and_then(|rest| rest.strip_prefix('/'));
    if let Some(digest) = digits.and_then(|digits| format!("sha256:{digits}").parse().ok()) {
        return Ok(Place::Blob(digest));
    }
    if name.starts_with('/') {
        Err(EntryFault::Absolute)
    } else if name.split('/').any(|part| part == "..") {
        Err(EntryFault::Upward)
    } else {
        Err(EntryFault::Unknown)
    }
}

/// Returns whether a name is one of the folders of a layout.
fn is_folder(name: &str) -> bool {
    matches!(name.trim_end_matches('/'), "" | "." | "blobs") || name.trim_end_matches('/') == BLOBS
}

/// The plugin in an index, and what refers to it.
fn split(index: &Index) -> Result<(&Descriptor, Vec<&Descriptor>), UnpackError> {
    let wrong = |why: String| UnpackError::Layout { file: INDEX_FILE, why };
    if (index.schema_version, index.media_type.as_str()) != (2, INDEX_TYPE) {
        return Err(wrong(format!("it is `{}`, and not version 2 of `{INDEX_TYPE}`", cut(&index.media_type))));
    }
    let mut plugins = Vec::new();
    let mut signatures = Vec::new();
    for descriptor in &index.manifests {
        if descriptor.media_type != IMAGE_TYPE {
            return Err(wrong(format!("it lists a `{}`, and not an image manifest", cut(&descriptor.media_type))));
        }
        match descriptor.artifact_type.as_deref() {
            Some(PLUGIN_TYPE) => plugins.push(descriptor),
            Some(SIGNATURE_TYPE) => signatures.push(descriptor),
            other => {
                let other = cut(other.unwrap_or("nothing"));
                return Err(wrong(format!("it lists a manifest of `{other}`, which no bundle has")));
            }
        }
    }
    if signatures.len() > MAX_SIGNATURES {
        return Err(wrong(format!("it lists {} signatures, over the limit of {MAX_SIGNATURES}", signatures.len())));
    }
    match plugins.as_slice() {
        [plugin] => Ok((plugin, signatures)),
        _ => Err(wrong(format!("it lists {} plugins, and a bundle has one", plugins.len()))),
    }
}

/// The blobs that a plugin's image manifest names; empty if it is invalid.
fn oci_blobs(image: &[u8]) -> BTreeSet<OciDigest> {
    let read = any_image(image).ok();
    let named = |image: ImageManifest| image.layers.into_iter().chain([image.config]).map(|blob| blob.digest);
    read.into_iter().flat_map(named).collect()
}

fn json<T: serde::de::DeserializeOwned>(file: &'static str, bytes: Option<&[u8]>) -> Result<T, UnpackError> {
    let bytes = bytes.ok_or(UnpackError::NoFile(file))?;
    serde_json::from_slice(bytes).map_err(|error| UnpackError::Layout { file, why: cut(&error.to_string()) })
}

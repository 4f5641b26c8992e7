//! From the parts of a plugin to a bundle, and from a bundle to an archive: the same parts, the same bytes.
//!
//! The archive is a tar without compression whose names are sorted, with no time, no owner and one mode, so that it
//! says nothing of the machine that made it. The component is compressed badly in any case, and a registry compresses
//! by itself.

use std::collections::BTreeMap;
use std::io;

use host_manifest::Manifest;

use super::check::{self, ContentError};
use super::{
    Bundle, COMPONENT_TYPE, LICENSE_TYPE, MANIFEST_TYPE, PLUGIN_TYPE, README_TYPE, SCHEMA_TYPE, SIGNATURE_TYPE,
};
use crate::oci::{
    self, Descriptor, IMAGE_TYPE, INDEX_FILE, INDEX_TYPE, ImageManifest, Index, LAYOUT, LAYOUT_FILE, OciDigest,
};

/// The parts of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The manifest, with a description.
    pub manifest: Manifest,
    /// The component.
    pub component: Vec<u8>,
    /// The README, in Markdown.
    pub readme: Option<Vec<u8>>,
    /// The licence's text.
    pub license: Option<Vec<u8>>,
}

/// Why a bundle is not packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// Nobody would know what it is.
    #[error("`{0}` has no description; add `description = \"…\"`, one line, to its plugin.toml and build it again")]
    NoDescription(String),
    /// The parts do not agree.
    #[error("`{plugin}` cannot be packed: {error}")]
    Content {
        /// The plugin.
        plugin: String,
        /// Why.
        error: ContentError,
    },
}

impl Bundle {
    /// Packs a plugin. The bundle has no signature yet.
    ///
    /// # Errors
    ///
    /// When it has no description, a part is too large or no text, or the component imports what the manifest does not
    /// ask for.
    pub fn pack(parts: Parts) -> Result<Self, PackError> {
        let Parts { manifest, component, readme, license } = parts;
        let plugin = manifest.name.clone();
        // An author learns here what a user would otherwise find missing.
        if manifest.description.is_none() {
            return Err(PackError::NoDescription(plugin));
        }
        let mut blobs = BTreeMap::new();
        let mut keep = |media_type: &str, bytes: Vec<u8>| {
            let descriptor = Descriptor::new(media_type, &bytes);
            blobs.insert(descriptor.digest.clone(), bytes);
            descriptor
        };
        // One form of the manifest, so that the same parts make the same bytes.
        let config = keep(MANIFEST_TYPE, manifest.to_json().into_bytes());
        let mut layers = vec![keep(COMPONENT_TYPE, component).titled("plugin.wasm")];
        layers.extend(readme.map(|text| keep(README_TYPE, text).titled("README.md")));
        layers.extend(license.map(|text| keep(LICENSE_TYPE, text).titled("LICENSE")));
        for (title, schema) in check::schemas(&manifest) {
            layers.push(keep(SCHEMA_TYPE, schema).titled(&title));
        }
        let annotations =
            check::annotated(&manifest).into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        let image = ImageManifest {
            schema_version: 2,
            media_type: IMAGE_TYPE.to_owned(),
            artifact_type: PLUGIN_TYPE.to_owned(),
            config,
            layers,
            subject: None,
            annotations,
        };
        // Checked as if it came from someone else: what is packed can be read.
        Self::from_image(oci::to_bytes(&image), blobs).map_err(|error| PackError::Content { plugin, error })
    }

    /// The files of the bundle's OCI image layout, by their paths in it.
    pub fn layout(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::from([
            (LAYOUT_FILE.to_owned(), LAYOUT.as_bytes().to_vec()),
            (self.digest.path(), self.image.clone()),
        ]);
        files.extend(self.files.iter().map(|(digest, bytes)| (digest.path(), bytes.clone())));
        let manifest = |bytes: &[u8], kind: &str| Descriptor {
            artifact_type: Some(kind.to_owned()),
            ..Descriptor::new(IMAGE_TYPE, bytes)
        };
        let mut manifests = vec![manifest(&self.image, PLUGIN_TYPE)];
        for referrer in self.referrers() {
            manifests.push(manifest(&referrer.manifest, SIGNATURE_TYPE));
            for bytes in referrer.blobs.into_iter().chain([referrer.manifest]) {
                files.insert(OciDigest::of(&bytes).path(), bytes);
            }
        }
        let index =
            Index { schema_version: 2, media_type: INDEX_TYPE.to_owned(), manifests, annotations: BTreeMap::new() };
        files.insert(INDEX_FILE.to_owned(), oci::to_bytes(&index));
        files
    }

    /// Writes the bundle's archive: the same bytes for the same parts and signatures.
    ///
    /// # Errors
    ///
    /// When `to` cannot be written.
    pub fn write_archive(&self, to: impl io::Write) -> io::Result<()> {
        let mut archive = tar::Builder::new(to);
        for (path, bytes) in self.layout() {
            let mut header = tar::Header::new_ustar();
            header.set_path(&path)?;
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(0);
            header.set_entry_type(tar::EntryType::Regular);
            header.set_cksum();
            archive.append(&header, bytes.as_slice())?;
        }
        archive.into_inner()?.flush()
    }

    /// The bundle's archive.
    pub fn to_archive(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_archive(&mut bytes).expect("a vector takes everything, and each path has fewer than 100 bytes");
        bytes
    }
}

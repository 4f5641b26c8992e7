//! Checks that the parts of a bundle agree: the image manifest, the blobs that it names, and the component's actual
//! imports.
//!
//! Promises: a blob that is missing, that nothing names, or whose size or kind differs from its descriptor, is
//! rejected; so is a manifest that requests less than its component imports, and an image whose annotations for users
//! differ from the manifest for the host.
//!
//! Deliberately not here: signatures, which count only after a check against the user's keys (`trust`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host_manifest::{Manifest, ManifestError, Source, check_name, check_unique_keys, cut};
use host_message::ToolSpec;
use host_plugin::admission::{self, AdmissionError};
use semver::Version;

use super::{
    Bundle, BundleFiles, COMPONENT_TYPE, LICENSE_TYPE, MANIFEST_TYPE, MAX_IMAGE, MAX_TEXT, PLUGIN_TYPE, README_TYPE,
    SCHEMA_TYPE,
};
use crate::oci::{self, Descriptor, IMAGE_TYPE, ImageManifest, OciDigest};
use crate::sizes::{MAX_BLOB, MAX_BUNDLE};

/// Layers of a bundle: component, README, licence, and two schemas for each of 128 tools. Protects the check.
const MAX_LAYERS: usize = 3 + 2 * 128;

/// The longest title of a blob, in bytes: the longest name of a file.
const MAX_TITLE: usize = 255;

/// Why the parts of a bundle do not agree.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The image manifest is invalid.
    #[error("the bundle's image manifest is invalid: {error}")]
    Image {
        /// The reason.
        error: String,
    },
    /// It is an image, but not of a plugin.
    #[error("it is not a plugin: its `{what}` is `{found}`, not `{wanted}`")]
    NoPlugin {
        /// The field.
        what: &'static str,
        /// The value found.
        found: String,
        /// The expected value.
        wanted: String,
    },
    /// It has layers without end.
    #[error("it has {found} layers, over the limit of {MAX_LAYERS}")]
    TooManyLayers {
        /// Number of layers.
        found: usize,
    },
    /// The title of a blob is not a file name.
    #[error(
        "the title `{title}` cannot be the name of a file: such a name has no `/`, `\\`, `:` or hidden character, and \
         does not begin with a dot"
    )]
    Title {
        /// The title.
        title: String,
    },
    /// A named part is missing.
    #[error("the {what} `{digest}` is missing")]
    Missing {
        /// The missing part.
        what: String,
        /// Its digest.
        digest: OciDigest,
    },
    /// A blob is not named.
    #[error("the blob `{0}` is not referenced; a bundle has no files that are not signed")]
    Unreferenced(OciDigest),
    /// The size differs from the descriptor's.
    #[error("the {what} `{digest}` has {found} bytes, but its descriptor says {said}")]
    Size {
        /// The part.
        what: String,
        /// Its digest.
        digest: OciDigest,
        /// Its size.
        found: u64,
        /// The size in the descriptor.
        said: u64,
    },
    /// A part is too large.
    #[error("the {what} has {found} bytes, over the limit of {limit}")]
    TooLarge {
        /// The part.
        what: String,
        /// Its size.
        found: u64,
        /// The most.
        limit: u64,
    },
    /// A layer that a bundle does not have.
    #[error("the layer `{title}` (`{media_type}`) is unknown or repeated")]
    Layer {
        /// Its title.
        title: String,
        /// Its media type.
        media_type: String,
    },
    /// A text is not UTF-8.
    #[error("the {0} is not UTF-8 text")]
    NoText(String),
    /// An annotation contradicts the manifest.
    #[error("the annotation `{key}` says {found}, but the manifest says {wanted}")]
    Annotation {
        /// The annotation.
        key: &'static str,
        /// The value found.
        found: String,
        /// The manifest's value.
        wanted: String,
    },
    /// A schema file is not the manifest's.
    #[error("the schema `{title}` is not the one that the manifest has")]
    Schema {
        /// The layer's title.
        title: String,
    },
    /// The manifest is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The component is not a plugin, or imports a capability that its manifest does not request.
    #[error("{}", cut(&.0.to_string()))]
    Component(#[from] AdmissionError),
}

impl Bundle {
    /// The blobs that a plugin's image manifest names, to get them from a registry: its configuration and its layers.
    /// Each and all together are within what a bundle may have, by their descriptors' word.
    ///
    /// # Errors
    ///
    /// When it is not the image manifest of a plugin, or a blob is too large.
    pub fn wanted(image: &[u8]) -> Result<Vec<Descriptor>, ContentError> {
        let ImageManifest { config, layers, .. } = image_manifest(image)?;
        let wanted: Vec<Descriptor> = std::iter::once(config).chain(layers).collect();
        let mut all = 0u64;
        for descriptor in &wanted {
            let what = || format!("blob `{}`", descriptor.digest);
            if descriptor.size > MAX_BLOB {
                return Err(ContentError::TooLarge { what: what(), found: descriptor.size, limit: MAX_BLOB });
            }
            // No more than 260 of them, so that the sum cannot overflow.
            all += descriptor.size;
        }
        if all > MAX_BUNDLE {
            return Err(ContentError::TooLarge { what: "bundle".to_owned(), found: all, limit: MAX_BUNDLE });
        }
        Ok(wanted)
    }

    /// The name and the version that a plugin's image manifest has for registries. They count when the bundle was
    /// checked; `None` if it is not the image manifest of a plugin, or its name is not one that a plugin can have.
    pub fn named(image: &[u8]) -> Option<(String, Version)> {
        let image = image_manifest(image).ok()?;
        let version = image.annotations.get(oci::VERSION)?.parse().ok()?;
        let name = image.annotations.get(oci::TITLE).filter(|name| check_name(name).is_ok())?;
        Some((name.clone(), version))
    }

    /// A bundle of an image manifest and the blobs that it names, none more, wherever they came from: their digests are
    /// taken here.
    ///
    /// # Errors
    ///
    /// When the parts do not agree: see [`ContentError`].
    pub fn from_blobs(image: Vec<u8>, blobs: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, ContentError> {
        Self::from_image(image, blobs.into_iter().map(|bytes| (OciDigest::of(&bytes), bytes)).collect())
    }

    /// The same, of blobs whose keys are the digests that were taken of them.
    ///
    /// # Errors
    ///
    /// When the parts do not agree: see [`ContentError`].
    pub(crate) fn from_image(image: Vec<u8>, blobs: BundleFiles) -> Result<Self, ContentError> {
        let bundle = Bundle::agreeing(image, &blobs, None)?.with_files(blobs);
        bundle.admitted()?;
        Ok(bundle)
    }

    /// Checks that the component imports nothing that the manifest does not request.
    fn admitted(&self) -> Result<(), ContentError> {
        let name = self.manifest.plugin_name();
        let imports = admission::imports(&name, self.component())?;
        // Only the capabilities matter here, not their paths.
        let declared = self.manifest.declared(Path::new("/"))?;
        admission::admit(&name, &imports, &declared, Default::default(), &declared)?;
        Ok(())
    }
}

impl Bundle<()> {
    /// Checks that the parts agree, but for what is in the component, which need not be among the blobs: `elsewhere` is
    /// then its digest and its size in bytes.
    ///
    /// # Errors
    ///
    /// When they do not agree: see [`ContentError`].
    pub(crate) fn agreeing(
        image: Vec<u8>,
        blobs: &BundleFiles,
        elsewhere: Option<(&OciDigest, u64)>,
    ) -> Result<Self, ContentError> {
        // The image manifest first: it is what was signed, and it names everything else by digest.
        let read = image_manifest(&image)?;
        let mut found = NamedBlobs { blobs, named: BTreeSet::new() };
        let manifest = found.find(&read.config, "manifest".to_owned(), Manifest::MAX_BYTES)?;
        // As strictly as a manifest that is built: a user is shown what stands in it.
        let manifest = Manifest::parse(&text(manifest, "manifest")?, Source::Bundle)?;
        // Other tools show the annotations, and must not show another plugin than the host does.
        annotations(&read, &manifest)?;
        let Layers { component, readme, license } = Layers::read(&read.layers, &manifest, &mut found, elsewhere)?;
        let Some(component) = component else {
            return Err(ContentError::NoPlugin {
                what: "layers",
                found: "no component".to_owned(),
                wanted: COMPONENT_TYPE.to_owned(),
            });
        };
        // Bytes that nothing names are covered by no signature.
        if let Some(digest) = blobs.keys().find(|digest| !found.named.contains(*digest)) {
            return Err(ContentError::Unreferenced(digest.clone()));
        }
        let digest = OciDigest::of(&image);
        Ok(Self {
            manifest,
            image,
            digest,
            files: (),
            component,
            readme,
            license,
            signatures: Vec::new(),
            unread_signatures: 0,
            left_out_signatures: 0,
        })
    }

    /// The same with its files.
    pub(crate) fn with_files<F>(self, files: F) -> Bundle<F> {
        Bundle {
            manifest: self.manifest,
            image: self.image,
            digest: self.digest,
            files,
            component: self.component,
            readme: self.readme,
            license: self.license,
            signatures: self.signatures,
            unread_signatures: self.unread_signatures,
            left_out_signatures: self.left_out_signatures,
        }
    }
}

/// Reads the image manifest of a plugin.
///
/// # Errors
///
/// When it is too large, not an image manifest, or not the image manifest of a plugin.
pub(crate) fn image_manifest(bytes: &[u8]) -> Result<ImageManifest, ContentError> {
    let image = any_image(bytes)?;
    let no_plugin = |what, found: &str, wanted: &str| {
        Err(ContentError::NoPlugin { what, found: cut(found), wanted: wanted.to_owned() })
    };
    if image.artifact_type != PLUGIN_TYPE {
        return no_plugin("artifactType", &image.artifact_type, PLUGIN_TYPE);
    }
    if image.config.media_type != MANIFEST_TYPE {
        return no_plugin("config.mediaType", &image.config.media_type, MANIFEST_TYPE);
    }
    if let Some(subject) = &image.subject {
        return no_plugin("subject", subject.digest.as_str(), "nothing");
    }
    Ok(image)
}

/// Reads an image manifest, whatever it is of.
pub(crate) fn any_image(bytes: &[u8]) -> Result<ImageManifest, ContentError> {
    let size = bytes.len() as u64;
    if size > MAX_IMAGE {
        return Err(ContentError::TooLarge { what: "image manifest".to_owned(), found: size, limit: MAX_IMAGE });
    }
    let wrong = |error: String| ContentError::Image { error };
    let read = check_unique_keys(bytes).and_then(|()| serde_json::from_slice(bytes));
    let image: ImageManifest = read.map_err(|error| wrong(cut(&error.to_string())))?;
    if (image.schema_version, image.media_type.as_str()) != (2, IMAGE_TYPE) {
        let found = cut(&image.media_type);
        return Err(wrong(format!("it is version {} of `{found}`, and not 2 of `{IMAGE_TYPE}`", image.schema_version)));
    }
    if image.layers.len() > MAX_LAYERS {
        return Err(ContentError::TooManyLayers { found: image.layers.len() });
    }
    for descriptor in image.layers.iter().chain([&image.config]).chain(&image.subject) {
        check_title(descriptor.title())?;
    }
    Ok(image)
}

/// Checks that the title of a blob, if it has one, is the name of a file: a program that writes the blob to a file of
/// that name, as those for OCI do, stays in its folder.
pub(crate) fn check_title(title: Option<&str>) -> Result<(), ContentError> {
    let is_name = |title: &str| {
        (1..=MAX_TITLE).contains(&title.len())
            && !title.starts_with('.')
            && !title.contains(|c| matches!(c, '/' | '\\' | ':') || host_text::is_unsafe(c))
    };
    match title {
        Some(title) if !is_name(title) => Err(ContentError::Title { title: cut(title) }),
        Some(_) | None => Ok(()),
    }
}

/// The blobs of a bundle, and which of them were asked for.
struct NamedBlobs<'b> {
    blobs: &'b BundleFiles,
    named: BTreeSet<OciDigest>,
}

impl<'b> NamedBlobs<'b> {
    fn find(&mut self, descriptor: &Descriptor, what: String, limit: u64) -> Result<&'b [u8], ContentError> {
        self.named.insert(descriptor.digest.clone());
        find(self.blobs, descriptor, what, limit)
    }
}

/// The layers of an image besides the schemas, each by its digest.
#[derive(Default)]
struct Layers {
    component: Option<OciDigest>,
    readme: Option<OciDigest>,
    license: Option<OciDigest>,
}

impl Layers {
    /// Reads the layers. Schemas lie beside the manifest for other tools; they are compared with it, so that both say
    /// the same.
    fn read(
        layers: &[Descriptor],
        manifest: &Manifest,
        blobs: &mut NamedBlobs<'_>,
        elsewhere: Option<(&OciDigest, u64)>,
    ) -> Result<Self, ContentError> {
        let mut schemas = schemas(manifest);
        let mut all = Self::default();
        for layer in layers {
            let title = layer.title().unwrap_or_default();
            // What has no place here could be something that a later version obeys.
            let strange = || ContentError::Layer { title: cut(title), media_type: cut(&layer.media_type) };
            let (place, what, limit) = match layer.media_type.as_str() {
                COMPONENT_TYPE => (&mut all.component, "component", host_plugin::MAX_COMPONENT as u64),
                README_TYPE => (&mut all.readme, "README", MAX_TEXT),
                LICENSE_TYPE => (&mut all.license, "licence", MAX_TEXT),
                SCHEMA_TYPE => {
                    let wanted = schemas.remove(title).ok_or_else(strange)?;
                    if blobs.find(layer, format!("schema `{title}`"), wanted.len() as u64)? != wanted {
                        return Err(ContentError::Schema { title: title.to_owned() });
                    }
                    continue;
                }
                _ => return Err(strange()),
            };
            // Two components would be one for each reader.
            if place.replace(layer.digest.clone()).is_some() {
                return Err(strange());
            }
            // An installed bundle is read without its component, which is hashed when it is used.
            match elsewhere {
                Some((digest, size)) if layer.media_type == COMPONENT_TYPE && layer.digest == *digest => {
                    fits(layer, size, what.to_owned(), limit)?;
                }
                Some(_) | None => {
                    let bytes = blobs.find(layer, what.to_owned(), limit)?;
                    if layer.media_type != COMPONENT_TYPE {
                        text(bytes, what)?;
                    }
                }
            }
        }
        // A schema that the manifest has and the image lacks was lost on the way.
        if let Some((title, bytes)) = schemas.into_iter().next() {
            let digest = OciDigest::of(&bytes);
            return Err(ContentError::Missing { what: format!("schema `{title}`"), digest });
        }
        Ok(all)
    }
}

/// The blob that a descriptor names, when it is as the descriptor says.
pub(crate) fn find<'a>(
    blobs: &'a BundleFiles,
    descriptor: &Descriptor,
    what: String,
    limit: u64,
) -> Result<&'a [u8], ContentError> {
    let digest = descriptor.digest.clone();
    let Some(bytes) = blobs.get(&digest) else {
        return Err(ContentError::Missing { what, digest });
    };
    fits(descriptor, bytes.len() as u64, what, limit)?;
    Ok(bytes)
}

/// Checks that a blob of this size is as its descriptor says.
fn fits(descriptor: &Descriptor, found: u64, what: String, limit: u64) -> Result<(), ContentError> {
    if found != descriptor.size {
        return Err(ContentError::Size { what, digest: descriptor.digest.clone(), found, said: descriptor.size });
    }
    if found > limit {
        return Err(ContentError::TooLarge { what, found, limit });
    }
    Ok(())
}

/// The schema files of a plugin, by title: what is packed, and what a bundle has to have.
pub(super) fn schemas(manifest: &Manifest) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for tool in &manifest.tools {
        let ToolSpec { name, input_schema, output_schema, .. } = &tool.spec;
        files.insert(format!("{name}.input.schema.json"), oci::to_bytes(input_schema));
        if let Some(schema) = output_schema {
            files.insert(format!("{name}.output.schema.json"), oci::to_bytes(schema));
        }
    }
    files
}

/// The annotations of a plugin's image manifest.
pub(super) fn annotated(manifest: &Manifest) -> [(&'static str, Option<String>); 6] {
    [
        (oci::TITLE, Some(manifest.name.clone())),
        (oci::VERSION, Some(manifest.version.to_string())),
        (oci::LICENSES, Some(manifest.license.clone())),
        (oci::DESCRIPTION, manifest.description.clone()),
        (oci::SOURCE, manifest.source.clone()),
        (oci::URL, manifest.homepage.clone()),
    ]
}

fn annotations(image: &ImageManifest, manifest: &Manifest) -> Result<(), ContentError> {
    let quoted = |value: Option<&String>| value.map_or_else(|| "nothing".to_owned(), |text| format!("`{}`", cut(text)));
    for (key, wanted) in annotated(manifest) {
        let found = image.annotations.get(key);
        if found != wanted.as_ref() {
            return Err(ContentError::Annotation { key, found: quoted(found), wanted: quoted(wanted.as_ref()) });
        }
    }
    Ok(())
}

fn text(bytes: &[u8], what: &str) -> Result<String, ContentError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| ContentError::NoText(what.to_owned()))
}

//! Finds a plugin and its signatures in an OCI image layout, whoever wrote it: `host plugin pack`, or another client.
//!
//! Other clients list a manifest without its artifact type, put lists into lists, add fields, and keep further
//! artifacts in the same layout. So a list is only a hint: the manifests themselves say what they are. Promises: the
//! depth and the number of manifests are bounded; of what belongs to another artifact, nothing becomes part of the
//! bundle; a plugin's image manifest is read as strictly as ever, since it is what was signed.
//!
//! Deliberately not here: where the blobs come from, an archive or a folder.

use std::collections::BTreeSet;

use host_manifest::cut;

use super::folder::BlobFolder;
use super::{EntryFault, UnpackError, referrer};
use crate::bundle::{Bundle, BundleFiles, ContentError, MAX_IMAGE, PLUGIN_TYPE, SIGNATURE_TYPE};
use crate::listing::{AnyManifest, Listed, listing, read};
use crate::oci::{INDEX_FILE, OciDigest};
use crate::signature::{MAX_SIGNATURE, Signature, SignatureError};
use crate::sizes::MAX_BLOB;

/// Manifests of a layout that are looked at. Protects the reader from a list without end; a layout with a hundred
/// versions of a plugin and their signatures has fewer.
const MAX_MANIFESTS: usize = 1_000;
/// How deep a list may be in other lists. Protects the reader; the lists of other clients are two deep.
const MAX_DEPTH: usize = 4;

/// The blobs of a layout, by their digests.
pub(super) enum Blobs {
    /// All of an archive's.
    Archive(BundleFiles),
    /// Those in a folder, which are read when they are needed.
    Folder(BlobFolder),
}

impl Blobs {
    /// Returns a blob of at most `limit` bytes whose bytes have this digest; `None` if there is no such blob.
    fn get(&mut self, digest: &OciDigest, limit: u64) -> Result<Option<Vec<u8>>, UnpackError> {
        match self {
            Self::Archive(blobs) => match blobs.get(digest) {
                Some(bytes) if bytes.len() as u64 > limit => {
                    let (what, found) = (format!("blob `{digest}`"), bytes.len() as u64);
                    Err(ContentError::TooLarge { what, found, limit }.into())
                }
                bytes => Ok(bytes.cloned()),
            },
            Self::Folder(folder) => folder.blob(digest, limit),
        }
    }
}

/// Makes the bundle of the one plugin in a layout, or of the one that it lists by this name: `make` takes the image
/// manifest and those of the blobs that it names which are there.
pub(super) fn bundle<F>(
    index: &[u8],
    blobs: Blobs,
    name: Option<&str>,
    make: impl FnOnce(Vec<u8>, BundleFiles) -> Result<Bundle<F>, ContentError>,
) -> Result<Bundle<F>, UnpackError> {
    let mut walk =
        Walk { blobs, visited: BTreeSet::new(), named: BTreeSet::new(), plugins: Vec::new(), signatures: Vec::new() };
    // A list is a hint: any client can write one.
    let listed = listing(index).map_err(wrong)?;
    let is_wanted = |listed: &Listed| name.is_none_or(|name| listed.is_called(name));
    // Those that are wanted come first: what is listed twice is seen once.
    for wanted in [true, false] {
        for listed in listed.iter().filter(|listed| is_wanted(listed) == wanted) {
            walk.visit(listed, wanted, listed.name(), 0)?;
        }
    }
    let (image, digest) = walk.plugin(name)?;
    let texts = walk.signatures(&digest, image.len() as u64)?;
    let mut named = BundleFiles::new();
    // Only what the image manifest names becomes part of the bundle.
    for descriptor in Bundle::wanted(&image)? {
        // What is missing is reported by the check, which knows what it is.
        if let Some(bytes) = walk.blobs.get(&descriptor.digest, MAX_BLOB)? {
            named.insert(descriptor.digest, bytes);
        }
    }
    let mut bundle = make(image, named)?;
    // A folder may have other artifacts beside it; an archive was made for this one.
    if let Blobs::Archive(blobs) = &walk.blobs
        && let Some(hidden) = blobs.keys().find(|it| !walk.visited.contains(*it) && !walk.named.contains(*it))
    {
        return Err(ContentError::Unreferenced(hidden.clone()).into());
    }
    texts.into_iter().for_each(|text| bundle.keep_signature(text));
    Ok(bundle)
}

/// A plugin that was found.
struct Plugin {
    digest: OciDigest,
    image: Vec<u8>,
    is_wanted: bool,
    name: Option<String>,
}

/// The search of a layout.
struct Walk {
    blobs: Blobs,
    /// Manifests that were looked at.
    visited: BTreeSet<OciDigest>,
    /// Blobs that a manifest names.
    named: BTreeSet<OciDigest>,
    plugins: Vec<Plugin>,
    /// Manifests of signatures, of this plugin or of others.
    signatures: Vec<(OciDigest, AnyManifest)>,
}

impl Walk {
    fn visit(&mut self, listed: &Listed, is_wanted: bool, name: Option<&str>, depth: usize) -> Result<(), UnpackError> {
        // Another kind of digest belongs to another artifact.
        let Ok(digest) = listed.digest.parse::<OciDigest>() else { return Ok(()) };
        // Lists can name each other in a circle.
        if !self.visited.insert(digest.clone()) {
            return Ok(());
        }
        // Depth and number are both bounded: a wide list costs as much as a deep one.
        if self.visited.len() > MAX_MANIFESTS {
            return Err(wrong(format!("it lists over {MAX_MANIFESTS} manifests")));
        }
        if depth > MAX_DEPTH {
            return Err(wrong(format!("its lists are over {MAX_DEPTH} deep")));
        }
        // Only what claims to be ours must be readable: others keep what they like in the same layout.
        let is_ours = matches!(listed.artifact_type.as_deref(), Some(PLUGIN_TYPE | SIGNATURE_TYPE));
        let bytes = match self.blobs.get(&digest, MAX_IMAGE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) if is_ours => {
                return Err(ContentError::Missing { what: "manifest".to_owned(), digest }.into());
            }
            // A layout need not have all that it lists, and what is not a manifest of ours can be large.
            Ok(None) => return Ok(()),
            Err(
                UnpackError::Content(ContentError::TooLarge { .. })
                | UnpackError::Entry { why: EntryFault::TooLarge, .. },
            ) if !is_ours => return Ok(()),
            Err(error) => return Err(error),
        };
        let found = bytes.len() as u64;
        if found != listed.size {
            let what = "manifest".to_owned();
            return Err(ContentError::Size { what, digest, found, said: listed.size }.into());
        }
        let manifest = match read::<AnyManifest>(&bytes) {
            Ok(manifest) => manifest,
            Err(error) if is_ours => return Err(wrong(format!("{digest}: {error}"))),
            Err(_) => return Ok(()),
        };
        // Named even if they are another artifact's: then they are not hidden.
        for blob in manifest.blobs() {
            self.named.extend(blob.digest.parse::<OciDigest>().ok());
        }
        for inner in manifest.manifests.iter().flatten() {
            self.visit(inner, is_wanted, inner.name().or(name), depth + 1)?;
        }
        match (manifest.artifact_type.as_deref(), listed.artifact_type.as_deref()) {
            (Some(SIGNATURE_TYPE), _) => self.signatures.push((digest, manifest)),
            // One that is listed as a plugin and is none is reported as that.
            (Some(PLUGIN_TYPE), _) | (_, Some(PLUGIN_TYPE)) => {
                self.plugins.push(Plugin { digest, image: bytes, is_wanted, name: name.map(str::to_owned) });
            }
            (Some(_) | None, Some(_) | None) => {}
        }
        Ok(())
    }

    /// Takes the one plugin that is wanted.
    fn plugin(&mut self, name: Option<&str>) -> Result<(Vec<u8>, OciDigest), UnpackError> {
        let (mut wanted, others): (Vec<_>, Vec<_>) = self.plugins.drain(..).partition(|plugin| plugin.is_wanted);
        if wanted.len() == 1
            && let Some(plugin) = wanted.pop()
        {
            return Ok((plugin.image, plugin.digest));
        }
        let all = wanted.iter().chain(&others);
        let names: Vec<String> = all.filter_map(|it| it.name.as_deref()).map(|it| format!("`{}`", cut(it))).collect();
        if wanted.len() > 1 {
            return Err(UnpackError::Several { count: wanted.len(), names });
        }
        let names = names.join(", ");
        Err(wrong(match name {
            Some(name) if names.is_empty() => format!("it lists no plugin as `{}`", cut(name)),
            Some(name) => format!("it lists no plugin as `{}`, but {names}", cut(name)),
            None => "it lists 0 plugins, and a bundle has one".to_owned(),
        }))
    }

    /// Reads the signatures that refer to the plugin.
    fn signatures(&mut self, plugin: &OciDigest, size: u64) -> Result<Vec<Signature>, UnpackError> {
        let mut signatures = std::mem::take(&mut self.signatures);
        signatures.retain(|(_, manifest)| manifest.refers_to(plugin));
        let mut texts = Vec::new();
        for (digest, manifest) in signatures {
            let wrong = |why: String| UnpackError::Referrer { digest: digest.clone(), why };
            let layer = referrer::layer(&manifest, plugin, size).map_err(wrong)?;
            let Some(text) = self.blobs.get(&layer.digest, MAX_SIGNATURE as u64)? else {
                let (what, digest) = ("signature".to_owned(), layer.digest);
                return Err(ContentError::Missing { what, digest }.into());
            };
            let text = String::from_utf8(text).map_err(|_| wrong("its text is not UTF-8".to_owned()))?;
            texts.push(Signature::new(text).map_err(|error: SignatureError| wrong(error.to_string()))?);
        }
        Ok(texts)
    }
}

fn wrong(why: String) -> UnpackError {
    UnpackError::Layout { file: INDEX_FILE, why }
}

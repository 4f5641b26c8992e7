//! Bundles: archives as they come, and bundles whose digests are right and whose contents are not.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use host_bundle::{Bundle, OciDigest, Parts, SecretKey, UnpackError};
use host_manifest::{Manifest, Source};
use serde_json::Value;

use crate::{guest, shown};

/// The files of a bundle, by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// The bytes are an archive. One that is read is the same when it was written and read again.
pub fn archive(data: &[u8]) {
    check(Bundle::read_archive(data));
}

/// The first byte picks a part of a good bundle, and the others are what is there instead. The digests and sizes that
/// name it are changed with it, so that what is checked is the content.
pub fn bundle(data: &[u8]) {
    static GOOD: OnceLock<Files> = OnceLock::new();
    let good = GOOD.get_or_init(|| {
        let bundle = good();
        check(Bundle::read_archive(&bundle.to_archive()[..]));
        bundle.layout()
    });
    let Some((part, new)) = data.split_first() else { return };
    let mut files = good.clone();
    match part {
        b'i' | b'l' => {
            let name = if *part == b'i' { "index.json" } else { "oci-layout" };
            files.insert(name.to_owned(), new.to_vec());
        }
        b'n' => {
            files.insert(String::from_utf8_lossy(new).into_owned(), Vec::new());
        }
        // Blobs, in the order of their digests: the configuration, the component, a text, a signature, and so on.
        other => {
            let blobs: Vec<String> = files.keys().filter(|path| path.starts_with("blobs/")).cloned().collect();
            let path = &blobs[usize::from(*other) % blobs.len()];
            replace(&mut files, path, new.to_vec());
        }
    }
    check(Bundle::read_archive(&archived(&files)[..]));
}

fn check(read: Result<Bundle, UnpackError>) {
    match read {
        Ok(bundle) => {
            let again = Bundle::read_archive(&bundle.to_archive()[..]).expect("it was just written");
            assert_eq!(again.digest(), bundle.digest());
            assert_eq!(again.signed_bytes(), bundle.signed_bytes());
            assert_eq!(again.manifest(), bundle.manifest());
            assert_eq!(OciDigest::of(bundle.signed_bytes()), *bundle.digest());
            assert_eq!(OciDigest::of(bundle.component()), *bundle.component_digest());
            for text in [bundle.readme(), bundle.license()].into_iter().flatten() {
                assert!(str::from_utf8(text).is_ok());
            }
            for signature in bundle.signatures() {
                let _ = (signature.key_id(), signature.statement());
            }
        }
        Err(error) => shown::prose(&host_text::visible(&error.to_string())),
    }
}

/// A bundle of each kind of part, with a signature.
fn good() -> Bundle {
    const MANIFEST: &str = r#"{"manifest": 1, "name": "acme/guest", "version": "1.0.0", "license": "Apache-2.0",
        "description": "Answers.", "contract": "0.1.0", "capabilities": {}, "tools": [{"name": "answers",
        "description": "Answers.", "input_schema": {"type": "object"}}]}"#;
    let manifest = Manifest::parse(MANIFEST, Source::Bundle).expect("a manifest");
    let (readme, license) = (Some(b"# Guest\n".to_vec()), Some(b"Apache-2.0\n".to_vec()));
    let mut bundle = Bundle::pack(Parts { manifest, component: guest::component(), readme, license }).expect("parts");
    bundle.sign(&SecretKey::without_password().expect("random numbers")).expect("a publisher");
    bundle
}

/// Replaces a blob, and what names it, up to the index.
fn replace(files: &mut Files, path: &str, new: Vec<u8>) {
    let digest = |path: &str| format!("sha256:{}", path.rsplit('/').next().unwrap_or_default());
    let new_path = format!("blobs/sha256/{}", OciDigest::of(&new).digits());
    let (old_digest, size) = (digest(path), new.len());
    files.remove(path);
    files.insert(new_path.clone(), new);
    let names_it = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&old_digest);
    let parents: Vec<String> = files
        .iter()
        .filter(|(name, bytes)| **name != new_path && names_it(bytes))
        .map(|(name, _)| name.clone())
        .collect();
    for parent in parents {
        let Some(bytes) = files.get(&parent) else { continue };
        let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else { continue };
        rename(&mut value, &old_digest, &digest(&new_path), size);
        let bytes = value.to_string().into_bytes();
        if parent.starts_with("blobs/") {
            replace(files, &parent, bytes);
        } else {
            files.insert(parent, bytes);
        }
    }
}

fn rename(value: &mut Value, old: &str, new: &str, size: usize) {
    match value {
        Value::Object(members) => {
            if members.get("digest").and_then(Value::as_str) == Some(old) {
                members.insert("digest".to_owned(), new.into());
                members.insert("size".to_owned(), size.into());
            }
            members.values_mut().for_each(|value| rename(value, old, new, size));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| rename(value, old, new, size)),
        _ => {}
    }
}

/// Writes a tar without the library's checks of names.
fn archived(files: &Files) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in files {
        let mut header = [0; 512];
        let name = name.as_bytes().get(..100).unwrap_or(name.as_bytes());
        header[..name.len()].copy_from_slice(name);
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

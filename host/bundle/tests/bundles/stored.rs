//! An installed bundle is read around its component: each part is checked when it is read, and no part is used
//! unchecked.

use std::fs;

use host_bundle::{Bundle, OciDigest, SecretKey, StoredBundle, Trust};
use host_manifest::Manifest;
use jiff::Timestamp;

use crate::support::{bundle, component};

/// A signed bundle in a file.
fn stored() -> (Bundle, tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut bundle, path) = (bundle(), folder.path().join("plugin.tar"));
    bundle.sign(&SecretKey::without_password().expect("random numbers")).expect("signed");
    fs::write(&path, bundle.to_archive()).expect("written");
    (bundle, folder, path)
}

/// What a start takes of it and a compilation reads.
fn used(path: &std::path::Path, component: &OciDigest) -> Result<(Manifest, Vec<u8>), String> {
    let stored = StoredBundle::open(path, component).map_err(|error| error.to_string())?;
    let (manifest, component) = stored.into_manifest_and_component();
    Ok((manifest, component.read().map_err(|error| error.to_string())?))
}

#[test]
fn stored_bundle_is_what_the_whole_one_is() {
    let (bundle, _folder, path) = stored();
    let read = StoredBundle::open(&path, bundle.component_digest()).expect("it is whole");
    assert_eq!((read.digest(), read.signed_bytes()), (bundle.digest(), bundle.signed_bytes()));
    assert_eq!((read.statement(), read.signatures()), (bundle.statement(), bundle.signatures()));
    let (trust, now) = (Trust::default(), Timestamp::UNIX_EPOCH);
    assert_eq!(trust.check(&read, now), trust.check(&bundle, now));
    let (manifest, component) = read.into_manifest_and_component();
    assert_eq!(&manifest, bundle.manifest());
    assert_eq!(component.read().expect("it is there"), bundle.component());
}

// promise bundle.stored: Whatever is used of an installed bundle was checked when it was read: its component when it is
//   compiled, and all else at each start.
#[test]
fn stored_bundle_is_used_as_it_was_or_not_at_all_whichever_bit_is_changed() {
    let (bundle, _folder, path) = stored();
    let whole = fs::read(&path).expect("it is there");
    let as_it_was = (bundle.manifest().clone(), bundle.component().to_vec());
    let (mut at_start, mut when_compiled) = (0, 0);
    for position in 0..whole.len() {
        let mut changed = whole.clone();
        changed[position] ^= 1 << (position % 8);
        fs::write(&path, changed).expect("written");
        match used(&path, bundle.component_digest()) {
            // Nothing reads what fills up a block.
            Ok(used) => assert!(used == as_it_was, "byte {position}"),
            Err(error) if error.contains("was changed since it was installed") => when_compiled += 1,
            Err(_) => at_start += 1,
        }
    }
    assert_eq!(when_compiled, bundle.component().len());
    assert!(at_start > 4_000, "{at_start}");
    // One that breaks off is not used either.
    for length in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..length]).expect("written");
        assert!(used(&path, bundle.component_digest()).is_err(), "{length} bytes");
    }
}

#[test]
fn stored_bundle_has_the_component_that_is_named_and_no_other() {
    let (bundle, _folder, path) = stored();
    let other = component(&["host:cap/process@0.1.0"]);
    let error = used(&path, &OciDigest::of(&other)).expect_err("it is not there");
    assert!(error.contains("the component `sha256:") && error.contains("is missing"), "{error}");
    // Another blob of it is not a component.
    let readme = OciDigest::of(bundle.readme().expect("it has one"));
    assert!(used(&path, &readme).is_err());
}

#[test]
fn stored_component_is_read_from_the_file_that_was_opened() {
    let (bundle, _folder, path) = stored();
    let read = StoredBundle::open(&path, bundle.component_digest()).expect("it is whole");
    let (_, component) = read.into_manifest_and_component();
    let beside = path.with_extension("new");
    fs::write(&beside, b"something else").expect("written");
    fs::rename(&beside, &path).expect("renamed");
    assert_eq!(component.read().expect("it is still there"), bundle.component());
}

//! Packing gives the same bytes for the same parts, and rejects parts that do not agree.

use host_bundle::{Bundle, OciDigest, PLUGIN_TYPE, Parts, SecretKey};
use host_manifest::{Manifest, Source};
use serde_json::{Value, json};

use crate::support::{archive, bundle, component, entries, manifest, manifest_json, parts};

#[test]
fn the_same_parts_give_the_same_bytes_and_read_as_they_were_packed() {
    let one = bundle();
    assert_eq!(one.to_archive(), bundle().to_archive());
    let read = Bundle::read_archive(one.to_archive().as_slice()).expect("it reads what it packed");
    let Parts { manifest, component, readme, license } = parts();
    assert_eq!(read.manifest(), &manifest);
    assert_eq!(read.component(), component);
    assert_eq!((read.readme(), read.license()), (readme.as_deref(), license.as_deref()));
    assert_eq!((read.digest(), read.signed_bytes()), (one.digest(), one.signed_bytes()));
    assert_eq!(read.digest(), &OciDigest::of(read.signed_bytes()));
    assert_eq!(read.component_digest(), &OciDigest::of(&component));
    assert_eq!(read.statement(), format!("acme/fetch@1.2.0 {}", one.digest()));
    assert_eq!(read.to_archive(), one.to_archive());
    // The digest is what others have written down: it changes when the format does, and then on purpose.
    assert_eq!(one.digest().as_str(), "sha256:d8e8cf68b049478eec2b0483880944a2a09459815e0e41fd5114949e00ac3b2a");
}

#[test]
fn bundle_is_packed_as_an_oci_image_that_describes_itself() {
    let bundle = bundle();
    let layout = bundle.layout();
    assert_eq!(layout["oci-layout"], b"{\"imageLayoutVersion\":\"1.0.0\"}");
    let index: Value = serde_json::from_slice(&layout["index.json"]).expect("JSON");
    assert_eq!(index["manifests"][0]["artifactType"], PLUGIN_TYPE);
    assert_eq!(index["manifests"][0]["digest"], bundle.digest().as_str());
    let image: Value = serde_json::from_slice(bundle.signed_bytes()).expect("JSON");
    assert_eq!(image["config"]["mediaType"], "application/vnd.host.plugin.manifest.v1+json");
    let layers: Vec<(&str, &str)> = image["layers"].as_array().expect("layers").iter().map(layer).collect();
    assert_eq!(
        layers,
        [
            ("application/wasm", "plugin.wasm"),
            ("text/markdown", "README.md"),
            ("text/plain", "LICENSE"),
            ("application/schema+json", "fetch.input.schema.json"),
            ("application/schema+json", "fetch.output.schema.json"),
        ]
    );
    let said = json!({
        "org.opencontainers.image.title": "acme/fetch",
        "org.opencontainers.image.version": "1.2.0",
        "org.opencontainers.image.licenses": "MIT",
        "org.opencontainers.image.source": "https://example.com/acme/fetch",
        "org.opencontainers.image.description": "Fetches what you name.",
    });
    assert_eq!(image["annotations"], said);
}

fn layer(layer: &Value) -> (&str, &str) {
    let title = layer["annotations"]["org.opencontainers.image.title"].as_str();
    (layer["mediaType"].as_str().expect("text"), title.expect("a title"))
}

#[test]
fn bundle_archive_reveals_nothing_about_the_machine_that_made_it() {
    let bytes = bundle().to_archive();
    let mut archive = tar::Archive::new(bytes.as_slice());
    let mut names = Vec::new();
    for entry in archive.entries().expect("an archive").raw(true) {
        let entry = entry.expect("an entry");
        let header = entry.header();
        let owner = (header.uid().expect("a number"), header.gid().expect("a number"));
        assert_eq!((header.mtime().expect("a time"), owner, header.mode().expect("a mode")), (0, (0, 0), 0o644));
        assert_eq!((header.username(), header.groupname()), (Ok(Some("")), Ok(Some(""))));
        names.push(entry.path().expect("a path").display().to_string());
    }
    assert!(names.is_sorted() && names.len() == 9, "{names:?}");
}

#[test]
fn an_archive_that_another_tar_made_is_read_too() {
    let bundle = bundle();
    let mut list = entries(&bundle.layout());
    list.reverse();
    for entry in &mut list {
        entry.name = format!("./{}", entry.name);
    }
    for folder in ["./", "./blobs/", "./blobs/sha256/"] {
        list.insert(
            0,
            crate::support::Entry { kind: tar::EntryType::Directory, ..crate::support::Entry::file(folder, b"") },
        );
    }
    let mut bytes = archive(&list);
    bytes.resize(bytes.len().next_multiple_of(10240), 0);
    assert_eq!(Bundle::read_archive(bytes.as_slice()).expect("it is whole").digest(), bundle.digest());
}

#[test]
fn a_signature_leaves_what_is_signed_as_it_is() {
    let mut bundle = bundle();
    let before = bundle.signed_bytes().to_vec();
    let keys = [(); 3].map(|()| SecretKey::without_password().expect("random numbers"));
    for key in &keys {
        bundle.sign(key).expect("signed");
    }
    let read = Bundle::read_archive(bundle.to_archive().as_slice()).expect("it is whole");
    assert_eq!((read.signed_bytes(), read.digest()), (before.as_slice(), bundle.digest()));
    assert_eq!(read.signatures().len(), 3);
    for key in &keys {
        let good = |signature: &&host_bundle::Signature| {
            signature.check(key.public(), read.signed_bytes(), &read.statement()).is_ok()
        };
        assert_eq!(read.signatures().iter().filter(good).count(), 1);
    }
    assert_eq!(read.to_archive(), bundle.to_archive());
    while bundle.signatures().len() < host_bundle::MAX_SIGNATURES {
        bundle.sign(&keys[0]).expect("signed");
    }
    assert!(bundle.sign(&keys[0]).expect_err("too many").to_string().contains("64 signatures already"));
    assert!(Bundle::read_archive(bundle.to_archive().as_slice()).is_ok());
}

#[test]
fn bundle_parts_that_do_not_agree_are_not_packed() {
    let change = |change: &dyn Fn(&mut Parts)| {
        let mut parts = parts();
        change(&mut parts);
        Bundle::pack(parts).expect_err("it is wrong").to_string()
    };
    for (error, says) in [
        (change(&|parts| parts.manifest.description = None), "has no description"),
        (change(&|parts| parts.component = b"#!/bin/sh".to_vec()), "does not start like WebAssembly"),
        (change(&|parts| parts.component = component(&["host:cap/process@0.1.0"])), "does not declare it"),
        (change(&|parts| parts.component = component(&["wasi:http/outgoing-handler@0.2.0"])), "does not have"),
        (change(&|parts| parts.readme = Some(vec![0xff])), "not UTF-8"),
        (change(&|parts| parts.license = Some(vec![b'x'; (1 << 20) + 1])), "over the limit"),
    ] {
        assert!(error.contains(says), "{error}");
    }
    let mut json = manifest_json();
    json["name"] = "fetch".into();
    let mut bundle = Bundle::pack(Parts { manifest: manifest(&json), ..parts() }).expect("it can be packed");
    let key = SecretKey::without_password().expect("random numbers");
    assert!(bundle.sign(&key).expect_err("nobody's").to_string().contains("PUBLISHER/fetch"));
}

#[test]
fn bundle_manifest_for_a_newer_host_is_reported_as_such() {
    for (key, value) in [("manifest", json!(2)), ("contract", json!("0.2.0")), ("contract", json!("1.0.0"))] {
        let mut json = manifest_json();
        json[key] = value;
        // The error must not be about the key that a newer layout adds.
        json["news"] = json!({});
        let error = Manifest::parse(&json.to_string(), Source::Bundle).expect_err("newer").to_string();
        assert!(error.contains("made for a newer host"), "{error}");
    }
}

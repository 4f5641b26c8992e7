//! Layouts that other clients wrote: what they leave out, what they add, and what else they keep in one.

use std::collections::BTreeMap;

use host_bundle::{Bundle, OciDigest, PLUGIN_TYPE, Parts, SIGNATURE_TYPE, SecretKey};
use serde_json::{Value, json};

use crate::support::{archive, bundle, entries, manifest, manifest_json, parts, refused};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

fn signed() -> Bundle {
    let mut bundle = bundle();
    bundle.sign(&SecretKey::without_password().expect("random numbers")).expect("signed");
    bundle
}

/// The files of a layout, as other clients fill it.
struct Layout {
    files: BTreeMap<String, Vec<u8>>,
    listed: Vec<Value>,
}

impl Layout {
    fn new() -> Self {
        let version = br#"{"imageLayoutVersion": "1.0.0", "more": null}"#.to_vec();
        Self { files: BTreeMap::from([("oci-layout".to_owned(), version)]), listed: Vec::new() }
    }

    /// Adds a blob; returns its descriptor.
    fn blob(&mut self, kind: &str, bytes: &[u8]) -> Value {
        let digest = OciDigest::of(bytes);
        self.files.insert(format!("blobs/sha256/{}", digest.digits()), bytes.to_vec());
        json!({"mediaType": kind, "digest": digest, "size": bytes.len()})
    }

    /// Adds the image of a plugin; returns its descriptor, without its type, as skopeo lists it.
    fn plugin(&mut self, bundle: &Bundle) -> Value {
        for (_, bytes) in bundle.blobs() {
            self.blob("", bytes);
        }
        self.blob(IMAGE, bundle.signed_bytes())
    }

    /// Adds the signatures of a plugin; returns their descriptors.
    fn signatures(&mut self, bundle: &Bundle) -> Vec<Value> {
        let mut listed = Vec::new();
        for referrer in bundle.referrers() {
            for blob in &referrer.blobs {
                self.blob("", blob);
            }
            listed.push(self.blob(IMAGE, &referrer.manifest));
        }
        listed
    }

    /// Lists a manifest under a name.
    fn list(&mut self, mut descriptor: Value, name: &str) {
        descriptor["annotations"] = json!({"org.opencontainers.image.ref.name": name, "vnd.other": "x"});
        self.listed.push(descriptor);
    }

    /// Adds an index in the index.
    fn nested(&mut self, manifests: Vec<Value>, name: &str) {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests, "annotations": null});
        let descriptor = self.blob(INDEX, index.to_string().as_bytes());
        self.list(descriptor, name);
    }

    /// Adds an image of another kind, with what it is made of.
    fn other(&mut self, name: &str) {
        let layer = self.blob("application/vnd.oci.image.layer.v1.tar+gzip", b"a layer");
        let config = self.blob("application/vnd.oci.image.config.v1+json", b"{\"os\":\"linux\"}");
        let image = json!({"schemaVersion": 2, "config": config, "layers": [layer]});
        let mut descriptor = self.blob(IMAGE, image.to_string().as_bytes());
        descriptor["platform"] = json!({"os": "linux", "architecture": "amd64"});
        self.list(descriptor, name);
    }

    /// The layout as a folder and as an archive.
    fn read(&self, name: Option<&str>) -> [Result<Bundle, String>; 2] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("blobs/sha256")).expect("made");
        for (name, bytes) in self.finished() {
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        let file = folder.path().join("archive.tar");
        std::fs::write(&file, self.archive()).expect("written");
        [folder.path(), &file].map(|path| Bundle::read_named(path, name).map_err(|error| error.to_string()))
    }

    fn finished(&self) -> BTreeMap<String, Vec<u8>> {
        let index = json!({"schemaVersion": 2, "manifests": self.listed, "annotations": null, "more": 1});
        let mut files = self.files.clone();
        files.insert("index.json".to_owned(), index.to_string().into_bytes());
        files
    }

    fn archive(&self) -> Vec<u8> {
        archive(&entries(&self.finished()))
    }
}

#[track_caller]
fn check(layout: &Layout, name: Option<&str>, expected: &Bundle) {
    for read in layout.read(name) {
        let read = read.expect("it is a bundle");
        assert_eq!(read.to_archive(), expected.to_archive());
    }
}

#[track_caller]
fn check_refused(layout: &Layout, name: Option<&str>, says: &str) {
    for read in layout.read(name) {
        let error = read.map(|bundle| bundle.statement()).expect_err(says);
        assert!(error.contains(says), "{error}");
    }
}

// promise bundle.layouts: A plugin is read from the OCI layouts that other clients write, with its signatures, whatever
//   else is in them; nothing else becomes part of the bundle.
#[test]
fn layout_of_another_client_is_read_with_the_signatures_in_nested_lists() {
    let signed = signed();
    let mut layout = Layout::new();
    let plugin = layout.plugin(&signed);
    layout.list(plugin, "1.2.0");
    layout.other("image");
    let listed = layout.signatures(&signed);
    layout.nested(listed, &signed.digest().as_str().replace(':', "-"));
    // What is listed need not be there.
    layout.listed.push(json!({"mediaType": IMAGE, "digest": OciDigest::of(b"elsewhere"), "size": 9}));
    layout.listed.push(json!({"mediaType": IMAGE, "digest": format!("sha512:{}", "0".repeat(128)), "size": 9}));
    check(&layout, None, &signed);
    check(&layout, Some("1.2.0"), &signed);
    check_refused(&layout, Some("1.3.0"), "it lists no plugin as `1.3.0`, but `1.2.0`");
    check_refused(&layout, Some("image"), "it lists no plugin as `image`");
}

// promise bundle.layouts
#[test]
fn layout_with_types_in_its_list_is_read_alike() {
    let signed = signed();
    let mut layout = Layout::new();
    let mut plugin = layout.plugin(&signed);
    plugin["artifactType"] = json!(PLUGIN_TYPE);
    plugin["data"] = json!("e30=");
    let mut signatures = layout.signatures(&signed);
    signatures[0]["artifactType"] = json!(SIGNATURE_TYPE);
    layout.listed.extend(signatures);
    layout.nested(vec![plugin], "localhost:5000/acme/fetch:1.2.0");
    check(&layout, None, &signed);
    check(&layout, Some("1.2.0"), &signed);
}

// promise bundle.layouts
#[test]
fn layout_with_several_plugins_needs_the_name_of_one() {
    let first = signed();
    let mut json = manifest_json();
    json["version"] = json!("1.3.0");
    let second = Bundle::pack(Parts { manifest: manifest(&json), ..parts() }).expect("packed");
    let mut layout = Layout::new();
    for (bundle, name) in [(&first, "1.2.0"), (&second, "1.3.0")] {
        let plugin = layout.plugin(bundle);
        layout.list(plugin, name);
    }
    // A signature of one is none of the other.
    let listed = layout.signatures(&first);
    layout.listed.extend(listed);
    check(&layout, Some("1.2.0"), &first);
    check(&layout, Some("1.3.0"), &second);
    for read in layout.read(None) {
        let error = read.map(|bundle| bundle.statement()).expect_err("none was chosen");
        assert_eq!(error, "it lists 2 plugins, `1.2.0`, `1.3.0`; choose one, as oci:PATH:NAME");
    }
}

// promise bundle.layouts
#[test]
fn layout_that_is_deep_or_lists_too_much_is_refused() {
    let mut layout = Layout::new();
    let mut inner = layout.plugin(&bundle());
    for _ in 0..6 {
        let index = json!({"schemaVersion": 2, "manifests": [inner]});
        inner = layout.blob(INDEX, index.to_string().as_bytes());
    }
    layout.list(inner, "deep");
    check_refused(&layout, None, "its lists are over 4 deep");

    let mut layout = Layout::new();
    let plugin = layout.plugin(&bundle());
    layout.list(plugin, "1.2.0");
    for number in 0..1_000 {
        layout.listed.push(
            json!({"mediaType": IMAGE, "digest": OciDigest::of(&[number as u8, (number >> 8) as u8]), "size": 2}),
        );
    }
    check_refused(&layout, None, "over 1000 manifests");
}

// promise bundle.layouts
#[test]
fn layout_blob_that_nothing_names_is_refused_in_an_archive() {
    let mut layout = Layout::new();
    let plugin = layout.plugin(&bundle());
    layout.list(plugin, "1.2.0");
    layout.blob("", b"hidden");
    assert!(refused(&layout.archive()).contains("is not referenced"));
    let [folder, _] = layout.read(None);
    assert_eq!(folder.expect("a folder may have it").to_archive(), bundle().to_archive());
}

//! Invalid bundles are rejected with their name and the reason: archives and folders that no honest program makes.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use host_bundle::{Bundle, OciDigest, Parts, SecretKey};
use serde_json::{Value, json};
use tar::EntryType;

use crate::support::{Entry, archive, bundle, component, entries, manifest_json, parts, refused};

/// The archive of `acme/fetch` with these entries before its own.
fn with(more: Vec<Entry>) -> Vec<u8> {
    archive(&more.into_iter().chain(entries(&bundle().layout())).collect::<Vec<_>>())
}

// promise bundle.reading: Reading a bundle writes nothing and rejects links, devices, sparse entries, unsafe or
//   duplicate names, unknown files and wrong sizes.
#[test]
fn bundle_entry_of_an_unexpected_name_or_kind_is_rejected() {
    let blob = format!("blobs/sha256/{}", "0".repeat(64));
    for (entry, says) in [
        (Entry::file("../evil", b"x"), "`../evil`, whose name leads out"),
        (Entry::file("blobs/sha256/../../../evil", b"x"), "leads out"),
        (Entry::file("/etc/cron.d/evil", b"x"), "`/etc/cron.d/evil`, whose name begins at the root"),
        (Entry::file("README.md", b"x"), "`README.md`, which no bundle has"),
        (Entry::file("blobs/sha256/short", b"x"), "which no bundle has"),
        (Entry::file(&blob.replace("0/", "0//").to_uppercase(), b"x"), "which no bundle has"),
        (Entry::file("blobs/md5/0", b"x"), "which no bundle has"),
        (Entry::new(EntryType::Symlink, &blob), "a link"),
        (Entry::new(EntryType::Link, &blob), "a link"),
        (Entry::new(EntryType::Symlink, "blobs"), "a link"),
        (Entry::new(EntryType::Char, &blob), "a device"),
        (Entry::new(EntryType::Block, &blob), "a device"),
        (Entry::new(EntryType::Fifo, &blob), "a pipe"),
        (Entry::new(EntryType::GNUSparse, &blob), "a sparse file"),
        (Entry::new(EntryType::Directory, "plugins/"), "which no bundle has"),
        (Entry::new(EntryType::Directory, "../"), "which no bundle has"),
        (
            Entry { kind: EntryType::GNULongName, ..Entry::file("././@LongLink", b"oci-layout\0") },
            "how others are to be",
        ),
        (
            Entry { kind: EntryType::XHeader, ..Entry::file("pax", b"20 path=../../evil\n") },
            "how others are to be read",
        ),
        (Entry { kind: EntryType::XGlobalHeader, ..Entry::file("pax", b"12 size=99\n") }, "how others are to be read"),
        (Entry { kind: EntryType::new(b'Z'), ..Entry::file(&blob, b"") }, "which no bundle has"),
    ] {
        let name = entry.name.clone();
        let error = refused(&with(vec![entry]));
        assert!(error.contains(says), "{name}: {error}");
    }
}

// promise bundle.reading
#[test]
fn bundle_duplicate_oversized_and_endless_entries_are_rejected() {
    let layout = bundle().layout();
    let mut twice = entries(&layout);
    twice.push(Entry::file("oci-layout", &layout["oci-layout"]));
    assert!(refused(&archive(&twice)).contains("`oci-layout`, a duplicate entry"));
    let name = bundle().digest().digits().to_owned();
    twice = entries(&layout);
    twice.push(Entry::file(&format!("./blobs/sha256/{name}"), bundle().signed_bytes()));
    assert!(refused(&archive(&twice)).contains("a duplicate entry"));

    // A header alone: no memory is reserved for a claimed size.
    let blob = format!("blobs/sha256/{}", "0".repeat(64));
    for (name, size, says) in [
        (blob.as_str(), 8 << 30, "larger than anything"),
        (&blob, (96 << 20) + 1, "larger than anything"),
        ("index.json", (1 << 20) + 1, "larger than anything"),
        (&blob, 1 << 20, "not a complete archive"),
    ] {
        let claims = Entry { size, ..Entry::file(name, b"") };
        let mut bytes = archive(&[claims]);
        bytes.truncate(512);
        let error = refused(&bytes);
        assert!(error.contains(says) || error.contains("size is not the declared one"), "{name} {size}: {error}");
    }
    let many: Vec<Entry> = (0..1001).map(|_| Entry::new(EntryType::Directory, "blobs/")).collect();
    assert!(refused(&archive(&many)).contains("over 1000 files"));
    // Each is within its own limit, and all together are not.
    let large: Vec<Entry> = (0u8..3)
        .map(|number| {
            let bytes = vec![number; 40 << 20];
            Entry::file(&format!("blobs/sha256/{}", OciDigest::of(&bytes).digits()), &bytes)
        })
        .collect();
    assert!(refused(&archive(&large)).contains("over 104857600 bytes"));
}

// promise bundle.reading
#[test]
fn bundle_archive_that_is_cut_short_or_has_trailing_data_is_rejected() {
    let whole = bundle().to_archive();
    for at in (0..whole.len()).step_by(97).chain([whole.len() - 1, whole.len() - 512, whole.len() - 1024]) {
        refused(&whole[..at]);
    }
    assert!(refused(&[&whole[..], b"#!/bin/sh"].concat()).contains("something follows its end"));
    assert!(refused(&[&whole[..], &vec![0; 2 << 20]].concat()).contains("something follows its end"));
    assert!(refused(b"").contains("not a complete archive"));
    assert!(refused(&[0; 1024]).contains("no `oci-layout`"));
}

/// What is put in the place of a text within a JSON file.
type Swap<'s> = (&'s str, &'s str);

/// Changes nothing.
const KEPT: Swap<'static> = ("", "");

fn swapped(json: &Value, (from, to): Swap<'_>) -> Vec<u8> {
    let text = json.to_string();
    assert!(text.contains(from), "{from} in {text}");
    if from.is_empty() { text.into_bytes() } else { text.replacen(from, to, 1).into_bytes() }
}

/// The archive of a layout whose image manifest, configuration and blobs were changed, with all digests put right.
fn forged(change: impl FnOnce(&mut Value, &mut Value, &mut BTreeMap<String, Vec<u8>>)) -> Vec<u8> {
    forged_text(change, KEPT, KEPT, KEPT)
}

/// The same, with other texts in the image manifest, the configuration and the index.
fn forged_text(
    change: impl FnOnce(&mut Value, &mut Value, &mut BTreeMap<String, Vec<u8>>),
    in_image: Swap<'_>,
    in_config: Swap<'_>,
    in_index: Swap<'_>,
) -> Vec<u8> {
    let bundle = bundle();
    let mut layout = bundle.layout();
    let mut image: Value = serde_json::from_slice(bundle.signed_bytes()).expect("JSON");
    let mut config = manifest_json();
    layout.remove(&path(bundle.signed_bytes()));
    layout.remove(&format!("blobs/sha256/{}", digits(&image["config"])));
    change(&mut image, &mut config, &mut layout);
    let config = swapped(&config, in_config);
    if image["config"]["digest"] != Value::Null {
        image["config"]["digest"] = OciDigest::of(&config).as_str().into();
        image["config"]["size"] = config.len().into();
    }
    let image = swapped(&image, in_image);
    layout.insert(path(&config), config);
    let index = json!({
        "schemaVersion": 2,
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "artifactType": "application/vnd.host.plugin.v1",
            "digest": OciDigest::of(&image).as_str(),
            "size": image.len(),
        }],
    });
    layout.insert("index.json".to_owned(), swapped(&index, in_index));
    layout.insert(path(&image), image);
    archive(&entries(&layout))
}

fn path(bytes: &[u8]) -> String {
    format!("blobs/sha256/{}", OciDigest::of(bytes).digits())
}

fn digits(descriptor: &Value) -> String {
    descriptor["digest"].as_str().expect("a digest").trim_start_matches("sha256:").to_owned()
}

/// Gives a layer another title.
fn titled(image: &mut Value, layer: usize, title: &str) {
    image["layers"][layer]["annotations"]["org.opencontainers.image.title"] = title.into();
}

/// Adds an item of a list to it once more.
fn again(list: &mut Value, item: usize) {
    let copy = list[item].clone();
    list.as_array_mut().expect("a list").push(copy);
}

/// Puts another blob in the place of a layer.
fn replace(image: &mut Value, layout: &mut BTreeMap<String, Vec<u8>>, layer: usize, bytes: &[u8]) {
    let layer = &mut image["layers"][layer];
    layout.remove(&format!("blobs/sha256/{}", digits(layer)));
    layer["digest"] = OciDigest::of(bytes).as_str().into();
    layer["size"] = bytes.len().into();
    layout.insert(path(bytes), bytes.to_vec());
}

// promise bundle.consistent: The parts of a bundle agree even if all digests are correct: blobs, sizes, imports,
//   manifest and annotations.
#[test]
fn bundle_forged_with_correct_digests_is_still_rejected() {
    Bundle::read_archive(forged(|_, _, _| {}).as_slice()).expect("what is not changed is right");
    type Change = fn(&mut Value, &mut Value, &mut BTreeMap<String, Vec<u8>>);
    let changes: &[(Change, &str)] = &[
        (
            |image, _, layout| {
                replace(image, layout, 0, &component(&["host:cap/http@0.1.0", "host:cap/process@0.1.0"]))
            },
            "imports `host:cap/process@0.1.0` and its manifest does not declare it",
        ),
        (
            |image, _, layout| replace(image, layout, 0, &component(&["wasi:http/outgoing-handler@0.2.0"])),
            "`wasi:http/outgoing-handler@0.2.0`, which this host does not have",
        ),
        (|image, _, layout| replace(image, layout, 0, b"\0asm\x01\0\0\0"), "core module"),
        (
            |_, config, _| {
                config["capabilities"] = json!({});
                config["tools"][0]["capabilities"] = json!([]);
            },
            "imports `host:cap/http@0.1.0` and its manifest does not declare it",
        ),
        (|_, config, _| config["tools"][0]["capabilities"] = json!(["http", "process"]), "needs `process`"),
        (|_, config, _| config["capabilities"]["magic"] = json!({"scope": "*", "reason": "r"}), "magic"),
        (|_, config, _| config["capabilities"]["http"]["scope"] = json!("\u{0}"), "invalid `capabilities.http.scope`"),
        (|_, config, _| again(&mut config["tools"], 0), "two tools"),
        (|_, config, _| config["name"] = json!("acme/other"), "`org.opencontainers.image.title` says `acme/fetch`"),
        (|_, config, _| config["version"] = json!("9.0.0"), "`org.opencontainers.image.version` says `1.2.0`"),
        (|_, config, _| config["license"] = json!("GPL-3.0"), "org.opencontainers.image.licenses"),
        (|_, config, _| config["description"] = json!("a\nb"), "invalid `description`"),
        (
            |_, config, _| {
                config["capabilities"]["http"]["reason"] =
                    json!("to fetch\nSigned by E7620F1842B4E81F, which you trust");
            },
            "invalid `capabilities.http.reason`: it must be one line",
        ),
        (
            |_, config, _| config["tools"][0]["title"] = json!("Fetch\u{ad}"),
            "invalid `tools.fetch.title`: it has the character `\\u{ad}`",
        ),
        (
            |_, config, _| config["tools"][0]["description"] = json!("Fetches.\u{e0041}"),
            "invalid `tools.fetch.description`: it has the character `\\u{e0041}`",
        ),
        (|_, config, _| config["name"] = json!("../../etc"), "invalid plugin name"),
        (|_, config, _| config["tools"][0]["input_schema"] = json!({"type": "array"}), "is not of type `object`"),
        (|_, config, _| config["tools"][0]["name"] = json!("../x"), "a tool that is called `../x`"),
        (|_, config, _| config["tools"][0]["description"] = "x".repeat(20_000).into(), "over the limit of 16384"),
        (|_, config, _| config["tools"][0]["output_schema"]["$comment"] = "x".repeat(70_000).into(), "limit of 65536"),
        (|_, config, _| config["license"] = "x".repeat(501).into(), "over the limit of 500"),
        (|_, config, _| (0..128).for_each(|_| again(&mut config["tools"], 0)), "129 tools, over the limit of 128"),
        (|_, config, _| config["x".repeat(1 << 20)] = json!(1), "(cut)"),
        (|_, config, _| config["surprise"] = json!(1), "unknown field `surprise`"),
        (|_, config, _| config["tools"][0]["input_schema"] = json!({"type": "object"}), "fetch.input.schema.json"),
        (|image, _, _| image["annotations"]["org.opencontainers.image.url"] = json!("https://evil"), "image.url"),
        (|image, _, layout| replace(image, layout, 3, b"{}"), "is not the one that the manifest has"),
        (|image, _, layout| replace(image, layout, 1, b"\xff"), "not UTF-8"),
        (|image, _, layout| replace(image, layout, 1, &vec![b'x'; (1 << 20) + 1]), "README has 1048577 bytes, over"),
        (|image, _, _| image["layers"][0]["size"] = json!(1), "its descriptor says 1"),
        (|image, _, _| image["config"]["mediaType"] = json!("application/json"), "`config.mediaType`"),
        (|image, _, _| image["layers"][0]["mediaType"] = json!("application/x-elf"), "is unknown or repeated"),
        (|image, _, _| titled(image, 0, "../plugin.wasm"), "the title `../plugin.wasm` cannot be the name of a file"),
        (|image, _, _| titled(image, 0, "/etc/cron.d/evil"), "the title `/etc/cron.d/evil` cannot be the name"),
        (|image, _, _| titled(image, 1, "docs\\README.md"), "cannot be the name of a file"),
        (|image, _, _| titled(image, 1, "C:README.md"), "cannot be the name of a file"),
        (|image, _, _| titled(image, 2, "LICENSE\nSigned by"), "the title `LICENSE\\nSigned by` cannot be the name"),
        (|image, _, _| titled(image, 2, "LI\u{200b}CENSE"), "the title `LI\\u{200b}CENSE` cannot be the name"),
        (|image, _, _| titled(image, 2, ".bashrc"), "cannot be the name of a file"),
        (|image, _, _| titled(image, 2, ""), "cannot be the name of a file"),
        (|image, _, _| titled(image, 2, &"x".repeat(256)), "cannot be the name of a file"),
        (
            |image, _, _| image["config"]["annotations"] = json!({"org.opencontainers.image.title": "../config.json"}),
            "the title `../config.json` cannot be the name of a file",
        ),
        (|image, _, _| image["layers"][0]["urls"] = json!(["https://evil"]), "unknown field `urls`"),
        (|image, _, _| again(&mut image["layers"], 0), "is unknown or repeated"),
        (|image, _, _| again(&mut image["layers"], 3), "is unknown or repeated"),
        (|image, _, _| image["layers"][0]["digest"] = json!("sha256:../../../etc/passwd"), "invalid digest"),
        (|image, _, _| image["layers"] = vec![image["layers"][0].clone(); 300].into(), "300 layers"),
        (|image, _, _| image["subject"] = image["config"].clone(), "`subject`"),
        (|image, _, _| image["schemaVersion"] = json!(1), "version 1"),
        (
            |image, _, _| image["artifactType"] = json!("application/vnd.evil"),
            "`artifactType` is `application/vnd.evil`",
        ),
        (
            |image, _, layout| {
                let blob = image["layers"][0]["digest"].as_str().expect("a digest").replace("sha256:", "");
                layout.remove(&format!("blobs/sha256/{blob}"));
            },
            "is missing",
        ),
        (|image, _, _| image["layers"] = json!([]), "is missing"),
        (
            |_, _, layout| {
                layout.insert(path(b"hidden"), b"hidden".to_vec());
            },
            "is not referenced",
        ),
        (
            |_, _, layout| {
                layout.insert("oci-layout".to_owned(), b"{\"imageLayoutVersion\":\"2.0.0\"}".to_vec());
            },
            "its version is `2.0.0`",
        ),
    ];
    for (number, (change, says)) in changes.iter().enumerate() {
        let error = refused(&forged(change));
        assert!(error.contains(says), "{number}: {error}");
        assert!(error.len() < 2000, "{number}: what is said of a bundle is bounded");
    }
}

// promise bundle.unique: No object in a manifest, an image manifest, an index or a layout has a key twice.
#[test]
fn bundle_with_a_key_twice_is_rejected_by_name() {
    let capability = "\"http\":{\"scope\":\"*\",\"reason\":\"to fetch\"}";
    let more = format!("{capability},\"http\":{{\"scope\":\"a.example\",\"reason\":\"r\"}}");
    let title = "\"org.opencontainers.image.title\":\"acme/fetch\"";
    let two_titles = format!("\"org.opencontainers.image.title\":\"acme/other\",{title}");
    let (version, versions) = ("\"schemaVersion\":2", "\"schemaVersion\":1,\"schemaVersion\":2");
    let (property, twice) = ("\"url\":{", "\"url\":{},\"url\":{");
    for (in_image, in_config, in_index, key) in [
        (KEPT, (capability, more.as_str()), KEPT, "capabilities.http"),
        (KEPT, (property, twice), KEPT, "tools.input_schema.properties.url"),
        (KEPT, ("\"license\":", "\"license\":\"MIT\",\"license\":"), KEPT, "license"),
        ((title, two_titles.as_str()), KEPT, KEPT, "annotations.org.opencontainers.image.title"),
        ((version, versions), KEPT, KEPT, "schemaVersion"),
        (KEPT, KEPT, (version, versions), "schemaVersion"),
    ] {
        let error = refused(&forged_text(|_, _, _| {}, in_image, in_config, in_index));
        assert!(error.contains(&format!("duplicate key `{key}`")), "{key}: {error}");
    }
    let mut layout = bundle().layout();
    let twice = b"{\"imageLayoutVersion\":\"1.0.0\",\"imageLayoutVersion\":\"1.0.0\"}".to_vec();
    layout.insert("oci-layout".to_owned(), twice);
    assert!(refused(&archive(&entries(&layout))).contains("duplicate key `imageLayoutVersion`"));
}

// promise bundle.consistent
#[test]
fn bundle_index_lists_only_one_plugin_and_its_signatures() {
    let mut signed = bundle();
    signed.sign(&SecretKey::without_password().expect("random numbers")).expect("signed");
    let index = |change: &dyn Fn(&mut Value)| {
        let mut layout = signed.layout();
        let mut index: Value = serde_json::from_slice(&layout["index.json"]).expect("JSON");
        change(&mut index);
        layout.insert("index.json".to_owned(), index.to_string().into_bytes());
        refused(&archive(&entries(&layout)))
    };
    for (error, says) in [
        (index(&|index| index["manifests"] = json!([])), "0 plugins"),
        (index(&|index| index["manifests"][1] = index["manifests"][0].clone()), "is not referenced"),
        (index(&|index| index["manifests"][1]["digest"] = OciDigest::of(b"").as_str().into()), "is missing"),
        (index(&|index| index["manifests"][1]["size"] = json!(3)), "its descriptor says 3"),
        (index(&|index| drop(index["manifests"].as_array_mut().expect("a list").pop())), "is not referenced"),
        (index(&|index| index["schemaVersion"] = json!(1)), "its version is 1"),
        (index(&|index| index["manifests"] = json!({})), "invalid type"),
    ] {
        assert!(error.contains(says), "{error}");
    }
}

// promise bundle.reading
#[test]
fn a_folder_is_read_as_an_archive_is_and_no_link_is_followed() {
    let bundle = bundle();
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    std::fs::create_dir_all(root.join("blobs/sha256")).expect("made");
    for (name, bytes) in bundle.layout() {
        std::fs::write(root.join(name), bytes).expect("written");
    }
    assert_eq!(Bundle::read(root).expect("it is whole").digest(), bundle.digest());
    let check = |says: &str| {
        let error = Bundle::read(root).map(|bundle| bundle.statement()).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    };
    // What lies beside is another artifact's, and no part of the bundle.
    std::fs::write(root.join(".hidden"), "x").expect("written");
    std::fs::create_dir(root.join("ingest")).expect("made");
    std::fs::write(root.join(path(b"hidden")), b"hidden").expect("written");
    assert_eq!(Bundle::read(root).expect("it is whole").to_archive(), bundle.to_archive());
    // A blob that was changed, is too large, or a link to the very same bytes.
    let blob = root.join(path(bundle.component()));
    std::fs::write(&blob, b"changed").expect("written");
    check("was changed");
    std::fs::File::options().write(true).open(&blob).and_then(|file| file.set_len(97 << 20)).expect("longer");
    check("larger than anything");
    std::fs::remove_file(&blob).expect("removed");
    let same = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(same.path(), bundle.component()).expect("written");
    symlink(same.path(), &blob).expect("a link");
    check(", a link");
    std::fs::remove_file(&blob).expect("removed");
    check("is missing");
    std::fs::write(&blob, bundle.component()).expect("written");
    let (blobs, moved) = (root.join("blobs"), root.join("moved"));
    std::fs::rename(&blobs, &moved).expect("moved");
    symlink(&moved, &blobs).expect("a link");
    check("`blobs`, a link");
    std::fs::remove_file(&blobs).expect("removed");
    std::fs::rename(&moved, &blobs).expect("moved");

    // A link to the very same bytes is a link.
    let index = root.join("index.json");
    let elsewhere = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(&index, elsewhere.path()).expect("copied");
    std::fs::remove_file(&index).expect("removed");
    symlink(elsewhere.path(), &index).expect("a link");
    check("`index.json`, a link");
    std::fs::remove_file(&index).expect("removed");
    rustix::fs::mkfifoat(rustix::fs::CWD, &index, rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe");
    check("`index.json`, a device, a pipe");
    std::fs::remove_file(&index).expect("removed");
    check("no `index.json`");
    assert!(Bundle::read(&root.join("nothing")).is_err());
}

// promise bundle.consistent
#[test]
fn bundle_from_a_registry_is_limited_before_the_download_and_checked_after_it() {
    let bundle = bundle();
    let wanted = Bundle::wanted(bundle.signed_bytes()).expect("it names what it has");
    let blobs: BTreeMap<&str, &[u8]> = bundle.blobs().map(|(digest, bytes)| (digest.as_str(), bytes)).collect();
    let fetched = || wanted.iter().map(|it| blobs[it.digest.as_str()].to_vec()).collect::<Vec<_>>();
    let again = Bundle::from_blobs(bundle.signed_bytes().to_vec(), fetched()).expect("it is whole");
    assert_eq!(again.to_archive(), bundle.to_archive());
    let mut other = fetched();
    other[1][20] ^= 1;
    let error = Bundle::from_blobs(bundle.signed_bytes().to_vec(), other).expect_err("changed").to_string();
    assert!(error.contains("is missing"), "{error}");

    let image: Value = serde_json::from_slice(bundle.signed_bytes()).expect("JSON");
    for (sizes, says) in
        [(vec![(96 << 20) + 1], "over the limit of 100663296"), (vec![60 << 20, 60 << 20], "104857600")]
    {
        let mut image = image.clone();
        for (layer, size) in sizes.into_iter().enumerate() {
            image["layers"][layer]["size"] = json!(size);
        }
        let error = Bundle::wanted(image.to_string().as_bytes()).expect_err("too large").to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(Bundle::wanted(&vec![b' '; (1 << 20) + 1]).expect_err("too large").to_string().contains("1048576"));
}

// promise bundle.consistent
#[test]
fn bundle_referrer_that_is_not_a_signature_of_it_is_rejected() {
    let mut signed = bundle();
    signed.sign(&SecretKey::without_password().expect("random numbers")).expect("signed");
    let referrer = &signed.referrers()[0];
    let layer = signed.signature_layer(&referrer.manifest).expect("it is one");
    assert_eq!(layer.digest, OciDigest::of(signed.signatures()[0].text().as_bytes()));
    let honest: Value = serde_json::from_slice(&referrer.manifest).expect("JSON");
    // The same in a file, whose index lists it.
    let listed = |manifest: &[u8]| {
        let mut layout = signed.layout();
        layout.remove(&path(&referrer.manifest));
        let mut index: Value = serde_json::from_slice(&layout["index.json"]).expect("JSON");
        index["manifests"][1]["digest"] = OciDigest::of(manifest).as_str().into();
        index["manifests"][1]["size"] = manifest.len().into();
        layout.insert("index.json".to_owned(), index.to_string().into_bytes());
        layout.insert(path(manifest), manifest.to_vec());
        archive(&entries(&layout))
    };
    let changed = |change: &dyn Fn(&mut Value), says: &str| {
        let mut manifest = honest.clone();
        change(&mut manifest);
        let manifest = manifest.to_string().into_bytes();
        let error = signed.signature_layer(&manifest).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
        listed(&manifest)
    };
    let check = |change: &dyn Fn(&mut Value), says: &str| {
        let error = refused(&changed(change, says));
        assert!(error.contains(says), "{error}");
    };
    // In a file it is another artifact's, and counts for nothing.
    let ignored = |change: &dyn Fn(&mut Value), says: &str| {
        let bundle = Bundle::read_archive(changed(change, says).as_slice()).expect("it is whole");
        assert!(bundle.digest() == signed.digest() && bundle.signatures().is_empty(), "{says}");
    };
    ignored(&|it| it["subject"]["digest"] = OciDigest::of(b"another").as_str().into(), "it refers to `sha256:");
    ignored(&|it| drop(it.as_object_mut().expect("an object").remove("subject")), "it refers to nothing");
    ignored(&|it| it["artifactType"] = json!("application/vnd.evil"), "it is `application/vnd.evil`");
    check(&|it| it["subject"]["size"] = json!(1), "it refers to `sha256:");
    check(&|it| it["config"]["mediaType"] = json!("application/vnd.evil"), "its configuration is");
    check(&|it| it["layers"][0]["mediaType"] = json!("application/wasm"), "its layer is `application/wasm`");
    check(&|it| it["layers"][0]["size"] = json!(5000), "over the limit of 4096");
    check(&|it| it["layers"][0]["digest"] = json!("md5:0"), "invalid digest `md5:0`");
    check(&|it| again(&mut it["layers"], 0), "it has 2 layers");
    check(&|it| it["layers"] = json!([]), "it has 0 layers");
    let other = Bundle::pack(Parts { readme: None, ..parts() }).expect("packed");
    assert!(other.signature_layer(&referrer.manifest).is_err(), "it is of another bundle");
}

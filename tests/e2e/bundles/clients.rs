//! Other clients of registries: skopeo copies a plugin and its signatures to another registry and into layouts; what
//! oras and crane write is made here, in the same format.

use std::process::Command;

use host_bundle::{Bundle, OciDigest, PreferredKeys};
use host_registry::{LatestTag, Registry};
use host_tests::host::{Ended, Host};
use host_tests::registry::DockerRegistry;
use host_tests::server::{Answer, Server};
use host_tests::{debian, outcome_snapshot};
use serde_json::{Value, json};

use super::registry::{anonymous, downloads, quiet, reference};
use crate::publisher::{Publisher, READS, file, trust};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

/// Runs skopeo, which has to work.
#[track_caller]
fn skopeo(arguments: &[&str]) {
    let mut command: Command = debian::program("skopeo").expect("it can be had").command();
    command.args(["--insecure-policy", "copy", "--src-tls-verify=false", "--dest-tls-verify=false"]);
    let ended = command.args(arguments).output().expect("it starts");
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn fallback(bundle: &Bundle) -> String {
    bundle.digest().as_str().replace(':', "-")
}

#[track_caller]
fn done(host: &Host, arguments: &[&str]) -> Ended {
    let ended = host.run_of(arguments);
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    ended
}

// promise install.mirrored: A bundle that another client mirrored is installed with its signatures, from a registry
//   with or without the referrers API, and from an OCI layout.
#[tokio::test]
async fn plugin_that_skopeo_mirrored_is_installed_by_its_signature() {
    let (from, to, acme) = (DockerRegistry::start(false), DockerRegistry::start(false), Publisher::new("acme"));
    let host = Host::new(["plugin"]);
    trust(&host, &acme);
    let bundle = acme.signed("1.0.0", READS).await;
    done(&host, &["plugin", "push", &file(&host, "counts.tar", &bundle), &from.name("acme/counts")]);
    let source = |tag: &str| format!("docker://{}:{tag}", from.name("acme/counts"));
    let mirror = to.name("mirror/counts");
    let signatures = fallback(&bundle);
    skopeo(&[&source("1.0.0"), &format!("docker://{mirror}:1.0.0")]);
    // Without what refers to it, it is as unsigned as it arrived.
    let ended = host.run_of(&["plugin", "install", &format!("{mirror}:1.0.0"), "--yes"]);
    assert!(ended.code == Some(55) && ended.stderr.contains("it is not signed"), "{ended:?}");
    skopeo(&["--all", &source(&signatures), &format!("docker://{mirror}:{signatures}")]);
    let ended = done(&host, &["plugin", "install", &format!("{mirror}:1.0.0"), "--yes"]);
    assert!(ended.stdout.contains(&format!("Signed by {}", acme.id())), "{ended:?}");

    // A signature that is added there keeps what the other client listed.
    let mut again = bundle.clone();
    acme.sign(&mut again);
    anonymous().push(&reference(&format!("{mirror}:1.0.0")), &again, &quiet).await.expect("pushed");
    let pulled = anonymous()
        .pull(&reference(&format!("{mirror}:1.0.0")), &PreferredKeys::default(), &quiet)
        .await
        .expect("pulled");
    assert_eq!(pulled.signatures(), again.signatures());
    assert!(pulled.signatures().contains(&bundle.signatures()[0]));

    // Into a layout, beside another version of it.
    let second = acme.signed("1.1.0", READS).await;
    done(&host, &["plugin", "push", &file(&host, "counts.tar", &second), &from.name("acme/counts")]);
    let layout = host.repository().join("layout");
    let at = |name: &str| format!("oci:{}:{name}", layout.display());
    skopeo(&[&source("1.0.0"), &at("1.0.0")]);
    skopeo(&["--all", &source(&signatures), &at(&signatures)]);
    let ended = done(&host, &["plugin", "verify", "layout"]);
    assert!(ended.stdout.contains("acme/counts") && ended.stdout.contains(&acme.id()), "{ended:?}");
    skopeo(&[&source("1.1.0"), &at("1.1.0")]);
    skopeo(&["--all", &source(&fallback(&second)), &at(&fallback(&second))]);
    let ended = host.run_of(&["plugin", "verify", "layout"]);
    outcome_snapshot!(ended, @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: cannot read the bundle `layout`
      caused by: it lists 2 plugins, `1.0.0`, `1.1.0`; choose one, as oci:PATH:NAME
    ");
    done(&host, &["plugin", "verify", "oci:layout:1.1.0"]);
    let ended = host.run_of(&["plugin", "sign", "oci:layout:1.1.0", "--signature", "none.minisig"]);
    assert!(ended.code == Some(42) && ended.stderr.contains("a signature is added to a file"), "{ended:?}");
    let ended = done(&host, &["plugin", "install", "oci:layout:1.1.0", "--yes"]);
    assert!(ended.stdout.contains("Installed `acme/counts` 1.1.0"), "{ended:?}");
    let list = std::fs::read_to_string(host.repository().join(".host/plugins.lock")).expect("it is there");
    assert!(list.contains(&format!("source = \"{}\"", at("1.1.0"))), "{list}");
    let lacks = host.run_of(&["plugin", "verify", "oci:layout:2.0.0"]);
    assert!(lacks.code == Some(42) && lacks.stderr.contains("no plugin as `2.0.0`"), "{lacks:?}");

    // And into an archive, which has no signature then.
    let archive = host.repository().join("archive.tar");
    skopeo(&[&source("1.1.0"), &format!("oci-archive:{}:1.1.0", archive.display())]);
    let read = Bundle::read(&archive).expect("it is a bundle");
    assert_eq!((read.digest(), read.signatures().len()), (second.digest(), 0));
}

/// A registry with a bundle, whose answers to requests for referrers and for the tag of the digest are these.
async fn lists(bundle: &Bundle, referrers: Answer, tag: Answer) -> Server {
    let mut blobs: Vec<(String, Vec<u8>)> =
        bundle.blobs().map(|(digest, bytes)| (digest.to_string(), bytes.to_vec())).collect();
    blobs.push((bundle.digest().to_string(), bundle.signed_bytes().to_vec()));
    blobs.push(("1.0.0".to_owned(), bundle.signed_bytes().to_vec()));
    for referrer in bundle.referrers() {
        blobs.extend(referrer.blobs.iter().map(|blob| (OciDigest::of(blob).to_string(), blob.clone())));
        blobs.push((OciDigest::of(&referrer.manifest).to_string(), referrer.manifest));
    }
    let tagged = fallback(bundle);
    Server::start(move |request| {
        let name = request.path.rsplit('/').next().unwrap_or_default();
        if request.path.contains("/referrers/") {
            return referrers.clone();
        }
        if name == tagged {
            return tag.clone();
        }
        let found = blobs.iter().find(|(known, _)| known == name);
        found.map_or_else(|| Answer::status(404, ""), |(_, bytes)| Answer::ok(bytes))
    })
    .await
}

/// The descriptor of the signature of a bundle, with these fields in addition.
fn listed(bundle: &Bundle, more: &Value) -> Value {
    let manifest = &bundle.referrers()[0].manifest;
    let mut descriptor = json!({"mediaType": IMAGE, "digest": OciDigest::of(manifest), "size": manifest.len()});
    for (key, value) in more.as_object().expect("fields") {
        descriptor[key] = value.clone();
    }
    descriptor
}

fn list(manifests: &[&Value]) -> Answer {
    Answer::ok(json!({"schemaVersion": 2, "manifests": manifests, "annotations": null, "more": 1}).to_string())
}

// promise install.mirrored
#[tokio::test]
async fn signature_is_found_in_every_list_that_other_clients_keep() {
    let acme = Publisher::new("acme");
    let bundle = acme.signed("1.0.0", READS).await;
    let typed = json!({
        "artifactType": "application/vnd.host.plugin.signature.v1", "annotations": {"created": "2026"}, "data": "e30=",
    });
    let (typed, untyped) = (listed(&bundle, &typed), listed(&bundle, &json!({})));
    let other = listed(&bundle, &json!({"artifactType": "application/spdx+json"}));
    let strange = json!({"mediaType": IMAGE, "digest": OciDigest::of(b"gone"), "size": 4});
    let none = || Answer::status(404, "");
    for (referrers, tag, count) in [
        (list(&[&typed]), none(), 1),
        (none(), list(&[&typed]), 1),
        (none(), list(&[&untyped, &strange]), 1),
        (Answer::status(405, ""), list(&[&untyped]), 1),
        // It has the API, and does not have what was mirrored before it had.
        (list(&[]), list(&[&untyped]), 1),
        (Answer::ok("{\"schemaVersion\": 2, \"manifests\": null}"), list(&[&untyped]), 1),
        (list(&[&typed]), list(&[&untyped]), 1),
        (list(&[&other]), none(), 0),
        (none(), none(), 0),
    ] {
        let server = lists(&bundle, referrers, tag).await;
        let place = reference(&format!("127.0.0.1:{}/acme/counts:1.0.0", server.port()));
        let pulled = anonymous().pull(&place, &PreferredKeys::default(), &quiet).await.expect("pulled");
        assert_eq!(pulled.signatures().len(), count);
        assert_eq!(pulled.digest(), bundle.digest());
    }
    // A list of a registry has pages, which stay at the registry.
    let pages = |link: String| list(&[]).header("link", &link);
    let server = lists(&bundle, pages("<http://192.0.2.1/next>; rel=\"next\"".to_owned()), none()).await;
    let place = reference(&format!("127.0.0.1:{}/acme/counts:1.0.0", server.port()));
    let error =
        anonymous().pull(&place, &PreferredKeys::default(), &quiet).await.expect_err("it leads elsewhere").to_string();
    assert!(error.contains("its next page is at `http://192.0.2.1/next`"), "{error}");
    let server = lists(&bundle, pages("</v2/acme/counts/referrers/again>; rel=next".to_owned()), none()).await;
    let place = reference(&format!("127.0.0.1:{}/acme/counts:1.0.0", server.port()));
    anonymous()
        .pull(&place, &PreferredKeys::default(), &quiet)
        .await
        .expect("pages without end are not read without end");
    let asked = server.requests().iter().filter(|request| request.path.contains("/referrers/")).count();
    assert_eq!(asked, 32);
    // Lists without end of what may be a signature.
    let many: Vec<Value> =
        (0..65_u8).map(|number| json!({"mediaType": IMAGE, "digest": OciDigest::of(&[number]), "size": 1})).collect();
    let server = lists(&bundle, none(), list(&many.iter().collect::<Vec<_>>())).await;
    let place = reference(&format!("127.0.0.1:{}/acme/counts:1.0.0", server.port()));
    let pulled = anonymous().pull(&place, &PreferredKeys::default(), &quiet).await.expect("others cannot block it");
    assert_eq!((pulled.signatures().len(), pulled.unread_signatures()), (0, 1));
}

// promise install.tags: A release is pushed under its version and as `latest`, unless a newer one is; a pre-release
//   under its version alone; a tag that was written is the only one.
#[tokio::test]
async fn push_moves_latest_to_the_newest_release() {
    let (server, acme) = (DockerRegistry::start(false), Publisher::new("acme"));
    let place = reference(&server.name("acme/counts"));
    let registry = Registry::new(None, downloads()).expect("a client");
    let newest = |version: &str| LatestTag::Newer(version.parse().expect("a version"));
    for (version, tag, latest) in [
        ("1.0.0-rc.1", None, LatestTag::Untouched),
        ("1.0.0", None, LatestTag::Moved),
        ("2.0.0-rc.1", None, LatestTag::Untouched),
        ("2.0.0", None, LatestTag::Moved),
        ("1.0.1", None, newest("2.0.0")),
        ("2.0.0", None, LatestTag::Moved),
        ("3.0.0", Some("testing"), LatestTag::Untouched),
    ] {
        let bundle = acme.signed(version, READS).await;
        let to = tag.map_or(place.clone(), |tag| place.clone().or_tag(tag));
        let pushed = registry.push(&to, &bundle, &quiet).await.expect("pushed");
        assert_eq!((pushed.latest, pushed.reference.tag()), (latest, Some(tag.unwrap_or(version))), "{version}");
    }
    // It was pushed twice, each time with a signature of its own.
    let latest = registry.pull(&place, &PreferredKeys::default(), &quiet).await.expect("pulled");
    assert_eq!((latest.manifest().version.to_string(), latest.signatures().len()), ("2.0.0".to_owned(), 2));
}

// promise install.versions: `plugin versions` lists what a repository has, the newest first, with tags and digests.
#[tokio::test]
async fn versions_of_a_repository_are_listed_with_their_tags_and_digests() {
    let (server, acme) = (DockerRegistry::start(false), Publisher::new("acme"));
    let (host, place) = (Host::new(["plugin"]), server.name("acme/counts"));
    let mut digests = Vec::new();
    for version in ["1.9.0", "1.10.0", "2.0.0-rc.1"] {
        let bundle = acme.signed(version, READS).await;
        let ended = done(&host, &["plugin", "push", &file(&host, "counts.tar", &bundle), &place]);
        let says = "`latest` is this version now";
        assert_eq!(ended.stdout.contains(says), version != "2.0.0-rc.1", "{ended:?}");
        digests.push(bundle.digest().to_string());
    }
    let ended = done(&host, &["plugin", "push", &file(&host, "old.tar", &acme.signed("1.9.1", READS).await), &place]);
    assert!(ended.stdout.contains("`latest` stays at 1.10.0, which is newer"), "{ended:?}");
    let ended = done(&host, &["plugin", "versions", &place]);
    let expected = format!(
        "acme/counts 2.0.0-rc.1  2.0.0-rc.1\n  {}\nacme/counts 1.10.0  1.10.0, latest\n  {}\nacme/counts 1.9.1  1.9.1\n",
        digests[2], digests[1]
    );
    assert!(ended.stdout.starts_with(&expected) && !ended.stdout.contains("sha256-"), "{ended:?}");
    let json: Value =
        serde_json::from_str(&done(&host, &["plugin", "versions", &place, "--json"]).stdout).expect("JSON");
    let second =
        json!({"plugin": "acme/counts", "version": "1.10.0", "tags": ["1.10.0", "latest"], "digest": digests[1]});
    assert_eq!((json.as_array().map(Vec::len), &json[1]), (Some(4), &second));

    // It is what `install` takes.
    trust(&host, &acme);
    let ended = done(&host, &["plugin", "install", &place, "--yes"]);
    assert!(ended.stdout.contains("Installed `acme/counts` 1.10.0"), "{ended:?}");

    let ended = host.run_of(&["plugin", "install", &format!("{place}:7.0.0"), "--yes"]);
    assert!(ended.stderr.contains(&format!("help: `host plugin versions {place}` lists what it has")), "{ended:?}");
    for (reference, code, says) in [
        (format!("{place}:latest"), 42, "name the repository alone"),
        (server.name("acme/none"), 42, "has no `acme/none`"),
        ("nothing".to_owned(), 42, "names no registry"),
    ] {
        let ended = host.run_of(&["plugin", "versions", &reference]);
        assert!(ended.code == Some(code) && ended.stderr.contains(says), "{reference}: {ended:?}");
    }
}

// promise install.versions
#[tokio::test]
async fn versions_of_a_hostile_registry_are_bounded_and_escaped() {
    let acme = Publisher::new("acme");
    let image = acme.bundle("1.0.0", READS).await.signed_bytes().to_vec();
    let odd = String::from_utf8(image.clone()).expect("JSON").replace("acme/counts", "a\\u001b[2Jb");
    let server = Server::start(move |request| match request.path.as_str() {
        path if path.starts_with("/v2/acme/endless/tags") => Answer::ok(vec![b' '; 1 << 16]).endless(),
        path if path.starts_with("/v2/acme/many/tags") => {
            let tags: Vec<String> = (0..1_200).map(|number| format!("t{number}")).collect();
            Answer::ok(json!({ "tags": tags }).to_string())
        }
        path if path.starts_with("/v2/acme/counts/tags") => {
            Answer::ok(json!({"name": "acme/counts", "tags": ["1", "\u{1b}[2J", "../x", "image", "gone"]}).to_string())
        }
        path if path.ends_with("/manifests/1") => Answer::ok(&odd),
        path if path.ends_with("/manifests/gone") => Answer::status(404, ""),
        _ => Answer::ok("{}"),
    })
    .await;
    let host = Host::new(["plugin"]);
    let at = |name: &str| format!("127.0.0.1:{}/acme/{name}", server.port());
    let run = |arguments: Vec<String>| {
        let mut command = host.command_of(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(move || command.output().expect("it ends"))
    };
    let ended = run(vec!["plugin".into(), "versions".into(), at("counts")]).await.expect("it ran");
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success() && !shown.contains('\u{1b}') && shown.contains("not a plugin  image"), "{shown}");
    assert!(!shown.contains("gone") && !shown.contains(".."), "{shown}");
    let ended = run(vec!["plugin".into(), "versions".into(), at("many"), "--json".into()]).await.expect("it ran");
    let rows: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    assert_eq!(rows[0]["tags"].as_array().map(Vec::len), Some(1_000));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("has more tags than are listed"), "{ended:?}");
    let ended = run(vec!["plugin".into(), "versions".into(), at("endless")]).await.expect("it ran");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("sent more than 1048576 bytes"), "{ended:?}");
}

//! Bundles in a real registry, and what a registry that means ill can do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_bundle::{Bundle, MAX_SIGNATURES, OciDigest, Parts, PreferredKeys, SecretKey, Signature, Trust};
use host_registry::{Login, Pace, Reference, Registry, RegistryError, Transfer, download};
use host_tests::registry::{DockerRegistry, LOGIN};
use host_tests::repository;
use host_tests::server::{Answer, Request, Server};
use serde_json::json;

pub(super) fn bundle() -> Bundle {
    let mut manifest = host_tests::built_in_manifest("ls");
    manifest.name = "acme/ls".to_owned();
    manifest.description = Some("Lists a folder.".to_owned());
    let component = std::fs::read(repository().join("plugins/dist/ls.wasm")).expect("it is built");
    Bundle::pack(Parts { manifest, component, readme: Some(b"# ls\n".to_vec()), license: None }).expect("packed")
}

fn key() -> SecretKey {
    SecretKey::without_password().expect("made")
}

pub(super) fn reference(text: &str) -> Reference {
    text.parse().expect("a reference")
}

pub(super) fn downloads() -> PathBuf {
    tempfile::tempdir().expect("a folder").keep()
}

pub(super) fn anonymous() -> Registry {
    Registry::new(None, downloads()).expect("a client")
}

/// The keys of a user who trusts this one for the plugins of `acme`.
fn preferring(key: &SecretKey) -> PreferredKeys {
    let (mut trust, now) = (Trust::default(), "2026-01-01T00:00:00Z".parse().expect("a time"));
    let pattern = "acme/*".parse().expect("a pattern");
    trust.trust(key.public().clone(), vec![pattern], None, now).expect("trusted");
    trust.preferred(now)
}

fn login(user: &str, password: &str) -> Registry {
    let login = Login::Password { user: user.to_owned(), password: password.to_owned() };
    Registry::new(Some(login), downloads()).expect("a client")
}

pub(super) fn quiet(_: Transfer) {}

#[tokio::test]
async fn a_bundle_comes_back_from_a_real_registry_with_its_signatures() {
    let server = DockerRegistry::start(false);
    let mut bundle = bundle();
    bundle.sign(&key()).expect("signed");
    let place = reference(&server.name("acme/ls"));
    let pushed = anonymous().push(&place, &bundle, &quiet).await.expect("pushed").reference;
    assert_eq!(pushed.to_string(), format!("{}:0.1.0@{}", server.name("acme/ls"), bundle.digest()));

    for which in [place.clone().or_tag("0.1.0"), pushed.clone()] {
        let pulled = anonymous().pull(&which, &PreferredKeys::default(), &quiet).await.expect("pulled");
        assert_eq!((pulled.digest(), pulled.signatures()), (bundle.digest(), bundle.signatures()));
        assert_eq!(pulled.component(), bundle.component());
    }
    // Another signature is added to what is there, and what was there stays.
    let mut again = anonymous().pull(&pushed, &PreferredKeys::default(), &quiet).await.expect("pulled");
    again.sign(&key()).expect("signed");
    anonymous().push(&place, &again, &quiet).await.expect("pushed");
    let pulled = anonymous().pull(&pushed, &PreferredKeys::default(), &quiet).await.expect("pulled");
    assert_eq!((pulled.signatures().len(), pulled.digest()), (2, bundle.digest()));

    let error = anonymous()
        .pull(&reference(&server.name("acme/other:1")), &PreferredKeys::default(), &quiet)
        .await
        .expect_err("it is not there");
    assert!(matches!(error, RegistryError::NotFound { .. }), "{error}");
}

// promise bundle.crowd
#[tokio::test]
async fn registry_crowd_of_signatures_does_not_hide_those_of_preferred_keys() {
    let server = DockerRegistry::start(false);
    let place = reference(&server.name("acme/ls:1"));
    let (acme, stranger) = (key(), key());
    let mut signed = bundle();
    signed.sign(&acme).expect("signed");
    anonymous().push(&place, &signed, &quiet).await.expect("pushed");
    let mut crowd = bundle();
    while crowd.signatures().len() < MAX_SIGNATURES {
        crowd.sign(&stranger).expect("signed");
    }
    anonymous().push(&place, &crowd, &quiet).await.expect("pushed");

    let preferred = preferring(&acme);
    let pulled = anonymous().pull(&place, &preferred, &quiet).await.expect("pulled");
    assert_eq!((pulled.signatures().len(), pulled.unread_signatures()), (MAX_SIGNATURES, 1));
    let is_theirs = |signature: &Signature| signature.key_id() == Ok(acme.public().id());
    assert!(pulled.signatures().iter().any(is_theirs), "it is looked at first");
}

/// What lists a manifest that refers to a bundle.
fn listed(referrer: &host_bundle::Referrer) -> serde_json::Value {
    json!({
        "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": host_bundle::SIGNATURE_TYPE,
        "digest": OciDigest::of(&referrer.manifest).as_str(), "size": referrer.manifest.len(),
        "annotations": referrer.annotations,
    })
}

// promise bundle.crowd
#[tokio::test]
async fn registry_forged_signatures_of_a_trusted_key_do_not_hide_its_own() {
    let acme = key();
    let mut signed = bundle();
    signed.sign(&acme).expect("signed");
    let honest = signed.referrers().remove(0);
    let [untrusted, signature, rest] = signed.signatures()[0].text().splitn(3, '\n').collect::<Vec<_>>()[..] else {
        panic!("a signature has four lines")
    };
    // They name the key and the bundle, and differ from the honest one in a few bytes of the signature.
    let unsigned = bundle();
    let forged = (0..300).map(|number| {
        let changed = format!("{}{number:04}{}", &signature[..40], &signature[44..]);
        let text = format!("{untrusted}\n{changed}\n{rest}");
        let mut forged = unsigned.clone();
        forged.add_signature(Signature::new(text).expect("short")).expect("added");
        forged.referrers().remove(0)
    });
    let referrers: Vec<_> = forged.chain([honest]).collect();
    let mut served: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for bytes in referrers.iter().flat_map(|referrer| [&referrer.manifest].into_iter().chain(&referrer.blobs)) {
        served.insert(OciDigest::of(bytes).to_string(), bytes.clone());
    }
    let list = json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": referrers.iter().map(listed).collect::<Vec<_>>(),
    });
    let server = listing(&signed, list.to_string(), served).await;
    let place = reference(&format!("127.0.0.1:{}/acme/ls:1", server.port()));
    let pulled = anonymous().pull(&place, &preferring(&acme), &quiet).await.expect("pulled");
    assert!(pulled.signatures().contains(&signed.signatures()[0]), "the honest one is among them");
    let counted = (pulled.signatures().len(), pulled.left_out_signatures(), pulled.unread_signatures());
    assert_eq!(counted, (MAX_SIGNATURES, 301 - MAX_SIGNATURES, 0));
    // Nobody looks for the signature of a key that is not trusted.
    let pulled = anonymous().pull(&place, &PreferredKeys::default(), &quiet).await.expect("pulled");
    assert_eq!((pulled.left_out_signatures(), pulled.unread_signatures()), (0, 301 - MAX_SIGNATURES));
}

// promise bundle.crowd
#[tokio::test]
async fn registry_referrer_that_is_not_a_signature_is_passed_over_and_counted() {
    let acme = key();
    let mut signed = bundle();
    signed.sign(&acme).expect("signed");
    let descriptor = |bytes: &[u8]| {
        json!({
            "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": host_bundle::SIGNATURE_TYPE,
            "digest": OciDigest::of(bytes).as_str(), "size": bytes.len(),
        })
    };
    let referrer = signed.referrers().remove(0);
    let honest: serde_json::Value = serde_json::from_slice(&referrer.manifest).expect("JSON");
    // What a stranger adds: no manifest at all, one of another bundle, one whose text has another size, one that is
    // gone.
    let mut wrong_size = honest.clone();
    wrong_size["layers"][0]["size"] = json!(1);
    let mut other = honest.clone();
    other["subject"]["digest"] = json!(OciDigest::of(b"another").as_str());
    let strange = [b"{}".to_vec(), wrong_size.to_string().into_bytes(), other.to_string().into_bytes()];
    let mut served: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for bytes in strange.iter().chain([&referrer.manifest]).chain(&referrer.blobs) {
        served.insert(OciDigest::of(bytes).to_string(), bytes.clone());
    }
    let listed: Vec<_> = strange
        .iter()
        .map(|bytes| descriptor(bytes))
        .chain([descriptor(b"gone"), descriptor(&referrer.manifest)])
        .collect();
    let list = json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": listed,
    });
    let server = listing(&signed, list.to_string(), served).await;
    let pulled = pull(&server, &anonymous()).await.expect("pulled");
    assert_eq!((pulled.signatures(), pulled.unread_signatures()), (signed.signatures(), 4));
}

// promise install.login
#[tokio::test]
async fn registry_login_is_sent_only_to_the_registry_that_wants_it() {
    let server = DockerRegistry::start(true);
    let place = reference(&server.name("acme/ls:1"));
    for (who, words) in [(anonymous(), "without a login"), (login(LOGIN.0, "wrong"), "this login")] {
        let error = who.push(&place, &bundle(), &quiet).await.expect_err("it may not").to_string();
        assert!(error.contains(words) && error.contains("docker login"), "{error}");
    }
    let somebody = login(LOGIN.0, LOGIN.1);
    somebody.push(&place, &bundle(), &quiet).await.expect("pushed");
    assert_eq!(
        somebody.pull(&place, &PreferredKeys::default(), &quiet).await.expect("pulled").digest(),
        bundle().digest()
    );
}

/// A registry that has a bundle, answers with this list of what refers to it, and has these manifests and blobs
/// besides.
async fn listing(bundle: &Bundle, list: String, served: BTreeMap<String, Vec<u8>>) -> Server {
    evil(bundle, move |request, honest| {
        let name = request.path.rsplit('/').next().unwrap_or_default();
        match (request.path.contains("/referrers/"), served.get(name)) {
            (true, _) => Answer::ok(&list),
            (false, Some(bytes)) => Answer::ok(bytes),
            (false, None) => honest,
        }
    })
    .await
}

/// A registry that has a bundle, and answers as it likes.
pub(super) async fn evil(
    bundle: &Bundle,
    answer: impl Fn(&Request, Answer) -> Answer + Send + Sync + 'static,
) -> Server {
    let mut blobs: BTreeMap<String, Vec<u8>> =
        bundle.blobs().map(|(digest, bytes)| (digest.to_string(), bytes.to_vec())).collect();
    blobs.insert(bundle.digest().to_string(), bundle.signed_bytes().to_vec());
    let tagged = bundle.signed_bytes().to_vec();
    Server::start(move |request| {
        let name = request.path.rsplit('/').next().unwrap_or_default();
        let range =
            request.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        let honest = match (request.path.contains("/referrers/"), name, blobs.get(name), range) {
            (true, ..) => Answer::status(404, ""),
            (_, "1", ..) => Answer::ok(&tagged),
            (_, _, Some(bytes), None) => Answer::ok(bytes),
            (_, _, Some(bytes), Some(from)) => Answer::ok(bytes.get(from..).unwrap_or_default()).with_status(206),
            (_, _, None, _) => Answer::status(404, ""),
        };
        answer(request, honest)
    })
    .await
}

async fn pull(server: &Server, registry: &Registry) -> Result<Bundle, RegistryError> {
    registry
        .pull(&reference(&format!("127.0.0.1:{}/acme/ls:1", server.port())), &PreferredKeys::default(), &quiet)
        .await
}

/// What comes of a registry that answers so for the component.
async fn with_component(answer: impl Fn(Answer) -> Answer + Send + Sync + 'static) -> Result<Bundle, RegistryError> {
    let bundle = bundle();
    let component = bundle.component_digest().to_string();
    let server =
        evil(&bundle, move |request, honest| if request.path.ends_with(&component) { answer(honest) } else { honest })
            .await;
    pull(&server, &anonymous()).await
}

#[tokio::test]
async fn a_registry_that_is_honest_is_taken_at_its_word() {
    let pulled = with_component(|honest| honest).await.expect("pulled");
    assert_eq!(pulled.digest(), bundle().digest());
}

// promise install.server: A server's answer is limited and must be what was requested; an interrupted download
//   resumes, and a part that belongs to another bundle is detected.
#[tokio::test]
async fn a_registry_that_serves_something_else_is_refused() {
    let mut other = bundle().component().to_vec();
    *other.last_mut().expect("it has bytes") ^= 1;
    let error = with_component(move |_| Answer::ok(&other)).await.expect_err("it is another");
    assert!(matches!(error, RegistryError::Changed { .. }), "{error}");
    let error = with_component(|_| Answer::status(404, "")).await.expect_err("it is not there");
    assert!(matches!(error, RegistryError::NotFound { .. }), "{error}");
    let error = with_component(|_| Answer::status(500, &"x".repeat(9_000))).await.expect_err("it is broken");
    assert!(matches!(&error, RegistryError::Status { status: 500, words, .. } if words.len() == 300), "{error}");

    // A manifest that was asked for by its digest is that one.
    let bundle = bundle();
    let server = evil(
        &bundle,
        |request, honest| {
            if request.path.contains("/manifests/sha256:") { Answer::ok("{}") } else { honest }
        },
    )
    .await;
    let pinned = reference(&format!("127.0.0.1:{}/acme/ls@{}", server.port(), bundle.digest()));
    let error = anonymous().pull(&pinned, &PreferredKeys::default(), &quiet).await.expect_err("it is another");
    assert!(matches!(error, RegistryError::Changed { .. }), "{error}");
}

// promise install.server
#[tokio::test]
async fn registry_endless_response_is_cut_off() {
    let error = with_component(|_| Answer::ok(vec![7; 1 << 16]).endless()).await.expect_err("it never ends");
    assert!(matches!(error, RegistryError::TooLarge { .. }), "{error}");
    for path in ["/manifests/1", "/referrers/"] {
        let server = evil(&bundle(), move |request, honest| {
            if request.path.contains(path) { Answer::ok(vec![b' '; 1 << 16]).endless() } else { honest }
        })
        .await;
        let error = pull(&server, &anonymous()).await.expect_err("it never ends");
        assert!(matches!(error, RegistryError::TooLarge { .. }), "{path}: {error}");
    }
    // An error without end is told in a line.
    let error = with_component(|_| Answer::status(500, "words ").endless()).await.expect_err("it never ends");
    assert!(matches!(error, RegistryError::Status { .. }), "{error}");
    // Nor does a token.
    let server = Server::start(|request| match request.path.starts_with("/token") {
        true => Answer::ok(vec![b' '; 1 << 16]).endless(),
        false => Answer::status(401, "").header(
            "www-authenticate",
            &format!("Bearer realm=\"http://{}/token\"", request.header("host").unwrap_or_default()),
        ),
    })
    .await;
    let error = pull(&server, &anonymous()).await.expect_err("it never ends");
    assert!(matches!(error, RegistryError::TooLarge { .. }), "{error}");
}

/// A server that answers with one byte after the other where this says so, and as this does elsewhere.
async fn dripping(
    drips: impl Fn(&Request) -> bool + Send + Sync + 'static,
    status: u16,
    elsewhere: Option<&Bundle>,
) -> Server {
    let slow = move |request: &Request, honest: Answer| match drips(request) {
        true => Answer::status(status, " ").dripping(),
        false => honest,
    };
    match elsewhere {
        Some(bundle) => evil(bundle, slow).await,
        None => Server::start(move |request| slow(request, Answer::status(404, ""))).await,
    }
}

// promise install.slow: A pull, push, list or download from a server that answers byte by byte, also with an error, is
//   ended after a time that grows with the declared size; the message names the server and what was transferred.
#[tokio::test]
async fn registry_that_answers_byte_by_byte_is_ended_in_time() {
    let bundle = bundle();
    let component = bundle.component_digest().to_string();
    // What comes before the slow answer has time, and the component has next to none of its own.
    let pace = Pace { base: Duration::from_secs(3), slowest: u32::MAX };
    let of_pull = async |path: &str, status: u16, what: String| {
        let slow = path.to_owned();
        let server = dripping(move |request| request.path.contains(&slow), status, Some(&bundle)).await;
        (server.port(), pull(&server, &anonymous().with_pace(pace)).await.map(drop), what)
    };
    let of_tags = async |path: &str, status: u16| {
        let slow = path.to_owned();
        let server = dripping(move |request| request.path.contains(&slow), status, Some(&bundle)).await;
        let place = reference(&format!("127.0.0.1:{}/acme/ls", server.port()));
        let listed = anonymous().with_pace(pace).tags(&place).await;
        (server.port(), listed.map(drop), "the tags of `acme/ls`".to_owned())
    };
    let of_index = async {
        let server = dripping(|_| true, 500, None).await;
        let place = reference(&format!("127.0.0.1:{}/acme/index:1", server.port()));
        let pulled = anonymous().with_pace(pace).pull_index(&place).await;
        (server.port(), pulled.map(drop), "the index".to_owned())
    };
    let of_push = async {
        let server = dripping(|request| request.method == "POST", 500, None).await;
        let place = reference(&format!("127.0.0.1:{}/acme/ls:1", server.port()));
        let pushed = anonymous().with_pace(pace).push(&place, &bundle, &quiet).await;
        (server.port(), pushed.map(drop), "the blob sha256:".to_owned())
    };
    let of_download = async {
        let server = dripping(|_| true, 200, None).await;
        let came = download(&server.url("/ls.tar"), bundle.digest(), &downloads(), pace, &quiet).await;
        (server.port(), came.map(drop), format!("the bundle {}", bundle.digest()))
    };
    let (manifest, blob, signatures, failed, unlisted, tags, broken, index, pushed, downloaded) = tokio::join!(
        of_pull("/manifests/1", 200, "the manifest `1`".to_owned()),
        of_pull(&component, 200, format!("the blob {component}")),
        of_pull("/referrers/", 200, "the list of signatures".to_owned()),
        of_pull(&component, 500, format!("the blob {component}")),
        of_pull("/referrers/", 500, "the list of signatures".to_owned()),
        of_tags("/tags/list", 200),
        of_tags("/tags/list", 500),
        of_index,
        of_push,
        of_download,
    );
    for (port, ended, what) in [manifest, blob, signatures, failed, unlisted, tags, broken, index, pushed, downloaded] {
        let error = ended.expect_err("it never ends");
        assert!(matches!(error, RegistryError::TooSlow { .. }), "{what}: {error}");
        let words = error.to_string();
        let server = words.contains(&format!("`127.0.0.1:{port}` is too slow")) || words.contains("`127.0.0.1` is too");
        assert!(server && words.contains(&what) && words.contains("after 3 s"), "{what}: {words}");
    }
}

// promise install.server
#[tokio::test]
async fn registry_download_that_broke_off_continues_where_it_was() {
    let bundle = bundle();
    let component = bundle.component_digest().to_string();
    let whole = bundle.component().to_vec();
    let breaks = Arc::new(Mutex::new(true));
    let (still, first) = (Arc::clone(&breaks), component.clone());
    let half = whole.len() / 2;
    let server = evil(&bundle, move |request, honest| {
        let is_component = request.path.ends_with(&first);
        match is_component && *still.lock().expect("no test panics with it") {
            // It gives the first half to whoever asks for the beginning, and nothing to whoever asks for more.
            true if request.header("range").is_none() => Answer::pieces([whole[..half].to_vec()]).torn(),
            true => Answer::pieces([]).with_status(206).torn(),
            false => honest,
        }
    })
    .await;
    let downloads = tempfile::tempdir().expect("a folder");
    let registry = Registry::new(None, downloads.path().join("parts")).expect("a client");
    let error = pull(&server, &registry).await.expect_err("it breaks off");
    assert!(matches!(error, RegistryError::BrokeOff { done, .. } if done == half as u64), "{error}");
    assert!(error.to_string().contains("run the same command again to continue"), "{error}");

    *breaks.lock().expect("no test panics with it") = false;
    let pulled = pull(&server, &registry).await.expect("it goes on");
    assert_eq!(pulled.digest(), bundle.digest());
    let ranges: Vec<_> = server
        .requests()
        .iter()
        .filter(|request| request.path.ends_with(&component))
        .filter_map(|request| request.header("range").map(str::to_owned))
        .collect();
    assert_eq!(ranges.last(), Some(&format!("bytes={half}-")), "{ranges:?}");
    assert_eq!(std::fs::read_dir(downloads.path().join("parts")).expect("it is there").count(), 0, "nothing is left");
}

// promise install.server
#[tokio::test]
async fn registry_planted_partial_download_is_detected() {
    let bundle = bundle();
    let server = evil(&bundle, |_, honest| honest).await;
    let downloads = tempfile::tempdir().expect("a folder");
    let part = downloads.path().join(format!("{}.part", bundle.component_digest().digits()));
    std::fs::write(&part, vec![7; bundle.component().len() / 2]).expect("written");
    let registry = Registry::new(None, downloads.path().to_owned()).expect("a client");
    let error = pull(&server, &registry).await.expect_err("it is another");
    assert!(matches!(error, RegistryError::Changed { .. }), "{error}");
    // It is not believed a second time.
    assert_eq!(pull(&server, &registry).await.expect("pulled").digest(), bundle.digest());
}

/// A web server with the archive of a bundle as its version `"one"`. It gives half of it to whoever asks for all, and
/// what `rest` makes of the other half to whoever asks to go on there.
async fn halves(archive: &[u8], rest: impl Fn(&Request, Answer) -> Answer + Send + Sync + 'static) -> Server {
    let (first, second) = archive.split_at(archive.len() / 2);
    let (first, second, all) = (first.to_vec(), second.to_vec(), archive.len());
    Server::start(move |request| match request.header("range") {
        None => Answer::pieces([first.clone()]).header("etag", "\"one\"").torn(),
        Some(_) => {
            let range = format!("bytes {}-{}/{all}", first.len(), all - 1);
            rest(request, Answer::pieces([second.clone()]).with_status(206).header("content-range", &range))
        }
    })
    .await
}

fn ranges(server: &Server) -> Vec<Option<String>> {
    server.requests().iter().map(|request| request.header("range").map(str::to_owned)).collect()
}

// promise install.server
#[tokio::test]
async fn registry_download_from_a_url_that_broke_off_continues_where_it_was() {
    let bundle = bundle();
    let archive = bundle.to_archive();
    let half = archive.len() / 2;
    let broken = Arc::new(Mutex::new(true));
    let still = Arc::clone(&broken);
    let server = halves(&archive, move |_, rest| match *still.lock().expect("no test panics with it") {
        true => Answer::pieces([]).with_status(206).header("content-range", &format!("bytes {half}-")).torn(),
        false => rest,
    })
    .await;
    let (address, downloads) = (server.url("/ls.tar"), downloads());
    let error =
        download(&address, bundle.digest(), &downloads, Pace::default(), &quiet).await.expect_err("it breaks off");
    assert!(matches!(error, RegistryError::BrokeOff { done, total: None, .. } if done == half as u64), "{error}");
    assert!(error.to_string().contains(&format!("broke off after {half} bytes of {}", bundle.digest())), "{error}");

    // Another process, later: nothing is fetched twice, and the server is told which version it goes on with.
    *broken.lock().expect("no test panics with it") = false;
    let before = server.requests().len();
    let came = download(&address, bundle.digest(), &downloads, Pace::default(), &quiet).await.expect("it goes on");
    assert_eq!(came.digest(), bundle.digest());
    let asked = server.requests().split_off(before);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].header("range"), Some(format!("bytes={half}-").as_str()));
    assert_eq!(asked[0].header("if-range"), Some("\"one\""));
    assert_eq!(std::fs::read_dir(&downloads).expect("it is there").count(), 0, "nothing is left");
}

// promise install.server
#[tokio::test]
async fn an_address_that_has_another_file_meanwhile_is_fetched_from_its_beginning() {
    let bundle = bundle();
    let archive = bundle.to_archive();
    // The other version, which a server that knows of versions gives whole.
    let whole = archive.clone();
    let server = halves(&archive, move |request, _| match request.header("if-range") {
        Some("\"one\"") => Answer::ok(&whole).header("etag", "\"two\""),
        _ => Answer::status(500, "no version"),
    })
    .await;
    let address = server.url("/ls.tar");
    let came = download(&address, bundle.digest(), &downloads(), Pace::default(), &quiet).await.expect("it is there");
    assert_eq!(came.digest(), bundle.digest());
}

// promise install.server
#[tokio::test]
async fn halves_that_do_not_match_are_detected_and_fetched_again_once() {
    let bundle = bundle();
    let archive = bundle.to_archive();
    let half = archive.len() / 2;
    let whole = archive.clone();
    let server = Server::start(move |request| match request.header("range") {
        Some(_) => {
            let range = format!("bytes {half}-{}/{}", whole.len() - 1, whole.len());
            Answer::pieces([whole[half..].to_vec()]).with_status(206).header("content-range", &range)
        }
        None => Answer::ok(&whole),
    })
    .await;
    let (address, downloads) = (server.url("/ls.tar"), downloads());
    let part = downloads.join(format!("{}.archive.part", bundle.digest().digits()));
    let put = |address: &str| {
        std::fs::write(&part, vec![7; half]).expect("written");
        std::fs::write(part.with_extension("from"), format!("{address}\n\n")).expect("written");
    };
    put(&address);
    let came = download(&address, bundle.digest(), &downloads, Pace::default(), &quiet).await.expect("the second time");
    assert_eq!(came.digest(), bundle.digest());
    assert_eq!(ranges(&server), [Some(format!("bytes={half}-")), None]);
    // A half from elsewhere, or from nobody knows where, is not gone on with at all.
    put("https://example.com/ls.tar");
    download(&address, bundle.digest(), &downloads, Pace::default(), &quiet).await.expect("it is there");
    put(&"x".repeat(10_000));
    download(&address, bundle.digest(), &downloads, Pace::default(), &quiet).await.expect("it is there");
    assert_eq!(ranges(&server).split_off(2), [None, None]);
    // What is another bundle, whole, is no better the second time, and is not kept.
    let other = host_bundle::OciDigest::of(b"another");
    let error = download(&address, &other, &downloads, Pace::default(), &quiet).await.expect_err("it is another");
    assert!(matches!(error, RegistryError::Changed { .. }), "{error}");
    assert_eq!(std::fs::read_dir(&downloads).expect("it is there").count(), 0, "nothing is left");
}

// promise install.server
#[tokio::test]
async fn a_server_that_sends_another_part_than_was_asked_for_is_not_believed() {
    let bundle = bundle();
    let archive = bundle.to_archive();
    let server = halves(&archive, |_, _| {
        Answer::pieces([b"x".to_vec()]).with_status(206).header("content-range", "bytes 0-0/9")
    })
    .await;
    let error = download(&server.url("/ls.tar"), bundle.digest(), &downloads(), Pace::default(), &quiet).await;
    assert!(matches!(error, Err(RegistryError::BrokeOff { .. })), "{error:?}");
    assert_eq!(ranges(&server).len(), 3, "it is not asked for ever");
}

// promise install.login: A login goes only to its registry or to the token service that the registry names, over TLS
//   or to this machine.
#[tokio::test]
async fn a_redirect_takes_no_login_along_and_leads_nowhere_without_tls() {
    let bundle = bundle();
    let component = bundle.component().to_vec();
    let storage = Server::start(move |_| Answer::ok(&component)).await;
    let place = storage.url("/storage");
    let digest = bundle.component_digest().to_string();
    let server = evil(&bundle, move |request, honest| match request.header("authorization") {
        None => Answer::status(401, "").header("www-authenticate", "Basic realm=\"tests\""),
        Some(_) if request.path.ends_with(&digest) => Answer::redirect(307, &place),
        Some(_) => honest,
    })
    .await;
    pull(&server, &login("somebody", "secret")).await.expect("pulled");
    let asked = storage.requests();
    assert!(asked.len() == 1 && asked[0].header("authorization").is_none(), "{asked:?}");

    for elsewhere in ["http://192.0.2.1/blob", "http://example.com/blob"] {
        let error = with_component(move |_| Answer::redirect(307, elsewhere)).await.expect_err("it has no TLS");
        assert!(
            error.to_string().ends_with("and the redirect is not followed: it leads to an address without TLS"),
            "{error}"
        );
    }
    // Nor is a password told to a token server that others can listen to.
    let server = Server::start(|_| {
        Answer::status(401, "").header("www-authenticate", "Bearer realm=\"http://192.0.2.1/token\",service=\"x\"")
    })
    .await;
    let error = pull(&server, &login("somebody", "secret")).await.expect_err("it has no TLS");
    assert!(matches!(error, RegistryError::Insecure { .. }), "{error}");
}

#[tokio::test]
async fn a_token_is_fetched_for_what_is_done() {
    let bundle = bundle();
    let server = evil(&bundle, |request, honest| {
        let token = request.path.starts_with("/token");
        match request.header("authorization") {
            Some(basic) if token && basic.starts_with("Basic ") => Answer::ok("{\"token\": \"t0k3n\"}"),
            Some("Bearer t0k3n") => honest,
            _ => {
                let host = request.header("host").unwrap_or_default();
                Answer::status(401, "")
                    .header("www-authenticate", &format!("Bearer realm=\"http://{host}/token\",service=\"s v\""))
            }
        }
    })
    .await;
    pull(&server, &login("somebody", "secret")).await.expect("pulled");
    let tokens: Vec<_> = server.requests().into_iter().filter(|request| request.path.starts_with("/token")).collect();
    assert_eq!(tokens.len(), 1, "it is kept: {tokens:?}");
    assert_eq!(tokens[0].path, "/token?service=s+v&scope=repository%3Aacme%2Fls%3Apull");
}

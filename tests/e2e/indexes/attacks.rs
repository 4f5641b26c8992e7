//! Attacks on indexes: changed, signed by others, old, endless, with terminal escapes, and bundles that are not what
//! they say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use host_bundle::{Bundle, PluginIndex, SignedIndex, Trust};
use host_tests::host::Host;
use host_tests::server::{Answer, Server};
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
use serde_json::{Value, json};

use super::{configuration, made, maker, read, user, written};
use crate::publisher::{Publisher, READS, done, file, run_of, trust};

// promise index.signed
#[tokio::test]
async fn index_that_was_changed_or_signed_by_others_is_not_used() {
    let (acme, evil) = (Publisher::new("acme"), Publisher::new("evil"));
    let publishing = maker(&acme, &["1.0.0"]).await;
    made(&publishing, &acme, &["--name", "main"]);
    let good = written(&publishing);
    let folder = publishing.repository().join("bundles");
    let (path, beside) = (folder.join("index.json"), folder.join("index.json.minisig"));
    let host = user(&path.display().to_string(), &acme);
    let mut cases = Transcript::default();
    let mut case = |heading: &str, bytes: &[u8], signature: &str| {
        std::fs::write(&path, bytes).expect("written");
        std::fs::write(&beside, signature).expect("written");
        cases.add(format!("{heading}: host plugin search"), &host.run_of(&["plugin", "search"]));
        let install = host.run_of(&["plugin", "install", "acme/counts", "--yes"]);
        cases.add(format!("{heading}: host plugin install acme/counts --yes"), &install);
        install.stderr
    };
    let text = String::from_utf8(good.bytes.clone()).expect("text");
    case("a changed word", text.replace("Counts", "Wounds").as_bytes(), &good.signature);
    case("no signature", &good.bytes, "untrusted comment: x\n");
    // The signature of a bundle is none of an index.
    let bundle = acme.signed("1.0.0", READS).await;
    case("the signature of a bundle", &good.bytes, bundle.signatures()[0].text());
    // Another publisher signed another index, at the same place.
    made(&publishing, &evil, &["--out", "other.json", "--name", "main"]);
    let theirs = read(&publishing.repository().join("other.json"));
    let by_them = String::from_utf8(read(&publishing.repository().join("other.json.minisig"))).expect("text");
    let told = case("an index of another publisher", &theirs, &by_them);
    assert!(told.contains(&format!("it is signed by the key {}, not by {}", evil.id(), acme.id())), "{told}");
    case("the signature of another publisher", &good.bytes, &by_them);
    transcript_snapshot!(cases, @r"
    # a changed word: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its signature does not hold: it says that it is a signature of `plugin index \
    sha256:[DIGEST]`, but this is `plugin index sha256:[DIGEST]`
    help: ask its publisher, who signs it again after each change

    # a changed word: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its signature does not hold: it says that it is a signature of `plugin index \
    sha256:[DIGEST]`, but this is `plugin index sha256:[DIGEST]`
    help: ask its publisher, who signs it again after each change

    # no signature: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its signature does not hold: it is not a minisign signature: it does not have four lines
    help: ask its publisher, who signs it again after each change

    # no signature: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its signature does not hold: it is not a minisign signature: it does not have four lines
    help: ask its publisher, who signs it again after each change

    # the signature of a bundle: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its signature does not hold: it says that it is a signature of `acme/counts@1.0.0 \
    sha256:[DIGEST]`, but this is `plugin index sha256:[DIGEST]`
    help: ask its publisher, who signs it again after each change

    # the signature of a bundle: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its signature does not hold: it says that it is a signature of `acme/counts@1.0.0 \
    sha256:[DIGEST]`, but this is `plugin index sha256:[DIGEST]`
    help: ask its publisher, who signs it again after each change

    # an index of another publisher: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is signed by the key [KEY], not by [KEY]
    help: ask its publisher; a new key of theirs is added to `keys` of the index in your configuration

    # an index of another publisher: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is signed by the key [KEY], not by [KEY]
    help: ask its publisher; a new key of theirs is added to `keys` of the index in your configuration

    # the signature of another publisher: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is signed by the key [KEY], not by [KEY]
    help: ask its publisher; a new key of theirs is added to `keys` of the index in your configuration

    # the signature of another publisher: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is signed by the key [KEY], not by [KEY]
    help: ask its publisher; a new key of theirs is added to `keys` of the index in your configuration
    ");
    std::fs::write(&path, &good.bytes).expect("written");
    std::fs::write(&beside, &good.signature).expect("written");
    done(host.run_of(&["plugin", "search"]));
    done(host.run_of(&["keys", "revoke", &acme.id(), "--reason", "the laptop was stolen"]));
    host_snapshot!(host, ["plugin", "search"], @"
    exit: 55
    ----- stdout
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its key [KEY] is revoked: the laptop was stolen
    help: ask its publisher; a new key of theirs is added to `keys` of the index in your configuration
    ");
}

// promise index.older: An edition of an index that is older than one seen before, or has the same serial and other
//   contents, is reported and not used.
#[tokio::test]
async fn index_that_is_older_than_one_seen_before_is_reported() {
    let acme = Publisher::new("acme");
    let publishing = maker(&acme, &["1.0.0"]).await;
    let folder = publishing.repository().join("bundles");
    let host = user(&folder.join("index.json").display().to_string(), &acme);
    let put = |index: &SignedIndex| {
        std::fs::write(folder.join("index.json"), &index.bytes).expect("written");
        std::fs::write(folder.join("index.json.minisig"), &index.signature).expect("written");
    };
    made(&publishing, &acme, &["--name", "main"]);
    let first = written(&publishing);
    done(host.run_of(&["plugin", "search"]));
    file(&publishing, "bundles/counts-1.1.0.tar", &acme.signed("1.1.0", READS).await);
    made(&publishing, &acme, &[]);
    let second = written(&publishing);
    assert!(done(host.run_of(&["plugin", "search"])).stdout.contains("acme/counts 1.1.0"));
    put(&first);
    host_snapshot!(host, ["plugin", "search"], @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is older than before: its serial is 1, and 2 was seen on [DATE]
    help: a newer version may be hidden; if its publisher says that this one is right, add \
    --allow-older-index
    ");
    host_snapshot!(host, ["plugin", "install", "acme/counts", "--yes"], @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is older than before: its serial is 1, and 2 was seen on [DATE]
    help: a newer version may be hidden; if its publisher says that this one is right, add \
    --allow-older-index
    ");
    // The same number with other contents.
    std::fs::remove_file(folder.join("index.json")).expect("removed");
    made(&publishing, &acme, &["--name", "main", "--serial", "2"]);
    host_snapshot!(host, ["plugin", "search"], @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: its contents changed and its serial did not: 2, seen on [DATE]
    help: a newer version may be hidden; if its publisher says that this one is right, add \
    --allow-older-index
    ");
    put(&second);
    done(host.run_of(&["plugin", "search"]));
    // The user's word makes it the newest one.
    put(&first);
    assert!(done(host.run_of(&["plugin", "search", "--allow-older-index"])).stdout.contains("acme/counts 1.0.0"));
    done(host.run_of(&["plugin", "search"]));
    let seen = host.home().join(".local/state/host/indexes.json");
    let text = std::fs::read_to_string(&seen).expect("it is there");
    let seen_of: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(seen_of["indexes"]["main"]["serial"], json!(1));
    assert_eq!(seen_of["indexes"]["main"].as_object().map(serde_json::Map::len), Some(3), "nothing else is kept");
    assert!(!text.contains("Counts"), "{text}");
    // It is not believed if others could have written it.
    std::fs::set_permissions(&seen, std::os::unix::fs::PermissionsExt::from_mode(0o666)).expect("set");
    host_snapshot!(host, ["plugin", "search"], @"
    exit: 52
    ----- stdout
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: `[HOME]/.local/state/host/indexes.json` cannot be used
      caused by: other users can write to it (its mode is 666)
    help: if its contents are right: chmod 600 '[HOME]/.local/state/host/indexes.json'
    ");
}

// promise index.digest: What an index names is installed only if it is what the index says, and only by the keys that
//   the user trusts for plugins.
#[tokio::test(flavor = "multi_thread")]
async fn index_on_a_web_server_names_bundles_that_are_checked_against_it() {
    let (acme, other) = (Publisher::new("acme"), Publisher::new("other"));
    let publishing = maker(&acme, &["1.0.0"]).await;
    made(&publishing, &acme, &["--name", "main"]);
    let folder = publishing.repository().join("bundles");
    let files = Arc::new(Mutex::new(BTreeMap::from(
        ["index.json", "index.json.minisig", "counts-1.0.0.tar"]
            .map(|name| (name.to_owned(), read(&folder.join(name)))),
    )));
    let served = Arc::clone(&files);
    let server = Server::start(move |request| {
        let name = request.path.trim_start_matches("/plugins/");
        let files = served.lock().expect("no test panics with it");
        files.get(name).map_or_else(|| Answer::status(404, ""), Answer::ok)
    })
    .await;
    let host = user(&server.url("/plugins/index.json"), &acme);
    trust(&host, &acme);
    let install = ["plugin", "install", "acme/counts", "--yes"];
    let put = |bundle: &Bundle| {
        files.lock().expect("no test panics with it").insert("counts-1.0.0.tar".to_owned(), bundle.to_archive());
    };
    // Another bundle at its place, whoever signed it.
    let honest = acme.signed("1.0.0", READS).await;
    put(&acme.signed("1.0.1", READS).await);
    let ended = run_of(&host, &install).await;
    outcome_snapshot!(ended, @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `127.0.0.1` sent other content than was asked for: its digest is sha256:[DIGEST], not \
    sha256:[DIGEST]; ask the publisher which digest is right
      caused by: the index `main` says that it is sha256:[DIGEST]
    ");
    assert!(ended.stderr.contains(&format!("the index `main` says that it is {}", honest.digest())), "{ended:?}");
    // The same contents, signed by somebody else whom the user trusts.
    let mut theirs = acme.bundle("1.0.0", READS).await;
    other.sign(&mut theirs);
    put(&theirs);
    let trusted = ["keys", "trust", &other.public().display().to_string(), "--for", "acme/*"].map(str::to_owned);
    done(host.run_of(&trusted.each_ref().map(String::as_str)));
    outcome_snapshot!(run_of(&host, &install).await, @"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` 1.0.0 is not what the index `main` says
      caused by: none of the keys that the index names signed it
    help: it is not installed; ask its publisher which one is right
    ");
    put(&honest);
    outcome_snapshot!(run_of(&host, &install).await, @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0 (MIT)
      count_lines␠␠

    It asks to
      read the files that you allow
    It says why:
      fs-read: to try it
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.

    Signed by [KEY], which you trust for it.

    Installed `acme/counts` 1.0.0; you are asked before each call that does more than read the workspace.
    ----- stderr
    ");
    // Who installs something else is not told about indexes, nor they about it.
    let before = server.requests().len();
    let bundle = file(&host, "a.tar", &honest);
    done(run_of(&host, &["plugin", "install", &bundle, "--yes", "--user"]).await);
    assert_eq!(server.requests().len(), before);
    // Without the signature there is no index.
    files.lock().expect("no test panics with it").remove("index.json.minisig");
    outcome_snapshot!(run_of(&host, &["plugin", "search"]).await, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: the index `main` (http://127.0.0.1:[PORT]/plugins/index.json) is not used
      caused by: `127.0.0.1` has no `http://127.0.0.1:[PORT]/plugins/index.json.minisig`
    ");
}

// promise index.bounded
#[tokio::test(flavor = "multi_thread")]
async fn index_without_end_is_cut_off_and_others_are_searched() {
    let acme = Publisher::new("acme");
    let publishing = maker(&acme, &["1.0.0"]).await;
    made(&publishing, &acme, &["--name", "main"]);
    let good = publishing.repository().join("bundles/index.json").display().to_string();
    let server = Server::start(|request| match request.path.as_str() {
        "/endless.json" => Answer::ok(vec![b' '; 1 << 16]).endless(),
        "/signature.json" => Answer::ok("{}"),
        "/signature.json.minisig" => Answer::ok(vec![b' '; 1 << 16]).endless(),
        "/elsewhere.json" => Answer::redirect(307, "http://192.0.2.1/index.json"),
        _ => Answer::status(404, ""),
    })
    .await;
    let (mut alone, mut beside) = (Transcript::default(), Transcript::default());
    for source in [
        server.url("/endless.json"),
        server.url("/signature.json"),
        server.url("/elsewhere.json"),
        server.url("/none.json"),
        "http://example.com/index.json".to_owned(),
        "nothing".to_owned(),
        "/none/index.json".to_owned(),
    ] {
        alone.add(&source, &run_of(&user(&source, &acme), &["plugin", "search"]).await);
        // Another index is searched, and what is wrong with the first one is said.
        let both =
            format!("{}{}", configuration("bad", &source, &acme.key()), configuration("good", &good, &acme.key()));
        let ended = run_of(&Host::new(["run"]).configured(&both), &["plugin", "search"]).await;
        beside.add(&source, &done(ended));
    }
    transcript_snapshot!(alone, @r"
    # http://127.0.0.1:[PORT]/endless.json
    exit: 42
    ----- stderr
    error: the index `main` (http://127.0.0.1:[PORT]/endless.json) is not used
      caused by: `127.0.0.1` sent more than 8388608 bytes for `http://127.0.0.1:[PORT]/endless.json`

    # http://127.0.0.1:[PORT]/signature.json
    exit: 42
    ----- stderr
    error: the index `main` (http://127.0.0.1:[PORT]/signature.json) is not used
      caused by: `127.0.0.1` sent more than 4096 bytes for `http://127.0.0.1:[PORT]/signature.json.minisig`

    # http://127.0.0.1:[PORT]/elsewhere.json
    exit: 42
    ----- stderr
    error: the index `main` (http://127.0.0.1:[PORT]/elsewhere.json) is not used
      caused by: `127.0.0.1` redirects the request, and the redirect is not followed: it leads to an \
    address without TLS

    # http://127.0.0.1:[PORT]/none.json
    exit: 42
    ----- stderr
    error: the index `main` (http://127.0.0.1:[PORT]/none.json) is not used
      caused by: `127.0.0.1` has no `http://127.0.0.1:[PORT]/none.json`

    # http://example.com/index.json
    exit: 55
    ----- stderr
    error: the index `main` (http://example.com/index.json) is not used
      caused by: `http://example.com/index.json` does not use TLS; use an address that begins with \
    `https://`

    # nothing
    exit: 52
    ----- stderr
    error: the index `main` (nothing) is not used
      caused by: its source is not an https address, a reference or an absolute path
      caused by: `nothing` is not a reference REGISTRY/REPOSITORY[:TAG][@DIGEST]: it names no registry, \
    such as ghcr.io

    # /none/index.json
    exit: 52
    ----- stderr
    error: the index `main` (/none/index.json) is not used
      caused by: `/none/index.json` cannot be read
      caused by: No such file or directory (os error 2)
    ");
    transcript_snapshot!(beside, @r"
    # http://127.0.0.1:[PORT]/endless.json
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (http://127.0.0.1:[PORT]/endless.json) is not used: `127.0.0.1` sent more than \
    8388608 bytes for `http://127.0.0.1:[PORT]/endless.json`

    # http://127.0.0.1:[PORT]/signature.json
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (http://127.0.0.1:[PORT]/signature.json) is not used: `127.0.0.1` sent more than \
    4096 bytes for `http://127.0.0.1:[PORT]/signature.json.minisig`

    # http://127.0.0.1:[PORT]/elsewhere.json
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (http://127.0.0.1:[PORT]/elsewhere.json) is not used: `127.0.0.1` redirects the \
    request, and the redirect is not followed: it leads to an address without TLS

    # http://127.0.0.1:[PORT]/none.json
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (http://127.0.0.1:[PORT]/none.json) is not used: `127.0.0.1` has no \
    `http://127.0.0.1:[PORT]/none.json`

    # http://example.com/index.json
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (http://example.com/index.json) is not used: `http://example.com/index.json` does \
    not use TLS; use an address that begins with `https://`

    # nothing
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (nothing) is not used: its source is not an https address, a reference or an \
    absolute path: `nothing` is not a reference REGISTRY/REPOSITORY[:TAG][@DIGEST]: it names no registry, \
    such as ghcr.io

    # /none/index.json
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `good`)
    ----- stderr
    note: the index `bad` (/none/index.json) is not used: `/none/index.json` cannot be read: No such file \
    or directory (os error 2)
    ");
}

// promise index.text: What an index says cannot change the terminal.
#[tokio::test]
async fn index_text_is_escaped_wherever_it_is_shown() {
    let acme = Publisher::new("acme");
    let publishing = maker(&acme, &["1.0.0"]).await;
    made(&publishing, &acme, &["--name", "main"]);
    let honest = written(&publishing);
    let key = acme.key().parse().expect("a key");
    let mut index: PluginIndex = honest.open(&[key], &Trust::default()).expect("it is ours");
    let evil = "a\u{1b}[2J\u{202e}\nevil";
    let entry = &mut index.plugins[0];
    entry.description = evil.to_owned();
    entry.tools[0].name = evil.to_owned();
    entry.tools[0].description = evil.to_owned();
    entry.source = "../\u{1b}[2J".to_owned();
    entry.capabilities.insert("http".to_owned(), evil.to_owned());
    index.serial += 1;
    let signed = index.sign(&acme.open()).expect("signed");
    let folder = publishing.repository().join("bundles");
    std::fs::write(folder.join("index.json"), &signed.bytes).expect("written");
    std::fs::write(folder.join("index.json.minisig"), &signed.signature).expect("written");
    let host = user(&folder.join("index.json").display().to_string(), &acme);
    let found = host_snapshot!(host, ["plugin", "search"], @r"
    exit: 0
    ----- stdout
    acme/counts 1.0.0  a\u{1b}[2J\u{202e}\nevil
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for http=a\u{1b}[2J\u{202e}\nevil, fs-read=*
      tools a\u{1b}[2J\u{202e}\nevil
      sha256:[DIGEST]
      host plugin install acme/counts  (index `main`)
    ----- stderr
    ");
    let ended = host_snapshot!(host, ["plugin", "install", "acme/counts", "--yes"], @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: the index has an invalid place `../\u{1b}[2J`
      caused by: it is not an https address, a reference, or a file beside the index
    ");
    for text in [&found.stdout, &ended.stdout, &ended.stderr] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    }
}

// promise index.keys: An index with a duplicate key is not used, even if it is signed: programs would read
//   different values from it.
#[tokio::test]
async fn index_with_a_key_twice_is_not_used() {
    let acme = Publisher::new("acme");
    let publishing = maker(&acme, &["1.0.0"]).await;
    made(&publishing, &acme, &["--name", "main"]);
    let honest = String::from_utf8(written(&publishing).bytes).expect("text");
    let folder = publishing.repository().join("bundles");
    let host = user(&folder.join("index.json").display().to_string(), &acme);
    done(host.run_of(&["plugin", "search"]));
    let mut cases = Transcript::default();
    for (key, line, again) in [
        ("serial", "\"serial\": 1,", "\"serial\": 9,"),
        ("plugins.publisher", "\"publisher\": \"acme\",", "\"publisher\": \"acme\","),
        ("plugins.capabilities.fs-read", "\"fs-read\": \"*\"", ", \"fs-read\": \".\""),
    ] {
        let at = honest.find(line).unwrap_or_else(|| panic!("{line} is not in {honest}")) + line.len();
        let (before, behind) = honest.split_at(at);
        let text = format!("{before}{again}{behind}");
        let signed = SignedIndex::sign(text.into_bytes(), &acme.open()).expect("signed");
        std::fs::write(folder.join("index.json"), &signed.bytes).expect("written");
        std::fs::write(folder.join("index.json.minisig"), &signed.signature).expect("written");
        cases.add(format!("{key}: host plugin search"), &host.run_of(&["plugin", "search"]));
        let install = host.run_of(&["plugin", "install", "acme/counts", "--yes"]);
        cases.add(format!("{key}: host plugin install acme/counts --yes"), &install);
    }
    transcript_snapshot!(cases, @r"
    # serial: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is not an index of plugins: duplicate key `serial` at line 4 column 22
    help: its publisher has to correct it, and to sign it again

    # serial: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is not an index of plugins: duplicate key `serial` at line 4 column 22
    help: its publisher has to correct it, and to sign it again

    # plugins.publisher: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is not an index of plugins: duplicate key `plugins.publisher` at line 10 column 37
    help: its publisher has to correct it, and to sign it again

    # plugins.publisher: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is not an index of plugins: duplicate key `plugins.publisher` at line 10 column 37
    help: its publisher has to correct it, and to sign it again

    # plugins.capabilities.fs-read: host plugin search
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is not an index of plugins: duplicate key `plugins.capabilities.fs-read` at line 19 \
    column 33
    help: its publisher has to correct it, and to sign it again

    # plugins.capabilities.fs-read: host plugin install acme/counts --yes
    exit: 55
    ----- stderr
    error: the index `main` ([TEMP]/bundles/index.json) is not used
      caused by: it is not an index of plugins: duplicate key `plugins.capabilities.fs-read` at line 19 \
    column 33
    help: its publisher has to correct it, and to sign it again
    ");
}

// promise index.digest
#[tokio::test]
async fn index_that_contradicts_another_one_installs_nothing() {
    let acme = Publisher::new("acme");
    let (one, two) = (maker(&acme, &["1.0.0"]).await, maker(&acme, &[]).await);
    file(&two, "bundles/counts-1.0.0.tar", &acme.signed("1.0.0", &[("fs-read", ".")]).await);
    let at = |host: &Host| {
        made(host, &acme, &["--name", "main"]);
        host.repository().join("bundles/index.json").display().to_string()
    };
    let both = [("one", at(&one)), ("two", at(&two))].map(|(name, place)| configuration(name, &place, &acme.key()));
    let host = Host::new(["run"]).configured(&both.concat());
    trust(&host, &acme);
    host_snapshot!(host, ["plugin", "install", "acme/counts", "--yes"], @"
    exit: 55
    ----- stdout
    ----- stderr
    error: two indexes have different bundles of `acme/counts` 1.0.0
      caused by: `two` has sha256:[DIGEST], `one` has sha256:[DIGEST]
    help: ask its publisher which digest is right, and install it with --digest from its own place
    ");
    host_snapshot!(host, ["plugin", "search", "counts"], @"
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], which you trust for it
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `one`)
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], which you trust for it
      asks for fs-read=.
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `two`)
    ----- stderr
    ");
}

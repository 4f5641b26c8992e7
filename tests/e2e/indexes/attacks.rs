//! Attacks on indexes: changed, signed by others, old, endless, with terminal escapes, and bundles that are not what
//! they say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use host_bundle::{Bundle, PluginIndex, SignedIndex, Trust};
use host_tests::host::Host;
use host_tests::server::{Answer, Server};
use serde_json::{Value, json};

use super::{configuration, done, made, maker, read, refused, run_of, user, written};
use crate::publisher::{Publisher, READS, file, trust};

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
    let check = |bytes: &[u8], signature: &str, says: &str| {
        std::fs::write(&path, bytes).expect("written");
        std::fs::write(&beside, signature).expect("written");
        for arguments in [&["plugin", "search"][..], &["plugin", "install", "acme/counts", "--yes"]] {
            let ended = host.run_of(arguments);
            assert!(ended.code.is_some_and(|code| [42, 55].contains(&code)), "{ended:?}");
            assert!(ended.stderr.contains(says) && ended.stdout.is_empty(), "{says}: {ended:?}");
        }
    };
    let text = String::from_utf8(good.bytes.clone()).expect("text");
    check(text.replace("Counts", "Wounds").as_bytes(), &good.signature, "its signature does not hold");
    check(&good.bytes, "untrusted comment: x\n", "it is not a minisign signature");
    // The signature of a bundle is none of an index.
    let bundle = acme.signed("1.0.0", READS).await;
    check(&good.bytes, bundle.signatures()[0].text(), "it says that it is a signature of `acme/counts@1.0.0");
    // Another publisher signed another index, at the same place.
    made(&publishing, &evil, &["--out", "other.json", "--name", "main"]);
    let theirs = read(&publishing.repository().join("other.json"));
    let by_them = String::from_utf8(read(&publishing.repository().join("other.json.minisig"))).expect("text");
    check(&theirs, &by_them, &format!("it is signed by the key {}, not by {}", evil.id(), acme.id()));
    check(&good.bytes, &by_them, "it is signed by the key");
    std::fs::write(&path, &good.bytes).expect("written");
    std::fs::write(&beside, &good.signature).expect("written");
    done(host.run_of(&["plugin", "search"]));
    done(host.run_of(&["keys", "revoke", &acme.id(), "--reason", "the laptop was stolen"]));
    refused(&host.run_of(&["plugin", "search"]), 55, "is revoked: the laptop was stolen");
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
    let search = host.run_of(&["plugin", "search"]);
    refused(&search, 55, "it is older than before: its serial is 1, and 2 was seen on");
    refused(&search, 55, "--allow-older-index");
    refused(&host.run_of(&["plugin", "install", "acme/counts", "--yes"]), 55, "it is older than before");
    // The same number with other contents.
    std::fs::remove_file(folder.join("index.json")).expect("removed");
    made(&publishing, &acme, &["--name", "main", "--serial", "2"]);
    refused(&host.run_of(&["plugin", "search"]), 55, "its contents changed and its serial did not: 2, seen on");
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
    refused(&host.run_of(&["plugin", "search"]), 52, "other users can write to it");
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
    refused(&ended, 55, "sent other content than was asked for");
    refused(&ended, 55, &format!("the index `main` says that it is {}", honest.digest()));
    // The same contents, signed by somebody else whom the user trusts.
    let mut theirs = acme.bundle("1.0.0", READS).await;
    other.sign(&mut theirs);
    put(&theirs);
    let trusted = ["keys", "trust", &other.public().display().to_string(), "--for", "acme/*"].map(str::to_owned);
    done(host.run_of(&trusted.each_ref().map(String::as_str)));
    refused(&run_of(&host, &install).await, 55, "none of the keys that the index names signed it");
    put(&honest);
    let ended = done(run_of(&host, &install).await);
    assert!(ended.stdout.contains("Installed `acme/counts` 1.0.0"), "{ended:?}");
    // Who installs something else is not told about indexes, nor they about it.
    let before = server.requests().len();
    let bundle = file(&host, "a.tar", &honest);
    done(run_of(&host, &["plugin", "install", &bundle, "--yes", "--user"]).await);
    assert_eq!(server.requests().len(), before);
    // Without the signature there is no index.
    files.lock().expect("no test panics with it").remove("index.json.minisig");
    refused(&run_of(&host, &["plugin", "search"]).await, 42, "/plugins/index.json.minisig");
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
    for (source, says) in [
        (server.url("/endless.json"), "sent more than 8388608 bytes"),
        (server.url("/signature.json"), "sent more than 4096 bytes"),
        (server.url("/elsewhere.json"), "a redirect to an address without TLS"),
        (server.url("/none.json"), "has no `http"),
        ("http://example.com/index.json".to_owned(), "does not use TLS"),
        ("nothing".to_owned(), "is not an https address, a reference or an absolute path"),
        ("/none/index.json".to_owned(), "`/none/index.json` cannot be read"),
    ] {
        let host = user(&source, &acme);
        let ended = run_of(&host, &["plugin", "search"]).await;
        assert!(ended.code != Some(0) && ended.stderr.contains(says), "{source}: {ended:?}");
        assert!(ended.stderr.contains(&format!("the index `main` ({source}) is not used")), "{ended:?}");
        // Another index is searched, and what is wrong with the first one is said.
        let both =
            format!("{}{}", configuration("bad", &source, &acme.key()), configuration("good", &good, &acme.key()));
        let ended = done(run_of(&Host::new(["run"]).configured(&both), &["plugin", "search"]).await);
        assert!(ended.stdout.contains("acme/counts 1.0.0") && ended.stderr.contains(says), "{source}: {ended:?}");
    }
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
    let ended = done(host.run_of(&["plugin", "search"]));
    assert!(ended.stdout.contains("acme/counts 1.0.0  a\\u{1b}[2J\\u{202e}"), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 6, "{ended:?}");
    let ended = host.run_of(&["plugin", "install", "acme/counts", "--yes"]);
    refused(&ended, 55, "the index has an invalid place");
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{ended:?}");
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
        for arguments in [&["plugin", "search"][..], &["plugin", "install", "acme/counts", "--yes"]] {
            let ended = host.run_of(arguments);
            assert!(ended.code.is_some_and(|code| code != 0) && ended.stdout.is_empty(), "{key}: {ended:?}");
            assert!(ended.stderr.contains(&format!("duplicate key `{key}`")), "{key}: {ended:?}");
        }
    }
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
    let ended = host.run_of(&["plugin", "install", "acme/counts", "--yes"]);
    refused(&ended, 55, "two indexes have different bundles of `acme/counts` 1.0.0");
    let found = done(host.run_of(&["plugin", "search", "counts"])).stdout;
    assert!(found.contains("(index `one`)") && found.contains("(index `two`)"), "{found}");
}

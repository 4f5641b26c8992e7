//! Indexes of plugins: made, published, searched and installed from.

mod attacks;

use std::path::Path;

use host_bundle::SignedIndex;
use host_tests::host::{Ended, Host};
use host_tests::registry::DockerRegistry;
use serde_json::{Value, json};

use crate::publisher::{Publisher, READS, file, trust};

/// A user who configured an index at this place, signed by this publisher.
fn user(source: &str, publisher: &Publisher) -> Host {
    Host::new(["run"]).configured(&configuration("main", source, &publisher.key()))
}

fn configuration(name: &str, source: &str, key: &str) -> String {
    format!("[indexes.{name}]\nsource = \"{source}\"\nkeys = [\"{key}\"]\n")
}

/// A host with bundles of the publisher in the folder `bundles`, whose keys it trusts.
async fn maker(publisher: &Publisher, versions: &[&str]) -> Host {
    let host = Host::new(["plugin"]).file("bundles/README", "not a bundle");
    trust(&host, publisher);
    for version in versions {
        file(&host, &format!("bundles/counts-{version}.tar"), &publisher.signed(version, READS).await);
    }
    host
}

/// Makes the index of the maker's folder, with these arguments; what was printed.
#[track_caller]
fn make(host: &Host, publisher: &Publisher, arguments: &[&str]) -> Ended {
    let key = publisher.secret().display().to_string();
    let password = publisher.password().display().to_string();
    let fixed = ["plugin", "index", "bundles", "--key", &key, "--password-file", &password];
    host.run_of(&[&fixed, arguments].concat())
}

#[track_caller]
fn made(host: &Host, publisher: &Publisher, arguments: &[&str]) {
    let ended = make(host, publisher, arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[track_caller]
fn done(ended: Ended) -> Ended {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

#[track_caller]
fn refused(ended: &Ended, code: i32, says: &str) {
    assert!(ended.code == Some(code) && ended.stderr.contains(says), "{says}: {ended:?}");
}

/// Runs a command beside a server of this process.
async fn run_of(host: &Host, arguments: &[&str]) -> Ended {
    let command = host.command_of(arguments);
    std::thread::scope(|scope| scope.spawn(|| host.end(command)).join().expect("it ran"))
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is there")
}

/// The index that a maker wrote.
fn written(host: &Host) -> SignedIndex {
    let folder = host.repository().join("bundles");
    let signature = String::from_utf8(read(&folder.join("index.json.minisig"))).expect("text");
    SignedIndex { bytes: read(&folder.join("index.json")), signature }
}

// promise index.search: `plugin search` finds plugins by words in the indexes that the user configured, and shows
//   publisher, keys, requests, tools and digest; an index is configured with the keys that may sign it.
#[tokio::test]
async fn index_of_a_folder_is_searched_and_a_plugin_of_it_installed_by_name() {
    let (acme, shop) = (Publisher::new("acme"), Publisher::new("shop"));
    let publishing = maker(&acme, &["1.0.0", "1.1.0", "2.0.0-rc.1"]).await;
    let ended = make(&publishing, &shop, &["--name", "main"]);
    assert!(done(ended).stdout.contains("index `main`, serial 1, 3 plugins, sha256:"));
    let index = publishing.repository().join("bundles/index.json").display().to_string();
    let host = user(&index, &shop);
    let digest = acme.signed("1.1.0", READS).await.digest().to_string();
    for words in [&["count"][..], &["ACME", "lines"], &["count_lines"], &[]] {
        let ended = done(host.run_of(&[&["plugin", "search"], words].concat()));
        let expected = format!(
            "acme/counts 1.1.0  Counts the lines of a file.\n  by acme, key {}, not trusted for it; once its \
             publisher has given you the key, run `host keys trust`\n  asks for fs-read=*\n  tools count_lines",
            acme.id()
        );
        assert!(ended.stdout.starts_with(&expected), "{words:?}: {ended:?}");
        let end = format!("  {digest}\n  host plugin install acme/counts  (index `main`)\n");
        assert!(ended.stdout.ends_with(&end), "{words:?}: {ended:?}");
    }
    let ended = done(host.run_of(&["plugin", "search", "count", "nothing"]));
    assert_eq!(ended.stdout, "No plugin matches `count nothing`.\n");
    let found = |host: &Host| -> Value {
        serde_json::from_str(&done(host.run_of(&["plugin", "search", "--json"])).stdout).expect("JSON")
    };
    let row = &found(&host)[0];
    assert_eq!((&row["digest"], &row["trusted"], &row["keys"]), (&json!(digest), &json!(false), &json!([acme.key()])));

    // What an index says is not trust: the key of the index's publisher signs no plugin.
    refused(&host.run_of(&["plugin", "install", "acme/counts", "--yes"]), 55, "`acme/counts` is not installed");
    trust(&host, &acme);
    assert_eq!(found(&host)[0]["trusted"], json!(true));
    let ended = done(host.run_of(&["plugin", "install", "acme/counts", "--yes"]));
    assert!(ended.stdout.contains("Installed `acme/counts` 1.1.0"), "{ended:?}");
    let ended = done(host.run_of(&["plugin", "install", "acme/counts@2.0.0-rc.1", "--yes"]));
    assert!(ended.stdout.contains("Installed `acme/counts` 2.0.0-rc.1"), "{ended:?}");
    refused(
        &host.run_of(&["plugin", "install", "acme/counts@3.0.0"]),
        42,
        "no index has the plugin `acme/counts@3.0.0`",
    );
    let other = ["plugin", "install", "acme/counts", "--digest", &format!("sha256:{}", "0".repeat(64))];
    refused(&host.run_of(&other), 55, &format!("the index `main` says that it is {digest}"));
}

// promise index.strongest: `plugin search` shows what a plugin asks for with the strongest capability first, and cuts a
//   long scope, so that no other request is out of sight.
#[tokio::test]
async fn index_search_shows_the_strongest_request_first_and_cuts_long_scopes() {
    let acme = Publisher::new("acme");
    let publishing = Host::new(["plugin"]).file("bundles/README", "not a bundle");
    trust(&publishing, &acme);
    let paths: String = (0..60).map(|number| format!("./folder-{number};")).collect();
    let asked = [("fs-read", paths.trim_end_matches(';')), ("process", "*"), ("state", "read")];
    file(&publishing, "bundles/counts-1.0.0.tar", &acme.signed("1.0.0", &asked).await);
    made(&publishing, &acme, &["--name", "main"]);
    let index = publishing.repository().join("bundles/index.json").display().to_string();
    let ended = done(user(&index, &acme).run_of(&["plugin", "search"]));
    let asks = ended.stdout.lines().find(|line| line.starts_with("  asks for ")).unwrap_or_default();
    assert!(asks.starts_with("  asks for process=*, fs-read=./folder-0;"), "{ended:?}");
    assert!(asks.ends_with("… (cut), state=read") && asks.len() < 200, "{ended:?}");
}

// promise index.configured: Only the user's own configuration names an index; without one, the error says how to.
#[tokio::test]
async fn index_is_configured_by_the_user_and_no_project() {
    let acme = Publisher::new("acme");
    let host = Host::new(["run"]);
    for arguments in [&["plugin", "search", "x"][..], &["plugin", "install", "acme/counts"]] {
        let ended = host.run_of(arguments);
        assert!(ended.stderr.contains("`acme/counts` is not a file, and no index") || arguments[1] == "search");
        refused(&ended, 52, "no index of plugins is configured");
        refused(&ended, 52, "config.toml`: [indexes.NAME] with source = ");
    }
    let project = configuration("main", "/srv/index.json", &acme.key());
    let host = Host::new(["run"]).file(".host/config.toml", &project);
    done(host.run_of(&["trust", "add"]));
    let ended = host.run_of(&["tool", "list"]);
    refused(&ended, 52, "indexes");
    refused(&host.run_of(&["plugin", "search"]), 52, "no index of plugins is configured");
    let keyless = "[indexes.main]\nsource = \"https://example.com/index.json\"\nkeys = []\n";
    refused(&Host::new(["run"]).configured(keyless).run_of(&["plugin", "search"]), 52, "`indexes.main` has no keys");
    let wrong = "[indexes.main]\nsource = \"https://example.com/index.json\"\nkeys = [\"RW\"]\n";
    refused(&Host::new(["run"]).configured(wrong).run_of(&["plugin", "search"]), 52, "invalid minisign public key");
}

// promise index.registry: An index is pushed to a registry and read from it, as bundles are.
#[tokio::test]
async fn index_in_a_registry_names_bundles_in_it() {
    let (server, acme) = (DockerRegistry::start(false), Publisher::new("acme"));
    let publishing = maker(&acme, &["1.0.0"]).await;
    let (base, place) = (server.name("acme"), server.name("acme/index"));
    let bundle = publishing.repository().join("bundles/counts-1.0.0.tar").display().to_string();
    done(publishing.run_of(&["plugin", "push", &bundle, &format!("{base}/counts")]));
    let ended = make(&publishing, &acme, &["--name", "main", "--base", &base, "--push", &place]);
    assert!(done(ended).stdout.contains(&format!("{place}:latest@sha256:")));
    let host = user(&place, &acme);
    trust(&host, &acme);
    let ended = done(host.run_of(&["plugin", "search", "count"]));
    assert!(ended.stdout.contains("which you trust for it"), "{ended:?}");
    done(host.run_of(&["plugin", "install", "acme/counts", "--yes"]));
    let list = std::fs::read_to_string(host.repository().join(".host/plugins.lock")).expect("it is there");
    assert!(list.contains(&format!("source = \"{base}/counts:1.0.0@sha256:")), "{list}");
    // A plugin is not an index.
    let host = user(&server.name("acme/counts"), &acme);
    refused(&host.run_of(&["plugin", "search"]), 42, "its `artifactType` is `application/vnd.host.plugin.v1`");
}

// promise index.made: An index is made of bundles that keys signed which its maker trusts, and its serial grows.
#[tokio::test]
async fn index_is_made_of_signed_bundles_alone() {
    let acme = Publisher::new("acme");
    let publishing = maker(&acme, &["1.0.0"]).await;
    refused(&make(&publishing, &acme, &[]), 42, "add --name NAME");
    refused(&make(&publishing, &acme, &["--name", "Main"]), 42, "its name `Main`");
    made(&publishing, &acme, &["--name", "main"]);
    refused(&make(&publishing, &acme, &["--serial", "1"]), 42, "the serial 1 is not greater");
    refused(&make(&publishing, &acme, &["--name", "other"]), 42, "the index is `main`, not `other`");
    file(&publishing, "bundles/unsigned.tar", &acme.bundle("1.1.0", READS).await);
    refused(&make(&publishing, &acme, &[]), 55, "`acme/counts@1.1.0 sha256:");
    // Two bundles of one version.
    file(&publishing, "bundles/unsigned.tar", &acme.signed("1.0.0", &[("fs-read", ".")]).await);
    refused(&make(&publishing, &acme, &[]), 42, "duplicate version 1.0.0");
    std::fs::remove_file(publishing.repository().join("bundles/unsigned.tar")).expect("removed");
    std::fs::write(publishing.repository().join("bundles/index.json"), "{}").expect("written");
    refused(&make(&publishing, &acme, &[]), 42, "is not replaced");
    let empty = publishing.file("empty/README", "");
    let key = acme.secret().display().to_string();
    refused(&empty.run_of(&["plugin", "index", "empty", "--name", "x", "--key", &key]), 42, "`empty` has no bundles");
    let schema: Value = serde_json::from_str(&done(empty.run_of(&["schema", "plugin-index"])).stdout).expect("JSON");
    assert_eq!(schema["title"], json!("An index of plugins"));
}

//! Indexes of plugins: made, published, searched and installed from.

mod attacks;

use std::path::Path;

use host_bundle::SignedIndex;
use host_tests::host::{Ended, Host};
use host_tests::registry::DockerRegistry;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
use serde_json::{Value, json};

use crate::publisher::{Publisher, READS, done, file, trust};

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
    done(make(host, publisher, arguments));
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
    outcome_snapshot!(make(&publishing, &shop, &["--name", "main"]), @"
    exit: 0
    ----- stdout
    bundles/index.json
    index `main`, serial 1, 3 plugins, sha256:[DIGEST]
    ----- stderr
    ");
    let index = publishing.repository().join("bundles/index.json").display().to_string();
    let host = user(&index, &shop);
    let digest = acme.signed("1.1.0", READS).await.digest().to_string();
    let all = host_snapshot!(host, ["plugin", "search"], @r"
    exit: 0
    ----- stdout
    acme/counts 1.1.0  Counts the lines of a file.
      by acme, key [KEY], not trusted for it; once its publisher has given you the key, run `host keys \
    trust`
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `main`)
    ----- stderr
    ");
    assert!(all.stdout.contains(&digest) && all.stdout.contains(&acme.id()), "{all:?}");
    for words in [&["count"][..], &["ACME", "lines"], &["count_lines"]] {
        assert_eq!(done(host.run_of(&[&["plugin", "search"], words].concat())).stdout, all.stdout, "{words:?}");
    }
    host_snapshot!(host, ["plugin", "search", "count", "nothing"], @"
    exit: 0
    ----- stdout
    No plugin matches `count nothing`.
    ----- stderr
    ");
    let found = |host: &Host| -> Value {
        serde_json::from_str(&done(host.run_of(&["plugin", "search", "--json"])).stdout).expect("JSON")
    };
    let row = &found(&host)[0];
    assert_eq!((&row["digest"], &row["trusted"], &row["keys"]), (&json!(digest), &json!(false), &json!([acme.key()])));

    // What an index says is not trust: the key of the index's publisher signs no plugin.
    host_snapshot!(host, ["plugin", "install", "acme/counts", "--yes"], @r"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not installed
      caused by: the key [KEY] is not in your list of keys; get the publisher's key file from a source that \
    you trust, then run `host keys trust FILE --for acme/counts`
    help: add --allow-unsigned to install it anyway
    ");
    trust(&host, &acme);
    assert_eq!(found(&host)[0]["trusted"], json!(true));
    host_snapshot!(host, ["plugin", "install", "acme/counts", "--yes"], @r"
    exit: 0
    ----- stdout
    acme/counts 1.1.0 (MIT)
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

    Installed `acme/counts` 1.1.0; you are asked before each call that does more than read the workspace.
    ----- stderr
    ");
    host_snapshot!(host, ["plugin", "install", "acme/counts@2.0.0-rc.1", "--yes"], @r"
    exit: 0
    ----- stdout
    acme/counts 2.0.0-rc.1 (MIT)
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

    Since 1.1.0: no change that is visible to callers or users

    Installed `acme/counts` 2.0.0-rc.1; you are asked before each call that does more than read the \
    workspace.
    ----- stderr
    ");
    host_snapshot!(host, ["plugin", "install", "acme/counts@3.0.0"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: no index has the plugin `acme/counts@3.0.0`
    help: `host plugin search` lists what the indexes have; a bundle of a registry is REGISTRY/REPOSITORY
    ");
    let other = format!("sha256:{}", "0".repeat(64));
    let ended = host_snapshot!(host, ["plugin", "install", "acme/counts", "--digest", &other], @"
    exit: 55
    ----- stdout
    ----- stderr
    error: `acme/counts` is not sha256:[DIGEST]
      caused by: the index `main` says that it is sha256:[DIGEST]
    ");
    assert!(ended.stderr.contains(&format!("the index `main` says that it is {digest}")), "{ended:?}");
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
    let mut cases = Transcript::default();
    let host = Host::new(["run"]);
    cases.add("host plugin search x, without an index", &host.run_of(&["plugin", "search", "x"]));
    cases.add("host plugin install acme/counts", &host.run_of(&["plugin", "install", "acme/counts"]));
    let project = configuration("main", "/srv/index.json", &acme.key());
    let host = Host::new(["run"]).file(".host/config.toml", &project);
    done(host.run_of(&["trust", "add"]));
    cases.add("host tool list, where the project names an index", &host.run_of(&["tool", "list"]));
    cases.add("host plugin search, where the project names an index", &host.run_of(&["plugin", "search"]));
    for keys in ["", "\"RW\""] {
        let text = format!("[indexes.main]\nsource = \"https://example.com/index.json\"\nkeys = [{keys}]\n");
        let ended = Host::new(["run"]).configured(&text).run_of(&["plugin", "search"]);
        cases.add(format!("host plugin search, with keys = [{keys}]"), &ended);
    }
    transcript_snapshot!(cases, @r#"
    # host plugin search x, without an index
    exit: 52
    ----- stderr
    error: no index of plugins is configured
    help: add one to `[HOME]/.config/host/config.toml`: [indexes.NAME] with source = "https://…/index.json" \
    and keys = ["RW…"], the public key of its publisher; `host plugin index` makes one

    # host plugin install acme/counts
    exit: 52
    ----- stderr
    error: `acme/counts` is not a file, and no index of plugins is configured
    help: add one to `[HOME]/.config/host/config.toml`: [indexes.NAME] with source = "https://…/index.json" \
    and keys = ["RW…"], the public key of its publisher; `host plugin index` makes one

    # host tool list, where the project names an index
    exit: 52
    ----- stderr
    error: the project's configuration `[REPOSITORY]/.host/config.toml` cannot be used
      caused by: line 1: `indexes` is not allowed in a project
    help: set it in your own configuration; `docs/trust.md` lists the keys that a project may set

    # host plugin search, where the project names an index
    exit: 52
    ----- stderr
    error: no index of plugins is configured
    help: add one to `[HOME]/.config/host/config.toml`: [indexes.NAME] with source = "https://…/index.json" \
    and keys = ["RW…"], the public key of its publisher; `host plugin index` makes one

    # host plugin search, with keys = []
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: `indexes.main` has no keys
    help: name the public key of its publisher: keys = ["RW…"]

    # host plugin search, with keys = ["RW"]
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 3, column 8
          |
        3 | keys = ["RW"]
          |        ^^^^^^
        invalid minisign public key `RW`: base64 conversion failed - was an actual public key given?; a key \
    is a line of 56 characters that begins with RW
    help: see the line and column above; `docs/configuration.md` lists all keys
    "#);
}

// promise index.registry: An index is pushed to a registry and read from it, as bundles are.
#[tokio::test]
async fn index_in_a_registry_names_bundles_in_it() {
    let (server, acme) = (DockerRegistry::start(false), Publisher::new("acme"));
    let publishing = maker(&acme, &["1.0.0"]).await;
    let (base, place) = (server.name("acme"), server.name("acme/index"));
    let bundle = publishing.repository().join("bundles/counts-1.0.0.tar").display().to_string();
    done(publishing.run_of(&["plugin", "push", &bundle, &format!("{base}/counts")]));
    outcome_snapshot!(make(&publishing, &acme, &["--name", "main", "--base", &base, "--push", &place]), @"
    exit: 0
    ----- stdout
    bundles/index.json
    index `main`, serial 1, 1 plugin, sha256:[DIGEST]
    127.0.0.1:[PORT]/acme/index:latest@sha256:[DIGEST]
    ----- stderr
    ");
    let host = user(&place, &acme);
    trust(&host, &acme);
    host_snapshot!(host, ["plugin", "search", "count"], @"
    exit: 0
    ----- stdout
    acme/counts 1.0.0  Counts the lines of a file.
      by acme, key [KEY], which you trust for it
      asks for fs-read=*
      tools count_lines
      sha256:[DIGEST]
      host plugin install acme/counts  (index `main`)
    ----- stderr
    ");
    done(host.run_of(&["plugin", "install", "acme/counts", "--yes"]));
    let list = std::fs::read_to_string(host.repository().join(".host/plugins.lock")).expect("it is there");
    assert!(list.contains(&format!("source = \"{base}/counts:1.0.0@sha256:")), "{list}");
    // A plugin is not an index.
    let host = user(&server.name("acme/counts"), &acme);
    host_snapshot!(host, ["plugin", "search"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: the index `main` (127.0.0.1:[PORT]/acme/counts) is not used
      caused by: invalid response from `127.0.0.1:[PORT]`: it is not an index of plugins: its \
    `artifactType` is `application/vnd.host.plugin.v1`, not `application/vnd.host.plugin.index.v1`
    ");
}

// promise index.made: An index is made of bundles that keys signed which its maker trusts, and its serial grows.
#[tokio::test]
async fn index_is_made_of_signed_bundles_alone() {
    let acme = Publisher::new("acme");
    let publishing = maker(&acme, &["1.0.0"]).await;
    let mut cases = Transcript::default();
    let mut case = |heading: &str, arguments: &[&str]| cases.add(heading, &make(&publishing, &acme, arguments));
    case("without a name", &[]);
    case("--name Main", &["--name", "Main"]);
    case("--name main", &["--name", "main"]);
    case("again, --serial 1", &["--serial", "1"]);
    case("again, --name other", &["--name", "other"]);
    file(&publishing, "bundles/unsigned.tar", &acme.bundle("1.1.0", READS).await);
    case("a bundle without a signature", &[]);
    // Two bundles of one version.
    file(&publishing, "bundles/unsigned.tar", &acme.signed("1.0.0", &[("fs-read", ".")]).await);
    case("two bundles of one version", &[]);
    std::fs::remove_file(publishing.repository().join("bundles/unsigned.tar")).expect("removed");
    std::fs::write(publishing.repository().join("bundles/index.json"), "{}").expect("written");
    case("index.json is another file", &[]);
    let empty = publishing.file("empty/README", "");
    let key = acme.secret().display().to_string();
    let ended = empty.run_of(&["plugin", "index", "empty", "--name", "x", "--key", &key]);
    cases.add("a folder without bundles", &ended);
    transcript_snapshot!(cases, @"
    # without a name
    exit: 42
    ----- stderr
    error: the first edition of an index needs a name
    help: add --name NAME

    # --name Main
    exit: 42
    ----- stderr
    error: it is not an index of plugins: its name `Main` is not one of a-z, 0-9, `-` and `_`

    # --name main
    exit: 0
    ----- stdout
    bundles/index.json
    index `main`, serial 1, 1 plugin, sha256:[DIGEST]

    # again, --serial 1
    exit: 42
    ----- stderr
    error: the serial 1 is not greater than that of the edition before
    help: leave out --serial, or add --serial 2

    # again, --name other
    exit: 42
    ----- stderr
    error: the index is `main`, not `other`
    help: write this one to another file with --out

    # a bundle without a signature
    exit: 55
    ----- stderr
    error: `acme/counts@1.1.0 sha256:[DIGEST]` is not put into the index
      caused by: it is not signed
    help: sign it with `host plugin sign`, and trust the key with `host keys trust`

    # two bundles of one version
    exit: 42
    ----- stderr
    error: its entry `acme/counts` is invalid: duplicate version 1.0.0

    # index.json is another file
    exit: 42
    ----- stderr
    error: `bundles/index.json` is not replaced
      caused by: it is not an index of plugins: missing field `index` at line 1 column 2
    help: name another file with --out, or remove this one and add --name and --serial

    # a folder without bundles
    exit: 42
    ----- stderr
    error: `empty` has no bundles
    help: `host plugin pack` and `host plugin sign` make them; their names end in `.tar`
    ");
    let schema: Value = serde_json::from_str(&done(empty.run_of(&["schema", "plugin-index"])).stdout).expect("JSON");
    assert_eq!(schema["title"], json!("An index of plugins"));
}

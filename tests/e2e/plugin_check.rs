//! `host plugin check` and `explain`: what an author is told before anybody installs a plugin, and what a user is.

use host_tests::host::{Ended, Host};
use host_tests::{guest, host_snapshot, outcome_snapshot, repository};
use serde_json::{Value, json};

/// The built-in `ls` in a folder `dist`, with its manifest changed; the one that was built in `released`.
fn ls(arguments: &[&str], edit: impl FnOnce(&mut Value)) -> (Host, Ended) {
    let built = |end: &str| std::fs::read(repository().join(format!("plugins/dist/ls.{end}"))).expect("it is built");
    let mut manifest: Value = serde_json::from_slice(&built("json")).expect("it is JSON");
    edit(&mut manifest);
    let host = Host::new(["plugin"])
        .args(arguments)
        .file("dist/ls.wasm", built("wasm"))
        .file("dist/ls.json", manifest.to_string())
        .file("released/ls.wasm", "")
        .file("released/ls.json", built("json"));
    let ended = host.run();
    (host, ended)
}

#[test]
fn plugin_explain_lists_in_plain_words_what_a_plugin_may_touch() {
    let (_host, ended) = ls(&["explain", "dist/ls.wasm"], |_| {});
    outcome_snapshot!(ended, @r"
    exit: 0
    ----- stdout
    ls 0.1.0 (Apache-2.0)
      ls  List a directory

    It asks to
      read the files that you allow
    It says why:
      fs-read: list the entries of a directory
    Unless you grant more, it can only read: the workspace and its own state, and only what it asks for \
    above.

    Whatever is granted, it cannot change files, run programs, reach the network, keep anything between \
    calls, call tools of MCP servers or call other tools: its component has no import for that.
    ----- stderr
    ");
    host_snapshot!(Host::new(["plugin", "explain"]).arg(repository().join("plugins/dist/web_fetch.wasm")), @r"
    exit: 0
    ----- stdout
    web_fetch 0.1.0 (Apache-2.0)
      web_fetch  Fetch a page

    It asks to
      send GET and HEAD requests to any server, those of private networks too
    It says why:
      http: fetch the pages that the model names
    It gets only what you grant.

    Whatever is granted, it cannot read files, change files, run programs, keep anything between calls, \
    call tools of MCP servers or call other tools: its component has no import for that.
    ----- stderr
    ");
}

#[test]
fn a_manifest_that_hides_an_import_is_not_explained_away() {
    let (_host, ended) = ls(&["check", "--built", "dist"], |it| {
        it["capabilities"] = json!({});
        it["tools"][0]["capabilities"] = json!([]);
    });
    outcome_snapshot!(ended, @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: `ls` cannot be loaded
      caused by: `ls` imports `host:cap/fs-read@0.1.0` and its manifest does not declare it; add \
    `[capabilities.fs-read]` with a scope and a reason to its plugin.toml
    ");
    // What words a manifest has do not reach the terminal as commands.
    let (_host, ended) = ls(&["explain", "dist"], |it| {
        it["capabilities"]["fs-read"]["reason"] = json!("to read\u{1b}[2K\rit asks for nothing");
    });
    outcome_snapshot!(ended, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: invalid `capabilities.fs-read.reason`: it must be one line
    ");
}

// promise install.strongest: What a plugin asks for begins with the strongest capability, one line each; reasons and
//   long scopes stand below.
#[test]
fn plugin_explain_begins_with_the_strongest_capability_whatever_the_others_say() {
    let component = guest("reach").component().expect("it is read");
    let denies: String = (0..40).map(|number| format!(",!**/.protected-{number}")).collect();
    let asks = |scope: &str| json!({"scope": scope, "reason": "r"});
    let manifest = json!({
        "manifest": 1, "name": "reach", "version": "1.0.0", "license": "MIT", "contract": "0.1.0", "tools": [],
        "capabilities": {
            "fs-read": asks(&format!(".{denies}")), "fs-write": asks("."), "http": asks("a.example"),
            "process": asks("*"), "state": asks("write"),
        },
    });
    let host = Host::new(["plugin"]).file("p/reach.wasm", component).file("p/reach.json", manifest.to_string());
    let ended = host.run_of(&["plugin", "explain", "p"]);
    let asked: Vec<&str> = ended.stdout.lines().skip_while(|line| *line != "It asks to").skip(1).take(5).collect();
    let begins = [
        "  run the programs",
        "  change, create",
        "  send any requests to a.example",
        "  read files: .,!",
        "  keep state",
    ];
    assert!(asked.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{ended:?}");
    assert!(asked[3].ends_with("… (cut)") && asked[3].chars().count() < 140, "{ended:?}");
    let below = format!("The whole scopes:\n  fs-read: .{denies}\nIt says why:\n  process: r\n");
    assert!(ended.stdout.contains(&below), "{ended:?}");
}

#[test]
fn a_good_plugin_is_good_and_each_mistake_ends_with_its_code() {
    let (_host, ended) = ls(&["check", "--built", "dist"], |_| {});
    outcome_snapshot!(ended, @"
    exit: 0
    ----- stdout
    ls 0.1.0
      imports  host:tool/context@0.1.0, host:tool/types@0.1.0, host:cap/types@0.1.0, host:cap/fs-read@0.1.0
      size     [SIZE] bytes; compiled in [DURATION]
      no errors
    ----- stderr
    ");
    let (_host, ended) = ls(&["check", "--built", "dist", "--json"], |it| {
        it["capabilities"]["http"] = json!({"scope": "*", "reason": "to fetch"});
        it["tools"][0]["description"] = json!("Lists.");
    });
    let told = ended.json();
    let findings: Vec<&str> =
        told[0]["findings"].as_array().expect("a list").iter().filter_map(|it| it["severity"].as_str()).collect();
    assert_eq!((ended.code, findings), (Some(54), vec!["error", "warning", "warning", "note"]), "{told}");
    assert!(told[0]["bytes"].as_u64() > Some(0) && told[0]["compiling_ms"].is_u64() && told[0]["good"] == json!(false));
}

#[test]
fn plugin_check_version_that_does_not_reflect_the_changes_is_too_low() {
    let arguments = ["check", "--built", "dist", "--since", "released"];
    let asks_more = |it: &mut Value, version: &str| {
        it["version"] = json!(version);
        it["tools"][0]["input_schema"]["required"] = json!(["path"]);
    };
    let (_host, ended) = ls(&arguments, |it| asks_more(it, "0.1.1"));
    outcome_snapshot!(ended, @"
    exit: 54
    ----- stdout
    ls 0.1.1
      imports  host:tool/context@0.1.0, host:tool/types@0.1.0, host:cap/types@0.1.0, host:cap/fs-read@0.1.0
      size     [SIZE] bytes; compiled in [DURATION]
      since 0.1.0
        breaking `ls`, arguments: `path` is required
      0.1.1 is too low: these changes need at least 0.2.0
      not ready: see the errors above
    ----- stderr
    ");
    let (_host, ended) = ls(&arguments, |it| asks_more(it, "0.2.0"));
    outcome_snapshot!(ended, @"
    exit: 0
    ----- stdout
    ls 0.2.0
      imports  host:tool/context@0.1.0, host:tool/types@0.1.0, host:cap/types@0.1.0, host:cap/fs-read@0.1.0
      size     [SIZE] bytes; compiled in [DURATION]
      since 0.1.0
        breaking `ls`, arguments: `path` is required
      0.2.0 matches these changes
      no errors
    ----- stderr
    ");
    let (_host, ended) = ls(&["check", "--built", "dist", "--since", "nowhere.json"], |_| {});
    outcome_snapshot!(ended, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: the manifest `nowhere.json` cannot be read: No such file or directory (os error 2)
    ");
}

// promise plugin.license: A plugin whose licence is a placeholder is neither good nor packed.
#[test]
fn plugin_whose_licence_is_a_placeholder_is_not_published() {
    let built = |end: &str| std::fs::read(repository().join(format!("plugins/dist/ls.{end}"))).expect("it is built");
    let host = Host::new(["plugin"])
        .file("dist/ls.wasm", built("wasm"))
        .file("dist/ls.json", built("json"))
        .file("plugin.toml", "name = \"ls\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n")
        .file("LICENSE", "MIT License\n\nCopyright (c) [year] [fullname]\n");
    host_snapshot!(host, ["plugin", "pack", "dist/ls.wasm", "--license", "LICENSE", "--out", "ls.tar"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: the licence file of `ls` is still a template: it contains `[year] [fullname]`
    help: write the text of `Apache-2.0`, which its plugin.toml names, into the file
    ");
    assert!(!host.repository().join("ls.tar").exists());
    host_snapshot!(host, ["plugin", "check", ".", "--built", "dist"], @"
    exit: 54
    ----- stdout
    ls 0.1.0
      imports  host:tool/context@0.1.0, host:tool/types@0.1.0, host:cap/types@0.1.0, host:cap/fs-read@0.1.0
      size     [SIZE] bytes; compiled in [DURATION]
      error    `./LICENSE` is still a template of a licence: it contains `[year] [fullname]`
      not ready: see the errors above
    ----- stderr
    ");
}

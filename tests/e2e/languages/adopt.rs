//! `host plugin adopt`: components that `host plugin build` did not build, and what it says of files that are none.

use host_tests::host::Host;
use host_tests::languages::{Language, example};
use host_tests::text_module::binary as text;
use serde_json::{Value, json};

use super::building::language;

/// A component as the tools of a language leave it: the file alone.
fn component(language: Language) -> Vec<u8> {
    std::fs::read(example(language).join("acme+words.wasm")).expect("it was built")
}

fn json_of(host: &Host, file: &str) -> Value {
    let text = std::fs::read_to_string(host.repository().join(file)).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

// promise plugin.adopted: A component that was built elsewhere is asked for its tools without any capability, and
//   becomes a plugin with a manifest; its provenance says that it was adopted.
#[test]
fn adopted_component_is_called_like_one_that_was_built() {
    for name in ["c", "python"] {
        let bytes = component(language(name));
        let host = Host::new(["plugin", "adopt", "words.wasm", "--license", "MIT"])
            .file("words.wasm", &bytes)
            .file("some.txt", "one two one\n");
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
        assert!(ended.stdout.contains("tool      word_count"), "{}", ended.stdout);
        let asks = "requests  fs-read = *: count the words of the file that the model names";
        assert!(ended.stdout.contains(asks), "{}", ended.stdout);
        assert_eq!(std::fs::read(host.repository().join("dist/words.wasm")).expect("it is there"), bytes);

        let manifest = json_of(&host, "dist/words.json");
        assert_eq!(manifest["name"], "words");
        assert_eq!(manifest["license"], "MIT");
        assert_eq!(manifest["tools"][0]["name"], "word_count");
        let provenance = json_of(&host, "dist/provenance.json");
        assert_eq!(provenance["origin"], "adopted");
        assert_eq!(provenance["plugins"]["words"]["sources"], "unknown");

        let call = ["tool", "call", "word_count", r#"{"path": "some.txt"}"#, "--plugin", "dist"];
        let ended = host.run_of(&call);
        assert!(ended.stdout.starts_with("1 lines, 3 words"), "{name}: {ended:?}");
        let ended = host.run_of(&["plugin", "check", ".", "--built", "dist"]);
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
    }
}

// promise plugin.adopted-requests: An adopted component requests what it imports, with the scope and reason of its
//   author: a flag before its plugin.toml, and that before its own description.
#[test]
fn adopted_component_requests_what_it_imports_in_its_authors_words() {
    let adopt = |arguments: &[&str], manifest: Option<&str>| {
        let mut host = Host::new(["plugin", "adopt", "words.wasm"]).args(arguments);
        host = host.file("words.wasm", component(language("c")));
        if let Some(manifest) = manifest {
            host = host.file("plugin.toml", manifest);
        }
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
        host
    };
    let asked = |host: &Host, file: &str| json_of(host, file)["capabilities"]["fs-read"].clone();
    let own = json!({"scope": "*", "reason": "count the words of the file that the model names"});
    let flags = ["--scope", "fs-read=docs", "--reason", "fs-read=to count"];
    let flagged = json!({"scope": "docs", "reason": "to count"});
    let written = "name = \"acme/words\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n\
                   [capabilities.fs-read]\nscope = \"src\"\nreason = \"as written\"\n[titles]\nword_count = \"{path}\"\n";

    assert_eq!(asked(&adopt(&["--license", "MIT"], None), "dist/words.json"), own);
    let host = adopt(&[&["--license", "MIT"][..], &flags].concat(), None);
    assert_eq!(asked(&host, "dist/words.json"), flagged);
    let host = adopt(&[], Some(written));
    assert_eq!(asked(&host, "dist/acme+words.json"), json!({"scope": "src", "reason": "as written"}));
    assert_eq!(json_of(&host, "dist/acme+words.json")["tools"][0]["call_title"], "{path}");
    let more = ["--name", "other/words", "--set-version", "2.0.0", "--out", "out"];
    let host = adopt(&[&more[..], &flags].concat(), Some(written));
    let manifest = json_of(&host, "out/other+words.json");
    assert_eq!((&manifest["version"], &manifest["license"]), (&json!("2.0.0"), &json!("MIT")));
    assert_eq!(asked(&host, "out/other+words.json"), flagged);
}

#[test]
fn adopt_of_a_file_that_is_no_plugin_says_what_it_is_and_what_to_do() {
    let tool = r#"(instance $i) (export "host:tool/tool@0.1.0" (instance $i))"#;
    let importing = |name: &str| text(&format!(r#"(component (import "{name}" (instance)) {tool})"#));
    let license = ["--license", "MIT"];
    for (bytes, arguments, says, help) in [
        (b"#!/bin/sh".to_vec(), &license[..], "does not start like WebAssembly", ""),
        (text("(module)"), &license, "the tool of its language makes a component", "wasm32-wasip2"),
        (
            text("(component)"),
            &license,
            "does not export `host:tool/tool@0.1.0`: it exports nothing",
            "host plugin wit",
        ),
        (
            text(r#"(component (instance $i) (export "a:b/c" (instance $i)))"#),
            &license,
            "it exports `a:b/c`",
            "host plugin wit",
        ),
        (
            importing("wasi:http/types@0.2.0"),
            &license,
            "`wasi:http/types@0.2.0`, which this host does not have",
            "--disable http",
        ),
        (importing("wasi:keyvalue/store@0.2.0"), &license, "wasi:keyvalue/store", "host:cap"),
        (importing("a:b/c@1.0.0"), &license, "a:b/c@1.0.0", "host plugin wit"),
        (component(language("c")), &[], "the licence of `x` is not named", "--license MIT"),
        (component(language("c")), &["--license", "MIT", "--name", "X"], "invalid plugin name `X`", ""),
        (
            component(language("c")),
            &["--license", "MIT", "--reason", "http=to fetch"],
            "does not import `host:cap/http`",
            "requests what it imports",
        ),
        (component(language("c")), &["--license", "MIT", "--reason", "fs-reed=x"], "fs-reed", ""),
        (component(language("c")), &["--license", "MIT", "--reason", "fs-read"], "no `=`", ""),
        (
            component(language("c")),
            &["--license", "MIT", "--reason", "fs-read="],
            "no reason is given",
            "--reason fs-read=",
        ),
        (
            component(language("c")),
            &["--license", "MIT", "--reason", "fs-read=a\nb"],
            "invalid `capabilities.fs-read.reason`",
            "",
        ),
    ] {
        let host = Host::new(["plugin", "adopt", "x.wasm"]).args(arguments).file("x.wasm", &bytes);
        let ended = host.run();
        assert_eq!(ended.code, Some(42), "{says}: {ended:?}");
        assert!(ended.stderr.contains(says) && ended.stderr.contains(help), "{says}: {}", ended.stderr);
        assert!(!host.repository().join("dist").exists(), "{says}");
    }
    let ended = Host::new(["plugin", "adopt", "none.wasm", "--license", "MIT"]).run();
    assert!(ended.code == Some(42) && ended.stderr.contains("none.wasm"), "{ended:?}");
}

#[test]
fn wit_is_written_with_a_world_of_what_was_named() {
    let host =
        Host::new(["plugin", "wit", "--capability", "fs-read", "--out", "contract"]).file("contract/mine.txt", "");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let folder = host.repository().join("contract");
    let world = std::fs::read_to_string(folder.join("world.wit")).expect("written");
    assert!(world.contains("import host:cap/fs-read@0.1.0;") && !world.contains("http"), "{world}");
    assert!(folder.join("deps/tool/tool.wit").is_file() && folder.join("mine.txt").is_file());
    let ended = Host::new(["plugin", "wit", "--capability", "fs-reed"]).run();
    assert!(ended.code == Some(42) && ended.stderr.contains("fs-reed"), "{ended:?}");
}

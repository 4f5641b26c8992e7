//! Hooks that are components: the example checks each call, and a component that misbehaves denies and harms nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use host_tests::host::{Host, binary};
use host_tests::languages::{LANGUAGES, Language, compiler_caches, toolchain};
use host_tests::{cache, guest, repository};
use serde_json::{Value, json};

use super::{answer, call, result};

/// A run of one call in the mode that allows everything, with the example in front of it.
fn guarded(name: &str, arguments: Value) -> Host {
    guarded_by(&guest("safety").component().expect("it is read"), name, arguments)
}

/// The same with another component.
fn guarded_by(component: &[u8], name: &str, arguments: Value) -> Host {
    let replies = [call(name, arguments), answer("Done.")];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "--output-format", "stream-json", "Go"])
        .home_file("safety.wasm", component);
    host.configured("[[hooks.PreToolUse]]\ncomponent = \"~/safety.wasm\"\nname = \"safety\"\n")
}

// promise hooks.component: A hook can be a component that imports nothing: it sees each call and decides as a program
//   does.
#[test]
fn hook_component_checks_each_call() {
    let host = guarded("shell", json!({"command": "rm -rf build"}));
    let ended = host.run();
    let output = result(&ended)["output"].as_str().expect("text").to_owned();
    assert_eq!(
        output, "`shell` was not run: the hook `safety` denied it: `rm -rf` destroys what cannot be restored",
        "{ended:?}"
    );
    let host = guarded("shell", json!({"command": "echo fine > new.txt"}));
    assert_eq!(result(&host.run())["status"], "success");
    // Nobody can be asked here.
    let host = guarded("read_file", json!({"path": ".env"})).file(".env", "TOKEN=x");
    let output = result(&host.run())["output"].as_str().expect("text").to_owned();
    assert!(output.contains("the hook `safety` asks for your approval: `.env` may hold secrets"), "{output}");
    let listed = host.run_of(&["hooks", "list"]);
    assert!(listed.stdout.contains("PreToolUse *: ") && listed.stdout.contains("safety.wasm"), "{listed:?}");
}

// promise hooks.closed
#[test]
fn hook_component_that_misbehaves_denies() {
    for (word, why) in [
        ("trap", "it crashed"),
        ("spin", "it took too long"),
        ("eat", "it needs more memory"),
        ("fail", "it says that it failed"),
        ("change", "its arguments are not JSON"),
    ] {
        let host = guarded("shell", json!({"command": format!("echo 'misbehave: {word}' > new.txt")}));
        let limits =
            "[limits]\ncall_seconds = 1\n[[hooks.PreToolUse]]\ncomponent = \"~/safety.wasm\"\nname = \"safety\"\n";
        let ended = host.configured(limits).run();
        let output = result(&ended)["output"].as_str().expect("text").to_owned();
        assert!(output.contains("it failed, so that this is denied") && output.contains(why), "{word}: {output}");
    }
}

#[test]
fn hook_component_that_imports_a_capability_or_is_not_a_hook_is_not_used() {
    for (bytes, why) in [
        (guest("counts").component().expect("it is read").into_owned(), "does not export `host:hook/handler@0.1.0`"),
        (b"\0asm\x0d\0\x01\0".to_vec(), "does not export `host:hook/handler@0.1.0`"),
        (b"\0asm\x01\0\0\0".to_vec(), "core module"),
        (b"#!/bin/sh\n".to_vec(), "is not a component"),
    ] {
        let host = guarded("ls", json!({})).home_file("safety.wasm", bytes);
        let ended = host.run();
        assert!(ended.code == Some(52) && ended.stderr.contains(why), "{ended:?}");
    }
    let ended = guarded("ls", json!({})).configured("[[hooks.Stop]]\ncomponent = \"~/none.wasm\"\n").run();
    assert!(ended.code == Some(52) && ended.stderr.contains("none.wasm"), "{ended:?}");
    let both = "[[hooks.Stop]]\ncomponent = \"~/safety.wasm\"\ncommand = \"true\"\n";
    let ended = guarded("ls", json!({})).configured(both).run();
    assert!(ended.code == Some(52) && ended.stderr.contains("both `command` and `component`"), "{ended:?}");
}

/// Builds the example of a language as its documents say.
fn built(language: Language, folder: &Path) -> Vec<u8> {
    let example = repository().join("sdk/hooks").join(language.name);
    for entry in fs::read_dir(&example).expect("it is there") {
        let path = entry.expect("read").path();
        fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("copied");
    }
    fs::create_dir_all(folder.join("wit/hook")).expect("made");
    fs::copy(repository().join("wit/hook/hook.wit"), folder.join("wit/hook/hook.wit")).expect("copied");
    // The compiler is that of plugins.
    let wanted = repository().join("sdk").join(language.name).join("template").join(language.wanted);
    let compiler = toolchain(language, &fs::read_to_string(wanted).expect("read")).join(language.installed);
    std::os::unix::fs::symlink(compiler, folder.join(language.installed)).expect("made");
    let (mut command, made) = match language.name {
        "js" => (Command::new("node"), "hook.wasm"),
        _ => (Command::new(binary()), "dist/safety.wasm"),
    };
    match language.name {
        "js" => command.arg("build.mjs"),
        _ => command.args(["plugin", "build", ".", "--out", "dist"]),
    };
    command.current_dir(folder).env("XDG_CACHE_HOME", cache()).envs(compiler_caches());
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}: {}", language.name, String::from_utf8_lossy(&output.stderr));
    fs::read(folder.join(made)).expect("it was made")
}

// promise hooks.languages: The example of a hook works in C, Zig, Go and JavaScript as it does in Rust.
#[test]
fn hook_component_of_each_language_checks_calls() {
    // An engine for Python takes a minute to compile.
    for language in LANGUAGES.into_iter().filter(|language| language.name != "python") {
        let folder = tempfile::tempdir().expect("a folder");
        let component = built(language, folder.path());
        for (name, arguments, expected) in [
            ("shell", json!({"command": "rm -rf build"}), "`rm -rf` destroys what cannot be restored"),
            ("read_file", json!({"path": ".env"}), "`.env` may hold secrets"),
            ("shell", json!({"command": "echo fine"}), "fine"),
        ] {
            let ended = guarded_by(&component, name, arguments).run();
            let output = result(&ended)["output"].as_str().expect("text").to_owned();
            assert!(output.contains(expected), "{}: {output}", language.name);
        }
    }
}

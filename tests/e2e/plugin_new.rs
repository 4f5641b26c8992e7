//! `host plugin new` and the target of Rust plugins, with a compiler and a rustup that are scripts.

use std::os::unix::fs::PermissionsExt;

use host_tests::host::{Ended, Host};
use host_tests::snapshot::Transcript;
use host_tests::{outcome_snapshot, transcript_snapshot};

/// A machine with this compiler, and this rustup if there is one.
fn machine(rustup: Option<&str>, has_target: bool) -> Host {
    // The compiler has the target where rustup puts it.
    let rustc = "#!/bin/sh\necho \"$HOME/target\"\n";
    let mut host = Host::new(["run"]).home_file("bin/rustc", rustc);
    if let Some(rustup) = rustup {
        host = host.home_file("bin/rustup", format!("#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\n{rustup}\n"));
    }
    if has_target {
        std::fs::create_dir(host.home().join("target")).expect("made");
    }
    let programs = host.home().join("bin");
    for program in std::fs::read_dir(&programs).expect("read").map(|program| program.expect("read").path()) {
        std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).expect("set");
    }
    let path = std::env::join_paths([programs.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path");
    host.env("PATH", path)
}

/// Creates a plugin there, and returns what rustup was asked.
fn created(host: &Host, language: &str) -> (Ended, String) {
    let ended = host.run_of(&["plugin", "new", "words", "--lang", language]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(host.repository().join("words/plugin.toml").exists(), "{ended:?}");
    let asked = std::fs::read_to_string(host.home().join("asked")).unwrap_or_default();
    (ended, asked)
}

const ASKED: &str = "target add wasm32-unknown-unknown\n";

#[test]
fn plugin_new_adds_the_target_of_rust_that_is_missing() {
    let (ended, asked) = created(&machine(Some("mkdir \"$HOME/target\""), false), "rust");
    assert_eq!(asked, ASKED);
    outcome_snapshot!(ended, @r#"
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    cargo test                                       # natively, on a fake host
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"
    ----- stderr
    note: `rustup target add wasm32-unknown-unknown` downloads Rust's standard library for the target of \
    plugins
    "#);

    let mut created_without = Transcript::default();
    for language in ["rust", "c", "js", "python", "zig", "go"] {
        let (ended, asked) = created(&machine(Some("exit 1"), language == "rust"), language);
        assert_eq!((asked.as_str(), ended.stderr.as_str()), ("", ""), "{language}");
        created_without.add(language, &ended);
    }
    transcript_snapshot!(created_without, @r#"
    # rust
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    cargo test                                       # natively, on a fake host
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"

    # c
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt        # the compiler, where `zig` is not on your path
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"

    # js
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    npm install                                      # the compiler, into node_modules
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"

    # python
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt        # the compiler
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"

    # zig
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt        # the compiler, where `zig` is not on your path
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"

    # go
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt        # the compiler, where `go` is not on your path
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"
    "#);
}

#[test]
fn plugin_new_without_the_target_is_a_warning_with_the_command() {
    let mut warnings = Transcript::default();
    for rustup in ["echo 'could not download' >&2; exit 1", "exit 0"] {
        let (ended, asked) = created(&machine(Some(rustup), false), "rust");
        assert_eq!(asked, ASKED, "{rustup}");
        warnings.add(rustup, &ended);
    }
    transcript_snapshot!(warnings, @r#"
    # echo 'could not download' >&2; exit 1
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    cargo test                                       # natively, on a fake host
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"
    ----- stderr
    note: `rustup target add wasm32-unknown-unknown` downloads Rust's standard library for the target of \
    plugins
    could not download
    warning: `rustup target add wasm32-unknown-unknown` failed (exit status: 1); run it again once you are \
    online

    # exit 0
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    cargo test                                       # natively, on a fake host
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"
    ----- stderr
    note: `rustup target add wasm32-unknown-unknown` downloads Rust's standard library for the target of \
    plugins
    warning: `rustc` still has no target `wasm32-unknown-unknown`, since rustup does not manage it; install \
    the target as you installed Rust
    "#);
}

#[test]
fn plugin_new_without_rustup_names_the_target_that_is_missing() {
    // No program but the compiler can be found, not even a rustup of this machine.
    let host = machine(None, false);
    let path = host.home().join("bin");
    let host = host.env("PATH", path);
    let (ended, _) = created(&host, "rust");
    outcome_snapshot!(ended, @r#"
    exit: 0
    ----- stdout
    words: [NUMBER] files. What comes next:

    cd words
    cargo test                                       # natively, on a fake host
    host plugin build . --out dist                   # the component and its manifest
    host plugin test . --built dist                  # the cases of tests/word_count.toml, in the sandbox
    host tool show word_count --plugin dist
    host tool call word_count '{"path": "README.md"}' --plugin dist
    host run --plugin dist "How many words has README.md?"
    ----- stderr
    note: `rustup target add wasm32-unknown-unknown` downloads Rust's standard library for the target of \
    plugins
    warning: the compiler has no target `wasm32-unknown-unknown`, and `rustup` cannot be run: No such file \
    or directory (os error 2); install the target as you installed Rust
    "#);
}

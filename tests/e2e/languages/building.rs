//! `host plugin new` and `host plugin build`: what they refuse, and what is the same wherever it is done.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use host_tests::host::{Host, binary};
use host_tests::languages::{LANGUAGES, Language, Project, compiler_caches};

pub(super) fn language(name: &str) -> Language {
    LANGUAGES.into_iter().find(|language| language.name == name).expect("it is one of them")
}

#[test]
fn new_writes_over_nothing_and_names_no_plugin_that_cannot_be() {
    for (name, into, says) in [
        ("words", "taken", "is not empty"),
        ("words", "taken/file", "cannot be used"),
        ("Words", "free", "invalid plugin name"),
        ("a/b/c", "free", "invalid plugin name"),
        ("../words", "free", "invalid plugin name"),
        ("x\"y", "free", "invalid plugin name"),
    ] {
        let host = Host::new(["plugin", "new", name, "--lang", "c", "--in", into]).file("taken/file", "mine");
        let ended = host.run();
        assert_eq!(ended.code, Some(42), "{name} {into}: {ended:?}");
        assert!(ended.stderr.contains(says), "{name} {into}: {}", ended.stderr);
        assert!(!host.repository().join("free").exists(), "{name}");
        assert_eq!(std::fs::read_dir(host.repository().join("taken")).expect("read").count(), 1);
    }
    let ended = Host::new(["plugin", "new", "words", "--lang", "cobol"]).run();
    assert_eq!(ended.code, Some(42), "{ended:?}");
    assert!(LANGUAGES.iter().all(|language| ended.stderr.contains(language.name)), "{}", ended.stderr);
}

#[test]
fn a_missing_compiler_is_said_with_the_line_that_gets_it() {
    for (name, says) in [
        ("c", ".venv/bin/pip install ziglang"),
        ("zig", ".venv/bin/pip install ziglang"),
        ("go", ".venv/bin/pip install -r requirements.txt"),
        ("python", ".venv/bin/pip install -r requirements.txt"),
        ("js", "npm install"),
    ] {
        let project = Project::begun(language(name), "words");
        // No compiler on the search path, and node alone for JavaScript.
        let path = tempfile::tempdir().expect("a folder");
        if name == "js" {
            let node = Command::new("sh").args(["-c", "command -v node"]).output().expect("there is a shell");
            let node = String::from_utf8(node.stdout).expect("text");
            assert!(!node.trim().is_empty(), "the tests of plugins in JavaScript need node 20");
            std::os::unix::fs::symlink(node.trim(), path.path().join("node")).expect("made");
        }
        let mut command = project.host(&["plugin", "build", ".", "--out", "dist"]);
        let output = command.env("PATH", path.path()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(42), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
        assert!(!project.path().join("dist").exists());
    }
}

#[test]
fn plugin_build_without_a_language_reports_which_there_are() {
    let manifest = "name = \"words\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n";
    for (text, says) in [
        (manifest.to_owned(), "`rust`, `javascript`, `python`, `c`, `zig`, `go`"),
        (format!("{manifest}[build]\nlanguage = \"cobol\"\n"), "unknown variant `cobol`"),
        (format!("{manifest}[build]\nlanguage = \"c\"\nflags = \"-O9\"\n"), "unknown field `flags`"),
        (format!("{manifest}[build]\n"), "missing field `language`"),
    ] {
        let host = Host::new(["plugin", "build", ".", "--out", "dist"]).file("plugin.toml", &text);
        let ended = host.run();
        assert_eq!(ended.code, Some(42), "{ended:?}");
        assert!(ended.stderr.contains(says), "{text}: {}", ended.stderr);
    }
}

#[test]
fn a_capability_that_plugin_toml_does_not_declare_is_not_there_to_be_imported() {
    for (name, says) in [("js", "host:cap/fs-read"), ("zig", "fs_read"), ("c", "host_read_file")] {
        let project = Project::new(language(name), "words");
        let manifest = project.text("plugin.toml");
        let (without, _) = manifest.split_once("[capabilities").expect("it declares one");
        let project = project.file("plugin.toml", without);
        let said = project.build().expect_err("what is not declared cannot be used");
        assert!(said.contains(says), "{name}: {said}");
    }
}

/// The linker of Go drops what the code does not reach, so that its binding has every capability.
#[test]
fn go_code_that_reaches_a_capability_has_to_declare_it() {
    let project = Project::new(language("go"), "words");
    let manifest = project.text("plugin.toml");
    let (without, _) = manifest.split_once("[capabilities").expect("it declares one");
    let project = project.file("plugin.toml", without);
    let said = project.build().expect_err("what is not declared cannot be used");
    assert!(said.contains("imports `host:cap/fs-read` and does not declare it"), "{said}");
}

#[test]
fn a_contract_that_is_missing_or_broken_is_said_to_be() {
    let project = Project::new(language("c"), "words");
    std::fs::write(project.path().join("wit/tool/tool.wit"), "package host:tool@0.1.0;\ninterface {").expect("written");
    let said = project.build().expect_err("it is broken");
    assert!(said.contains("cannot be used") && said.contains("tool.wit"), "{said}");
    std::fs::remove_dir_all(project.path().join("wit")).expect("removed");
    let said = project.build().expect_err("it is missing");
    assert!(said.contains("host plugin new"), "{said}");
}

#[test]
fn the_same_sources_in_another_folder_are_the_same_component() {
    for (name, compiler) in [("c", "zig cc 0.17.0"), ("zig", "zig 0.17.0"), ("go", "go1.27.3")] {
        let (one, other) = (Project::new(language(name), "words"), Project::new(language(name), "words"));
        one.build().unwrap_or_else(|said| panic!("{name}: {said}"));
        let dist = one.path().join("dist");
        let mut check = other.host(&["plugin", "build", ".", "--check", "--out"]);
        let output = check.arg(&dist).output().expect("it runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let provenance = one.text("dist/provenance.json");
        assert!(provenance.contains(compiler), "{provenance}");
    }
}

#[test]
fn typescript_is_taken_in_the_place_of_javascript() {
    let project = Project::new(language("js"), "words");
    let script = project.text("plugin.js");
    let typed = script
        .replace("function wordCount({ path, top = 10 })", "function wordCount({ path, top = 10 }: Arguments)")
        .replace("const outputSchema", "interface Arguments { path: string; top?: number }\nconst outputSchema");
    assert_ne!(script, typed);
    std::fs::remove_file(project.path().join("plugin.js")).expect("removed");
    let project = project.file("plugin.ts", &typed).file("some.txt", "one two one");
    project.build().unwrap_or_else(|said| panic!("{said}"));
    let call = [
        "tool",
        "call",
        "word_count",
        r#"{"path": "some.txt"}"#,
        "--any-folder",
        "--plugin",
        "dist",
        "--grant",
        "words:fs-read=.",
    ];
    let output = project.host(&call).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 lines, 3 words, 11 bytes\n2 one\n1 two\n");
}

/// What the pages of the templates say comes next is what comes next.
#[test]
fn the_commands_that_new_prints_are_commands_of_this_host() {
    for language in LANGUAGES {
        let host = Host::new(["plugin", "new", "acme/words", "--lang", language.name]);
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("cd words\n"), "{}", ended.stdout);
        let lines: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("host ")).collect();
        assert!(lines.len() >= 3, "{}", ended.stdout);
        for line in lines {
            // Its words up to the first argument, asked for their help.
            let words: Vec<&str> = line.split(' ').skip(1).take(2).filter(|word| !word.starts_with('-')).collect();
            let output = Command::new(binary()).args(words).arg("--help").output().expect("it runs");
            assert!(output.status.success(), "{line}");
        }
    }
}

/// Where nobody has a home, and so that a package builds as fast again wherever it is built.
#[test]
fn the_cache_of_a_compiler_lies_in_the_package() {
    for (name, variable, cache) in [
        ("c", "ZIG_GLOBAL_CACHE_DIR", "build/zig-cache"),
        ("zig", "ZIG_GLOBAL_CACHE_DIR", "build/zig-cache"),
        ("go", "GOCACHE", "build/go-cache"),
    ] {
        let project = Project::new(language(name), "words");
        let asked = (name != "go").then(|| noting_caches(&project));
        let mut command = project.host(&["plugin", "build", ".", "--out", "dist"]);
        // An empty variable is none.
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME").env(variable, "");
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(project.path().join(cache).is_dir(), "{name}");
        if let Some(asked) = asked {
            let asked = std::fs::read_to_string(asked).expect("it was asked");
            assert!(!asked.is_empty() && asked.lines().all(|line| line == format!("{cache} {cache}")), "{asked}");
        }
    }
}

/// Lets the compiler note which caches it is told to use, and keep what belongs to no package in that of all tests: the
/// C library and the compiler's own take it a minute and a half. Returns the file with its notes.
fn noting_caches(project: &Project) -> PathBuf {
    let installed = project.path().join(".venv");
    let compiler = std::fs::canonicalize(installed.join("bin/python-zig")).expect("it is installed");
    std::fs::remove_file(&installed).expect("removed");
    std::fs::create_dir_all(installed.join("bin")).expect("made");
    let [(variable, shared), _] = compiler_caches();
    let notes = project.path().join("caches.txt");
    // Asked for its version it compiles nothing.
    let script = format!(
        "#!/bin/sh\n\
         test \"$1\" = version || echo \"$ZIG_GLOBAL_CACHE_DIR $ZIG_LOCAL_CACHE_DIR\" >> '{}'\n\
         export {variable}='{}'\n\
         exec '{}' \"$@\"\n",
        notes.display(),
        shared.display(),
        compiler.display()
    );
    let program = installed.join("bin/python-zig");
    std::fs::write(&program, script).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("set");
    notes
}

/// What the user set for Go's command, a newer compiler and a module that would have to be fetched.
#[test]
fn go_builds_with_its_own_settings_and_fetches_nothing() {
    let mut project = Project::new(language("go"), "words");
    let (module, source) = (project.text("go.mod"), project.text("plugin.go"));
    let build = |project: &Project| {
        let mut command = project.host(&["plugin", "build", ".", "--out", "dist"]);
        command.env("GOFLAGS", "-mod=mod -tags=none").env("GOPROXY", "http://127.0.0.1:1").env("GOWASM", "satconv");
        command.output().expect("it runs")
    };
    let output = build(&project);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let newer = module.replace("go 1.25", "go 1.99");
    let needs = format!("{module}\nrequire example.com/far v1.0.0\n");
    let uses = source.replace("import (\n", "import (\n\t_ \"example.com/far\"\n");
    for (module, source, says) in [(newer, &source, "requires go >= 1.99"), (needs, &uses, "example.com/far")] {
        project = project.file("go.mod", &module).file("plugin.go", source);
        let output = build(&project);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(says) && !said.contains("127.0.0.1"), "{said}");
    }
}

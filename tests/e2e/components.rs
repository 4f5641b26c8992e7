//! The built-in components: that they are what their sources build, anywhere, and that their sources pass their tests.

use std::path::Path;
use std::process::Command;

use host_devkit::Provenance;
use host_tests::host::binary;
use host_tests::{add_target, repository, tools};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("read") {
        let entry = entry.expect("read");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("known");
        if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(source).expect("read"), target).expect("made");
        } else if kind.is_dir() {
            if entry.file_name() != "target" {
                copy(&source, &target);
            }
        } else {
            std::fs::copy(source, target).expect("copied");
        }
    }
}

#[test]
fn the_components_are_what_their_sources_build_in_any_folder() {
    add_target();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let folder = elsewhere.path().join("another place");
    // Cargo looks at all that the SDK's tests take too, which is part of no component.
    for needed in ["plugins", "sdk", "wit", "host/capability", "host/text"] {
        copy(&repository().join(needed), &folder.join(needed));
    }
    std::fs::copy(repository().join("Cargo.toml"), folder.join("Cargo.toml")).expect("copied");
    let provenance = |path: &Path| -> Provenance {
        let text = std::fs::read_to_string(path.join("provenance.json")).expect("read");
        serde_json::from_str(&text).expect("it is one")
    };
    let committed = provenance(&folder.join("plugins/dist"));
    let compiler = host_devkit::compiler(&tools()).expect("there is one");
    let build = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.current_dir(&folder).args(["plugin", "build", "plugins", "--out"]).args(arguments);
        command.env_remove("CARGO_TARGET_DIR").output().expect("it runs")
    };
    if committed.compiler == compiler {
        let output = build(&["plugins/dist", "--check"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    } else {
        // Another compiler makes other bytes. That they come from these sources still shows.
        let output = build(&["built"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let built = provenance(&folder.join("built"));
        for (name, entry) in &committed.plugins {
            assert_eq!(Some(&entry.sources), built.plugins.get(name).map(|entry| &entry.sources), "{name}");
        }
    }
}

#[test]
fn components_name_the_wit_component_that_made_them() {
    let lock = std::fs::read_to_string(repository().join("Cargo.lock")).expect("read");
    let versions: Vec<&str> = lock
        .split("[[package]]")
        .filter_map(|package| package.split_once("name = \"wit-component\"\nversion = \""))
        .filter_map(|(_, version)| version.split('"').next())
        .collect();
    let linked = format!("wit-component {}", versions.join(", "));
    assert_eq!(host_devkit::COMPONENTIZER, linked);
    let text = std::fs::read_to_string(repository().join("plugins/dist/provenance.json")).expect("read");
    let committed: Provenance = serde_json::from_str(&text).expect("it is one");
    assert_eq!(committed.componentizer, linked);
}

#[test]
fn a_changed_component_is_noticed() {
    add_target();
    let out = tempfile::tempdir().expect("a folder");
    let build = |check: &[&str]| {
        let mut command = Command::new(binary());
        command
            .current_dir(repository())
            .args(["plugin", "build", "tests/guests", "--out"])
            .arg(out.path())
            .args(check);
        command.output().expect("it runs")
    };
    assert!(build(&[]).status.success());
    assert!(build(&["--check"]).status.success());
    let component = out.path().join("misbehave.wasm");
    let mut bytes = std::fs::read(&component).expect("read");
    *bytes.last_mut().expect("it has bytes") ^= 1;
    std::fs::write(&component, bytes).expect("written");
    let output = build(&["--check"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(54), "{said}");
    assert!(said.contains("misbehave.wasm") && said.contains("--check"), "{said}");
}

#[test]
fn the_sources_of_the_tools_pass_their_own_tests() {
    let output = Command::new(tools().cargo)
        .args(["test", "--quiet", "--locked"])
        .current_dir(repository().join("plugins"))
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test result: ok"), "{said}");
}

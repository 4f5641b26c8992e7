//! Names that a file system takes for the same as protected ones.

use host_tests::host::Host;
use host_tests::mounted::Mounted;
use serde_json::{Value, json};

/// Calls a tool in the mounted repository with everything that a flag can grant.
fn call(root: &std::path::Path, tool: &str, arguments: Value) -> String {
    let ended = Host::new(["tool", "call", tool, &arguments.to_string(), "--deny", "*:fs-read=.env"])
        .args(&["--deny", "*:fs-read=Straße", "--approval-mode", "yolo", "-C", &root.display().to_string()])
        .run();
    format!("{}{}", ended.stdout, ended.stderr)
}

// promise files.case: What is denied or protected is so in every spelling that the file system takes for the same.
#[test]
fn sandbox_names_in_another_case_are_denied_where_they_are_the_same() {
    let Some(mount) = Mounted::mount() else { return };
    let root = mount.root();
    for folder in [".git/hooks", "sub", "empty"] {
        std::fs::create_dir_all(root.join(folder)).expect("made");
    }
    for (path, text) in [(".git/config", "config"), (".env", "SECRET"), ("sub/.env", "SECRET"), ("readme", "text")] {
        std::fs::write(root.join(path), text).expect("written");
    }
    assert_eq!(std::fs::read_to_string(root.join(".ENV")).expect("it is the same"), "SECRET");

    for path in [".env", ".ENV", ".Env", "SUB/.eNV", "sub/.ENV"] {
        let answer = call(root, "read_file", json!({ "path": path }));
        assert!(answer.contains("may not read") && !answer.contains("SECRET"), "{path}: {answer}");
    }
    assert!(call(root, "read_file", json!({"path": "README"})).contains("text"));
    for path in [
        ".git/config",
        ".GIT/config",
        ".Git/hooks/pre-commit",
        ".gIT/CONFIG",
        ".HOST/config.toml",
        "sub/.Host/tools/x",
        "empty/.GIT/config",
        "new/.GIT/config",
        ".BashRC",
        "empty/.ZSHRC",
        ".ho\u{17f}t/x",
    ] {
        let answer = call(root, "write_file", json!({"path": path, "content": "evil"}));
        assert!(answer.contains("protected") || answer.contains("may not write"), "{path}: {answer}");
        assert_ne!(std::fs::read(root.join(path)).unwrap_or_default(), b"evil", "{path}");
    }
    assert_eq!(std::fs::read_to_string(root.join(".git/config")).expect("there"), "config");
    let answer = call(root, "write_file", json!({"path": "Sub/New", "content": "fine"}));
    assert_eq!(std::fs::read_to_string(root.join("sub/new")).expect("written"), "fine", "{answer}");
}

/// Where case counts, another case is another file.
#[test]
fn sandbox_names_in_another_case_are_other_files_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    std::fs::create_dir_all(root.join(".git")).expect("made");
    std::fs::write(root.join(".ENV"), "harmless").expect("written");
    assert!(call(root, "read_file", json!({"path": ".ENV"})).contains("harmless"));
    let answer = call(root, "write_file", json!({"path": "docs/.GIT/notes", "content": "fine"}));
    assert!(root.join("docs/.GIT/notes").exists(), "{answer}");
}

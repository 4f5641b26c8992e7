//! The list of trusted projects: who may write it, and what becomes of one that cannot be believed.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use host_tests::host::{Host, binary};
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, transcript_snapshot};
use serde_json::json;

use super::{run, trust};

fn file(host: &Host) -> PathBuf {
    host.home().join(".local/state/host/trust.json")
}

fn project() -> Host {
    run(&["Look"]).file(".host/config.toml", "model = \"offline\"\n")
}

// promise project.list: Only the user can write the list of trusted projects; it is replaced atomically and rejected
//   if others could have written it.
#[test]
fn trust_is_said_shown_listed_and_taken_back() {
    let host = project();
    host_snapshot!(host, ["trust", "add"], @"
    exit: 0
    ----- stdout
    `[REPOSITORY]/.host` is trusted as it is now:

      `config.toml`: configuration (18 bytes)
    ----- stderr
    ");
    let mode = std::fs::metadata(file(&host)).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let root = std::fs::canonicalize(host.repository()).expect("it is there").display().to_string();
    host_snapshot!(host, ["trust", "list"], @"
    exit: 0
    ----- stdout
    [REPOSITORY]  (1 file, since [DATE])
    ----- stderr
    ");
    let listed = host.run_of(&["trust", "list", "--json"]).json();
    assert_eq!((&listed[0]["project"], &listed[0]["is_there"]), (&json!(root), &json!(true)));
    host_snapshot!(host, ["trust", "remove", &root], @"
    exit: 0
    ----- stdout
    `[REPOSITORY]` is no longer trusted.
    ----- stderr
    ");
    host_snapshot!(host, ["trust", "remove"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `[REPOSITORY]` is not trusted
    help: `host trust list` shows the trusted folders
    ");
    host_snapshot!(host, ["trust", "list"], @"
    exit: 0
    ----- stdout
    No folder is trusted.
    ----- stderr
    ");
    let status = host.run_of(&["trust", "status", "--json"]).json();
    assert_eq!((&status["trust"], &status["files"][0]["name"]), (&json!("untrusted"), &json!("config.toml")));
    // One that is gone can be forgotten.
    let gone = host.repository().join("gone");
    std::fs::create_dir_all(gone.join(".host")).expect("made");
    std::fs::write(gone.join(".host/config.toml"), "").expect("written");
    let gone = std::fs::canonicalize(gone).expect("it is there").display().to_string();
    assert_eq!(host.run_of(&["trust", "add", &gone]).code, Some(0));
    std::fs::remove_dir_all(&gone).expect("it was there");
    host_snapshot!(host, ["trust", "list"], @"
    exit: 0
    ----- stdout
    [REPOSITORY]/gone  (1 file, since [DATE], gone)
    ----- stderr
    ");
    assert_eq!(host.run_of(&["trust", "remove", &gone]).code, Some(0));
    host_snapshot!(host, ["trust", "status", "nowhere"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no folder `nowhere`: No such file or directory (os error 2)
    ");
}

// promise project.list
#[test]
fn trust_list_that_others_can_read_or_write_stops_the_run() {
    let host = project();
    trust(&host);
    let mut errors = Transcript::default();
    for mode in [0o644, 0o620, 0o666] {
        std::fs::set_permissions(file(&host), PermissionsExt::from_mode(mode)).expect("set");
        errors.add(format!("{mode:o}: run"), &host.run());
        errors.add(format!("{mode:o}: trust add"), &host.run_of(&["trust", "add"]));
    }
    transcript_snapshot!(errors, @r"
    # 644: run
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: other users can read or write it (its mode is 644)
    help: check what `host trust list` shows after chmod 600 '[HOME]/.local/state/host/trust.json', or \
    remove the file and trust the folders again with `host trust add`

    # 644: trust add
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: other users can read or write it (its mode is 644)
    help: check what `host trust list` shows after chmod 600 '[HOME]/.local/state/host/trust.json', or \
    remove the file and trust the folders again with `host trust add`

    # 620: run
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: other users can read or write it (its mode is 620)
    help: check what `host trust list` shows after chmod 600 '[HOME]/.local/state/host/trust.json', or \
    remove the file and trust the folders again with `host trust add`

    # 620: trust add
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: other users can read or write it (its mode is 620)
    help: check what `host trust list` shows after chmod 600 '[HOME]/.local/state/host/trust.json', or \
    remove the file and trust the folders again with `host trust add`

    # 666: run
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: other users can read or write it (its mode is 666)
    help: check what `host trust list` shows after chmod 600 '[HOME]/.local/state/host/trust.json', or \
    remove the file and trust the folders again with `host trust add`

    # 666: trust add
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: other users can read or write it (its mode is 666)
    help: check what `host trust list` shows after chmod 600 '[HOME]/.local/state/host/trust.json', or \
    remove the file and trust the folders again with `host trust add`
    ");
    std::fs::set_permissions(file(&host), PermissionsExt::from_mode(0o600)).expect("set");
    assert_eq!(host.run().code, Some(0));
}

// promise project.list
#[test]
fn trust_list_that_is_invalid_stops_the_run_and_reports_what_to_do() {
    let mut errors = Transcript::default();
    for text in ["", "{\"version\": 1, \"folders\": {\"/\": tr", "{\"version\": 7, \"folders\": {}}"] {
        let host = project();
        trust(&host);
        std::fs::write(file(&host), text).expect("written");
        errors.add(format!("`{text}`: run"), &host.run());
        errors.add(format!("`{text}`: trust add"), &host.run_of(&["trust", "add"]));
        assert_eq!(std::fs::read_to_string(file(&host)).expect("read"), text, "nobody writes over it");
    }
    transcript_snapshot!(errors, @r#"
    # ``: run
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: it is invalid: EOF while parsing a value at line 1 column 0
    help: remove the file, and trust the folders again with `host trust add DIR`

    # ``: trust add
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: it is invalid: EOF while parsing a value at line 1 column 0
    help: remove the file, and trust the folders again with `host trust add DIR`

    # `{"version": 1, "folders": {"/": tr`: run
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: it is invalid: EOF while parsing a value at line 1 column 34
    help: remove the file, and trust the folders again with `host trust add DIR`

    # `{"version": 1, "folders": {"/": tr`: trust add
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: it is invalid: EOF while parsing a value at line 1 column 34
    help: remove the file, and trust the folders again with `host trust add DIR`

    # `{"version": 7, "folders": {}}`: run
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: its version is 7, and this host reads version 1
    help: remove the file, and trust the folders again with `host trust add DIR`

    # `{"version": 7, "folders": {}}`: trust add
    exit: 52
    ----- stderr
    error: the list of trusted folders `[HOME]/.local/state/host/trust.json` cannot be read
      caused by: its version is 7, and this host reads version 1
    help: remove the file, and trust the folders again with `host trust add DIR`
    "#);
}

// promise project.list
#[test]
fn trust_list_keeps_what_many_processes_add_at_once() {
    let host = run(&[]);
    let start = |number: usize| {
        let folder = host.repository().join(format!("p{number}"));
        std::fs::create_dir_all(folder.join(".host")).expect("made");
        std::fs::write(folder.join(".host/config.toml"), "").expect("written");
        let mut command = Command::new(binary());
        command.args(["trust", "add"]).arg(folder).env_clear().env("HOME", host.home());
        command.stdout(std::process::Stdio::null()).spawn().expect("it starts")
    };
    let started: Vec<_> = (0..8).map(start).collect();
    for mut child in started {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(host.run_of(&["trust", "list", "--json"]).json().as_array().map(Vec::len), Some(8));
}

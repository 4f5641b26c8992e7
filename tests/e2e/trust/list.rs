//! The list of trusted projects: who may write it, and what becomes of one that cannot be believed.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use host_tests::host::{Host, binary};
use serde_json::json;

use super::{refused, run, trust};

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
    let added = host.run_of(&["trust", "add"]);
    assert!(added.stdout.contains("`config.toml`: configuration (18 bytes)"), "{added:?}");
    let mode = std::fs::metadata(file(&host)).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let root = std::fs::canonicalize(host.repository()).expect("it is there").display().to_string();
    let listed = host.run_of(&["trust", "list"]).stdout;
    assert!(listed.starts_with(&format!("{root}  (1 file, since ")), "{listed}");
    let listed = host.run_of(&["trust", "list", "--json"]).json();
    assert_eq!((&listed[0]["project"], &listed[0]["is_there"]), (&json!(root), &json!(true)));
    assert_eq!(host.run_of(&["trust", "remove", &root]).code, Some(0));
    refused(&host.run_of(&["trust", "remove"]), 42, &["is not trusted"]);
    assert_eq!(host.run_of(&["trust", "list"]).stdout, "No folder is trusted.\n");
    let status = host.run_of(&["trust", "status", "--json"]).json();
    assert_eq!((&status["trust"], &status["files"][0]["name"]), (&json!("untrusted"), &json!("config.toml")));
    // One that is gone can be forgotten.
    let gone = host.repository().join("gone");
    std::fs::create_dir_all(gone.join(".host")).expect("made");
    std::fs::write(gone.join(".host/config.toml"), "").expect("written");
    let gone = std::fs::canonicalize(gone).expect("it is there").display().to_string();
    assert_eq!(host.run_of(&["trust", "add", &gone]).code, Some(0));
    std::fs::remove_dir_all(&gone).expect("it was there");
    assert!(host.run_of(&["trust", "list"]).stdout.contains("gone)"));
    assert_eq!(host.run_of(&["trust", "remove", &gone]).code, Some(0));
    refused(&host.run_of(&["trust", "status", "nowhere"]), 42, &["there is no folder `nowhere`"]);
}

// promise project.list
#[test]
fn trust_list_that_others_can_read_or_write_stops_the_run() {
    let host = project();
    trust(&host);
    for mode in [0o644, 0o620, 0o666] {
        std::fs::set_permissions(file(&host), PermissionsExt::from_mode(mode)).expect("set");
        refused(&host.run(), 52, &["trust.json", "others can read or write it", "chmod 600"]);
        refused(&host.run_of(&["trust", "add"]), 52, &["chmod 600"]);
    }
    std::fs::set_permissions(file(&host), PermissionsExt::from_mode(0o600)).expect("set");
    assert_eq!(host.run().code, Some(0));
}

// promise project.list
#[test]
fn trust_list_that_is_invalid_stops_the_run_and_reports_what_to_do() {
    for text in ["", "{\"version\": 1, \"folders\": {\"/\": tr", "{\"version\": 7, \"folders\": {}}"] {
        let host = project();
        trust(&host);
        std::fs::write(file(&host), text).expect("written");
        refused(&host.run(), 52, &["trust.json", "remove the file"]);
        refused(&host.run_of(&["trust", "add"]), 52, &["remove the file"]);
        assert_eq!(std::fs::read_to_string(file(&host)).expect("read"), text, "nobody writes over it");
    }
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

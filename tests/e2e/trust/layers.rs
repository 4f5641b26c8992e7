//! Whose word counts: flags, then a trusted project, then the user's file; and a limit only ever becomes narrower.

use serde_json::{Value, json};

use host_tests::host::Host;
use host_tests::{host_snapshot, outcome_snapshot};

use super::{answer, run, trust};

fn look() -> Value {
    json!({"chunks": [{"call": {"name": "ls", "arguments": {}}}]})
}

#[test]
fn trust_layers_a_flag_overrides_the_project_and_the_project_overrides_the_user() {
    let model = |own: &str, project: &str, arguments: &[&str]| {
        let host = Host::new(["run", "--output-format", "json"])
            .args(arguments)
            .arg("Look")
            .configured(own)
            .file(".host/config.toml", project)
            .env("OLLAMA_HOST", "127.0.0.1:1");
        trust(&host);
        host.run()
    };
    assert_eq!(model("model = \"offline\"", "", &[]).code, Some(0));
    assert_eq!(model("model = \"gemini/x\"", "model = \"offline\"", &[]).json()["model"], "offline");
    outcome_snapshot!(model("model = \"offline\"", "model = \"gemini/x\"", &[]), @r#"
    exit: 41
    ----- stdout
    ----- stderr
    error: there is no key for `gemini`
    help: set GEMINI_API_KEY to a key that the service accepts (with `auth = "oauth"`: run `gcloud auth \
    application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a file with credentials), or use \
    `--model offline`, which needs none
    "#);
    assert_eq!(model("", "model = \"gemini/x\"", &["--model", "offline"]).json()["model"], "offline");
}

// promise project.settings
#[test]
fn a_project_narrows_a_limit_and_a_flag_goes_before_it() {
    let turns = |own: &str, project: &str, arguments: &[&str]| {
        let replies: Vec<Value> = (0..5).map(|_| look()).chain([answer("Done.")]).collect();
        let host =
            Host::scripted(&replies, &["Look"]).args(arguments).configured(own).file(".host/config.toml", project);
        trust(&host);
        host.run().code
    };
    assert_eq!(turns("", "run.max_turns = 2", &[]), Some(53));
    assert_eq!(turns("run.max_turns = 2", "run.max_turns = 20", &[]), Some(53));
    assert_eq!(turns("run.max_turns = 20", "run.max_turns = 2", &[]), Some(53));
    assert_eq!(turns("", "run.max_turns = 2", &["--max-turns", "20"]), Some(0));
}

// promise project.settings
#[test]
fn a_projects_mode_asks_more_and_never_less() {
    let writes = |own: &str, project: &str, arguments: &[&str]| {
        let write =
            json!({"chunks": [{"call": {"name": "write_file", "arguments": {"path": "b.txt", "content": "x"}}}]});
        let host = Host::scripted(&[write, answer("Done.")], &["Go"])
            .args(arguments)
            .configured(own)
            .file(".host/config.toml", project);
        trust(&host);
        assert_eq!(host.run().code, Some(0));
        host.repository().join("b.txt").exists()
    };
    let edits = "approval_mode = \"auto-edit\"\n";
    assert!(writes(edits, "model = \"offline\"", &[]));
    assert!(!writes(edits, "approval_mode = \"default\"\n", &[]));
    assert!(!writes(edits, "approval_mode = \"plan\"\n", &[]));
    assert!(writes("", "approval_mode = \"plan\"\n", &["--approval-mode", "auto-edit"]), "the person says so now");
}

#[test]
fn trust_layers_what_a_flag_names_needs_no_trust() {
    let manifest = r#"{"manifest":1,"name":"bad","version":"1.0.0","license":"MIT","contract":"0.1.0","capabilities":{},"tools":[]}"#;
    let host = run(&["--plugin", ".host/plugins/bad.wasm", "Look"])
        .file(".host/plugins/bad.wasm", "x")
        .file(".host/plugins/bad.json", manifest);
    host_snapshot!(host, @r"
    exit: 42
    ----- stdout
    ----- stderr
    note: `[REPOSITORY]/.host` is not trusted and is ignored; `host trust` shows it, `host trust add` \
    trusts it
    error: `.host/plugins/bad.wasm` cannot be used
      caused by: `bad` is not a component: it does not start like WebAssembly
    help: build it again with `host plugin build`
    ");
}

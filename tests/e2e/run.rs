//! `host run`, the real binary: what a user, a pipe or a program gets from it.

mod approvals;
mod ask_user;
mod attach;
mod background;
mod budget;
mod check;
mod code;
mod compress;
mod conformance;
mod context;
mod conversation;
mod day;
mod deferred;
mod ends;
mod faults;
mod formats;
mod input;
mod interrupt;
mod loops;
mod patch;
mod prefix;
mod recording;
mod schema;
mod search;
mod seen;
mod start;
mod stats;
mod terminal;
mod todo;
mod wire;

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
use serde_json::json;

fn answer(text: &str) -> serde_json::Value {
    json!({"chunks": [{"text": text}]})
}

fn call(name: &str, arguments: serde_json::Value) -> serde_json::Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

#[test]
fn the_main_job_needs_no_key_and_no_network_and_is_right_about_the_repository() {
    let host = Host::new(["run", "--model", "offline", "Survey this repository: what is it, and where are the TODOs?"])
        .file("Cargo.toml", "[package]\nname = \"rocket\"\ndescription = \"Flies to the moon\"\n")
        .file("README.md", "# Rocket\n\nA rocket for the moon.\n")
        .file("src/main.rs", "fn main() {} // TODO: lift off\n")
        .file("src/fuel.rs", "// TODO: find some\n// nothing here\n// TODO: burn it\n")
        .file(".gitignore", "target/\n")
        .file("target/x.rs", "// TODO: never seen\n");
    let ended = host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    ## What it is

    - **rocket** (Rust, by `Cargo.toml`): Flies to the moon

    `README.md`, “Rocket”:

    > A rocket for the moon.

    ## Size

    - 5 files
    - By extension: `rs` 2, none 1, `md` 1, `toml` 1
    - Top-level folders by files: `src` 2
    - Top-level files: `.gitignore`, `Cargo.toml`, `README.md`

    ## `TODO`: 3 lines in 2 files

    - `src/fuel.rs:1`: `// TODO: find some`
    - `src/fuel.rs:3`: `// TODO: burn it`
    - `src/main.rs:1`: `fn main() {} // TODO: lift off`

    ---

    _This is the offline planner of `host`, not a language model: it lists, reads and searches, and \
    understands nothing. For a language model set `GEMINI_API_KEY` and pass `--model \
    gemini/gemini-3.6-flash`, or set `OPENAI_API_KEY` (and `OPENAI_BASE_URL` for another server) and pass \
    `--model openai/NAME`._
    ----- stderr
    ");
    assert!(!ended.stdout.contains("never seen"), "{}", ended.stdout);
}

#[test]
fn text_has_the_answer_on_standard_output_and_nothing_else() {
    let ended = Host::scripted(&[answer("It is **42**.")], &["What is it?"]).run();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "It is **42**.\n", ""));
}

#[test]
fn json_is_one_object_with_the_answer_and_what_it_cost() {
    let replies = [
        json!({"chunks": [call("ls", json!({})), {"usage": {"input": 100, "output": 10}}]}),
        json!({"chunks": [{"text": "Done."}, {"usage": {"input": 120, "output": 5, "cached": 80}}]}),
    ];
    let host = Host::scripted(&replies, &["--output-format", "json", "Look"]);
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let object = ended.json();
    assert_eq!(object["response"], "Done.");
    assert_eq!(object["terminate_reason"], "GOAL");
    assert_eq!(object["stats"]["turns"], 2);
    assert_eq!(
        object["stats"]["tokens"],
        json!({"input": 220, "output": 15, "cached": 80, "thought": 0, "total": 235})
    );
    assert_eq!(object["stats"]["tools"]["ls"]["success"], 1);
    assert!(object.get("error").is_none());
    assert_eq!(object["session_id"], host.session()[0]["id"]);
}

#[test]
fn stream_json_is_a_line_for_each_thing_that_happens() {
    let replies = [json!({"chunks": [{"text": "I look."}, call("ls", json!({"path": "src"}))]}), answer("Done.")];
    let ended = Host::scripted(&replies, &["--output-format", "stream-json", "Look"]).file("src/a.rs", "").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.lines();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().expect("each has a type")).collect();
    assert_eq!(kinds, ["init", "message", "message", "tool_use", "tool_result", "message", "result"]);
    assert_eq!((&lines[1]["role"], &lines[1]["content"]), (&json!("user"), &json!("Look")));
    assert_eq!((&lines[2]["role"], &lines[2]["content"]), (&json!("assistant"), &json!("I look.")));
    assert_eq!(lines[3]["parameters"], json!({"path": "src"}));
    assert_eq!(lines[4]["tool_id"], lines[3]["tool_id"]);
    assert_eq!(lines[4]["output"], "a.rs (0 bytes)\n");
    assert_eq!((&lines[6]["status"], &lines[6]["response"]), (&json!("success"), &json!("Done.")));
    assert!(lines.iter().all(|line| line["timestamp"].is_string()));
}

#[test]
fn each_call_gets_its_outcome_in_the_order_of_the_calls_whatever_happened() {
    let calls = [
        call("read_file", json!({"path": "a.txt"})),
        call("no_such_tool", json!({})),
        call("read_file", json!({"pth": "a.txt"})),
        call("write_file", json!({"path": "b.txt", "content": "x"})),
        call("shell", json!({"command": "touch c.txt"})),
        call("read_file", json!({"path": "/etc/hostname"})),
        call("read_file", json!({"path": "missing.txt"})),
        call("grep", json!({"pattern": "inside"})),
    ];
    // The script fails the run when a response is missing, doubled or out of order.
    let expected = json!({"responses": [
        "inside",
        "there is no tool `no_such_tool`",
        "invalid arguments for `",
        "--approval-mode auto-edit",
        "--approval-mode auto, in which programs are confined",
        "--grant read_file:fs-read=/etc/hostname",
        "missing.txt",
        "Found 1 match in 1 file"
    ]});
    let replies = [json!({"chunks": calls}), json!({"expect": expected, "chunks": [{"text": "Done."}]})];
    let host = Host::scripted(&replies, &["Try everything"]).file("a.txt", "inside\n");
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert!(!host.repository().join("b.txt").exists() && !host.repository().join("c.txt").exists());
}

// promise run.modes: A denied call becomes allowed only by an approval mode or a grant.
#[test]
fn a_mode_or_a_grant_allows_what_was_refused() {
    let write = call("write_file", json!({"path": "b.txt", "content": "written\n"}));
    let shell = call("shell", json!({"command": "echo run > c.txt"}));
    let replies = [json!({"chunks": [write, shell]}), answer("Done.")];

    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "Try"]);
    assert_eq!(host.run().code, Some(0));
    assert_eq!(std::fs::read_to_string(host.repository().join("b.txt")).expect("written"), "written\n");
    assert!(!host.repository().join("c.txt").exists());

    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Try"]);
    assert_eq!(host.run().code, Some(0));
    assert!(host.repository().join("b.txt").exists() && host.repository().join("c.txt").exists());

    let host = Host::scripted(&replies, &["--grant", "shell:process=sh -c", "Try"]);
    assert_eq!(host.run().code, Some(0));
    assert!(!host.repository().join("b.txt").exists() && host.repository().join("c.txt").exists());

    let host = Host::scripted(
        &replies,
        &["--approval-mode", "plan", "--grant", "shell:process=*", "--grant", "write_file:fs-write=.", "Try"],
    );
    assert_eq!(host.run().code, Some(0));
    assert!(!host.repository().join("b.txt").exists() && !host.repository().join("c.txt").exists());

    let host = Host::scripted(
        &replies,
        &["--approval-mode", "yolo", "--deny", "*:process", "--deny", "write_file:fs-write=b.*", "Try"],
    );
    assert_eq!(host.run().code, Some(0));
    assert!(!host.repository().join("b.txt").exists() && !host.repository().join("c.txt").exists());
}

// promise run.protected: No tool changes version control, the host's own folders, shell start-up files or a loaded
//   plugin's files, whatever is granted.
#[test]
fn no_mode_lets_a_tool_write_into_version_control() {
    let replies = [
        json!({"chunks": [
            call("write_file", json!({"path": ".git/hooks/pre-commit", "content": "evil"})),
            call("write_file", json!({"path": "sub/.git/config", "content": "evil"})),
            call("write_file", json!({"path": ".host/config.toml", "content": "evil"})),
        ]}),
        json!({"expect": {"responses": ["no answer or grant allows", "no answer or grant allows", "no answer or grant allows"]}, "chunks": [{"text": "Done."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Try"]);
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!host.repository().join(".git/hooks").exists() && !host.repository().join("sub").exists());
}

/// What a denial says of the host's own files.
const OWN: &str = "host's own files always stay excluded";

// promise run.protected
#[test]
fn no_grant_lets_a_tool_write_into_what_the_host_keeps() {
    let host = Host::new(["tool"]);
    let home = host.home().display().to_string();
    let write = |path: &str| {
        let arguments = json!({"path": format!("{home}/{path}"), "content": "evil"}).to_string();
        let grant = format!("write_file:fs-write={home}");
        let read = format!("write_file:fs-read={home}");
        host.run_of(&["tool", "call", "write_file", &arguments, "--grant", &grant, "--grant", &read])
    };
    let mut denials = Transcript::default();
    for path in [
        ".config/host/config.toml",
        ".config/host/keys.toml",
        ".config/host/plugins.lock",
        ".local/share/host/state/x",
        ".local/share/host/plugins/agreed.json",
        ".local/state/host/sessions/x",
        ".local/state/host/trust.json",
    ] {
        denials.add(path, &write(path));
        assert!(!host.home().join(path).exists(), "{path}");
    }
    transcript_snapshot!(denials, @r"
    # .config/host/config.toml
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.config/host/config.toml`. Only the user can change this: its \
    grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a grant \
    that does; host's own files always stay excluded.

    # .config/host/keys.toml
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.config/host/keys.toml`. Only the user can change this: its \
    grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a grant \
    that does; host's own files always stay excluded.

    # .config/host/plugins.lock
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.config/host/plugins.lock`. Only the user can change this: its \
    grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a grant \
    that does; host's own files always stay excluded.

    # .local/share/host/state/x
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.local/share/host/state/x`. Only the user can change this: its \
    grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a grant \
    that does; host's own files always stay excluded.

    # .local/share/host/plugins/agreed.json
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.local/share/host/plugins/agreed.json`. Only the user can \
    change this: its grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or \
    the `!` of a grant that does; host's own files always stay excluded.

    # .local/state/host/sessions/x
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.local/state/host/sessions/x`. Only the user can change this: \
    its grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a \
    grant that does; host's own files always stay excluded.

    # .local/state/host/trust.json
    exit: 54
    ----- stderr
    error: `write_file` may not read `[HOME]/.local/state/host/trust.json`. Only the user can change this: \
    its grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a \
    grant that does; host's own files always stay excluded.
    ");
    // The grant itself is good: what lies beside is written.
    assert_eq!(write("mine.txt").code, Some(0));
}

// promise run.protected
#[test]
fn run_protects_the_files_of_the_host_whatever_their_folder_is_called() {
    for name in ["a[b]c", "a*", "a?c", "{a,b}", "it's", "a\\b", "it's \"[x]\\\"", "a b, c;!d"] {
        let host = Host::new(["tool"]);
        let home = host.home().display().to_string();
        let folder = host.home().join(name);
        std::fs::create_dir_all(&folder).expect("made");
        let host = host.env("XDG_CONFIG_HOME", &folder);
        let write = |path: std::path::PathBuf| {
            let arguments = json!({"path": path, "content": "evil"}).to_string();
            let (grant, read) = (format!("write_file:fs-write={home}"), format!("write_file:fs-read={home}"));
            host.run_of(&["tool", "call", "write_file", &arguments, "--grant", &grant, "--grant", &read])
        };
        let kept = folder.join("host/config.toml");
        let ended = write(kept.clone());
        assert!(ended.code == Some(54) && ended.stderr.contains(OWN) && !kept.exists(), "{name}: {ended:?}");
        assert_eq!(write(folder.join("mine.txt")).code, Some(0), "{name}: what lies beside is not the host's");
    }
}

#[test]
fn a_session_is_recorded_as_it_happens() {
    let replies = [json!({"chunks": [call("ls", json!({}))]}), answer("Done.")];
    let host = Host::scripted(&replies, &["Look"]);
    assert_eq!(host.run().code, Some(0));
    let kinds: Vec<String> =
        host.session().iter().map(|line| line["type"].as_str().expect("each has a type").to_owned()).collect();
    assert_eq!(kinds[0], "session");
    let at = |kind: &str| kinds.iter().position(|other| other == kind).unwrap_or_else(|| panic!("{kind} in {kinds:?}"));
    assert!(at("call_started") < at("call_settled") && at("call_settled") < kinds.len() - 1, "{kinds:?}");
}

#[test]
fn run_large_result_goes_to_a_file_that_is_named_to_the_model() {
    let long: String = (0..3000).map(|number| format!("line {number} of a long file\n")).collect();
    let replies = [
        json!({"chunks": [call("read_file", json!({"path": "long.txt"}))]}),
        json!({"expect": {"responses": ["characters are left out here; the whole text is in"]}, "chunks": [{"text": "Done."}]}),
    ];
    let host = Host::scripted(&replies, &["Read"]).file("long.txt", long);
    assert_eq!(host.run().code, Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_word() {
    let host = Host::scripted(&[answer("A long story.")], &["Tell"]);
    outcome_snapshot!(host.end(host.command_in_shell("\"$@\" > /dev/full; echo code $? >&2")), @"
    exit: 0
    ----- stdout
    ----- stderr
    error: cannot write the answer: No space left on device (os error 28)
    code 74
    ");
    let ended = host.end(host.command_in_shell("(\"$@\"; echo code $? >&2) | true"));
    assert!(!ended.stderr.contains("error") && !ended.stderr.contains("panicked"), "{ended:?}");
}

//! Files that the user keeps from everything: `[deny]`, and what neither tools nor programs get of them in any mode.

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

const MODES: [&str; 5] = ["plan", "default", "auto-edit", "auto", "yolo"];

/// A repository with secrets in files of several names.
fn secrets(host: Host) -> Host {
    let host = host.file(".env", "SECRET\n").file("a/b/.env", "SECRET\n").file("a/key.pem", "SECRET\n");
    host.file("private/notes/one", "SECRET\n").file("open", "seen\n").file("link/x", "")
}

const DENIED: &str = "[deny]\nread = ['.env', '*.pem', 'private/**']\n";

/// Calls a tool of the host in a repository with secrets.
fn call(configuration: &str, tool: &str, arguments: &Value, flags: &[&str]) -> (Host, Ended) {
    let host = secrets(Host::new(["tool", "call", tool, &arguments.to_string()])).configured(configuration);
    std::os::unix::fs::symlink("../.env", host.repository().join("link/env")).expect("linked");
    let host = host.args(flags);
    let ended = host.run();
    (host, ended)
}

// promise policy.deny-read: What `[deny]` names, no tool and no program reads or changes, in any approval mode.
#[test]
fn deny_keeps_files_from_tools_and_programs_in_every_mode() {
    let file = |path: &str| ("read_file", json!({ "path": path }));
    let tools = [
        file(".env"),
        file("a/b/.env"),
        file("a/key.pem"),
        file("private/notes/one"),
        file("link/env"),
        ("grep", json!({"pattern": "SECRE."})),
    ];
    // Each shows it without the setting.
    let lines = [
        "cat .env",
        "cat a/b/.env",
        "cat a/key.pem open",
        "cat private/notes/one",
        "cat link/env",
        "grep -rh SECRET private",
        "cp -r a copy; cat copy/b/.env",
        "mv a moved; cat moved/key.pem; mv moved a",
        "ln .env other; cat other",
        "exec 3< .env; cat /proc/self/fd/3",
    ];
    let shell = ("shell", json!({"command": lines.map(|line| format!("({line})")).join("; ")}));
    for (tool, arguments) in tools.iter().chain([&shell]) {
        for mode in MODES {
            let flags = ["--approval-mode", mode, "--grant", "shell:process=*"];
            let (host, ended) = call(DENIED, tool, arguments, &flags);
            assert!(!ended.stdout.contains("SECRET"), "{mode} {arguments}: {ended:?}");
            for path in [".env", "a/b/.env", "a/key.pem", "private/notes/one"] {
                let there = std::fs::read_to_string(host.repository().join(path));
                assert_eq!(there.ok().as_deref(), Some("SECRET\n"), "{mode} {arguments}: {path}: {ended:?}");
            }
        }
        let (_, ended) = call("", tool, arguments, &["--approval-mode", "yolo"]);
        let shown = if *tool == "shell" { lines.len() } else { 1 };
        assert!(ended.stdout.matches("SECRET").count() >= shown, "{arguments}: {ended:?}");
    }
}

// promise policy.deny-read
#[test]
fn deny_keeps_files_from_being_changed_and_says_so() {
    for mode in ["auto-edit", "auto", "yolo"] {
        let flags = ["--approval-mode", mode];
        let (host, ended) = call(DENIED, "write_file", &json!({"path": ".env", "content": "x"}), &flags);
        assert!(ended.code != Some(0) && ended.stderr.contains("deny"), "{mode}: {ended:?}");
        assert_eq!(std::fs::read_to_string(host.repository().join(".env")).expect("there"), "SECRET\n");
    }
    for mode in ["auto", "yolo"] {
        let line = json!({"command": "echo x > .env; rm -f a/key.pem; echo x > a/key.pem; cat .env"});
        let (host, ended) = call(DENIED, "shell", &line, &["--approval-mode", mode]);
        let text = format!("{}{}", ended.stdout, ended.stderr);
        assert!(text.contains("the user keeps `.env` from all programs and tools"), "{mode}: {text}");
        for path in [".env", "a/key.pem"] {
            assert_eq!(std::fs::read_to_string(host.repository().join(path)).expect("there"), "SECRET\n", "{mode}");
        }
    }
    // The flag binds programs, too.
    let line = json!({"command": "cat .env open"});
    let flags = ["--approval-mode", "yolo", "--deny", "*:fs-read=.env"];
    let (_, ended) = call("", "shell", &line, &flags);
    assert!(!ended.stdout.contains("SECRET") && ended.stdout.contains("seen"), "{ended:?}");
}

#[test]
fn deny_is_added_to_and_taken_back_by_a_command() {
    let host = secrets(Host::new(["policy", "list"])).configured("# mine\napproval_mode = 'plan'\n");
    let of = |arguments: &[&str]| host.run_of(arguments);
    assert_eq!(of(&["policy", "allow", ".env"]).code, Some(42), "it is not denied");
    let ended = of(&["policy", "deny", ".env", "*.pem"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("kept from all tools and programs: `.env`, `*.pem`"), "{ended:?}");
    assert_eq!(of(&["policy", "deny", ".env"]).code, Some(0), "once is enough");
    let file = || std::fs::read_to_string(host.home().join(".config/host/config.toml")).expect("there");
    assert_eq!(file(), "# mine\napproval_mode = 'plan'\n\n[deny]\nread = [\".env\", \"*.pem\"]\n");
    assert!(of(&["policy", "list"]).stdout.contains("# `.env`, `*.pem`"));
    let listed: Value = serde_json::from_str(&of(&["policy", "list", "--json"]).stdout).expect("JSON");
    assert_eq!(listed[0], json!({"source": "[deny]", "decision": "deny", "read": [".env", "*.pem"]}));
    assert!(!of(&["tool", "call", "read_file", "{\"path\":\".env\"}"]).stdout.contains("SECRET"));
    assert_eq!(of(&["policy", "allow", ".env"]).code, Some(0));
    assert!(of(&["tool", "call", "read_file", "{\"path\":\".env\"}"]).stdout.contains("SECRET"));
    assert!(!of(&["tool", "call", "read_file", "{\"path\":\"a/key.pem\"}"]).stdout.contains("SECRET"));
    let wrong = of(&["policy", "deny", "{a/b,c}"]);
    assert!(wrong.code == Some(42) && wrong.stderr.contains("slash between braces"), "{wrong:?}");
}

// promise policy.deny-project: A project can keep more files from tools and programs, and lets them have none that the
//   user keeps.
#[test]
fn deny_of_a_project_adds_to_the_users() {
    let host = secrets(Host::new(["tool", "call", "shell", "{\"command\":\"cat .env a/key.pem open\"}"]));
    let host = host.configured("[deny]\nread = ['.env']\n").file(".host/config.toml", "[deny]\nread = ['*.pem']\n");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = host.args(&["--approval-mode", "auto"]).run();
    assert!(!ended.stdout.contains("SECRET") && ended.stdout.contains("seen"), "{ended:?}");
    let untrusted = secrets(Host::new(["tool", "call", "shell", "{\"command\":\"cat a/key.pem\"}"]));
    let untrusted = untrusted.file(".host/config.toml", "[deny]\nread = ['*.pem']\n");
    let ended = untrusted.args(&["--approval-mode", "auto"]).run();
    assert!(ended.stdout.contains("SECRET"), "what is not trusted is not read: {ended:?}");
}

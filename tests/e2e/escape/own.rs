//! Attacks by a model's calls on what no tool may write: version control, start files of shells, and the host's own
//! files.

use std::os::unix::fs::symlink;

use host_tests::Bench;
use host_tests::host::Host;
use serde_json::{Value, json};

use super::Failures;

/// Names that no tool may write, however they are spelled.
const PROTECTED: &[&str] = &[
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/HEAD",
    "./.git/config",
    ".//.git//config",
    "src/../.git/config",
    "src/./../.git/hooks/x",
    "vendor/sub/.git/hooks/pre-commit",
    "vendor/sub/.git/config",
    ".git",
    ".host/config.toml",
    ".host/tools/evil",
    ".host/agents/evil.md",
    ".host/plugins/evil.wasm",
    ".host/policies/all.toml",
    "src/.host/config.toml",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    ".svn/entries",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".config/fish/config.fish",
    ".config/fish/conf.d/evil.fish",
    "linked/config",
    "linked/hooks/pre-commit",
    "here/.git/config",
    "here/here/.host/config.toml",
];

/// The host's own files, by their names in the home.
const OWN: &[&str] = &[
    ".config/host/config.toml",
    ".config/host/keys.toml",
    ".config/host/plugins.lock",
    ".config/host/policies/answers.toml",
    ".config/host/agents/evil.md",
    ".local/state/host/trust.json",
    ".local/state/host/sessions/evil.jsonl",
    ".local/share/host/plugins/agreed.json",
    ".local/share/host/state/evil",
    ".local/state/host/history",
    ".local/state/host/audit/key",
    ".local/state/host/anything",
];

/// Files of a home that other agents obey.
const OF_AGENTS: &[&str] = &[
    ".codex/hooks.json",
    ".codex/config.toml",
    ".claude/settings.json",
    ".claude/skills/evil/SKILL.md",
    ".claude.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".config/opencode/opencode.json",
];

/// Makes these calls in one reply of a model with every right that a mode gives, and returns the outcome of each.
fn outcomes(host: Host, calls: &[Value]) -> (Host, Vec<String>) {
    let replies = [json!({"chunks": calls}), json!({"chunks": [{"text": "Done."}]})];
    let script = host.home().join("script.jsonl");
    std::fs::write(&script, replies.map(|reply| format!("{reply}\n")).concat()).expect("written");
    let home = host.home().display().to_string();
    let model = format!("scripted:{}", script.display());
    let grants: Vec<String> = ["write_file", "edit"]
        .iter()
        .flat_map(|tool| ["fs-read", "fs-write"].map(|capability| format!("{tool}:{capability}={home}")))
        .collect();
    let mut arguments = vec!["run", "--model", &model, "--approval-mode", "yolo", "--output-format", "stream-json"];
    arguments.extend(grants.iter().flat_map(|grant| ["--grant", grant]));
    arguments.push("Do it");
    let ended = host.run_of(&arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.lines();
    let results = lines.iter().filter(|line| line["type"] == "tool_result").map(Value::to_string).collect();
    (host, results)
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

fn repository() -> Host {
    let host = Host::new(Vec::<String>::new())
        .file("src/main.rs", "")
        .file(".git/config", "kept")
        .file(".git/hooks/x", "kept");
    symlink(".git", host.repository().join("linked")).expect("linked");
    symlink(".", host.repository().join("here")).expect("linked");
    host
}

/// What lies in the places that no tool may write, by name.
fn found(host: &Host, names: &[&str]) -> Vec<Option<Vec<u8>>> {
    names.iter().map(|name| std::fs::read(host.repository().join(name)).ok()).collect()
}

// promise run.protected
#[tokio::test]
async fn escape_no_call_of_a_model_writes_what_others_obey() {
    let mut failures = Failures::default();
    let calls: Vec<Value> = PROTECTED
        .iter()
        .map(|name| call("write_file", json!({"path": name, "content": "evil"})))
        .chain([
            call("edit", json!({"path": ".git/config", "old_string": "kept", "new_string": "evil"})),
            call("edit", json!({"path": "linked/config", "old_string": "kept", "new_string": "evil"})),
            call("edit", json!({"path": "here/.git/hooks/x", "old_string": "kept", "new_string": "evil"})),
            // Beside them, the same calls work.
            call("write_file", json!({"path": "mine", "content": "good"})),
            call("write_file", json!({"path": "src/.gitignore", "content": "good"})),
        ])
        .collect();
    let host = repository();
    let before = found(&host, PROTECTED);
    let (host, results) = outcomes(host, &calls);
    assert_eq!(results.len(), calls.len());
    for (index, result) in results.iter().enumerate().take(calls.len() - 2) {
        let reasons = ["no answer or grant allows changing it", "is reached by a symbolic link", "is a directory"];
        let is_denied = result.contains("\"status\":\"error\"") && reasons.iter().any(|why| result.contains(why));
        failures.check(&calls[index].to_string(), is_denied, result);
    }
    for (name, (before, after)) in PROTECTED.iter().zip(before.iter().zip(found(&host, PROTECTED))) {
        failures.check(name, *before == after, "it was changed");
    }
    assert!(found(&host, &["mine", "src/.gitignore"]).iter().all(|text| text.as_deref() == Some(b"good")));

    // A guest writes each of them where nothing but its grant counts.
    for name in PROTECTED {
        let bench = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"]);
        bench.file("src/main.rs", "");
        if name.starts_with("linked") {
            bench.file(".git/x", "");
        }
        symlink(".git", bench.root().join("linked")).expect("linked");
        symlink(".", bench.root().join("here")).expect("linked");
        let answer = bench.text("write", json!({"path": name, "text": "evil"})).await;
        failures.check(&format!("the control of {name}"), !answer.starts_with("error: "), &answer);
    }
    failures.report(PROTECTED.len() + 3);
}

/// What the model finds out of the host's own files, each of which has this text.
const TOLD: &str = "TOLD-IN-SECRET";

// promise run.own: No mode, grant, added folder, link, pattern or attachment shows a model the host's own files: what
//   was typed, the logs of all sessions, the key that verifies them, saved keys, or the configuration.
#[test]
fn escape_no_call_of_a_model_reads_the_hosts_own_files() {
    let mut failures = Failures::default();
    let mut host = Host::new(Vec::<String>::new()).home_file("notes", "plain\n");
    for name in [
        ".local/state/host/history",
        ".local/state/host/sessions/one.txt",
        ".local/state/host/audit/one",
        ".config/host/host.key",
        ".local/share/host/mcp/one",
    ] {
        host = host.home_file(name, format!("{TOLD}\n"));
    }
    let home = std::fs::canonicalize(host.home()).expect("there").display().to_string();
    symlink(&home, host.repository().join("home")).expect("linked");
    symlink(format!("{home}/.local/state/host/history"), host.repository().join("typed")).expect("linked");
    let names = [".local/state/host/history", ".config/host/host.key"];
    let paths = names.iter().flat_map(|name| [format!("{home}/{name}"), format!("home/{name}")]);
    let mut calls: Vec<Value> = paths.map(|path| call("read_file", json!({"path": path}))).collect();
    calls.extend([
        call("read_file", json!({"path": "typed"})),
        call("ls", json!({"path": format!("{home}/.local/state/host/audit")})),
        call("ls", json!({"path": "home/.local/state/host/audit"})),
        call("grep", json!({"pattern": "TOLD", "path": home})),
        call("grep", json!({"pattern": "TOLD", "path": format!("{home}/.local/state/host")})),
        call("glob", json!({"pattern": "**/history", "path": home})),
        call("read_many_files", json!({"include": [format!("{home}/.local/**"), "home/.local/**"]})),
    ]);
    for more in [vec!["--add-dir".to_owned(), home.clone()], reading_everything()] {
        let replies = [json!({"chunks": calls}), json!({"chunks": [{"text": "Done."}]})];
        let script = host.home().join("script.jsonl");
        std::fs::write(&script, replies.map(|reply| format!("{reply}\n")).concat()).expect("written");
        let model = format!("scripted:{}", script.display());
        let mut arguments = vec!["run", "--model", &model, "--approval-mode", "yolo", "--output-format", "stream-json"];
        arguments.extend(more.iter().map(String::as_str));
        arguments.push("Do it");
        let ended = host.run_of(&arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = ended.lines();
        let results: Vec<String> =
            lines.iter().filter(|line| line["type"] == "tool_result").map(Value::to_string).collect();
        assert_eq!(results.len(), calls.len());
        for (call, result) in calls.iter().zip(&results) {
            let shows = [TOLD, "\\none"].iter().any(|told| result.contains(told));
            failures.check(&format!("{call} with {}", more[0]), !shows, result);
        }
    }
    // The grant is there: a different file of the home is read.
    let script = host.home().join("script.jsonl");
    let path = format!("{home}/notes");
    let replies =
        [json!({"chunks": [call("read_file", json!({"path": path}))]}), json!({"chunks": [{"text": "Done."}]})];
    std::fs::write(&script, replies.map(|reply| format!("{reply}\n")).concat()).expect("written");
    let model = format!("scripted:{}", script.display());
    let grants = reading_everything();
    let mut arguments = vec!["run", "--model", &model, "--output-format", "stream-json"];
    arguments.extend(grants.iter().map(String::as_str));
    arguments.push("Do it");
    let ended = host.run_of(&arguments);
    assert!(ended.stdout.contains("plain"), "{ended:?}");
    // Nor does a name that is attached.
    let ended = host.run_of(&["run", "--model", "offline", &format!("Look at @{home}/.local/state/host/history")]);
    assert!(ended.code != Some(0) || !ended.stdout.contains(TOLD), "{ended:?}");
    failures.report(calls.len() * 2);
}

/// Grants of every file to the tools that read.
fn reading_everything() -> Vec<String> {
    let tools = ["read_file", "ls", "grep", "glob", "read_many_files"];
    tools.iter().flat_map(|tool| ["--grant".to_owned(), format!("{tool}:fs-read=/")]).collect()
}

// promise run.agents: No mode, grant or answer lets a tool change the files of the home by which other agents run
//   programs, connect servers or are instructed.
#[test]
fn escape_no_call_of_a_model_writes_what_other_agents_obey() {
    let mut failures = Failures::default();
    let host = Host::new(Vec::<String>::new()).home_file("dotfiles/claude/settings.json", "{}\n");
    let home = std::fs::canonicalize(host.home()).expect("there").display().to_string();
    symlink(format!("{home}/dotfiles/claude"), host.home().join(".claude")).expect("linked");
    symlink(&home, host.repository().join("home")).expect("linked");
    let mut calls: Vec<Value> = OF_AGENTS
        .iter()
        .flat_map(|name| [format!("{home}/{name}"), format!("home/{name}")])
        .chain([format!("{home}/dotfiles/claude/settings.json")])
        .map(|path| call("write_file", json!({"path": path, "content": "evil"})))
        .collect();
    calls.push(call("write_file", json!({"path": format!("{home}/.codex/worktrees/a/mine"), "content": "good"})));
    let (host, results) = outcomes(host, &calls);
    for (index, result) in results.iter().enumerate().take(calls.len() - 1) {
        failures.check(&calls[index].to_string(), result.contains("\"status\":\"error\""), result);
    }
    for name in OF_AGENTS.iter().chain(&["dotfiles/claude/settings.json"]) {
        let text = std::fs::read_to_string(host.home().join(name)).unwrap_or_default();
        failures.check(name, !text.contains("evil"), &text);
    }
    assert_eq!(std::fs::read_to_string(host.home().join(".codex/worktrees/a/mine")).expect("written"), "good");
    // The words of a command, as far as they show it.
    for line in ["cp b ~/.codex/hooks.json", "cp b ~/.cod*/hooks.json", "tee ~/.claude/settings.json"] {
        let words = json!({"command": line}).to_string();
        let ended = host.run_of(&["policy", "check", "shell", &words, "--approval-mode", "yolo"]);
        failures.check(line, ended.stdout.contains("deny"), &ended.stdout);
    }
    failures.report(calls.len());
}

// promise run.protected
#[test]
fn escape_no_call_of_a_model_writes_the_hosts_own_files() {
    let mut failures = Failures::default();
    let host = Host::new(Vec::<String>::new()).configured("# kept\n");
    let home = std::fs::canonicalize(host.home()).expect("there").display().to_string();
    symlink(format!("{home}/.config/host"), host.repository().join("linked")).expect("linked");
    symlink(&home, host.repository().join("home")).expect("linked");
    let mut calls: Vec<Value> = OWN
        .iter()
        .flat_map(|name| [format!("{home}/{name}"), format!("{home}/x/../{name}"), format!("home/{name}")])
        .map(|path| call("write_file", json!({"path": path, "content": "evil"})))
        .collect();
    calls.push(call("write_file", json!({"path": "linked/config.toml", "content": "evil"})));
    let path = format!("{home}/.config/host/config.toml");
    calls.push(call("edit", json!({"path": path, "old_string": "kept", "new_string": "evil"})));
    // The grant is there: a different file of the home is written.
    calls.push(call("write_file", json!({"path": format!("{home}/mine"), "content": "good"})));
    let (host, results) = outcomes(host, &calls);
    assert_eq!(results.len(), calls.len());
    for (index, result) in results.iter().enumerate().take(calls.len() - 1) {
        failures.check(&calls[index].to_string(), result.contains("\"status\":\"error\""), result);
    }
    for name in OWN {
        let text = std::fs::read_to_string(host.home().join(name)).unwrap_or_default();
        failures.check(name, !text.contains("evil"), &text);
    }
    assert_eq!(std::fs::read_to_string(host.home().join("mine")).expect("written"), "good");
    failures.report(calls.len());
}

//! Where hooks come from: the user's files, and those of a project once it is trusted.

use std::fs;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::{answer, call};

/// A hook of a project that leaves a mark, in Claude Code's shape.
fn marking(matcher: &str) -> String {
    let command = "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/mark.sh";
    json!({"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [
        {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    ]}})
    .to_string()
}

fn write(host: &Host, path: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = host.repository().join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, text).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("changed");
}

fn looking() -> Host {
    let replies = [call("ls", json!({})), answer("Done.")];
    let host = Host::scripted(&replies, &["Go"]);
    write(&host, ".claude/hooks/mark.sh", "#!/bin/sh\ncat > marked\n");
    host
}

fn is_marked(host: &Host) -> bool {
    let marked = host.repository().join("marked");
    let is = marked.exists();
    if is {
        fs::remove_file(marked).expect("removed");
    }
    is
}

// promise hooks.trust: No hook of a project runs before it is trusted; a hook that changed, or a program of the project
//   that it starts, is asked about again.
#[test]
fn hooks_of_a_project_run_only_as_they_were_trusted() {
    let host = looking();
    for (path, text) in [
        (".claude/settings.json", marking("LS")),
        (".claude/settings.local.json", marking("ls")),
        (".codex/hooks.json", marking("*")),
        (".gemini/settings.json", marking("list_directory").replace("PreToolUse", "BeforeTool")),
        (".host/hooks.json", marking("")),
    ] {
        write(&host, path, &text);
        let ended = host.run();
        assert_eq!((ended.code, is_marked(&host)), (Some(0), false), "{path}: {ended:?}");
        assert!(ended.stderr.contains("is not trusted and is ignored"), "{path}: {ended:?}");
        let shown = host.run_of(&["trust"]);
        assert!(shown.stdout.contains(path.trim_start_matches(".host/")), "{path}: {shown:?}");
        assert!(shown.stdout.contains("a program that a hook starts"), "{shown:?}");
        let trusted = host.run_of(&["trust", "add"]);
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
        let ended = host.run();
        assert_eq!((ended.code, is_marked(&host)), (Some(0), true), "{path}: {ended:?}");
        // Other settings of that agent can change.
        if path.starts_with(".claude") {
            write(&host, path, &text.replace("Bash(ls)", "Bash(cat)"));
            assert!(host.run().stderr.is_empty() && is_marked(&host), "{path}");
        }
        write(&host, ".claude/hooks/mark.sh", "#!/bin/sh\ncat > marked; echo more >> marked\n");
        let ended = host.run();
        assert!(!is_marked(&host) && ended.stderr.contains("has changed since you trusted it"), "{path}: {ended:?}");
        write(&host, ".claude/hooks/mark.sh", "#!/bin/sh\ncat > marked\n");
        write(&host, path, &text.replace("mark.sh", "mark.sh --new"));
        let ended = host.run();
        assert!(!is_marked(&host) && ended.stderr.contains("has changed since you trusted it"), "{path}: {ended:?}");
        fs::remove_file(host.repository().join(path)).expect("removed");
        host.run_of(&["trust", "add"]);
    }
    // A file without hooks is no reason to ask.
    write(&host, ".claude/settings.json", "{\"permissions\": {}}");
    assert!(host.run().stderr.is_empty());
}

// promise hooks.edited: A program of the project that changed since the session began is not started by a hook.
#[test]
fn hook_whose_program_a_call_changed_does_not_run_it() {
    let script = "#!/bin/sh\ncat > marked\n";
    let replies = [
        call("write_file", json!({"path": ".claude/hooks/mark.sh", "content": "#!/bin/sh\necho evil > marked\n"})),
        call("ls", json!({})),
        answer("Done."),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "--output-format", "stream-json", "Go"]);
    write(&host, ".claude/hooks/mark.sh", script);
    write(&host, ".claude/settings.json", &marking("LS"));
    host.run_of(&["trust", "add"]);
    let ended = host.run();
    assert!(!is_marked(&host), "{ended:?}");
    assert!(ended.stdout.contains("has changed since the session began"), "{ended:?}");
}

#[test]
fn hooks_of_the_users_other_agents_run_only_if_they_are_named() {
    let text =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat > marked"}]}]}}).to_string();
    let gemini = text.replace("PreToolUse", "BeforeTool");
    for (path, text, name) in [
        (".claude/settings.json", &text, "claude"),
        (".codex/hooks.json", &text, "codex"),
        (".gemini/settings.json", &gemini, "gemini"),
    ] {
        let host = looking().home_file(path, text);
        assert!(host.run().stderr.is_empty() && !is_marked(&host), "{path}");
        let host = host.configured(&format!("[hooks]\nread = [\"{name}\"]\n"));
        let ended = host.run();
        assert!(ended.stderr.is_empty(), "{ended:?}");
        let marked = fs::read_to_string(host.repository().join("marked")).expect("it ran");
        let input: Value = serde_json::from_str(&marked).expect("JSON");
        let expected = if name == "gemini" { ("BeforeTool", "list_directory") } else { ("PreToolUse", "LS") };
        assert_eq!((&input["hook_event_name"], &input["tool_name"]), (&json!(expected.0), &json!(expected.1)));
    }
    // The user's own file needs no key, and has to be right.
    let host = looking().home_file(".config/host/hooks.json", &text);
    host.run();
    assert!(is_marked(&host));
    for broken in ["{", r#"{"hooks": {"PreToolUse": [{"matcher": "(?=x)", "hooks": [{"command": "x"}]}]}}"#] {
        let ended = looking().home_file(".config/host/hooks.json", broken).run();
        assert_eq!((ended.code, ended.stderr.contains("hooks.json")), (Some(52), true), "{ended:?}");
    }
    let ended = looking().configured("[[hooks.PreToolUse]]\nmatcher = \"ls\"\n").run();
    assert!(ended.code == Some(52) && ended.stderr.contains("has no `command`"), "{ended:?}");
}

#[test]
fn hooks_are_listed_with_their_source() {
    let host = looking().configured("[[hooks.Stop]]\ncommand = \"make test\"\nname = \"tests\"\n");
    write(&host, ".claude/settings.json", &marking("Bash"));
    let listed = host.run_of(&["hooks", "list"]);
    assert!(listed.stderr.contains("is not trusted") && !listed.stdout.contains("mark.sh"), "{listed:?}");
    host.run_of(&["trust", "add"]);
    let listed = host.run_of(&["hooks", "list", "--json"]);
    let hooks = listed.json();
    assert_eq!((&hooks[0]["event"], &hooks[0]["matcher"]), (&json!("PreToolUse"), &json!("Bash")), "{hooks}");
    assert_eq!((&hooks[0]["project"], &hooks[1]["project"]), (&json!(true), &json!(false)));
    assert_eq!((&hooks[1]["name"], &hooks[1]["command"]), (&json!("tests"), &json!("make test")));
    assert!(hooks[0]["source"].as_str().is_some_and(|source| source.ends_with(".claude/settings.json")));
    let text = host.run_of(&["hooks", "list"]).stdout;
    assert!(text.contains("Stop *: make test") && text.contains("(yours)") && text.contains("(project)"), "{text}");
}

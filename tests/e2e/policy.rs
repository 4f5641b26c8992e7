//! Rules in files, what they say of a call, and what they do to a run.

use host_tests::host::Host;
use serde_json::{Value, json};

const RULES: &str = "\
[[rule]]
tool = \"shell\"
command = [\"git log\", \"touch\"]
decision = \"allow\"
match = [\"git log -3\"]

[[rule]]
tool = \"shell\"
command = \"rm\"
decision = \"deny\"
message = \"nothing is removed here\"

[[rule]]
tool = \"web_fetch\"
decision = \"deny\"
";

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn with_rules(host: Host) -> Host {
    host.home_file(".config/host/policies/mine.toml", RULES)
}

// promise policy.hidden
#[test]
fn rules_allow_deny_and_hide_tools_from_the_model() {
    let line = |command: &str| call("shell", json!({ "command": command }));
    let replies = [
        json!({"chunks": [line("touch made"), line("touch other; rm made"), line("make"), call("web_fetch", json!({"url": "https://x/"}))]}),
        json!({
            "expect": {"responses": [
                "", "`shell` was not run: nothing is removed here", "has no process grant",
                "`web_fetch` was not run: by the rule at "
            ]},
            "chunks": [{"text": "Done."}],
        }),
    ];
    let host = with_rules(Host::scripted(&replies, &["--output-format", "json", "Go"]));
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(host.repository().join("made").exists() && !host.repository().join("other").exists());
    let decisions = &ended.json()["stats"]["tools"]["shell"]["decisions"];
    assert_eq!(*decisions, json!({"allowed": 1, "approved": 0, "changed": 0, "declined": 0, "denied": 2}));
}

#[test]
fn policy_rule_about_a_tool_that_is_not_here_is_mentioned() {
    let note = |tool: &str, more: &str| {
        let text = format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"deny\"\n{more}\n");
        let host = Host::scripted(&[answer("Done.")], &["Go"]).home_file(".config/host/policies/a.toml", text);
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stderr
    };
    let misspelled = note("shel", "");
    assert!(misspelled.contains("a.toml:1 (user) is about the tool `shel`, which is not here: did you mean `shell`?"));
    assert!(note("deploy", "").contains("write `deploy*` if it is one of other projects"));
    for (tool, more) in [
        ("shell", ""),
        ("complete_task", ""),
        ("codebase_investigator", ""),
        ("deploy*", ""),
        ("deploy", "workspace = \"/somewhere/else\""),
    ] {
        assert_eq!(note(tool, more), "", "{tool}");
    }
}

// promise policy.offers: In `plan` the model is offered no tool that could only be refused there.
#[test]
fn policy_plan_mode_offers_no_tool_that_it_refuses() {
    let is_offered = |tool: &str, arguments: &[&str]| {
        let reply = json!({"expect": {"tools": [tool]}, "chunks": [{"text": "Done."}]});
        let ended = Host::scripted(&[reply], &[&["Go"], arguments].concat()).run();
        let differs = ended.stderr.contains(&format!("`{tool}`"));
        assert!(ended.code == Some(0) || differs, "{ended:?}");
        ended.code == Some(0)
    };
    let plan = ["--approval-mode", "plan"];
    for changes in ["edit", "write_file", "shell", "web_fetch"] {
        assert!(is_offered(changes, &[]) && !is_offered(changes, &plan), "{changes}");
    }
    for reads in ["ls", "grep", "read_file", "glob"] {
        assert!(is_offered(reads, &plan), "{reads}");
    }
    let hidden = json!({"expect": {"tools": ["web_fetch"]}, "chunks": [{"text": "Done."}]});
    let ended = with_rules(Host::scripted(&[hidden], &["Go"])).run();
    assert!(ended.code == Some(42) && ended.stderr.contains("expects the tool `web_fetch`"), "{ended:?}");
    // What is denied in every mode is offered in none.
    assert!(!is_offered("shell", &["--deny", "*:process"]) && is_offered("edit", &["--deny", "*:process"]));
}

#[test]
fn policy_invalid_file_stops_the_run_and_is_reported_with_its_place() {
    for (text, words) in [
        ("[[rule]]\ndecision = \"allow\"\ncomand = \"x\"\n", "mine.toml:3:1: "),
        ("[[rule]]\ndecision = \"alow\"\n", "did you mean `allow`?"),
        ("[[rule]]\ndecision = \"allow\"\ncommand = \"git log\"\nmatch = [\"git status\"]\n", "git status"),
        ("rule = 3\n", "mine.toml:1:"),
    ] {
        let host = Host::scripted(&[answer("Done.")], &["Go"]).home_file(".config/host/policies/mine.toml", text);
        let ended = host.run();
        assert_eq!(ended.code, Some(52), "{text}: {ended:?}");
        assert!(ended.stderr.contains(words) && ended.stderr.contains("help: "), "{text}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}

// promise run.protected
#[test]
fn policy_check_explains_what_would_happen_to_a_call_and_runs_nothing() {
    let host = with_rules(Host::new(["policy"]));
    let explained = |tool: &str, arguments: Value, more: &[&str]| {
        let text = arguments.to_string();
        let ended = host.run_of(&[&["policy", "check", tool, &text], more].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    };
    let line = |command: &str| json!({ "command": command });

    let text = explained("shell", line("git log && rm -rf x"), &[]);
    assert!(text.starts_with("deny: nothing is removed here\n"), "{text}");
    assert!(text.contains("`git log`: allow, by the rule at ") && text.contains("mine.toml:1 (user)"), "{text}");
    let text = explained("shell", line("make"), &[]);
    assert!(text.starts_with("ask\n  `make`: ask, not allowed by any rule or grant yet\n"), "{text}");
    assert!(text.contains("Without a terminal: `shell` has no process grant"), "{text}");
    assert!(explained("shell", line("make"), &["--approval-mode", "yolo"]).starts_with("allow\n"));
    let text = explained("write_file", json!({"path": "made", "content": ""}), &["--approval-mode", "auto-edit"]);
    assert!(text.starts_with("allow\n") && text.contains("It would touch: fs-write=/"), "{text}");
    let text = explained("write_file", json!({"path": ".git/config", "content": ""}), &["--approval-mode", "yolo"]);
    assert!(text.starts_with("deny: ") && text.contains("nobody can allow it"), "{text}");
    // Nor does a command write there or into the host's own folders, as far as its words show it.
    let own = host.home().join(".config/host/policies/mine.toml");
    for target in [own.display().to_string(), "~/.config/host/config.toml".to_owned(), ".git/config".to_owned()] {
        let text = explained("shell", line(&format!("echo x > {target}")), &["--approval-mode", "yolo"]);
        assert!(text.starts_with("deny\n") && text.contains("nothing may change"), "{text}");
    }
    assert!(!host.repository().join("made").exists());

    let json = explained("shell", line("rm x"), &["--json"]);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!((&json["decision"], &json["touches"]), (&json!("deny"), &json!("process=sh -c 'rm x' $")));

    let listed = host.run_of(&["policy", "list"]);
    assert!(
        listed.stdout.contains("mine.toml:7 (user), priority 500") && listed.stdout.contains("built-in, priority 900")
    );
    let ended = host.run_of(&["policy", "check", "no_such_tool"]);
    assert_eq!(ended.code, Some(42), "{ended:?}");
}

#[test]
fn a_command_that_is_granted_runs_in_a_line_of_them_and_no_other_does() {
    let line = |command: &str| call("shell", json!({ "command": command }));
    let replies = [
        json!({"chunks": [line("touch a && touch b"), line("touch c; echo > d")]}),
        json!({"expect": {"responses": ["", "has no process grant"]}, "chunks": [{"text": "Done."}]}),
    ];
    let host = Host::scripted(&replies, &["--grant", "shell:process=touch", "Go"]);
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let is_there = |name: &str| host.repository().join(name).exists();
    assert_eq!(["a", "b", "c", "d"].map(is_there), [true, true, false, false]);
}

#[test]
fn a_rule_binds_one_agent_one_mode_or_one_folder() {
    let decision = |rule: &str, more: &[&str]| {
        let text = format!("[[rule]]\ndecision = \"deny\"\n{rule}\n");
        let host = Host::new(["policy"]).home_file(".config/host/policies/a.toml", text);
        let ended = host.run_of(&[&["policy", "check", "read_file", r#"{"path": "a"}"#, "--json"], more].concat());
        ended.json()["decision"].as_str().unwrap_or_else(|| panic!("{ended:?}")).to_owned()
    };
    let investigator: &[&str] = &["--agent", "codebase_investigator"];
    for (rule, more, expected) in [
        ("agent = \"codebase_investigator\"", investigator, "deny"),
        ("agent = \"codebase_investigator\"", &[][..], "allow"),
        ("mode = \"plan\"", &["--approval-mode", "plan"][..], "deny"),
        ("mode = \"plan\"", &[][..], "allow"),
        ("workspace = \"/somewhere/else\"", &[][..], "allow"),
        ("capability = \"fs-read\"", &[][..], "deny"),
        ("arguments = '\"path\":\"a\"'", &[][..], "deny"),
        ("arguments = '\"path\":\"b\"'", &[][..], "allow"),
    ] {
        assert_eq!(decision(rule, more), expected, "{rule} {more:?}");
    }
}

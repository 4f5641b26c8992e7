//! Rules in files, what they say of a call, and what they do to a run.

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
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

// promise policy.walls: Only a rule of the user's opens the walls, for the commands that it names and for no line with
//   another one.
#[test]
fn policy_rule_of_the_user_lets_its_commands_run_without_walls_and_no_others() {
    let line = |command: &str| call("shell", json!({ "command": command }));
    let replies =
        [json!({"chunks": [line("cat ~/note"), line("cat ~/note; tac ~/note"), line("tac ~/note")]}), answer("Done.")];
    let rule = |command: &str, walls: &str| {
        format!("[[rule]]\ntool = \"shell\"\ncommand = \"{command}\"\n{walls}decision = \"allow\"\n\n")
    };
    let both = |walls: &str| rule("cat", walls) + &rule("tac", "");
    let read = |rules: String| -> Vec<bool> {
        let host = Host::scripted(&replies, &["--output-format", "stream-json", "Go"])
            .home_file("note", "of the user\n")
            .home_file(".config/host/policies/a.toml", rules);
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = ended.lines();
        let ends = lines.iter().filter(|line| line["type"] == "tool_result");
        ends.map(|end| end["output"].to_string().contains("of the user")).collect()
    };
    assert_eq!(read(both("walls = false\n")), [true, false, false]);
    assert_eq!(read(both("")), [false, false, false]);
    assert_eq!(read(rule("cat", "walls = false\n") + &rule("tac", "walls = false\n")), [true, true, true]);
    // A project opens none.
    let host = Host::scripted(&[answer("Done.")], &["Go"])
        .file(".host/policies/a.toml", rule("cat", "walls = false\n").replace("allow", "ask"));
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = host.run();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("only a rule that allows opens the walls"), "{ended:?}");
}

// promise policy.unasked: Where programs are not behind walls, none runs without a question, not even one that reads.
#[test]
fn policy_command_that_reads_is_asked_about_where_there_are_no_walls() {
    let replies = [json!({"chunks": [call("shell", json!({"command": "cat file"}))]}), answer("Done.")];
    let run = |more: &[&str]| {
        let host = Host::scripted(&replies, more).args(&["--output-format", "stream-json", "Go"]).file("file", "text");
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.lines().into_iter().find(|line| line["type"] == "tool_result").expect("it ended")
    };
    let behind = run(&[]);
    assert_eq!((&behind["status"], behind["output"].to_string().contains("text")), (&json!("success"), true));
    let without = run(&["--confine", "off"]);
    assert_eq!(without["status"], "error", "{without}");
    assert!(!without["output"].to_string().contains("text"), "{without}");
}

#[test]
fn policy_rule_about_a_tool_that_is_not_here_is_mentioned() {
    let run = |tool: &str, more: &str| {
        let text = format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"deny\"\n{more}\n");
        let host = Host::scripted(&[answer("Done.")], &["Go"]).home_file(".config/host/policies/a.toml", text);
        host.run()
    };
    outcome_snapshot!(run("shel", ""), @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: the rule at [HOME]/.config/host/policies/a.toml:1 (user) names the tool `shel`, which does not \
    exist here; did you mean `shell`?
    ");
    outcome_snapshot!(run("deploy", ""), @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: the rule at [HOME]/.config/host/policies/a.toml:1 (user) names the tool `deploy`, which does not \
    exist here; if other projects have it, write `deploy*`
    ");
    for (tool, more) in [
        ("shell", ""),
        ("complete_task", ""),
        ("codebase_investigator", ""),
        ("deploy*", ""),
        ("deploy", "workspace = \"/somewhere/else\""),
    ] {
        let ended = run(tool, more);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{tool}");
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
    host_snapshot!(with_rules(Host::scripted(&[hidden], &["Go"])), @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: line 1 of the script `[HOME]/script.jsonl` expects the tool `web_fetch`, but the request has \
    `edit`, `glob`, `grep`, `ls`, `memory`, `read_file`, `read_many_files`, `shell`, `process`, `todo`, \
    `write_file`, `ask_user`, `codebase_investigator`
    ");
    // What is denied in every mode is offered in none.
    assert!(!is_offered("shell", &["--deny", "*:process"]) && is_offered("edit", &["--deny", "*:process"]));
}

#[test]
fn policy_invalid_file_stops_the_run_and_is_reported_with_its_place() {
    let mut errors = Transcript::default();
    for text in [
        "[[rule]]\ndecision = \"allow\"\ncomand = \"x\"\n",
        "[[rule]]\ndecision = \"alow\"\n",
        "[[rule]]\ndecision = \"allow\"\ncommand = \"git log\"\nmatch = [\"git status\"]\n",
        "rule = 3\n",
    ] {
        let host = Host::scripted(&[answer("Done.")], &["Go"]).home_file(".config/host/policies/mine.toml", text);
        errors.add(text, &host.run());
    }
    transcript_snapshot!(errors, @r#"
    # [[rule]]
    # decision = "allow"
    # comand = "x"
    exit: 52
    ----- stderr
    error: invalid rules
      caused by: [HOME]/.config/host/policies/mine.toml:3:1: unknown field `comand`, expected one of \
    `tool`, `plugin`, `digest`, `scope`, `workspace`, `arguments`, `command`, `capability`, `agent`, \
    `mode`, `net`, `walls`, `decision`, `priority`, `message`, `match`, `no-match`; did you mean `command`?
    help: fix the line; `docs/policy.md` describes rules, and `host policy check` tries one

    # [[rule]]
    # decision = "alow"
    exit: 52
    ----- stderr
    error: invalid rules
      caused by: [HOME]/.config/host/policies/mine.toml:2:12: unknown variant `alow`, expected one of \
    `allow`, `ask`, `deny`; did you mean `allow`?
    help: fix the line; `docs/policy.md` describes rules, and `host policy check` tries one

    # [[rule]]
    # decision = "allow"
    # command = "git log"
    # match = ["git status"]
    exit: 52
    ----- stderr
    error: invalid rules
      caused by: [HOME]/.config/host/policies/mine.toml:1:1: the rule does not match its example `git \
    status`
    help: fix the line; `docs/policy.md` describes rules, and `host policy check` tries one

    # rule = 3
    exit: 52
    ----- stderr
    error: invalid rules
      caused by: [HOME]/.config/host/policies/mine.toml:1:8: invalid type: integer `3`, expected a list
    help: fix the line; `docs/policy.md` describes rules, and `host policy check` tries one
    "#);
}

// promise run.protected
#[test]
fn policy_check_explains_what_would_happen_to_a_call_and_runs_nothing() {
    let host = with_rules(Host::new(["policy"]));
    let explained = |tool: &str, arguments: Value, more: &[&str]| {
        let text = arguments.to_string();
        host.run_of(&[&["policy", "check", tool, &text], more].concat())
    };
    let line = |command: &str| json!({ "command": command });

    outcome_snapshot!(explained("shell", line("git log && rm -rf x"), &[]), @r#"
    exit: 0
    ----- stdout
    deny: nothing is removed here
      `git log`: allow, by the rule at [HOME]/.config/host/policies/mine.toml:1 (user), priority 500: allow \
    tool = "shell" command = "git log" | "touch"
      `rm -rf x`: deny, by the rule at [HOME]/.config/host/policies/mine.toml:7 (user), priority 500: deny \
    tool = "shell" command = "rm"
    It would touch: process=sh -c 'git log && rm -rf x' $
    Granted without asking: nothing
    ----- stderr
    "#);
    outcome_snapshot!(explained("shell", line("make"), &[]), @r"
    exit: 0
    ----- stdout
    ask
      `make`: ask, not allowed by any rule or grant yet
    It would touch: process=sh -c make $
    Granted without asking: nothing
    Without a terminal: `shell` has no process grant for `make`. Only the user can change this: to allow \
    it, add --grant shell:process=make, or --approval-mode auto, in which programs are confined.
    ----- stderr
    ");
    outcome_snapshot!(explained("shell", line("make"), &["--approval-mode", "yolo"]), @"
    exit: 0
    ----- stdout
    allow
      `make`: allow, granted
    It would touch: process=sh -c make $
    Granted without asking: process=*;net=*:*
    ----- stderr
    ");
    let made = json!({"path": "made", "content": ""});
    outcome_snapshot!(explained("write_file", made, &["--approval-mode", "auto-edit"]), @"
    exit: 0
    ----- stdout
    allow
      the call: allow, granted
    It would touch: fs-write=[REPOSITORY]/made
    Granted without asking: fs-read=[REPOSITORY] fs-write=[REPOSITORY]
    ----- stderr
    ");
    let protected = json!({"path": ".git/config", "content": ""});
    outcome_snapshot!(explained("write_file", protected, &["--approval-mode", "yolo"]), @r"
    exit: 0
    ----- stdout
    deny: `write_file` was not run: `[REPOSITORY]/.git/config` is protected, and no answer or grant allows \
    changing it. Protected are the files of version control and of host, files that a shell runs when it \
    starts, and what the user denied
    It would touch: nothing
    Granted without asking: nothing
    ----- stderr
    ");
    // Nor does a command write there or into the host's own folders, as far as its words show it.
    let own = host.home().join(".config/host/policies/mine.toml");
    let mut denials = Transcript::default();
    for target in [own.display().to_string(), "~/.config/host/config.toml".to_owned(), ".git/config".to_owned()] {
        let command = format!("echo x > {target}");
        denials.add(&command, &explained("shell", line(&command), &["--approval-mode", "yolo"]));
    }
    transcript_snapshot!(denials, @r"
    # echo x > [HOME]/.config/host/policies/mine.toml
    exit: 0
    ----- stdout
    deny
      `echo x > [HOME]/.config/host/policies/mine.toml`: deny, nothing may change \
    `[HOME]/.config/host/policies/mine.toml`
      `echo x > [HOME]/.config/host/policies/mine.toml`: ask, it writes \
    `[HOME]/.config/host/policies/mine.toml`
    It would touch: process=sh -c 'echo x > [HOME]/.config/host/policies/mine.toml' $
    Granted without asking: process=*;net=*:*

    # echo x > ~/.config/host/config.toml
    exit: 0
    ----- stdout
    deny
      `echo x > ~/.config/host/config.toml`: deny, nothing may change `~/.config/host/config.toml`
      `echo x > ~/.config/host/config.toml`: ask, it writes `~/.config/host/config.toml`
    It would touch: process=sh -c 'echo x > ~/.config/host/config.toml' $
    Granted without asking: process=*;net=*:*

    # echo x > .git/config
    exit: 0
    ----- stdout
    deny
      `echo x > .git/config`: deny, nothing may change `.git/config`
      `echo x > .git/config`: ask, it writes `.git/config`
    It would touch: process=sh -c 'echo x > .git/config' $
    Granted without asking: process=*;net=*:*
    ");
    assert!(!host.repository().join("made").exists());

    let json = explained("shell", line("rm x"), &["--json"]).json();
    assert_eq!((&json["decision"], &json["touches"]), (&json!("deny"), &json!("process=sh -c 'rm x' $")));

    host_snapshot!(host, ["policy", "list"], @r#"
    exit: 0
    ----- stdout
    # [HOME]/.config/host/policies/mine.toml:7 (user), priority 500
    [[rule]]
    tool = "shell"
    command = "rm"
    decision = "deny"
    priority = 500
    message = "nothing is removed here"

    # [HOME]/.config/host/policies/mine.toml:13 (user), priority 500
    [[rule]]
    tool = "web_fetch"
    decision = "deny"
    priority = 500

    # [HOME]/.config/host/policies/mine.toml:1 (user), priority 500
    [[rule]]
    tool = "shell"
    command = ["git log", "touch"]
    decision = "allow"
    priority = 500

    # built-in, priority 900
    [[rule]]
    command = ["sudo", "doas", "su", "pkexec", "runuser"]
    mode = ["plan", "default", "auto-edit", "auto"]
    decision = "ask"
    priority = 900

    # built-in, priority 900
    [[rule]]
    command = ["shutdown", "reboot", "halt", "poweroff", "systemctl poweroff", "systemctl reboot"]
    mode = ["plan", "default", "auto-edit", "auto"]
    decision = "ask"
    priority = 900

    # built-in, priority 900
    [[rule]]
    command = ["mkfs", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "fdisk", "parted", "wipefs", "shred"]
    mode = ["plan", "default", "auto-edit", "auto"]
    decision = "ask"
    priority = 900

    ----- stderr
    "#);
    host_snapshot!(host, ["policy", "check", "no_such_tool"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no tool `no_such_tool`; call tools by their exact names
    ");
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

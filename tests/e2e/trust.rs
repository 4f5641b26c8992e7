//! What a project brings in its `.host/`: nothing of it counts before a user trusts it, and then as it was trusted.

mod attacks;
mod layers;
mod list;
mod terminal;

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, transcript_snapshot};
use serde_json::{Value, json};

/// An agent of a project.
const AGENT: &str = "---\nname: surveyor\ndescription: Surveys.\ntools: [ls]\n---\nYou survey.\n";

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

/// `host run` of one reply, in a project that can bring something.
fn run(arguments: &[&str]) -> Host {
    Host::scripted(&[answer("Done.")], arguments)
}

/// Trusts the project as it is.
fn trust(host: &Host) {
    let ended = host.run_of(&["trust", "add"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
}

fn write(host: &Host, path: &str, text: &str) {
    let path = host.repository().join(path);
    std::fs::create_dir_all(path.parent().expect("it is in the repository")).expect("made");
    std::fs::write(path, text).expect("written");
}

// promise project.untrusted: Nothing in an untrusted `.host/` is parsed or used; its files are opened only to show
//   them to the user.
#[test]
fn trust_untrusted_project_is_not_read_and_the_run_reports_that_in_one_line() {
    let broken = |arguments: &[&str]| {
        run(arguments)
            .file(".host/config.toml", "modle = \n")
            .file(".host/agents/a.md", "no agent")
            .file(".host/plugins/p.wasm", "no plugin")
            .file(".host/plugins/p.json", "no manifest")
            .file(".host/policies/r.toml", [0xff, 0xfe])
    };
    host_snapshot!(broken(&["Look"]), @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: `[REPOSITORY]/.host` is not trusted and is ignored; `host trust` shows it, `host trust add` \
    trusts it
    ");
    let json = broken(&["--output-format", "json", "Look"]).run();
    assert_eq!((json.code, &json.json()["project_trust"]), (Some(0), &json!("untrusted")), "{json:?}");
    let lines = broken(&["--output-format", "stream-json", "Look"]).run().lines();
    assert_eq!((&lines[0]["type"], &lines[0]["project_trust"]), (&json!("init"), &json!("untrusted")));
    for arguments in [&["tool", "list"][..], &["agent", "list"], &["tool", "call", "ls"]] {
        let ended = broken(&[]).run_of(arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    // Once it is trusted it is read, and the first thing that is wrong is told.
    let host = broken(&["Look"]);
    trust(&host);
    host_snapshot!(host, @"
    exit: 52
    ----- stdout
    ----- stderr
    error: invalid configuration `[REPOSITORY]/.host/config.toml`
      caused by: TOML parse error at line 1, column 9
          |
        1 | modle =␠
          |         ^
        string values must be quoted, expected literal string
    help: see the line and column above; `docs/configuration.md` lists all keys
    ");
}

#[test]
fn a_project_that_brings_nothing_is_never_spoken_of() {
    let ended =
        run(&["--output-format", "json", "Look"]).file(".host/notes.txt", "x").file(".host/agents/x.txt", "").run();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.json().get("project_trust"), None);
    let host = Host::new(["trust"]);
    host_snapshot!(host, @"
    exit: 0
    ----- stdout
    There is nothing to trust: `[REPOSITORY]` contains nothing that host uses.
    ----- stderr
    ");
    host_snapshot!(host, ["trust", "add"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is nothing to trust: `[REPOSITORY]` contains nothing that host uses
    help: `docs/trust.md` says what a project can bring
    ");
}

#[test]
fn a_trusted_project_counts() {
    let expect = json!({"tools": ["surveyor"], "system": "OURS", "last_text": "Look"});
    let reply = json!({"expect": expect, "chunks": [{"text": "Done."}]});
    let host = Host::scripted(&[reply], &["--output-format", "json", "Look"])
        .file(".host/config.toml", "approval_mode = \"plan\"\n[context]\nfiles = [\"OURS.md\"]\n")
        .file(".host/agents/surveyor.md", AGENT)
        .file("OURS.md", "OURS are the rules.");
    trust(&host);
    let ended = host.run();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.json()["project_trust"], "trusted");
    host_snapshot!(host, ["agent", "show", "surveyor"], @"
    exit: 0
    ----- stdout
    surveyor: surveyor, in `[REPOSITORY]/.host/agents/surveyor.md`

    Surveys.

    Model: the caller's
    Limits: 30 turns, 600 s
    Tools: ls
    Inputs:
    Output: a text

    System prompt:

    You survey.

    Query:

    Get Started!
    ----- stderr
    ");
    // A folder beneath is of the same project.
    write(&host, "src/deep/x.rs", "");
    let beneath = host.run_of(&["trust", "status", "src/deep", "--json"]).json();
    assert_eq!(beneath["trust"], "trusted", "{beneath}");
}

// promise project.change: If a file changes, appears or disappears, nothing in the project is used until it is trusted
//   again.
#[test]
fn trust_change_is_reported_and_nothing_is_used_until_it_is_trusted_again() {
    let host = run(&["Look"])
        .file(".host/config.toml", "model = \"offline\"\n")
        .file(".host/agents/surveyor.md", AGENT)
        .file(".host/policies/deny.toml", "");
    trust(&host);
    write(&host, ".host/config.toml", "model = \"nonsense\"\n");
    write(&host, ".host/agents/other.md", "no agent");
    std::fs::remove_file(host.repository().join(".host/policies/deny.toml")).expect("it was there");
    host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: `[REPOSITORY]/.host` has changed since you trusted it (`agents/other.md` added, `config.toml` \
    changed, `policies/deny.toml` removed) and is ignored; `host trust` shows it, `host trust add` trusts it
    ");
    let listed = host.run_of(&["agent", "list"]);
    assert!(!listed.stdout.contains("surveyor"), "what did not change is not used either: {listed:?}");
    host_snapshot!(host, ["trust"], @"
    exit: 0
    ----- stdout
    `[REPOSITORY]/.host` has changed since you trusted it, and is ignored.

      `agents/other.md` added
      `config.toml` changed
      `policies/deny.toml` removed

    It now contains:

      `config.toml`: configuration (19 bytes)
      `agents/other.md`: an agent that the model can call (8 bytes)
      `agents/surveyor.md`: an agent that the model can call (69 bytes)

    `host trust add` trusts it as it is now, `host trust remove` forgets it.
    ----- stderr
    ");
    // What does not count may change.
    write(&host, ".host/config.toml", "model = \"offline\"\n");
    std::fs::remove_file(host.repository().join(".host/agents/other.md")).expect("it was there");
    write(&host, ".host/policies/deny.toml", "");
    write(&host, ".host/notes.txt", "x");
    // It is as it was.
    host_snapshot!(host, ["trust"], @"
    exit: 0
    ----- stdout
    `[REPOSITORY]/.host` is trusted.

      `policies/deny.toml`: rules for calls (0 bytes)
      `config.toml`: configuration (18 bytes)
      `agents/surveyor.md`: an agent that the model can call (69 bytes)

    `host trust remove` revokes that.
    ----- stderr
    ");
    // Taking all of it away is a change as well: a rule may have been among it.
    std::fs::remove_dir_all(host.repository().join(".host")).expect("it was there");
    host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: `[REPOSITORY]` has changed since you trusted it (`agents/surveyor.md` removed, `config.toml` \
    removed, `policies/deny.toml` removed) and is ignored; `host trust` shows it, `host trust add` trusts it
    ");
    assert_eq!(host.run_of(&["trust", "remove"]).code, Some(0));
    assert_eq!(host.run().stderr, "");
}

// promise project.required: With `--require-trust` a run in an untrusted project ends with its own exit code.
#[test]
fn trust_run_that_needs_an_untrusted_project_ends_with_its_own_code() {
    let host = || run(&[]).file(".host/agents/surveyor.md", AGENT).file(".host/plugins/deploy.wasm", "x");
    let mut errors = Transcript::default();
    for arguments in [
        &["run", "--model", "offline", "--require-trust", "Look"][..],
        &["run", "--model", "offline", "--agent", "surveyor"],
        &["run", "--model", "offline", "--grant", "deploy:process=x", "Look"],
        &["run", "--model", "offline", "--deny", "deploy:process", "Look"],
        &["agent", "show", "surveyor"],
    ] {
        errors.add(arguments.join(" "), &host().run_of(arguments));
    }
    let servers = run(&[]).file(".mcp.json", r#"{"mcpServers": {"lab": {"command": "true"}}}"#);
    let arguments = ["run", "--model", "offline", "--grant", "mcp:mcp=lab", "Look"];
    errors.add(arguments.join(" "), &servers.run_of(&arguments));
    transcript_snapshot!(errors, @r"
    # run --model offline --require-trust Look
    exit: 55
    ----- stderr
    error: the project is not trusted, and --require-trust is set
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # run --model offline --agent surveyor
    exit: 55
    ----- stderr
    note: `[REPOSITORY]/.host` is not trusted and is ignored; `host trust` shows it, `host trust add` \
    trusts it
    error: there is no agent `surveyor`
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # run --model offline --grant deploy:process=x Look
    exit: 55
    ----- stderr
    note: `[REPOSITORY]/.host` is not trusted and is ignored; `host trust` shows it, `host trust add` \
    trusts it
    error: there is no plugin `deploy`, unless the untrusted project has it
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # run --model offline --deny deploy:process Look
    exit: 55
    ----- stderr
    note: `[REPOSITORY]/.host` is not trusted and is ignored; `host trust` shows it, `host trust add` \
    trusts it
    error: there is no plugin `deploy`, unless the untrusted project has it
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # agent show surveyor
    exit: 55
    ----- stderr
    note: `[REPOSITORY]/.host` is not trusted and is ignored; `host trust` shows it, `host trust add` \
    trusts it
    error: there is no agent `surveyor`
      caused by: `[REPOSITORY]/.host` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now

    # run --model offline --grant mcp:mcp=lab Look
    exit: 55
    ----- stderr
    note: `[REPOSITORY]` is not trusted and is ignored; `host trust` shows it, `host trust add` trusts it
    error: there is no plugin `mcp`, unless the untrusted project has it
      caused by: `[REPOSITORY]` is not trusted
    help: look at it with `host trust`; `host trust add` trusts it as it is now
    ");
    // What is missing for another reason is bad input.
    host_snapshot!(run(&["--agent", "surveyor"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no agent `surveyor`
    help: `host agent list` lists all agents
    ");
    host_snapshot!(run(&["--grant", "mcp:mcp=lab", "Look"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no plugin `mcp` for `mcp:mcp=lab`
    help: `host tool list` lists all plugins
    ");
    let trusted = run(&["--require-trust", "Look"]).file(".host/agents/surveyor.md", AGENT);
    trust(&trusted);
    assert_eq!(trusted.run().code, Some(0));
    assert_eq!(run(&["--require-trust", "Look"]).run().code, Some(0), "there is nothing to trust");
}

// promise project.oversized: One skill or command file of a project that is too large is left out with a line that says
//   why; the project can be trusted, and everything else of it is used.
#[test]
fn trust_project_with_a_skill_and_a_command_that_are_too_large_is_used_without_them() {
    let host = run(&["Look"])
        .file(".host/config.toml", "approval_mode = \"plan\"\n")
        .file(".agents/skills/long/SKILL.md", format!("---\nname: long\ndescription: x\n---\n{}", "é".repeat(20_000)))
        .file(".agents/skills/fine/SKILL.md", "---\nname: fine\ndescription: Fits.\n---\nbody\n")
        .file(".claude/commands/large.md", "é".repeat(40_000))
        .file(".claude/commands/small.md", "x");
    host_snapshot!(host, ["trust", "add"], @r"
    exit: 0
    ----- stdout
    `[REPOSITORY]/.host` is trusted as it is now:

      `config.toml`: configuration (23 bytes)
      `.agents/skills/fine/SKILL.md`: a skill: instructions that the model can load (43 bytes)
      `.agents/skills/long/SKILL.md`: a skill: instructions that the model can load (too large, not used)
      `.claude/commands/large.md`: a command that you can run, and whose shell lines are asked about (too \
    large, not used)
      `.claude/commands/small.md`: a command that you can run, and whose shell lines are asked about (1 \
    byte)
    ----- stderr
    ");
    host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: the skill `long` (project) is not used: `SKILL.md` is over the limit of 36864 bytes; move parts \
    of it into files of their own
    note: the command `/large` (project) is not used: it is over the limit of 65536 bytes
    ");
    let told = host.told();
    assert!(told.contains("- `fine`: Fits."), "{told}");
    // One that is made smaller is a change that the user looks at.
    write(&host, ".claude/commands/large.md", "y");
    host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: `[REPOSITORY]/.host` has changed since you trusted it (`.claude/commands/large.md` changed) and \
    is ignored; `host trust` shows it, `host trust add` trusts it
    ");
}

// promise project.path: Trust applies to one real path.
#[test]
fn a_moved_or_copied_project_is_not_trusted_and_a_link_to_it_is_the_same() {
    let host = run(&[]).file("a/.git/x", "").file("a/.host/config.toml", "model = \"offline\"\n");
    assert_eq!(host.run_of(&["trust", "add", "a"]).code, Some(0));
    let is_trusted = |folder: &str| host.run_of(&["trust", "status", folder, "--json"]).json()["trust"].clone();
    std::os::unix::fs::symlink("a", host.repository().join("link")).expect("linked");
    assert_eq!((is_trusted("a"), is_trusted("link")), (json!("trusted"), json!("trusted")));
    let copied = host.end({
        let mut command = std::process::Command::new("cp");
        command.args(["-r", "a", "b"]).current_dir(host.repository()).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        command
    });
    assert_eq!(copied.code, Some(0), "{copied:?}");
    assert_eq!(is_trusted("b"), "untrusted");
    std::fs::rename(host.repository().join("a"), host.repository().join("c")).expect("moved");
    assert_eq!(is_trusted("c"), "untrusted");
}

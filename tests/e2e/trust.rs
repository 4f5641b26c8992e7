//! What a project brings in its `.host/`: nothing of it counts before a user trusts it, and then as it was trusted.

mod attacks;
mod layers;
mod list;
mod terminal;

use host_tests::host::{Ended, Host};
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

/// Checks that a run went well with exactly one line about the project, which says this.
fn noted(ended: &Ended, says: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    for words in ["note: ", "is ignored"].iter().chain(says) {
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
}

/// Checks how it ended, with one error that says this.
fn refused(ended: &Ended, code: i32, says: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{ended:?}");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:?}");
    for words in says {
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
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
    noted(&broken(&["Look"]).run(), &["/.host` is not trusted", "`host trust add`"]);
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
    refused(&host.run(), 52, &["invalid configuration `", "line 1"]);
}

#[test]
fn a_project_that_brings_nothing_is_never_spoken_of() {
    let ended =
        run(&["--output-format", "json", "Look"]).file(".host/notes.txt", "x").file(".host/agents/x.txt", "").run();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.json().get("project_trust"), None);
    let host = Host::new(["trust"]);
    assert!(host.run().stdout.starts_with("There is nothing to trust"), "{:?}", host.run());
    refused(&host.run_of(&["trust", "add"]), 42, &["nothing to trust"]);
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
    let shown = host.run_of(&["agent", "show", "surveyor"]);
    assert!(shown.stdout.contains("/.host/agents/surveyor.md"), "{shown:?}");
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
    let changes = ["`agents/other.md` added", "`config.toml` changed", "`policies/deny.toml` removed"];
    noted(&host.run(), &changes);
    let listed = host.run_of(&["agent", "list"]);
    assert!(!listed.stdout.contains("surveyor"), "what did not change is not used either: {listed:?}");
    let status = host.run_of(&["trust"]);
    assert!(changes.iter().all(|change| status.stdout.contains(change)), "{status:?}");
    // What does not count may change.
    write(&host, ".host/config.toml", "model = \"offline\"\n");
    std::fs::remove_file(host.repository().join(".host/agents/other.md")).expect("it was there");
    write(&host, ".host/policies/deny.toml", "");
    write(&host, ".host/notes.txt", "x");
    assert!(host.run_of(&["trust"]).stdout.contains("` is trusted."), "it is as it was");
    // Taking all of it away is a change as well: a rule may have been among it.
    std::fs::remove_dir_all(host.repository().join(".host")).expect("it was there");
    noted(&host.run(), &["`agents/surveyor.md` removed"]);
    assert_eq!(host.run_of(&["trust", "remove"]).code, Some(0));
    assert_eq!(host.run().stderr, "");
}

// promise project.required: With `--require-trust` a run in an untrusted project ends with its own exit code.
#[test]
fn trust_run_that_needs_an_untrusted_project_ends_with_its_own_code() {
    let host = || run(&[]).file(".host/agents/surveyor.md", AGENT).file(".host/plugins/deploy.wasm", "x");
    for (arguments, says) in [
        (&["run", "--model", "offline", "--require-trust", "Look"][..], "is not trusted"),
        (&["run", "--model", "offline", "--agent", "surveyor"], "there is no agent `surveyor`"),
        (&["run", "--model", "offline", "--grant", "deploy:process=x", "Look"], "there is no plugin `deploy`"),
        (&["run", "--model", "offline", "--deny", "deploy:process", "Look"], "there is no plugin `deploy`"),
        (&["agent", "show", "surveyor"], "there is no agent `surveyor`"),
    ] {
        refused(&host().run_of(arguments), 55, &[says, "host trust add"]);
    }
    let servers = run(&[]).file(".mcp.json", r#"{"mcpServers": {"lab": {"command": "true"}}}"#);
    let arguments = ["run", "--model", "offline", "--grant", "mcp:mcp=lab", "Look"];
    refused(&servers.run_of(&arguments), 55, &["there is no plugin `mcp`", "host trust add"]);
    // What is missing for another reason is bad input.
    refused(&run(&["--agent", "surveyor"]).run(), 42, &["there is no agent"]);
    refused(&run(&["--grant", "mcp:mcp=lab", "Look"]).run(), 42, &["there is no plugin"]);
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
    let added = host.run_of(&["trust", "add"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    for line in [
        "`.agents/skills/long/SKILL.md`: a skill: instructions that the model can load (too large, not used)",
        "`.claude/commands/large.md`: a command that you can run, and whose shell lines are asked about (too large, not used)",
        "(1 byte)",
    ] {
        assert!(added.stdout.contains(line), "{line} in {added:?}");
    }
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in [
        "the skill `long` (project) is not used: `SKILL.md` is over the limit of 36864 bytes; move parts of it into files of their own",
        "the command `/large` (project) is not used: it is over the limit of 65536 bytes",
    ] {
        assert_eq!(ended.stderr.matches(line).count(), 1, "{line} in {ended:?}");
    }
    assert!(!ended.stderr.contains("cannot be trusted"), "{ended:?}");
    let started = host.session();
    let system = started.iter().find_map(|line| line["system"].as_str()).expect("there are instructions");
    assert!(system.contains("- `fine`: Fits."), "{system}");
    // One that is made smaller is a change that the user looks at.
    write(&host, ".claude/commands/large.md", "y");
    noted(&host.run(), &["has changed since you trusted it (`.claude/commands/large.md` changed)"]);
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

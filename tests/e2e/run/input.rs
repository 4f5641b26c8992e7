//! What a user gets wrong: each is told once, with what to do, and with its code.

use std::os::unix::fs::PermissionsExt;

use host_tests::host::Host;

use super::answer;

fn check(host: &Host, code: i32, says: &[&str]) {
    let ended = host.run();
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended:?}");
    for words in says {
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
}

fn run(arguments: &[&str]) -> Host {
    Host::scripted(&[answer("Done.")], arguments)
}

#[test]
fn a_folder_that_cannot_be_worked_in() {
    check(&run(&["-C", "missing", "Look"]), 42, &["`missing`", "No such file", "-C DIR"]);
    check(&run(&["-C", "file", "Look"]).file("file", ""), 42, &["`file`"]);
    let host = run(&["-C", "closed", "Look"]).file("closed/x", "");
    let closed = host.repository().join("closed");
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).expect("set");
    // Root reads everything; then there is nothing to refuse.
    if std::fs::read_dir(&closed).is_err() {
        check(&host, 42, &["`closed`", "Permission denied"]);
    }
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).expect("set");
}

#[test]
fn input_folder_that_is_not_a_repository_is_an_error() {
    let host = run(&["Look"]);
    std::fs::remove_dir(host.repository().join(".git")).expect("it was there");
    check(&host, 42, &["is not in a repository", "git init", "--any-folder"]);
    let host = run(&["--any-folder", "Look"]);
    std::fs::remove_dir(host.repository().join(".git")).expect("it was there");
    assert_eq!(host.run().code, Some(0));
}

#[test]
fn input_invalid_configuration_is_an_error() {
    check(&run(&["Look"]).configured("modle = \"offline\"\n"), 52, &["config.toml", "line 1", "`model`"]);
    check(&run(&["Look"]).configured("model = \n"), 52, &["config.toml", "line 1"]);
    check(&run(&["Look"]).configured("[run]\nmax_turns = \"many\"\n"), 52, &["line 2", "many"]);
    check(&run(&["Look"]).configured("[limits]\ncall_seconds = 0\n"), 52, &["call_seconds", "the smallest value is 1"]);
    check(&run(&["Look"]).env("HOST_CONFIG", "/no/such/file.toml"), 52, &["/no/such/file.toml", "HOST_CONFIG"]);
}

// promise run.configured: A file by which the user configures the host is not used if other users can write it, and
//   that is said: the configuration, rules, agents, hooks, context files, skills and commands.
#[test]
fn input_files_that_others_can_write_are_not_used_and_that_is_said() {
    let agent = "---\nname: a\ndescription: A.\ntools: [ls]\n---\nYou look.\n";
    for (name, text, code, says) in [
        (".config/host/config.toml", "approval_mode = \"plan\"\n", 52, "others can write it (its mode is 666)"),
        (".config/host/policies/a.toml", "[[rule]]\ntool = \"ls\"\ndecision = \"deny\"\n", 52, "its mode is 666"),
        (".config/host/agents/a.md", agent, 52, "its mode is 666"),
        (".config/host/hooks.json", "{}", 52, "its mode is 666"),
        (".config/host/AGENTS.md", "SAID", 0, "is left out: others can write it"),
        (
            ".agents/skills/s/SKILL.md",
            "---\nname: s\ndescription: SAID\n---\nx\n",
            0,
            "the skill `s` (user) is not used",
        ),
        (".config/host/commands/c.md", "SAID", 0, "the command `/c` (user) is not used"),
    ] {
        let before = run(&["Look"]).home_file(name, text).run();
        assert!(!before.stderr.contains("others can write"), "{name}: {before:?}");
        let host = run(&["Look"]).home_file(name, text);
        std::fs::set_permissions(host.home().join(name), PermissionsExt::from_mode(0o666)).expect("set");
        let ended = host.run();
        assert_eq!(ended.code, Some(code), "{name}: {ended:?}");
        assert!(ended.stderr.contains(says), "{name}: {ended:?}");
        if code == 0 {
            let system: String = host.session().iter().map(|line| line["system"].to_string()).collect();
            assert!(!system.contains("SAID"), "{name}");
        }
    }
}

#[test]
fn arguments_that_make_no_sense() {
    check(&run(&[]), 42, &["no prompt"]);
    check(&Host::new(["run", "--model", "nonsense", "Look"]), 42, &["nonsense", "`offline`"]);
    let nowhere = Host::new(["run", "Look"]).env("OLLAMA_HOST", "127.0.0.1:1");
    check(&nowhere, 41, &["no model", "--model offline", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "start Ollama"]);
    check(&Host::new(["run", "--model", "anthropic/x", "Look"]), 41, &["ANTHROPIC_API_KEY"]);
    check(&Host::new(["run", "--model", "gemini/x", "Look"]), 41, &["GEMINI_API_KEY"]);
    check(&run(&["--grant", "grp:fs-read=.", "Look"]), 42, &["`grp`", "`grep`"]);
    check(&run(&["--grant", "grep:fs-reed=.", "Look"]), 42, &["fs-reed"]);
    check(&run(&["--grant", "grep:process=git", "Look"]), 42, &["no effect", "fs-read"]);
    check(
        &run(&["--grant", "web_fetch:http=POST example.com:81", "Look"]),
        42,
        &["has no effect", "does not ask for that http", "it asks for http `*:* +private`, and no grant gives more"],
    );
    check(&run(&["--grant", "grep", "Look"]), 42, &["PLUGIN:CAPABILITY=SCOPE"]);
    check(&run(&["--grant", "web_fetch:http=user@host", "Look"]), 42, &["web_fetch:http"]);
    check(&run(&["--deny", "grep", "Look"]), 42, &["--deny"]);
    let ended = Host::new(["run", "--no-such-flag"]).run();
    assert_eq!(ended.code, Some(42), "{ended:?}");
    assert_eq!(Host::new(["--help"]).run().code, Some(0));
    assert_eq!(Host::new(["run", "--help"]).run().code, Some(0));
    assert_eq!(Host::new(["--version"]).run().stdout, "host 0.1.0\n");
}

#[test]
fn input_invalid_script_is_an_error() {
    let host = Host::new(["run", "--model", "scripted:bad.jsonl", "Look"])
        .file("bad.jsonl", "{\"chunks\": [{\"txt\": \"x\"}]}\n");
    check(&host, 52, &["line 1", "bad.jsonl"]);
}

// promise plugin.imports
#[test]
fn input_file_that_is_not_a_plugin_is_an_error() {
    let manifest = r#"{"manifest":1,"name":"bad","version":"1.0.0","license":"MIT","contract":"0.1.0","capabilities":{},"tools":[]}"#;
    let bad = |bytes: &[u8]| run(&["--plugin", "bad.wasm", "Look"]).file("bad.wasm", bytes).file("bad.json", manifest);
    check(&bad(b"#!/bin/sh\n"), 42, &["bad.wasm", "not a component"]);
    check(&bad(b"\0asm\x01\0\0\0"), 42, &["bad.wasm", "core module", "host plugin build"]);
    check(&bad(b"\0asm\x0d\0\x01\0"), 42, &["bad.wasm", "does not export"]);
    check(&run(&["--plugin", "missing.wasm", "Look"]), 42, &["missing.wasm"]);
    check(&run(&["--plugin", "alone.wasm", "Look"]).file("alone.wasm", "x"), 42, &["alone.json", "host plugin build"]);
    check(&run(&["--plugin", ".", "Look"]), 42, &["there is no plugin"]);
    let host =
        run(&["--plugin", "bad.wasm", "Look"]).file("bad.wasm", "x").file("bad.json", "{\"manifest\":1,\"nam\":\"x\"}");
    check(&host, 42, &["bad.json", "nam"]);
}

#[test]
fn standard_input_is_joined_to_the_prompt() {
    let reply = serde_json::json!({"expect": {"last_text": "Review this\n\n+ a line"}, "chunks": [{"text": "Fine."}]});
    let ended = Host::scripted(&[reply], &["Review", "this"]).input("+ a line\n").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Fine.\n"), "{ended:?}");
    let reply = serde_json::json!({"expect": {"last_text": "just this"}, "chunks": [{"text": "Fine."}]});
    assert_eq!(Host::scripted(&[reply], &[]).input("just this").run().code, Some(0));
    check(&run(&["Look"]).input([0xff, 0xfe, 0x00]), 42, &["not UTF-8"]);
}

#[test]
fn input_that_never_ends_is_read_within_the_time_limit() {
    let host = run(&["--timeout", "1s"]);
    let ended = host.end(host.command_in_shell("while echo drip && sleep 0.05; do :; done 2>/dev/null | \"$@\""));
    assert_eq!(ended.code, Some(57), "{ended:?}");
    assert!(ended.stderr.contains("standard input was still open after 1s"), "{ended:?}");
    assert!(host.logs().is_empty(), "nothing was begun");
}

#[test]
fn input_prompt_is_not_a_template() {
    let reply =
        serde_json::json!({"expect": {"last_text": "What does ${HOME} mean in ${x}?"}, "chunks": [{"text": "Fine."}]});
    assert_eq!(Host::scripted(&[reply], &["What does ${HOME} mean in ${x}?"]).run().code, Some(0));
}

#[test]
fn input_without_a_home_folder_is_an_error_unless_the_system_knows_it() {
    let host = run(&["Look"]);
    let ended = host.end(host.command_in_shell("unset HOME XDG_CACHE_HOME; exec \"$@\""));
    // Where the system knows the user's home, that is taken.
    assert!(ended.code == Some(0) || (ended.code == Some(52) && ended.stderr.contains("HOME")), "{ended:?}");
}

//! What a user gets wrong: each is told once, with what to do, and with its code.

use std::os::unix::fs::PermissionsExt;

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};

use super::answer;

fn run(arguments: &[&str]) -> Host {
    Host::scripted(&[answer("Done.")], arguments)
}

#[test]
fn a_folder_that_cannot_be_worked_in() {
    host_snapshot!(run(&["-C", "missing", "Look"]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: cannot work in the folder `missing`: No such file or directory (os error 2)
    help: name an existing folder that you may read, with -C DIR
    ");
    host_snapshot!(run(&["-C", "file", "Look"]).file("file", ""), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: cannot work in the folder `file`: Not a directory (os error 20)
    help: name an existing folder that you may read, with -C DIR
    ");
    let host = run(&["-C", "closed", "Look"]).file("closed/x", "");
    let closed = host.repository().join("closed");
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).expect("set");
    // Root reads everything; then there is nothing to refuse.
    if std::fs::read_dir(&closed).is_err() {
        host_snapshot!(host, @"
        exit: 42
        ----- stdout
        ----- stderr
        error: cannot work in the folder `closed`: Permission denied (os error 13)
        help: name an existing folder that you may read, with -C DIR
        ");
    }
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o700)).expect("set");
}

#[test]
fn input_folder_that_is_not_a_repository_is_an_error() {
    let host = run(&["Look"]);
    std::fs::remove_dir(host.repository().join(".git")).expect("it was there");
    host_snapshot!(host, @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: `[REPOSITORY]` is not in a repository
    help: use -C DIR to choose one, run `git init` here, or add --any-folder to work in a folder without \
    version control
    ");
    let host = run(&["--any-folder", "Look"]);
    std::fs::remove_dir(host.repository().join(".git")).expect("it was there");
    assert_eq!(host.run().code, Some(0));
}

#[test]
fn input_invalid_configuration_is_an_error() {
    let mut errors = Transcript::default();
    for text in ["modle = \"offline\"\n", "model = \n", "[run]\nmax_turns = \"many\"\n", "[limits]\ncall_seconds = 0\n"]
    {
        errors.add(text, &run(&["Look"]).configured(text).run());
    }
    transcript_snapshot!(errors, @r#"
    # modle = "offline"
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 1, column 1
          |
        1 | modle = "offline"
          | ^^^^^
        unknown field `modle`, expected one of `model`, `effort`, `verbosity`, `editing`, `code_mode`, \
    `approval_mode`, `any_folder`, `confine`, `deny`, `hooks`, `check`, `run`, `budget`, `context`, \
    `conversation`, `limits`, `tools`, `retry`, `compression`, `providers`, `routing`, `models`, `agents`, \
    `plugins`, `mcp`, `indexes`
    help: did you mean `model`?

    # model =
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 1, column 9
          |
        1 | model =␠
          |         ^
        string values must be quoted, expected literal string
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [run]
    # max_turns = "many"
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 13
          |
        2 | max_turns = "many"
          |             ^^^^^^
        invalid type: string "many", expected a whole number
    help: see the line and column above; `docs/configuration.md` lists all keys

    # [limits]
    # call_seconds = 0
    exit: 52
    ----- stderr
    error: invalid configuration `[HOME]/.config/host/config.toml`
      caused by: TOML parse error at line 2, column 16
          |
        2 | call_seconds = 0
          |                ^
        `0` is out of range: the smallest value is 1
    help: see the line and column above; `docs/configuration.md` lists all keys
    "#);
    host_snapshot!(run(&["Look"]).env("HOST_CONFIG", "/no/such/file.toml"), @"
    exit: 52
    ----- stdout
    ----- stderr
    error: cannot read the configuration `/no/such/file.toml`
      caused by: No such file or directory (os error 2)
    help: fix or remove the file, or set HOST_CONFIG to a different one
    ");
}

// promise run.configured: A file by which the user configures the host is not used if other users can write it, and
//   that is said: the configuration, rules, agents, hooks, context files, skills and commands.
#[test]
fn input_files_that_others_can_write_are_not_used_and_that_is_said() {
    let agent = "---\nname: a\ndescription: A.\ntools: [ls]\n---\nYou look.\n";
    let mut notes = Transcript::default();
    for (name, text, code) in [
        (".config/host/config.toml", "approval_mode = \"plan\"\n", 52),
        (".config/host/policies/a.toml", "[[rule]]\ntool = \"ls\"\ndecision = \"deny\"\n", 52),
        (".config/host/agents/a.md", agent, 52),
        (".config/host/hooks.json", "{}", 52),
        (".config/host/AGENTS.md", "SAID", 0),
        (".agents/skills/s/SKILL.md", "---\nname: s\ndescription: SAID\n---\nx\n", 0),
        (".config/host/commands/c.md", "SAID", 0),
    ] {
        let before = run(&["Look"]).home_file(name, text).run();
        assert!(!before.stderr.contains("other users can write"), "{name}: {before:?}");
        let host = run(&["Look"]).home_file(name, text);
        std::fs::set_permissions(host.home().join(name), PermissionsExt::from_mode(0o666)).expect("set");
        let ended = host.run();
        assert_eq!(ended.code, Some(code), "{name}: {ended:?}");
        notes.add(name, &ended);
        if code == 0 {
            assert!(!host.told().contains("SAID"), "{name}");
        }
    }
    transcript_snapshot!(notes, @r"
    # .config/host/config.toml
    exit: 52
    ----- stderr
    error: the configuration `[HOME]/.config/host/config.toml` cannot be used
      caused by: other users can write to it (its mode is 666)
    help: check what it says, then run `chmod go-w '[HOME]/.config/host/config.toml'`, or change its owner

    # .config/host/policies/a.toml
    exit: 52
    ----- stderr
    error: cannot read the rules in `[HOME]/.config/host/policies/a.toml`: other users can write to it (its \
    mode is 666)
    help: check what they say, then run `chmod go-w` on the file

    # .config/host/agents/a.md
    exit: 52
    ----- stderr
    error: the agent `[HOME]/.config/host/agents/a.md` cannot be read
      caused by: other users can write to it (its mode is 666)
    help: fix or remove the file

    # .config/host/hooks.json
    exit: 52
    ----- stderr
    error: invalid hooks in `[HOME]/.config/host/hooks.json`
      caused by: a hook cannot be used: other users can write to it (its mode is 666); `chmod go-w` it, \
    since it names programs that run
    help: fix or remove the hook: host does not run without a hook that you set up as a guard

    # .config/host/AGENTS.md
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: the context file `[HOME]/.config/host/AGENTS.md` is left out: other users can write to it (its \
    mode is 666); `chmod go-w` it

    # .agents/skills/s/SKILL.md
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: the skill `s` (user) is not used: `[HOME]/.agents/skills/s/SKILL.md` is not safe to use: other \
    users can write to it (its mode is 666); check what it says, then change its owner or its mode

    # .config/host/commands/c.md
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: the command `/c` (user) is not used: `[HOME]/.config/host/commands/c.md` is not safe to use: \
    other users can write to it (its mode is 666); check what it says, then change its owner or its mode
    ");
}

#[test]
fn arguments_that_make_no_sense() {
    let mut errors = Transcript::default();
    for model in ["nonsense", "anthropic/x", "gemini/x"] {
        errors.add(format!("--model {model}"), &Host::new(["run", "--model", model, "Look"]).run());
    }
    errors.add("no model", &Host::new(["run", "Look"]).env("OLLAMA_HOST", "127.0.0.1:1").run());
    errors.add("no prompt", &run(&[]).run());
    for flag in [
        ["--grant", "grp:fs-read=."],
        ["--grant", "grep:fs-reed=."],
        ["--grant", "grep:process=git"],
        ["--grant", "web_fetch:http=POST example.com:81"],
        ["--grant", "grep"],
        ["--grant", "web_fetch:http=user@host"],
        ["--deny", "grep"],
    ] {
        errors.add(flag.join(" "), &run(&flag).arg("Look").run());
    }
    errors.add("--no-such-flag", &Host::new(["run", "--no-such-flag"]).run());
    transcript_snapshot!(errors, @r#"
    # --model nonsense
    exit: 42
    ----- stderr
    error: invalid model `nonsense`: it has no provider before a `/`
    help: name one of `gemini/NAME`, `vertex/NAME`, `openai/NAME`, `openai-responses/NAME`, \
    `anthropic/NAME`, `ollama/NAME`, `offline`, `scripted:FILE`

    # --model anthropic/x
    exit: 41
    ----- stderr
    error: there is no key for `anthropic`
    help: set ANTHROPIC_API_KEY to a key that the service accepts, or use `--model offline`, which needs \
    none

    # --model gemini/x
    exit: 41
    ----- stderr
    error: there is no key for `gemini`
    help: set GEMINI_API_KEY to a key that the service accepts (with `auth = "oauth"`: run `gcloud auth \
    application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a file with credentials), or use \
    `--model offline`, which needs none

    # no model
    exit: 41
    ----- stderr
    error: no model is configured
    help: set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama; on a terminal, `host` \
    helps you choose; to try it without a model: --model offline

    # no prompt
    exit: 42
    ----- stderr
    error: no prompt
    help: pass it as an argument, such as host run "Survey this repository", or on standard input; in a \
    terminal, `host` starts a conversation

    # --grant grp:fs-read=.
    exit: 42
    ----- stderr
    error: there is no plugin `grp` for `grp:fs-read=.`
    help: did you mean `grep`? `host tool list` lists all plugins

    # --grant grep:fs-reed=.
    exit: 42
    ----- stderr
    error: `grep:fs-reed=.`: there is no capability `fs-reed`; the capabilities are `fs-read`, `fs-write`, \
    `process`, `http`, `state`, `mcp` and `tools`

    # --grant grep:process=git
    exit: 42
    ----- stderr
    error: the grant `grep:process=git` has no effect: `grep` does not ask for process
    help: it asks for fs-read

    # --grant web_fetch:http=POST example.com:81
    exit: 42
    ----- stderr
    error: the grant `web_fetch:http=POST example.com:81` has no effect: it allows nothing that `web_fetch` \
    asks for
    help: it asks for http `*:* +private`, and no grant gives more

    # --grant grep
    exit: 42
    ----- stderr
    error: invalid grant `grep`
    help: write it as PLUGIN:CAPABILITY=SCOPE, such as shell:process=git

    # --grant web_fetch:http=user@host
    exit: 42
    ----- stderr
    error: invalid grant `web_fetch:http=user@host`: invalid host `user@host`: a host name has ASCII \
    letters, digits, `-`, `_` and `.`; an international name starts with `xn--`
    help: write it like `example.com`, `*.example.com`, `127.0.0.1`, `[::1]` or `*`

    # --deny grep
    exit: 42
    ----- stderr
    error: invalid deny `grep`
    help: write it as PLUGIN:CAPABILITY, or PLUGIN:fs-read=GLOB for paths; PLUGIN can be `*`

    # --no-such-flag
    exit: 42
    ----- stderr
    error: unexpected argument '--no-such-flag' found

      tip: to pass '--no-such-flag' as a value, use '-- --no-such-flag'

    Usage: host run --approval-mode <MODE> [PROMPT]...

    For more information, try '--help'.
    "#);
    assert_eq!(Host::new(["--help"]).run().code, Some(0));
    assert_eq!(Host::new(["run", "--help"]).run().code, Some(0));
    assert_eq!(Host::new(["--version"]).run().stdout, "host 0.1.0\n");
}

#[test]
fn input_invalid_script_is_an_error() {
    let host = Host::new(["run", "--model", "scripted:bad.jsonl", "Look"])
        .file("bad.jsonl", "{\"chunks\": [{\"txt\": \"x\"}]}\n");
    host_snapshot!(host, @r"
    exit: 52
    ----- stdout
    ----- stderr
    error: invalid reply in line 1 of the script `bad.jsonl`: unknown variant `txt`, expected one of \
    `text`, `thought`, `call`, `part`, `citation`, `usage`, `finish`, `retry`, `switched`, `error`, \
    `failed`, `hang` at line 1 column 18
    ");
}

// promise plugin.imports
#[test]
fn input_file_that_is_not_a_plugin_is_an_error() {
    let manifest = r#"{"manifest":1,"name":"bad","version":"1.0.0","license":"MIT","contract":"0.1.0","capabilities":{},"tools":[]}"#;
    let bad = |bytes: &[u8]| run(&["--plugin", "bad.wasm", "Look"]).file("bad.wasm", bytes).file("bad.json", manifest);
    let host = |path: &str| run(&["--plugin", path, "Look"]);
    let mut errors = Transcript::default();
    for (case, host) in [
        ("a script", bad(b"#!/bin/sh\n")),
        ("a core module", bad(b"\0asm\x01\0\0\0")),
        ("an empty component", bad(b"\0asm\x0d\0\x01\0")),
        ("no file", host("missing.wasm")),
        ("no manifest", host("alone.wasm").file("alone.wasm", "x")),
        ("a folder without a plugin", host(".")),
        ("an invalid manifest", host("bad.wasm").file("bad.wasm", "x").file("bad.json", r#"{"manifest":1,"nam":"x"}"#)),
    ] {
        errors.add(case, &host.run());
    }
    transcript_snapshot!(errors, @r"
    # a script
    exit: 42
    ----- stderr
    error: `bad.wasm` cannot be used
      caused by: `bad` is not a component: it does not start like WebAssembly
    help: build it again with `host plugin build`

    # a core module
    exit: 42
    ----- stderr
    error: `bad.wasm` cannot be used
      caused by: `bad` is not a component: it is a core module; the tool of its language makes a component \
    of it
    help: build it again with `host plugin build`

    # an empty component
    exit: 42
    ----- stderr
    error: `bad.wasm` cannot be used
      caused by: `bad` exports no tool, and brings no agents, skills, commands or hooks
    help: build it again with `host plugin build`

    # no file
    exit: 42
    ----- stderr
    error: the plugin `missing.wasm` cannot be read: No such file or directory (os error 2)

    # no manifest
    exit: 42
    ----- stderr
    error: the manifest `alone.json` cannot be read: No such file or directory (os error 2)
    help: `host plugin build` puts a component NAME.wasm and its manifest NAME.json side by side

    # a folder without a plugin
    exit: 42
    ----- stderr
    error: there is no plugin in `.`
    help: `host plugin build SOURCES --out DIR` puts components there

    # an invalid manifest
    exit: 42
    ----- stderr
    error: invalid manifest bad.json: unknown field `nam`, expected one of `manifest`, `name`, `version`, \
    `license`, `description`, `source`, `homepage`, `contract`, `capabilities`, `config`, `secrets`, \
    `tools`, `files` at line 1 column 19
    help: build the plugin again with `host plugin build`
    ");
}

/// What `+ a line` is to a model if it was piped into a prompt.
const PIPED: &str = "--- attached: piped input ---\n+ a line\n\n--- end of piped input ---\n\n";

#[test]
fn input_piped_text_stays_before_its_prompt_in_a_resumed_session() {
    let host = Host::scripted(&[answer("Fine."), answer("Still fine.")], &["Review this"]).input("+ a line\n");
    assert_eq!(host.run().stdout, "Fine.\n");
    let script = host.home().join("next.jsonl");
    let expect = serde_json::json!({"last_text": "And now?"});
    let reply = serde_json::json!({"expect": expect, "chunks": [{"text": "Still fine."}]});
    std::fs::write(&script, format!("{reply}\n")).expect("written");
    let model = format!("scripted:{}", script.display());
    let mut command = host.command_of(&["run", "--model", &model, "-c", "And now?"]);
    command.stdin(std::process::Stdio::null());
    let ended = command.output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "Still fine.\n", "{ended:?}");
    let said = |line: serde_json::Value| (line["type"] == "content").then(|| Host::parts(&line));
    let messages: Vec<_> = host.session().into_iter().filter_map(said).collect();
    let text = |text: &str| vec![serde_json::json!({"text": text})];
    let first = [PIPED, "Review this"].map(|text| serde_json::json!({"text": text})).to_vec();
    assert_eq!(messages, [first, text("Fine."), text("And now?"), text("Still fine.")]);
}

#[test]
fn standard_input_is_joined_to_the_prompt() {
    let host = Host::scripted(&[answer("Fine.")], &["Review", "this"]).input("+ a line\n");
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Fine.\n"), "{ended:?}");
    let messages: Vec<_> = host.session().into_iter().filter(|line| line["type"] == "content").collect();
    assert_eq!(Host::texts(&messages[0]), [PIPED, "Review this"]);
    // Where a user reads it, the prompt comes first.
    let listed = host.run_of(&["session", "list", "--json"]).json();
    assert_eq!(listed[0]["prompt"], format!("Review this\n{}\n", PIPED.trim_end()));
    let reply = serde_json::json!({"expect": {"last_text": "just this"}, "chunks": [{"text": "Fine."}]});
    assert_eq!(Host::scripted(&[reply], &[]).input("just this").run().code, Some(0));
    host_snapshot!(run(&["Look"]).input([0xff, 0xfe, 0x00]), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: standard input is not text: byte 0 is not UTF-8
    ");
}

#[test]
fn input_that_never_ends_is_read_within_the_time_limit() {
    let host = run(&["--timeout", "1s"]);
    let ended = host.end(host.command_in_shell("while echo drip && sleep 0.05; do :; done 2>/dev/null | \"$@\""));
    outcome_snapshot!(ended, @"
    exit: 57
    ----- stdout
    ----- stderr
    error: time limit reached: standard input was still open after 1s
    help: close standard input, or raise --timeout
    ");
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

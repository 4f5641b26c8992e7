//! How it is started: without a command, with a prompt, without a model, in a folder that is no repository; and which
//! session it continues.

use std::os::unix::fs::PermissionsExt as _;

use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::server::{Answer, Server};
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, outcome_snapshot, transcript_snapshot};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{answer, call};

const KEY: &str = "sk-ant-s3cret-s3cret-s3cret";

fn scripted(replies: &[Value]) -> (Host, String) {
    let host = Host::new(std::iter::empty::<&str>());
    let script = host.home().join("script.jsonl");
    std::fs::write(&script, replies.iter().map(|reply| format!("{reply}\n")).collect::<String>()).expect("written");
    let model = format!("scripted:{}", script.display());
    (host, model)
}

fn on_terminal(host: &Host, arguments: &[&str]) -> Pty {
    let mut command = host.command_of(arguments);
    command.env("TERM", "xterm-256color");
    Pty::start(command, 100, 40)
}

#[test]
fn start_without_a_command_is_a_task_in_a_pipe() {
    let (host, model) = scripted(&[answer("Done.")]);
    let model: &str = &model;
    for arguments in [&["--model", model, "fix the tests"][..], &["--model", model, "-p", "fix", "it"]] {
        let ended = host.run_of(arguments);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Done.\n", ""));
    }
    let mut errors = Transcript::default();
    errors.add("host", &host.run_of(&[]));
    for mistake in ["sesion", "tools", "docter"] {
        errors.add(format!("host {mistake} list"), &host.run_of(&[mistake, "list"]));
    }
    for word in ["serve", "worker", "fleet", "install"] {
        errors.add(format!("host {word}"), &host.run_of(&[word]));
        errors.add(format!("host --model … {word}"), &host.run_of(&["--model", model, word]));
    }
    transcript_snapshot!(errors, @r#"
    # host
    exit: 42
    ----- stderr
    error: no prompt
    help: pass it as an argument, such as host run "Survey this repository", or on standard input; in a \
    terminal, `host` starts a conversation

    # host sesion list
    exit: 42
    ----- stderr
    error: there is no command `sesion`
    help: did you mean `host session`? (to send it as a prompt: host -- sesion …)

    # host tools list
    exit: 42
    ----- stderr
    error: there is no command `tools`
    help: did you mean `host tool`? (to send it as a prompt: host -- tools …)

    # host docter list
    exit: 42
    ----- stderr
    error: there is no command `docter`
    help: did you mean `host doctor`? (to send it as a prompt: host -- docter …)

    # host serve
    exit: 42
    ----- stderr
    error: there is no command `serve`
    help: `host mcp serve` serves the tools to other agents, and `host acp` the agent to an editor (to send \
    it as a prompt: host -- serve …)

    # host --model … serve
    exit: 42
    ----- stderr
    error: there is no command `serve`
    help: `host mcp serve` serves the tools to other agents, and `host acp` the agent to an editor (to send \
    it as a prompt: host -- serve …)

    # host worker
    exit: 42
    ----- stderr
    error: there is no command `worker`
    help: `host --help` lists the commands (to send it as a prompt: host -- worker …)

    # host --model … worker
    exit: 42
    ----- stderr
    error: there is no command `worker`
    help: `host --help` lists the commands (to send it as a prompt: host -- worker …)

    # host fleet
    exit: 42
    ----- stderr
    error: there is no command `fleet`
    help: `host --help` lists the commands (to send it as a prompt: host -- fleet …)

    # host --model … fleet
    exit: 42
    ----- stderr
    error: there is no command `fleet`
    help: `host --help` lists the commands (to send it as a prompt: host -- fleet …)

    # host install
    exit: 42
    ----- stderr
    error: there is no command `install`
    help: did you mean `host plugin install`? (to send it as a prompt: host -- install …)

    # host --model … install
    exit: 42
    ----- stderr
    error: there is no command `install`
    help: did you mean `host plugin install`? (to send it as a prompt: host -- install …)
    "#);
    let ended = host.run_of(&["--model", model, "--", "worker"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Done.\n", ""));
    assert_eq!(host.run_of(&["-c", "-r", "x"]).code, Some(42));
    assert_eq!(host.run_of(&["--yolo", "--approval-mode", "plan", "x"]).code, Some(42));
}

// promise conversation.other-host
#[test]
fn start_with_a_name_to_look_up_starts_no_run() {
    let (host, model) = scripted(&[answer("Done.")]);
    let mut errors = Transcript::default();
    let lines = [
        &["example.com"][..],
        &["8.8.8.8"],
        &["example.com", "8.8.8.8"],
        &["-t", "mx", "example.com"],
        &["-a", "example.com"],
        &["-v", "example.com"],
        &["--model", &model, "example.com"],
    ];
    for line in lines {
        errors.add(format!("host {}", line.join(" ").replace(&model, "…")), &host.run_of(line));
    }
    transcript_snapshot!(errors, @r"
    # host example.com
    exit: 42
    ----- stderr
    error: `example.com` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host example.com`, or use `dig` (to send it as a prompt: host run example.com)

    # host [VERSION].8
    exit: 42
    ----- stderr
    error: `8.8.8.8` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host [VERSION].8`, or use `dig` (to send it as a prompt: host run 8.8.8.8)

    # host example.com 8.8.8.8
    exit: 42
    ----- stderr
    error: `example.com` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host example.com 8.8.8.8`, or use `dig` (to send it as a prompt: host run \
    example.com)

    # host -t mx example.com
    exit: 42
    ----- stderr
    error: `example.com` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host -t mx example.com`, or use `dig` (to send it as a prompt: host run \
    example.com)

    # host -a example.com
    exit: 42
    ----- stderr
    error: `example.com` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host -a example.com`, or use `dig` (to send it as a prompt: host run \
    example.com)

    # host -v example.com
    exit: 42
    ----- stderr
    error: `example.com` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host -v example.com`, or use `dig` (to send it as a prompt: host run \
    example.com)

    # host --model … example.com
    exit: 42
    ----- stderr
    error: `example.com` reads like a name or an address to look up, and not like a prompt
    help: this `host` runs an agent. The DNS tool of the same name is a different program: start it by its \
    path, such as `/usr/bin/host example.com`, or use `dig` (to send it as a prompt: host run example.com)
    ");
    assert!(!host.home().join(".local/state/host/sessions").exists(), "no session was begun");
    // What is no command line of the other tool is a prompt.
    for line in [&["run", "--model", &model, "example.com"][..], &["--model", &model, "--", "example.com"]] {
        let ended = host.run_of(line);
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Done.\n", ""));
    }
}

#[test]
fn start_doctor_names_another_program_of_this_name() {
    let host = Host::new(std::iter::empty::<&str>());
    let folder = host.home().join("dns");
    std::fs::create_dir(&folder).expect("made");
    let other = folder.join("host");
    std::fs::write(&other, "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).expect("set");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let doctor = host.env("PATH", path).run_of(&["doctor"]).stdout;
    let line = format!("note  program         `host` starts `{}`, a different program", other.display());
    assert!(doctor.lines().any(|said| said.starts_with(&line)), "{doctor}");
}

#[test]
fn start_with_a_prompt_on_a_terminal_begins_a_conversation() {
    let expects = |expected: &str, text: &str| json!({"expect": {"last_text": expected}, "chunks": [{"text": text}]});
    let (host, model) = scripted(&[expects("fix the tests", "Fixed."), expects("more", "More.")]);
    let mut pty = on_terminal(&host, &["--model", &model, "fix", "the", "tests"]);
    pty.sees("auto › fix the tests").sees("Fixed.").types("and more\r").sees("More.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let mut pty = on_terminal(&host, &["--model", &model, "--yolo"]);
    pty.sees("yolo › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn print_on_a_terminal_prints_the_answer_and_asks_nobody() {
    let writes = json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": "x"}))]});
    let (host, model) = scripted(&[writes, answer("It was \u{1b}[2Jdenied.")]);
    let mut pty = on_terminal(&host, &["--model", &model, "-p", "write it"]);
    assert_eq!(pty.ends(), Some(0));
    let all = pty.everything();
    assert!(all.contains("It was \\u{1b}[2Jdenied.") && !all.contains("› ") && !all.contains('⠋'), "{all}");
    assert!(!host.repository().join("a.txt").exists());
    let mut pty = on_terminal(&host, &["--model", &model, "--print"]);
    assert_eq!(pty.ends(), Some(42), "{}", pty.everything());
}

fn without_model() -> Host {
    Host::new(std::iter::empty::<&str>())
        .env("OLLAMA_HOST", "127.0.0.1:1")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
}

#[test]
fn first_start_saves_a_key_for_its_user_alone_and_never_shows_it() {
    let host = without_model().env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1").configured("[retry]\nattempts = 1\n");
    let mut pty = on_terminal(&host, &[]);
    pty.sees("No model is set up yet").sees("› 1 g").types("a");
    pty.sees("platform.claude.com").sees("API key (it is not shown)").types("short\r");
    pty.until("the next question", |screen| {
        screen.contains("not a key") && screen.trim_end().ends_with("API key (it is not shown):")
    });
    pty.types(KEY).sees(&format!("•••• {} characters", KEY.chars().count()));
    pty.types("\r").sees("could not be checked").sees("Save this key?").sees("› 1 y").types("y");
    pty.sees("How should host work here?").sees("› 1 a").types("d");
    pty.sees("anthropic/claude-sonnet").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(!pty.written().contains(KEY) && !pty.written().contains("s3cret"));
    let file = host.home().join(".config/host/credentials.toml");
    assert_eq!(std::fs::metadata(&file).expect("saved").permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&file).expect("read").contains(KEY));
    // It is not asked again, and no command shows the key.
    let mut pty = on_terminal(&host, &[]);
    pty.sees("anthropic/claude-sonnet").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let log = host.run_of(&["-p", "hello"]);
    assert!(log.code == Some(59) && !log.stderr.contains("s3cret"), "{log:?}");
    for log in host.logs() {
        assert!(!std::fs::read_to_string(log).expect("read").contains("s3cret"));
    }
    // Others could read it: it is not used.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("set");
    let ended = host_snapshot!(host, ["-p", "hello"], @r"
    exit: 52
    ----- stdout
    ----- stderr
    error: the saved model `[HOME]/.config/host/credentials.toml` cannot be used
      caused by: other users can read or write it (its mode is 644)
    help: chmod 600 '[HOME]/.config/host/credentials.toml', and replace the key if other people use this \
    machine
    ");
    assert!(!ended.stderr.contains("s3cret"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_start_finds_the_models_of_a_typed_address_and_asks_how_to_work() {
    let server = Server::start(|request| match request.path.as_str() {
        "/v1/models" => Answer::ok(r#"{"data": [{"id": "alpha"}, {"id": "beta"}]}"#),
        _ => Answer::status(404, "{}"),
    })
    .await;
    let (address, nobody) = (server.url("/v1"), "http://127.0.0.1:1/v1");
    let host = without_model();
    tokio::task::spawn_blocking(move || {
        let mut pty = on_terminal(&host, &["--confine", "auto"]);
        pty.sees("Ollama: not running; start it with `ollama serve`")
            .sees("Another server: type its address")
            .sees("› 1 g");
        // What answers nothing is asked for again, and an address that is just typed is one.
        pty.types("u").sees("address › ").types(&format!("{nobody}\r")).sees("no models were found at");
        pty.until("the question again", |screen| screen.matches("› 1 g").count() == 1).types(&address);
        pty.sees(&format!("address › {address}")).types("\r").sees("Which of its models?").sees("› alpha");
        pty.types("\u{1b}[B").sees("› beta").types("\r").sees("Save this choice?").sees("› 1 y").types("y");
        pty.sees("How should host work here?").sees("› 1 a  auto (recommended)").types("\r");
        pty.sees("auto › ").types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        let saved = |name: &str| std::fs::read_to_string(host.home().join(".config/host").join(name)).expect("saved");
        assert_eq!(saved("config.toml"), "approval_mode = \"auto\"\n");
        assert!(saved("credentials.toml").contains("openai/beta") && saved("credentials.toml").contains(&address));
        // It is not asked again.
        let mut pty = on_terminal(&host, &[]);
        pty.sees("auto › ").types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    })
    .await
    .expect("it does not panic");
}

// promise model.saved
#[test]
fn saved_key_is_read_by_no_tool_whatever_is_granted() {
    let key = format!("provider = \"anthropic\"\nkey = \"{KEY}\"\n");
    let host = Host::new(std::iter::empty::<&str>())
        .home_file(".config/host/credentials.toml", &key)
        .home_file(".config/other/notes.md", "a note");
    let home = std::fs::canonicalize(host.home()).expect("it is there");
    let file = home.join(".config/host/credentials.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("set");
    std::os::unix::fs::symlink(&file, host.repository().join("link")).expect("a link");
    let read = |tool: &str, arguments: Value| {
        let grant = format!("{tool}:fs-read={}", home.display());
        let ended = host.run_of(&[
            "tool",
            "call",
            tool,
            &arguments.to_string(),
            "--grant",
            &grant,
            "--grant",
            &format!("{tool}:fs-read=."),
        ]);
        assert!(!ended.stdout.contains(KEY) && !ended.stderr.contains(KEY), "{tool} {arguments}: {ended:?}");
        ended
    };
    let note = read("read_file", json!({"path": home.join(".config/other/notes.md")}));
    assert!(note.code == Some(0) && note.stdout.contains("a note"), "the control: {note:?}");
    for path in [file.clone(), home.join(".config/./host/../host/credentials.toml"), "link".into()] {
        assert_eq!(read("read_file", json!({"path": path})).code, Some(54));
    }
    read("grep", json!({"pattern": "sk-ant", "path": home.join(".config")}));
    read("read_many_files", json!({"paths": [home.join(".config/host/*")]}));
    // Nor does a context file of the user's own bring it to a model.
    let host = host.home_file(".config/host/AGENTS.md", "@credentials.toml\n");
    let ended = host.run_of(&["--model", "offline", "hello"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for log in host.logs() {
        assert!(!std::fs::read_to_string(log).expect("read").contains(KEY));
    }
}

#[test]
fn first_start_can_be_left_tried_offline_and_used_once() {
    for (keys, code) in [("q", 41), ("\u{1b}", 41), ("\u{3}", 130)] {
        let host = without_model();
        let mut pty = on_terminal(&host, &["hello"]);
        pty.sees("› 1 g").types(keys);
        assert_eq!(pty.ends(), Some(code), "{}", pty.everything());
        assert!(host.logs().is_empty() && !host.home().join(".config/host/credentials.toml").exists());
    }
    let host = without_model();
    let mut pty = on_terminal(&host, &[]);
    pty.sees("› 1 g").types("t").sees("offline · auto").sees("auto › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(!host.home().join(".config/host/credentials.toml").exists(), "a try is not saved");
    // In a pipe it is the error as before.
    host_snapshot!(host, ["hello"], @r"
    exit: 41
    ----- stdout
    ----- stderr
    error: no model is configured
    help: set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama; on a terminal, `host` \
    helps you choose; to try it without a model: --model offline
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_start_offers_a_server_of_this_machine_that_answers() {
    let server = Server::start(|request| match request.path.as_str() {
        "/v1/models" => Answer::ok(r#"{"data": [{"id": "bad\u001b[2J"}, {"id": "qwen3:8b"}]}"#),
        _ => Answer::status(500, ""),
    })
    .await;
    let host = Host::new(std::iter::empty::<&str>())
        .env("OLLAMA_HOST", "127.0.0.1:1")
        .env("OPENAI_BASE_URL", format!("{}/v1", server.url("")));
    let host = tokio::task::spawn_blocking(move || {
        let mut pty = on_terminal(&host, &[]);
        pty.sees("openai/qwen3:8b, from the server at the configured address").sees("› 1 g").types("m");
        pty.sees("Save this choice?").sees("› 1 y").types("n");
        pty.sees("How should host work here?")
            .sees("› 1 a")
            .types("d")
            .sees("openai/qwen3:8b · default")
            .types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert!(!pty.written().contains("\u{1b}[2J"));
        host
    })
    .await
    .expect("it does not panic");
    assert!(!host.home().join(".config/host/credentials.toml").exists(), "it was for this time");
}

#[tokio::test(flavor = "multi_thread")]
async fn default_model_is_the_newest_of_its_family_by_the_services_list() {
    let server = Server::start(|request| match request.path.as_str() {
        "/v1/models?limit=1000" => Answer::ok(
            r#"{"data": [{"id": "claude-sonnet-99-1"}, {"id": "claude-sonnet-3"}, {"id": "claude-opus-99"}]}"#,
        ),
        _ => Answer::status(400, "{}"),
    })
    .await;
    let host = Host::new(["-p", "hello"])
        .env("ANTHROPIC_API_KEY", KEY)
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_BASE_URL", server.url("/openai"))
        .env("ANTHROPIC_BASE_URL", server.url(""))
        .env("XDG_CACHE_HOME", "");
    let ended = tokio::task::spawn_blocking(move || {
        let openai = host.run();
        let host = host.env("OPENAI_API_KEY", "");
        (openai, host.run(), host.run())
    });
    let (several, first, second) = ended.await.expect("it does not panic");
    outcome_snapshot!(several, @r#"
    exit: 59
    ----- stdout
    ----- stderr
    note: OPENAI_API_KEY and ANTHROPIC_API_KEY are set; using OPENAI_API_KEY. To choose: --model, or \
    `model` in the configuration
    error: `openai` at `http://127.0.0.1:[PORT]/openai` answered with status 400
    help: if it is about an option or about tools, change the model's entry under `[models]` in the \
    configuration (`tools = "text"` is for a model that cannot call tools), or use another model
    "#);
    assert!(first.code == Some(59) && second.code == Some(59), "{first:?} {second:?}");
    let asked = server.requests();
    let models: Vec<_> = asked.iter().filter(|request| request.path.starts_with("/v1/models")).collect();
    assert_eq!(models.len(), 1, "the list is kept for a day");
    let posts: Vec<Value> =
        asked.iter().filter(|request| request.path == "/v1/messages").map(|request| request.json()).collect();
    assert!(!posts.is_empty() && posts.iter().all(|post| post["model"] == "claude-sonnet-99-1"), "{posts:?}");
}

#[test]
fn folder_that_is_not_a_repository_is_asked_about_once() {
    let (host, model) = scripted(&[answer("Done.")]);
    std::fs::remove_dir(host.repository().join(".git")).expect("removed");
    let outside = |arguments: &[&str]| {
        let ended = host.run_of(arguments);
        (ended.code, ended.stderr.contains("is not in a repository"))
    };
    assert_eq!(outside(&["--model", &model, "hello"]), (Some(42), true), "nobody can be asked in a pipe");
    for (keys, code) in [("n", 130), ("\u{1b}", 130)] {
        let mut pty = on_terminal(&host, &["--model", &model]);
        pty.sees("not in a repository").sees("› 1 y").types(keys);
        assert_eq!(pty.ends(), Some(code), "{}", pty.everything());
    }
    let mut pty = on_terminal(&host, &["--model", &model]);
    pty.sees("› 1 y").types("o").sees("auto › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(outside(&["--model", &model, "hello"]), (Some(42), true), "once is once");
    let mut pty = on_terminal(&host, &["--model", &model]);
    pty.sees("› 1 y").types("y").sees("auto › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(outside(&["--model", &model, "hello"]), (Some(0), false), "it is remembered");
    std::fs::create_dir(host.repository().join("sub")).expect("made");
    assert_eq!(outside(&["-C", "sub", "--model", &model, "hello"]), (Some(42), true), "for this folder alone");
    let host = host.configured("any_folder = true\n");
    assert_eq!(host.run_of(&["-C", "sub", "--model", &model, "hello"]).code, Some(0));
    assert_eq!(host.run_of(&["tool", "call", "-C", "sub", "ls"]).code, Some(0));
}

#[test]
fn claude_md_is_read_where_there_is_no_agents_md() {
    let told = |host: Host| {
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        host.told()
    };
    let host = || Host::scripted(&[answer("Done.")], &["Look"]).file("CLAUDE.md", "Use blanks.\n");
    assert!(told(host()).contains("Use blanks."));
    let both = told(host().file("AGENTS.md", "Use tabs.\n"));
    assert!(both.contains("Use tabs.") && !both.contains("Use blanks."));
    let named =
        told(host().file("AGENTS.md", "Use tabs.\n").configured("[context]\nfiles = [\"AGENTS.md\", \"CLAUDE.md\"]\n"));
    assert!(named.contains("Use tabs.") && named.contains("Use blanks."), "who names both reads both");
}

#[test]
fn continue_shows_the_last_exchange_skips_empty_sessions_and_never_goes_on_by_itself() {
    let hangs = json!({"chunks": [{"text": "half"}, {"hang": true}]});
    let (host, model) = scripted(&[answer("One.")]);
    let mut pty = on_terminal(&host, &["--model", &model, "-c"]);
    assert_eq!(pty.ends(), Some(42), "there is none: {}", pty.everything());
    assert!(pty.everything().contains("there is no session"));
    assert_eq!(host.run_of(&["--model", &model, "first"]).code, Some(0));
    let first = host.logs();
    // An empty one is newer.
    let mut pty = on_terminal(&host, &["--model", &model]);
    pty.sees("auto › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(host.logs().len(), 2);
    std::fs::write(host.home().join("script.jsonl"), format!("{hangs}\n")).expect("written");
    let mut pty = on_terminal(&host, &["--model", &model, "-c"]);
    pty.sees("auto › first").sees("One.").types("second\r").sees("half").signal(Signal::KILL);
    drop(pty);
    assert!(
        std::fs::read_to_string(&first[0]).expect("read").contains("second"),
        "the one with a conversation went on"
    );
    let expects = json!({"expect": {"last_text": "third"}, "chunks": [{"text": "Three."}]});
    std::fs::write(host.home().join("script.jsonl"), format!("{expects}\n")).expect("written");
    let mut pty = on_terminal(&host, &["--model", &model, "-c"]);
    pty.sees("The last prompt has no reply.").sees("› 1 y").types("n").sees("continued with your next prompt");
    pty.types("third\r").sees("Three.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

#[test]
fn undo_prompt_names_the_files_that_stay_changed() {
    let write = json!({"chunks": [
        call("write_file", json!({"path": "new.txt", "content": "x"})),
        call("shell", json!({"command": "true"})),
        call("ls", json!({})),
    ]});
    let (host, model) = scripted(&[answer("Hello."), write, answer("Written.")]);
    let mut pty = on_terminal(&host, &["--model", &model, "--yolo"]);
    pty.sees("yolo › ").types("hello\r").sees("Hello.").types("write\r").sees("Written.").types("/undo-prompt\r");
    pty.sees("still changed: new.txt; what shell did was not undone").types("\u{15}/undo-prompt\r");
    pty.sees("it changed no files").types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(host.repository().join("new.txt").exists());
}

#[test]
fn sessions_are_removed_and_forked() {
    let (host, model) = scripted(&[answer("One.")]);
    assert_eq!(host.run_of(&["--model", &model, "first"]).code, Some(0));
    let id = |log: &std::path::Path| log.file_stem().expect("a name").to_string_lossy().into_owned();
    let first = id(&host.logs()[0]);
    let ended = host_snapshot!(host, ["session", "fork", &first], @"
    exit: 0
    ----- stdout
    [SESSION]
    ----- stderr
    copied [SESSION]; continue the copy with host run --resume [SESSION]
    ");
    let fork = ended.stdout.trim().to_owned();
    assert!(ended.stderr.contains(&format!("host run --resume {fork}")), "{ended:?}");
    assert_eq!(host.logs().len(), 2);
    let expects = json!({"expect": {"last_text": "second"}, "chunks": [{"text": "Two."}]});
    std::fs::write(host.home().join("script.jsonl"), format!("{expects}\n")).expect("written");
    let ended = host.run_of(&["--model", &model, "--resume", &fork, "second"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Two.\n"), "{ended:?}");
    host_snapshot!(host, ["session", "show", &fork], @"
    exit: 0
    ----- stdout
    session [SESSION]
    workspace [REPOSITORY]
    model     scripted:[HOME]/script.jsonl
    began     [TIME]
    tokens    0 in, 0 out

    ── main: a run of main with scripted, [TIME]

    > first

    One.

    ── main: done, 1 turn, 0 tokens in, 0 out, [TIME]

    ── resumed with scripted:[HOME]/script.jsonl, [TIME]

    ── main: a run of main with scripted, [TIME]

    > second

    Two.

    ── main: done, 1 turn, 0 tokens in, 0 out, [TIME]
    ----- stderr
    ");
    host_snapshot!(host, ["session", "show", &first], @"
    exit: 0
    ----- stdout
    session [SESSION]
    workspace [REPOSITORY]
    model     scripted:[HOME]/script.jsonl
    began     [TIME]
    tokens    0 in, 0 out

    ── main: a run of main with scripted, [TIME]

    > first

    One.

    ── main: done, 1 turn, 0 tokens in, 0 out, [TIME]
    ----- stderr
    ");
    // A mistyped id removes nothing.
    host_snapshot!(host, ["session", "rm", &first, "19990101"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no session `19990101`
    help: host session list --all lists all
    ");
    assert_eq!(host.logs().len(), 2);
    let ended = host.run_of(&["session", "rm", &first, &first]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("removed session {first}\n")));
    assert_eq!(host.logs().iter().map(|log| id(log)).collect::<Vec<_>>(), [fork]);
}

// promise session.removed
#[test]
fn session_that_runs_is_not_removed() {
    let (host, model) = scripted(&[answer("One.")]);
    let mut pty = on_terminal(&host, &["--model", &model]);
    pty.sees("auto › ").types("first\r").sees("One.");
    let id = host.logs()[0].file_stem().expect("a name").to_string_lossy().into_owned();
    host_snapshot!(host, ["session", "rm", &id], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: the session log `[HOME]/.local/state/host/sessions/[SESSION].jsonl` is being written by process \
    [ID]
    help: wait until process [ID] has ended, or end it, and try again
    ");
    assert_eq!(host.logs().len(), 1);
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(host.run_of(&["session", "rm", &id]).code, Some(0));
    assert!(host.logs().is_empty());
}

#[test]
fn start_names_the_mcp_servers_that_are_configured() {
    let (host, model) = scripted(&[]);
    let host = host.configured("[mcp.files]\ncommand = 'false'\n\n[mcp.notes]\ncommand = 'false'\n");
    let mut pty = on_terminal(&host, &["--model", &model]);
    pty.saw("MCP servers: files, notes (/mcp shows their state)").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

// promise approval.by-default: Where a user is there and programs can be confined, a session is in the mode `auto` if
//   no mode was chosen, and says so once; without a terminal it is in `default`.
#[test]
fn start_mode_is_auto_where_a_user_is_there_and_the_walls_stand() {
    let makes = json!({"chunks": [call("shell", json!({"command": "touch made"}))]});
    let (host, model) = scripted(&[makes, answer("Done.")]);
    let told = "the mode is `auto`";
    let mut pty = on_terminal(&host, &["--model", &model, "make it"]);
    pty.saw(told).saw("auto › make it").sees("Done.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(host.repository().join("made").exists());
    std::fs::remove_file(host.repository().join("made")).expect("there");
    for (flags, mode) in [
        (&[][..], "auto › again"),
        (&["--confine", "off"], "default › again"),
        (&["--approval-mode", "plan"], "plan › again"),
    ] {
        let arguments = [&["--model", &model][..], flags, &["again"]].concat();
        let mut pty = on_terminal(&host, &arguments);
        pty.saw(mode);
        assert!(!pty.everything().contains(told), "it is said once: {}", pty.everything());
        pty.types("\u{3}\u{3}\u{4}");
        pty.ends();
    }
    std::fs::remove_file(host.repository().join("made")).ok();
    let ended = host.run_of(&["--model", &model, "headless"]);
    assert!(ended.code == Some(0) && !host.repository().join("made").exists(), "{ended:?}");
}

//! What nobody is asked about: what may never happen, what a subagent may not, plan mode, and where nobody is.

use host_tests::host::guest_file;
use host_tests::server::{Answer, Server};

use super::*;

/// Each way to write a file, with the words that name it.
fn writes(path: &str) -> Vec<Value> {
    let commands = [format!("echo evil > {path}"), format!("echo evil | tee {path}"), format!("cp a.txt {path}")];
    let mut calls = vec![write(path, "evil"), edit(path, "old", "evil")];
    calls.extend(commands.iter().map(|command| shell(command)));
    calls
}

// promise run.protected
#[test]
fn approvals_files_that_are_never_written_are_denied_and_nobody_is_asked() {
    let modes: [&[&str]; 4] = [
        &["--grant", "edit:fs-write=/", "--grant", "write_file:fs-write=/"],
        &["--approval-mode", "auto-edit", "--grant", "edit:fs-write=/"],
        &["--approval-mode", "yolo", "--grant", "edit:fs-write=/"],
        &["--approval-mode", "plan"],
    ];
    for arguments in modes {
        let paths = [".git/config", ".bashrc", ".host/x", "sub/.git/hooks/pre-commit"];
        let calls: Vec<Value> = paths.iter().flat_map(|path| writes(path)).collect();
        // In plan mode nothing is written at all.
        let told = if arguments.contains(&"plan") { "plan mode only reads" } else { "was not run" };
        let told = vec![told; calls.len()];
        let mut host = calling(&calls, &told, arguments).file("a.txt", "old\n");
        for path in paths {
            host = host.file(path, "old\n");
        }
        let mut pty = begin(&host, Way::Task, 80, 30);
        pty.saw("All is done.");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert!(!pty.everything().contains("wants to"), "{arguments:?}: {}", pty.everything());
        for path in paths {
            assert_eq!(file(&host, path).as_deref(), Some("old\n"), "{arguments:?}: {path}");
        }
    }
}

/// What a denial says of the host's own files.
const OWN: &str = "host's own files always stay excluded";

// promise run.protected
#[test]
fn the_hosts_own_configuration_is_refused_by_its_absolute_path() {
    for mode in ["default", "auto-edit", "yolo"] {
        let host = Host::scripted(
            &[],
            &["--approval-mode", mode, "--grant", "edit:fs-write=/", "--grant", "write_file:fs-write=/"],
        );
        let host = host.args(&["--grant", "edit:fs-read=/", "--grant", "write_file:fs-read=/"]);
        let host = host.configured("[run]\n");
        let path = host.home().join(".config/host/config.toml").display().to_string();
        let rules = host.home().join(".config/host/policies/answers.toml").display().to_string();
        let calls = [write(&path, "evil"), edit(&path, "[run]", "evil"), write(&rules, "evil")];
        let told = json!({"responses": [OWN, OWN, OWN]});
        let replies = [json!({"chunks": calls}), json!({"expect": told, "chunks": [{"text": "All is done."}]})];
        let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
        std::fs::write(host.home().join("script.jsonl"), lines).expect("written");
        let mut pty = begin(&host, Way::Task, 80, 30);
        pty.saw("All is done.");
        assert_eq!(pty.ends(), Some(0));
        assert!(!pty.everything().contains("wants to"), "{}", pty.everything());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "[run]\n");
        assert_eq!(super::rules(&host), None);
    }
}

// promise run.protected
#[tokio::test]
async fn no_tool_changes_the_files_of_a_plugin_that_it_runs_beside() {
    let paths = ["dist/counts.wasm", "dist/counts.json"];
    for (way, mode) in [(Way::Task, "yolo"), (Way::Talk, "auto-edit")] {
        let calls = [write(paths[0], "evil"), write(paths[1], "evil"), write("dist/notes.txt", "fine")];
        let told = ["was not run", "was not run", "notes.txt"];
        let host = calling(&calls, &told, &["--approval-mode", mode, "--plugin", "dist"]).file("dist/notes.txt", "");
        guest_file("counts", &host.repository().join("dist")).await;
        let before = paths.map(|path| std::fs::read(host.repository().join(path)).expect("built"));
        let mut pty = begin(&host, way, 80, 30);
        pty.saw("All is done.");
        if way == Way::Talk {
            pty.sees("auto-edit › ").types("\u{4}");
        }
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert_eq!(paths.map(|path| std::fs::read(host.repository().join(path)).expect("built")), before);
        assert_eq!(file(&host, "dist/notes.txt").as_deref(), Some("fine"));
    }
}

// promise approval.nobody
#[test]
fn a_subagents_call_is_never_asked_about() {
    let definition = "---\nname: keeper\ndescription: Keeps.\ntools: [memory]\ninputs:\n  topic: {type: string, description: What.}\n---\nYou keep.\n";
    let replies = [
        json!({"chunks": [call("keeper", json!({"topic": "x"}))]}),
        json!({"chunks": [call("memory", json!({"action": "save", "fact": "x"})), shell("touch evil")]}),
        json!({"expect": {"responses": ["state", "is not available to this agent"]},
               "chunks": [call("complete_task", json!({"result": "nothing"}))]}),
        json!({"expect": {"responses": ["GOAL"]}, "chunks": [{"text": "All is done."}]}),
    ];
    for way in WAYS {
        let host = Host::scripted(&replies, &[]).agent("keeper.md", definition);
        let mut pty = begin(&host, way, 80, 30);
        done(&mut pty, way);
        assert!(!pty.everything().contains("wants to"), "{}", pty.everything());
        assert!(!host.repository().join("evil").exists());
    }
}

// promise approval.nobody
#[test]
fn plan_mode_asks_nothing_and_refuses() {
    let calls = [write("a.txt", "x"), shell("touch b"), call("memory", json!({"action": "save", "fact": "x"}))];
    let host =
        calling(&calls, &["plan mode only reads", "plan mode only reads", "state"], &["--approval-mode", "plan"]);
    let mut pty = begin(&host, Way::Task, 80, 30);
    done(&mut pty, Way::Task);
    assert!(!pty.everything().contains("wants to"), "{}", pty.everything());
    assert!(!host.repository().join("a.txt").exists() && !host.repository().join("b").exists());
}

// promise approval.nobody
#[test]
fn approvals_without_a_user_what_would_be_asked_is_denied_with_what_would_allow_it() {
    let calls = [
        write("a.txt", "x"),
        shell("touch b"),
        call("memory", json!({"action": "save", "fact": "x"})),
        call("web_fetch", json!({"url": "http://127.0.0.1:9/"})),
    ];
    let told = [
        "--approval-mode auto-edit",
        "--approval-mode auto, in which programs are confined",
        "--grant memory:state=write",
        "--grant 'web_fetch:http=GET 127.0.0.1:9'.",
    ];
    let host = calling(&calls, &told, &["Do it"]);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "All is done.\n"), "{ended:?}");
    assert!(!host.repository().join("a.txt").exists() && !host.repository().join("b").exists());
    // A program that reads the run has no person either, whatever its input is.
    let host = calling(&calls, &told, &["--output-format", "json"]);
    let mut pty = begin(&host, Way::Task, 80, 30);
    pty.saw("All is done.");
    assert_eq!(pty.ends(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_grant_of_a_request_holds_for_a_run_as_for_a_call() {
    let server = Server::start(|_| Answer::ok("the page").header("content-type", "text/plain")).await;
    let (url, port) = (server.url("/"), server.port());
    let arguments = json!({ "url": url });
    for (grant, answered) in [
        (format!("GET 127.0.0.1:{port}"), true),
        (format!("127.0.0.1:{port}"), true),
        ("GET 127.0.0.1:*".to_owned(), true),
        (format!("HEAD 127.0.0.1:{port}"), false),
        (format!("GET 127.0.0.1:{port} -private"), false),
    ] {
        let grant = format!("web_fetch:http={grant}");
        let told = if answered { "the page" } else { "no http grant" };
        let host = calling(&[call("web_fetch", arguments.clone())], &[told], &["--grant", &grant, "Do it"]);
        let ended = host.run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "All is done.\n"), "{grant}: {ended:?}");
        let ended = host.run_of(&["tool", "call", "web_fetch", &arguments.to_string(), "--grant", &grant]);
        assert_eq!(ended.code, Some(if answered { 0 } else { 54 }), "{grant}: {ended:?}");
    }
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}

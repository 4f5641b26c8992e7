//! Each exit code, by what gives it; and what ends no run.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use host_tests::host::Host;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]})
}

fn failing(kind: &str) -> Value {
    json!({"chunks": [{"error": {"kind": kind, "message": "no"}}]})
}

#[test]
fn each_exit_code_is_given_for_its_reason() {
    let look = || call("ls", json!({}));
    let run = |replies: &[Value], arguments: &[&str]| Host::scripted(replies, arguments);
    let untrusted = run(&[answer("Done.")], &["--require-trust", "Look"]).file(".host/config.toml", "");
    let hang = || json!({"chunks": [{"hang": true}]});
    let limited = run(&[hang(), hang()], &["--timeout", "1s", "Look"]).configured("run.grace_seconds = 1\n");
    let circles: Vec<Value> = (0..40).map(|_| look()).collect();
    let declared = ["--agent", "codebase_investigator", "--input", "objective=x"];
    let spent = json!({"chunks": [{"text": ""}, {"usage": {"input": 2000}}]});
    for (code, host) in [
        (0, run(&[answer("Done.")], &["Look"])),
        (41, run(&[failing("authentication")], &["Look"])),
        (42, run(&[], &["--no-such-flag"])),
        (42, run(&[], &["--model", "nosuch/x", "Look"])),
        (52, run(&[failing("configuration")], &["Look"])),
        (52, run(&[], &["Look"]).configured("nonsense = 1\n")),
        (53, run(&[look(), look(), look()], &["--max-turns", "2", "Look"])),
        (54, Host::new(["tool", "call", "read_file", "{\"path\": \"missing\"}"])),
        (54, Host::new(["tool", "call", "shell", "{\"command\": \"id\"}"])),
        (55, untrusted),
        (56, run(&circles, &["--max-turns", "40", "Look"])),
        (57, limited),
        (57, run(&[spent], &["--max-tokens", "1000", "Look"])),
        (58, run(&[answer("I think."), answer("So.")], &declared)),
        (59, run(&[failing("input")], &["Look"])),
        (59, run(&[failing("server")], &["Look"])),
    ] {
        let ended = host.run();
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert_eq!(ended.stderr.contains("error: "), code != 0, "{ended:?}");
    }
}

#[test]
fn codes_output_that_cannot_be_written_is_not_a_success() {
    for format in ["text", "json", "stream-json"] {
        let host = Host::scripted(&[answer("Done.")], &["--output-format", format, "Look"]);
        let mut command = host.command();
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let ended = command.stdout(full).stderr(Stdio::piped()).output().expect("it ends");
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(74), "{format}: {errors}");
        assert!(errors.contains("cannot write the answer: ") && errors.contains("No space left"), "{format}: {errors}");
    }
    let host = Host::new(["schema", "json"]);
    let mut command = host.command();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    assert_eq!(command.stdout(full).output().expect("it ends").status.code(), Some(74));
}

#[test]
fn a_call_that_fails_or_is_refused_is_a_result_and_ends_no_run() {
    let replies = [
        call("shell", json!({"command": "touch x"})),
        call("read_file", json!({"path": "missing"})),
        call("no_such_tool", json!({})),
        call("ls", json!({"pth": 1})),
        answer("Done."),
    ];
    let ended = Host::scripted(&replies, &["--output-format", "stream-json", "Try"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.lines();
    let failed = lines.iter().filter(|line| line["type"] == "tool_result" && line["status"] == "error").count();
    assert_eq!(failed, 4, "{lines:?}");
    assert_eq!(lines.last().expect("a last line")["stats"]["tools"]["shell"]["error"], 1);
}

#[test]
fn stdin_that_stays_open_and_empty_is_ignored_and_reported() {
    let host = Host::scripted(&[json!({"expect": {"last_text": "Look"}, "chunks": [{"text": "Done."}]})], &["Look"]);
    let mut child = host.command().stdin(Stdio::piped()).spawn().expect("it starts");
    let held = child.stdin.take().expect("a pipe");
    let ended = child.wait_with_output().expect("it ends though nobody closes its input");
    drop(held);
    let stderr = String::from_utf8(ended.stderr).expect("text");
    assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(0), &b"Done.\n"[..]), "{stderr}");
    assert!(stderr.contains("ignoring standard input"), "{stderr}");
}

#[test]
fn a_standard_input_that_does_not_end_is_said_to_be_waited_for_and_a_ctrl_c_ends_the_wait() {
    for begun in ["half an input", ""] {
        // Without a prompt it is the prompt, and waited for even when it is silent.
        let host = Host::scripted(&[answer("Done.")], if begun.is_empty() { &[] } else { &["Look"] });
        let mut child = host.command().stdin(Stdio::piped()).spawn().expect("it starts");
        let mut held = child.stdin.take().expect("a pipe");
        held.write_all(begun.as_bytes()).expect("read");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let told = stderr.next().expect("a line").expect("text");
        assert!(told.contains("reading standard input"), "{told}");
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
        kill_process(pid, Signal::INT).expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        drop(held);
    }
}

#[test]
fn stdout_that_nobody_reads_is_not_an_error() {
    for format in ["text", "json", "stream-json"] {
        let host = Host::scripted(&[answer("A long story.")], &["--output-format", format, "Tell"]);
        let ended = host.end(host.command_in_shell("exec 3>&2; { \"$@\"; echo code $? >&3; } | true"));
        assert!(!ended.stderr.contains("error") && !ended.stderr.contains("panicked"), "{format}: {ended:?}");
    }
    for arguments in [&["schema", "json"][..], &["trust", "list"], &["tool", "list"], &["agent", "list"]] {
        let host = Host::new(arguments);
        let ended = host.end(host.command_in_shell("\"$@\" | true"));
        assert_eq!(ended.stderr, "", "{arguments:?}");
    }
}

#[test]
fn codes_of_a_call_are_not_those_of_the_command_that_it_ran() {
    let host = Host::new(["tool", "call", "shell", r#"{"command": "echo out; exit 3"}"#, "--grant", "shell:process=*"]);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Output:\nout\nExit code: 3\n"), "{ended:?}");
}

#[test]
fn codes_of_tool_show_say_which_tools_are_the_agents_own() {
    let host = Host::new(["tool", "show", "ask_user"]);
    let ended = host.run();
    let words = "error: `ask_user` is a tool of the agent itself, not of a plugin\nhelp: ";
    assert!(ended.code == Some(42) && ended.stderr.starts_with(words), "{ended:?}");
    let ended = host.run_of(&["tool", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let granted = |name: &str| {
        let found = listed.as_array().expect("a list").iter().find(|tool| tool["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is in {listed}"))["granted"].clone()
    };
    // `process` is of the plugin that has `shell`, and needs nothing itself.
    assert_eq!((granted("process"), granted("shell")), (serde_json::json!({}), serde_json::json!({"process": false})));
}

/// Runs a command to its end, which is to come soon: one that waits for ever is killed, and has no code.
fn ended_soon(mut command: std::process::Command) -> (Option<i32>, String) {
    let child = command.spawn().expect("it starts");
    let pid = Pid::from_child(&child);
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if ended.recv_timeout(std::time::Duration::from_secs(60)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            kill_process(pid, Signal::KILL).ok();
        }
    });
    let output = child.wait_with_output().expect("it ends");
    drop(done);
    watch.join().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn codes_of_a_pipe_in_place_of_a_file_come_at_once_and_with_its_name() {
    let host = Host::new(["run"]).file("sources/Cargo.toml", "");
    let at = |name: &str| host.repository().join(name).display().to_string();
    for name in ["pipe", "pipe.wasm", "sources/plugin.toml"] {
        rustix::fs::mknodat(rustix::fs::CWD, at(name), rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("made");
    }
    let (pipe, component) = (at("pipe"), at("pipe.wasm"));
    for (arguments, named) in [
        (&["plugin", "adopt", &pipe, "--license", "MIT", "--out", "out"][..], "pipe"),
        (&["plugin", "build", "sources", "--out", "out"], "sources/plugin.toml"),
        (&["plugin", "verify", &pipe], "pipe"),
        (&["plugin", "pack", &component], "pipe.json"),
        (&["keys", "trust", &pipe, "--for", "acme/*"], "pipe"),
        (&["tool", "call", "ls", "{}", "--plugin", &component], "pipe.json"),
        (&["run", "--model", "offline", "--output-schema", &pipe, "Look"], "pipe"),
    ] {
        let (code, said) = ended_soon(host.command_of(arguments));
        assert_eq!(code, Some(42), "{arguments:?}: {said}");
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
    let (_, said) = ended_soon(host.command_of(&["keys", "trust", &pipe, "--for", "acme/*"]));
    assert!(said.contains(&format!("`{pipe}` cannot be read: it is a pipe, not a regular file")), "{said}");
    let mut configured = host.command_of(&["tool", "list"]);
    configured.env("HOST_CONFIG", &pipe);
    let (code, said) = ended_soon(configured);
    assert!(code == Some(52) && said.contains("it is a pipe that no process writes to"), "{said}");
}

//! Programs in the background of a run, and that none survives it, however it ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use host_tests::eventually;
use host_tests::host::Host;
use host_tests::pty::Pty;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{answer, call};

/// Starts one that ignores what would end it politely, with children in sessions of their own, one of them orphaned.
const AWAY: &str = "trap '' TERM HUP INT; setsid sleep 1020 & echo $! > pids; \
                    (setsid sh -c 'trap \"\" TERM HUP; echo $$ >> pids; exec sleep 1021' &); echo $$ >> pids; \
                    while [ $(wc -l < pids) -lt 3 ]; do :; done; touch ready; while :; do sleep 1; done";

fn background(command: &str) -> Value {
    call("shell", json!({"command": command, "background": true}))
}

fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

/// The processes of this machine that hold a folder as their working directory: those of a program, by any namespace.
fn working_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").expect("it is there").flatten().map(|entry| entry.path());
    entries.filter(|entry| std::fs::read_link(entry.join("cwd")).is_ok_and(|cwd| cwd == folder)).collect()
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(pid, signal).expect("it runs");
}

/// A run that is waiting for its model, with the program in the background.
async fn waiting(confine: &str) -> (Host, Child) {
    let replies = [json!({"chunks": [background(AWAY)]}), json!({"chunks": [{"text": "I wait"}, {"hang": true}]})];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "--confine", confine, "Serve"]);
    let mut command: Command = host.command();
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let child = command.spawn().expect("it starts");
    let ready = host.repository().join("ready");
    eventually(|| ready.exists()).await;
    (host, child)
}

// promise background.ends
#[tokio::test]
async fn background_program_ends_with_the_run_however_that_ends() {
    for confine in ["off", "auto"] {
        for how in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
            let (host, mut child) = waiting(confine).await;
            let folder = std::fs::canonicalize(host.repository()).expect("it is there");
            assert!(working_in(&folder).len() >= 4, "{confine} {how:?}: {:?}", working_in(&folder));
            signal(&child, how);
            child.wait().expect("it ends");
            eventually(|| working_in(&folder).is_empty()).await;
        }
    }
}

#[tokio::test]
async fn background_program_ends_with_a_run_that_reaches_its_end() {
    let serve = "echo $$ > pid; echo ready; exec sleep 1022";
    let replies = [
        json!({"chunks": [background(serve)]}),
        json!({"expect": {"responses": ["in the background as `p1`"]},
               "chunks": [call("process", json!({"action": "list"}))]}),
        json!({"expect": {"responses": ["p1 echo $$ > pid; echo ready; exec sleep 1022: running"]},
               "chunks": [{"text": "It serves."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Serve"]);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "It serves.\n"), "{ended:?}");
    let pid = std::fs::read_to_string(host.repository().join("pid")).expect("it ran");
    eventually(|| !is_alive(&pid)).await;
}

// promise background.asked
#[test]
fn background_command_is_judged_like_any_other_and_asked_about_as_one_that_goes_on() {
    let replies = [json!({"chunks": [background("npm run dev")]}), answer("All is done.")];
    let host = Host::scripted(&replies, &["Serve"]);
    let ended = host.run();
    assert!(ended.code == Some(0), "{ended:?}");
    let log = host.session();
    let settled = log.iter().find(|entry| entry["type"] == "call_settled").expect("it settled");
    assert_eq!(settled["status"], "error", "nobody could be asked: {settled}");
    // A rule that denies the command denies it in the background too.
    let rules = "[[rule]]\ntool = \"shell\"\ncommand = \"npm\"\ndecision = \"deny\"\n";
    let host = Host::scripted(&[json!({"chunks": [background("npm run dev")]}), answer("All is done.")], &[])
        .args(&["--approval-mode", "yolo", "Serve"])
        .home_file(".config/host/policies/mine.toml", rules);
    let ended = host.run();
    assert!(ended.code == Some(0), "{ended:?}");
    let denied = host.session().into_iter().find(|entry| entry["type"] == "call_settled").expect("it settled");
    assert!(denied["status"] == "error" && denied["kind"] == "denied", "{denied}");
}

#[tokio::test]
async fn background_programs_are_listed_and_stopped_by_the_user_and_end_with_the_conversation() {
    let replies = [json!({"chunks": [background("echo $$ > pid; exec sleep 1023")]}), answer("It serves.")];
    let host = Host::scripted(&replies, &[]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 30);
    pty.sees("› ").types("/processes\r").sees("nothing runs in the background").types("serve\r");
    pty.sees("wants to run this command in the background:").sees("it runs on after the call").sees("› 1 y").types("y");
    pty.sees("It serves.")
        .sees(" · 1 in background")
        .types("/processes\r")
        .sees("p1  echo $$ > pid; exec sleep 1023")
        .sees("running for");
    let pid = std::fs::read_to_string(host.repository().join("pid")).expect("it ran");
    // Its own number is that in its namespace.
    let runs = || {
        working_in(&std::fs::canonicalize(host.repository()).expect("there"))
            .into_iter()
            .any(|process| std::fs::read(process.join("cmdline")).is_ok_and(|line| line == b"sleep\x001023\x00"))
    };
    assert!(runs() && !pid.is_empty());
    pty.types("/processes stop p9\r")
        .sees("no program `p9` runs")
        .types("\u{15}/processes stop p1\r")
        .sees("ended by signal 15")
        .sees("default › \nscript.jsonl");
    assert!(!runs());
    pty.types("/clear\r").sees("new conversation");
    pty.types("/processes\r")
        .until("nothing is left", |screen| screen.contains("/processes\nnothing runs in the background\ndefault ›"));
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

// promise tty.asked
#[test]
fn background_command_on_a_terminal_is_asked_about_as_one_into_which_the_model_types() {
    let start = call("shell", json!({"command": "stty -echo; exec cat > typed", "tty": true}));
    let replies = [
        json!({"chunks": [start]}),
        json!({"expect": {"responses": ["on a terminal as `p1`"]},
               "chunks": [call("process", json!({"action": "type", "id": "p1", "text": "by the model\n", "keys": ["ctrl-d"]}))]}),
        json!({"expect": {"responses": ["Screen of 100 × 30"]},
               "chunks": [call("process", json!({"action": "wait", "id": "p1"}))]}),
        json!({"expect": {"responses": ["exit code 0"]}, "chunks": [{"text": "It is typed."}]}),
    ];
    for mode in ["default", "auto"] {
        let host = Host::scripted(&replies, &["--approval-mode", mode]);
        let mut command = host.command();
        command.env("TERM", "xterm-256color");
        let mut pty = Pty::start(command, 120, 30);
        pty.sees("› ").types("go\r").sees("wants to run this command in a terminal:");
        pty.sees("the model types into it later without another question")
            .sees("› 1 y")
            .types("y")
            .sees("It is typed.");
        pty.types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        let typed = std::fs::read_to_string(host.repository().join("typed")).expect("it ran");
        assert_eq!(typed, "by the model\n", "{mode}");
    }
    // Nobody is there to be asked.
    let host = Host::scripted(&replies, &["--approval-mode", "auto", "Go"]);
    let ended = host.run();
    let log = host.session();
    let settled = log.iter().find(|entry| entry["type"] == "call_settled").expect("it settled");
    assert!(settled["status"] == "error" && settled["kind"] == "denied", "{ended:?} {settled}");
}

/// Serves the repository, and writes down its port.
const SERVE: &str = "exec python3 -c 'from http.server import *
server = HTTPServer((\"127.0.0.1\", 0), SimpleHTTPRequestHandler)
open(\"port\", \"w\").write(str(server.server_port))
server.serve_forever()'";

/// Returns what a server on this port of the user's answers; `None` if none listens.
fn answered(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("localhost", port)).ok()?;
    stream.write_all(b"GET /greeting HTTP/1.0\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    Some(answer)
}

// promise confine.session
#[tokio::test]
async fn background_server_is_reached_by_the_next_command_and_by_the_user() {
    let curl = "until [ -s port ]; do sleep 0.01; done; curl -sS http://127.0.0.1:$(cat port)/greeting";
    let replies = [
        json!({"chunks": [background(SERVE)]}),
        json!({"expect": {"responses": ["in the background as `p1`"]},
               "chunks": [call("shell", json!({"command": curl}))]}),
        json!({"expect": {"responses": ["hello from the session"]}, "chunks": [{"text": "It serves."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "--confine", "require"])
        .file("greeting", "hello from the session\n");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 30);
    pty.sees("› ").types("serve\r").sees("It serves.").sees(" · 1 in background · localhost:");
    let row = pty.rows().into_iter().find(|row| row.contains(" in background · localhost:")).expect("it was seen");
    let shown = row.split("localhost:").nth(1).expect("it was seen").split_whitespace().next().expect("a port");
    let port = shown.parse().unwrap_or_else(|_| panic!("no port: {row}"));
    let answer = answered(port).expect("the port is forwarded");
    assert!(answer.ends_with("\r\n\r\nhello from the session\n"), "{answer}");
    pty.types("/processes\r").sees(&format!("open: localhost:{port}"));
    pty.types("/processes stop p1\r")
        .sees("ended by signal 15")
        .until("the address is gone", |screen| !screen.contains(" · localhost:"));
    assert_eq!(answered(port), None);
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

//! Ctrl-C: the first stops the work and lets it say how far it was, the second ends everything at once.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use host_tests::eventually;
use host_tests::host::Host;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{answer, call};

fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(pid, Signal::INT).expect("it runs");
}

/// The lines of `stream-json` until one of this type.
fn until(lines: &mut impl Iterator<Item = std::io::Result<String>>, kind: &str) -> Value {
    lines
        .map(|line| serde_json::from_str::<Value>(&line.expect("read")).expect("each line is JSON"))
        .find(|line| line["type"] == kind)
        .unwrap_or_else(|| panic!("there is a line of type {kind}"))
}

fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn a_first_ctrl_c_stops_a_waiting_request() {
    let host = Host::scripted(
        &[json!({"chunks": [{"text": "I begin"}, {"hang": true}]})],
        &["--output-format", "stream-json", "Wait"],
    );
    let mut child = host.command().spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // The prompt, and what the model begins with.
    until(&mut lines, "message");
    until(&mut lines, "message");
    interrupt(&child);
    let result = until(&mut lines, "result");
    assert_eq!((&result["status"], &result["terminate_reason"]), (&json!("error"), &json!("ABORTED")));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[tokio::test]
async fn a_first_ctrl_c_ends_a_running_program_and_keeps_what_it_printed() {
    let command = "echo begun; echo $$ > pid; exec sleep 1006";
    let replies = [json!({"chunks": [call("shell", json!({"command": command}))]}), answer("never said")];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "--output-format", "stream-json", "Wait"]);
    let mut child = host.command().spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let pid = host.repository().join("pid");
    eventually(|| std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n'))).await;
    interrupt(&child);
    let result = until(&mut lines, "tool_result");
    assert_eq!(result["status"], "cancelled");
    assert!(result["output"].as_str().is_some_and(|output| output.contains("begun")), "{result}");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let pid = std::fs::read_to_string(pid).expect("written");
    assert!(!is_running(pid.trim()), "{pid} survived");
}

// promise process.ends
#[tokio::test]
async fn a_second_ctrl_c_ends_at_once_and_leaves_nothing_running() {
    // The program ignores what would end it politely.
    let command = "trap '' TERM INT; echo $$ > pid; while :; do sleep 1; done";
    let replies = [json!({"chunks": [call("shell", json!({"command": command}))]})];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "--output-format", "stream-json", "Wait"]);
    let mut child = host.command().spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let pid = host.repository().join("pid");
    eventually(|| std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n'))).await;
    interrupt(&child);
    // The first one was heard.
    until(&mut lines, "error");
    interrupt(&child);
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("read");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    let pid = std::fs::read_to_string(pid).expect("written");
    assert!(!is_running(pid.trim()), "{pid} survived");
}

//! One task: on a terminal, and in a pipe.

use super::*;

fn survey() -> Vec<Value> {
    vec![
        // One call a turn: the lines of several come in the order in which they end.
        json!({"chunks": [call("grep", json!({"pattern": "TODO"}))]}),
        json!({"chunks": [call("read_file", json!({"path": "missing.rs"}))]}),
        answer("# Survey\n\nThere is **one** TODO:\n\n- `src/fuel.rs`, line 1\n\n```rust\n// TODO: find some\n```"),
    ]
}

fn surveyed(arguments: &[&str]) -> Host {
    Host::scripted(&survey(), arguments).file("src/fuel.rs", "// TODO: find some\n").file("README.md", "# Rocket\n")
}

#[test]
fn screens_run_on_a_terminal() {
    let host = surveyed(&[]);
    let mut pty = begin(&host, &["Survey this"]);
    pty.saw("3 turns");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    shown(&host, "run_terminal", &mut pty);
}

#[test]
fn screens_run_in_a_pipe() {
    let host = surveyed(&["Survey this"]);
    printed(&host, "run_pipe", &host.run());
    let host = surveyed(&["--max-turns", "1", "Survey this"]);
    printed(&host, "run_limit", &host.run());
    let host = calling(&[call("shell", json!({"command": "make"}))], &["Build it"]);
    printed(&host, "run_denied", &host.run());
}

#[test]
fn screens_run_whose_limit_passed_on_a_terminal() {
    let host = surveyed(&["--max-turns", "1"]);
    let mut pty = begin(&host, &["Survey this"]);
    assert_ne!(pty.ends(), Some(0), "{}", pty.everything());
    shown(&host, "run_terminal_limit", &mut pty);
}

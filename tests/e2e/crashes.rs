//! What the machine does to a run: a full disk, a disk that cannot be written, folders that vanish, clocks that jump,
//! an end at any moment, another host beside it. Nothing that existed is lost or torn, and the user learns what failed.

use std::os::unix::process::CommandExt;
use std::process::Command;

use host_tests::host::Host;
use serde_json::{Value, json};

mod clocks;
mod disk;
mod killed;
mod together;
mod vanished;

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]})
}

/// A command line of this host, run by another program: behind these words.
fn behind(host: &Host, words: &[&str], arguments: &[&str]) -> Command {
    let inner = host.command_of(arguments);
    let mut outer = Command::new(words[0]);
    outer.args(&words[1..]).arg(inner.get_program()).args(inner.get_args()).env_clear();
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            outer.env(name, value);
        }
    }
    outer.current_dir(host.repository()).process_group(0);
    outer.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    outer
}

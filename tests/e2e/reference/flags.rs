//! `flags.md`: every command with its help, as the binary prints it.

use std::fmt::Write as _;
use std::process::Command;

use host_tests::host::binary;

use super::Page;

pub(super) fn page() -> Page {
    let mut body = "Every command with its flags, as `--help` prints them.\n".to_owned();
    add(&mut Vec::new(), &mut body);
    Page { file: "flags.md", title: "Commands and flags", body }
}

/// Adds a command and those below it.
fn add(command: &mut Vec<String>, body: &mut String) {
    let help = help(command);
    let name = std::iter::once("host").chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let fence = if help.contains("```") { "````" } else { "```" };
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    let _ = write!(body, "\n## {name}\n\n{fence}text\n{}\n{fence}\n", lines.join("\n"));
    for below in subcommands(&help) {
        command.push(below);
        add(command, body);
        command.pop();
    }
}

/// What `--help` prints, for a terminal of unknown width.
fn help(command: &[String]) -> String {
    let output = Command::new(binary())
        .args(command)
        .arg("--help")
        .env_clear()
        .env("HOME", "/nonexistent")
        .output()
        .expect("the host starts");
    assert!(output.status.success(), "host {command:?} --help: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("help is text")
}

/// The commands that a help lists, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

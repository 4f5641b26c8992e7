//! Commands that are files: which are found, what becomes of them, and that their shell lines pass the gate.

mod attacks;

use std::fs;

use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use serde_json::{Value, json};

/// Runs a script on the sessions of this home.
fn run(host: &Host, replies: &[Value], arguments: &[&str]) -> Ended {
    let script = host.home().join("next.jsonl");
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    fs::write(&script, lines).expect("written");
    let mut command = host.command_of(&["run", "--model", &format!("scripted:{}", script.display())]);
    command.args(arguments);
    host.end(command)
}

fn done() -> Value {
    json!({"chunks": [{"text": "Done."}]})
}

fn told(last_text: &str) -> Value {
    json!({"expect": {"last_text": last_text}, "chunks": [{"text": "Done."}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

/// The last line of a question, once it can be answered.
const LISTENS: &str = "press a number or letter";

/// The texts of the last prompt.
fn prompt(host: &Host) -> Vec<String> {
    let log = host.session();
    let is_prompt = |entry: &&Value| entry["type"] == "content" && entry["content"]["role"] == "user";
    Host::texts(log.iter().rfind(is_prompt).expect("it was recorded"))
}

// promise commands.trust: The command files of a project are used only after it was trusted.
#[test]
fn command_of_a_project_runs_after_it_was_trusted() {
    let host = Host::new(["run"])
        .file(
            ".claude/commands/check.md",
            "---\ndescription: Checks\n---\n\nCheck $1 at $2, all: $ARGUMENTS, as in @style.md\n",
        )
        .file("style.md", "the style\n");
    let ended = run(&host, &[told("/check 12 high")], &["/check 12 high"]);
    assert_eq!(ended.code, Some(0), "before, it is text: {ended:?}");
    assert!(ended.stderr.contains("is not trusted and is ignored"), "{ended:?}");
    let added = host.run_of(&["trust", "add"]);
    assert!(added.stdout.contains("`.claude/commands/check.md`: a command"), "{added:?}");
    let ended = run(&host, &[done()], &["-c", "/check", "12", "'very high'"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let prompt = prompt(&host);
    assert_eq!(prompt[0], "Check 12 at very high, all: 12 'very high', as in @style.md");
    assert!(prompt.len() == 2 && prompt[1].contains("the style"), "{prompt:?}");
}

// promise commands.formats: Markdown files of Claude Code and TOML files of Gemini CLI are read as those agents read
//   them.
#[test]
fn command_of_each_format_and_place_is_found() {
    let host = Host::new(["run"])
        .file("notes/a b.md", "the notes\n")
        .home_file(".config/host/commands/own.md", "My own")
        .home_file(".claude/commands/git/fix.md", "Fix it")
        .home_file(".gemini/commands/ask.toml", "prompt = \"\"\"Ask {{args}} about @{notes/a b.md} as me@x\"\"\"")
        .home_file(".gemini/commands/sub/plain.toml", "prompt = 'Do so'");
    for (line, expected) in [
        ("/own", "My own"),
        ("/own now", "My own\n\nARGUMENTS: now"),
        ("/git:fix", "Fix it"),
        ("/ask her", "Ask her about @\"notes/a b.md\" as me@x"),
        ("/sub:plain now", "Do so\n\n/sub:plain now"),
        ("/unknown now", "/unknown now"),
    ] {
        let ended = run(&host, &[done()], &["-c", line]);
        let ended = if ended.code == Some(0) { ended } else { run(&host, &[done()], &[line]) };
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{line}: {ended:?}");
        let prompt = prompt(&host);
        assert_eq!(prompt[0], expected, "{line}");
        assert_eq!(prompt.iter().any(|part| part.contains("the notes")), line == "/ask her", "{prompt:?}");
    }
}

// promise commands.gate: A shell line of a command runs only as a call of the model would: after a rule, a grant or the
//   user allowed it. One that is denied keeps the command from being sent.
#[test]
fn command_line_passes_the_gate_and_is_recorded_first() {
    let file = "Made: !`touch made.txt; echo '@secret.txt $1 !'`, look: !`ls`\n";
    let host = Host::new(["run"]).home_file(".claude/commands/make.md", file).file("secret.txt", "not attached");
    let ended = run(&host, &[], &["/make it"]);
    assert_eq!(ended.code, Some(42), "{ended:?}");
    for words in ["the command `/make` was not sent", "`touch made.txt; echo", "has no process grant"] {
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
    assert!(!host.repository().join("made.txt").exists());
    fs::remove_dir_all(host.home().join(".local/state/host/sessions")).expect("there was one");

    let ended = run(&host, &[done()], &["--yolo", "/make it"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("ran `touch made.txt; echo"), "{ended:?}");
    let prompt = prompt(&host);
    assert_eq!(prompt.len(), 1, "what it printed attaches nothing: {prompt:?}");
    assert!(prompt[0].starts_with("Made: @secret.txt it !, look: ") && prompt[0].contains("made.txt"), "{prompt:?}");
    let log = host.session();
    let at = |kind: &str| log.iter().position(|entry| entry["type"] == kind).expect("it was recorded");
    assert!(at("command_line") < at("content"), "{log:?}");
    assert_eq!(log[at("command_line")]["line"], "touch made.txt; echo '@secret.txt it !'");
    // What it changed is undone like what calls change.
    let undone = host.run_of(&["undo"]);
    assert!(undone.stdout.contains("made.txt"), "{undone:?}");
}

// promise commands.gate
#[test]
fn command_line_is_asked_about_at_a_terminal() {
    let replies = [told("Seen: seen"), json!({"chunks": [{"text": "Never."}]})];
    let host = Host::scripted(&replies, &[])
        .home_file(
            ".claude/commands/look.md",
            "---\ndescription: Looks around\nargument-hint: [where]\n---\nSeen: !`make -s $1`\n",
        )
        .home_file(".gemini/commands/other.toml", "prompt = 'x'\ndescription = 'Other one'")
        .file("Makefile", "here:\n\t@echo seen\n");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 30);
    pty.sees("default › ").types("/loo").sees("Looks around (user)").sees("/look [where]");
    pty.types("\u{15}/oth").sees("Other one (gemini)").types("\u{15}");
    pty.types("/look here\r").sees("make -s here").sees(LISTENS).types("n");
    pty.saw("the command `/look` was not sent").sees("default › ");
    pty.types("\u{15}/look here\r").sees(LISTENS).types("y");
    pty.saw("Done.").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(prompt(&host), ["Seen: seen"]);
}

// promise commands.narrow: `allowed-tools` of a command file limits its run, and allows nothing.
#[test]
fn command_limits_its_run_and_allows_nothing() {
    let host = Host::new(["run"]).home_file(
        ".claude/commands/a.md",
        "---\nallowed-tools: Bash(git add:*)\n---\nHere: !`touch by-line; echo yes`",
    );
    let write = call("write_file", json!({"path": "made.txt", "content": "x"}));
    let denied = json!({"expect": {"responses": ["the command `/a` limits this run to other tools", ""]}, "chunks": [{"text": "Done."}]});
    let first = json!({"expect": {"last_text": "Here: yes"}, "chunks": [write, call("ls", json!({}))]});
    let ended = run(&host, &[first, denied], &["--yolo", "/a"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!host.repository().join("made.txt").exists());
    assert!(host.repository().join("by-line").exists());
    // The list allows nothing that is asked about.
    let asked = "---\nallowed-tools: Bash(make:*)\n---\n!`make`";
    let host = host.home_file(".claude/commands/c.md", asked);
    assert_eq!(run(&host, &[], &["-c", "/c"]).code, Some(42));
}

#[test]
fn command_with_a_model_is_answered_by_it_alone() {
    let host =
        Host::new(["run"]).home_file("other.jsonl", format!("{}\n", json!({"chunks": [{"text": "The other."}]})));
    let other = format!("---\nmodel: scripted:{}\n---\nAsk", host.home().join("other.jsonl").display());
    let host = host
        .home_file(".claude/commands/other.md", other)
        .home_file(".claude/commands/none.md", "---\nmodel: sonnet\n---\nAsk");
    let ended = run(&host, &[], &["/other"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "The other.\n"), "{ended:?}");
    let chosen: Vec<String> = host
        .session()
        .iter()
        .filter(|entry| entry["type"] == "model_chosen")
        .map(|entry| entry["model"].to_string())
        .collect();
    assert!(chosen.len() == 2 && chosen[0].contains("other.jsonl") && chosen[1].contains("next.jsonl"), "{chosen:?}");
    let ended = run(&host, &[done()], &["-c", "/none"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("the command asks for the model `sonnet`"), "{ended:?}");
}

#[test]
fn command_of_a_script_may_have_the_name_of_one_that_only_a_conversation_has() {
    let host = Host::new(["run"]).home_file(".claude/commands/undo.md", "Revert it: $ARGUMENTS\n");
    let ended = run(&host, &[told("Revert it: all")], &["/undo", "all"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
}

#[test]
fn command_files_of_a_project_that_are_too_many_are_all_counted() {
    let mut host = Host::new(["run"]);
    for number in 0..400 {
        host = host.file(&format!(".claude/commands/c{number}.md"), "x");
    }
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let ended = run(&host, &[done()], &["Look"]);
    assert!(ended.stderr.contains("200 commands are left out: a session has 200 at most"), "{ended:?}");
}

#[test]
fn command_of_a_built_in_name_gives_way_and_that_is_said_once() {
    let host =
        Host::scripted(&[], &[]).home_file(".claude/commands/help.md", "x").home_file(".claude/commands/mine.md", "x");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 40);
    pty.saw("`/help` runs the built-in command, not `help` (user)").sees("default › ");
    pty.types("/help\r").saw("Show the commands and the keys").saw("x (user)").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(pty.everything().matches("runs the built-in command").count(), 1);
}

//! The context files of folders that the model enters, and `/memory`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

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

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

fn read(path: &str) -> Value {
    call("read_file", json!({"path": path}))
}

/// The beginning of a context file of a folder that the model entered.
const ENTERED: &str = "[Kept in full: instructions in `";

/// The texts that joined the conversation of the one session, in order.
fn joined(host: &Host) -> Vec<String> {
    let log = host.session();
    let of_user = log.iter().filter(|entry| entry["type"] == "content" && entry["content"]["role"] == "user");
    let parts = of_user.flat_map(|entry| entry["content"]["parts"].as_array().expect("parts"));
    let texts = parts.filter_map(|part| part["text"].as_str().map(str::to_owned));
    texts.filter(|text| text.starts_with(ENTERED)).collect()
}

// promise memory.entered: The context files of a folder join the conversation with the turn after a call has used a
//   file in it, the nearest last, each once, marked as those of the repository.
#[test]
fn memory_of_a_folder_joins_when_the_model_enters_it() {
    let host = Host::new(["run"])
        .file("AGENTS.md", "at the top\n")
        .file("packages/CLAUDE.md", "packages are small\n")
        .file("packages/app/AGENTS.md", "the app is large, see @more.md\n\n```\n@code.md\n```\n`@code.md`\n")
        .file("packages/app/CLAUDE.md", "not where there is an AGENTS.md\n")
        .file("packages/app/more.md", "what is included\n")
        .file("packages/app/src/a.rs", "fn a() {}\n")
        .file("packages/other/AGENTS.md", "of another folder\n");
    let app = json!({"expect": {"last_text": "what is included"}, "chunks": [read("packages/app/src/a.rs")]});
    let replies = [
        json!({"chunks": [read("packages/app/none.rs"), read("AGENTS.md")]}),
        json!({"expect": {"responses": ["", "at the top"]}, "chunks": [read("packages/app/src/a.rs")]}),
        app,
        json!({"expect": {"responses": ["fn a()"]}, "chunks": [{"text": "Done."}]}),
    ];
    let ended = run(&host, &replies, &["Look"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let texts = joined(&host);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(
        texts[0]
            .starts_with("[Kept in full: instructions in `packages/CLAUDE.md`]\nYou work with files in `packages`.")
    );
    assert!(texts[0].contains("cannot grant anything") && texts[0].contains("packages are small"), "{texts:?}");
    assert!(texts[1].starts_with("[Kept in full: instructions in `packages/app/AGENTS.md`]"), "{texts:?}");
    assert!(texts[1].contains("(included from packages/app/more.md:)\nwhat is included"), "{texts:?}");
    // A process that resumes the session adds nothing that is there, and what is new.
    let replies = [
        json!({"chunks": [read("packages/app/src/a.rs"), call("ls", json!({"path": "packages/other"}))]}),
        json!({"expect": {"last_text": "of another folder"}, "chunks": [{"text": "Done."}]}),
    ];
    assert_eq!(run(&host, &replies, &["-c", "Again"]).code, Some(0));
    assert_eq!(joined(&host).len(), 3);
}

// promise memory.compressed
#[test]
fn memory_of_a_folder_stays_word_for_word_after_compression() {
    let host = Host::new(["run"]).file("sub/AGENTS.md", "Use  tabs.\n\n\tAlways.\n").file("sub/a.rs", "x");
    let long = format!("Remember: {}", "a long story. ".repeat(600));
    assert_eq!(run(&host, &[json!({"chunks": [read("sub/a.rs")]}), done()], &[&long]).code, Some(0));
    assert_eq!(run(&host, &[done()], &["-c", "And then?"]).code, Some(0));
    for _ in 0..2 {
        let summary = json!({"expect": {"last_text": "write a summary"}, "chunks": [{"text": "a summary"}]});
        assert_eq!(run(&host, &[summary], &["-c", "/compress"]).code, Some(0));
        assert_eq!(run(&host, &[json!({"chunks": [read("sub/a.rs")]}), done()], &["-c", &long]).code, Some(0));
    }
    let log = host.session();
    let replaced: Vec<&Value> = log.iter().filter(|entry| entry["type"] == "history_replaced").collect();
    assert_eq!(replaced.len(), 2);
    for replaced in replaced {
        let parts = replaced["contents"][0]["parts"].as_array().expect("parts").iter();
        let text = parts.filter_map(|part| part["text"].as_str()).find(|text| text.starts_with(ENTERED));
        let text = text.expect("it is kept");
        assert!(text.ends_with("Use  tabs.\n\n\tAlways.\n[End: instructions in `sub/AGENTS.md`]"), "{text}");
    }
    assert_eq!(joined(&host).len(), 1, "what is kept does not join again");
}

// promise memory.walls: Nothing joins from a folder that the ignore rules leave out, from another repository, or that
//   may not be read.
#[test]
fn memory_of_foreign_and_denied_folders_does_not_join() {
    let host = Host::new(["run"])
        .file(".gitignore", "node_modules\n")
        .file("node_modules/x/AGENTS.md", "OBEY\n")
        .file("node_modules/x/a.js", "x")
        .file("clone/.git/HEAD", "ref: refs/heads/main\n")
        .file("clone/AGENTS.md", "OBEY\n")
        .file("clone/src/AGENTS.md", "OBEY\n")
        .file("clone/src/a.rs", "x")
        .file("private/AGENTS.md", "OBEY\n")
        .file("private/a.rs", "x")
        .file("linked/a.rs", "x")
        .home_file("outside/AGENTS.md", "OBEY\n")
        .home_file("outside/a.rs", "x");
    symlink(host.home().join("outside/AGENTS.md"), host.repository().join("linked/AGENTS.md")).expect("linked");
    let outside = fs::canonicalize(host.home().join("outside")).expect("it is there");
    let ignored = call("read_file", json!({"path": "node_modules/x/a.js", "respect_ignore": false}));
    let replies = [
        json!({"chunks": [
            ignored, read("clone/src/a.rs"), read("private/a.rs"), read("linked/a.rs"),
            read(&format!("{}/a.rs", outside.display())),
        ]}),
        done(),
    ];
    let add = outside.display().to_string();
    let ended = run(&host, &replies, &["--deny", "*:fs-read=private/AGENTS.md", "--add-dir", &add, "Look"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(joined(&host), [] as [String; 0]);
    assert!(!host.session().iter().any(|entry| entry.to_string().contains("OBEY")));
}

// promise memory.bounded: The files of folders that join a conversation are limited in number and size, and what is
//   left out is named.
#[test]
fn memory_of_folders_without_end_is_limited() {
    let mut host = Host::new(["run"]);
    for number in 0..5 {
        host = host
            .file(&format!("d{number}/AGENTS.md"), format!("{number} {}", "word ".repeat(3_200)))
            .file(&format!("d{number}/a.rs"), "x");
    }
    let calls: Vec<Value> = (0..5).map(|number| read(&format!("d{number}/a.rs"))).collect();
    let ended = run(&host, &[json!({"chunks": calls}), done()], &["Look"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(joined(&host).len(), 3);
    assert_eq!(
        ended.stderr.matches("is left out: those of folders have at most 60000 characters").count(),
        1,
        "{ended:?}"
    );
}

// promise memory.shown: `/memory` lists the context files with their sizes and sources, and opens the user's editor on
//   one.
#[test]
fn memory_is_listed_and_edited() {
    let replies = [
        json!({"chunks": [read("sub/a.rs")]}),
        json!({"chunks": [{"text": "I read it."}]}),
        json!({"expect": {"system": "edited at the top"}, "chunks": [{"text": "It is new."}]}),
        json!({"expect": {"last_text": "edited in sub"}, "chunks": [{"text": "Both are."}]}),
    ];
    let host = Host::scripted(&replies, &[])
        .file("AGENTS.md", "at the top\n")
        .file("sub/AGENTS.md", "in sub\n")
        .file("sub/a.rs", "x")
        .home_file(".config/host/AGENTS.md", "of the user\n");
    let editor = host.home().join("editor");
    fs::write(&editor, "#!/bin/sh\nsed -i 's/^/edited /' \"$1\"\n").expect("written");
    fs::set_permissions(&editor, PermissionsExt::from_mode(0o755)).expect("set");
    let mut command = host.command();
    command.env("TERM", "xterm-256color").env("EDITOR", &editor);
    let mut pty = Pty::start(command, 100, 40);
    pty.sees("default › ").types("Look\r").saw("I read it.").sees("default › ");
    pty.types("/memory\r").saw("AGENTS.md · 11 characters · yours, for all projects");
    pty.saw("2  AGENTS.md · 10 characters · from the repository");
    pty.saw("3  sub/AGENTS.md · 6 characters · of a folder that the model entered").sees("default › ");
    pty.types("/memory 9\r").saw("there is no context file `9`").sees("default › ");
    pty.types("\u{15}/memory 2\r").saw("AGENTS.md is written").sees("default › ");
    pty.types("Now?\r").saw("It is new.").sees("default › ");
    pty.types("/memory sub/AGENTS.md\r").saw("sub/AGENTS.md is written").sees("default › ");
    pty.types("Now?\r").saw("Both are.").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(fs::read_to_string(host.repository().join("AGENTS.md")).expect("read"), "edited at the top\n");
    assert_eq!(fs::read_to_string(host.repository().join("sub/AGENTS.md")).expect("read"), "edited in sub\n");
}

//! Undo, the real binary: what calls and programs changed is listed and taken back, and nothing else is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use host_plugin::Invocation;
use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::{Bench, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn call(name: &str, arguments: Value) -> Value {
    json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]})
}

/// A session that has edited, written and removed files, by calls and by a program.
fn changed() -> Host {
    let program = "echo made > made && mkdir new && echo x > new/x && rm gone && echo more >> seen && ln -s made link";
    let host = Host::scripted(
        &[
            call("edit", json!({"path": "seen", "old_string": "before", "new_string": "edited"})),
            call("shell", json!({"command": program})),
            call("write_file", json!({"path": "deep/er/file", "content": "written\n"})),
            call("shell", json!({"command": "echo again > made"})),
            json!({"chunks": [{"text": "Done."}]}),
        ],
        &["--approval-mode", "yolo", "Change it"],
    );
    let at = |name: &str| host.repository().join(name);
    fs::write(at("seen"), "before\n").expect("written");
    fs::write(at("gone"), "to be removed\n").expect("written");
    fs::write(at("kept"), "kept\n").expect("written");
    host
}

fn run(host: &Host) {
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
}

/// Everything in the repository, with the contents of files and what links say.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let what = if path.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("a link").display())
            } else if path.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else {
                fs::read_to_string(&path).expect("text")
            };
            tree.insert(path.strip_prefix(root).expect("beneath").to_owned(), what);
        }
    }
    tree
}

fn undo(host: &Host, arguments: &[&str]) -> Ended {
    let all: Vec<&str> = std::iter::once("undo").chain(arguments.iter().copied()).collect();
    host.run_of(&all)
}

// promise undo.restores: What a session changed in files is undone call by call, and so is an undo.
#[test]
fn undo_takes_back_calls_and_programs_and_can_be_undone() {
    let host = changed();
    let before = tree(host.repository());
    run(&host);
    let after = tree(host.repository());
    assert_eq!(after[Path::new("seen")], "edited\nmore\n");

    let listed = undo(&host, &["--json"]).json();
    let files = |call: usize| {
        let files = listed["calls"][call]["files"].as_array().expect("a list").iter();
        files
            .map(|file| {
                format!("{} {}", file["kind"].as_str().expect("a text"), file["path"].as_str().expect("a text"))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(files(0), ["changed seen"]);
    let mut of_program = files(1);
    of_program.sort();
    assert_eq!(
        of_program,
        ["changed seen", "created link", "created made", "created new/", "created new/x", "removed gone"]
    );
    assert_eq!(files(2), ["created deep/", "created deep/er/", "created deep/er/file"]);
    assert_eq!(files(3), ["changed made"]);
    assert_eq!(listed["calls"].as_array().map(Vec::len), Some(4));

    let ended = undo(&host, &["--to", "3"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.stdout, "removed deep/\nremoved deep/er/\nremoved deep/er/file\nrestored made\n");
    let ended = undo(&host, &["--to", "1"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(tree(host.repository()), before);
    // The undos are calls 5 and 6.
    let ended = undo(&host, &["--to", "5"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(tree(host.repository()), after);
}

#[tokio::test]
async fn undo_without_an_id_is_of_the_session_that_was_stopped_at_its_first_prompt() {
    let host = changed();
    run(&host);
    let older = host.logs();
    let script = host.home().join("stopped.jsonl");
    let stopped = call("shell", json!({"command": "echo stopped > kept; echo $$ > pid; exec sleep 1006"}));
    fs::write(&script, format!("{stopped}\n")).expect("written");
    let model = format!("scripted:{}", script.display());
    let mut command = host.command_of(&["run", "--model", &model, "--approval-mode", "yolo", "Stop me"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let pid = host.repository().join("pid");
    eventually(|| fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n'))).await;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(id, Signal::INT).expect("it runs");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.ends_with("error: cancelled\nhelp: files were changed; undo that with `host undo`\n"), "{said}");

    let listed = undo(&host, &["--json"]).json();
    assert!(listed["calls"][0]["title"].as_str().is_some_and(|title| title.contains("echo stopped")), "{listed}");
    let ended = undo(&host, &["--to", "1"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "restored kept\nremoved pid\n"), "{ended:?}");
    assert_eq!(fs::read_to_string(host.repository().join("kept")).expect("text"), "kept\n");

    // It is the one that is continued, and the model learns what became of its work.
    let stopped = "The user stopped your work on the prompt before this one.";
    fs::write(&script, format!("{}\n", json!({"expect": {"last_text": stopped}, "chunks": [{"text": "More."}]})))
        .expect("written");
    let ended = host.run_of(&["run", "--model", &model, "--continue", "Go on"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "More.\n"), "{ended:?}");
    assert!(!fs::read_to_string(&older[0]).expect("a log").contains("Go on"));
}

// promise undo.interrupted: After the host was killed, the list of changes and blame name the call whose program ran.
#[tokio::test]
async fn undo_and_blame_name_the_call_whose_program_ran_when_the_host_was_killed() {
    let host = changed();
    let script = host.home().join("killed.jsonl");
    let killed = call("shell", json!({"command": "echo changed > kept; echo $$ > pid; exec sleep 1013"}));
    fs::write(&script, format!("{killed}\n")).expect("written");
    let model = format!("scripted:{}", script.display());
    let mut command = host.command_of(&["run", "--model", &model, "--approval-mode", "auto", "Change it"]);
    let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
    let pid = host.repository().join("pid");
    eventually(|| fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n'))).await;
    child.kill().expect("it runs");
    child.wait().expect("it ends");

    let listed = undo(&host, &["--json"]).json();
    let why = "what its program changed is not known: it runs, or its host was killed while it ran";
    assert_eq!(listed["calls"][0]["not_kept"], json!([why]), "{listed}");
    assert!(listed["calls"][0]["title"].as_str().is_some_and(|title| title.contains("echo changed")), "{listed}");
    let blamed = host.run_of(&["session", "blame", "kept"]);
    assert!(blamed.stdout.contains("but not all is known") && blamed.stdout.contains(why), "{blamed:?}");
    // What a later process does with the session says nothing else.
    fs::write(&script, format!("{}\n", json!({"chunks": [{"text": "More."}]}))).expect("written");
    assert_eq!(host.run_of(&["run", "--model", &model, "--continue", "Go on"]).code, Some(0));
    assert_eq!(undo(&host, &["--json"]).json()["calls"][0]["not_kept"], json!([why]));
}

// promise undo.conflict: A file that changed since the session left it is shown and never touched.
#[test]
fn undo_never_touches_what_changed_since() {
    let host = changed();
    run(&host);
    let at = |name: &str| host.repository().join(name);
    fs::write(at("seen"), "mine\n").expect("written");
    fs::write(at("new/mine"), "mine\n").expect("written");
    fs::remove_file(at("made")).expect("removed");
    fs::write(at("gone"), "mine again\n").expect("written");
    let ended = undo(&host, &["--to", "1"]);
    assert_eq!(ended.code, Some(54), "{ended:?}");
    for line in [
        "left alone seen: it has changed since",
        "left alone gone: it has changed since",
        "left alone new/: something else is in it now",
        "removed new/x",
        "removed link",
        "made is as before already",
    ] {
        assert!(ended.stdout.lines().any(|shown| shown == line), "{line}: {}", ended.stdout);
    }
    let content = |name: &str| fs::read_to_string(at(name)).expect("text");
    assert_eq!(
        (content("seen"), content("new/mine"), content("gone")),
        ("mine\n".into(), "mine\n".into(), "mine again\n".into())
    );
    assert!(!at("new/x").exists() && !at("made").exists() && !at("deep").exists());
}

#[test]
fn undo_of_what_is_not_there_says_so() {
    let host = Host::scripted(&[json!({"chunks": [{"text": "Done."}]})], &["Nothing"]);
    let ended = undo(&host, &[]);
    assert_eq!(ended.code, Some(42), "{ended:?}");
    run(&host);
    let ended = undo(&host, &[]);
    assert!(ended.code == Some(0) && ended.stdout.ends_with("changed no files\n"), "{ended:?}");
    let ended = undo(&host, &["--to", "2"]);
    assert!(ended.code == Some(42) && ended.stderr.contains("there is no call 2 that changed files"), "{ended:?}");
}

// promise undo.later: A file that others run later, without walls, is named when a program changed it: with the
//   outcome, in the list, and in the question about a command that runs it.
#[test]
fn undo_and_questions_name_what_others_run_later() {
    let told = "host: this changed what others run later, without walls: `Makefile` (make)\n";
    let after = |told: &str, mut reply: Value| {
        reply["expect"] = json!({"responses": [told]});
        reply
    };
    let replies = [
        call("shell", json!({"command": "echo 'all: ; @echo made' > Makefile; echo x > notes"})),
        after(told, call("shell", json!({"command": "make"}))),
        after("made", json!({"chunks": [{"text": "Done."}]})),
    ];
    let host = Host::scripted(&replies, &["Go"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 40);
    pty.sees("writes: Makefile, notes").sees("› 1 y").types("y");
    pty.sees("│ make")
        .sees("reason: `Makefile`, which `make` runs, was changed in this session")
        .sees("› 1 y")
        .types("y");
    pty.saw("Done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let listed = undo(&host, &[]);
    assert!(listed.stdout.contains("+ Makefile (run by make later)\n"), "{listed:?}");
    assert!(listed.stdout.contains("+ notes\n"), "{listed:?}");
}

// promise undo.later
#[test]
fn undo_names_what_others_run_later_where_version_control_ignores_it() {
    let told = "host: this changed what others run later, without walls: `run-me` (npx)\n";
    let after = |told: &str, mut reply: Value| {
        reply["expect"] = json!({"responses": [told]});
        reply
    };
    let replies = [
        call("shell", json!({"command": "echo evil > packages/a/node_modules/.bin/run-me"})),
        after(told, call("shell", json!({"command": "npx run-me"}))),
        after("", json!({"chunks": [{"text": "Done."}]})),
    ];
    let host = Host::scripted(&replies, &["Go"]).file(".gitignore", "node_modules\n");
    let host = host.file("packages/a/node_modules/.bin/before", "");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 120, 40);
    pty.sees("packages/a/node_modules/.bin/run-me").sees("› 1 y").types("y");
    pty.sees("reason: `run-me`, which `npx` runs, was changed in this session").sees("› 1 y").types("n");
    pty.saw("Done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

/// Hosts before this one took the ids of services, some of which repeat theirs, and kept nothing of a prompt that was
/// stopped.
#[test]
fn undo_list_gives_no_call_the_title_of_another_with_its_id() {
    let write = |path: &str| call("write_file", json!({"path": path, "content": "x"}));
    let said = |text: &str| json!({"chunks": [{"text": text}]});
    let replies = [write("one"), said("First."), write("two"), write("three"), said("Second.")];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 30);
    pty.sees("yolo › ").types("begin\r").sees("First.").types("/undo-prompt\r").sees("removed the last prompt");
    pty.types("\u{15}again\r").sees("Second.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let [log] = host.logs().try_into().expect("one session");
    let ids = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter_map(|line| line["call"].as_str().map(str::to_owned)).collect()
    };
    let journal = log.with_extension("undo").join("changes.jsonl");
    let ids = ids(&fs::read_to_string(&journal).expect("text"));
    let [first, second, _] = ids.as_slice() else { panic!("{ids:?}") };
    for file in [log, journal] {
        let text = fs::read_to_string(&file).expect("text");
        fs::write(&file, text.replace(&format!("\"{second}\""), &format!("\"{first}\""))).expect("written");
    }
    let ended = undo(&host, &[]);
    let several = format!("  one of several calls with the id {first}\n     + one\n     + two\n");
    assert!(ended.stdout.contains(&several), "{ended:?}");
    assert!(ended.stdout.contains("  write_file three\n     + three\n"), "{ended:?}");
}

// promise undo.left-out: The list names the ignored folders in which a program changed something, of which nothing is
//   kept.
#[test]
fn undo_list_names_the_ignored_folders_that_a_program_changed() {
    let replies = [
        call("shell", json!({"command": "mkdir target && echo x > target/o"})),
        call("shell", json!({"command": "echo x > kept"})),
        json!({"chunks": [{"text": "Done."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Go"]).file(".gitignore", "target\nother\n");
    let host = host.file("other/f", "");
    run(&host);
    let listed = undo(&host, &[]).stdout;
    let named = "what it changed in `target` is not kept, which ignore rules leave out";
    assert_eq!((listed.matches(named).count(), listed.contains("other")), (1, false), "{listed}");
}

// promise undo.first: What cannot be kept is not changed: no file is written, and no program starts.
#[tokio::test]
async fn undo_comes_first_nothing_changes_that_cannot_be_kept() {
    for (tool, grants, arguments, words) in [
        (
            "write_file",
            &["fs-read=.", "fs-write=."][..],
            json!({"path": "kept", "content": "new\n"}),
            "it was not changed, since what it was before cannot be kept",
        ),
        (
            "shell",
            &["process=*", "fs-read=.", "fs-write=."],
            json!({"command": "echo new > kept"}),
            "no program was started, since what it may change cannot be kept",
        ),
    ] {
        let bench = Bench::built_in(tool, grants);
        bench.file("kept", "old\n");
        // A file is where the folder of the journal should be.
        let taken = bench.outside().join("taken");
        fs::write(&taken, "").expect("written");
        let recorder = host_plugin::recorder(taken);
        recorder.set_roots([bench.root()]);
        let invocation = bench.invocation(tool, arguments);
        let output = bench.invoke(Invocation { changes: Some(Arc::new(recorder)), ..invocation }).await;
        let answer = output.map_or_else(|error| error.to_string(), |output| host_tests::text(&output));
        assert!(answer.contains(words), "{tool}: {answer}");
        assert_eq!(bench.content("kept"), "old\n", "{tool}");
    }
}

// promise undo.not-kept: What is not kept is listed with the reason, and undo leaves it alone.
#[test]
fn undo_names_what_was_not_kept() {
    let host = Host::scripted(
        &[
            call("shell", json!({"command": "echo small > large; echo small > small"})),
            json!({"chunks": [{"text": "Done."}]}),
        ],
        &["--approval-mode", "yolo", "Change it"],
    );
    let at = |name: &str| host.repository().join(name);
    fs::write(at("large"), vec![b'x'; 9 << 20]).expect("written");
    fs::write(at("small"), "before\n").expect("written");
    run(&host);
    let listed = undo(&host, &[]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    for line in [
        "~ large (not kept: 9437184 bytes are too many to keep)",
        "`echo small > large; echo small > small` was not confined: what it changed outside of the workspace is not kept",
    ] {
        assert!(listed.stdout.contains(line), "{line}: {}", listed.stdout);
    }
    let ended = undo(&host, &["--to", "1"]);
    assert_eq!(ended.code, Some(54), "{ended:?}");
    assert!(ended.stdout.contains("left alone large: what it was is not kept: 9437184 bytes"), "{}", ended.stdout);
    let content = |name: &str| fs::read_to_string(at(name)).expect("text");
    assert_eq!((content("large"), content("small")), ("small\n".into(), "before\n".into()));
}

// promise undo.hooks: What a formatter changes after a call is undone together with the call.
#[test]
fn undo_takes_back_what_a_hook_changed_after_a_call() {
    let hook = "[[hooks.PostToolUse]]\nmatcher = \"write_file\"\ncommand = \"echo formatted >> kept\"\n";
    let host = Host::scripted(
        &[call("write_file", json!({"path": "kept", "content": "written\n"})), json!({"chunks": [{"text": "Done."}]})],
        &["--approval-mode", "yolo", "Change it"],
    )
    .configured(hook);
    let kept = host.repository().join("kept");
    fs::write(&kept, "before\n").expect("written");
    run(&host);
    assert_eq!(fs::read_to_string(&kept).expect("text"), "written\nformatted\n");
    let ended = undo(&host, &["--to", "1"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "restored kept\n"), "{ended:?}");
    assert_eq!(fs::read_to_string(&kept).expect("text"), "before\n");
}

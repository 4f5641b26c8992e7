//! `host session verify` and `blame`, the real binary: a change of what was recorded is found, and each version of a
//! file has its call.

use std::fs;
use std::path::{Path, PathBuf};

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

/// A log as a host wrote it before logs had chains.
const OLD_LOG: &str = include_str!("audit/old.jsonl");

fn call(name: &str, arguments: Value) -> Value {
    json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]})
}

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

/// A session that edited a file and ran a program; further replies answer later prompts.
fn changed(later: &[Value]) -> Host {
    let first = [
        json!({"goes_on": true}),
        call("edit", json!({"path": "a.txt", "old_string": "one", "new_string": "two"})),
        call("shell", json!({"command": "echo three > a.txt"})),
        answer("Done."),
    ];
    let replies: Vec<Value> = first.iter().chain(later).cloned().collect();
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Change \u{1b}[2J it\nwell"]);
    fs::write(host.repository().join("a.txt"), "one\n").expect("written");
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    host
}

/// Runs a new session, or what the arguments say, with these replies.
fn again(host: &Host, replies: &[Value], arguments: &[&str]) -> Ended {
    let script = host.home().join("script.jsonl");
    fs::write(&script, replies.iter().map(|reply| format!("{reply}\n")).collect::<String>()).expect("written");
    let model = format!("scripted:{}", script.display());
    let all: Vec<&str> = ["run", "--model", &model].into_iter().chain(arguments.iter().copied()).collect();
    host.run_of(&all)
}

fn log(host: &Host) -> PathBuf {
    let logs = host.logs();
    let [log] = logs.as_slice() else { panic!("one session, not {logs:?}") };
    log.clone()
}

fn verify(host: &Host, arguments: &[&str]) -> Ended {
    let all: Vec<&str> = ["session", "verify"].into_iter().chain(arguments.iter().copied()).collect();
    host.run_of(&all)
}

/// The kinds of problems of the one session.
fn kinds(host: &Host) -> Vec<String> {
    let ended = verify(host, &["--all", "--json"]);
    let problems = ended.json()[0]["problems"].as_array().expect("a list").clone();
    let is_verified = ended.json()[0]["verdict"] == "verified";
    assert_eq!((ended.code == Some(0), problems.is_empty()), (is_verified, is_verified), "{ended:?}");
    problems.iter().map(|problem| problem["kind"].as_str().expect("a word").to_owned()).collect()
}

/// Changes a byte in the middle of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("read");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("written");
}

/// The kept contents of the session.
fn kept(host: &Host) -> Vec<PathBuf> {
    let folder = log(host).with_extension("undo").join("objects");
    let mut all: Vec<_> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("read").path()).collect();
    all.sort();
    all
}

// promise audit.verify: `host session verify` finds a change of the log, of the journal of changed files, of what is
//   kept to undo them, and that one of them is gone.
#[test]
fn session_verify_finds_what_was_changed_cut_or_removed() {
    let host = changed(&[]);
    let ended = verify(&host, &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert!(ended.stdout.contains("  verified (") && ended.stdout.lines().count() == 1, "{ended:?}");
    assert_eq!(kinds(&host), [""; 0]);

    let (log, journal) = (log(&host), log(&host).with_extension("undo").join("changes.jsonl"));
    let content = kept(&host).remove(0);
    for (path, kind) in [(&log, "changed"), (&journal, "changed"), (&content, "content_changed")] {
        let whole = fs::read(path).expect("read");
        damage(path);
        assert_eq!(kinds(&host)[0], kind, "{}", path.display());
        fs::write(path, &whole).expect("written");
        let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        fs::write(path, &whole[..last]).expect("written");
        assert_eq!(kinds(&host)[0], if kind == "changed" { "cut" } else { kind }, "{}", path.display());
        fs::remove_file(path).expect("removed");
        let gone = ["missing", "cut", "content_missing"];
        assert!(gone.contains(&kinds(&host)[0].as_str()), "{}", path.display());
        fs::write(path, &whole).expect("written");
    }
    assert_eq!(kinds(&host), [""; 0], "it is as before");

    // The line is named, and what a user can do.
    damage(&log);
    let ended = verify(&host, &[]);
    assert_eq!(ended.code, Some(65), "{ended:?}");
    assert!(ended.stdout.contains("  CHANGED (") && ended.stdout.contains("is not as it was written"), "{ended:?}");
    assert!(ended.stdout.contains("host session rm"), "{ended:?}");
    fs::write(&log, b"rubbish\n").expect("written");
    assert_eq!(verify(&host, &[]).code, Some(65), "one whose folder cannot be read is verified, too");
    fs::remove_dir_all(journal.parent().expect("a folder")).expect("removed");
    fs::remove_file(&log).expect("removed");
    let ended = verify(&host, &["--all"]);
    assert!(ended.code == Some(65) && ended.stdout.contains("the log is missing"), "{ended:?}");
}

#[test]
fn session_verify_of_a_folder_does_not_pass_over_a_log_that_was_emptied() {
    let host = changed(&[]);
    let script = host.home().join("second.jsonl");
    fs::write(&script, format!("{}\n", json!({"chunks": [{"text": "Done."}]}))).expect("written");
    let ended = host.run_of(&["run", "--model", &format!("scripted:{}", script.display()), "Go on"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut logs = host.logs();
    logs.sort();
    let newest = logs.last().expect("two logs");
    assert_eq!((logs.len(), verify(&host, &[]).code), (2, Some(0)));
    fs::write(newest, "").expect("emptied");
    let ended = verify(&host, &[]);
    let id = newest.file_stem().expect("a name").to_string_lossy();
    assert!(ended.code == Some(65) && ended.stdout.contains(&format!("{id}  CHANGED")), "{ended:?}");
    // One that never had a line says nothing, as a host that was killed at its start leaves it.
    fs::write(newest.with_file_name("20990101-000000-00000000.jsonl"), "").expect("made");
    assert!(!verify(&host, &[]).stdout.contains("20990101"));
}

#[test]
fn session_verify_covers_what_is_resumed_copied_and_undone_and_forgets_what_is_removed() {
    let host = changed(&[answer("More."), answer("Copied.")]);
    assert_eq!(host.run_of(&["run", "--resume", "More"]).stdout, "More.\n");
    assert_eq!(host.run_of(&["undo", "--to", "2"]).code, Some(0));
    let copy = host.run_of(&["session", "fork"]).stdout;
    assert_eq!(host.run_of(&["run", "--resume", copy.trim(), "Copied"]).stdout, "Copied.\n");
    let ended = verify(&host, &["--all"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 2), "{ended:?}");
    let ids: Vec<String> =
        host.logs().iter().map(|log| log.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    let ended = verify(&host, &[&ids[0], &ids[1]]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 2), "{ended:?}");
    assert_eq!(host.run_of(&["session", "rm", &ids[0], &ids[1]]).code, Some(0));
    let ended = verify(&host, &["--all"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "no session is recorded\n"), "{ended:?}");
}

// promise audit.verify
#[test]
fn session_verify_covers_large_outputs_also_of_a_copy() {
    let long: String = (0..3000).map(|number| format!("line {number} of a long file\n")).collect();
    let replies = [call("read_file", json!({"path": "long.txt"})), answer("Read.")];
    let host = Host::scripted(&replies, &["Read"]).file("long.txt", long);
    assert_eq!(host.run().code, Some(0));
    let output = log(&host).with_extension("outputs").join("output-1.txt");
    assert_eq!(kinds(&host), [""; 0]);
    let whole = fs::read(&output).expect("it is there");
    damage(&output);
    assert_eq!(kinds(&host), ["content_changed"]);
    fs::remove_file(&output).expect("removed");
    assert_eq!(kinds(&host), ["content_missing"]);
    fs::write(&output, whole).expect("written");
    assert_eq!(host.run_of(&["session", "fork"]).code, Some(0));
    assert_eq!(verify(&host, &["--all"]).code, Some(0));
    for log in host.logs() {
        damage(&log.with_extension("outputs").join("output-1.txt"));
    }
    let ended = verify(&host, &["--all"]);
    assert!(ended.code == Some(65) && ended.stdout.matches("is not what it was").count() == 2, "{ended:?}");
}

// promise audit.found
#[test]
fn session_verify_still_finds_a_change_after_the_session_was_resumed() {
    let host = changed(&[answer("More.")]);
    let text = fs::read_to_string(log(&host)).expect("read");
    fs::write(log(&host), text.replacen("echo three", "echo other", 1)).expect("written");
    let ended = host.run_of(&["run", "--resume", "More"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "More.\n"));
    assert!(ended.stderr.contains("was changed since it was written"), "{ended:?}");
    let ended = verify(&host, &[]);
    assert!(ended.code == Some(65) && ended.stdout.contains("as was found when line"), "{ended:?}");
}

// promise audit.old
#[test]
fn session_of_an_older_host_is_read_resumed_and_covered_from_then_on() {
    let host = changed(&[]);
    let folder = log(&host).parent().expect("a folder").to_owned();
    assert_eq!(
        host.run_of(&["session", "rm", log(&host).file_stem().expect("a name").to_str().expect("text")]).code,
        Some(0)
    );
    let workspace = fs::canonicalize(host.repository()).expect("it is there");
    let old = folder.join("20260301-120000-0a1b2c3d.jsonl");
    fs::write(&old, OLD_LOG.replace("/work", workspace.to_str().expect("text"))).expect("written");
    assert!(host.run_of(&["session", "show"]).stdout.contains("What is in a.txt?"));
    let ended = verify(&host, &[]);
    assert!(ended.code == Some(65) && ended.stdout.contains("an older host wrote it"), "{ended:?}");
    let ended = again(&host, &[answer("More.")], &["--resume", "More"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "More.\n", ""), "{ended:?}");
    let ended = verify(&host, &[]);
    assert!(ended.code == Some(0) && ended.stdout.contains("since then they are unchanged"), "{ended:?}");
    damage(&old);
    assert_eq!(verify(&host, &[]).code, Some(65));
}

// promise audit.blame: `host session blame` names each version of a file with its call, prompt and approval, and where
//   something else changed it.
#[test]
fn session_blame_names_the_call_of_each_version_and_foreign_changes() {
    let edit = call("edit", json!({"path": "a.txt", "old_string": "mine", "new_string": "ours"}));
    let host = changed(&[]);
    fs::write(host.repository().join("a.txt"), "mine\n").expect("written");
    let ended = again(&host, &[edit, answer("Again.")], &["--approval-mode", "auto-edit", "Once more"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Again.\n"), "{ended:?}");
    let second = host.run_of(&["session", "list", "--json"]).json()[0]["id"].clone();
    let undone = host.run_of(&["undo", second.as_str().expect("an id"), "--to", "1"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");

    let blamed = host.run_of(&["session", "blame", "--json", "a.txt"]).json();
    let versions = blamed["versions"].as_array().expect("a list");
    let of = |key: &str| versions.iter().map(|version| version[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("tool"), [json!("edit"), json!("shell"), json!("edit"), Value::Null]);
    assert_eq!(of("call"), [json!(1), json!(2), json!(1), json!(2)]);
    assert_eq!(of("changed_before"), [json!(false), json!(false), json!(true), json!(false)]);
    assert_eq!(
        of("prompt"),
        [json!("Change \\u{1b}[2J it well"), json!("Change \\u{1b}[2J it well"), json!("Once more"), Value::Null]
    );
    assert_eq!((&versions[1]["title"], &versions[1]["by_program"]), (&json!("echo three > a.txt"), &json!(true)));
    assert_eq!(versions[2]["because"], json!(["approval mode `auto-edit`", "granted"]));
    assert_eq!((&versions[2]["decided"], &versions[2]["session"]), (&json!("allowed"), &second));
    assert_eq!((&versions[2]["content"]["bytes"], &blamed["now"]), (&json!(5), &json!("unchanged")));
    // A fraction has no zeros at its end, so `Z` is behind any digit.
    let times: Vec<String> =
        of("time").iter().map(|time| time.as_str().unwrap_or_default().trim_end_matches('Z').to_owned()).collect();
    assert!(times.is_sorted(), "{blamed}");

    fs::write(host.repository().join("a.txt"), "someone else's\n").expect("written");
    let page = host.run_of(&["session", "blame", "a.txt"]).stdout;
    for part in [
        "a.txt: 4 versions, the oldest first\n",
        " call 2  shell echo three > a.txt\n  file      changed by a program of the call, 6 bytes, ",
        "\nchanged outside of a session\n\n",
        "  prompt    Once more\n  approval  allowed without a question: approval mode `auto-edit`; granted\n",
        "undo\n  file      changed, 5 bytes, ",
        "  approval  undone by the user\n",
        "\nchanged outside of a session since\n",
    ] {
        assert!(page.contains(part), "{part:?} in\n{page}");
    }
    assert!(!page.contains('\u{1b}'), "{page}");
}

// promise audit.blame
#[test]
fn session_blame_and_undo_name_the_call_of_the_right_agent_where_a_service_repeats_an_id() {
    // Many services count the calls of each conversation anew, and a subagent has one of its own.
    let named = |name: &str, arguments: Value, id: &str| json!({"chunks": [{"call": {"name": name, "arguments": arguments, "id": id}}]});
    let found =
        json!({"report": {"SummaryOfFindings": "It is a file.", "ExplorationTrace": [], "RelevantLocations": []}});
    let replies = [
        named("write_file", json!({"path": "a", "content": "two"}), "call_0"),
        named("codebase_investigator", json!({"objective": "What is b?"}), "call_1"),
        named("read_file", json!({"path": "b"}), "call_0"),
        named("complete_task", found, "call_1"),
        named("write_file", json!({"path": "c", "content": "three"}), "call_0"),
        answer("Done."),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "Go"]).file("b", "bee");
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    for file in ["a", "c"] {
        let blamed = host.run_of(&["session", "blame", "--json", file]).json();
        let [version] = blamed["versions"].as_array().expect("a list").as_slice() else { panic!("{blamed}") };
        assert_eq!((&version["tool"], &version["title"]), (&json!("write_file"), &json!(file)), "{blamed}");
    }
    let listed = host.run_of(&["undo"]).stdout;
    let written = [listed.contains("write_file a\n"), listed.contains("write_file c\n"), listed.contains("read_file")];
    assert_eq!(written, [true, true, false], "{listed}");
}

// promise audit.blame
#[test]
fn session_blame_names_hooks_and_the_lines_of_command_files() {
    let host = Host::new(["run"])
        .configured("[[hooks.Stop]]\ncommand = \"echo formatted >> a.txt\"\n")
        .home_file(".config/host/commands/note.md", "Noted: !`echo noted > a.txt`");
    let ended = again(&host, &[answer("Done.")], &["--approval-mode", "yolo", "/note"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    let page = host.run_of(&["session", "blame", "a.txt"]).stdout;
    for part in [
        " call 1  /note echo noted > a.txt\n  file      created by a program of the call, 6 bytes, ",
        "\n  approval  a line of a command file that the user ran\n",
        " call 2  the hooks of Stop\n  file      changed, 16 bytes, ",
        "\n  approval  hooks that the user set up, or of a trusted project\n",
    ] {
        assert!(page.contains(part), "{part:?} in\n{page}");
    }
    let page = host.run_of(&["undo"]).stdout;
    assert!(page.contains("  1  /note echo noted > a.txt\n") && page.contains("  2  the hooks of Stop\n"), "{page}");
    let page = host.run_of(&["session", "show"]).stdout;
    assert!(page.contains("── /note ran echo noted > a.txt\n"), "{page}");
}

#[test]
fn session_blame_finds_removed_files_links_and_says_when_a_log_was_changed() {
    let host = changed(&[]);
    let at = |name: &str| host.repository().join(name);
    std::os::unix::fs::symlink("a.txt", at("link")).expect("made");
    let page = host.run_of(&["session", "blame", "link"]).stdout;
    assert!(page.contains("a.txt: 2 versions") && page.ends_with("now as the last version left it\n"), "{page}");
    fs::remove_file(at("a.txt")).expect("removed");
    let page = host.run_of(&["session", "blame", "./a.txt"]).stdout;
    assert!(page.ends_with("\nremoved outside of a session since\n"), "{page}");
    fs::write(at("other.txt"), "").expect("written");
    let ended = host.run_of(&["session", "blame", "other.txt"]);
    assert!(ended.code == Some(0) && ended.stdout.starts_with("no recorded session changed "), "{ended:?}");
    let ended = host.run_of(&["session", "blame", "nowhere.txt"]);
    assert!(ended.code == Some(42) && ended.stderr.contains("there is no file `nowhere.txt`"), "{ended:?}");
    let text = fs::read_to_string(log(&host)).expect("read");
    fs::write(log(&host), text.replacen("Change ", "Forged ", 1)).expect("written");
    let page = host.run_of(&["session", "blame", "a.txt"]).stdout;
    assert!(page.contains("note: what session ") && page.contains("was changed since it was recorded"), "{page}");
}

// promise audit.key
#[test]
fn audit_key_is_read_and_changed_by_no_tool() {
    let folder = ".local/state/host/audit";
    let host = changed(&[]);
    let key = host.home().join(folder).join("key");
    let before = fs::read(&key).expect("it is there");
    let path = key.to_str().expect("text");
    let head = host.home().join(folder).join("heads").join(log(&host).file_stem().expect("a name"));
    let script = [
        call("read_file", json!({"path": path})),
        call("write_file", json!({"path": path, "content": "x"})),
        call("write_file", json!({"path": head, "content": "x"})),
        answer("Tried."),
    ];
    let ended = again(&host, &script, &["--approval-mode", "yolo", "Try", "--output-format", "stream-json"]);
    let ends: Vec<Value> = ended.lines().into_iter().filter(|line| line["type"] == "tool_result").collect();
    assert_eq!(ends.len(), 3, "{ended:?}");
    assert!(ends.iter().all(|end| end["status"] == "error"), "{ends:?}");
    assert_eq!(fs::read(&key).expect("it is there"), before);
}

//! Sessions, the real binary: they are gone on with, and can be listed, shown and exported.

mod kill;

use std::io::{BufRead, BufReader};

use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::{host_snapshot, outcome_snapshot};
use serde_json::{Value, json};

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"call": {"name": name, "arguments": arguments}})
}

fn id(host: &Host) -> String {
    host.session()[0]["id"].as_str().expect("a text").to_owned()
}

/// A script that goes on where the conversation is.
fn scripted(replies: &[Value], arguments: &[&str]) -> Host {
    let lines: Vec<Value> = std::iter::once(json!({"goes_on": true})).chain(replies.iter().cloned()).collect();
    Host::scripted(&lines, arguments)
}

#[test]
fn session_resume_continues_the_last_one_with_a_prompt_and_its_model() {
    let second = json!({"expect": {"last_text": "And then?"}, "chunks": [{"text": "Two."}]});
    let host = scripted(&[answer("One."), second, answer("Three.")], &["Begin"]);
    assert_eq!(host.run().stdout, "One.\n");
    let ended = host.run_of(&["run", "--resume", "And then?"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Two.\n", ""));
    let id = id(&host);
    let ended = host.run_of(&["run", "--resume", &id[..20], "--output-format", "json", "More"]);
    assert_eq!((ended.code, &ended.json()["session_id"]), (Some(0), &json!(id)), "{ended:?}");
    assert_eq!(ended.json()["response"], "Three.");
    let resumed = host.session().iter().filter(|line| line["type"] == "resumed").count();
    assert_eq!(resumed, 2);
}

#[test]
fn session_has_the_title_that_the_user_gives_it_in_every_list() {
    let host = scripted(&[answer("One."), answer("Two."), answer("Three.")], &["Look at the parser"]);
    assert_eq!(host.run().code, Some(0));
    let id = id(&host);
    let elsewhere = host.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let mut other = host.command_of(&["run", "--any-folder", "--model", &model, "Look elsewhere"]);
    other.current_dir(&elsewhere);
    assert_eq!(host.end(other).code, Some(0));
    let open = |words: &[&str]| {
        let mut command = host.command_of(words);
        command.env("TERM", "xterm-256color");
        Pty::start(command, 100, 24)
    };
    let mut pty = open(&["run", "--resume"]);
    pty.sees("› Look at the parser").sees("type to search").types("\u{12}").sees("title › Look at the parser");
    pty.types(", second try\r").sees("› Look at the parser, second try").sees("type to search");
    // Sessions of other folders are a list of their own, and are continued there.
    pty.types("\u{1b}[A").sees("› Sessions of other folders…").types("\r").sees("› Look elsewhere").types("\r");
    pty.saw(&format!("belongs to `{}`", elsewhere.display()));
    assert_eq!(pty.ends(), Some(42), "{}", pty.everything());
    host_snapshot!(host, ["session", "list"], @"
    exit: 0
    ----- stdout
    [SESSION]  [TIME]  done            1 turn [SIZE]  Look at the parser, second try
    ----- stderr
    ");
    let mut pty = open(&["run", "-c", "--approval-mode", "default"]);
    pty.sees("default › ").types("/rename\r").sees("this session has no title").types("/rename  a\u{9}b\r");
    pty.sees("this session is named “").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());

    let title = |title: &str| host.run_of(&["session", "rename", &id, title]);
    assert_eq!(title("\u{1b}[31m  red\n").stdout, format!("session {id} is named “\\u{{1b}}[31m red”\n"));
    let listed = host.run_of(&["session", "list", "--json"]).stdout;
    assert_eq!(listed.matches("\"title\": \"\\u001b[31m red\"").count(), 1, "{listed}");
    outcome_snapshot!(title(&"x".repeat(201)), @"
    exit: 42
    ----- stdout
    ----- stderr
    error: a title of 201 characters is too long
    help: use at most 200 characters
    ");
    assert_eq!(title("").stdout, format!("session {id} has no title\n"));
    host_snapshot!(host, ["session", "list"], @"
    exit: 0
    ----- stdout
    [SESSION]  [TIME]  done            1 turn [SIZE]  Look at the parser
    ----- stderr
    ");
    assert_eq!(host.run_of(&["session", "rename", &id, "Gone"]).code, Some(0));
    assert_eq!(host.run_of(&["session", "rm", &id]).code, Some(0));
    let left = std::fs::read_dir(host.logs()[0].parent().expect("a folder")).expect("a folder");
    assert_eq!(left.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&id)).count(), 0);
}

#[test]
fn session_resume_asks_for_a_prompt_with_nothing_left_and_otherwise_continues() {
    let look = || json!({"chunks": [call("ls", json!({}))]});
    let host = scripted(&[look(), look()], &["--max-turns", "1", "Look"]);
    assert_eq!(host.run().code, Some(53));
    std::fs::write(
        host.home().join("script.jsonl"),
        format!("{}\n", json!({"expect": {"responses": ["is not available"]}, "chunks": [{"text": "Done."}]})),
    )
    .expect("written");
    let ended = host.run_of(&["run", "--resume"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    let ended = host_snapshot!(host, ["run", "--resume"], @r#"
    exit: 42
    ----- stdout
    ----- stderr
    error: the session `[SESSION]` has no unfinished work
    help: say what to do next: host run --resume [SESSION] "…"
    "#);
    assert!(ended.stderr.contains("--resume 2"), "{}", ended.stderr);
}

#[test]
fn session_resume_goes_on_where_a_run_failed_or_with_another_prompt() {
    let broken = || json!({"chunks": [{"error": {"kind": "server", "message": "it broke"}}]});
    let look = json!({"chunks": [call("ls", json!({}))]});
    let host = scripted(&[answer("One."), look, broken()], &["First"]);
    assert_eq!(host.run().code, Some(0));
    assert_eq!(host.run_of(&["run", "--resume", "Second"]).code, Some(59));
    let script = |reply: Value| {
        std::fs::write(host.home().join("script.jsonl"), format!("{reply}\n")).expect("written");
    };
    // Without a prompt it goes on: the model gets what its calls returned.
    script(json!({"expect": {"responses": [""]}, "chunks": [{"text": "Two."}]}));
    let ended = host.run_of(&["run", "--resume"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Two.\n"), "{ended:?}");
    host_snapshot!(host, ["run", "--resume"], @r#"
    exit: 42
    ----- stdout
    ----- stderr
    error: the session `[SESSION]` has no unfinished work
    help: say what to do next: host run --resume [SESSION] "…"
    "#);
    // A prompt without any reply is not asked again.
    script(broken());
    assert_eq!(host.run_of(&["run", "--resume", "Lost"]).code, Some(59));
    script(json!({"expect": {"last_text": "Third"}, "chunks": [{"text": "Three."}]}));
    let ended = host.run_of(&["run", "--resume", "Third"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Three.\n"), "{ended:?}");
    let asked: Vec<_> = host.session().into_iter().filter(|entry| entry["content"]["role"] == "user").collect();
    assert_eq!(Host::texts(asked.last().expect("it was asked")), ["Third"]);
}

// promise session.readable: No session that the host recorded is ever unreadable for it, whatever failed and whichever
//   ids a service gives its calls.
#[test]
fn session_of_every_fault_and_with_ids_that_repeat_is_read_listed_resumed_and_undone() {
    // Many services begin to count anew in each reply, or in each request.
    let named = |id: &str, name: &str, arguments: Value| json!({"chunks": [{"call": {"name": name, "arguments": arguments, "id": id}}]});
    let write = |text: &str| named("call_0", "write_file", json!({"path": "w.txt", "content": text}));
    let error = |kind: &str, status: u16| json!({"error": {"kind": kind, "status": status, "message": "no"}});
    let faults = [
        vec![json!({"chunks": [error("input", 400)]})],
        vec![json!({"chunks": [error("authentication", 401)]})],
        vec![json!({"chunks": [error("server", 500)]})],
        vec![json!({"chunks": [{"text": "half"}, error("server", 500)]})],
        vec![json!({"chunks": [{"text": ""}]}), json!({"chunks": [{"text": ""}]})],
        vec![json!({"chunks": [{"text": "half"}, {"finish": null}]}), json!({"chunks": [{"thought": "hm"}]})],
        vec![named("call_0", "no_such_tool", json!({}))],
        vec![json!({"chunks": [
            {"call": {"name": "ls", "arguments": {}, "id": "call_0"}},
            {"call": {"name": "ls", "arguments": {"path": "."}, "id": "call_0"}},
            {"call": {"name": "ls", "arguments": {}, "id": ""}},
        ]})],
        // It would be the host's own for the first call.
        vec![named("main#0-0", "ls", json!({})), named("main#0-0", "ls", json!({}))],
        vec![json!({"chunks": [{"text": "done"}]})],
    ];
    let host = scripted(&[answer("Begun.")], &["First"]);
    assert_eq!(host.run().code, Some(0));
    let id = id(&host);
    for (at, fault) in faults.iter().enumerate() {
        for round in 0..3 {
            let replies = [vec![write(&format!("{at} {round}"))], fault.clone(), vec![answer("Done.")]].concat();
            let script: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
            std::fs::write(host.home().join("script.jsonl"), script).expect("written");
            let model = format!("scripted:{}", host.home().join("script.jsonl").display());
            let ended =
                host.run_of(&["run", "--model", &model, "--approval-mode", "auto-edit", "--resume", &id, "Go on"]);
            assert!(!ended.stderr.contains("damaged"), "{fault:?} {round}: {ended:?}");
            assert_ne!(ended.code, Some(42), "{fault:?} {round}: {ended:?}");
        }
    }
    let changes = 3 * faults.len();
    let listed = host.run_of(&["undo", &id, "--json"]).json();
    assert_eq!(listed["calls"].as_array().map(Vec::len), Some(changes), "each call is one of its own");
    let blamed = host.run_of(&["session", "blame", "w.txt", "--json"]).json();
    assert_eq!(blamed["versions"].as_array().map(Vec::len), Some(changes), "{blamed}");
    let calls: std::collections::BTreeSet<_> =
        blamed["versions"].as_array().expect("a list").iter().map(|version| version["call_id"].to_string()).collect();
    assert_eq!(calls.len(), changes, "{calls:?}");
    for command in [
        &["session", "show", &id][..],
        &["session", "list", "--json"],
        &["session", "verify", &id],
        &["session", "verify", "--all"],
        &["session", "export", &id],
    ] {
        let ended = host.run_of(command);
        assert!(ended.code == Some(0) && !ended.stdout.contains("cannot be read"), "{command:?}: {ended:?}");
    }
}

#[test]
fn resume_passes_over_sessions_in_which_nothing_was_said() {
    let host = scripted(&[answer("One."), answer("Two.")], &["Begin"]);
    assert_eq!(host.run().code, Some(0));
    let id = id(&host);
    let folder = host.logs()[0].parent().expect("a folder").to_owned();
    let first = std::fs::read_to_string(&host.logs()[0]).expect("read");
    let empty = first.lines().next().expect("a line").replace(&id, "20990101-000000-00000000");
    std::fs::write(folder.join("20990101-000000-00000000.jsonl"), format!("{empty}\n")).expect("written");
    let ended = host.run_of(&["run", "--resume", "--output-format", "json", "And then?"]);
    assert_eq!((ended.code, &ended.json()["session_id"]), (Some(0), &json!(id)), "{ended:?}");
    let listed = host.run_of(&["session", "list", "--json"]).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
}

#[test]
fn session_resume_after_an_answer_by_a_schema_works_with_a_schema_and_without() {
    let complete = |count: u32| json!({"chunks": [call("complete_task", json!({"result": {"count": count}}))]});
    let schema = r#"{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}"#;
    let replies =
        [complete(1), complete(2), json!({"expect": {"last_text": "In words"}, "chunks": [{"text": "Two."}]})];
    let host = scripted(&replies, &["--output-schema", "schema.json", "Count"]);
    std::fs::write(host.repository().join("schema.json"), schema).expect("written");
    let counted = |stdout: &str| serde_json::from_str::<Value>(stdout).expect("an object")["count"].clone();
    assert_eq!(counted(&host.run().stdout), json!(1));
    let ended = host.run_of(&["run", "--resume"]);
    // The task is done.
    outcome_snapshot!(ended, @r#"
    exit: 42
    ----- stdout
    ----- stderr
    error: the session `[SESSION]` has no unfinished work
    help: say what to do next: host run --resume [SESSION] "…"
    "#);
    let ended = host.run_of(&["run", "--output-schema", "schema.json", "--resume", "Again"]);
    assert_eq!((ended.code, counted(&ended.stdout)), (Some(0), json!(2)), "{ended:?}");
    let ended = host.run_of(&["run", "--resume", "In words"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Two.\n"), "{ended:?}");
}

// promise session.grants: Resuming a session grants nothing that is not granted now.
#[test]
fn session_resume_may_touch_only_what_is_granted_now() {
    let write = json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": "x"}))]});
    let refused = json!({"expect": {"responses": ["--approval-mode auto-edit"]}, "chunks": [{"text": "Refused."}]});
    let host = scripted(&[answer("Ready."), write, refused], &["--approval-mode", "yolo", "Begin"]);
    assert_eq!(host.run().code, Some(0));
    let ended = host.run_of(&["run", "--resume", "Write"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Refused.\n"), "{ended:?}");
    assert!(!host.repository().join("a.txt").exists());
}

#[test]
fn session_resume_can_still_read_a_large_result() {
    let long: String = (0..3000).map(|number| format!("line {number} of a long file\n")).collect();
    let read = json!({"chunks": [call("read_file", json!({"path": "long.txt"}))]});
    let host = scripted(&[read, answer("Read.")], &["Read"]).file("long.txt", long);
    assert_eq!(host.run().code, Some(0));
    let output = host.logs()[0].with_extension("outputs").join("output-1.txt");
    let path = output.to_str().expect("text");
    let again = json!({"chunks": [call("read_file", json!({"path": path, "limit": 2}))]});
    let last = json!({"expect": {"responses": ["line 0 of a long file"]}, "chunks": [{"text": "Again."}]});
    let lines = [answer("-"), answer("-"), again, last].map(|reply| format!("{reply}\n")).concat();
    std::fs::write(host.home().join("script.jsonl"), format!("{{\"goes_on\":true}}\n{lines}")).expect("written");
    let ended = host.run_of(&["run", "--resume", "Once more"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Again.\n"), "{ended:?}");
}

#[test]
fn a_session_that_is_being_written_is_not_gone_on_with() {
    let host = scripted(
        &[json!({"chunks": [{"text": "I begin"}, {"hang": true}]})],
        &["--output-format", "stream-json", "Wait"],
    );
    let mut child = host.command().spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.any(|line| line.expect("read").contains("I begin")));
    let ended = host_snapshot!(host, ["run", "--resume", "Go on"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    error: the session log `[HOME]/.local/state/host/sessions/[SESSION].jsonl` is being written by process \
    [ID]
    help: wait until process [ID] has ended, or end it, and try again
    ");
    assert!(ended.stderr.contains(&format!("process {}", child.id())), "{}", ended.stderr);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    // The crash gave the lock back.
    std::fs::write(host.home().join("script.jsonl"), format!("{}\n", answer("On."))).expect("written");
    let ended = host.run_of(&["run", "--resume", "Go on"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "On.\n"), "{ended:?}");
}

#[test]
fn a_session_belongs_to_its_folder() {
    let host = scripted(&[answer("One.")], &["Begin"]).file("sub/a.txt", "");
    assert_eq!(host.run().code, Some(0));
    let id = id(&host);
    host_snapshot!(host, ["run", "-C", "sub", "--resume", "More"], @r#"
    exit: 42
    ----- stdout
    ----- stderr
    error: there is no session of `[REPOSITORY]/sub`
    help: host run "…" starts one; host session list --all lists those of other folders
    "#);
    host_snapshot!(host, ["run", "-C", "sub", "--resume", &id, "More"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: the session `[SESSION]` belongs to `[REPOSITORY]`, which is not this folder
    help: resume it there: host run -C '[REPOSITORY]' --resume [SESSION]
    ");
    let listed = host_snapshot!(host, ["session", "list"], @"
    exit: 0
    ----- stdout
    [SESSION]  [TIME]  done            1 turn [SIZE]  Begin
    ----- stderr
    ");
    assert!(listed.stdout.contains(&id));
    host_snapshot!(host, ["session", "list", "-C", "sub"], @"
    exit: 0
    ----- stdout
    no session is recorded for this folder; --all lists those of other folders
    ----- stderr
    ");
    // They contradict each other.
    host_snapshot!(host, ["session", "list", "--all", "-C", "sub"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: the argument '--all' cannot be used with '-C <DIR>'

    Usage: host session list --all

    For more information, try '--help'.
    ");
}

#[test]
fn sessions_are_listed_with_what_they_were_about_and_how_they_ended() {
    let host = scripted(&[answer("One.")], &["Find the\n\u{1b}[2J needle"]);
    assert_eq!(host.run().code, Some(0));
    assert_eq!(host.run_of(&["run", "--model", "scripted:/missing", "x"]).code, Some(52));
    let ended = host_snapshot!(host, ["session", "list"], @r"
    exit: 0
    ----- stdout
    [SESSION]  [TIME]  done            1 turn [SIZE]  Find the \u{1b}[2J needle
    ----- stderr
    ");
    assert!(ended.stdout.starts_with(&id(&host)), "{ended:?}");
    let listed = host.run_of(&["session", "list", "--json"]).json();
    assert_eq!((&listed[0]["end"], &listed[0]["turns"]), (&json!("GOAL"), &json!(1)));
    let folder = std::fs::canonicalize(host.repository()).expect("it is there");
    assert_eq!(listed[0]["workspace"], folder.to_str().expect("text"));
    // A log that breaks off, and one that is damaged, are listed and shown as far as they go.
    let log = &host.logs()[0];
    let text = std::fs::read_to_string(log).expect("read");
    let cut = text.find("\"run_ended\"").expect("it ended");
    std::fs::write(log, &text[..cut]).expect("written");
    assert_eq!(host.run_of(&["session", "list", "--json"]).json()[0]["end"], "UNFINISHED");
    std::fs::write(log, format!("{}\nrubbish\n", text.trim_end())).expect("written");
    assert_eq!(host.run_of(&["session", "list", "--json"]).json()[0]["end"], "DAMAGED");
    host_snapshot!(host, ["session", "list"], @"
    exit: 0
    ----- stdout
    [SESSION]  [TIME]  damaged         1 turn [SIZE]  line 6 is damaged: expected value at column 1
    ----- stderr
    ");
    host_snapshot!(host, ["session", "show", "2"], @r"
    exit: 42
    ----- stdout
    session [SESSION]
    workspace [REPOSITORY]
    model     scripted:[HOME]/script.jsonl
    began     [TIME]
    tokens    0 in, 0 out

    ── main: a run of main with scripted, [TIME]

    > Find the
    > \u{1b}[2J needle

    One.

    ── main: done, 1 turn, 0 tokens in, 0 out, [TIME]
    ----- stderr
    error: line 6 is damaged: expected value at column 1
      caused by: the session `[SESSION]` cannot be read further
    help: host session show [SESSION] shows what comes before
    ");
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let host = scripted(&[answer("One.")], &["Begin"]);
    assert_eq!((host.run().code, host.run().code), (Some(0), Some(0)));
    host_snapshot!(host, ["session", "show", "2"], @"
    exit: 42
    ----- stdout
    ----- stderr
    error: `2` matches 2 sessions
    help: use more characters of the id: `[SESSION]`, `[SESSION]`
    ");
    let log = host.logs().remove(0);
    let id = log.file_stem().and_then(|stem| stem.to_str()).expect("text").to_owned();
    let ended = host_snapshot!(host, ["session", "show", &id[..id.len() - 1]], @"
    exit: 0
    ----- stdout
    session [SESSION]
    workspace [REPOSITORY]
    model     scripted:[HOME]/script.jsonl
    began     [TIME]
    tokens    0 in, 0 out

    ── main: a run of main with scripted, [TIME]

    > Begin

    One.

    ── main: done, 1 turn, 0 tokens in, 0 out, [TIME]
    ----- stderr
    ");
    assert!(ended.stdout.starts_with(&format!("session {id}\n")), "{ended:?}");
    let wrong = format!("{}x", &id[..id.len() - 1]);
    let ended = host.run_of(&["session", "show", &wrong]);
    assert!(ended.code == Some(42) && ended.stderr.contains(&format!("did you mean `{id}`")), "{ended:?}");
}

#[test]
fn a_session_is_exported_with_its_calls_folded_and_its_changes_open() {
    let edit = call("edit", json!({"path": "a.txt", "old_string": "old", "new_string": "new"}));
    let replies = [json!({"chunks": [{"text": "I change it.\n```\u{9b}"}, edit]}), answer("Done.")];
    let host = scripted(&replies, &["--approval-mode", "auto-edit", "Change it"]).file("a.txt", "old\n");
    assert_eq!(host.run().code, Some(0));
    let id = id(&host);
    host_snapshot!(host, ["session", "export", &id], @r#"
    exit: 0
    ----- stdout
    # Session [SESSION]

    - Workspace: `[REPOSITORY]`
    - Model: `scripted:[HOME]/script.jsonl`
    - Began: [TIME]
    - Tokens: 0 in, 0 out

    ---

    *`main`: a run of `main` with `scripted`, [TIME]*

    ## User

    > Change it

    ## Model

    I change it.
    ```\u{9b}

    <details>
    <summary><code>edit</code> a.txt ([DURATION])</summary>

    ```json
    {
      "path": "a.txt",
      "old_string": "old",
      "new_string": "new"
    }
    ```

    ```
    Edited `a.txt` in 1 place
    ```

    </details>

    `a.txt`

    ```diff
    --- a/a.txt
    +++ b/a.txt
    @@ -1 +1 @@
    -old
    +new
    ```

    ## Model

    Done.

    *`main`: done, 2 turns, 0 tokens in, 0 out*
    ----- stderr
    "#);
    let file = host.home().join("session.json");
    let ended = host.run_of(&["session", "export", &id, "--format", "json", "-o", file.to_str().expect("text")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{ended:?}");
    let data: Value = serde_json::from_slice(&std::fs::read(file).expect("written")).expect("JSON");
    let call = data["entries"].as_array().expect("a list").iter().find(|entry| entry["type"] == "call").expect("one");
    assert_eq!((&call["name"], &call["title"], &call["status"]), (&json!("edit"), &json!("a.txt"), &json!("success")));
    assert!(call["display"]["difference"]["unified"].as_str().is_some_and(|unified| unified.contains("+new")));
    host_snapshot!(host, ["session", "show", &id], @r"
    exit: 0
    ----- stdout
    session [SESSION]
    workspace [REPOSITORY]
    model     scripted:[HOME]/script.jsonl
    began     [TIME]
    tokens    0 in, 0 out

    ── main: a run of main with scripted, [TIME]

    > Change it

    I change it.
    ```\u{9b}

    ✓ edit a.txt ([DURATION])
      --- a/a.txt
      +++ b/a.txt
      @@ -1 +1 @@
      -old
      +new

    Done.

    ── main: done, 2 turns, 0 tokens in, 0 out, [TIME]
    ----- stderr
    ");
}

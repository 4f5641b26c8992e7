//! `[check]`: commands that run before a run that changed files ends, with the real binary.

use std::io::{BufRead, BufReader};
use std::path::Path;

use host_tests::eventually;
use host_tests::host::{Ended, Host};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{answer, call};

/// Passes if `a.txt` says that all is good.
const GOOD: &str = "[check]\ncommands = [\"cat a.txt; grep -q good a.txt || { echo not good >&2; exit 3; }\"]\n";

fn write(content: &str) -> Value {
    json!({"chunks": [call("write_file", json!({"path": "a.txt", "content": content}))]})
}

/// A text of the model, which was told this in the last message.
fn told(pieces: &str, text: &str) -> Value {
    json!({"expect": {"last_text": pieces}, "chunks": [{"text": text}]})
}

fn host(replies: &[Value], configuration: &str, arguments: &[&str]) -> Host {
    let arguments = [&["--approval-mode", "auto-edit"][..], arguments, &["Do it"]].concat();
    Host::scripted(replies, &arguments).configured(configuration)
}

/// The checks that the session recorded: the command, how it ended, and why.
fn checks(host: &Host) -> Vec<(String, String, String)> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let lines = host.session().into_iter().filter(|line| line["type"] == "check_ended");
    lines.map(|line| (text(&line, "command"), text(&line, "result"), text(&line, "reason"))).collect()
}

fn results(host: &Host) -> Vec<String> {
    checks(host).into_iter().map(|(_, result, _)| result).collect()
}

// promise check.corrected: A check that fails before a run ends goes back to the model with what it printed, and the
//   run ends once it passes.
#[test]
fn check_that_fails_goes_back_to_the_model_until_it_passes() {
    let replies = [
        write("bad\n"),
        answer("All is done."),
        json!({
            "expect": {"last_text": "failed: exit code 3 ---\nbad\nnot good\n--- end"},
            "chunks": [call("write_file", json!({"path": "a.txt", "content": "good\n"}))],
        }),
        answer("Now it is done."),
    ];
    let host = host(&replies, GOOD, &[]);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Now it is done.\n"), "{ended:?}");
    assert!(ended.stderr.contains("failed: exit code 3"), "{ended:?}");
    assert_eq!(results(&host), ["failed", "passed"]);
    let shown = host.run_of(&["session", "show"]);
    assert!(shown.stdout.contains("failed: exit code 3"), "{shown:?}");
}

// promise check.exhausted: A run whose checks still fail after as many attempts as are set fails with an exit code of
//   its own.
#[test]
fn check_that_keeps_failing_ends_the_run_with_its_own_exit_code() {
    for (attempts, format) in [(0, "text"), (1, "json"), (2, "stream-json")] {
        let configuration = format!("{GOOD}attempts = {attempts}\n");
        let mut replies = vec![write("bad\n"), answer("Done?")];
        replies.extend((0..attempts).map(|_| told("not good", "Done?")));
        let host = host(&replies, &configuration, &["--output-format", format]);
        let ended = host.run();
        assert_eq!(ended.code, Some(60), "{ended:?}");
        assert_eq!(results(&host), vec!["failed"; attempts + 1]);
        match format {
            "json" => {
                let report = ended.json();
                assert_eq!((&report["error"]["code"], &report["response"]), (&json!(60), &Value::Null), "{report}");
                assert_eq!(report["partial_response"], "Done?", "{report}");
            }
            "stream-json" => {
                let lines = ended.lines();
                let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
                assert_eq!((of("checking").len(), of("check").len()), (3, 3), "{ended:?}");
                assert_eq!(of("check")[0]["output"], "bad\nnot good\n");
                assert_eq!(of("result")[0]["error"]["code"], 60);
            }
            _ => assert!(ended.stderr.contains("and the model was not asked to correct it"), "{ended:?}"),
        }
        // The next prompt of the conversation changes nothing, and nothing is checked.
        let again = Host::scripted(&[answer("I only looked.")], &[]);
        let script = std::fs::read(again.home().join("script.jsonl")).expect("read");
        std::fs::write(host.home().join("script.jsonl"), script).expect("written");
        let model = format!("scripted:{}", host.home().join("script.jsonl").display());
        let ended = host.run_of(&["run", "--resume", "--model", &model, "And?"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "I only looked.\n"), "{ended:?}");
        assert_eq!(results(&host).len(), attempts + 1);
    }
}

// promise check.changed: Nothing is checked unless it is configured and the run changed a file.
#[test]
fn check_runs_only_after_a_change() {
    let marks = "[check]\ncommands = [\"echo ran >> ran.txt\"]\n";
    let ran = |host: &Host| host.repository().join("ran.txt").exists();
    let reads = [json!({"chunks": [call("ls", json!({"path": "."}))]}), answer("Done.")];
    let writes = [write("good\n"), answer("Done.")];
    for (replies, configuration, mode, is_run) in [
        (&reads, marks, "auto-edit", false),
        (&writes, "", "auto-edit", false),
        (&writes, marks, "plan", false),
        (&writes, marks, "auto-edit", true),
    ] {
        let host = Host::scripted(replies, &["--approval-mode", mode, "Do it"]).configured(configuration);
        let ended = host.run();
        assert_eq!((ended.code, ran(&host)), (Some(0), is_run), "{mode} {configuration}: {ended:?}");
    }
}

// promise check.reported: The user and the model learn why a check cannot start or takes too long.
#[test]
fn check_that_does_not_start_or_hangs_is_reported_to_user_and_model() {
    for (command, limit, result, why) in [
        ("no-such-program-at-all", 600, "not_started", "exit code 127"),
        ("echo begun; sleep 1007", 1, "timed_out", "after 1 second"),
        ("kill -9 $$", 600, "failed", "signal 9"),
    ] {
        let configuration = format!("[check]\ncommands = [\"{command}\"]\nattempts = 1\nseconds = {limit}\n");
        let host = host(&[write("x"), answer("Done?"), told(why, "It cannot be checked.")], &configuration, &[]);
        let ended = host.run();
        assert_eq!(ended.code, Some(60), "{command}: {ended:?}");
        assert!(ended.stderr.contains(why), "{command}: {ended:?}");
        assert_eq!(results(&host), [result, result], "{command}");
    }
}

// promise check.bounded: What a check prints is bounded: the model gets its beginning and its end.
#[test]
fn check_output_is_bounded_for_the_model() {
    let line =
        "echo first; i=0; while [ $i -lt 4000 ]; do echo filler-filler-filler; i=$((i+1)); done; echo last; false";
    let configuration = format!("[check]\ncommands = [\"{line}\"]\nattempts = 1\n");
    let host = host(&[write("x"), answer("Done?"), told("bytes are left out here", "No.")], &configuration, &[]);
    assert_eq!(host.run().code, Some(60));
    let recorded = host.session();
    let output = recorded.iter().find(|line| line["type"] == "check_ended").expect("recorded")["output"].to_string();
    assert!(output.len() < 30_000 && output.contains("first") && output.contains("last"), "{}", output.len());
}

fn trust(host: &Host) {
    let ended = host.run_of(&["trust", "add"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

// promise check.untrusted: Commands of a project run only if it is trusted, and as they were when the run began.
#[test]
fn check_commands_of_a_project_run_only_once_it_is_trusted() {
    let replies = [write("x"), answer("Done.")];
    let host = host(&replies, "", &[]).file(".host/config.toml", "[check]\ncommands = [\"echo ran > ran.txt\"]\n");
    let ran = host.repository().join("ran.txt");
    let ended = host.run();
    assert_eq!((ended.code, ran.exists(), checks(&host)), (Some(0), false, Vec::new()), "{ended:?}");
    // The control: the same commands run in a project that is trusted.
    std::fs::remove_dir_all(host.home().join(".local/state/host/sessions")).expect("removed");
    trust(&host);
    std::fs::remove_file(host.repository().join("a.txt")).expect("it was written");
    let ended = host.run();
    assert_eq!((ended.code, ran.exists(), results(&host)), (Some(0), true, vec!["passed".to_owned()]), "{ended:?}");
}

fn changes_its_configuration(mode: &str, call: Value) -> (Host, Ended) {
    let replies = [json!({"chunks": [call]}), write("bad\n"), answer("Done?"), told("not good", "It stays bad.")];
    let host = Host::scripted(&replies, &["--approval-mode", mode, "Do it"]);
    let host = host.file(".host/config.toml", format!("{GOOD}attempts = 1\n"));
    trust(&host);
    let ended = host.run();
    (host, ended)
}

// promise check.untrusted
#[test]
fn check_is_not_changed_by_a_run_that_changes_the_configuration() {
    let nothing = "[check]\ncommands = []\n";
    let by_tool = call("write_file", json!({"path": ".host/config.toml", "content": nothing}));
    let by_program =
        call("shell", json!({"command": format!("printf '{}' > .host/config.toml", nothing.replace('\n', "\\n"))}));
    let path = Path::new(".host/config.toml");
    let (host, ended) = changes_its_configuration("auto-edit", by_tool);
    assert_eq!((ended.code, results(&host)), (Some(60), vec!["failed".to_owned(); 2]), "{ended:?}");
    assert!(std::fs::read_to_string(host.repository().join(path)).is_ok_and(|text| text.contains("not good")));
    // In `yolo` nothing keeps a program from it; this run is checked as it began, and the next one asks for trust.
    let (host, ended) = changes_its_configuration("yolo", by_program);
    assert_eq!((ended.code, results(&host)), (Some(60), vec!["failed".to_owned(); 2]), "{ended:?}");
    let changed = std::fs::read_to_string(host.repository().join(path)).is_ok_and(|text| text == nothing);
    let status = host.run_of(&["trust", "status", "--json"]).json();
    assert_eq!(status["trust"] == "trusted", !changed, "{status}");
}

// promise check.confined: A check is confined like the programs of calls: it reads no secret of the home and changes
//   nothing outside of the workspace, in every mode.
#[test]
fn check_is_behind_the_walls_of_programs() {
    for (mode, is_confined) in [("auto-edit", true), ("yolo", true)] {
        let attack = "cat ~/.ssh/id >> stolen.txt; echo evil > ~/evil.txt; true";
        let configuration = format!("[check]\ncommands = [\"{attack}\"]\n");
        let host = Host::scripted(&[write("x"), answer("Done.")], &["--approval-mode", mode, "Do it"]);
        let host = host.configured(&configuration).home_file(".ssh/id", "SECRET");
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let stolen = std::fs::read_to_string(host.repository().join("stolen.txt")).unwrap_or_default();
        let got = (stolen.contains("SECRET"), host.home().join("evil.txt").exists());
        assert_eq!(got, (!is_confined, !is_confined), "{mode}: {ended:?}");
        // The control: the same line gets both without walls.
        let host =
            Host::scripted(&[write("x"), answer("Done.")], &["--approval-mode", mode, "--confine", "off", "Do it"]);
        let host = host.configured(&configuration).home_file(".ssh/id", "SECRET");
        assert_eq!(host.run().code, Some(0));
        let stolen = std::fs::read_to_string(host.repository().join("stolen.txt")).unwrap_or_default();
        assert!(stolen.contains("SECRET") && host.home().join("evil.txt").exists(), "{mode}");
    }
}

// promise check.cancelled: A cancel ends a check with all that it started, and the run.
#[tokio::test]
async fn check_is_ended_by_a_cancel() {
    let configuration = "[check]\ncommands = [\"echo $$ > pid; exec sleep 1008\"]\n";
    let host =
        host(&[write("x"), answer("Done.")], configuration, &["--confine", "off", "--output-format", "stream-json"]);
    let mut child = host.command().spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let file = host.repository().join("pid");
    eventually(|| std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n'))).await;
    let pid = std::fs::read_to_string(&file).expect("read");
    let own = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(own, Signal::INT).expect("it runs");
    let result = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("\"type\":\"result\"")));
    assert!(result.expect("an end").expect("read").contains("ABORTED"));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let stat = format!("/proc/{}/stat", pid.trim());
    eventually(|| !std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "))).await;
}

// promise check.main: The changes of a subagent are checked before the run that started it ends, and no check runs for
//   the subagent itself.
#[test]
fn check_runs_once_for_the_main_run() {
    let definition = "---\nname: looker\ndescription: Looks.\ntools: [ls]\ninputs:\n  topic: {type: string, description: What.}\n---\nYou look.\n";
    let replies = [
        write("good\n"),
        json!({"chunks": [call("looker", json!({"topic": "x"}))]}),
        json!({"chunks": [call("complete_task", json!({"result": "seen"}))]}),
        answer("Done."),
    ];
    let host = host(&replies, GOOD, &[]).agent("looker.md", definition);
    let ended = host.run();
    assert_eq!((ended.code, results(&host)), (Some(0), vec!["passed".to_owned()]), "{ended:?}");
}

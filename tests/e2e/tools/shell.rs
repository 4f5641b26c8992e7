//! What `shell` promises.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use host_plugin::{CallError, Confirmation, Failure};
use host_tests::host::Host;
use host_tests::{Bench, Heard, eventually};
use serde_json::json;

use super::refuses;

/// How much of the output is kept.
const KEPT: usize = 7 << 20;

/// Writes a line to each output in turn, each once the host has read the one before.
const IN_TURN: &str = "python3 -c 'import array, fcntl, os, termios
def write(output, text):
    os.write(output, text)
    unread = array.array(\"i\", [1])
    while unread[0]:
        fcntl.ioctl(output, termios.FIONREAD, unread)
for line in b\"123\":
    write(1, b\"out %c\\n\" % line)
    write(2, b\"error %c\\n\" % line)'";

fn bench() -> Bench {
    Bench::built_in("shell", &["process=*"])
}

#[tokio::test]
async fn shell_result_has_a_line_only_when_it_has_content() {
    let bench = bench();
    bench.file("deep/x", "");
    for (command, result) in [
        ("echo a; echo b", "Output:\na\nb\n"),
        ("printf a", "Output:\na\n"),
        ("echo a; echo b >&2", "Output:\na\n[stderr]\nb\n"),
        ("echo no >&2; exit 3", "Output:\n[stderr]\nno\nExit code: 3\n"),
        ("exit 1", "Exit code: 1\n"),
        ("true", "It succeeded and printed nothing\n"),
        ("kill -9 $$", "Signal: 9\n"),
        ("echo a; kill -TERM $$", "Output:\na\nSignal: 15\n"),
        ("no-such-program-here 2>/dev/null", "Exit code: 127\n"),
        ("cat", "It succeeded and printed nothing\n"),
        ("echo $TERM $PAGER", "Output:\ndumb cat\n"),
        ("echo $MANPAGER $SYSTEMD_PAGER $GIT_PAGER $GH_PAGER $AWS_PAGER", "Output:\ncat cat cat cat cat\n"),
        ("printf '\\303\\050'", "Output:\n\u{fffd}(\n"),
    ] {
        assert_eq!(bench.text("shell", json!({"command": command})).await, result, "{command}");
    }
    let root = bench.root().display().to_string();
    assert_eq!(bench.text("shell", json!({"command": "pwd"})).await, format!("Output:\n{root}\n"));
    let deep = json!({"command": "pwd", "directory": "deep", "description": "shows where it is"});
    assert_eq!(bench.text("shell", deep).await, format!("Output:\n{root}/deep\n"));
    assert_eq!(bench.text("shell", json!({"command": "cd deep && pwd"})).await, format!("Output:\n{root}/deep\n"));
}

// promise process.order: What a program prints to its two outputs comes in one text, in the order in which it was
//   there to be read, and with a mark where the output changes.
#[tokio::test]
async fn shell_outputs_come_in_the_order_in_which_the_program_wrote_them() {
    let expected: String = (1..=3)
        .map(|line| format!("{}out {line}\n[stderr]\nerror {line}\n", if line == 1 { "" } else { "[stdout]\n" }))
        .collect();
    assert_eq!(bench().text("shell", json!({"command": IN_TURN})).await, format!("Output:\n{expected}"));
}

// promise process.timeout: A command ends after the time that the call or the user's settings say, with everything
//   that it started; what it printed is returned.
#[tokio::test]
async fn shell_command_ends_after_its_timeout_with_all_that_it_started_and_what_it_printed_is_returned() {
    let bench = bench();
    let command = "trap '' TERM; setsid sleep 1024 & echo $! > pid; echo begun; while :; do sleep 1; done";
    let result = bench.text("shell", json!({"command": command, "timeout": 1})).await;
    assert_eq!(result, "Output:\nbegun\nSignal: 9\nEnded: it had run for 1 seconds, its timeout\n");
    let pid = bench.content("pid").trim().to_owned();
    let alive = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!alive, "{pid} survived");
    // One that ends in time has nothing to do with it.
    let result = bench.text("shell", json!({"command": "echo done", "timeout": 60})).await;
    assert_eq!(result, "Output:\ndone\n");
    let settings = "[plugins.shell]\nconfig.timeout = 1\n";
    let arguments = r#"{"command": "echo begun; exec sleep 1025", "timeout": 900}"#;
    let host = Host::new(["tool", "call", "shell", arguments, "--grant", "shell:process=*"])
        .home_file(".config/host/config.toml", settings);
    let ended = host.run();
    assert!(ended.stdout.contains("begun\nSignal: 15\nEnded: it had run for 1 seconds"), "{ended:?}");
}

#[tokio::test]
async fn processes_that_are_left_running_are_ended_and_said() {
    let bench = bench();
    let command = "sleep 1006 >/dev/null 2>&1 & echo $! > pid; echo done";
    let result = bench.text("shell", json!({"command": command})).await;
    let pid = bench.content("pid").trim().to_owned();
    assert_eq!(result, format!("Output:\ndone\nBackground processes, now ended: {pid}\n"));
    let alive = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!alive, "{pid} survived");
}

#[tokio::test]
async fn shell_long_output_keeps_its_head_and_its_tail_and_reports_how_much_is_missing() {
    let bench = bench();
    let printed: usize = (1_000_000..3_000_000).map(|number: u32| number.to_string().len() + 1).sum();
    let marked = printed + "[stderr]\nthe end\n".len();
    let result = bench.text("shell", json!({"command": "seq 1000000 2999999; echo the end >&2"})).await;
    assert!(result.starts_with("Output:\n1000000\n1000001\n"), "{}", &result[..100]);
    assert!(result.ends_with("\n2999998\n2999999\n[stderr]\nthe end\n"), "{}", &result[result.len() - 100..]);
    assert!(result.contains(&format!("\n[cut: {} bytes here]\n", marked - KEPT)), "{}", result.len());
    assert!(result.len() < KEPT + 200);
}

// promise process.whole: Of a long output the model gets the head and the tail, and the path of a file with the whole,
//   in which it can search.
#[test]
fn shell_long_output_is_in_a_file_that_the_model_can_search() {
    let command = "seq 1000000 1200000; echo the end >&2; exit 3";
    let log = |host: &Host| host.session().into_iter().find(|entry| entry["type"] == "call_settled").expect("settled");
    let host = Host::scripted(
        &[
            json!({"chunks": [{"call": {"name": "shell", "arguments": {"command": command}}}]}),
            json!({"chunks": [{"text": "Done."}]}),
        ],
        &["--approval-mode", "yolo", "Count"],
    );
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let response = log(&host).to_string();
    let path = response.split("the whole text is in `").nth(1).and_then(|rest| rest.split('`').next()).expect("a path");
    let whole = std::fs::read_to_string(path).expect("it is there");
    assert!(whole.starts_with("Output:\n1000000\n") && whole.contains("\n1100000\n"), "{}", whole.len());
    assert!(whole.contains("[stderr]\nthe end\n") && whole.ends_with("\nExit code: 3\n"), "{}", whole.len());
    assert!(!response.contains("1100000") && response.contains("1000001") && response.contains("1199999"));
}

#[tokio::test]
async fn output_is_heard_as_it_comes() {
    let bench = bench();
    let heard = Arc::new(Heard::default());
    let command = "echo first; until [ -e go ]; do :; done; echo second >&2";
    let mut invocation = bench.invocation("shell", json!({"command": command}));
    invocation.listener = heard.clone();
    let (ended, ()) = tokio::join!(bench.invoke(invocation), async {
        heard.something().await;
        assert_eq!(heard.text(), "first\n");
        bench.file("go", "");
    });
    assert_eq!(host_tests::text(&ended.expect("it ends well")), "Output:\nfirst\n[stderr]\nsecond\n");
    assert_eq!(heard.text(), "first\nsecond\n");
}

#[tokio::test]
async fn a_cancelled_command_returns_what_it_had_printed() {
    let bench = bench();
    for command in [
        "echo begun; echo bad >&2; : > started; exec sleep 1007",
        // One that prints when it is asked to end.
        "trap 'echo bad >&2; exit' TERM; echo begun; : > started; while :; do :; done",
        // One that does not end when it is asked; it is asked once.
        "trap 'echo bad >&2' TERM; echo begun; : > started; while :; do :; done",
    ] {
        std::fs::remove_file(bench.root().join("started")).ok();
        let invocation = bench.invocation("shell", json!({"command": command}));
        let cancel = invocation.cancel.clone();
        let (ended, ()) = tokio::join!(bench.invoke(invocation), async {
            eventually(|| bench.root().join("started").exists()).await;
            cancel.cancel();
        });
        let error = ended.expect_err("it was told to stop");
        let CallError::Failure(Failure::Cancelled(had)) = &error else { panic!("{error:?}") };
        assert_eq!(had, "Output:\nbegun\n[stderr]\nbad\n", "{command}");
    }
}

#[tokio::test]
async fn the_preview_is_the_command_and_runs_nothing() {
    let bench = bench();
    for (arguments, directory) in
        [(json!({"command": "touch made"}), "."), (json!({"command": "touch made", "directory": "deep"}), "deep")]
    {
        let shown = bench.preview("shell", arguments).await.expect("it is asked");
        let argv = ["sh", "-c", "touch made"].map(str::to_owned).to_vec();
        let expected = Confirmation::Exec {
            argv,
            directory: directory.to_owned(),
            input: None,
            ground: host_plugin::Ground::Call,
        };
        assert_eq!(shown, Some(expected));
    }
    assert!(!bench.root().join("made").exists());
}

#[tokio::test]
async fn shell_command_can_be_replaced_by_the_user() {
    let bench = bench();
    let asked = json!({"command": "touch made", "directory": "deep"});
    let revised = bench.revise("shell", asked, "touch other").await.expect("it can be changed");
    assert_eq!(json!(revised), json!({"command": "touch other", "directory": "deep", "description": ""}));
}

/// As it is pasted into a shell: the scope has quotes of its own.
const SUGGESTED: &str = r"--grant 'shell:process=sh -c '\''echo no'\'''";

#[tokio::test]
async fn a_command_that_is_not_covered_is_refused_and_the_grant_that_is_named_covers_it() {
    let bench = Bench::built_in("shell", &["process=sh -c 'echo yes'"]);
    assert_eq!(bench.text("shell", json!({"command": "echo yes"})).await, "Output:\nyes\n");
    refuses(
        &bench,
        "shell",
        [
            (json!({"command": "echo no"}), "denied", &["`sh -c 'echo no'`", SUGGESTED]),
            (json!({"command": "echo yes; echo no"}), "denied", &["process"]),
            (json!({"command": "echo yes", "directory": "/etc"}), "denied", &["`/etc`"]),
            (json!({"command": "echo yes", "directory": "nowhere"}), "not-found", &["`nowhere`"]),
        ],
    )
    .await;
    let none = Bench::built_in("shell", &[]);
    let error = none.call("shell", json!({"command": "true"})).await.expect_err("it may not").to_string();
    assert!(error.contains("`shell` has no process grant"), "{error}");
    // Servers and files that programs could be granted besides are not suggested.
    let ended = host_tests::host::Host::new(["tool", "call", "shell", r#"{"command": "true"}"#]).run();
    assert!(ended.stderr.contains("add --grant 'shell:process=*', or"), "{ended:?}");
}

// promise process.shell: Lines run in a shell that the host chose by name from the system's folders, whatever `PATH`
//   finds.
#[test]
fn shell_does_not_run_lines_in_whatever_the_search_path_calls_sh() {
    let host = Host::new(["tool", "call", "shell", r#"{"command": "echo real"}"#, "--grant", "shell:process=*"])
        .file("bin/sh", "#!/bin/bash\necho false\n");
    let folder = host.repository().join("bin");
    std::fs::set_permissions(folder.join("sh"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = std::env::var("PATH").expect("a search path");
    let ended = host.env("PATH", format!("{}:{path}", folder.display())).run();
    assert!(ended.code == Some(0) && ended.stdout.contains("real"), "{ended:?}");
}

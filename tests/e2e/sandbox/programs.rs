//! What `process` promises.

use host_tests::{Bench, eventually};
use serde_json::json;

fn bench(programs: &str) -> Bench {
    Bench::new("reach", &["fs-read=.", "fs-write=.", &format!("process={programs}"), "http=*", "state=write"])
}

fn sh(script: &str) -> serde_json::Value {
    json!({"argv": ["sh", "-c", script]})
}

#[tokio::test]
async fn sandbox_program_runs_in_the_workspace_and_its_end_is_reported() {
    let bench = bench("*");
    let answer = bench.text("run", sh("pwd; echo wrong >&2; exit 3")).await;
    assert!(answer.contains(&bench.root().display().to_string()) && answer.contains("wrong"), "{answer}");
    assert!(answer.contains("code: Some(3)"), "{answer}");
    let answer = bench.text("run", sh("kill -9 $$")).await;
    assert!(answer.contains("signal: Some(9)"), "{answer}");
    let answer = bench.text("run", json!({"argv": ["no-such-program-here"]})).await;
    assert!(answer.contains("there is no `no-such-program-here`"), "{answer}");
}

// promise process.prefix: Only commands whose first words are granted start, compared word by word, without a shell.
#[tokio::test]
async fn only_granted_commands_run() {
    let bench = bench("echo hello,true");
    for (argv, runs) in [
        (json!(["echo", "hello"]), true),
        (json!(["echo", "hello", "world"]), true),
        (json!(["echo", "goodbye"]), false),
        (json!(["echo"]), false),
        (json!(["echo", "hello; id"]), false),
        (json!(["/bin/echo", "hello"]), false),
        (json!(["sh", "-c", "echo hello"]), false),
        (json!([]), false),
    ] {
        let answer = bench.text("run", json!({"argv": argv})).await;
        assert_eq!(!answer.starts_with("error: "), runs, "{argv}: {answer}");
    }
}

// promise process.variables: A plugin can set environment variables only if it may run any program.
#[tokio::test]
async fn a_narrow_grant_does_not_let_variables_choose_what_runs() {
    let bench = bench("true");
    let answer = bench.text("run", json!({"argv": ["true"], "environment": [["LD_PRELOAD", "/tmp/evil.so"]]})).await;
    assert!(answer.contains("LD_PRELOAD"), "{answer}");
}

// promise process.git: git runs no program that a repository hidden inside the workspace names.
#[tokio::test]
async fn sandbox_git_does_not_enter_a_repository_hidden_in_a_folder() {
    let bench = bench("*");
    let marker = bench.outside().join("monitor-ran");
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n";
    bench
        .file("sub/HEAD", "ref: refs/heads/main\n")
        .file("sub/objects/x", "")
        .file("sub/refs/x", "")
        .file("sub/config", format!("{config}\tfsmonitor = \"touch {}; false\"\n", marker.display()));
    let answer = bench.text("run", sh("cd sub && git status")).await;
    assert!(answer.contains("safe.bareRepository is 'explicit'"), "{answer}");
    assert!(!marker.exists(), "{answer}");
    // The same in a repository of the user's: its settings name a program, and this way of starting one is closed.
    let config = format!("git init -q . && git config core.fsmonitor 'touch {}; false'", marker.display());
    let answer = bench.text("run", sh(&format!("{config} && git status && git config safe.bareRepository"))).await;
    assert!(answer.contains("On branch") && answer.contains("explicit"), "{answer}");
    assert!(!marker.exists(), "{answer}");
}

// promise process.secrets: Variables that look like secrets do not reach a program.
#[tokio::test]
async fn secrets_of_the_environment_stay_with_the_host() {
    let bench = bench("*");
    let answer = bench.text("run", sh("echo ${LC_HARMLESS-none} ${MY_API_KEY-none}")).await;
    assert!(answer.starts_with("shown none\n"), "{answer}");
}

// promise process.ends: When a call ends, its program and that program's children end too.
#[tokio::test]
async fn no_child_survives_its_call() {
    let bench = bench("*");
    // One in the group, one in a session of its own, one whose parent is gone.
    let script = "sleep 1001 & echo $! > pids; setsid sleep 1002 & echo $! >> pids; (setsid sh -c 'echo $$ >> pids; exec sleep 1003' &) ; \
                  while [ $(wc -l < pids) -lt 3 ]; do :; done; echo ready";
    let answer = bench.text("run", sh(script)).await;
    assert!(answer.starts_with("ready\n") && answer.contains("background: 3"), "{answer}");
    let pids = bench.content("pids");
    assert_eq!(pids.lines().count(), 3);
    for pid in pids.lines() {
        let alive = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(!alive, "{pid} survived");
    }
}

// promise process.silent: A program that prints nothing for too long is ended.
#[tokio::test]
async fn a_silent_program_is_ended() {
    let bench = bench("*");
    let answer = bench.text("run", json!({"argv": ["sh", "-c", "echo begun; exec sleep 1004"], "silence": 200})).await;
    assert!(answer.starts_with("begun\n") && answer.contains("timed out: true"), "{answer}");
}

// promise process.ends
#[tokio::test]
async fn a_cancel_ends_the_program_and_keeps_what_it_printed() {
    let bench = bench("*");
    let invocation = bench.invocation("run", sh("echo begun; touch started; exec sleep 1005"));
    let cancel = invocation.cancel.clone();
    let marker = bench.root().join("started");
    let (ended, ()) = tokio::join!(bench.invoke(invocation), async {
        eventually(|| marker.exists()).await;
        cancel.cancel();
    });
    let answer = host_tests::text(&ended.expect("it says how it went"));
    assert!(answer.starts_with("begun\n") && answer.contains("signal: Some(15)"), "{answer}");
}

// promise process.folder: A program runs in the workspace or in a folder that the plugin may read.
#[tokio::test]
async fn the_folder_to_run_in_is_checked() {
    let bench = bench("*");
    bench.file("deep/x", "");
    let answer = bench.text("run", json!({"argv": ["pwd"], "path": "deep"})).await;
    assert!(answer.contains("workspace/deep"), "{answer}");
    for path in ["/etc", ".."] {
        let answer = bench.text("run", json!({"argv": ["pwd"], "path": path})).await;
        assert!(answer.starts_with("error: ") && answer.contains("fs-read"), "{path}: {answer}");
    }
}

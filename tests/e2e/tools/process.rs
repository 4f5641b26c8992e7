//! What `shell` and `process` promise of commands in the background.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_plugin::{
    BackgroundPrograms, BackgroundState, CallError, CallListener, Confirmation, Failure, Invocation, ProgramEnd,
};
use host_tests::{Bench, eventually, text};
use serde_json::{Value, json};

/// A bench, and the programs in the background of its session.
struct Session {
    bench: Bench,
    background: Arc<BackgroundPrograms>,
}

fn session() -> Session {
    Session { bench: Bench::built_in("shell", &["process=*"]), background: Arc::default() }
}

impl Session {
    fn invocation(&self, tool: &str, arguments: Value) -> Invocation {
        Invocation { background: Some(Arc::clone(&self.background)), ..self.bench.invocation(tool, arguments) }
    }

    /// Starts a command as it does once its preview was decided about.
    async fn start(&self, command: &str) -> Result<String, String> {
        let arguments = json!({"command": command, "background": true});
        let shown = self.bench.preview("shell", arguments.clone()).await.expect("it has a preview");
        let invocation = Invocation { shown: shown.map(Arc::new), ..self.invocation("shell", arguments) };
        self.bench.invoke(invocation).await.map(|output| text(&output)).map_err(|error| error.to_string())
    }

    async fn process(&self, arguments: Value) -> String {
        let mut invocation = self.invocation("process", arguments);
        // It needs nothing, and gets nothing.
        invocation.needs = host_capability::CapabilitySet::EMPTY;
        invocation.grants = Arc::new(host_capability::Grants::none());
        match self.bench.invoke(invocation).await {
            Ok(output) => text(&output),
            Err(error) => format!("error: {error}"),
        }
    }
}

/// The programs of which calls were told that they failed.
#[derive(Default)]
struct Failures(Mutex<Vec<ProgramEnd>>);

impl CallListener for Failures {
    fn output(&self, _text: &str) {}
    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
    fn background_failed(&self, end: ProgramEnd) {
        self.0.lock().expect("no panic").push(end);
    }
}

#[tokio::test]
async fn process_read_of_a_command_that_died_has_failed_and_of_one_that_was_stopped_has_not() {
    let session = session();
    let end = |code, signal| ProgramEnd { code, signal, timed_out: false };
    for (number, (command, failure)) in [
        ("exit 126", Some(end(Some(126), None))),
        ("kill -9 $$", Some(end(None, Some(9)))),
        ("true", None),
        ("exec sleep 1010", None),
    ]
    .into_iter()
    .enumerate()
    {
        session.start(command).await.expect("it starts");
        let id = format!("p{}", number + 1);
        let action = if command.contains("sleep") { "stop" } else { "wait" };
        session.process(json!({"action": action, "id": id})).await;
        let failures = Arc::new(Failures::default());
        let arguments = json!({"action": "read", "id": id});
        let invocation =
            Invocation { listener: Arc::clone(&failures) as _, ..session.invocation("process", arguments) };
        session.bench.invoke(invocation).await.expect("it is read");
        let told = failures.0.lock().expect("no panic").clone();
        assert_eq!(told, Vec::from_iter(failure), "{command}");
    }
}

fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

// promise background.life: A command in the background goes on after its call; what it prints is read later, and it can
//   be stopped.
#[tokio::test]
async fn process_reads_waits_for_and_stops_what_shell_left_running() {
    let session = session();
    let command =
        "echo ready; until [ -e go ]; do sleep 0.02; done; echo gone >&2; until [ -e end ]; do sleep 0.02; done";
    let started = session.start(command).await.expect("it starts");
    assert!(started.starts_with("p1 echo ready;") && started.contains(": running"), "{started}");
    assert!(started.contains("New output:\nready\n") && started.contains("in the background as `p1`"), "{started}");
    assert_eq!(session.background.running(), 1);
    let read = session.process(json!({"action": "read", "id": "p1"})).await;
    assert!(read.ends_with("It printed nothing new\n"), "{read}");
    session.bench.file("go", "");
    eventually(|| session.background.list().first().is_some_and(|program| program.printed == 11)).await;
    let read = session.process(json!({"action": "read", "id": "p1"})).await;
    assert!(read.ends_with("New output:\ngone\n"), "{read}");
    session.bench.file("end", "");
    let waited = session.process(json!({"action": "wait", "id": "p1", "seconds": 30})).await;
    assert!(waited.contains(": exit code 0"), "{waited}");

    session.start("echo $$ > pid; exec sleep 1010").await.expect("it starts");
    let waited = session.process(json!({"action": "wait", "id": "p2", "seconds": 1})).await;
    assert!(waited.contains(": running"), "{waited}");
    let listed = session.process(json!({"action": "list"})).await;
    assert!(listed.contains("p1 echo ready;") && listed.contains("\np2 echo $$ > pid;"), "{listed}");
    let pid = session.bench.content("pid");
    assert!(is_alive(&pid));
    let stopped = session.process(json!({"action": "stop", "id": "p2"})).await;
    assert!(stopped.contains(": signal 15") && !is_alive(&pid), "{stopped}");
    assert_eq!(session.background.running(), 0);
}

#[tokio::test]
async fn process_command_that_fails_at_once_says_so() {
    let started = session().start("echo no >&2; exit 3").await.expect("it starts");
    assert_eq!(started, "p1 echo no >&2; exit 3: exit code 3, 0 s\nNew output:\nno\n");
}

// promise background.asked
#[tokio::test]
async fn process_goes_on_only_if_the_preview_said_so() {
    let session = session();
    let arguments = json!({"command": "sleep 1011", "background": true});
    let shown = session.bench.preview("shell", arguments.clone()).await.expect("it has a preview");
    let Some(Confirmation::Exec { argv, directory, ground: host_plugin::Ground::Background, .. }) = shown else {
        panic!("{shown:?}")
    };
    let foreground = Confirmation::Exec { argv, directory, input: None, ground: host_plugin::Ground::Call };
    for shown in [None, Some(Arc::new(foreground))] {
        let invocation = Invocation { shown, ..session.invocation("shell", arguments.clone()) };
        let error = session.bench.invoke(invocation).await.expect_err("it was not announced").to_string();
        assert!(error.contains("did not name that it goes on in the background"), "{error}");
    }
    assert!(session.background.list().is_empty());
    // Without a grant for it, or without a session, there is nothing either.
    let none = Bench::built_in("shell", &["process=git"]);
    let shown = none.preview("shell", arguments.clone()).await.expect("it has a preview").map(Arc::new);
    let background = Some(Arc::clone(&session.background));
    let denied =
        none.invoke(Invocation { shown: shown.clone(), background, ..none.invocation("shell", arguments.clone()) });
    assert!(matches!(denied.await, Err(CallError::Failure(Failure::Denied { .. }))));
    let bench = &session.bench;
    let nowhere = bench.invoke(Invocation { shown, ..bench.invocation("shell", arguments) }).await;
    assert!(nowhere.expect_err("there is no session").to_string().contains("nothing can run in the background here"));
}

// promise background.own: A plugin reaches the programs that it started in this session, and no others.
#[tokio::test]
async fn process_of_another_session_or_plugin_is_not_there() {
    let (one, other) = (session(), session());
    one.start("sleep 1012").await.expect("it starts");
    for action in ["read", "wait", "stop"] {
        let answer = other.process(json!({"action": action, "id": "p1"})).await;
        assert!(answer.contains("nothing runs in the background as `p1`"), "{answer}");
    }
    assert_eq!(other.process(json!({"action": "list"})).await, "Nothing runs in the background\n");
    // The same component under another name is another plugin.
    let plugin = host_tests::built_in("shell");
    let name = host_capability::PluginName::new("acme/shell");
    let named =
        host_plugin::Plugin::new(name, plugin.component().expect("it is read").into_owned(), plugin.declared().clone());
    let bench = Bench::with(Arc::new(named), &["process=*"]);
    let background = Some(Arc::clone(&one.background));
    let invocation = Invocation { background, ..bench.invocation("process", json!({"action": "stop", "id": "p1"})) };
    let answer = bench.invoke(invocation).await.expect_err("it is not its own").to_string();
    assert!(answer.contains("nothing runs in the background as `p1`"), "{answer}");
    assert_eq!(one.background.running(), 1);
    let stopped = one.background.stop("p1").await.expect("it runs");
    assert_eq!(stopped.state, host_plugin::BackgroundState::Signalled(15));
    assert!(one.background.stop("p1").await.is_none() && one.background.stop("p2").await.is_none());
}

// promise background.bounded: The number of programs in the background and the output that is kept of each are limited,
//   and what is lost is counted.
#[tokio::test]
async fn process_that_floods_its_output_keeps_the_end_and_says_what_is_lost() {
    let session = session();
    let mut told = session.start("yes flood | head -c 50000000; echo the end").await.expect("it starts");
    let waited = session.process(json!({"action": "wait", "id": "p1", "seconds": 30})).await;
    assert!(waited.contains(": exit code 0"), "{waited:.300}");
    // On a quick machine it has printed all before the first call returns.
    told.push_str(&waited);
    assert!(told.contains("[cut: ") && told.contains("the end\n"), "{told:.300}");
    assert!(told.len() < 600_000, "{}", told.len());
    assert_eq!(session.background.list()[0].printed, 50_000_008);

    for _ in 0..8 {
        session.start("exec sleep 1013").await.expect("it starts");
    }
    let refused = session.start("exec sleep 1013").await.expect_err("there are too many");
    assert!(refused.contains("8 programs run in the background already"), "{refused}");
    session.background.clear();
    assert!(session.background.list().is_empty());
    session.start("true").await.expect("there is room again");
}

// promise background.ends: A program in the background ends with everything that it started, whatever it does to get
//   away.
#[tokio::test]
async fn process_that_forks_away_ends_with_its_session() {
    let script = "trap '' TERM HUP INT; sleep 1014 & echo $! > pids; setsid sleep 1015 & echo $! >> pids; \
                  (setsid sh -c 'trap \"\" TERM; echo $$ >> pids; exec sleep 1016' &); \
                  while [ $(wc -l < pids) -lt 3 ]; do :; done; touch ready; while :; do sleep 1; done";
    for stopped in [true, false] {
        let session = session();
        session.start(script).await.expect("it starts");
        eventually(|| session.bench.root().join("ready").exists()).await;
        let pids = session.bench.content("pids");
        assert!(pids.lines().count() == 3 && pids.lines().all(is_alive), "{pids}");
        if stopped {
            let stopped = session.process(json!({"action": "stop", "id": "p1"})).await;
            assert!(stopped.contains("signal 9"), "{stopped}");
        } else {
            drop(session.background);
        }
        eventually(|| !pids.lines().any(is_alive)).await;
    }
    // One whose first process ends takes the rest along.
    let session = session();
    session.start("setsid sleep 1017 & echo $! > pid; exit 0").await.expect("it starts");
    let waited = session.process(json!({"action": "wait", "id": "p1", "seconds": 30})).await;
    assert!(waited.contains("exit code 0") && !is_alive(&session.bench.content("pid")), "{waited}");
    assert_eq!(session.background.list()[0].state, BackgroundState::Exited(0));
}

#[tokio::test]
async fn process_wait_ends_when_the_call_has_to_stop() {
    let session = session();
    session.start("sleep 1018").await.expect("it starts");
    let invocation = session.invocation("process", json!({"action": "wait", "id": "p1", "seconds": 600}));
    let cancel = invocation.cancel.clone();
    let waiting = async {
        let (answer, ()) = tokio::join!(session.bench.invoke(invocation), async { cancel.cancel() });
        text(&answer.expect("it says how far it is"))
    };
    let answer = tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it does not wait");
    assert!(answer.contains(": running"), "{answer}");
}

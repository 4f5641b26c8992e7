//! What `shell` and `process` promise of commands on terminals.

use std::sync::Arc;
use std::time::{Duration, Instant};

use host_plugin::{BackgroundPrograms, CallError, Confirmation, Failure, Ground, Invocation};
use host_tests::{Bench, eventually, text};
use serde_json::{Value, json};

/// How long a test waits for something to be shown. A machine that is busy with other things is slow.
const LIMIT: Duration = Duration::from_secs(120);

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
    async fn start(&self, command: &str) -> String {
        let arguments = json!({"command": command, "tty": true});
        let shown = self.bench.preview("shell", arguments.clone()).await.expect("it has a preview");
        assert!(matches!(shown, Some(Confirmation::Exec { ground: Ground::Terminal, .. })), "{shown:?}");
        let invocation = Invocation { shown: shown.map(Arc::new), ..self.invocation("shell", arguments) };
        text(&self.bench.invoke(invocation).await.expect("it starts"))
    }

    async fn process(&self, arguments: Value) -> Result<String, CallError> {
        let mut invocation = self.invocation("process", arguments);
        // It needs nothing, and gets nothing.
        invocation.needs = host_capability::CapabilitySet::EMPTY;
        invocation.grants = Arc::new(host_capability::Grants::none());
        self.bench.invoke(invocation).await.map(|output| text(&output))
    }

    /// Types, and waits until this is shown; returns all that was shown until then.
    async fn types(&self, text: &str, keys: &[&str], shows: &str) -> String {
        let typed = json!({"action": "type", "id": "p1", "text": text, "keys": keys});
        let mut all = self.process(typed).await.expect("it is typed");
        let began = Instant::now();
        while !all.contains(shows) {
            assert!(began.elapsed() < LIMIT, "{shows:?} was not shown: {all}");
            all += &self.process(json!({"action": "wait", "id": "p1", "seconds": 1})).await.expect("it is read");
        }
        all
    }
}

// promise tty.driven: A program on a terminal is driven over several calls: what is typed reaches it, and each call
//   shows its screen.
#[tokio::test]
async fn tty_interpreter_is_driven_over_several_calls() {
    let session = session();
    let started = session.start("python3 -q -i").await;
    assert!(started.contains("It runs on a terminal as `p1`"), "{started}");
    session.types("a = 6\nprint(a * 7)\n", &[], "\n42\n").await;
    session.types("import os; print('size', *os.get_terminal_size(0))\n", &[], "size 100 30").await;
    session.process(json!({"action": "resize", "id": "p1", "columns": 60, "rows": 10})).await.expect("resized");
    session.types("print('size', *os.get_terminal_size(0))\n", &[], "size 60 10").await;
    let ended = session.types("", &["ctrl-d"], "exit code 0").await;
    assert!(ended.contains("Screen of 60 × 10"), "{ended}");
    let late = session.process(json!({"action": "type", "id": "p1", "text": "x"})).await.expect_err("it has ended");
    assert!(matches!(&late, CallError::Failure(Failure::Conflict(why)) if why.contains("`p1` has ended")), "{late:?}");
}

#[tokio::test]
async fn tty_git_asks_for_each_hunk_and_takes_the_answer() {
    let session = session();
    let git = "git -c user.name=a -c user.email=a@b.c";
    let repository =
        format!("git init -q . && {git} commit -q --allow-empty -m x && seq 5 > f && git add f && {git} commit -qm f");
    session.bench.text("shell", json!({"command": repository})).await;
    session.bench.file("f", "1\n2\nthree\n4\n5\n");
    let asked = session.start("git add -p").await;
    assert!(asked.contains("+three") || session.types("", &["enter"], "+three").await.contains("+three"), "{asked}");
    session.types("y\n", &[], "exit code 0").await;
    let staged = session.bench.text("shell", json!({"command": "git diff --cached"})).await;
    assert!(staged.contains("+three"), "{staged}");
}

#[tokio::test]
async fn tty_keys_reach_the_program_as_it_asked_for_them() {
    let session = session();
    session.start("stty -echo; echo ready; exec cat -v").await;
    session.types("a", &["up", "ctrl-left", "f5", "alt-x", "enter"], "a^[[A^[[1;5D^[[15~^[x").await;
    let interrupted = session.types("", &["ctrl-c"], "signal 2").await;
    assert!(interrupted.contains("a^[[A"), "{interrupted}");
    let unknown = session.process(json!({"action": "type", "id": "p1", "keys": ["hyper-x"]})).await;
    assert!(unknown.is_err(), "{unknown:?}");
}

/// Draws as programs with a whole screen do, and says which key it got.
const DRAWS: &str = r#"python3 -c '
import curses
def main(screen):
    curses.curs_set(0)
    screen.addstr(2, 10, "choose", curses.A_BOLD)
    while True:
        key = screen.getkey()
        if key == "q": break
        screen.addstr(4, 10, "got " + key)
curses.wrapper(main)'"#;

#[tokio::test]
async fn tty_program_that_draws_is_shown_as_its_screen() {
    let session = session();
    let started = session.start(DRAWS).await;
    let shown = if started.contains("choose") { started } else { session.types("x", &[], "choose").await };
    assert!(shown.contains("\n          choose\n") && !shown.contains('\u{1b}'), "{shown:?}");
    // It asked for the other form of the arrow keys.
    let shown = session.types("", &["down"], "got KEY_DOWN").await;
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    session.types("q", &[], "exit code 0").await;
}

// promise tty.ends
#[tokio::test]
async fn tty_program_ends_with_its_session_whatever_it_does() {
    let session = session();
    let script = "trap '' HUP TERM INT; echo $$ > pids; (setsid sh -c 'trap \"\" HUP TERM; echo $$ >> pids; exec sleep 1041' &); \
                  while [ $(wc -l < pids) -lt 2 ]; do :; done; touch ready; while :; do sleep 1; done";
    session.start(script).await;
    eventually(|| session.bench.root().join("ready").exists()).await;
    let pids = session.bench.content("pids");
    let is_alive =
        |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(pids.lines().count() == 2 && pids.lines().all(is_alive), "{pids}");
    drop(session.background);
    eventually(|| !pids.lines().any(is_alive)).await;
}

// promise tty.plan: A call that may only read types into no program.
#[tokio::test]
async fn tty_call_that_may_only_read_types_nothing() {
    let session = session();
    session.start("stty -echo; echo ready; exec cat").await;
    let typed = json!({"action": "type", "id": "p1", "text": "x\n"});
    let invocation = Invocation { may_type: false, ..session.invocation("process", typed) };
    let denied = session.bench.invoke(invocation).await.expect_err("it may not");
    assert!(
        matches!(&denied, CallError::Failure(Failure::Denied { wanted, .. }) if wanted == "typing into `p1`"),
        "{denied:?}"
    );
    // It may look.
    let read = json!({"action": "read", "id": "p1"});
    let invocation = Invocation { may_type: false, ..session.invocation("process", read) };
    assert!(text(&session.bench.invoke(invocation).await.expect("it may")).contains("p1 "));
    session.types("typed\n", &[], "\ntyped\n").await;
}

#[tokio::test]
async fn tty_is_had_only_if_the_preview_said_so_and_in_a_session() {
    let session = session();
    let arguments = json!({"command": "cat", "tty": true});
    for ground in [Ground::Call, Ground::Background] {
        let argv = ["sh", "-c", "cat"].map(str::to_owned).to_vec();
        let shown = Some(Arc::new(Confirmation::Exec { argv, directory: ".".to_owned(), input: None, ground }));
        let invocation = Invocation { shown, ..session.invocation("shell", arguments.clone()) };
        let error = session.bench.invoke(invocation).await.expect_err("it was not announced").to_string();
        assert!(error.contains("did not name that it goes on in a terminal"), "{error}");
    }
    let shown = session.bench.preview("shell", arguments.clone()).await.expect("it has one").map(Arc::new);
    let nowhere = session.bench.invoke(Invocation { shown, ..session.bench.invocation("shell", arguments) }).await;
    assert!(nowhere.expect_err("there is no session").to_string().contains("nothing can run in the background here"));
}

// promise tty.bounded: A program that reads nothing of what is typed, or prints without end, holds up no call for
//   longer than it may wait.
#[tokio::test]
async fn tty_program_that_does_not_read_or_prints_without_end_holds_up_no_call() {
    let session = session();
    // Raw, so that nothing is thrown away and the terminal fills up.
    session.start("stty raw -echo; echo ready; exec sleep 1042").await;
    let text = "x".repeat(16_000);
    let mut answers = Vec::new();
    for _ in 0..8 {
        answers.push(session.process(json!({"action": "type", "id": "p1", "text": text})).await);
        if answers.last().is_some_and(Result::is_err) {
            break;
        }
    }
    let busy = answers.pop().expect("typed").expect_err("it reads nothing").to_string();
    assert!(busy.contains("does not read what is typed"), "{busy}");
    session.start("yes flood").await;
    let read =
        session.process(json!({"action": "type", "id": "p2", "text": "", "keys": ["enter"], "seconds": 1})).await;
    let read = read.expect("it is shown after a second");
    assert!(read.contains("flood\n") && read.contains("Screen of 100 × 30"), "{read:.300}");
    assert!(read.len() < 300_000, "{}", read.len());
}

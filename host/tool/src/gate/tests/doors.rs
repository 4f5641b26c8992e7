//! Servers that a confined program wants to reach while it runs.

use super::*;
use crate::gate::questions::CallQuestions;
use crate::{About, CallAsker, ReachAnswer};

/// Asks whether a line may reach a server; returns the answer, and what each question named.
async fn reaches(gate: &Gate, line: &str, server: &str, answers: &[Answer]) -> (ReachAnswer, Vec<String>) {
    let (asked, _events) = mpsc::channel(8);
    let [call] = calls(&[("shell", json!({"command": line}))]).try_into().expect("one call");
    let questions = CallQuestions::new(gate.clone(), Arc::new(call), PausableClock::default(), 0, asked);
    let mut listener = gate.queue().listen();
    let seen = Mutex::new(Vec::new());
    let answering = async {
        let mut answers = answers.iter().cloned();
        loop {
            let Some(Notice::Asked { id, question }) = listener.next().await else { continue };
            let About::Reaching { program, servers, .. } = &question.about else { panic!("{question:?}") };
            let always: Vec<&str> = question.always.iter().map(|always| always.words.as_str()).collect();
            seen.lock().expect("no panic").push(format!("{program}: {}; {}", servers.join(" "), always.join("; ")));
            listener.answer(id, answers.next().expect("another answer")).expect("it is open");
        }
    };
    let argv = ["sh", "-c", line].map(str::to_owned);
    let answer = tokio::select! {
        answer = questions.may_reach(&argv, server, None) => answer,
        () = answering => unreachable!("it never ends"),
    };
    (answer, seen.into_inner().expect("no panic"))
}

fn crates() -> ReachAnswer {
    ReachAnswer::Allowed(["index.crates.io:443", "static.crates.io:443"].map(str::to_owned).into())
}

// promise confine.doors: A question about a server names it exactly, with all servers of a package manager at once; a
//   lasting answer is for this program in this folder, and lets no command run.
#[tokio::test]
async fn gate_server_of_a_package_manager_is_asked_about_with_all_of_its_servers() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let (answer, asked) =
        reaches(&gate, "cd x && cargo test | tail", "index.crates.io:443", &[Answer::ProceedOnce]).await;
    assert_eq!(answer, crates());
    let words = "`cargo` reaches index.crates.io, static.crates.io";
    assert_eq!(asked, [format!("cargo: index.crates.io:443 static.crates.io:443; {words}; {words}")]);
    // Once is once; for the session it is asked no more, of this program alone.
    let session = [for_session(Lasting::Always)];
    assert_eq!(reaches(&gate, "cargo test", "static.crates.io:443", &session).await.1.len(), 1);
    assert_eq!(reaches(&gate, "cargo build", "index.crates.io:443", &[]).await, (crates(), Vec::new()));
    let other = reaches(&gate, "curl https://index.crates.io", "index.crates.io:443", &[cancel(None)]).await;
    assert_eq!(other.1.len(), 1, "it is another program");
    assert!(matches!(other.0, ReachAnswer::Rejected(_)), "{other:?}");
    // A name that leads to a private network is another matter.
    let private = reaches(&gate, "cargo build", "index.crates.io:443 +private", &[cancel(None)]).await;
    assert_eq!(private.1.len(), 1);
    // The command itself is asked about as before.
    let permissions = gate.permissions();
    assert_eq!(permissions.len(), 1);
    assert!(permissions[0].words.contains("index.crates.io"), "{permissions:?}");
    assert!(gate.forget(&permissions[0]).expect("it is in no file"));
    assert_eq!(reaches(&gate, "cargo build", "index.crates.io:443", &[cancel(None)]).await.1.len(), 1);
}

#[tokio::test]
async fn gate_unknown_server_is_asked_about_alone_and_a_rule_opens_only_servers() {
    let queue = ApprovalQueue::new();
    let net = "[[rule]]\ntool = \"shell\"\ncommand = \"make\"\nnet = \"*.example.org\"\ndecision = \"allow\"\n";
    let gate = gate(rules(net), &queue);
    let (answer, asked) = reaches(&gate, "make", "evil.example:8443", &[cancel(None)]).await;
    assert_eq!(answer, ReachAnswer::Rejected(vec!["evil.example:8443".to_owned()]));
    assert_eq!(asked, ["make: evil.example:8443; `make` reaches evil.example:8443; `make` reaches evil.example:8443"]);
    let allowed = ReachAnswer::Allowed(vec!["a.example.org:443".to_owned()]);
    assert_eq!(reaches(&gate, "make all", "a.example.org:443", &[]).await, (allowed, Vec::new()));
    // Nobody listens.
    let (asked, _events) = mpsc::channel(8);
    let [call] = calls(&[("shell", json!({"command": "make"}))]).try_into().expect("one call");
    let questions = CallQuestions::new(gate.clone(), Arc::new(call), PausableClock::default(), 0, asked);
    let argv = ["make".to_owned()];
    assert_eq!(questions.may_reach(&argv, "evil.example:443", None).await, ReachAnswer::NotAsked);
}

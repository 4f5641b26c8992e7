//! Answers for the session, and what is taken back.

use super::*;

fn edit(path: &str) -> (&'static str, Value) {
    ("run", json!({ "path": path }))
}

/// The answers besides yes and no, as a user sees them.
fn shown(question: &Question) -> Vec<String> {
    let words = |always: &crate::Always| format!("{:?} {:?}: {}", always.until, always.answer, always.words);
    question.always.iter().map(words).collect()
}

// promise approval.session: An answer for the session holds for the same things as a lasting one, and is stored
//   nowhere.
#[tokio::test]
async fn gate_answer_for_the_session_covers_the_same_and_is_not_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = RulesFile::new(folder.path().join("answers.toml"));
    let queue = ApprovalQueue::new();
    let gate = keeping(rules(""), &queue, &file);
    let answers = [for_session(Lasting::Always), cancel(None)];
    let wanted = [command("cargo test"), command("cargo test --lib"), command("cargo publish")];
    let (settled, asked) = run(&gate, &queue, &wanted, &answers).await;
    assert_eq!(
        shown(&asked[0]),
        [
            "SessionEnds Always: commands that begin with `cargo test`",
            "TakenBack Always: commands that begin with `cargo test`",
        ]
    );
    let decided: Vec<_> = settled.iter().map(|settled| settled.decided).collect();
    assert_eq!(decided, [Some(Decided::Approved), Some(Decided::Allowed), Some(Decided::Rejected)]);
    assert!(!file.path().exists(), "it is stored nowhere");
    // Another process, and another conversation of this one, ask again.
    let second = keeping(rules(""), &queue, &file);
    second.inherit(&gate);
    let (_, asked) = run(&second, &queue, &[command("cargo test")], &[cancel(None)]).await;
    assert_eq!(asked.len(), 1);
    // The mode can change meanwhile.
    let (settled, asked) = run(&gate.in_mode(ApprovalMode::AutoEdit), &queue, &[command("cargo test")], &[]).await;
    assert_eq!((settled[0].decided, asked.len()), (Some(Decided::Allowed), 0));
}

#[tokio::test]
async fn gate_edits_for_the_session_are_those_of_the_tool_in_the_workspace() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let answers = [for_session(Lasting::AlwaysTool), cancel(None)];
    let (_, asked) = run(&gate, &queue, &[edit("a"), edit("b/c"), edit("/w2/a")], &answers).await;
    let first = ["SessionEnds AlwaysTool: all edits by `run`", "TakenBack Always: edits of `a`"];
    assert_eq!(shown(&asked[0])[..2], first);
    // A sibling of the workspace whose name begins alike is outside.
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(asked[1].touches.to_string(), "fs-write=/w2/a");
}

// promise approval.session
#[tokio::test]
async fn gate_answer_for_the_session_is_not_one_of_a_subagent() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    run(&gate, &queue, &[command("cargo test")], &[for_session(Lasting::Always)]).await;
    let of_subagent = gate.for_agent("helper", &AgentId::new("main/1"));
    let (_, asked) = run(&of_subagent, &queue, &[command("cargo test")], &[cancel(None)]).await;
    assert_eq!(asked.len(), 1, "a subagent is asked about itself");
}

#[tokio::test]
async fn gate_answer_that_was_not_offered_is_asked_for_again() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let answers = [
        for_session(Lasting::AlwaysPlugin),
        Answer::Switch { mode: ApprovalMode::Yolo },
        for_session(Lasting::Always),
        cancel(None),
    ];
    let (settled, asked) = run(&gate, &queue, &[command("rm x")], &answers).await;
    assert_eq!((settled[0].decided, asked.len()), (Some(Decided::Rejected), 4));
    assert!(asked[1..].iter().all(|question| question.objection.is_some()), "{asked:?}");
}

// promise approval.forgotten
#[tokio::test]
async fn gate_takes_back_what_answers_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = RulesFile::new(folder.path().join("answers.toml"));
    let queue = ApprovalQueue::new();
    let own = rules("[[rule]]\ntool = \"run\"\ncommand = \"make\"\ndecision = \"allow\"\n");
    let gate = keeping(own, &queue, &file);
    let answers = [for_session(Lasting::Always), always(Lasting::Always), for_session(Lasting::AlwaysTool)];
    run(&gate, &queue, &[command("cargo test"), command("git log"), edit("a")], &answers).await;
    let all = gate.permissions();
    let words: Vec<_> = all.iter().map(|one| (one.words.as_str(), one.until)).collect();
    assert_eq!(words.len(), 3, "a rule of the user's own is no answer: {words:?}");
    assert_eq!(words[0], ("`run`: commands that begin with `git log`", Until::TakenBack));
    assert!(words[1..].contains(&("`run`: commands that begin with `cargo test`", Until::SessionEnds)), "{words:?}");
    assert!(words[1..].contains(&("`run`: changes of files in /w", Until::SessionEnds)), "{words:?}");
    for one in &all {
        assert!(gate.forget(one).expect("the file can be written"), "{one:?}");
        assert!(!gate.forget(one).expect("the file can be written"), "{one:?}");
    }
    assert_eq!((gate.permissions(), std::fs::read_to_string(file.path()).expect("there").trim()), (Vec::new(), ""));
    let wanted = [command("make"), command("cargo test"), command("git log")];
    let once = [Answer::ProceedOnce, Answer::ProceedOnce];
    let (_, asked) = run(&gate, &queue, &wanted, &once).await;
    assert_eq!(asked.len(), 2, "the user's own rule stays");
}

#[test]
fn gate_permission_in_words_hides_nothing() {
    let text = |rule: &str| {
        let file = PolicyFile { tier: Tier::User, path: Some("answers.toml".into()) };
        let policy = Policy::new(Policy::parse(rule, file).expect("it is valid"));
        permissions_in(&policy, Path::new("answers.toml")).iter().map(|one| one.words.clone()).collect::<Vec<_>>()
    };
    for (rule, words) in [
        ("tool = \"shell\"\ncommand = \"git log\"", "`shell`: commands that begin with `git log`"),
        ("tool = \"shell\"\ncommand = \"./x.sh a\"", "`shell`: exactly `./x.sh a`"),
        ("tool = \"shell\"\ncommand = \"./x.sh *\"", "`shell`: commands that begin with `./x.sh`"),
        ("tool = \"edit\"\nscope = { fs-write = \"/w/a.txt\" }", "`edit`: changes of files in /w/a.txt"),
        (
            "tool = \"fetch\"\nscope = { http = \"GET a.io:443 -private\" }",
            "`fetch`: GET requests to `a.io:443`, never to private addresses",
        ),
        ("plugin = \"memory\"\nscope = { state = \"write\" }", "all tools of the plugin `memory`: its own notes"),
        ("tool = \"x\\u001b[2J\"\nscope = { state = \"write\" }", "`x\\u{1b}[2J`: its own notes"),
    ] {
        assert_eq!(text(&format!("[[rule]]\n{rule}\ndecision = \"allow\"\n")), [words], "{rule}");
    }
    assert!(text("[[rule]]\ntool = \"x\"\ndecision = \"deny\"\n").is_empty(), "only what is allowed");
}

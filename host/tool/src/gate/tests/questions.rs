//! Questions of running calls: reading outside of the workspace, and plans.

use std::path::PathBuf;

use host_plugin::AllowedFiles;

use super::*;
use crate::gate::questions::CallQuestions;
use crate::{About, CallAsker, NotAsked, PlanAnswer, ReadAnswer};

/// A folder with `dir/a`, `dir2/a`, a link `link` to `dir`, one `nowhere` that leads nowhere, and a secret.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    queue: ApprovalQueue,
    gate: Gate,
    reads: AllowedFiles,
}

fn place(policy: Policy) -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let root = std::fs::canonicalize(folder.path()).expect("there");
    for name in ["dir", "dir2", ".ssh"] {
        std::fs::create_dir(root.join(name)).expect("made");
        std::fs::write(root.join(name).join("a"), "").expect("written");
    }
    for (link, target) in [("link", "dir"), ("nowhere", "missing")] {
        std::os::unix::fs::symlink(root.join(target), root.join(link)).expect("linked");
    }
    let askable = Scope::parse(Capability::FsRead, "*,!.ssh", Path::new("/")).expect("a scope");
    let (queue, reads) = (ApprovalQueue::new(), AllowedFiles::new(askable, Vec::new()));
    let access = CurrentAccess::new(Access { reads: reads.clone(), ..Access::default() });
    let gate = Gate::new(GateOptions { access, ..options(policy, &queue) });
    Place { _folder: folder, root, queue, gate, reads }
}

impl Place {
    fn questions(&self, gate: &Gate) -> (CallQuestions, mpsc::Receiver<(usize, Arc<Question>)>) {
        let (asked, receiver) = mpsc::channel(8);
        let [call] = calls(&[("look", json!({"path": "x"}))]).try_into().expect("one call");
        (CallQuestions::new(gate.clone(), Arc::new(call), PausableClock::default(), 0, asked), receiver)
    }

    /// Asks about a path of the place; returns the answer and the words of the questions.
    async fn reads(&self, gate: &Gate, path: &str, answers: &[Answer]) -> (ReadAnswer, Vec<Vec<String>>) {
        let (questions, _events) = self.questions(gate);
        let mut listener = self.queue.listen();
        let asked = Mutex::new(Vec::new());
        let answering = async {
            let mut answers = answers.iter().cloned();
            loop {
                let Some(Notice::Asked { id, question }) = listener.next().await else { continue };
                let About::Reading { path } = &question.about else { panic!("{question:?}") };
                let words = question.always.iter().map(|always| always.words.replace(&self.shown(), "ROOT"));
                let path = path.display().to_string().replace(&self.shown(), "ROOT");
                asked.lock().expect("no panic").push(std::iter::once(path).chain(words).collect());
                listener.answer(id, answers.next().expect("another answer")).expect("it is open");
            }
        };
        let path = self.root.join(path);
        let answer = tokio::select! {
            answer = questions.may_read(&path, None) => answer,
            () = answering => unreachable!("it never ends"),
        };
        (answer, asked.into_inner().expect("no panic"))
    }

    fn shown(&self) -> String {
        self.root.display().to_string()
    }
}

// promise reading.asked: Reading outside of the workspace is asked about, with the path.
#[tokio::test]
async fn gate_reading_outside_is_asked_about_once_or_for_the_folder() {
    let place = place(rules(""));
    let (answer, asked) = place.reads(&place.gate, "dir/a", &[Answer::ProceedOnce]).await;
    assert!(matches!(&answer, ReadAnswer::Once(scope) if scope.to_string().starts_with(&place.shown())), "{answer:?}");
    assert_eq!(asked, [["ROOT/dir/a", "reading anything in `ROOT/dir`"]]);
    assert!(place.reads.allowed().is_empty(), "once is once");
    let (answer, _) = place.reads(&place.gate, "dir/a", &[for_session(Lasting::Always)]).await;
    assert_eq!((answer, place.reads.allowed()), (ReadAnswer::ForSession, vec![place.root.join("dir")]));
    // The folder is covered, and its sibling is not.
    assert_eq!(place.reads(&place.gate, "dir/a", &[]).await, (ReadAnswer::ForSession, Vec::new()));
    let (answer, asked) = place.reads(&place.gate, "dir2/a", &[cancel(Some(" use dir \n"))]).await;
    assert_eq!(answer, ReadAnswer::Rejected("the user rejected this call: use dir".to_owned()));
    assert_eq!(asked.len(), 1);
    let all = place.gate.permissions();
    assert_eq!(
        all.iter().map(|one| one.words.clone()).collect::<Vec<_>>(),
        [format!("reading `{}/dir`", place.shown())]
    );
    assert!(place.gate.forget(&all[0]).expect("it is in no file") && place.reads.allowed().is_empty());
}

// promise reading.asked
#[tokio::test]
async fn gate_reading_is_not_asked_about_where_no_answer_may_allow_it() {
    let denies = "[[rule]]\ntool = \"look\"\ncapability = \"fs-read\"\ndecision = \"deny\"\n";
    let (open, denied) = (place(rules("")), place(rules(denies)));
    let of_subagent = open.gate.for_agent("helper", &AgentId::new("main/1"));
    for (place, gate, path, why) in [
        (&open, &open.gate, ".ssh/a", NotAsked::Secret),
        (&open, &open.gate, ".ssh", NotAsked::Secret),
        (&open, &open.gate, "link/a", NotAsked::Link),
        (&open, &open.gate, "link", NotAsked::Link),
        (&open, &open.gate, "link/none", NotAsked::Link),
        (&open, &open.gate, "link/none/none", NotAsked::Link),
        (&open, &open.gate, "nowhere", NotAsked::Denied),
        (&open, &open.gate, "nowhere/none", NotAsked::Denied),
        (&open, &open.gate, "dir/a/none", NotAsked::Denied),
        (&denied, &denied.gate, "none", NotAsked::Denied),
        (&open, &of_subagent, "dir/a", NotAsked::Subagent),
        (&denied, &denied.gate, "dir/a", NotAsked::Denied),
    ] {
        assert_eq!(place.reads(gate, path, &[]).await, (ReadAnswer::NotAsked(why), Vec::new()), "{path}");
    }
    for (path, answer) in [("none", ReadAnswer::Absent), ("dir/none/none", ReadAnswer::Absent)] {
        assert_eq!(open.reads(&open.gate, path, &[]).await, (answer, Vec::new()), "{path}");
    }
    // Where nobody can be asked, the answer does not show whether something is there.
    let (questions, _events) = open.questions(&open.gate);
    for path in ["dir/a", "none", "link/a", "nowhere"] {
        let unasked = questions.may_read(&open.root.join(path), None).await;
        assert_eq!(unasked, ReadAnswer::NotAsked(NotAsked::NobodyListens), "{path}");
    }
}

#[tokio::test]
async fn gate_rule_that_allows_a_tool_does_not_answer_about_reading_elsewhere() {
    let place = place(rules("[[rule]]\ntool = \"look\"\ndecision = \"allow\"\n"));
    // What is not offered is not an answer.
    let answers = [
        always(Lasting::Always),
        for_session(Lasting::AlwaysTool),
        Answer::Switch { mode: ApprovalMode::Yolo },
        Answer::Modify { text: "/".to_owned() },
        cancel(None),
    ];
    let (answer, asked) = place.reads(&place.gate, "dir/a", &answers).await;
    assert_eq!((answer, asked.len()), (ReadAnswer::Rejected("the user rejected this call".to_owned()), 5));
    assert!(place.reads.allowed().is_empty());
}

// promise reading.asked
#[tokio::test]
async fn gate_calls_side_by_side_ask_one_after_the_other_and_share_the_answer() {
    let place = place(rules(""));
    let (first, _events) = place.questions(&place.gate);
    let (second, _other_events) = place.questions(&place.gate);
    let mut listener = place.queue.listen();
    let path = place.root.join("dir/a");
    let answering = async {
        let Some(Notice::Asked { id, .. }) = listener.next().await else { panic!("it is asked about") };
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(listener.next().now_or_never().is_none(), "the second one waits");
        listener.answer(id, for_session(Lasting::Always)).expect("it is open");
    };
    let (first, second, ()) = tokio::join!(first.may_read(&path, None), second.may_read(&path, None), answering);
    assert_eq!((first, second), (ReadAnswer::ForSession, ReadAnswer::ForSession));
}

#[tokio::test]
async fn gate_plan_is_approved_in_one_of_its_modes_or_not_at_all() {
    let place = place(rules(""));
    let modes = [ApprovalMode::Default, ApprovalMode::AutoEdit];
    let ask = async |answers: Vec<Answer>| {
        let (questions, mut events) = place.questions(&place.gate);
        let mut listener = place.queue.listen();
        let answering = async {
            for answer in answers {
                let Some(Notice::Asked { id, question }) = listener.next().await else { panic!("it is asked about") };
                assert!(matches!(&question.about, About::Plan { text, .. } if text == "1. fly"), "{question:?}");
                listener.answer(id, answer).expect("it is open");
                while !matches!(listener.next().await, Some(Notice::Answered { .. })) {}
            }
        };
        let (answer, ()) = tokio::join!(questions.present_plan("1. fly".to_owned(), modes.to_vec()), answering);
        assert_eq!(events.recv().await.expect("it is reported").1.kind(), "plan");
        answer
    };
    assert_eq!(
        ask(vec![Answer::Switch { mode: ApprovalMode::AutoEdit }]).await,
        PlanAnswer::Approved(ApprovalMode::AutoEdit)
    );
    assert_eq!(ask(vec![cancel(Some("  no tests  "))]).await, PlanAnswer::Rejected(Some("no tests".to_owned())));
    assert_eq!(ask(vec![cancel(Some(" "))]).await, PlanAnswer::Rejected(None));
    // Neither a plain yes nor another mode is an approval.
    let others = vec![Answer::ProceedOnce, Answer::Switch { mode: ApprovalMode::Yolo }, cancel(None)];
    assert_eq!(ask(others).await, PlanAnswer::Rejected(None));
}

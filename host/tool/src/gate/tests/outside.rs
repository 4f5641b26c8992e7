//! Calls that change files outside of the workspace.

use std::path::PathBuf;

use host_plugin::AllowedFiles;
use host_text::Wording;

use super::*;
use crate::{About, OutsideRead};

/// Changes the file at `path`. Of one outside of the workspace its preview needs the content, or to know that there is
/// none.
struct Editor {
    spec: ToolSpec,
    access: CurrentAccess,
}

impl Tool for Editor {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        let crate::Allowance { besides, absent, .. } = context.allowance.as_ref();
        let text = format!("with {besides}, without {absent:?}");
        async move { Outcome::Success(Output::text(text)) }.boxed()
    }

    fn origin(&self) -> Option<Origin> {
        Some(Origin { plugin: PluginName::new("fake"), digest: "d1".to_owned() })
    }

    fn intent<'a>(&'a self, call: &'a FunctionCall, looking: Looking) -> IntentFuture<'a> {
        let path = PathBuf::from(call.arguments["path"].as_str().expect("a path"));
        let (plugin, access, outside) = (PluginName::new("fake"), self.access.now(), looking.outside);
        let write = Scope::for_file(Capability::FsWrite, &path).expect("a scope");
        let touches = Grants::none().with(write);
        let (at_most, origin) = (Grants::none().with(scope(Capability::FsWrite, "*")), self.origin());
        let intent = Intent { touches, at_most, origin, outside, ..Intent::default() };
        let readable = access.reads.grants().join(&intent.outside.readable);
        let is_absent = intent.outside.absent.contains(&path);
        let intent = match readable.permit_read(&plugin, &path) {
            Err(denied) if !is_absent => {
                let first = OutsideRead { path, denied, wording: Wording::default() };
                Intent { reads_first: Some(first), ..intent }
            }
            Ok(_) | Err(_) => {
                let (name, unified, proposed) = (path.display().to_string(), String::new(), String::new());
                let confirmation = Some(Confirmation::Edit { path: name, unified, proposed });
                let granted = access.writes.grants();
                // Without what the session's grants deny, as a plugin's calls have it.
                let touches = match granted.permit_write(&plugin, &path) {
                    Ok(_) => intent.touches.meet(&granted),
                    Err(_) => intent.touches.clone(),
                };
                Intent { confirmation, touches, granted, changes_outside: vec![path], ..intent }
            }
        };
        async move { Ok(intent) }.boxed()
    }
}

/// A workspace `work` beside folders: `dir` with `a` and `b`, `dir2` with `a`.
struct Place {
    _folder: tempfile::TempDir,
    root: String,
    queue: ApprovalQueue,
    gate: Gate,
    tools: Registry,
}

fn place(policy: &str) -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let root = std::fs::canonicalize(folder.path()).expect("there");
    std::fs::create_dir(root.join("work")).expect("made");
    for name in ["dir/a", "dir/b", "dir2/a", "c"] {
        std::fs::create_dir_all(root.join(name).parent().expect("a folder")).expect("made");
        std::fs::write(root.join(name), "").expect("written");
    }
    let all = |capability| Scope::parse(capability, "*,!.ssh", Path::new("/")).expect("a scope");
    let reads = AllowedFiles::new(all(Capability::FsRead), Vec::new());
    let writes = AllowedFiles::new(all(Capability::FsWrite), vec![root.join("work")]);
    let access = CurrentAccess::new(Access { reads, writes, ..Access::default() });
    let (queue, root) = (ApprovalQueue::new(), root.display().to_string());
    let gate = Gate::new(GateOptions {
        access: access.clone(),
        workspace: format!("{root}/work").into(),
        ..options(rules(&policy.replace("ROOT", &root)), &queue)
    });
    let mut tools = Registry::new();
    let spec = tools_spec("run");
    tools.register(Arc::new(Editor { spec, access })).expect("it is the first");
    Place { _folder: folder, root, queue, gate, tools }
}

fn tools_spec(name: &str) -> ToolSpec {
    fake(name, false, "d1").spec().clone()
}

impl Place {
    /// Calls the tool with each path; returns the outcomes, and for each question what it is about with the answers
    /// that it offers.
    async fn changes(&self, gate: &Gate, paths: &[&str], answers: &[Answer]) -> (Vec<String>, Vec<String>) {
        let wanted: Vec<(&str, Value)> =
            paths.iter().map(|path| ("run", json!({"path": format!("{}/{path}", self.root)}))).collect();
        let (settled, asked) = run_of(&self.tools, gate, &self.queue, &wanted, answers).await;
        let shown = |question: &Question| {
            let about = match &question.about {
                About::Reading { path } => format!("read {}", path.display()),
                _ => question.reasons.join("; "),
            };
            let offers = question.always.iter().map(|always| format!(" | {:?} {}", always.until, always.words));
            std::iter::once(about).chain(offers).collect::<String>().replace(&self.root, "ROOT")
        };
        // What a grant denies is not what these tests are about.
        let allowed =
            |words: &str| words.split(' ').filter_map(|word| word.split(",!").next()).collect::<Vec<_>>().join(" ");
        let outcomes = words(&settled).into_iter().map(|words| allowed(&words).replace(&self.root, "ROOT"));
        (outcomes.collect(), asked.iter().map(shown).collect())
    }
}

const READ_A: &str = "read ROOT/dir/a | SessionEnds reading anything in `ROOT/dir`";
const CHANGE_A: &str = "it changes `ROOT/dir/a`, outside of the workspace | SessionEnds reading and changing \
                        anything in `ROOT/dir`";

// promise writing.asked: Changing a file outside of the workspace is asked about in every mode, with the file and the
//   change; what the change rests on is not read before that was asked about, too.
#[tokio::test]
async fn gate_writing_outside_is_asked_about_in_every_mode_once_it_may_be_read() {
    let place = place("");
    for mode in [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Auto, ApprovalMode::Yolo] {
        let gate = place.gate.in_mode(mode);
        let once = [Answer::ProceedOnce, Answer::ProceedOnce];
        let (outcomes, asked) = place.changes(&gate, &["dir/a"], &once).await;
        assert_eq!(asked, [READ_A, CHANGE_A], "{mode}");
        assert_eq!(outcomes, ["Approved with fs-read=ROOT/dir/a fs-write=ROOT/dir/a without []"], "{mode}");
        // What is made is not read.
        let (outcomes, asked) = place.changes(&gate, &["dir/new"], &once[..1]).await;
        assert_eq!(asked, [CHANGE_A.replace("dir/a", "dir/new")], "{mode}");
        assert_eq!(outcomes, ["Approved with fs-write=ROOT/dir/new without [\"ROOT/dir/new\"]"], "{mode}");
        // A no about either ends the calls behind it.
        let (outcomes, asked) = place.changes(&gate, &["dir/a", "dir/b"], &[cancel(None)]).await;
        let rejected = "Rejected cancelled: the user rejected this call";
        assert_eq!((outcomes[0].as_str(), asked.len(), outcomes.len()), (rejected, 1, 2), "{mode}");
        let (outcomes, _) = place.changes(&gate, &["dir/a"], &[Answer::ProceedOnce, cancel(None)]).await;
        assert_eq!(outcomes, [rejected], "{mode}");
    }
}

// promise writing.folder: An answer about a folder lets calls that name the files change what is beneath it until the
//   session ends, and no other folder; the workspace, and a folder that it is in, is in no such answer.
#[tokio::test]
async fn gate_answer_about_writing_outside_covers_a_folder_and_is_taken_back() {
    let place = place("");
    let answers = [for_session(Lasting::Always), for_session(Lasting::Always)];
    let (outcomes, asked) = place.changes(&place.gate, &["dir/a", "dir/b", "dir/new"], &answers).await;
    assert_eq!(asked, [READ_A, CHANGE_A]);
    assert!(outcomes[1].starts_with("Allowed with fs-write=ROOT/dir/b"), "{outcomes:?}");
    assert!(outcomes[2].starts_with("Allowed with fs-write=ROOT/dir/new"), "{outcomes:?}");
    let (_, asked) = place.changes(&place.gate, &["dir2/a"], &[cancel(None)]).await;
    assert_eq!(asked.len(), 1);
    let (_, asked) = place.changes(&place.gate, &["dir2/new"], &[cancel(None)]).await;
    assert_eq!(asked.len(), 1);
    let all = place.gate.permissions();
    let words: Vec<String> = all.iter().map(|one| one.words.replace(&place.root, "ROOT")).collect();
    assert_eq!(words, ["reading and changing `ROOT/dir`"]);
    assert!(place.gate.forget(&all[0]).expect("it is in no file") && place.gate.permissions().is_empty());
    let (_, asked) = place.changes(&place.gate, &["dir/a"], &[cancel(None)]).await;
    assert_eq!(asked, [READ_A]);
    // The folder of this one has the workspace in it; an answer that was not offered is none.
    let answers = [Answer::ProceedOnce, for_session(Lasting::Always), always(Lasting::Always), Answer::ProceedOnce];
    let (outcomes, asked) = place.changes(&place.gate, &["c"], &answers).await;
    assert_eq!(asked[1], "it changes `ROOT/c`, outside of the workspace");
    assert_eq!((asked.len(), outcomes[0].starts_with("Approved")), (4, true), "{asked:?}");
    assert!(place.gate.permissions().is_empty());
}

#[tokio::test]
async fn gate_rule_answers_about_writing_outside_only_if_its_scope_names_the_file() {
    let scoped = "[[rule]]\ntool = \"run\"\ndecision = \"allow\"\nscope = { fs-write = \"ROOT/dir\" }\n";
    for (policy, path, questions) in [
        ("[[rule]]\ntool = \"run\"\ndecision = \"allow\"\n", "dir/new", 1),
        ("[[rule]]\ndecision = \"allow\"\n", "dir/new", 1),
        (scoped, "dir/new", 0),
        (scoped, "dir2/new", 1),
        ("[[rule]]\ntool = \"run\"\ndecision = \"deny\"\n", "dir/new", 0),
        ("[[rule]]\ntool = \"run\"\ndecision = \"deny\"\n", "dir/a", 0),
        ("[[rule]]\ncapability = \"fs-write\"\ndecision = \"deny\"\n", "dir/a", 0),
    ] {
        let place = place(policy);
        let (outcomes, asked) = place.changes(&place.gate, &[path], &vec![cancel(None); questions]).await;
        assert_eq!(asked.len(), questions, "{policy} {path}: {outcomes:?}");
        assert_eq!(outcomes[0].starts_with("Allowed"), policy == scoped && path == "dir/new", "{outcomes:?}");
    }
}

// promise writing.asked
#[tokio::test]
async fn gate_writing_outside_is_refused_where_nobody_can_be_asked() {
    let place = place("");
    let of_subagent = place.gate.for_agent("helper", &AgentId::new("main/1"));
    let (outcomes, asked) = place.changes(&of_subagent, &["dir/a", "dir/new"], &[]).await;
    assert!(asked.is_empty() && outcomes.iter().all(|words| words.contains("A subagent cannot ask")), "{outcomes:?}");
    // Without a listener; what is there makes no difference.
    let call = |path: &str| calls(&[("run", json!({"path": format!("{}/{path}", place.root)}))]);
    let cancel = Cancel::under(&CancellationToken::new());
    for path in ["dir/a", "dir/new"] {
        let scheduler = Scheduler::new(&place.tools).with_gate(Some(&place.gate));
        let settled = scheduler.run(call(path), &cancel, &|_| ControlFlow::Continue(())).await;
        let words = words(&settled).remove(0).replace(&place.root, "ROOT");
        let expected = format!("`fake` has no fs-read grant for `ROOT/{path}`");
        assert!(words.contains(&expected) && words.contains("--add-dir ROOT/dir"), "{words}");
    }
}

// promise hooks.deny
#[tokio::test]
async fn gate_hook_denies_writing_outside_before_anything_is_asked_about_it() {
    let place = place("");
    let gate = place.gate.with_hooks(Some(super::hooks::denying()));
    let (outcomes, asked) = place.changes(&gate, &["dir/a", "dir/new"], &[]).await;
    assert!(asked.is_empty() && outcomes.iter().all(|words| words.contains("the hook `h` denied it")), "{outcomes:?}");
}

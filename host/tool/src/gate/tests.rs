use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_capability::{Authority, Capability, Grants, PluginName, Scope};
use host_message::{Annotations, CallId, Output, ToolName, ToolSpec};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::*;
use crate::tool::{IntentFuture, ReviseFuture};
use crate::{
    CallChange, CallContext, CallEvent, Cancel, Lasting, Listener, Notice, Origin, Outcome, PolicyFile, Scheduler,
    SettledCall, Tier,
};

mod doors;
mod hooks;
mod outside;
mod permissions;
mod questions;
mod switching;

/// Every question about a command says it here: these gates have no walls.
const OFF: &str = "confinement is off: the command runs with all your rights";

const WORKSPACE: &str = "/w";

/// The servers that the plugin requests, as `web_fetch` does.
const EVERY_SERVER: &str = "GET+HEAD *:* +private";

/// Runs `command`, writes `path`, sends a GET request to `host` and one to `besides`, sends requests that it does not
/// name if it is `vague`, or touches nothing, according to its arguments; returns what it was granted.
struct Fake {
    spec: ToolSpec,
    digest: &'static str,
}

fn scope(capability: Capability, text: &str) -> Scope {
    Scope::parse(capability, text, Path::new(WORKSPACE)).expect("a scope")
}

fn granted() -> Grants {
    Grants::none().with(scope(Capability::Process, "git status"))
}

impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        let text = format!("{} with {}", Value::Object(call.arguments.clone()), context.allowance.besides);
        async move { Outcome::Success(Output::text(text)) }.boxed()
    }

    fn origin(&self) -> Option<Origin> {
        Some(Origin { plugin: PluginName::new("fake"), digest: self.digest.to_owned() })
    }

    fn intent<'a>(&'a self, call: &'a FunctionCall, _: Looking) -> IntentFuture<'a> {
        let text = |key: &str| call.arguments.get(key).and_then(Value::as_str).map(str::to_owned);
        let (confirmation, touches) = match (text("command"), text("path")) {
            (Some(line), _) => {
                let argv = vec!["sh".to_owned(), "-c".to_owned(), line];
                let touches = Grants::none().with(Scope::for_command(&argv).expect("it has a program"));
                let directory = text("directory").unwrap_or_else(|| ".".to_owned());
                let ground = if call.arguments.contains_key("tty") { Ground::Terminal } else { Ground::Call };
                (Confirmation::Exec { argv, directory, input: None, ground }, touches)
            }
            (None, Some(path)) => {
                let touches = Grants::none().with(scope(Capability::FsWrite, &path));
                (Confirmation::Edit { path, unified: String::new(), proposed: String::new() }, touches)
            }
            (None, None) if call.arguments.contains_key("vague") => {
                (Confirmation::Call, Grants::none().with(scope(Capability::Http, EVERY_SERVER)))
            }
            (None, None) => {
                let hosts: Vec<String> = [text("host"), text("besides")].into_iter().flatten().collect();
                if hosts.is_empty() {
                    return async { Ok(Intent { origin: self.origin(), ..Intent::default() }) }.boxed();
                }
                let request = |host: &String| {
                    let server = Authority::new(host, 443).expect("a host");
                    Scope::for_request("GET", &server).expect("GET is a method")
                };
                let touches = hosts.iter().map(request).collect();
                let requests = hosts.iter().map(|host| ("GET".to_owned(), format!("https://{host}/"))).collect();
                (Confirmation::Info { text: String::new(), requests, writes: Vec::new() }, touches)
            }
        };
        let at_most = Grants::none()
            .with(scope(Capability::Process, "*"))
            .with(scope(Capability::FsWrite, "*"))
            .with(scope(Capability::Http, EVERY_SERVER));
        let (confirmation, origin) = (Some(confirmation), self.origin());
        let refusal = Some("`fake` has no grant for it".to_owned());
        async move {
            Ok(Intent { confirmation, touches, granted: granted(), at_most, origin, refusal, ..Intent::default() })
        }
        .boxed()
    }

    fn revise<'a>(&'a self, call: &'a FunctionCall, text: &'a str, _: Looking) -> ReviseFuture<'a> {
        let key = if call.arguments.contains_key("command") { "command" } else { "path" };
        let value = if text == "seven" { json!(7) } else { json!(text) };
        async move { Ok(Map::from_iter([(key.to_owned(), value)])) }.boxed()
    }
}

fn fake(name: &str, read_only: bool, digest: &'static str) -> Arc<dyn Tool> {
    let spec = ToolSpec {
        name: ToolName::new(name),
        title: None,
        description: String::new(),
        input_schema: json!({
            "type": "object",
            "properties": {"command": {"type": "string"}, "path": {"type": "string"}},
        })
        .into(),
        output_schema: None,
        annotations: Annotations { read_only, ..Annotations::default() },
    };
    Arc::new(Fake { spec, digest })
}

fn tools() -> Registry {
    let mut registry = Registry::new();
    for (name, read_only) in [("run", false), ("look", true)] {
        registry.register(fake(name, read_only, "d1")).expect("the names differ");
    }
    registry
}

fn rules(toml: &str) -> Policy {
    let file = PolicyFile { tier: Tier::User, path: None };
    Policy::new(Policy::parse(toml, file).unwrap_or_else(|error| panic!("{error}")))
}

fn gate(policy: Policy, queue: &ApprovalQueue) -> Gate {
    Gate::new(options(policy, queue))
}

fn options(policy: Policy, queue: &ApprovalQueue) -> GateOptions {
    GateOptions {
        policy,
        queue: queue.clone(),
        mode: ApprovalMode::Default,
        workspace: WORKSPACE.into(),
        kept: None,
        definitions: None,
        access: CurrentAccess::default(),
    }
}

/// A gate that stores lasting answers in this file.
fn keeping(policy: Policy, queue: &ApprovalQueue, file: &RulesFile) -> Gate {
    Gate::new(GateOptions { kept: Some(file.clone()), ..options(policy, queue) })
}

fn calls(calls: &[(&str, Value)]) -> Vec<FunctionCall> {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| {
        FunctionCall::new(
            CallId::new(at.to_string()),
            ToolName::new(*name),
            arguments.as_object().expect("an object").clone(),
        )
    };
    calls.iter().enumerate().map(call).collect()
}

fn command(line: &str) -> (&'static str, Value) {
    ("run", json!({ "command": line }))
}

/// Records what a call may do.
struct Telling(Arc<dyn Tool>, Arc<Mutex<Vec<Arc<crate::Allowance>>>>);

impl Tool for Telling {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        self.1.lock().expect("no test panics with it").push(Arc::clone(&context.allowance));
        self.0.call(call, context)
    }

    fn intent<'a>(&'a self, call: &'a FunctionCall, looking: Looking) -> IntentFuture<'a> {
        self.0.intent(call, looking)
    }
}

#[tokio::test]
async fn gate_limits_a_call_to_what_its_preview_named_whatever_allowed_it() {
    let queue = ApprovalQueue::new();
    let allowances = Arc::new(Mutex::new(Vec::new()));
    let mut registry = Registry::new();
    registry.register(Arc::new(Telling(fake("run", false, "d1"), Arc::clone(&allowances)))).expect("it is the first");
    // By a grant, by a rule, and in the mode that never asks.
    let cases = [
        ("git status", Policy::new([]), ApprovalMode::Default),
        ("make", rules("[[rule]]\ndecision = \"allow\""), ApprovalMode::Default),
        ("make", rules("[[rule]]\ndecision = \"allow\""), ApprovalMode::Yolo),
    ];
    for (line, policy, mode) in cases {
        let gate = gate(policy, &queue).in_mode(mode);
        let scheduler = Scheduler::new(&registry).with_gate(Some(&gate));
        scheduler
            .run(calls(&[command(line)]), &Cancel::under(&CancellationToken::new()), &|_| ControlFlow::Continue(()))
            .await;
        let allowances = std::mem::take(&mut *allowances.lock().expect("no test panics with it"));
        let shown: Vec<_> = allowances.iter().map(|allowance| allowance.shown.as_deref().cloned()).collect();
        let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
        assert_eq!(
            shown,
            [Some(Confirmation::Exec { argv, directory: ".".to_owned(), input: None, ground: Ground::Call })],
            "{line}"
        );
    }
}

/// Runs calls, and answers each question with the next answer.
async fn run(
    gate: &Gate,
    queue: &ApprovalQueue,
    wanted: &[(&str, Value)],
    answers: &[Answer],
) -> (Vec<SettledCall>, Vec<Question>) {
    run_of(&tools(), gate, queue, wanted, answers).await
}

/// The same with these tools.
async fn run_of(
    registry: &Registry,
    gate: &Gate,
    queue: &ApprovalQueue,
    wanted: &[(&str, Value)],
    answers: &[Answer],
) -> (Vec<SettledCall>, Vec<Question>) {
    let mut listener = queue.listen();
    let asked = Mutex::new(Vec::new());
    let answering = async {
        let mut answers: VecDeque<_> = answers.iter().cloned().collect();
        loop {
            let Some(Notice::Asked { id, question }) = listener.next().await else { continue };
            asked.lock().expect("no test panics with it").push(question.as_ref().clone());
            let answer = answers.pop_front().unwrap_or_else(|| panic!("not expected: {question:?}"));
            listener.answer(id, answer).expect("it is open");
        }
    };
    let cancel = Cancel::under(&CancellationToken::new());
    let observe = |_: CallEvent<'_>| ControlFlow::Continue(());
    let running = Scheduler::new(registry).with_gate(Some(gate)).run(calls(wanted), &cancel, &observe);
    let settled = tokio::select! {
        settled = running => settled,
        () = answering => unreachable!("it never ends"),
    };
    (settled, asked.into_inner().expect("no test panics with it"))
}

/// Returns the outcome of each call, in a few words.
fn words(settled: &[SettledCall]) -> Vec<String> {
    let word = |settled: &SettledCall| {
        let text = match &settled.outcome {
            Outcome::Success(output) => match output.content.first() {
                Some(host_message::OutputPart::Text(text)) => text.clone(),
                other => panic!("{other:?}"),
            },
            Outcome::Error(failure) => format!("{:?}: {}", failure.kind, failure.message),
            Outcome::Cancelled { reason, .. } => format!("cancelled: {reason}"),
        };
        format!("{:?} {text}", settled.decided).replace("Some(", "").replacen(')', "", 1)
    };
    settled.iter().map(word).collect()
}

fn cancel(reason: Option<&str>) -> Answer {
    Answer::Cancel { reason: reason.map(str::to_owned) }
}

fn always(lasting: Lasting) -> Answer {
    Answer::Proceed { lasting, until: Until::TakenBack }
}

fn for_session(lasting: Lasting) -> Answer {
    Answer::Proceed { lasting, until: Until::SessionEnds }
}

#[test]
fn gate_decides_about_a_command_on_a_thread_that_may_wait_for_a_disk() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(async {
        // The only thread that may block is busy, so that the decision waits for it, and nothing else does.
        let (free, is_free) = std::sync::mpsc::channel();
        let busy = tokio::task::spawn_blocking(move || is_free.recv());
        let gate = gate(rules(""), &ApprovalQueue::new());
        let (tool, call, token) = (fake("run", false, "d1"), calls(&[command("git status")]), CancellationToken::new());
        let mut explained = std::pin::pin!(gate.explain(&call[0], &tool, &token));
        for _ in 0..10 {
            assert!(explained.as_mut().now_or_never().is_none(), "it was decided on the thread of all calls");
            tokio::task::yield_now().await;
        }
        free.send(()).expect("the thread waits for it");
        let (_, verdict) = explained.await.expect("the call can run");
        assert_eq!(verdict.decision, Decision::Allow);
        busy.await.expect("it ends").expect("it was freed");
    });
}

// promise approval.exact
#[tokio::test]
async fn gate_granted_call_runs_and_an_ungranted_one_is_asked_about_once() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let wanted = [command("git status"), command("make"), ("look", json!({}))];
    let (settled, asked) = run(&gate, &queue, &wanted, &[Answer::ProceedOnce]).await;
    assert_eq!(
        words(&settled),
        [
            // The grant for the command in the line covers the line; the shell around it is allowed here.
            "Allowed {\"command\":\"git status\"} with process=sh -c 'git status' $",
            "Approved {\"command\":\"make\"} with process=sh -c make $",
            "Allowed {} with nothing",
        ]
    );
    let [question] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((question.kind(), question.call.id.as_str(), question.agent.as_str()), ("exec", "1", "main"));
    assert_eq!(question.touches.to_string(), "process=sh -c make $");
}

// promise tty.asked: A command on a terminal is asked about, since what the model types there later is not; only a
//   rule of the user's or the mode `yolo` allows it.
#[tokio::test]
async fn gate_asks_about_a_command_on_a_terminal_whatever_allows_its_words() {
    let on_terminal = [("run", json!({"command": "git status", "tty": true}))];
    for (policy, mode, is_asked) in [
        ("", ApprovalMode::Default, true),
        ("", ApprovalMode::Auto, true),
        ("", ApprovalMode::Yolo, false),
        ("[[rule]]\ncommand = \"git status\"\ndecision = \"allow\"", ApprovalMode::Default, false),
    ] {
        let queue = ApprovalQueue::new();
        let gate = gate(rules(policy), &queue).in_mode(mode);
        // Its words alone need no answer.
        let (_, asked) = run(&gate, &queue, &[command("git status")], &[]).await;
        assert!(asked.is_empty(), "{policy} {mode}: {asked:?}");
        let (settled, asked) = run(&gate, &queue, &on_terminal, &[Answer::ProceedOnce]).await;
        assert_eq!(asked.len(), usize::from(is_asked), "{policy} {mode}");
        let is_told = |question: &Question| question.reasons.iter().any(|why| why.contains("types into its terminal"));
        assert!(asked.iter().all(is_told), "{asked:?}");
        let decided = if is_asked { Decided::Approved } else { Decided::Allowed };
        assert_eq!(settled[0].decided, Some(decided), "{policy} {mode}");
    }
}

// promise approval.nobody: Without a user to ask, a call that needs an answer is denied; cancelling withdraws the
//   question.
#[tokio::test]
async fn gate_without_a_user_denies_a_call_and_names_what_would_allow_it() {
    let queue = ApprovalQueue::new();
    let registry = tools();
    let observe = |_: CallEvent<'_>| ControlFlow::Continue(());
    let token = Cancel::under(&CancellationToken::new());
    let policy = rules("[[rule]]\ntool = \"look\"\ndecision = \"ask\"\n");
    let scheduler = Scheduler::new(&registry);
    let gate = gate(policy, &queue);
    let settled =
        scheduler.with_gate(Some(&gate)).run(calls(&[command("make"), ("look", json!({}))]), &token, &observe).await;
    let words = words(&settled);
    assert_eq!(words[0], "Denied Denied: `fake` has no grant for it");
    assert!(words[1].contains("this run has no terminal to ask on") && words[1].contains("line 1 (user)"), "{words:?}");
}

// promise approval.order
#[tokio::test]
async fn a_rejected_call_takes_those_behind_it_along_and_no_other() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let wanted = [("look", json!({})), command("make"), command("git status"), ("look", json!({}))];
    let (settled, _) = run(&gate, &queue, &wanted, &[cancel(Some(" use just "))]).await;
    let behind = "None cancelled: the user rejected an earlier call of the same reply";
    let want = ["Allowed {} with nothing", "Rejected cancelled: the user rejected this call: use just", behind, behind];
    assert_eq!(words(&settled), want);
    let (settled, _) = run(&gate, &queue, &[command("make")], &[cancel(None)]).await;
    assert_eq!(words(&settled), ["Rejected cancelled: the user rejected this call"]);
}

// promise approval.lasting
#[tokio::test]
async fn an_answer_for_good_is_a_rule_bound_to_what_was_shown() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let answers = [always(Lasting::Always)];
    let (settled, asked) = run(&gate, &queue, &[command("cargo test -q"), command("cargo test")], &answers).await;
    assert_eq!((settled.len(), asked.len()), (2, 1), "the second is covered");
    assert_eq!(
        offered(&asked[0]).iter().map(|(_, words)| *words).collect::<Vec<_>>(),
        ["commands that begin with `cargo test`"]
    );
    // A different command is asked about, alone or beside the allowed one.
    for other in ["cargo publish", "cargo test && make"] {
        let (_, asked) = run(&gate, &queue, &[command(other)], &[cancel(None)]).await;
        assert_eq!(asked.len(), 1, "{other}");
    }
    // So are a different component under the same name, and a different workspace.
    let (mut registry, call) = (Registry::new(), calls(&[command("cargo test")]));
    registry.register(fake("run", false, "d2")).expect("it is the first");
    let observe = |_: CallEvent<'_>| ControlFlow::Continue(());
    let token = Cancel::under(&CancellationToken::new());
    let settled = Scheduler::new(&registry).with_gate(Some(&gate)).run(call.clone(), &token, &observe).await;
    assert_eq!(settled[0].decided, Some(Decided::Denied));
    // The question explains why.
    let mut listener = queue.listen();
    let running = Scheduler::new(&registry).with_gate(Some(&gate)).run(call, &token, &observe);
    let user = async {
        let Some(Notice::Asked { id, question }) = listener.next().await else { panic!("it is asked") };
        listener.answer(id, cancel(None)).expect("it is open");
        question.reasons.clone()
    };
    let (_, reasons) = tokio::join!(running, user);
    let words = "the plugin `fake` has changed since you allowed this at user";
    assert!(reasons.iter().any(|reason| reason == words), "{reasons:?}");
}

// promise approval.lasting
#[tokio::test]
async fn an_answer_for_good_reaches_a_file_or_every_call_of_the_tool() {
    let edit = |path: &str| ("run", json!({ "path": path }));
    let queue = ApprovalQueue::new();
    let one = gate(rules(""), &queue);
    let (_, asked) = run(&one, &queue, &[edit("a"), edit("a")], &[always(Lasting::Always)]).await;
    assert_eq!(asked.len(), 1);
    let (_, asked) = run(&one, &queue, &[edit("b"), edit("a")], &[Answer::ProceedOnce]).await;
    assert_eq!(asked.len(), 1, "another file is asked about, and a once is no rule");
    let (_, asked) = run(&one, &queue, &[edit("b"), edit("c"), edit("d/e")], &[always(Lasting::AlwaysTool)]).await;
    assert_eq!(asked.len(), 1);
    let (settled, _) = run(&one, &queue, &[edit("/etc/x")], &[cancel(None)]).await;
    assert_eq!(settled[0].decided, Some(Decided::Rejected), "every file of the workspace, and no other");
}

// promise preview.edits-only: A yes to all edits of a tool does not cover the commands of the same tool.
#[tokio::test]
async fn a_yes_to_all_file_changes_allows_no_command_of_the_same_tool() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let wanted = [("run", json!({"path": "a"})), command("make")];
    let (settled, asked) = run(&gate, &queue, &wanted, &[always(Lasting::AlwaysTool), cancel(None)]).await;
    assert_eq!(asked.len(), 2, "the tool asks for commands too, and nobody said yes to one");
    assert_eq!(settled[1].decided, Some(Decided::Rejected));
}

/// Returns the answers besides yes and no, with what they allow.
fn offered(question: &Question) -> Vec<(Lasting, &str)> {
    let lasting = question.always.iter().filter(|always| always.until == Until::TakenBack);
    lasting.map(|always| (always.answer, always.words.as_str())).collect()
}

// promise approval.lasting
#[tokio::test]
async fn gate_lasting_answer_to_a_request_covers_its_server_and_no_private_address() {
    let fetch = |host: &str| ("run", json!({ "host": host }));
    let queue = ApprovalQueue::new();
    for answer in [Lasting::Always, Lasting::AlwaysTool] {
        let gate = gate(rules(""), &queue);
        let (settled, asked) =
            run(&gate, &queue, &[fetch("example.com"), fetch("example.com")], &[always(answer)]).await;
        assert_eq!((settled.len(), asked.len()), (2, 1), "the server is covered");
        let offers = [
            (Lasting::Always, "GET requests to `example.com:443`, never to private addresses"),
            (
                Lasting::AlwaysTool,
                "`run` with GET and HEAD requests to `example.com` at any port, never to private addresses",
            ),
        ];
        assert_eq!(offered(&asked[0]), offers);
        // The address is checked when the name is resolved: the same name on this machine is not covered.
        assert_eq!(words(&settled)[1], "Allowed {\"host\":\"example.com\"} with http=GET example.com:443 -private");
        for other in
            ["example.org", "www.example.com", "127.0.0.1", "[::1]", "169.254.169.254", "localhost", "10.0.0.1"]
        {
            let (settled, asked) = run(&gate, &queue, &[fetch(other)], &[cancel(None)]).await;
            assert_eq!((asked.len(), settled[0].decided), (1, Some(Decided::Rejected)), "{other}");
        }
    }
}

// promise approval.lasting
#[tokio::test]
async fn gate_no_lasting_answer_is_offered_for_private_addresses_or_unnamed_servers() {
    let queue = ApprovalQueue::new();
    let private = ["127.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254", "localhost", "x.localhost"];
    let mut wanted: Vec<Value> = private.iter().map(|host| json!({ "host": host })).collect();
    wanted.push(json!({"host": "example.com", "besides": "192.168.0.1"}));
    wanted.push(json!({"vague": true}));
    for arguments in wanted {
        let gate = gate(rules(""), &queue);
        let answers =
            [always(Lasting::Always), always(Lasting::AlwaysTool), always(Lasting::AlwaysPlugin), cancel(None)];
        let (settled, asked) = run(&gate, &queue, &[("run", arguments.clone())], &answers).await;
        assert_eq!((asked.len(), settled[0].decided), (4, Some(Decided::Rejected)), "{arguments}");
        assert!(offered(&asked[0]).is_empty(), "{arguments}");
        assert!(asked[0].reasons.iter().any(|reason| reason == lasting::EACH_TIME), "{:?}", asked[0].reasons);
    }
}

// promise approval.lasting
#[test]
fn gate_kept_answer_that_reaches_too_far_is_known() {
    let bound = "[[rule]]\ntool = \"web_fetch\"\ndecision = \"allow\"\ndigest = \"d\"\n";
    for (criteria, expected) in [
        ("scope = { http = \"*:* +private\" }", false),
        ("scope = { http = \"*:*\" }", false),
        ("scope = { http = \"127.0.0.1:8080\" }", false),
        ("scope = { http = \"example.com:443\" }", false),
        ("scope = { http = \"*.example.com:443\", state = \"write\" }", false),
        ("", false),
        ("scope = { http = \"example.com:443 -private\" }", true),
        ("scope = { fs-write = \"/w\", state = \"write\" }", true),
        ("command = \"git log\"", true),
    ] {
        let file = PolicyFile { tier: Tier::User, path: None };
        let read = Policy::parse(&format!("{bound}{criteria}\n"), file).expect("they are rules");
        assert_eq!(read.iter().map(Rule::is_lasting).collect::<Vec<_>>(), [expected], "{criteria}");
    }
}

#[tokio::test]
async fn a_rule_for_a_command_is_asked_about_outside_of_the_workspace() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules("[[rule]]\ncommand = \"make\"\ndecision = \"allow\"\n"), &queue);
    for (directory, asks) in [("sub/..", false), ("/w/sub", false), ("..", true), ("/tmp", true), ("sub/../../x", true)]
    {
        let wanted = [("run", json!({"command": "make", "directory": directory}))];
        let answers = if asks { vec![cancel(None)] } else { Vec::new() };
        let (_, asked) = run(&gate, &queue, &wanted, &answers).await;
        assert_eq!(asked.len(), answers.len(), "{directory}");
    }
}

// promise approval.lasting
#[tokio::test]
async fn an_answer_that_was_not_offered_allows_nothing() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let answers = [always(Lasting::AlwaysTool), always(Lasting::AlwaysPlugin), always(Lasting::Always), cancel(None)];
    let (settled, asked) = run(&gate, &queue, &[command("rm x")], &answers).await;
    assert_eq!(settled[0].decided, Some(Decided::Rejected));
    assert_eq!(asked.len(), 4);
    assert!(asked[0].always.is_empty(), "nobody should be offered to allow every `rm`");
    assert_eq!(asked[1].objection.as_deref(), Some("that answer is not offered for this call"));
}

// promise approval.changed: A call that the user changed is checked and shown again before it runs.
#[tokio::test]
async fn gate_call_that_the_user_changed_is_checked_and_asked_about_again() {
    let queue = ApprovalQueue::new();
    let modify = |text: &str| Answer::Modify { text: text.to_owned() };
    let rule = "[[rule]]\ncommand = \"rm\"\ndecision = \"deny\"\nmessage = \"no rm\"\n";
    let gate = gate(rules(rule), &queue);
    // A different command, then one that violates the schema, one that a rule denies, and one that would run without
    // asking.
    let answers = [modify("make check"), modify("seven"), modify("rm x"), modify("git status"), Answer::ProceedOnce];
    let (settled, asked) = run(&gate, &queue, &[command("make")], &answers).await;
    assert_eq!(words(&settled), ["Changed {\"command\":\"git status\"} with process=sh -c 'git status' $"]);
    let shown: Vec<_> = asked.iter().map(|question| question.call.arguments["command"].clone()).collect();
    assert_eq!(shown, ["make", "make check", "make check", "make check", "git status"]);
    assert!(asked[2].objection.as_deref().is_some_and(|why| why.contains("invalid arguments for `")), "{:?}", asked[2]);
    assert_eq!(asked[3].objection.as_deref(), Some("no rm"));
    assert_eq!(asked[4].objection, None);
}

#[tokio::test]
async fn gate_rule_that_denies_is_reported_and_asks_nobody() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules("[[rule]]\ncommand = \"make\"\ndecision = \"deny\"\nmessage = \"use just\"\n"), &queue);
    let wanted = [command("true; make"), ("look", json!({}))];
    let (settled, _) = run(&gate, &queue, &wanted, &[]).await;
    assert_eq!(words(&settled), ["Denied Denied: `run` was not run: use just", "Allowed {} with nothing"]);
}

// promise approval.nobody
#[tokio::test(start_paused = true)]
async fn gate_question_pauses_the_time_and_a_cancel_withdraws_it() {
    let queue = ApprovalQueue::new();
    let gate = gate(rules(""), &queue);
    let registry = tools();
    let run_clock = PausableClock::default();
    let mut listener = queue.listen();
    let token = CancellationToken::new();
    let cancel = Cancel::under(&token);
    let states = Mutex::new(Vec::new());
    let observe = |event: CallEvent<'_>| {
        if let CallChange::AwaitingApproval(_) | CallChange::Settled(_) = event.change {
            states.lock().expect("no test panics with it").push(format!("{:?}", event.change)[..7].to_owned());
        }
        ControlFlow::Continue(())
    };
    let scheduler = Scheduler::new(&registry).with_gate(Some(&gate)).with_standstill(&run_clock);
    let running = scheduler.run(calls(&[command("make"), command("git status")]), &cancel, &observe);
    let user = async {
        let id = asked(&mut listener).await;
        tokio::time::sleep(Duration::from_secs(600)).await;
        token.cancel();
        assert!(matches!(listener.next().await, Some(Notice::Withdrawn { id: told }) if told == id));
    };
    let began = Instant::now();
    let (settled, ()) = tokio::join!(running, user);
    assert_eq!(began.elapsed(), run_clock.paused_for());
    assert_eq!(words(&settled), ["None cancelled: cancelled by the user"; 2]);
    assert_eq!(states.into_inner().expect("no test panics with it"), ["Awaitin", "Settled", "Settled"]);
}

async fn asked(listener: &mut Listener) -> crate::QuestionId {
    match listener.next().await {
        Some(Notice::Asked { id, .. }) => id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_is_asked_after_the_other_while_what_may_run_runs() {
    let queue = ApprovalQueue::new();
    let policy = rules("[[rule]]\ntool = \"look\"\ncommand = \"git status\"\ndecision = \"allow\"\n");
    let gate = gate(policy, &queue);
    let (registry, open) = (tools(), AtomicUsize::new(0));
    let mut listener = queue.listen();
    let cancel = Cancel::under(&CancellationToken::new());
    let settled = Mutex::new(Vec::new());
    let observe = |event: CallEvent<'_>| {
        if let CallChange::Settled(_) = event.change {
            settled.lock().expect("no test panics with it").push(event.id.as_str().to_owned());
        }
        ControlFlow::Continue(())
    };
    let look = |line: &str| ("look", json!({ "command": line }));
    let wanted = calls(&[look("git status"), look("make a"), look("make b")]);
    let running = Scheduler::new(&registry).with_gate(Some(&gate)).run(wanted, &cancel, &observe);
    let user = async {
        for _ in 0..2 {
            let id = asked(&mut listener).await;
            assert_eq!(open.fetch_add(1, Ordering::SeqCst), 0, "one question at a time");
            // The call that needs no answer ends while this one waits for its own.
            while settled.lock().expect("no test panics with it").first().is_none_or(|first| first != "0") {
                tokio::task::yield_now().await;
            }
            open.fetch_sub(1, Ordering::SeqCst);
            listener.answer(id, Answer::ProceedOnce).expect("it is open");
            assert!(matches!(listener.next().await, Some(Notice::Answered { .. })));
        }
    };
    let (all, ()) = tokio::join!(running, user);
    assert_eq!(all.len(), 3);
}

#[test]
fn a_tool_that_is_always_denied_is_known_beforehand() {
    let gate = gate(rules("[[rule]]\ntool = \"run\"\ndecision = \"deny\"\n"), &ApprovalQueue::new());
    let registry = tools().undeclaring(|tool| gate.never(tool));
    assert_eq!(registry.specs().iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["look"]);
}

#[tokio::test]
async fn rules_of_answers_are_kept_and_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = RulesFile::new(folder.path().join("policies/answers.toml"));
    let queue = ApprovalQueue::new();
    let first = keeping(rules(""), &queue, &file);
    let (_, asked) = run(&first, &queue, &[command("cargo test")], &[always(Lasting::Always)]).await;
    assert_eq!(asked.len(), 1);
    let edit = ("run", json!({"path": "a"}));
    run(&first, &queue, std::slice::from_ref(&edit), &[always(Lasting::AlwaysTool)]).await;

    let text = std::fs::read_to_string(file.path()).expect("it was kept");
    let second = gate(rules(&text), &queue);
    let (settled, asked) = run(&second, &queue, &[command("cargo test --lib"), edit], &[]).await;
    assert_eq!((settled.len(), asked.len()), (2, 0));

    // A rule that cannot be stored is not added.
    let nowhere = RulesFile::new("/dev/null/rules.toml");
    let third = keeping(rules(""), &queue, &nowhere);
    let answers = [always(Lasting::Always), cancel(None)];
    let (settled, asked) = run(&third, &queue, &[command("cargo test")], &answers).await;
    assert_eq!(settled[0].decided, Some(Decided::Rejected));
    assert!(asked[1].objection.as_deref().is_some_and(|why| why.contains("/dev/null/rules.toml")), "{asked:?}");
}

use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::future::BoxFuture;
use host_capability::{Capability, Grants, Scope};
use host_message::{Annotations, CallId, Output, ToolName, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

use std::time::Duration;

use super::*;
use crate::CANCEL_GRACE;
use crate::{CallChange, Live};

type Body = dyn Fn(FunctionCall, CallContext) -> BoxFuture<'static, Outcome> + Send + Sync;

struct Fake {
    spec: ToolSpec,
    body: Box<Body>,
}

impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        (self.body)(call.clone(), context)
    }
}

fn tool<F: Future<Output = Outcome> + Send + 'static>(
    name: &str,
    read_only: bool,
    body: impl Fn(FunctionCall, CallContext) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let spec = ToolSpec {
        name: ToolName::new(name),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}}).into(),
        output_schema: None,
        annotations: Annotations { read_only, ..Annotations::default() },
    };
    Arc::new(Fake { spec, body: Box::new(move |call, context| body(call, context).boxed()) })
}

fn registry(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Registry {
    let mut registry = Registry::new();
    for tool in tools {
        registry.register(tool).expect("the names differ");
    }
    registry
}

fn call(id: usize, name: &str) -> FunctionCall {
    FunctionCall::new(CallId::new(id.to_string()), ToolName::new(name), serde_json::Map::new())
}

fn calls(names: &[&str]) -> Vec<FunctionCall> {
    names.iter().enumerate().map(|(id, name)| call(id, name)).collect()
}

fn done() -> Outcome {
    Outcome::Success(Output::text("done"))
}

/// Returns the outcome of each call in one word.
fn words(settled: &[SettledCall]) -> Vec<String> {
    let word = |settled: &SettledCall| match &settled.outcome {
        Outcome::Success(_) => "done".to_owned(),
        Outcome::Error(failure) => format!("{:?}", failure.kind),
        Outcome::Cancelled { .. } => "cancelled".to_owned(),
    };
    settled.iter().map(word).collect()
}

/// Runs calls that must come to an end; with paused time, a hang is detected at once.
async fn run(registry: &Registry, calls: Vec<FunctionCall>) -> Vec<SettledCall> {
    let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
    let cancel = Cancel::under(&CancellationToken::new());
    let observe = |_: CallEvent<'_>| ControlFlow::Continue(());
    let running = Scheduler::new(registry).run(calls, &cancel, &observe);
    let settled = tokio::time::timeout(Duration::from_secs(3600), running).await.expect("all calls end");
    let got: Vec<_> = settled.iter().map(|settled| settled.call.id.clone()).collect();
    assert_eq!(got, ids, "one for each, in order");
    settled
}

#[tokio::test(start_paused = true)]
async fn neighbouring_reads_run_side_by_side_and_a_denied_call_does_not_part_them() {
    let barrier = Arc::new(Barrier::new(3));
    let read = tool("read", true, move |_, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            done()
        }
    });
    let settled = run(&registry([read]), calls(&["read", "raed", "read", "read"])).await;
    assert_eq!(words(&settled), ["done", "UnknownTool", "done", "done"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_changes_something_runs_alone_in_its_place() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let order = Arc::new(Mutex::new(Vec::new()));
    let make = |name: &str, read_only: bool| {
        let (running, most, order) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&order));
        tool(name, read_only, move |call, _| {
            let (running, most, order) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&order));
            async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                assert!(read_only || now == 1, "a write has company");
                order.lock().expect("no test panics with it").push(call.id.as_str().to_owned());
                tokio::time::sleep(Duration::from_millis(10)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                done()
            }
        })
    };
    let registry = registry([make("r", true), make("w", false)]);
    let settled = run(&registry, calls(&["r", "r", "w", "w", "r", "w", "r", "r"])).await;
    assert_eq!(words(&settled), ["done"; 8]);
    assert_eq!(most.load(Ordering::SeqCst), 2);
    let order = order.lock().expect("no test panics with it").concat();
    assert_eq!(order.replace("10", "01").replace("76", "67"), "01234567");
}

#[tokio::test(start_paused = true)]
async fn only_so_many_calls_run_side_by_side() {
    let running = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let counts = Arc::clone(&running);
    let read = tool("read", true, move |_, _| {
        let counts = Arc::clone(&counts);
        async move {
            counts.1.fetch_max(counts.0.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
            counts.0.fetch_sub(1, Ordering::SeqCst);
            done()
        }
    });
    let settled = run(&registry([read]), calls(&["read"; 3 * SIDE_BY_SIDE])).await;
    assert_eq!(words(&settled), vec!["done"; 3 * SIDE_BY_SIDE]);
    assert_eq!(running.1.load(Ordering::SeqCst), SIDE_BY_SIDE);
}

// promise model.calls: A call to an unknown tool, to another agent's tool or with invalid arguments does not run.
#[tokio::test(start_paused = true)]
async fn scheduler_call_that_may_not_run_is_reported_and_stops_nothing() {
    let all =
        registry(["ls", "read_file", "grep", "glob", "shell"].map(|name| tool(name, true, |_, _| async { done() })));
    let mine = all.only(["ls", "read_file", "grep", "glob"]).expect("they are there");
    let mut wanted = calls(&["ls", "read_fil", "shell", "grep", "ls"]);
    wanted[3].arguments.insert("n".to_owned(), Value::from("many"));
    let settled = run(&mine, wanted).await;
    let told: Vec<_> = settled
        .iter()
        .map(|settled| match &settled.outcome {
            Outcome::Error(failure) => failure.message.as_str(),
            _ => "",
        })
        .collect();
    assert_eq!(told[1], "there is no tool `read_fil`; did you mean `read_file`?");
    assert_eq!(told[2], "the tool `shell` is not available to this agent");
    assert_eq!(told[3], "invalid arguments for `grep`: at `/n`: \"many\" is not of type \"integer\"");
    assert_eq!(words(&settled), ["done", "UnknownTool", "Unauthorized", "InvalidArguments", "done"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_outcome_and_siblings_go_on() {
    let late = tool("late", true, |_, _| async { panic!("no number {}", 5) });
    let early = tool("early", true, |_, _| -> std::future::Ready<Outcome> { panic!("at once") });
    let fine = tool("fine", true, |_, _| async { done() });
    let settled = run(&registry([late, early, fine]), calls(&["late", "early", "fine"])).await;
    assert_eq!(words(&settled), ["Crashed", "Crashed", "done"]);
    let Outcome::Error(failure) = &settled[0].outcome else { panic!("it crashed") };
    assert_eq!(failure.message, "the tool panicked: no number 5");
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_call_ends_is_an_outcome() {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("it broke");
        }
    }
    for count in [1, 2] {
        let breaks = tool("breaks", true, |_, _| {
            let fragile = Fragile;
            async move {
                let _dropped_at_the_end = fragile;
                done()
            }
        });
        let settled = run(&registry([breaks]), calls(&vec!["breaks"; count])).await;
        assert_eq!(words(&settled), vec!["Crashed"; count]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_single_call_runs_in_the_task_of_its_scheduler_and_parallel_ones_do_not() {
    let tasks: Arc<std::sync::Mutex<Vec<_>>> = Arc::default();
    let here = Arc::clone(&tasks);
    let read = tool("read", true, move |_, _| {
        here.lock().expect("no test panics with it").push(tokio::task::try_id());
        async { done() }
    });
    let registry = registry([read]);
    tokio::spawn(async move {
        run(&registry, calls(&["read"])).await;
        let mut ran = std::mem::take(&mut *tasks.lock().expect("no test panics with it"));
        assert_eq!(ran.pop().flatten(), tokio::task::try_id());
        run(&registry, calls(&["read", "read"])).await;
        let ran = tasks.lock().expect("no test panics with it").clone();
        assert!(ran.len() == 2 && ran[0] != ran[1] && !ran.contains(&tokio::task::try_id()), "{ran:?}");
    })
    .await
    .expect("it ends");
}

// promise model.stream
#[tokio::test(start_paused = true)]
async fn a_reply_cannot_hold_calls_without_end() {
    let read = tool("read", true, |_, _| async { done() });
    let settled = run(&registry([read]), calls(&["read"; CALLS_IN_A_REPLY + 2])).await;
    let words = words(&settled);
    assert!(words[..CALLS_IN_A_REPLY].iter().all(|word| word == "done"));
    assert_eq!(words[CALLS_IN_A_REPLY..], ["Failed", "Failed"]);
}

/// Sets a flag when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Creates tools for cancellation: one stops at once with a partial result, one never stops, one must not run.
fn stubborn(dropped: &Arc<AtomicBool>) -> Registry {
    let dropped = Arc::clone(dropped);
    let polite = tool("polite", true, |_, context| async move {
        context.cancel.cancelled().await;
        Outcome::Cancelled { reason: "told to".to_owned(), partial: Some("half".to_owned()) }
    });
    let deaf = tool("deaf", true, move |_, _| {
        let dropped = Dropped(Arc::clone(&dropped));
        async move {
            let _dropped = dropped;
            pending().await
        }
    });
    let write = tool("write", false, |_, _| async { panic!("it ran") });
    registry([polite, deaf, write])
}

// promise session.settled
#[tokio::test(start_paused = true)]
async fn a_cancel_settles_every_call() {
    let dropped = Arc::new(AtomicBool::new(false));
    let registry = stubborn(&dropped);
    let cancel = Cancel::under(&CancellationToken::new());
    let started = AtomicUsize::new(0);
    let observe = |event: CallEvent<'_>| {
        // Cancelled once both of the first wave run.
        if matches!(event.change, CallChange::Executing(_)) && started.fetch_add(1, Ordering::SeqCst) == 1 {
            let cancel = cancel.clone();
            tokio::spawn(async move { cancel.cancel("enough") });
        }
        if let (CallChange::Settled(_), "deaf") = (event.change, event.name.as_str()) {
            assert!(dropped.load(Ordering::SeqCst), "it is dropped before it settles");
        }
        ControlFlow::Continue(())
    };
    let began = tokio::time::Instant::now();
    let settled = Scheduler::new(&registry).run(calls(&["polite", "deaf", "write"]), &cancel, &observe).await;
    assert_eq!(began.elapsed().as_secs(), CANCEL_GRACE.as_secs());
    let cancelled =
        |partial: Option<&str>| Outcome::Cancelled { reason: "enough".to_owned(), partial: partial.map(str::to_owned) };
    let outcomes: Vec<_> = settled.into_iter().map(|settled| settled.outcome).collect();
    assert_eq!(outcomes, [cancelled(Some("half")), cancelled(None), cancelled(None)]);
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_stops_keeps_calls_from_running() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let write = tool("write", false, move |_, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { done() }
    });
    let registry = registry([write]);
    let cancel = Cancel::under(&CancellationToken::new());
    let observe = |event: CallEvent<'_>| match event.change {
        CallChange::Executing(_) if event.id.as_str() == "1" => ControlFlow::Break("the disk is full".to_owned()),
        _ => ControlFlow::Continue(()),
    };
    let settled = Scheduler::new(&registry).run(calls(&["write"; 3]), &cancel, &observe).await;
    assert_eq!(words(&settled), ["done", "cancelled", "cancelled"]);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let why = Outcome::Cancelled { reason: "the disk is full".to_owned(), partial: None };
    assert_eq!((&settled[1].outcome, &settled[2].outcome), (&why, &why));
}

#[tokio::test(start_paused = true)]
async fn scheduler_reports_every_change_in_order_and_nothing_after_the_end() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let chatty = tool("chatty", false, move |_, context| {
        let keep = Arc::clone(&keep);
        async move {
            context.live.output("hello");
            context.live.progress(1, Some(2), "half");
            *keep.lock().expect("no test panics with it") = Some(context.live);
            done()
        }
    });
    let keep = Arc::clone(&kept);
    let after = tool("after", false, move |_, _| {
        if let Some(live) = keep.lock().expect("no test panics with it").take() {
            live.output("too late");
        }
        async { done() }
    });
    let told = Mutex::new(Vec::new());
    let observe = |event: CallEvent<'_>| {
        let word = match event.change {
            CallChange::Validating(_) => "validating".to_owned(),
            CallChange::AwaitingApproval(_) => "awaiting_approval".to_owned(),
            CallChange::Scheduled { .. } => "scheduled".to_owned(),
            CallChange::Executing(_) => "executing".to_owned(),
            CallChange::Live(Live::Output(text)) => text.clone(),
            CallChange::Live(Live::Progress { done, .. }) => done.to_string(),
            CallChange::Settled(_) => "settled".to_owned(),
        };
        told.lock().expect("no test panics with it").push(format!("{} {word}", event.id));
        ControlFlow::Continue(())
    };
    let registry = registry([chatty, after]);
    let cancel = Cancel::under(&CancellationToken::new());
    Scheduler::new(&registry).run(calls(&["chatty", "after"]), &cancel, &observe).await;
    let told = told.into_inner().expect("no test panics with it");
    let want =
        "0 validating,1 validating,0 scheduled,0 executing,0 hello,0 1,0 settled,1 scheduled,1 executing,1 settled";
    assert_eq!(told.join(","), want);
}

// promise session.settled
#[tokio::test(start_paused = true)]
async fn dropping_the_run_drops_its_calls() {
    let dropped = Arc::new(AtomicBool::new(false));
    let registry = stubborn(&dropped);
    let cancel = Cancel::under(&CancellationToken::new());
    let observe = |_: CallEvent<'_>| ControlFlow::Continue(());
    let running = Scheduler::new(&registry).run(calls(&["deaf"]), &cancel, &observe);
    assert!(tokio::time::timeout(Duration::from_secs(1), running).await.is_err(), "it never ends by itself");
    tokio::task::yield_now().await;
    assert!(dropped.load(Ordering::SeqCst));
}

#[test]
fn the_future_of_a_run_can_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let registry = Registry::new();
    let cancel = Cancel::under(&CancellationToken::new());
    let observe = |_: CallEvent<'_>| ControlFlow::Continue(());
    check(Scheduler::new(&registry).run(Vec::new(), &cancel, &observe));
}

/// A tool that lives in a component, and makes calls if it is said to.
struct Component(Fake, bool);

impl Tool for Component {
    fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        self.0.call(call, context)
    }

    fn origin(&self) -> Option<crate::Origin> {
        Some(crate::Origin { plugin: host_capability::PluginName::new("plugin"), digest: String::new() })
    }

    fn calls_tools(&self) -> bool {
        self.1
    }
}

fn component<F: Future<Output = Outcome> + Send + 'static>(
    name: &str,
    calls_tools: bool,
    body: impl Fn(FunctionCall, CallContext) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let spec = tool(name, !calls_tools, |_, _| async { done() }).spec().clone();
    Arc::new(Component(Fake { spec, body: Box::new(move |call, context| body(call, context).boxed()) }, calls_tools))
}

/// Makes calls of these tools for a call, as the capability does.
async fn make(
    context: &CallContext,
    names: &[&str],
) -> Vec<Result<host_plugin::ToolAnswer, host_plugin::ToolCallError>> {
    let scope = Scope::parse_absolute(Capability::Tools, "*").expect("a scope");
    let grants = Grants::none().with(scope);
    let request = |name: &&str| host_plugin::ToolRequest {
        permit: grants.permit_tool(&host_capability::PluginName::new("plugin"), name).expect("it is granted"),
        arguments: serde_json::Map::new(),
    };
    let Some(tools) = &context.tools else { return Vec::new() };
    tools.call_all(names.iter().map(request).collect()).await
}

/// A tool that makes these calls and returns one word for each.
fn script(names: &'static [&'static str]) -> Arc<dyn Tool> {
    component("script", true, move |_, context| async move {
        let made = make(&context, names).await;
        let word = |made: &Result<host_plugin::ToolAnswer, host_plugin::ToolCallError>| match made {
            Ok(answer) => answer.text.clone(),
            Err(error) => format!("{error:?}").split('(').next().unwrap_or_default().to_owned(),
        };
        Outcome::Success(Output::text(made.iter().map(word).collect::<Vec<_>>().join(" ")))
    })
}

/// What a call that succeeded returned.
fn text(settled: &SettledCall) -> String {
    match &settled.outcome {
        Outcome::Success(output) => match output.content.as_slice() {
            [host_message::OutputPart::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

// promise tools.gate: A call that another call makes is checked, decided about, recorded and settled like one of the
//   model's.
#[tokio::test(start_paused = true)]
async fn nested_calls_settle_before_their_parent_and_name_it() {
    let read = component("read", false, |_, _| async { Outcome::Success(Output::text("read")) });
    let registry = registry([script(&["read", "raed", "read"]), read]);
    let seen = Mutex::new(Vec::new());
    let observe = |event: CallEvent<'_>| {
        let change = match event.change {
            CallChange::Validating(_) => "asked",
            CallChange::Executing(_) => "runs",
            CallChange::Settled(_) => "ends",
            CallChange::AwaitingApproval(_) | CallChange::Scheduled { .. } | CallChange::Live(_) => {
                return ControlFlow::Continue(());
            }
        };
        let parent = event.parent.map_or("", CallId::as_str);
        seen.lock().expect("no test panics with it").push(format!("{parent}>{} {change}", event.id));
        ControlFlow::Continue(())
    };
    let cancel = Cancel::under(&CancellationToken::new());
    // The model calls one of its own calls like the first that a call would make.
    let mut wanted = calls(&["script", "read"]);
    wanted[1].id = CallId::new("0.1");
    let settled = Scheduler::new(&registry).run(wanted, &cancel, &observe).await;
    assert_eq!(text(&settled[0]), "read NotFound read");
    let seen = seen.into_inner().expect("no test panics with it");
    let of_script: Vec<_> = seen.iter().filter(|event| !event.contains(">0.1 ")).map(String::as_str).collect();
    assert_eq!(
        of_script,
        [
            ">0 asked",
            ">0 runs",
            "0>0.2 asked",
            "0>0.3 asked",
            "0>0.4 asked",
            "0>0.3 ends",
            "0>0.2 runs",
            "0>0.4 runs",
            "0>0.2 ends",
            "0>0.4 ends",
            ">0 ends",
        ]
    );
}

// promise tools.depth: No call makes a call of the agent's own tools, or of one that makes calls itself.
#[tokio::test(start_paused = true)]
async fn nested_calls_go_no_deeper_and_reach_no_tool_of_the_agent() {
    let own = tool("complete_task", true, |_, _| async { done() });
    let settled = run(
        &registry([script(&["script", "complete_task", "inner"]), own, {
            component("inner", false, |_, context| async move {
                Outcome::Success(Output::text(if context.tools.is_some() { "deeper" } else { "no deeper" }))
            })
        }]),
        calls(&["script"]),
    )
    .await;
    assert_eq!(text(&settled[0]), "NotFound NotFound no deeper");
}

// promise tools.cancel: Cancelling a call cancels the calls that it made, and each settles before it.
#[tokio::test(start_paused = true)]
async fn nested_calls_end_with_their_parent_however_it_ends() {
    for (is_heard, expected) in [(true, "cancelled"), (false, "done")] {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let waits = component("waits", false, |_, context| async move {
            context.cancel.cancelled().await;
            Outcome::Cancelled { reason: String::new(), partial: None }
        });
        let script = component("script", true, move |_, context| async move {
            match is_heard {
                // Waits for the call to its end.
                true => drop(make(&context, &["waits"]).await),
                // Ends while the call runs.
                false => {
                    let making = make(&context, &["waits"]);
                    assert!(tokio::time::timeout(Duration::from_millis(1), making).await.is_err());
                }
            }
            match context.cancel.is_cancelled() {
                true => Outcome::Cancelled { reason: String::new(), partial: None },
                false => done(),
            }
        });
        let registry = registry([script, waits]);
        let cancel = Cancel::under(&CancellationToken::new());
        let observe = |event: CallEvent<'_>| {
            if let CallChange::Executing(_) = event.change
                && event.parent.is_some()
                && is_heard
            {
                cancel.cancel("enough");
            }
            if let CallChange::Settled(settled) = event.change {
                let words = words(std::slice::from_ref(settled)).concat();
                ended.lock().expect("no test panics with it").push(format!("{} {words}", event.id));
            }
            ControlFlow::Continue(())
        };
        let running = Scheduler::new(&registry).run(calls(&["script"]), &cancel, &observe);
        tokio::time::timeout(Duration::from_secs(60), running).await.expect("all calls end");
        let ended = ended.lock().expect("no test panics with it").clone();
        assert_eq!(ended, ["0.1 cancelled".to_owned(), format!("0 {expected}")]);
    }
}

#[tokio::test(start_paused = true)]
async fn nested_call_that_cannot_be_recorded_ends_all_calls() {
    let read = component("read", false, |_, _| async { done() });
    let script = component("script", true, |_, context| async move {
        drop(make(&context, &["read"]).await);
        match context.cancel.is_cancelled() {
            true => Outcome::Cancelled { reason: String::new(), partial: None },
            false => done(),
        }
    });
    let registry = registry([script, read]);
    let cancel = Cancel::under(&CancellationToken::new());
    let observe = |event: CallEvent<'_>| match event.change {
        CallChange::Executing(_) if event.parent.is_some() => ControlFlow::Break("the disk is full".to_owned()),
        _ => ControlFlow::Continue(()),
    };
    let settled = Scheduler::new(&registry).run(calls(&["script", "read"]), &cancel, &observe).await;
    assert_eq!(words(&settled), ["cancelled", "cancelled"]);
    let reasons = settled.iter().map(|settled| match &settled.outcome {
        Outcome::Cancelled { reason, .. } => reason.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(reasons.collect::<Vec<_>>(), ["the disk is full"; 2]);
}

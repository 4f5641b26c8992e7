//! Agents that are tools of another agent. Parent and child ask one model, so replies are in the order of requests.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{Subagent, SubagentSetup};
use host_journal::TerminateReason::*;

/// A tool that never ends by itself and ignores a cancel; it reports when its future is dropped.
struct Stuck(ToolSpec, Arc<AtomicBool>);

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Tool for Stuck {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
        let guard = OnDrop(Arc::clone(&self.1));
        async move {
            let _guard = guard;
            futures::future::pending().await
        }
        .boxed()
    }
}

pub(super) struct Family {
    pub(super) bench: Bench,
    dropped: Arc<AtomicBool>,
}

/// A parent that can call `helper`, which has `read`, `wait`, `stuck` and `ask`; both can `ask` a user.
pub(super) fn family<const N: usize>(
    replies: [Scripted; N],
    limits: TreeLimits,
    child: RunConfig,
    session: Option<Arc<dyn Journal>>,
) -> Family {
    let (model, watcher) = (Model::new(replies), Arc::new(Watcher::default()));
    let budget = Budget::new(AgentId::new("main"), limits);
    let dropped = Arc::new(AtomicBool::new(false));
    let mut tools = Registry::new();
    for name in ["read", "write", "wait", "ask"] {
        tools.register(Named::tool(name)).expect("the names differ");
    }
    let spec = ToolSpec { name: ToolName::new("stuck"), ..Named::tool("read").spec().clone() };
    tools.register(Arc::new(Stuck(spec, Arc::clone(&dropped)))).expect("the names differ");
    tools.leave_out(ToolName::new("helper"));
    let helper = AgentDefinition {
        name: "helper".to_owned(),
        tools: ToolConfig::Only(["read", "wait", "stuck", "ask"].map(str::to_owned).to_vec()),
        run: child,
        ..definition(Completion::Tool)
    };
    let setup = SubagentSetup {
        model: host_message::ModelId::new("m"),
        provider: Arc::clone(&model) as Arc<dyn Provider>,
        tools: tools.clone(),
        spill: None,
        observer: Arc::clone(&watcher) as Arc<dyn Observer>,
        session: session.clone(),
        parent: Arc::clone(&budget),
        gate: None,
    };
    let helper = Subagent::new(helper, setup).expect("the definition is good");
    let mut own = Registry::new();
    own.register(Arc::new(helper)).expect("it is the first");
    own.register(Named::tool("ask")).expect("the names differ");
    let setup = Setup {
        provider: Arc::clone(&model) as Arc<dyn Provider>,
        tools: own,
        responder: Responder::default(),
        observer: Arc::clone(&watcher) as Arc<dyn Observer>,
        session,
        budget,
        run_clock: PausableClock::default(),
        gate: None,
    };
    let executor = Executor::new(definition(Completion::Text), setup).expect("the definition is good");
    Family { bench: Bench { executor, model, watcher, cancel: CancellationToken::new() }, dropped }
}

pub(super) fn limits() -> RunConfig {
    RunConfig {
        max_turns: Some(2),
        max_time: Some(Duration::from_secs(20)),
        grace: Duration::from_secs(10),
        ..RunConfig::default()
    }
}

fn usual<const N: usize>(replies: [Scripted; N]) -> Bench {
    family(replies, TreeLimits::default(), limits(), None).bench
}

pub(super) fn ask() -> Scripted {
    calls([("helper", json!({"task": "look"}))])
}

#[tokio::test(start_paused = true)]
async fn a_subagent_works_alone_and_its_parent_gets_the_result() {
    let mut bench = usual([ask(), calls([("read", json!({}))]), complete("found it"), text("done")]);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 2));
    let told = "Subagent 'helper' finished.\nTermination reason: GOAL\nResult:\nfound it";
    assert_eq!(bench.model.sent(), ["Do: tests", "Do: look", "read did it", told]);
    assert_eq!(result.usage.input, 40, "what the child spent is the parent's");
    let lines = bench.watcher.lines.lock().expect("no test panics with it");
    let of = |id: &str| -> Vec<_> {
        lines.iter().filter(|line| line["agent_id"] == id).map(|line| line["type"].as_str().expect("a type")).collect()
    };
    assert_eq!(of("main").last(), Some(&"run_ended"));
    let child = of("main/helper-1");
    assert_eq!((child.first(), child.last()), (Some(&"run_requested"), Some(&"run_ended")));
    assert!(child.contains(&"call_settled"), "{child:?}");
    let ended = lines.iter().find(|line| line["agent"] == "helper" && line["type"] == "run_ended").expect("it ended");
    assert_eq!((&ended["usage"]["input"], &ended["turns"]), (&json!(20), &json!(2)));
}

#[tokio::test(start_paused = true)]
async fn subagent_that_does_not_reach_its_goal_is_a_failure_with_its_partial_work() {
    let look = || calls([("read", json!({}))]);
    for (replies, told) in [
        (
            vec![text("half"), text("more")],
            "Subagent 'helper' did not finish: ERROR_NO_COMPLETE_TASK_CALL after 1 turn.\n\
             It has no result. The last that it wrote:\nmore",
        ),
        (vec![look(), look(), look()], "Subagent 'helper' did not finish: MAX_TURNS after 2 turns.\nIt has no result."),
        (vec![breaks("half")], "Subagent 'helper' did not finish: ERROR after 1 turn.\nError: "),
        (
            vec![hangs("half"), hangs("more")],
            "Subagent 'helper' did not finish: TIMEOUT after 1 turn.\nIt has no result. The last that it wrote:\nmore",
        ),
    ] {
        let mut all = vec![ask()];
        all.extend(replies);
        all.push(text("done"));
        let mut bench = usual([]);
        *bench.model.replies.lock().expect("no test panics with it") = all.into();
        assert_eq!(bench.run().await.terminate_reason, Goal, "{told}");
        let last = bench.model.sent().pop().expect("it was asked");
        assert!(last.starts_with(told), "{last}");
        let lines = bench.watcher.lines.lock().expect("no test panics with it");
        let name = |line: &Value| line["parts"][0]["function_response"]["name"].clone();
        let call = |line: &&Value| line["type"] == "call_settled" && name(line) == "helper";
        assert_eq!(lines.iter().find(call).expect("it settled")["status"], "error");
    }
}

#[tokio::test(start_paused = true)]
async fn subagent_that_recovered_from_a_limit_names_it() {
    let mut bench = usual([ask(), text("no call"), complete("best"), text("done")]);
    bench.run().await;
    let told = "Subagent 'helper' finished.\nTermination reason: GOAL (its best answer after \
                ERROR_NO_COMPLETE_TASK_CALL)\nResult:\nbest";
    assert_eq!(bench.model.sent().last().map(String::as_str), Some(told));
}

#[tokio::test(start_paused = true)]
async fn a_subagent_has_its_own_tools_and_no_agents() {
    let wants = calls([("write", json!({})), ("helper", json!({"task": "again"})), ("read", json!({}))]);
    let mut bench = usual([ask(), wants, complete("x"), text("done")]);
    bench.run().await;
    assert_eq!(
        bench.model.sent()[2],
        "the tool `write` is not available to this agent | \
         the tool `helper` is not available to this agent | read did it"
    );
    let mut bench = usual([ask(), text("no call"), complete("x"), text("done")]);
    let _ = tokio::time::timeout(Duration::from_secs(1), bench.run()).await;
    assert_eq!(bench.model.tools(), "helper ask", "the parent's own are as they were");
}

// promise subagent.ends: A subagent ends with its caller and within its caller's time.
#[tokio::test(start_paused = true)]
async fn cancelling_the_parent_cancels_its_subagent_whatever_it_does() {
    let stuck = || calls([("stuck", json!({})), ("wait", json!({}))]);
    let mut child = limits();
    child.reply.pause = Duration::from_secs(3_600);
    // The last one is invalid, and waits to be requested again.
    let replies = [(hangs("half"), false), (calls([("wait", json!({}))]), false), (stuck(), true), (text(""), false)];
    for (reply, tool_ran) in replies {
        let Family { mut bench, dropped } = family([ask(), reply], TreeLimits::default(), child, None);
        let cancel = bench.cancel.clone();
        let stop = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(bench.run(), stop);
        assert_eq!(came_to(&result), (Aborted, None, None, 1));
        assert_eq!(dropped.load(Ordering::SeqCst), tool_ran, "nothing of it is left");
        let lines = bench.watcher.lines.lock().expect("no test panics with it");
        let ends: Vec<_> = lines.iter().filter(|line| line["type"] == "run_ended").collect();
        let end =
            |line: &Value| format!("{} {}", line["agent_id"].as_str().unwrap_or_default(), line["terminate_reason"]);
        let ends: Vec<_> = ends.into_iter().map(end).collect();
        assert_eq!(ends, ["main/helper-1 \"ABORTED\"", "main \"ABORTED\""], "each says how it ended, the child first");
    }
}

// promise subagent.ends
#[tokio::test(start_paused = true)]
async fn dropping_the_parent_drops_its_subagent() {
    let Family { mut bench, dropped } =
        family([ask(), calls([("stuck", json!({}))])], TreeLimits::default(), limits(), None);
    assert!(tokio::time::timeout(Duration::from_secs(5), bench.run()).await.is_err(), "it waits");
    tokio::task::yield_now().await;
    assert!(dropped.load(Ordering::SeqCst));
}

// promise subagent.ends
#[tokio::test(start_paused = true)]
async fn a_subagent_answers_before_its_parents_time_is_over() {
    let long = RunConfig {
        max_turns: Some(9),
        max_time: Some(Duration::from_secs(9000)),
        grace: Duration::from_secs(30),
        ..RunConfig::default()
    };
    let replies = [ask(), hangs("half"), complete("best"), text("done")];
    let mut bench = family(replies, TreeLimits::default(), long, None).bench;
    let began = tokio::time::Instant::now();
    let result = bench.run().await;
    // The parent has 100 s, of which the child leaves its last 30 for one last request.
    assert_eq!((came_to(&result), began.elapsed().as_secs()), ((Goal, Some("done"), None, 2), 70));
    assert_eq!(result.recovered_from, None);

    let replies = [ask(), hangs("half"), hangs("more"), text("in time")];
    let mut bench = family(replies, TreeLimits::default(), long, None).bench;
    let began = tokio::time::Instant::now();
    assert_eq!(came_to(&bench.run().await), (Goal, Some("in time"), None, 2));
    assert!(began.elapsed() < Duration::from_secs(100), "the child ended in time");
    let outcomes = bench.executor.history().contents().iter().flat_map(Content::function_responses);
    let outcomes: Vec<&str> = outcomes.map(|response| response.body.text()).collect();
    assert!(matches!(outcomes[..], [one] if one.contains("did not finish: TIMEOUT")), "{outcomes:?}");
    let near = "A limit is near: 99 of 100 s have passed.";
    assert!(bench.model.sent()[3].starts_with(near), "{:?}", bench.model.sent());
}

#[tokio::test(start_paused = true)]
async fn subagent_and_parent_lose_no_time_while_the_user_is_asked() {
    // The parent has 100 s and its child 20; each asks for an hour.
    let asks = || calls([("ask", json!({}))]);
    let mut bench = usual([asks(), ask(), asks(), complete("x"), text("done")]);
    let began = tokio::time::Instant::now();
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 3));
    assert_eq!(bench.model.sent()[4], "Subagent 'helper' finished.\nTermination reason: GOAL\nResult:\nx");
    assert_eq!(began.elapsed().as_secs(), 7_200);
}

// promise subagent.bounded: The number of subagents and the turns of all agents together are limited.
#[tokio::test(start_paused = true)]
async fn subagent_count_is_limited_and_the_run_continues() {
    let one = TreeLimits { subagents: 1, ..TreeLimits::default() };
    let mut bench = family([ask(), complete("x"), ask(), text("done")], one, limits(), None).bench;
    assert_eq!(came_to(&bench.run().await), (Goal, Some("done"), None, 3));
    assert_eq!(
        bench.model.sent()[3],
        "Subagent 'helper' was not started: this run has started 1 subagent, which is the limit; \
         do the rest yourself, with the other tools"
    );
}

// promise subagent.bounded
#[tokio::test(start_paused = true)]
async fn the_turns_of_all_agents_together_are_bounded() {
    let two = TreeLimits { turns: Some(2), ..TreeLimits::default() };
    let replies = [ask(), calls([("read", json!({}))]), complete("x"), text("so be it")];
    let mut bench = family(replies, two, limits(), None).bench;
    let result = bench.run().await;
    // One turn of the parent and one of the child; the rest are the last requests that each of them gets.
    assert_eq!((came_to(&result), result.recovered_from), ((MaxTurns, None, Some("so be it"), 1), None));
    let last = bench.model.last();
    let told = last.iter().flat_map(Content::function_responses).next().expect("the child's outcome").body.text();
    assert!(told.contains("(its best answer after MAX_TURNS)"), "{told}");

    let mut bench = family([ask(), hangs("x"), hangs("y")], TreeLimits { turns: Some(1), ..two }, limits(), None).bench;
    let result = bench.run().await;
    assert_eq!(came_to(&result), (MaxTurns, None, Some("y"), 1));
    let error = result.error.expect("it says which limit");
    assert_eq!(error.to_string(), "the run and its subagents have taken 1 turn together, which is the limit");
}

#[tokio::test(start_paused = true)]
async fn an_input_that_need_not_be_given_is_an_empty_text() {
    let mut definition = definition(Completion::Text);
    definition.prompt.query = "Do: ${task}${more}.".to_owned();
    let more = Input { description: "more".to_owned(), kind: InputKind::Strings, required: false };
    definition.inputs.0.insert("more".to_owned(), more);
    let mut bench = bench(definition, [text("done")]);
    assert_eq!(bench.run().await.terminate_reason, Goal);
    assert_eq!(bench.model.sent(), ["Do: tests."]);
}

#[test]
fn a_subagent_that_could_not_run_is_refused_when_it_is_made() {
    let setup = SubagentSetup {
        model: host_message::ModelId::new("m"),
        provider: Model::new([]),
        tools: Registry::new(),
        spill: None,
        observer: Arc::new(Watcher::default()),
        session: None,
        parent: Budget::new(AgentId::new("main"), TreeLimits::default()),
        gate: None,
    };
    let unknown = ToolConfig::Only(vec!["web_search".to_owned()]);
    let error = Subagent::new(AgentDefinition { tools: unknown, ..definition(Completion::Tool) }, setup);
    assert_eq!(error.map(|_| ()).expect_err("it is refused").to_string(), "invalid tools of the agent `tester`");
}

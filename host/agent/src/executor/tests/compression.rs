//! A conversation that gets long: when it is shortened, and how invalid summaries are handled.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::CompressionConfig;
use host_journal::TerminateReason::*;
use host_tool::{Known, Supplied, ToolSupply};

/// An agent whose model takes this many tokens at once.
pub(super) fn small(window: u64) -> AgentDefinition {
    let mut definition = definition(Completion::Text);
    definition.run.max_turns = Some(10);
    // Calls of one tool again and again are what these conversations are made of.
    definition.run.loops = crate::LoopDetection::Off;
    definition.run.compression = CompressionConfig { window: Some(window), ..CompressionConfig::default() };
    definition
}

/// A call like no other: of the same one twice, the model would get the result once.
fn long() -> Part {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    call("long", json!({"part": NEXT.fetch_add(1, Ordering::Relaxed)}))
}

/// A reply with a call whose prompt took this many tokens.
pub(super) fn round(tokens: u64) -> Scripted {
    let usage = Usage { input: tokens, output: 1, ..Usage::default() };
    let end = Chunk { finish: Some(FinishReason::Stop), usage: Some(usage), ..Chunk::default() };
    let events = vec![chunk(vec![long()], None), Ok(ModelEvent::Chunk(end))];
    Scripted { events, hangs: false }
}

fn statuses(bench: &Bench) -> Vec<String> {
    let lines = bench.watcher.lines.lock().expect("no test panics with it");
    let of = |line: &Value| line["status"].as_str().unwrap_or_default().to_owned();
    lines.iter().filter(|line| line["type"] == "chat_compressed").map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn a_long_conversation_is_summarised_before_the_next_turn() {
    let replies = [round(100), round(200), round(7_000), text("<state_snapshot>all</state_snapshot>"), text("done")];
    let mut bench = bench(small(10_000), replies);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 4), "a summary is no turn");
    assert_eq!(statuses(&bench), ["summarised"]);
    let sent = bench.model.sent();
    assert!(sent[3].starts_with("Stop here and write a summary"), "{}", sent[3]);
    let contents = bench.model.last();
    assert!(contents[0].visible_text().contains("<state_snapshot>all</state_snapshot>"));
    assert!(contents[0].visible_text().ends_with("Do: tests"), "{}", contents[0].visible_text());
    assert_eq!(contents.len(), 3, "the last round stays");
    assert_eq!(result.usage.input, 7_300 + 20, "the summary costs too");
}

#[tokio::test(start_paused = true)]
async fn compression_leaves_a_short_conversation_unchanged() {
    let mut bench = bench(small(10_000), [round(4_400), text("done")]);
    bench.run().await;
    assert!(statuses(&bench).is_empty());
}

#[tokio::test(start_paused = true)]
async fn compression_counts_what_was_added_since_the_last_usage_report() {
    // The outcome of the last call, 10,000 characters, is about 2,500 tokens.
    let mut bench = bench(small(10_000), [round(100), round(6_000), text("sum"), text("done")]);
    bench.run().await;
    assert_eq!(statuses(&bench), ["summarised"]);
}

#[tokio::test(start_paused = true)]
async fn compression_asks_a_service_that_reports_no_usage_for_the_size() {
    // Three rounds with 10,000 characters each are about 7,500 tokens, of a window of 10,000, by our estimate.
    let silent = || {
        let end = Chunk { finish: Some(FinishReason::Stop), ..Chunk::default() };
        Scripted { events: vec![chunk(vec![long()], None), Ok(ModelEvent::Chunk(end))], hangs: false }
    };
    let check = async |counts: Option<Option<u64>>, summaries: usize, waited: u64| {
        let mut bench = bench(small(10_000), [silent(), silent(), silent()]);
        *bench.model.counts.lock().expect("no test panics with it") = counts;
        let rest = std::iter::repeat_n("sum", summaries).chain(["done"]).map(text);
        bench.model.replies.lock().expect("no test panics with it").extend(rest);
        let began = Instant::now();
        assert_eq!(bench.run().await.terminate_reason, Goal, "{counts:?}");
        assert_eq!((statuses(&bench).len(), began.elapsed().as_secs()), (summaries, waited), "{counts:?}");
    };
    check(Some(None), 1, 0).await;
    check(Some(Some(3_000)), 0, 0).await;
    check(Some(Some(8_000)), 1, 0).await;
    check(None, 1, 20).await;
}

#[tokio::test(start_paused = true)]
async fn compression_unusable_summary_only_shortens_old_outputs_and_is_not_requested_again() {
    let long = "x".repeat(100_000);
    let cut_off =
        || Scripted { events: vec![chunk(vec![Part::text("<state")], Some(FinishReason::MaxTokens))], hangs: false };
    for (name, summary) in [
        ("empty", text(" ")),
        ("longer", text(&long)),
        ("with a call", calls([("read", json!({}))])),
        ("cut off", cut_off()),
        ("an error", breaks("half")),
    ] {
        let replies = [round(1), round(1), round(1), round(9_000), summary, round(9_000), text("done")];
        let mut bench = bench(small(10_000), replies);
        let result = bench.run().await;
        assert_eq!(came_to(&result), (Goal, Some("done"), None, 6), "{name}");
        let statuses = statuses(&bench);
        assert!(["empty", "inflated", "failed"].contains(&statuses[0].as_str()), "{name}: {statuses:?}");
        let rest = &statuses[1..];
        assert!(!rest.is_empty() && rest.iter().all(|status| status == "shortened"), "{name}: only outputs are cut");
        let contents = bench.executor.history().contents();
        assert_eq!(contents[0].visible_text(), "Do: tests", "{name}: no summary stands there");
        let outputs: Vec<usize> =
            contents.iter().flat_map(Content::function_responses).map(|one| one.body.text().len()).collect();
        assert!(outputs[0] < 2_000 && outputs[0] <= outputs[4], "{name}: the oldest first: {outputs:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn compression_looping_summary_is_cut_off_and_is_not_a_loop_of_the_run() {
    let mut definition = small(10_000);
    definition.run.loops = crate::LoopDetection::On;
    let replies = [round(100), round(7_000), super::loops::chants(), text("done")];
    let mut bench = bench(definition, replies);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("done"), None, 3));
    assert_eq!(statuses(&bench), ["failed", "shortened"], "what does not fit is cut");
    assert!(!bench.watcher.types().iter().any(|kind| kind == "loop_detected"));
}

#[tokio::test(start_paused = true)]
async fn compression_that_makes_no_progress_stops() {
    // The service counts as much with each prompt, whatever was shortened: what is long is not the conversation.
    let replies = [round(9_000), round(9_000), text("sum"), round(9_000), text("done")];
    let mut bench = bench(small(10_000), replies);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 4), "one summary and no more: {:?}", bench.model.sent());
    assert_eq!(statuses(&bench), ["summarised", "shortened"], "then outputs are cut");
}

/// A service that rejects a request over its window, as all of them do. It answers a request for a summary with one or
/// not, and calls `long` as often as configured before it answers.
struct Strict {
    window: u64,
    rounds: Mutex<usize>,
    summary: Option<&'static str>,
    largest: Mutex<u64>,
}

impl Provider for Strict {
    fn name(&self) -> &str {
        "strict"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let tokens = host_model::estimate(&request);
        let mut largest = self.largest.lock().expect("no test panics with it");
        *largest = tokens.max(*largest);
        if tokens > self.window {
            let error = ModelError::MissingKey { provider: Gemini::PROVIDER };
            return stream::iter([Err(error)]).boxed();
        }
        let last = request.contents.last().expect("a model is asked something");
        let mut rounds = self.rounds.lock().expect("no test panics with it");
        let parts = if last.visible_text().starts_with("Stop here and write a summary") {
            self.summary.map(Part::text).into_iter().collect()
        } else if *rounds > 0 {
            *rounds -= 1;
            vec![long()]
        } else {
            vec![Part::text("done")]
        };
        let usage = Some(Usage { input: tokens, output: 1, ..Usage::default() });
        let chunk = Chunk { parts, finish: Some(FinishReason::Stop), usage, ..Chunk::default() };
        stream::iter([Ok(ModelEvent::Chunk(chunk))]).boxed()
    }
}

/// Has a conversation with such a service, and returns how its last prompt ended, the statuses and the last messages.
async fn strict(
    window: u64,
    rounds: usize,
    summary: Option<&'static str>,
    past: Vec<Content>,
) -> (TerminateReason, Vec<String>, Vec<Content>) {
    let service = Arc::new(Strict { window, rounds: Mutex::new(rounds), summary, largest: Mutex::default() });
    let mut bench = bench(small(window), []);
    bench.executor.agent.provider = Arc::clone(&service) as Arc<dyn Provider>;
    bench.executor.agent.definition.run.max_turns = None;
    bench.executor.history = History::from_contents(past).expect("it is in order");
    bench.executor.state.begun = true;
    let result = bench.run().await;
    let largest = *service.largest.lock().expect("no test panics with it");
    assert!(largest <= window, "{largest} of {window}: {:?}", result.error);
    (result.terminate_reason, statuses(&bench), bench.executor.history().contents().to_vec())
}

#[tokio::test(start_paused = true)]
async fn compression_is_never_put_off_until_a_request_is_refused() {
    // Each output takes 2,500 tokens: after the first summary nothing old is left to cut, and two more do not fit.
    for summary in [Some("<state_snapshot>all</state_snapshot>"), None] {
        for window in [1_500, 3_000, 5_000, 8_000] {
            let (ended, statuses, contents) = strict(window, 12, summary, Vec::new()).await;
            assert_eq!(ended, Goal, "{window} {summary:?}: {statuses:?}");
            let said = contents.iter().any(|content| content.visible_text().contains("Do: tests"));
            assert!(said, "{window} {summary:?}: what the user said is there");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn compression_lets_a_resumed_conversation_over_the_window_go_on() {
    let long = |at: usize| [Content::user(format!("{at} ").repeat(4_000)), Content::model("I see.".repeat(500))];
    let past: Vec<Content> = (0..20).flat_map(long).collect();
    for summary in [Some("<state_snapshot>all</state_snapshot>"), None] {
        let (ended, statuses, contents) = strict(10_000, 0, summary, past.clone()).await;
        assert_eq!(ended, Goal, "{statuses:?}");
        assert_eq!(statuses.last().map(String::as_str), Some("left_out"), "the user hears of it");
        assert!(contents.len() > 3, "what fits stays: {}", contents.len());
    }
}

#[tokio::test(start_paused = true)]
async fn compression_runs_when_the_user_asks_for_it() {
    let mut bench = bench(small(1_000_000), [round(1), round(1), round(1), text("done"), text("sum")]);
    bench.run().await;
    let before = bench.executor.history().contents().len();
    let status = bench.executor.compress(&CancellationToken::new(), None).await.expect("it can be logged");
    assert_eq!(status, crate::CompressionStatus::Summarised);
    assert!(bench.executor.history().contents().len() < before);
}

#[tokio::test(start_paused = true)]
async fn the_new_conversation_is_logged() {
    let log = super::record::session(None);
    let replies = [round(100), round(7_000), text("sum"), text("done")];
    let mut bench = bench_with(small(10_000), replies, Some(log.log()));
    bench.run().await;
    let entry = log.lines().into_iter().find(|line| line["type"] == "history_replaced").expect("it is logged");
    assert_eq!(entry["agent_id"], "main");
    let logged: Vec<Content> = serde_json::from_value(entry["contents"].clone()).expect("messages");
    let now = bench.executor.history().contents();
    assert_eq!(logged, now[..logged.len()]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_it() {
    let mut bench = bench(small(10_000), [round(100), round(7_000), hangs("sum")]);
    let cancel = bench.cancel.clone();
    let (result, ()) = tokio::join!(bench.run(), async move {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert_eq!(result.terminate_reason, Aborted);
}

/// Supplies a search and the tool that it finds, as for a service that loads tools.
struct Finds(Arc<crate::DeferredTools>);

impl ToolSupply for Finds {
    fn tools(&self) -> Vec<Supplied> {
        let mail = Named::tool("mail__send");
        let known = if self.0.is_loaded(&mail.spec().name) { Known::Found } else { Known::Unfound };
        self.0.set(vec![mail.spec().clone()]);
        let search: Arc<dyn Tool> = Arc::new(crate::ToolSearch::new(Arc::clone(&self.0)));
        vec![Supplied { tool: search, known: Known::Declared }, Supplied { tool: mail, known }]
    }

    fn version(&self) -> u64 {
        self.0.loads()
    }
}

#[tokio::test(start_paused = true)]
async fn compression_declares_what_a_search_found_in_messages_that_are_gone() {
    let mail = || calls([("mail__send", json!({}))]);
    let search = calls([("tool_search", json!({"names": ["mail__send"]}))]);
    let summary = text("<state_snapshot>all</state_snapshot>");
    let replies = [mail(), search, mail(), text("one"), round(100), round(7_000), summary, mail(), text("done")];
    let mut bench = bench(small(10_000), replies);
    bench.executor.agent.tools.set_supply(Arc::new(Finds(Arc::default())));
    let is_declared = |bench: &Bench| bench.executor.declared_tools().contains(&ToolName::new("mail__send"));
    assert_eq!(bench.run().await.result.as_deref(), Some("one"));
    assert!(!is_declared(&bench), "its definition is in the conversation");
    let said: Vec<String> = bench
        .executor
        .history()
        .contents()
        .iter()
        .flat_map(Content::function_responses)
        .map(|one| one.body.text().to_owned())
        .collect();
    assert!(said[0].starts_with("the tool `mail__send` is not loaded yet"), "{said:?}");
    assert_eq!((said[2].as_str(), said.len()), ("mail__send did it", 3));
    assert_eq!(bench.run().await.result.as_deref(), Some("done"));
    assert_eq!(statuses(&bench), ["summarised"]);
    assert!(is_declared(&bench), "a service may reject a call of a tool that is nowhere");
    let last = bench.executor.history().contents().iter().flat_map(Content::function_responses).last();
    assert_eq!(last.map(|one| one.body.text()), Some("mail__send did it"), "it can be called without another search");
}

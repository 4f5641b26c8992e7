//! A conversation that another process recorded is the same, and continues.

use host_journal::{Clock, MemoryJournal, Past, Recorded};
use host_message::{ModelId, SessionId};

use super::compression::{round, small};
use super::loops::{chants, patient, same};
use super::subagents::{ask, family, limits};
use super::*;
use host_journal::TerminateReason::*;

/// A session that outlives the processes that work on it.
struct Place(Arc<MemoryJournal>);

impl Place {
    fn new() -> Self {
        let clock = Clock::fixed("2026-03-01T12:00:00Z".parse().expect("a time"));
        Self(Arc::new(MemoryJournal::new(SessionId::new("s1").expect("an id"), clock)))
    }

    fn log(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.0) as _
    }

    fn begin<const N: usize>(&self, definition: AgentDefinition, replies: [Scripted; N]) -> Bench {
        bench_with(definition, replies, Some(self.log()))
    }

    fn recorded(&self) -> Recorded {
        self.0.recorded().expect("it makes sense")
    }

    fn read(&self) -> Past {
        self.recorded().into_past(&AgentId::new("main"))
    }

    /// Resumes in what is, as far as the journal can tell, a different process.
    fn resume<const N: usize>(&self, definition: AgentDefinition, replies: [Scripted; N]) -> Bench {
        let recorded = self.0.resume(&ModelId::new("m")).expect("it makes sense");
        let bench = bench_with(definition, replies, Some(self.log()));
        let executor = bench.executor.resume(recorded.into_past(&AgentId::new("main")));
        Bench { executor, ..bench }
    }
}

impl Bench {
    async fn go_on(&mut self) -> RunResult {
        let inputs = Map::from_iter([("task".to_owned(), Value::from("tests"))]);
        self.executor.go_on(&inputs, &self.cancel).await
    }
}

// promise session.recorded
#[tokio::test(start_paused = true)]
async fn a_recorded_conversation_is_the_one_that_was_held() {
    let check = async |completion: Completion, runs: usize, replies: [Scripted; 3]| {
        let place = Place::new();
        let mut definition = definition(completion);
        definition.prompt.initial_messages.push(crate::InitialMessage { role: Role::Model, text: "Ready.".to_owned() });
        let mut bench = place.begin(definition, replies);
        for _ in 0..runs {
            bench.run().await;
            let past = place.read();
            assert_eq!(past.history().contents(), bench.executor.history().contents());
            let PastParts { next_prompt, question, .. } = past.into_parts();
            assert!(next_prompt == bench.executor.state.next_prompt && question.is_empty());
        }
    };
    let write = || calls([("write", json!({"a": 0.1})), ("nothing", json!({})), ("read", json!({}))]);
    check(Completion::Text, 1, [write(), write(), text("done")]).await;
    check(Completion::Text, 3, [text("one"), text("two"), text("three")]).await;
    check(Completion::Text, 1, [hangs("half"), text("done"), text("")]).await;
    check(Completion::Text, 1, [write(), reply(vec![Part::thought("hm")]), text("")]).await;
    check(Completion::Tool, 1, [write(), text("no call"), complete("done")]).await;
}

#[tokio::test(start_paused = true)]
async fn resume_reads_the_conversation_as_it_was_whatever_happened_in_it() {
    let check = async |what: &str, definition: AgentDefinition, replies: Vec<Scripted>| {
        let place = Place::new();
        let mut bench = place.begin(definition, []);
        *bench.model.replies.lock().expect("no test panics with it") = replies.into();
        let result = bench.run().await;
        assert_eq!(result.terminate_reason, Goal, "{what}: {result:?}");
        let past = place.read();
        assert_eq!(past.history().contents(), bench.executor.history().contents(), "{what}");
        assert_eq!((past.left(), past.usage()), (host_journal::Left::Nothing, result.usage), "{what}");
        assert!(past.history().is_taken(&CallId::new("main#0-0")), "{what}: an id is never used twice");
    };
    let read = || calls([("read", json!({}))]);
    let text_agent = || definition(Completion::Text);
    check("replies that are no good", text_agent(), vec![read(), text(""), text("done")]).await;
    check("a reply in circles", patient(Completion::Text), vec![read(), chants(), text("done")]).await;
    let mut circles = same(5);
    circles.push(text("done"));
    check("calls in circles", patient(Completion::Text), circles).await;
    check("a summary", small(10_000), vec![round(100), round(200), round(7_000), text("sum"), text("done")]).await;
    let shortened = vec![round(1), round(1), round(1), round(9_000), text(""), round(9_000), text("done")];
    check("outputs cut short", small(10_000), shortened).await;
    check("a recovery", definition(Completion::Tool), vec![read(), hangs("half"), complete("done")]).await;
}

#[tokio::test(start_paused = true)]
async fn a_subagents_conversation_and_its_tokens_are_read_as_its_own() {
    let place = Place::new();
    let read = || calls([("read", json!({}))]);
    let replies = [ask(), text(""), read(), complete("found"), text("done")];
    let mut bench = family(replies, TreeLimits::default(), limits(), Some(place.log())).bench;
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 2));
    let recorded = place.recorded();
    let of = |id: &str| recorded.past(&AgentId::new(id)).expect("the log knows it");
    let (main, child) = (of("main"), of("main/helper-1"));
    assert_eq!(main.history().contents(), bench.executor.history().contents());
    assert_eq!(child.history().contents().len(), 5, "the question, and two rounds of calls");
    assert_eq!((main.left(), child.left()), (host_journal::Left::Nothing, host_journal::Left::Nothing));
    assert_eq!((main.usage().input, child.usage().input, result.usage.input), (20, 30, 50), "each is counted once");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_completed_its_task_can_be_given_another() {
    let place = Place::new();
    let mut first = place.begin(definition(Completion::Tool), [complete("one")]);
    assert_eq!(came_to(&first.run().await), (Goal, Some("one"), None, 1));
    assert_eq!(place.read().left(), host_journal::Left::Nothing);
    drop(first);
    let mut bench = place.resume(definition(Completion::Tool), [complete("two")]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("two"), None, 1));
    assert_eq!(place.read().history().contents(), bench.executor.history().contents());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_was_shortened_can_be_shortened_again() {
    let place = Place::new();
    let mut first = place.begin(small(10_000), [round(100), round(7_000), text("first"), text("one")]);
    first.run().await;
    drop(first);
    let replies = [round(100), round(100), round(8_000), text("second"), text("two")];
    let mut bench = place.resume(small(10_000), replies);
    assert_eq!(bench.run().await.terminate_reason, Goal);
    let now = bench.executor.history().contents();
    assert!(now[0].visible_text().contains("second") && !now[0].visible_text().contains("first"), "{now:?}");
    assert_eq!(place.read().history().contents(), now);
}

#[tokio::test(start_paused = true)]
async fn resume_continues_a_run_that_died_in_a_call_and_runs_nothing_twice() {
    let place = Place::new();
    let replies = [calls([("write", json!({})), ("wait", json!({})), ("write", json!({}))])];
    let mut bench = place.begin(definition(Completion::Text), replies);
    let died = tokio::time::timeout(Duration::from_secs(1), bench.run()).await;
    assert!(died.is_err(), "it hangs in `wait`");
    drop(bench);
    let mut bench = place.resume(definition(Completion::Text), [calls([("read", json!({}))]), text("done")]);
    let result = bench.go_on().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 2));
    let told = &bench.model.sent()[0];
    let outcomes: Vec<_> = told.split(" | ").collect();
    assert_eq!(outcomes[0], "write did it");
    assert!(outcomes[1].contains("it may have done all, some or none"), "{told}");
    assert!(outcomes[2].contains("not run: the process ended before the call began"), "{told}");
    let lines = bench.watcher.lines.lock().expect("no test panics with it").clone();
    let ran: Vec<_> = lines.iter().filter(|line| line["type"] == "call_started").collect();
    assert!(ran.len() == 1 && ran[0]["call_id"] == "main#1-0", "{ran:?}");
    assert_eq!(place.read().history().contents(), bench.executor.history().contents());
}

#[tokio::test(start_paused = true)]
async fn a_question_without_a_reply_is_asked_again() {
    for and_more in [false, true] {
        let place = Place::new();
        let mut bench = place.begin(definition(Completion::Text), [hangs("half")]);
        assert!(tokio::time::timeout(Duration::from_secs(1), bench.run()).await.is_err());
        drop(bench);
        let mut bench = place.resume(definition(Completion::Text), [text("done")]);
        let result = if and_more { bench.run().await } else { bench.go_on().await };
        assert_eq!(came_to(&result), (Goal, Some("done"), None, 1));
        let want = if and_more { "Do: testsDo: tests" } else { "Do: tests" };
        assert_eq!(bench.model.sent(), [want]);
        assert_eq!(bench.model.last().len(), 1);
        assert_eq!(place.read().history().contents(), bench.executor.history().contents());
    }
}

#[tokio::test(start_paused = true)]
async fn resume_continues_a_conversation_with_the_next_prompt() {
    let place = Place::new();
    let mut first = place.begin(definition(Completion::Text), [calls([("read", json!({}))]), text("one")]);
    first.run().await;
    drop(first);
    let mut bench = place.resume(definition(Completion::Text), [calls([("read", json!({}))]), text("two")]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("two"), None, 2));
    let ids: Vec<_> = bench.executor.history().contents().iter().flat_map(Content::function_calls).collect();
    assert_eq!(ids.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["main#0-0", "main#2-0"]);
    assert_eq!(place.read().history().contents(), bench.executor.history().contents());
    assert_eq!(place.read().usage(), Usage { input: 40, output: 4, ..Usage::default() });
}

#[tokio::test(start_paused = true)]
async fn resume_with_nothing_left_sends_no_request() {
    let place = Place::new();
    let mut first = place.begin(definition(Completion::Text), [text("one")]);
    first.run().await;
    drop(first);
    let result = place.resume(definition(Completion::Text), []).go_on().await;
    assert!(matches!(result.error, Some(RunError::NothingLeft)), "{result:?}");
}

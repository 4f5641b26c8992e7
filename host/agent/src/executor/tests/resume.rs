//! A conversation that another process recorded: it is the same, and it goes on.

use std::fs::File;

use host_message::ModelId;

use super::TerminateReason::*;
use super::*;
use crate::{About, Clock, Past, Recorded, Records};

/// A session in a folder of its own.
struct Place {
    folder: tempfile::TempDir,
    path: Mutex<std::path::PathBuf>,
}

fn clock() -> Clock {
    Clock::fixed("2026-03-01T12:00:00Z".parse().expect("a time"))
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), path: Mutex::default() }
    }

    fn begin<const N: usize>(&self, definition: AgentDefinition, replies: [Scripted; N]) -> Bench {
        let about = About { workspace: self.folder.path(), model: &ModelId::new("m") };
        let log = SessionLog::create(self.folder.path(), about, clock()).expect("there is room");
        *self.path.lock().expect("no test panics with it") = log.path().to_owned();
        bench_with(definition, replies, Some(Arc::new(log)))
    }

    fn read(&self) -> Past {
        let path = self.path.lock().expect("no test panics with it");
        let recorded = Recorded::read(&mut Records::new(File::open(&*path).expect("it is there")));
        recorded.expect("it makes sense").into_past(&AgentId::new("main"))
    }

    /// Goes on in what is, as far as the log can tell, another process.
    fn resume<const N: usize>(&self, definition: AgentDefinition, replies: [Scripted; N]) -> Bench {
        let path = self.path.lock().expect("no test panics with it").clone();
        let reopened = SessionLog::reopen(&path, clock()).expect("nobody else writes it");
        let (log, recorded) = reopened.resume(&ModelId::new("m")).expect("there is room");
        let bench = bench_with(definition, replies, Some(Arc::new(log)));
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
            let (_, next_prompt, question) = past.into_parts();
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
async fn a_run_that_died_in_a_call_goes_on_and_runs_nothing_twice() {
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
    let ran: Vec<_> = lines.iter().filter(|line| line["type"] == "tool_call_start").collect();
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
async fn a_conversation_goes_on_with_what_is_said_next() {
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
async fn where_nothing_is_left_nobody_is_asked() {
    let place = Place::new();
    let mut first = place.begin(definition(Completion::Text), [text("one")]);
    first.run().await;
    drop(first);
    let result = place.resume(definition(Completion::Text), []).go_on().await;
    assert!(matches!(result.error, Some(RunError::NothingLeft)), "{result:?}");
}

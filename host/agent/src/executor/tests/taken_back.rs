//! What a person changes about a conversation between two runs: the last prompt taken back, another model.

use std::io::BufReader;

use super::*;
use crate::{About, Clock, Left, Reopened};

/// A session in a folder of its own.
fn session(folder: &tempfile::TempDir) -> Arc<SessionLog> {
    let about = About { workspace: std::path::Path::new("/work"), model: &ModelId::new("scripted:x") };
    Arc::new(SessionLog::create(folder.path(), about, Clock::system()).expect("it can be made"))
}

/// The same session as another process finds it.
fn reopened(log: Arc<SessionLog>, bench: Bench) -> Reopened {
    let path = log.path().to_owned();
    drop((log, bench));
    SessionLog::reopen(&path, Clock::system()).expect("it is whole")
}

fn said(contents: &[Content]) -> Vec<String> {
    contents.iter().map(Content::visible_text).collect()
}

impl Bench {
    async fn say(&mut self, what: &str) -> RunResult {
        let inputs = Map::from_iter([("task".to_owned(), Value::from(what))]);
        self.executor.run(&inputs, &self.cancel).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_taken_back_was_never_said_and_a_later_process_agrees() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = session(&folder);
    let replies = [text("one"), calls([("read", json!({}))]), text("two"), text("three")];
    let mut bench = bench_with(definition(Completion::Text), replies, Some(Arc::clone(&log)));
    bench.say("first").await;
    bench.say("second").await;
    assert_eq!(bench.executor.history().contents().len(), 6);
    let text = bench.executor.undo_last_prompt().expect("it is written down");
    assert_eq!(text.as_deref(), Some("Do: second"));
    bench.say("third").await;
    assert_eq!(said(&bench.model.last()), ["Do: first", "one", "Do: third"]);
    let held = bench.executor.history().contents().to_vec();
    let reopened = reopened(log, bench);
    let past = reopened.recorded().past(&AgentId::new("main")).expect("it is there");
    assert_eq!((past.history().contents(), past.left()), (held.as_slice(), Left::Nothing));
}

#[tokio::test(start_paused = true)]
async fn all_prompts_can_be_taken_back_and_then_there_is_none() {
    let mut bench = bench(definition(Completion::Text), [text("one"), text("two"), text("again")]);
    bench.say("first").await;
    bench.say("second").await;
    for expected in [Some("Do: second"), Some("Do: first"), None] {
        assert_eq!(bench.executor.undo_last_prompt().expect("nothing is written").as_deref(), expected);
    }
    bench.say("anew").await;
    assert_eq!(said(&bench.model.last()), ["Do: anew"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_without_a_reply_is_taken_back_with_the_prompt_before_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = session(&folder);
    let mut bench = bench_with(definition(Completion::Text), [text("one"), breaks("half")], Some(Arc::clone(&log)));
    bench.say("first").await;
    bench.say("lost").await;
    assert_eq!(bench.executor.undo_last_prompt().expect("written").as_deref(), Some("Do: first"));
    let reopened = reopened(log, bench);
    let past = reopened.recorded().past(&AgentId::new("main")).expect("it is there");
    assert_eq!((past.history().contents().len(), past.left()), (0, Left::Nothing));
}

#[test]
fn a_log_that_takes_back_what_is_not_there_is_damaged() {
    let lines = [
        json!({"time": "2026-03-01T12:00:00Z", "type": "session", "version": 1, "id": "s1"}),
        json!({"time": "2026-03-01T12:00:00Z", "type": "taken_back", "agent_id": "main", "messages": 3}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let error = crate::Recorded::read(&mut crate::Records::new(BufReader::new(text.as_bytes()))).expect_err("damaged");
    assert!(error.to_string().starts_with("line 2 is damaged"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn another_model_is_asked_from_the_next_run_on_and_a_later_process_knows() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = session(&folder);
    let mut bench = bench_with(definition(Completion::Text), [text("one")], Some(Arc::clone(&log)));
    bench.say("first").await;
    let other = Model::new([text("two")]);
    let mut tools = Registry::new();
    tools.register(Named::tool("other")).expect("it is the only one");
    let chosen = ChosenModel { provider: Arc::clone(&other) as Arc<dyn Provider>, window: Some(1_000), tools };
    let config = ModelConfig { model: "n".to_owned(), ..ModelConfig::default() };
    bench.executor.choose_model(&ModelId::new("other/n"), config, chosen).expect("written");
    assert_eq!(bench.say("second").await.result.as_deref(), Some("two"));
    assert_eq!(said(&other.last()), ["Do: first", "one", "Do: second"]);
    assert_eq!(other.tools(), "other");
    let reopened = reopened(log, bench);
    assert_eq!(reopened.recorded().model, Some(ModelId::new("other/n")));
}

//! Prompts that are taken back, by the user or because they failed, and another model between two runs.

use std::io::BufReader;

use super::TerminateReason::*;
use super::compression::{round, small};
use super::*;
use crate::{About, Clock, Left, Reopened};

/// A session in a folder of its own.
fn session(folder: &tempfile::TempDir) -> Arc<SessionLog> {
    let about = About { workspace: std::path::Path::new("/work"), model: &ModelId::new("scripted:x") };
    Arc::new(SessionLog::create(folder.path(), about, Clock::system(), &chains(folder.path())).expect("it can be made"))
}

fn chains(folder: &std::path::Path) -> host_files::ChainStore {
    host_files::ChainStore::open(&folder.join("audit")).expect("it can be made")
}

/// The same session as another process finds it.
fn reopened(log: Arc<SessionLog>, bench: Bench) -> Reopened {
    let path = log.path().to_owned();
    drop((log, bench));
    let chains = chains(path.parent().expect("a folder"));
    SessionLog::reopen(&path, Clock::system(), &chains).expect("it is whole")
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
async fn undo_takes_back_every_prompt_until_none_is_left() {
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
async fn a_prompt_that_failed_is_not_the_one_that_the_user_takes_back() {
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

/// Holds a conversation whose second prompt fails as the replies say, and returns how it failed, what was in the history
/// before and after it, and what another process reads.
async fn failing(
    definition: AgentDefinition,
    replies: impl IntoIterator<Item = Scripted>,
) -> (TerminateReason, [Vec<Content>; 3], Left) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = session(&folder);
    let mut bench = bench_with(definition, [text("one")], Some(Arc::clone(&log)));
    bench.say("first").await;
    let before = bench.executor.history().contents().to_vec();
    bench.model.replies.lock().expect("no test panics with it").extend(replies);
    let cancel = bench.cancel.child_token();
    let going_on = std::mem::replace(&mut bench.cancel, cancel.clone());
    let stop = tokio::spawn(async move {
        sleep(Duration::from_secs(50)).await;
        cancel.cancel();
    });
    let result = bench.say("second").await;
    stop.abort();
    bench.cancel = going_on;
    let after = bench.executor.history().contents().to_vec();
    bench.model.replies.lock().expect("no test panics with it").push_back(text("three"));
    assert_eq!(bench.say("third").await.terminate_reason, Goal);
    assert_eq!(said(&bench.model.last()).last().map(String::as_str), Some("Do: third"), "nothing else is asked again");
    let held = bench.executor.history().contents().to_vec();
    let reopened = reopened(log, bench);
    let past = reopened.recorded().past(&AgentId::new("main")).expect("it is there");
    assert_eq!(past.history().contents(), held);
    (result.terminate_reason, [before, after, held], past.left())
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_cancelled_or_fails_in_any_round_leaves_the_history_as_it_was() {
    let look = || calls([("read", json!({}))]);
    for (what, replies, reason) in [
        ("the first reply hangs", vec![hangs("half")], Aborted),
        ("the third reply hangs", vec![look(), look(), hangs("half")], Aborted),
        ("a call of the third round hangs", vec![look(), look(), calls([("wait", json!({}))])], Aborted),
        ("the first reply breaks", vec![breaks("half")], Error),
        ("the third reply breaks", vec![look(), look(), breaks("half")], Error),
    ] {
        let (ended, [before, after, held], left) = failing(definition(Completion::Text), replies).await;
        assert_eq!((ended, left), (reason, Left::Nothing), "{what}");
        assert_eq!(after, before, "{what}");
        assert_eq!(said(&held), ["Do: first", "one", "Do: third", "three"], "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_fails_after_a_summary_leaves_the_history_as_it_was_before_both() {
    let replies = [round(100), round(7_000), text("sum"), round(100), breaks("half")];
    let (ended, [before, after, _], left) = failing(small(10_000), replies).await;
    assert_eq!((ended, left), (Error, Left::Nothing));
    assert_eq!(after, before, "the summary had swallowed the prompt");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_a_limit_cut_is_asked_again_with_the_next_prompt_here_and_by_a_later_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = session(&folder);
    let replies = [hangs("half"), hangs("more")];
    let mut bench = bench_with(definition(Completion::Text), replies, Some(Arc::clone(&log)));
    assert_eq!(bench.say("first").await.terminate_reason, Timeout);
    let here = bench.executor.state.question.clone();
    assert_eq!(here, [Part::text("Do: first")]);
    let reopened = reopened(log, bench);
    let (_, recorded) = reopened.resume(&ModelId::new("m")).expect("there is room");
    let past = recorded.into_past(&AgentId::new("main"));
    assert_eq!(past.left(), Left::Question);
    let (_, _, question) = past.into_parts();
    assert_eq!(question, here);
}

#[test]
fn undo_of_messages_that_do_not_exist_marks_a_log_as_damaged() {
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

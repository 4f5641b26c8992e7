//! A model that repeats itself is warned once; the second time ends the run.

use super::*;
use crate::{LoopDetection, Repeated};
use host_journal::TerminateReason::*;

const SENTENCE: &str = "I will now look at the file again to make sure that it is right. ";

/// As many turns as the tests need.
pub(super) fn patient(completion: Completion) -> AgentDefinition {
    let usual = definition(completion);
    AgentDefinition { run: RunConfig { max_turns: Some(30), ..usual.run }, ..usual }
}

pub(super) fn same(times: usize) -> Vec<Scripted> {
    (0..times).map(|_| calls([("read", json!({"path": "a"}))])).collect()
}

fn told(bench: &Bench) -> Vec<Value> {
    let lines = bench.watcher.lines.lock().expect("no test panics with it");
    lines.iter().filter(|line| line["type"] == "loop_detected").map(|line| line["repeated"].clone()).collect()
}

/// A reply whose text never ends.
pub(super) fn chants() -> Scripted {
    let pieces = std::iter::repeat_n(SENTENCE, 50).map(|piece| chunk(vec![Part::text(piece)], None));
    Scripted { events: pieces.collect(), hangs: true }
}

fn bench_saying(definition: AgentDefinition, replies: Vec<Scripted>) -> Bench {
    let bench = bench(definition, []);
    bench.model.replies.lock().expect("no test panics with it").extend(replies);
    bench
}

#[tokio::test(start_paused = true)]
async fn loops_repeated_calls_are_stopped_and_the_model_is_warned_and_can_change_course() {
    let mut replies = same(5);
    replies.extend([calls([("look", json!({}))]), text("found")]);
    let mut bench = bench_saying(patient(Completion::Text), replies);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("found"), None, 7));
    let sent = bench.model.sent();
    assert_eq!(sent[4], "read did it");
    assert!(
        sent[5].starts_with("You are going round in circles: `read {\"path\":\"a\"}` repeated 5 times"),
        "{}",
        sent[5]
    );
    assert_eq!(told(&bench).len(), 1);
    let refused = bench.executor.history().contents().iter().flat_map(Content::function_responses).nth(4);
    let refused = refused.expect("an outcome for each call").body.text().to_owned();
    assert_eq!(
        refused,
        "[Operation Cancelled] Reason: the same calls again with the same results; no call of this reply was run"
    );
    let started = bench.watcher.types().iter().filter(|kind| *kind == "call_started").count();
    assert_eq!(started, 5, "four of the same and the other one");
}

#[tokio::test(start_paused = true)]
async fn loops_second_loop_ends_the_run_with_an_error_that_names_what_was_repeated() {
    for completion in [Completion::Text, Completion::Tool] {
        let mut bench = bench_saying(patient(completion), same(6));
        let result = bench.run().await;
        assert_eq!(came_to(&result), (Error, None, None, 6));
        let Some(RunError::Loop(repeated)) = &result.error else { panic!("{:?}", result.error) };
        assert!(repeated.to_string().contains("`read {\"path\":\"a\"}`"), "{repeated}");
        assert!(!bench.watcher.types().iter().any(|kind| kind == "recovery_started"), "no recovery follows a loop");
        assert_eq!(told(&bench).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_repeats_itself_is_cut_off_and_never_part_of_the_conversation() {
    let mut bench = bench_saying(patient(Completion::Text), vec![chants(), text("found")]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("found"), None, 2));
    let sent = bench.model.sent();
    assert!(sent[1].starts_with("Do: testsYou are going round in circles: the text `"), "{}", sent[1]);
    assert_eq!(bench.model.last().len(), 1, "the question was asked again");

    let mut bench = bench_saying(patient(Completion::Text), vec![chants(), chants()]);
    let result = bench.run().await;
    assert_eq!((result.terminate_reason, result.result), (Error, None));
    assert!(matches!(result.error, Some(RunError::Loop(Repeated::Text { .. }))), "{:?}", result.error);
    assert!(result.partial.is_some_and(|partial| partial.text().starts_with(SENTENCE)));
}

#[tokio::test(start_paused = true)]
async fn loops_finished_reply_that_repeats_itself_is_not_an_answer() {
    let mut bench = bench_saying(patient(Completion::Text), vec![text(&SENTENCE.repeat(12)), text("found")]);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("found"), None, 2));
}

#[tokio::test(start_paused = true)]
async fn a_loop_of_words_after_one_of_calls_is_the_second() {
    let mut replies = same(5);
    replies.push(chants());
    let mut bench = bench_saying(patient(Completion::Text), replies);
    assert!(matches!(bench.run().await.error, Some(RunError::Loop(Repeated::Text { .. }))));
}

#[tokio::test(start_paused = true)]
async fn each_run_starts_fresh() {
    let mut replies = same(4);
    replies.push(text("one"));
    replies.extend(same(4));
    replies.push(text("two"));
    let mut bench = bench_saying(patient(Completion::Text), replies);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("one"), None, 5));
    assert_eq!(came_to(&bench.run().await), (Goal, Some("two"), None, 5));
    assert!(told(&bench).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_completed_beside_a_loop_is_not_lost() {
    let mut replies = same(4);
    replies.push(calls([("read", json!({"path": "a"})), ("complete_task", json!({"result": "found"}))]));
    let mut bench = bench_saying(patient(Completion::Tool), replies);
    assert_eq!(came_to(&bench.run().await), (Goal, Some("found"), None, 5));
}

#[tokio::test(start_paused = true)]
async fn without_detection_only_the_other_limits_stop_a_model() {
    let usual = patient(Completion::Text);
    let run = RunConfig { loops: LoopDetection::Off, ..usual.run };
    let mut replies = same(12);
    replies.push(text(&SENTENCE.repeat(40)));
    let mut bench = bench_saying(AgentDefinition { run, ..usual }, replies);
    let result = bench.run().await;
    assert_eq!((result.terminate_reason, result.turns), (Goal, 13));
}

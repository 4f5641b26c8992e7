//! Cancels and deadlines in each phase.

use super::*;
use host_journal::TerminateReason::*;

/// Runs, and cancels after so many seconds.
async fn cancelled_after(seconds: u64, bench: &mut Bench) -> RunResult {
    let cancel = bench.cancel.clone();
    let task = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        cancel.cancel();
    });
    let result = bench.run().await;
    task.abort();
    result
}

#[tokio::test(start_paused = true)]
async fn executor_cancelled_before_the_first_turn_sends_no_request() {
    let mut bench = bench(definition(Completion::Text), []);
    bench.cancel.cancel();
    assert_eq!(came_to(&bench.run().await), (Aborted, None, None, 0));
    assert_eq!(bench.watcher.types(), ["run_requested", "asked", "run_started", "user_cancelled", "run_ended"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_the_model_answers_keeps_what_it_had_written() {
    let mut bench = bench(definition(Completion::Text), [hangs("half")]);
    assert_eq!(came_to(&cancelled_after(5, &mut bench).await), (Aborted, None, Some("half"), 1));
    assert_eq!(bench.executor.history().contents(), [Content::user("Do: tests"), Content::model("half")]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_calls_run_settles_each_of_them() {
    let replies = [calls([("read", json!({})), ("wait", json!({})), ("write", json!({}))])];
    let mut bench = bench(definition(Completion::Text), replies);
    assert_eq!(came_to(&cancelled_after(5, &mut bench).await), (Aborted, None, None, 1));
    let lines = bench.watcher.lines.lock().expect("no test panics with it");
    let ended = lines.iter().filter(|line| line["type"] == "call_settled");
    let body = |line: &Value| line["parts"][0]["function_response"]["body"].as_object().cloned().unwrap_or_default();
    let told: Vec<_> = ended.flat_map(|line| body(line).into_values()).collect();
    let cancelled = "[Operation Cancelled] Reason: cancelled by the user";
    assert_eq!(told, ["read did it", &format!("{cancelled}\n\nPartial output:\nhalf"), cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_after_the_task_was_completed_still_aborts_and_keeps_the_answer() {
    let replies = [calls([("complete_task", json!({"result": "found"})), ("wait", json!({}))])];
    let mut bench = bench(definition(Completion::Tool), replies);
    assert_eq!(came_to(&cancelled_after(5, &mut bench).await), (Aborted, None, Some("found"), 1));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_in_a_recovery_aborts() {
    let mut bench = bench(definition(Completion::Text), [hangs("one"), hangs("two")]);
    assert_eq!(came_to(&cancelled_after(120, &mut bench).await), (Aborted, None, Some("two"), 1));
}

#[tokio::test(start_paused = true)]
async fn executor_deadline_cancels_a_running_call_and_is_reported_to_the_model() {
    let mut bench = bench(definition(Completion::Text), [calls([("wait", json!({}))]), text("in time")]);
    let began = tokio::time::Instant::now();
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Timeout, None, Some("in time"), 1));
    assert_eq!((result.best_answer(), began.elapsed().as_secs()), (Some("in time"), 100));
    let told = bench.model.last();
    let outcome = told[2].function_responses().next().expect("an outcome").body.text();
    assert!(outcome.starts_with("[Operation Cancelled] Reason: the time limit of the run has passed"), "{outcome}");
}

#[tokio::test(start_paused = true)]
async fn a_task_completed_in_the_turn_that_meets_the_deadline_is_a_goal() {
    let replies = [calls([("complete_task", json!({"result": "found"})), ("wait", json!({}))])];
    let result = bench(definition(Completion::Tool), replies).run().await;
    assert_eq!((came_to(&result), result.recovered_from), ((Goal, Some("found"), None, 1), None));
}

// promise session.settled
#[tokio::test(start_paused = true)]
async fn dropping_a_run_settles_its_calls_as_interrupted() {
    let mut bench = bench(definition(Completion::Text), [calls([("wait", json!({}))])]);
    assert!(tokio::time::timeout(Duration::from_secs(5), bench.run()).await.is_err(), "it waits");
    let contents = bench.executor.history().contents();
    let told = contents.last().expect("outcomes").function_responses().next().expect("an outcome").body.text();
    assert!(told.starts_with("[Operation Cancelled] Reason: the call was interrupted"), "{told}");
    assert!(!bench.cancel.is_cancelled(), "the caller's token is the caller's");
}

#[test]
fn the_future_of_a_run_can_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let mut bench = bench(definition(Completion::Text), []);
    check(bench.run());
}

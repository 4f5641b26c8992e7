//! The one request after a limit.

use super::*;
use host_journal::TerminateReason::*;

/// Runs, and returns the result, what it recovered from, and the last warning to the model.
async fn recovered<const N: usize>(
    definition: AgentDefinition,
    replies: [Scripted; N],
) -> (RunResult, String, Vec<Content>) {
    let mut bench = bench(definition, replies);
    let result = bench.run().await;
    let sent = bench.model.sent();
    assert_eq!(sent.len(), N, "{sent:?}");
    assert!(bench.watcher.types().iter().any(|kind| kind == "recovery_started"));
    (result, sent.last().expect("a warning").clone(), bench.executor.history().contents().to_vec())
}

fn endless<const N: usize>(last: Scripted) -> Vec<Scripted> {
    let mut replies: Vec<_> = (0..N).map(|_| calls([("read", json!({}))])).collect();
    replies.push(last);
    replies
}

fn four(last: Scripted) -> [Scripted; 4] {
    endless::<3>(last).try_into().unwrap_or_else(|_| unreachable!("three and one"))
}

#[tokio::test(start_paused = true)]
async fn after_the_turn_limit_a_completed_task_is_a_goal() {
    let (result, warning, _) = recovered(definition(Completion::Tool), four(complete("so far"))).await;
    assert_eq!(came_to(&result), (Goal, Some("so far"), None, 3));
    assert_eq!(result.recovered_from, Some(MaxTurns));
    assert_eq!(
        warning,
        "The limit of this run, 3 turns, is reached. You have one last reply and 60 s for it. Call `complete_task` at \
         once, with the best answer that you have so far. Say in it what is missing. Call no other tool: it would not \
         run."
    );
}

#[tokio::test(start_paused = true)]
async fn recovery_text_is_the_best_answer_and_the_run_stays_cut_by_its_limit() {
    let (result, warning, contents) = recovered(definition(Completion::Text), four(text("so far"))).await;
    assert_eq!(came_to(&result), (MaxTurns, None, Some("so far"), 3));
    assert_eq!((result.best_answer(), result.recovered_from), (Some("so far"), None));
    assert_eq!(contents.last(), Some(&Content::model("so far")), "the conversation goes on from there");
    assert!(warning.contains("Write your final answer at once") && !warning.contains("complete_task"), "{warning}");
}

#[tokio::test(start_paused = true)]
async fn no_other_tool_runs_after_a_limit() {
    for completion in [Completion::Tool, Completion::Text] {
        let last = calls([("read", json!({})), ("raed", json!({}))]);
        let (result, _, contents) = recovered(definition(completion), four(last)).await;
        assert_eq!(came_to(&result), (MaxTurns, None, None, 3));
        assert_eq!(result.recovered_from, None);
        let refused = contents.last().expect("outcomes").function_responses().next().expect("one").body.text();
        assert_eq!(refused, "the tool `read` is not available to this agent");
    }
}

#[tokio::test(start_paused = true)]
async fn after_the_time_limit_the_question_is_asked_again_with_the_warning() {
    let (result, warning, contents) =
        recovered(definition(Completion::Tool), [hangs("let me see"), complete("in time")]).await;
    assert_eq!(came_to(&result), (Goal, Some("in time"), None, 1));
    assert_eq!(result.recovered_from, Some(Timeout));
    assert!(warning.starts_with("Do: testsThe time limit of this run, 100 s, has passed."), "{warning}");
    assert_eq!(contents.len(), 3, "the request that hung was never asked: {contents:?}");
}

#[tokio::test(start_paused = true)]
async fn recovery_text_is_not_the_best_answer_of_an_agent_that_must_complete_its_task() {
    let (result, ..) = recovered(definition(Completion::Tool), four(text("so far"))).await;
    assert_eq!(came_to(&result), (MaxTurns, None, Some("so far"), 3));
    assert_eq!(result.partial, Some(Partial::LastText("so far".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn recovery_text_after_a_spent_budget_leaves_the_budget_as_the_error() {
    let limits = TreeLimits { tokens: Some(20), ..TreeLimits::default() };
    let replies = [calls([("read", json!({}))]), calls([("look", json!({}))]), text("so far")];
    let mut bench = bench_within(definition(Completion::Text), replies, limits);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Timeout, None, Some("so far"), 2));
    assert!(matches!(result.error, Some(RunError::Exceeded(_))) && result.best_answer().is_some(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn executor_run_without_limits_continues_for_many_turns() {
    let usual = definition(Completion::Text);
    let run = RunConfig { loops: crate::LoopDetection::Off, ..RunConfig::unlimited() };
    let mut bench = bench(AgentDefinition { run, ..usual }, []);
    let replies = endless::<200>(text("done"));
    *bench.model.replies.lock().expect("no test panics with it") = replies.into();
    assert_eq!(came_to(&bench.run().await), (Goal, Some("done"), None, 201));
}

#[tokio::test(start_paused = true)]
async fn the_grace_is_bounded_too() {
    let began = tokio::time::Instant::now();
    let (result, ..) = recovered(definition(Completion::Tool), [hangs("one"), hangs("two")]).await;
    assert_eq!(came_to(&result), (Timeout, None, Some("two"), 1));
    assert_eq!(began.elapsed().as_secs(), 160);
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_a_call_is_against_the_protocol_of_a_tool_agent() {
    let (result, warning, _) = recovered(definition(Completion::Tool), [text("I am done"), complete("done")]).await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 1));
    assert_eq!(result.recovered_from, Some(ErrorNoCompleteTaskCall));
    assert!(warning.starts_with("Your reply had no tool call."), "{warning}");
}

#[tokio::test(start_paused = true)]
async fn a_recovery_that_fails_leaves_the_end_as_it_was() {
    let bad_result = calls([("complete_task", json!({"result": ""}))]);
    for last in [text("still done"), bad_result] {
        let (result, ..) = recovered(definition(Completion::Tool), [text("I am done"), last]).await;
        assert_eq!((result.terminate_reason, result.result), (ErrorNoCompleteTaskCall, None));
        assert!(result.error.is_none() && result.recovered_from.is_none());
    }
    let (result, ..) = recovered(definition(Completion::Tool), [text("I am done"), breaks("but")]).await;
    assert_eq!(came_to(&result), (ErrorNoCompleteTaskCall, None, Some("but"), 1));
    assert!(matches!(result.error, Some(RunError::Model(_))));
}

#[tokio::test(start_paused = true)]
async fn an_error_or_a_goal_is_not_recovered_from() {
    for reply in [breaks("x"), complete("done")] {
        let mut bench = bench(definition(Completion::Tool), [reply]);
        bench.run().await;
        assert!(!bench.watcher.types().iter().any(|kind| kind == "recovery_started"));
    }
}

#[tokio::test(start_paused = true)]
async fn model_is_told_once_that_a_limit_is_near_and_can_still_end() {
    let mut definition = definition(Completion::Text);
    definition.run.max_turns = Some(10);
    let replies: [Scripted; 10] =
        std::array::from_fn(|at| if at < 9 { calls([("read", json!({ "at": at }))]) } else { text("done") });
    let mut bench = bench(definition, replies);
    let result = bench.run().await;
    assert_eq!(came_to(&result), (Goal, Some("done"), None, 10));
    let contents = bench.executor.history().contents();
    let texts = contents.iter().flat_map(|content| &content.parts).filter_map(Part::as_text);
    let notes: Vec<&str> = texts.filter(|text| text.starts_with("A limit is near: ")).collect();
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.starts_with("A limit is near: 8 of 10 turns are taken."), "{note}");
    // It is no prompt of the user's.
    assert_eq!(bench.executor.prompts(), [0]);
}

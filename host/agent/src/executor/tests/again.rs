//! Invalid replies, and the time in which a user is asked.

use host_model::Service;

use super::*;
use host_journal::TerminateReason::*;

/// A reply with these parts that ends for this reason, or breaks off.
fn ends(parts: Vec<Part>, finish: Option<FinishReason>) -> Scripted {
    Scripted { events: vec![chunk(parts, finish)], hangs: false }
}

/// Makes a reply.
type Reply = fn() -> Scripted;

/// Returns every kind of invalid reply, with the text of its error.
fn no_good() -> Vec<(Reply, &'static str)> {
    vec![
        (|| ends(vec![Part::text("half")], None), "the model's reply broke off"),
        (|| ends(vec![Part::text(" \n")], Some(FinishReason::Stop)), "is empty (it ended with `stop`)"),
        (|| ends(Vec::new(), Some(FinishReason::MaxTokens)), "is empty (it ended with `max_tokens`)"),
        (|| ends(vec![Part::thought("hm")], Some(FinishReason::Stop)), "is empty (it ended with `stop`)"),
        (|| ends(vec![Part::text("x")], Some(FinishReason::MalformedFunctionCall)), "call of a tool could not be read"),
        (|| ends(vec![Part::text("x")], Some(FinishReason::Safety)), "stopped the reply (`safety`)"),
        (
            || {
                let service = Service { provider: Gemini::PROVIDER, address: "http://test".to_owned() };
                let error = ModelError::Blocked { service, reason: "SAFETY".to_owned() };
                Scripted { events: vec![Err(error)], hangs: false }
            },
            "refused the prompt: `SAFETY`",
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn executor_invalid_reply_is_requested_once_more_at_a_higher_temperature() {
    for (bad, words) in no_good() {
        let mut bench = bench(definition(Completion::Text), [bad(), text("good")]);
        let result = bench.run().await;
        assert_eq!(came_to(&result), (Goal, Some("good"), None, 1), "{words}");
        let asked = bench.model.asked.lock().expect("no test panics with it").clone();
        let expected = [(Duration::ZERO, None), (Duration::from_millis(500), Some(1.0))];
        assert_eq!(asked, expected, "{words}");
        let contents = bench.executor.history().contents();
        assert_eq!(contents, [Content::user("Do: tests"), Content::model("good")], "{words}: nothing else was said");
        let told = bench.watcher.lines.lock().expect("no test panics with it").clone();
        let at = told.iter().position(|line| line["type"] == "discarded").expect("it is told");
        assert!(told[at]["reason"].as_str().expect("a reason").contains(words), "{}", told[at]);
        assert_eq!((&told[at + 1]["type"], &told[at + 1]["wait_ms"]), (&json!("retry"), &json!(500)));
    }
}

#[tokio::test(start_paused = true)]
async fn executor_second_invalid_reply_ends_the_run_with_an_error() {
    for (bad, words) in no_good() {
        let mut bench = bench(definition(Completion::Text), [bad(), bad()]);
        let result = bench.run().await;
        assert_eq!(result.terminate_reason, Error, "{words}");
        let error = host_text::with_causes(&result.error.expect("it says why"));
        assert!(error.contains(words), "{error}");
        let kept: Vec<_> = bench.executor.history().contents().iter().map(Content::visible_text).collect();
        let expected: &[&str] = if words.contains("broke off") { &["Do: tests", "half"] } else { &[] };
        assert_eq!(
            (kept, result.is_taken_back),
            (expected.iter().map(|text| (*text).to_owned()).collect(), expected.is_empty()),
            "{words}"
        );
        let types = bench.watcher.types();
        let said = |kind: &&String| ["discarded", "retry", "error"].contains(&kind.as_str());
        let said: Vec<_> = types.iter().filter(said).collect();
        assert_eq!(said, ["discarded", "retry", "discarded", "error"], "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_temperature_of_the_next_turn_is_the_agents_own() {
    let mut definition = definition(Completion::Text);
    definition.model.settings.temperature = Some(0.25);
    let mut bench = bench(definition, [text(""), calls([("read", json!({}))]), text("done")]);
    bench.run().await;
    let asked = bench.model.asked.lock().expect("no test panics with it").clone();
    assert_eq!(asked.into_iter().map(|(_, how)| how).collect::<Vec<_>>(), [Some(0.25), Some(1.0), Some(0.25)]);
}

#[tokio::test(start_paused = true)]
async fn how_often_is_the_definitions() {
    let mut definition = definition(Completion::Text);
    definition.run.reply.attempts = 1;
    let mut bench = bench(definition, [text("")]);
    assert_eq!(bench.run().await.terminate_reason, Error);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_pause() {
    let mut bench = bench(definition(Completion::Text), [text("")]);
    let cancel = bench.cancel.clone();
    let (result, ()) = tokio::join!(bench.run(), async move {
        sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    assert_eq!(result.terminate_reason, Aborted);
}

#[tokio::test(start_paused = true)]
async fn executor_invalid_reply_is_logged_and_left_out_of_the_conversation() {
    let log = super::record::session(None);
    // The second is the last try of its prompt, and the third the first of the next.
    let replies = ["half", "again", "more"].map(|said| ends(vec![Part::text(said)], None));
    let mut bench = bench_with(definition(Completion::Text), replies, Some(log.log()));
    assert_eq!(bench.run().await.terminate_reason, Error);
    bench.model.replies.lock().expect("no test panics with it").push_back(text("good"));
    assert_eq!(bench.run().await.terminate_reason, Goal);
    let entries: Vec<_> = log.lines().into_iter().filter(|line| line["type"] == "discarded").collect();
    let said: Vec<_> = entries.iter().map(|entry| entry["parts"][0]["text"].as_str().unwrap_or_default()).collect();
    assert_eq!((said, &entries[0]["reason"]), (vec!["half", "again", "more"], &json!("the model's reply broke off")));
}

#[tokio::test(start_paused = true)]
async fn executor_deadline_is_paused_while_the_user_is_asked() {
    let mut asking = bench(definition(Completion::Text), [calls([("ask", json!({}))]), text("done")]);
    assert_eq!(came_to(&asking.run().await), (Goal, Some("done"), None, 2));
    let mut working = bench(definition(Completion::Tool), [calls([("work", json!({}))]), complete("so far")]);
    let result = working.run().await;
    assert_eq!((result.terminate_reason, result.recovered_from), (Goal, Some(Timeout)));
}

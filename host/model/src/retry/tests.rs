//! Retries, with a clock that only moves while all tasks wait.

use std::collections::VecDeque;
use std::sync::Mutex;

use host_message::{Content, FinishReason, Part};
use tokio::time::Instant;

use super::*;
use crate::error::Cause;
use crate::{Chunk, Gemini, ReplyFault, Service, Wanted};

/// One reply of the service.
#[derive(Clone)]
enum Reply {
    /// A complete reply with this text.
    Whole(&'static str),
    /// This much text, and then an error.
    Fails(&'static str, ModelError),
}

/// A service that returns prepared replies, and records when it was asked and for which model.
struct Scripted {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<(Instant, String)>>,
    temperatures: Mutex<Vec<Option<f32>>>,
}

impl Scripted {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self {
            replies: Mutex::new(replies.into_iter().collect()),
            asked: Mutex::default(),
            temperatures: Mutex::default(),
        })
    }

    /// Returns the pauses between its requests, in milliseconds.
    fn pauses(&self) -> Vec<u128> {
        let asked = self.asked.lock().unwrap();
        asked.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect()
    }

    fn models(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(_, model)| model.clone()).collect()
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        "test"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let start = async move {
            self.asked.lock().unwrap().push((Instant::now(), request.model.to_owned()));
            self.temperatures.lock().unwrap().push(request.settings.temperature);
            let reply = self.replies.lock().unwrap().pop_front().expect("no request without a reply");
            let text = |text: &str| {
                let parts = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
                Ok(ModelEvent::Chunk(Chunk { parts, ..Chunk::default() }))
            };
            stream::iter(match reply {
                Reply::Whole(said) => {
                    let end = Chunk { finish: Some(FinishReason::Stop), ..Chunk::default() };
                    vec![text(said), Ok(ModelEvent::Chunk(end))]
                }
                Reply::Fails(said, error) => vec![text(said), Err(error)],
            })
        };
        stream::once(start).flatten().boxed()
    }
}

fn service() -> Service {
    Service { provider: Gemini::PROVIDER, address: "http://test".to_owned() }
}

fn status(status: u16, kind: ErrorKind, delay: Option<u64>) -> ModelError {
    let again = Wanted { delay: delay.map(Duration::from_secs), ..Wanted::default() };
    ModelError::Status { service: service(), status, kind, message: "no".to_owned(), again }
}

fn broken() -> ModelError {
    ModelError::Interrupted { service: service(), cause: Cause("reset".to_owned()) }
}

/// Returns a policy of three attempts, so that the tables stay short.
fn without_jitter() -> RetryPolicy {
    RetryPolicy { attempts: 3, jitter: 0.0, ..RetryPolicy::default() }
}

/// Returns the events as text: texts, `again N/M after MS`, `switched to ID`, and at last `done` or the error's kind.
async fn ask(retrying: &Retrying) -> Vec<String> {
    let (contents, settings) = ([Content::user("hi")], Settings::default());
    let request = Request {
        model: "first",
        system: None,
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    let mut stream = retrying.stream(request);
    let mut told = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Chunk(chunk)) => {
                told.extend(chunk.parts.iter().filter_map(Part::as_text).map(str::to_owned));
                told.extend(chunk.finish.map(|_| "done".to_owned()));
            }
            Ok(ModelEvent::Retry(Again { wait, attempt, attempts, .. })) => {
                told.push(format!("again {attempt}/{attempts} after {}", wait.as_millis()));
            }
            Ok(ModelEvent::Switched(switched)) => told.push(format!("switched to {}", switched.model)),
            Err(error) => told.push(format!("{:?}", error.kind())),
        }
    }
    assert!(stream.next().await.is_none(), "it stays at its end");
    told
}

#[tokio::test(start_paused = true)]
async fn retry_repeats_a_temporary_error_after_growing_pauses() {
    let check = async |first: ModelError| {
        let provider =
            Scripted::new([Reply::Fails("", first.clone()), Reply::Fails("", first.clone()), Reply::Whole("a")]);
        let retrying = Retrying::new(Arc::clone(&provider) as _, without_jitter(), None);
        assert_eq!(ask(&retrying).await, ["again 2/3 after 5000", "again 3/3 after 10000", "a", "done"], "{first:?}");
        assert_eq!(provider.pauses(), [5_000, 10_000], "{first:?}");
    };
    for passing in [408, 425, 429, 499, 500, 502, 503, 529] {
        check(status(passing, ErrorKind::Server, None)).await;
    }
    check(broken()).await;
    check(ModelError::Unreachable { service: service(), cause: Cause("refused".to_owned()) }).await;
    check(ModelError::Silent { service: service(), limit: Duration::from_secs(300) }).await;
    for fault in [ReplyFault::Unfinished, ReplyFault::EventTooLarge { limit: 1 }] {
        check(ModelError::Reply { service: service(), fault }).await;
    }
    let (message, again) = (String::new(), Wanted::default());
    check(ModelError::Reported { service: service(), status: None, kind: ErrorKind::Server, message, again }).await;
}

#[tokio::test(start_paused = true)]
async fn retry_asks_a_server_whose_name_does_not_exist_twice_more_and_no_longer() {
    for (cause, requests) in [
        ("dns error: failed to lookup address information: Name or service not known", 3),
        ("dns error: failed to lookup address information: nodename nor servname provided, or not known", 3),
        ("dns error: failed to lookup address information: Temporary failure in name resolution", 10),
        ("Connection refused (os error 111)", 10),
    ] {
        let error = ModelError::Unreachable { service: service(), cause: Cause(cause.to_owned()) };
        let policy = RetryPolicy { attempts: 10, ..without_jitter() };
        let provider = Scripted::new((0..10).map(|_| Reply::Fails("", error.clone())));
        let retrying = Retrying::new(Arc::clone(&provider) as _, policy, None);
        ask(&retrying).await;
        assert_eq!(provider.models().len(), requests, "{cause}");
    }
}

#[tokio::test(start_paused = true)]
async fn retry_does_not_repeat_a_permanent_error() {
    let check = async |error: ModelError, kind: ErrorKind| {
        let provider = Scripted::new([Reply::Fails("", error.clone())]);
        let retrying = Retrying::new(Arc::clone(&provider) as _, without_jitter(), None);
        assert_eq!(ask(&retrying).await, [format!("{kind:?}")], "{error:?}");
        assert_eq!(provider.models().len(), 1, "{error:?}");
    };
    for refused in [400, 409, 413, 422] {
        check(status(refused, ErrorKind::Input, Some(1)), ErrorKind::Input).await;
    }
    check(status(401, ErrorKind::Authentication, None), ErrorKind::Authentication).await;
    check(status(403, ErrorKind::Authentication, None), ErrorKind::Authentication).await;
    check(status(404, ErrorKind::Configuration, None), ErrorKind::Configuration).await;
    check(ModelError::Blocked { service: service(), reason: "SAFETY".to_owned() }, ErrorKind::Safety).await;
    let used_up = Wanted { never: true, ..Wanted::default() };
    let message = String::new();
    let (status, kind) = (429, ErrorKind::Quota);
    check(ModelError::Status { service: service(), status, kind, message, again: used_up }, ErrorKind::Quota).await;
}

#[tokio::test(start_paused = true)]
async fn retry_defaults_survive_the_quota_of_a_minute() {
    let policy = RetryPolicy::default();
    assert_eq!((policy.attempts, policy.jitter, policy.longest_named.as_secs()), (10, 0.3, 300));
    let provider = Scripted::new(vec![Reply::Fails("", status(429, ErrorKind::Quota, None)); 10]);
    let retrying = Retrying::new(Arc::clone(&provider) as _, RetryPolicy { jitter: 0.0, ..policy }, None);
    assert_eq!(ask(&retrying).await.last().map(String::as_str), Some("Quota"));
    let seconds: Vec<_> = provider.pauses().iter().map(|pause| pause / 1_000).collect();
    assert_eq!(seconds, [5, 10, 20, 30, 30, 30, 30, 30, 30]);
}

#[tokio::test(start_paused = true)]
async fn the_tries_are_counted_and_the_last_error_is_the_answer() {
    let provider = Scripted::new(vec![Reply::Fails("", status(503, ErrorKind::Server, None)); 3]);
    let retrying = Retrying::new(Arc::clone(&provider) as _, without_jitter(), None);
    assert_eq!(ask(&retrying).await, ["again 2/3 after 5000", "again 3/3 after 10000", "Server"]);
    // The next reply starts its own count.
    provider.replies.lock().unwrap().extend([Reply::Fails("", broken()), Reply::Whole("b")]);
    assert_eq!(ask(&retrying).await, ["again 2/3 after 5000", "b", "done"]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_the_service_names_is_kept_to() {
    let check = async |delay: u64, told: &[&str], pauses: &[u128]| {
        let provider = Scripted::new([Reply::Fails("", status(429, ErrorKind::Quota, Some(delay))), Reply::Whole("a")]);
        let retrying = Retrying::new(Arc::clone(&provider) as _, without_jitter(), None);
        assert_eq!(ask(&retrying).await, told, "{delay} s");
        assert_eq!(provider.pauses(), pauses, "{delay} s");
    };
    check(1, &["again 2/3 after 5000", "a", "done"], &[5_000]).await;
    check(40, &["again 2/3 after 40000", "a", "done"], &[40_000]).await;
    check(300, &["again 2/3 after 300000", "a", "done"], &[300_000]).await;
    check(301, &["Quota"], &[]).await;
}

#[tokio::test(start_paused = true)]
async fn retry_discards_the_text_of_a_failed_attempt_before_anything_else_arrives() {
    let provider = Scripted::new([Reply::Fails("half", broken()), Reply::Whole("whole")]);
    let retrying = Retrying::new(provider as _, without_jitter(), None);
    assert_eq!(ask(&retrying).await, ["half", "again 2/3 after 5000", "whole", "done"]);
}

#[tokio::test(start_paused = true)]
async fn a_quota_that_stays_used_up_hands_over_to_the_fallback_for_good() {
    let exhausted = || Reply::Fails("", status(429, ErrorKind::Quota, None));
    let provider = Scripted::new([exhausted(), exhausted(), exhausted()]);
    let second = Scripted::new([Reply::Fails("", broken()), Reply::Whole("a"), Reply::Whole("b")]);
    let fallback = Fallback {
        id: "test/second".to_owned(),
        model: "second".to_owned(),
        provider: Arc::clone(&second) as _,
        settings: Settings { temperature: Some(0.5), ..Settings::default() },
        instead_of: Settings::default(),
    };
    let retrying = Retrying::new(Arc::clone(&provider) as _, without_jitter(), Some(fallback));
    let first = ["again 2/3 after 5000", "again 3/3 after 10000", "switched to test/second", "again 2/3 after 5000"];
    assert_eq!(ask(&retrying).await, [&first[..], &["a", "done"]].concat());
    assert_eq!(ask(&retrying).await, ["b", "done"]);
    assert_eq!((provider.models().len(), second.models()), (3, vec!["second".to_owned(); 3]));
    assert_eq!(*second.temperatures.lock().unwrap(), [Some(0.5); 3], "it answers as is configured for it");
    second.replies.lock().unwrap().push_back(Reply::Whole("c"));
    let (contents, settings) = ([Content::user("hi")], Settings { temperature: Some(1.0), ..Settings::default() });
    let request = Request {
        model: "first",
        system: None,
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    retrying.stream(request).for_each(async |_| ()).await;
    assert_eq!(second.temperatures.lock().unwrap().last(), Some(&Some(1.0)), "unless something else is asked");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_fails_otherwise_is_not_handed_over() {
    let provider = Scripted::new(vec![Reply::Fails("", status(503, ErrorKind::Server, None)); 3]);
    let second = Scripted::new([]);
    let (id, model) = ("test/second".to_owned(), "second".to_owned());
    let fallback = Fallback {
        id,
        model,
        provider: Arc::clone(&second) as _,
        settings: Settings::default(),
        instead_of: Settings::default(),
    };
    let retrying = Retrying::new(provider as _, without_jitter(), Some(fallback));
    assert_eq!(ask(&retrying).await.last().map(String::as_str), Some("Server"));
    assert!(second.models().is_empty());
}

#[test]
fn pauses_double_to_a_longest_and_stray_by_three_tenths() {
    let policy = RetryPolicy::default();
    let check = |attempt: u32, chance: f64, milliseconds: u128| {
        assert_eq!(policy.backoff().pause_by(attempt, Some(chance)).as_millis(), milliseconds, "{attempt} {chance}");
    };
    check(1, 0.5, 5_000);
    check(2, 0.5, 10_000);
    check(3, 0.5, 20_000);
    check(4, 0.5, 30_000);
    check(u32::MAX, 0.5, 30_000);
    check(1, 0.0, 3_500);
    check(1, 1.0, 6_500);
    for _ in 0..100 {
        assert!((3_500..=6_500).contains(&policy.backoff().pause(1).as_millis()));
    }
}

#[tokio::test(start_paused = true)]
async fn retry_ends_when_it_is_dropped_during_a_pause() {
    let provider = Scripted::new([Reply::Fails("", broken())]);
    let retrying = Retrying::new(Arc::clone(&provider) as _, without_jitter(), None);
    let before = Instant::now();
    let cancelled = tokio::time::timeout(Duration::from_secs(1), ask(&retrying)).await;
    assert!(cancelled.is_err() && before.elapsed() == Duration::from_secs(1));
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(provider.models().len(), 1, "nobody asks once nobody waits");
}

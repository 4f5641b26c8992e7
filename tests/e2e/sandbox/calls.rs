//! The capability `tools`: what a component gets that calls other tools, and what it does not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use host_plugin::{CallError, Invocation, ToolAnswer, ToolCallError, ToolCaller, ToolRequest};
use host_tests::{Bench, CALL_TIME, text};
use serde_json::{Value, json};

/// Answers each call with this, and counts them.
#[derive(Default)]
struct Session {
    answer: String,
    wait: Duration,
    calls: Arc<Mutex<Vec<usize>>>,
}

impl Session {
    fn calls(&self) -> Vec<usize> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ToolCaller for Session {
    fn call_all(&self, calls: Vec<ToolRequest>) -> BoxFuture<'static, Vec<Result<ToolAnswer, ToolCallError>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(calls.len());
        let (text, wait) = (self.answer.clone(), self.wait);
        async move {
            tokio::time::sleep(wait).await;
            calls.iter().map(|_| Ok(ToolAnswer { text: text.clone(), structured: None })).collect()
        }
        .boxed()
    }
}

async fn told(bench: &Bench, session: &Arc<Session>, arguments: Value) -> String {
    let tools = Some(Arc::clone(session) as Arc<dyn ToolCaller>);
    let ended = bench.invoke(Invocation { tools, ..bench.invocation("call_tools", arguments) }).await;
    ended.map_or_else(|error| format!("error: {error}"), |output| text(&output))
}

// promise tools.granted: A component calls only the tools that its grant names, and one without a grant does not start.
#[tokio::test(flavor = "multi_thread")]
async fn sandbox_component_calls_only_tools_that_it_is_granted() {
    let session = Arc::new(Session { answer: "made".to_owned(), ..Session::default() });
    let arguments = json!({"names": ["grep", "shell", "grep"], "arguments": "{}", "at_once": true});
    let granted = Bench::new("caller", &["tools=grep,ls"]);
    let answer = told(&granted, &session, arguments.clone()).await;
    assert!(answer.starts_with("2 × made\n1 × denied: `caller` has no tools grant for `shell`"), "{answer}");
    assert_eq!(session.calls(), [2], "the denied one never left the sandbox");
    let all_but = Bench::new("caller", &["tools=*,!grep"]);
    let answer = told(&all_but, &session, arguments.clone()).await;
    assert!(answer.starts_with("2 × denied: `caller` has no tools grant for `grep`"), "{answer}");
    // Without a grant it is refused by name, before any of it runs.
    let nothing = Bench::new("caller", &["fs-read=."]);
    let refused = nothing.call("call_tools", arguments.clone()).await.expect_err("it is not granted");
    assert!(refused.to_string().contains("`caller` has no tools grant"), "{refused}");
    assert!(matches!(refused, CallError::Admission(_)), "{refused:?}");
    assert_eq!(session.calls(), [2, 1]);
    // And where there is no session nothing can be called, nor in a preview.
    let answer = granted.text("call_tools", json!({"names": ["grep"], "arguments": "{}"})).await;
    assert!(answer.contains("no tool can be called here"), "{answer}");
    let tools = Some(Arc::clone(&session) as Arc<dyn ToolCaller>);
    let invocation = granted.invocation("call_tools", json!({"names": ["grep"], "arguments": "{}"}));
    let previewed = granted.invoke_preview(Invocation { tools, ..invocation }).await.expect_err("it says what it got");
    assert!(previewed.to_string().contains("no tool can be called here"), "{previewed}");
    assert_eq!(session.calls(), [2, 1]);
}

// promise tools.limits: How many calls one call makes, and how much it gets from them, is limited and told.
#[tokio::test(flavor = "multi_thread")]
async fn sandbox_calls_of_one_call_are_limited_in_number_and_size() {
    let bench = Bench::new("caller", &["tools=*"]);
    let session = Arc::new(Session { answer: "made".to_owned(), ..Session::default() });
    let many = json!({"names": vec!["grep"; 100], "arguments": "{}", "at_once": true, "times": 100});
    let answer = told(&bench, &session, many).await;
    assert!(
        answer.starts_with("256 × made\n9744 × unavailable: `grep` was not called: one call makes at most 256"),
        "{answer}"
    );
    assert_eq!(session.calls().iter().sum::<usize>(), 256);
    for (arguments, words) in [
        ("[]", "the arguments are not a JSON object: it is a value of a different kind"),
        ("{", "the arguments are not a JSON object: EOF"),
        (&*format!("{{\"a\":[{}0]}}", "0,".repeat(100_001)), "more than 100000 values"),
        (&*format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20)), "over the limit of 1048576"),
    ] {
        let answer = told(&bench, &session, json!({"names": ["grep"], "arguments": arguments})).await;
        assert!(answer.starts_with("1 × invalid: ") && answer.contains(words), "{answer}");
    }
    // 20 MB are handed over once, and not twice at once, nor four times in all.
    let session = Arc::new(Session { answer: "x".repeat(20 << 20), ..Session::default() });
    for (times, at_once, ended) in
        [(1, true, "1 × 20971520 bytes\n1 × failed"), (2, false, "3 × 20971520 bytes\n1 × failed")]
    {
        let arguments = json!({"names": ["grep", "grep"], "arguments": "{}", "at_once": at_once, "times": times});
        let answer = told(&bench, &session, arguments).await;
        assert!(answer.starts_with(ended) && answer.contains("ask for less"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sandbox_time_of_calls_is_not_that_of_the_call_that_makes_them() {
    let bench = Bench::new("caller", &["tools=*"]);
    let session =
        Arc::new(Session { answer: "made".to_owned(), wait: CALL_TIME + Duration::from_secs(1), ..Session::default() });
    let answer = told(&bench, &session, json!({"names": ["grep"], "arguments": "{}"})).await;
    assert_eq!(answer, "1 × made\n");
}

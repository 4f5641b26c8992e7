use host_sdk::Content;
use host_sdk::export;
use host_sdk::fake::FakeHost;
use host_sdk::mcp::Answer;
use host_sdk::serde_json::{Value, json};

use super::*;

fn call_of(tool: &str, arguments: &str) -> Call {
    Call { id: "1".to_owned(), tool: tool.to_owned(), arguments: arguments.to_owned() }
}

fn call(call: Call) -> Result<Outcome, Failure> {
    export::call(&called(&call), &call)
}

fn preview(call: Call) -> Result<Option<Confirmation>, Failure> {
    export::preview(&called(&call), &call)
}

/// A host with the server `github`, whose tool `search.code` gives this answer.
fn host(answer: Answer) -> FakeHost {
    FakeHost::new().config("tools", json!({"github__search_code": {"server": "github", "tool": "search.code"}})).mcp(
        "github",
        "search.code",
        Ok(answer),
    )
}

#[test]
fn a_call_reaches_its_one_tool_with_its_arguments() {
    let host = host(Answer { structured: Some("{\"n\":1}".to_owned()), ..Answer::text("found") });
    let answered = host.run(|| call(call_of("github__search_code", r#"{"q": "x", "n": 1.10}"#)));
    assert_eq!(answered, Ok(Outcome::text("found").with_structured("{\"n\":1}")));
    let calls = host.mcp_calls();
    let [call] = calls.as_slice() else { panic!("one call and not {calls:?}") };
    assert_eq!((call.server.as_str(), call.tool.as_str()), ("github", "search.code"));
    assert_eq!(call.arguments, json!({"q": "x", "n": 1.10}));
}

#[test]
fn what_a_tool_calls_an_error_is_a_failure_with_its_text() {
    let host = host(Answer::error("no such repository"));
    let answered = host.run(|| call(call_of("github__search_code", "{}")));
    assert_eq!(answered, Err(Failure::Failed("no such repository".to_owned())));
    let silent = Answer { content: Vec::new(), ..Answer::error("") };
    let answered = self::host(silent).run(|| call(call_of("github__search_code", "{}")));
    assert!(matches!(answered, Err(Failure::Failed(why)) if why.contains("not why")));
}

#[test]
fn a_tool_that_is_not_configured_or_not_granted_calls_nothing() {
    let host = host(Answer::text("x"));
    for tool in ["search.code", "mcp", "github__other", ""] {
        let refused = host.run(|| call(call_of(tool, "{}")));
        assert!(matches!(&refused, Err(Failure::InvalidArguments(_))), "{tool}: {refused:?}");
    }
    let denied = self::host(Answer::text("x")).grant("mcp=gitlab");
    let refused = denied.run(|| call(call_of("github__search_code", "{}")));
    assert!(matches!(&refused, Err(Failure::Denied(denial)) if denial.wanted == "github/search.code"), "{refused:?}");
    assert!(host.mcp_calls().is_empty() && denied.mcp_calls().is_empty());
    let broken = FakeHost::new().config("tools", Value::from("x"));
    assert!(matches!(broken.run(|| call(call_of("a__b", "{}"))), Err(Failure::Failed(_))));
}

#[test]
fn a_preview_names_nothing_and_calls_nothing() {
    let host = host(Answer { content: Vec::<host_sdk::bindings::host::cap::mcp::Content>::new(), ..Answer::text("") });
    let shown = host.run(|| preview(call_of("github__search_code", "{}")));
    assert_eq!(shown, Ok(Some(Confirmation::Call)));
    assert!(host.mcp_calls().is_empty());
    assert!(Outcome::text("x").content == [Content::Text("x".to_owned())]);
}

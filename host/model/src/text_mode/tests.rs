//! Text mode around a provider that returns what a test needs.

use std::sync::Mutex;

use host_message::{InlineData, Signature, ToolName, ToolSpec, Usage};
use serde_json::json;

use super::*;
use crate::{Again, ErrorKind, Settings};

/// Returns its events, and records its requests.
struct Says {
    events: Vec<Result<ModelEvent, ModelError>>,
    asked: Mutex<Vec<String>>,
}

impl Says {
    fn new(events: Vec<Result<ModelEvent, ModelError>>) -> Arc<Self> {
        Arc::new(Self { events, asked: Mutex::default() })
    }

    fn keep(&self, request: &Request<'_>) {
        let contents = request.contents.iter().map(Content::visible_text).collect::<Vec<_>>().join(" | ");
        let asked = format!("{} tools; {contents}; {}", request.tools.len(), request.system.unwrap_or_default());
        self.asked.lock().expect("no test panics with it").push(asked);
    }
}

impl Provider for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        self.keep(&request);
        stream::iter(self.events.clone()).boxed()
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        self.keep(&request);
        Box::pin(async { Ok(Some(7)) })
    }
}

fn chunk(parts: Vec<Part>, finish: Option<FinishReason>) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Chunk(Chunk { parts, finish, ..Chunk::default() }))
}

fn says(text: &str) -> Result<ModelEvent, ModelError> {
    chunk(vec![Part::text(text)], None)
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("ls"),
        title: None,
        description: "Lists".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Default::default(),
    }
}

/// Returns the events after text mode.
async fn through(
    tools: &[ToolSpec],
    events: Vec<Result<ModelEvent, ModelError>>,
) -> Vec<Result<ModelEvent, ModelError>> {
    let provider = TextMode::around(Says::new(events));
    let settings = Settings::default();
    let contents = [Content::user("hi")];
    let request =
        Request { model: "m", system: None, contents: &contents, tools, settings: &settings, conversation: None };
    provider.stream(request).collect().await
}

/// Returns the parts in a word or two each, and the reason.
async fn reply(events: Vec<Result<ModelEvent, ModelError>>) -> (Vec<String>, Option<FinishReason>) {
    let (mut shown, mut finish) = (Vec::new(), None);
    for event in through(&[tool()], events).await {
        let Ok(ModelEvent::Chunk(chunk)) = event else { panic!("{event:?} is no chunk") };
        finish = chunk.finish.or(finish);
        shown.extend(chunk.parts.into_iter().map(|part| match (&part.data, &part.signature) {
            (PartData::FunctionCall(call), _) => format!("<{}>", call.name),
            (PartData::Text(text), Some(signature)) => format!("{text}|{}", signature.data),
            (PartData::Text(text), None) if part.thought => format!("({text})"),
            (PartData::Text(text), None) => text.clone(),
            (other, _) => format!("{other:?}"),
        }));
    }
    (shown, finish)
}

const CALL: &str = "```tool_call\n{\"name\":\"ls\"}\n```\n";
const BROKEN: &str = "```tool_call\n{\"name\":\"ls\"\n```\n";

#[tokio::test]
async fn text_behind_a_call_keeps_its_spaces_however_it_was_cut() {
    let stop = || chunk(vec![], Some(FinishReason::Stop));
    let thought = |text: &str| chunk(vec![Part::thought(text)], None);
    for (before, held) in
        [(CALL, vec!["<ls>", "one two\n\nthree", "(hm so)"]), (BROKEN, vec!["one two\n\nthree", "(hm so)"])]
    {
        let pieces = ["one", " ", "two", "\n\n", "three"].map(says);
        let thoughts = ["hm", " ", "so"].map(thought);
        let events = [says(before)].into_iter().chain(pieces).chain(thoughts).chain([stop()]).collect();
        assert_eq!(reply(events).await.0, held);
    }
}

#[tokio::test]
async fn text_comes_at_once_and_calls_with_the_reason() {
    let stop = || chunk(vec![], Some(FinishReason::Stop));
    let check = async |events: Vec<Result<ModelEvent, ModelError>>, expected: &[&str], finish: FinishReason| {
        assert_eq!(reply(events).await, (expected.iter().map(|&s| s.to_owned()).collect(), Some(finish)));
    };
    check(vec![says("Hel"), says("lo"), stop()], &["Hel", "lo"], FinishReason::Stop).await;
    check(
        vec![says("I look.\n"), says(CALL), says("\n"), says(CALL), stop()],
        &["I look.\n", "<ls>", "<ls>"],
        FinishReason::Stop,
    )
    .await;
    check(
        vec![says(CALL), says("so"), chunk(vec![Part::thought("hm")], None), stop()],
        &["<ls>", "so", "(hm)"],
        FinishReason::Stop,
    )
    .await;
    check(
        vec![says("a\n"), says("```tool_"), says("call\n{\"name\":\"ls\"}"), stop()],
        &["a\n", "<ls>"],
        FinishReason::Stop,
    )
    .await;
    check(vec![chunk(vec![Part::text(CALL)], Some(FinishReason::Stop))], &["<ls>"], FinishReason::Stop).await;
    check(vec![says("``"), stop()], &["``"], FinishReason::Stop).await;
}

#[tokio::test]
async fn text_mode_one_unreadable_call_discards_the_others() {
    let check = async |texts: &[&str], reason: FinishReason, expected: &[&str], finish: FinishReason| {
        let mut events: Vec<_> = texts.iter().map(|text| says(text)).collect();
        events.push(chunk(vec![], Some(reason)));
        assert_eq!(reply(events).await, (expected.iter().map(|&s| s.to_owned()).collect(), Some(finish)), "{texts:?}");
    };
    check(&["a\n", CALL, BROKEN, "b"], FinishReason::Stop, &["a\n", "b"], FinishReason::MalformedFunctionCall).await;
    check(&[BROKEN, CALL], FinishReason::Stop, &[], FinishReason::MalformedFunctionCall).await;
    check(&[CALL, "```tool_call\n{\"na"], FinishReason::MaxTokens, &[], FinishReason::MaxTokens).await;
    check(&[CALL], FinishReason::MaxTokens, &["<ls>"], FinishReason::MaxTokens).await;
    check(&[CALL], FinishReason::Safety, &[], FinishReason::Safety).await;
}

#[tokio::test]
async fn text_mode_parts_that_are_not_text_pass_unchanged() {
    let data = Part::from(PartData::InlineData(InlineData { mime_type: "a/b".to_owned(), base64: "AAAA".to_owned() }));
    let signed =
        Part { signature: Some(Signature { by: "says".to_owned(), data: "c2ln".to_owned() }), ..Part::text("see") };
    let (shown, _) = reply(vec![chunk(vec![data, signed, Part::thought(CALL)], None)]).await;
    assert_eq!(shown, ["InlineData(InlineData(a/b, 4 base64 characters))", "see", "|c2ln", &format!("({CALL})")]);
    let usage = Usage { input: 5, ..Usage::default() };
    let counted = Chunk { usage: Some(usage), citations: vec!["https://a".to_owned()], ..Chunk::default() };
    let events = through(&[tool()], vec![Ok(ModelEvent::Chunk(counted.clone()))]).await;
    assert_eq!(events, [Ok(ModelEvent::Chunk(counted))]);
}

#[tokio::test]
async fn text_mode_discards_what_was_held_back_when_the_reply_is_retried() {
    let again = Again { reason: "cut".to_owned(), wait: std::time::Duration::ZERO, attempt: 2, attempts: 3 };
    let events = vec![
        says(CALL),
        says("```tool_c"),
        Ok(ModelEvent::Retry(again.clone())),
        says("Hello"),
        chunk(vec![], Some(FinishReason::Stop)),
    ];
    let expected = [Ok(ModelEvent::Retry(again)), says("Hello"), chunk(vec![], Some(FinishReason::Stop))];
    assert_eq!(through(&[tool()], events).await, expected);
}

#[tokio::test]
async fn an_error_ends_the_reply_and_no_call_of_it_is_handed_out() {
    let error = ModelError::MissingKey { provider: crate::Gemini::PROVIDER };
    let events = through(&[tool()], vec![says(CALL), Err(error.clone()), says("never")]).await;
    assert_eq!(events, [Err(error)]);
    assert_eq!(events[0].as_ref().expect_err("it is one").kind(), ErrorKind::Authentication);
}

#[tokio::test]
async fn without_tools_nothing_is_a_call() {
    assert_eq!(through(&[], vec![says(CALL)]).await, [says(CALL)]);
}

#[tokio::test]
async fn text_mode_describes_the_tools_in_the_system_message() {
    let says = Says::new(vec![]);
    let provider = TextMode::around(Arc::clone(&says) as Arc<dyn Provider>);
    let settings = Settings::default();
    let contents = [Content::user("hi")];
    let tools = [tool()];
    let request = Request {
        model: "m",
        system: Some("Be brief."),
        contents: &contents,
        tools: &tools,
        settings: &settings,
        conversation: None,
    };
    assert_eq!(provider.stream(request).count().await, 0);
    assert_eq!(provider.count_tokens(request).await, Ok(Some(7)));
    assert_eq!((provider.name(), provider.embed("m", &[]).await), ("says", Ok(None)));
    let asked = says.asked.lock().expect("no test panics with it");
    assert_eq!(asked.len(), 2);
    for asked in asked.iter() {
        assert!(asked.starts_with("0 tools; hi; Be brief.\n\n# Tools") && asked.contains("## ls"), "{asked}");
    }
}

//! The loop against a model that says what the test wrote down, and tools that do what the test needs.

mod again;
mod cancel;
mod compression;
mod ends;
mod joined;
mod loops;
mod record;
mod recovery;
mod resume;
mod steered;
mod subagents;
mod taken_back;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use host_journal::TerminateReason;
use host_message::{
    AgentId, Annotations, CallId, Content, FinishReason, FunctionCall, Output, Part, PartData, Role, ToolName,
    ToolSpec, Usage,
};
use host_model::{Chunk, Gemini, ModelError, ModelEvent, ModelStream, Request};
use host_tool::{CallContext, Outcome, Tool};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::*;
use crate::{Input, InputConfig, InputKind, ModelConfig, OutputConfig, PromptConfig, RunConfig, TreeLimits};

/// One reply: these events, and then the end of the stream or, with `hangs`, nothing any more.
struct Scripted {
    events: Vec<Result<ModelEvent, ModelError>>,
    hangs: bool,
}

/// A scripted model that records the requests in short form: see [`Model::sent`].
struct Model {
    replies: Mutex<VecDeque<Scripted>>,
    sent: Mutex<Vec<String>>,
    last: Mutex<Vec<Content>>,
    tools: Mutex<Vec<String>>,
    /// When it was asked, after the first time, and how freely it was to choose its words.
    asked: Mutex<Vec<(Duration, Option<f32>)>>,
    /// Its answer to a request to count a conversation: so many tokens, nothing, or never.
    counts: Mutex<Option<Option<u64>>>,
    began: Instant,
}

impl Model {
    fn new(replies: impl IntoIterator<Item = Scripted>) -> Arc<Self> {
        let replies = Mutex::new(replies.into_iter().collect());
        let (sent, last, tools, asked) = Default::default();
        let counts = Mutex::new(Some(None));
        Arc::new(Self { replies, sent, last, tools, asked, counts, began: Instant::now() })
    }

    /// The last message of each request: its text, or the texts of its responses.
    fn sent(&self) -> Vec<String> {
        self.sent.lock().expect("no test panics with it").clone()
    }

    /// All messages of the last request.
    fn last(&self) -> Vec<Content> {
        self.last.lock().expect("no test panics with it").clone()
    }

    fn tools(&self) -> String {
        self.tools.lock().expect("no test panics with it").join(" ")
    }
}

impl Provider for Model {
    fn name(&self) -> &str {
        "scripted"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let mut due: Vec<&CallId> = Vec::new();
        for content in request.contents {
            let told: Vec<_> = content.function_responses().map(|response| &response.id).collect();
            assert_eq!(told, due, "each call is followed by its outcome, in order");
            due = content.function_calls().map(|call| &call.id).collect();
        }
        let last = request.contents.last().expect("a model is asked something");
        assert_eq!(last.role, Role::User);
        let responses: Vec<_> = last.function_responses().map(|response| response.body.text().to_owned()).collect();
        let short = if responses.is_empty() { last.visible_text() } else { responses.join(" | ") };
        self.sent.lock().expect("no test panics with it").push(short);
        *self.last.lock().expect("no test panics with it") = request.contents.to_vec();
        *self.tools.lock().expect("no test panics with it") =
            request.tools.iter().map(|tool| tool.name.to_string()).collect();
        let asked = (self.began.elapsed(), request.settings.temperature);
        self.asked.lock().expect("no test panics with it").push(asked);
        let reply = self.replies.lock().expect("no test panics with it").pop_front();
        let Scripted { events, hangs } = reply.expect("the model is not asked more often than the test says");
        let events = stream::iter(events);
        if hangs { events.chain(stream::pending()).boxed() } else { events.boxed() }
    }

    fn count_tokens<'a>(&'a self, _: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        let counts = *self.counts.lock().expect("no test panics with it");
        async move {
            match counts {
                Some(counted) => Ok(counted),
                None => futures::future::pending().await,
            }
        }
        .boxed()
    }
}

fn chunk(parts: Vec<Part>, finish: Option<FinishReason>) -> Result<ModelEvent, ModelError> {
    let usage = finish.as_ref().map(|_| Usage { input: 10, output: 1, ..Usage::default() });
    Ok(ModelEvent::Chunk(Chunk { parts, finish, usage, ..Chunk::default() }))
}

fn reply(parts: Vec<Part>) -> Scripted {
    Scripted { events: vec![chunk(parts, None), chunk(Vec::new(), Some(FinishReason::Stop))], hangs: false }
}

fn text(text: &str) -> Scripted {
    reply(vec![Part::text(text)])
}

/// A reply with calls, each a name and its arguments.
fn calls<const N: usize>(calls: [(&str, Value); N]) -> Scripted {
    reply(calls.into_iter().map(|(name, arguments)| call(name, arguments)).collect())
}

fn call(name: &str, arguments: Value) -> Part {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    PartData::FunctionCall(FunctionCall::new(CallId::new(""), ToolName::new(name), arguments)).into()
}

fn complete(result: &str) -> Scripted {
    calls([("complete_task", json!({"result": result}))])
}

/// A reply that says something and then nothing any more.
fn hangs(said: &str) -> Scripted {
    Scripted { events: vec![chunk(vec![Part::text(said)], None)], hangs: true }
}

/// A reply that says something and then breaks.
fn breaks(said: &str) -> Scripted {
    let error = ModelError::MissingKey { provider: Gemini::PROVIDER };
    Scripted { events: vec![chunk(vec![Part::text(said)], None), Err(error)], hangs: false }
}

/// A tool that answers with its own name; `wait` never does, but returns what it had when it is cancelled; `ask` and
/// `work` take an hour, which `ask` spends in asking the user; `long` returns 10,000 characters.
struct Named(ToolSpec);

impl Named {
    fn tool(name: &str) -> Arc<dyn Tool> {
        Arc::new(Self(ToolSpec {
            name: ToolName::new(name),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object"}).into(),
            output_schema: None,
            annotations: Annotations { read_only: name != "write", ..Annotations::default() },
        }))
    }
}

impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        async move {
            let name = self.0.name.as_str();
            if name == "wait" {
                context.cancel.cancelled().await;
                return Outcome::Cancelled { reason: String::new(), partial: Some("half".to_owned()) };
            }
            if matches!(name, "ask" | "work") {
                let _asking = (name == "ask").then(|| context.run_clock.pause());
                sleep(Duration::from_secs(3_600)).await;
            }
            if name == "long" {
                return Outcome::Success(Output::text("x".repeat(10_000)));
            }
            context.live.output("working");
            Outcome::Success(Output::text(format!("{name} did it")))
        }
        .boxed()
    }
}

/// Records the types of the events that it receives.
#[derive(Default)]
struct Watcher {
    lines: Mutex<Vec<Value>>,
}

impl Watcher {
    fn types(&self) -> Vec<String> {
        let lines = self.lines.lock().expect("no test panics with it");
        lines.iter().map(|line| line["type"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Observer for Watcher {
    fn event(&self, event: &Event<'_>) {
        let mut line = serde_json::to_value(event).expect("an event is plain data");
        if let EventKind::Fact(fact) = event.kind {
            // As the log has it, and with the agent as every event.
            let fact = serde_json::to_value(fact).expect("a fact is plain data");
            let (kind, fields) = fact.as_object().and_then(|fact| fact.iter().next()).expect("one kind");
            line = fields.clone();
            for (key, value) in [("type", kind.as_str()), ("agent", event.agent), ("agent_id", event.agent_id.as_str())]
            {
                line[key] = value.into();
            }
        }
        self.lines.lock().expect("no test panics with it").push(line);
    }
}

fn definition(completion: Completion) -> AgentDefinition {
    AgentDefinition {
        name: "tester".to_owned(),
        display_name: "Tester".to_owned(),
        description: "tests".to_owned(),
        prompt: PromptConfig {
            system: Some("You test ${task}.".to_owned()),
            initial_messages: Vec::new(),
            query: "Do: ${task}".to_owned(),
        },
        model: ModelConfig { model: "m".to_owned(), ..ModelConfig::default() },
        run: RunConfig { max_turns: Some(3), max_time: Some(Duration::from_secs(100)), ..RunConfig::default() },
        tools: ToolConfig::All,
        inputs: InputConfig(
            [("task".to_owned(), Input { description: "it".to_owned(), kind: InputKind::String, required: true })]
                .into(),
        ),
        output: None,
        completion,
    }
}

/// An agent under test and those who see what it does.
struct Bench {
    executor: Executor,
    model: Arc<Model>,
    watcher: Arc<Watcher>,
    cancel: CancellationToken,
}

fn bench<const N: usize>(definition: AgentDefinition, replies: [Scripted; N]) -> Bench {
    bench_with(definition, replies, None)
}

fn bench_with<const N: usize>(
    definition: AgentDefinition,
    replies: [Scripted; N],
    session: Option<Arc<dyn Journal>>,
) -> Bench {
    bench_of(definition, Model::new(replies), session, TreeLimits::default())
}

fn bench_within<const N: usize>(definition: AgentDefinition, replies: [Scripted; N], limits: TreeLimits) -> Bench {
    bench_of(definition, Model::new(replies), None, limits)
}

fn bench_of(
    definition: AgentDefinition,
    model: Arc<Model>,
    session: Option<Arc<dyn Journal>>,
    limits: TreeLimits,
) -> Bench {
    let mut tools = Registry::new();
    for name in ["read", "look", "write", "wait", "ask", "work", "long"] {
        tools.register(Named::tool(name)).expect("the names differ");
    }
    let watcher = Arc::new(Watcher::default());
    let setup = Setup {
        budget: Budget::new(AgentId::new("main"), limits),
        provider: Arc::clone(&model) as Arc<dyn Provider>,
        tools,
        responder: Responder::default(),
        observer: Arc::clone(&watcher) as Arc<dyn Observer>,
        session,
        run_clock: PausableClock::default(),
        gate: None,
    };
    let executor = Executor::new(definition, setup).expect("the definition is good");
    Bench { executor, model, watcher, cancel: CancellationToken::new() }
}

impl Bench {
    async fn run(&mut self) -> RunResult {
        let inputs = Map::from_iter([("task".to_owned(), Value::from("tests"))]);
        self.executor.run(&inputs, &self.cancel).await
    }
}

/// Returns the result of a run in this order: end, answer, partial text, turns.
fn came_to(result: &RunResult) -> (TerminateReason, Option<&str>, Option<&str>, u32) {
    (result.terminate_reason, result.result.as_deref(), result.partial.as_ref().map(Partial::text), result.turns)
}

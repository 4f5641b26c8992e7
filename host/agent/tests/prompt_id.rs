//! The prompt id on log lines. Alone in its process: the subscribers of a span are decided once for all threads, so
//! other tests, which have no subscriber, would race with this one.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use host_agent::{
    AgentDefinition, Budget, Completion, Event, Executor, InputConfig, ModelConfig, Observer, PromptConfig, RunConfig,
    Setup, ToolConfig, TreeLimits,
};
use host_message::{
    AgentId, Annotations, CallId, FinishReason, FunctionCall, Output, Part, PartData, ToolName, ToolSpec,
};
use host_model::{Chunk, ModelEvent, ModelStream, Provider, Request};
use host_tool::{CallContext, Outcome, Registry, Responder, Tool};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

/// A model that answers with text, but calls a tool in its second reply.
#[derive(Default)]
struct Model(AtomicUsize);

impl Provider for Model {
    fn name(&self) -> &str {
        "scripted"
    }

    fn stream<'a>(&'a self, _: Request<'a>) -> ModelStream<'a> {
        let part = match self.0.fetch_add(1, Ordering::SeqCst) {
            1 => PartData::FunctionCall(FunctionCall::new(CallId::new(""), ToolName::new("read"), Map::new())).into(),
            _ => Part::text("done"),
        };
        let chunk = Chunk { parts: vec![part], finish: Some(FinishReason::Stop), ..Chunk::default() };
        stream::iter([Ok(ModelEvent::Chunk(chunk))]).boxed()
    }
}

/// Logs when it is called.
struct Logging(ToolSpec);

impl Tool for Logging {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
        async {
            tracing::info!("in the tool");
            Outcome::Success(Output::default())
        }
        .boxed()
    }
}

struct Nobody;

impl Observer for Nobody {
    fn event(&self, _: &Event<'_>) {}
}

/// The captured log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the test does not panic with it").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_prompt_id_reaches_every_log_line_of_its_turn() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    tracing::subscriber::set_global_default(subscriber).expect("it is the only one");

    let mut tools = Registry::new();
    let spec = ToolSpec {
        name: ToolName::new("read"),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        annotations: Annotations::default(),
    };
    tools.register(Arc::new(Logging(spec))).expect("it is the first");
    let definition = AgentDefinition {
        name: "tester".to_owned(),
        display_name: "Tester".to_owned(),
        description: "tests".to_owned(),
        prompt: PromptConfig::default(),
        model: ModelConfig::default(),
        run: RunConfig::default(),
        tools: ToolConfig::All,
        inputs: InputConfig::default(),
        output: None,
        completion: Completion::Text,
    };
    let setup = Setup {
        budget: Budget::new(AgentId::new("main"), TreeLimits::default()),
        provider: Arc::new(Model::default()),
        tools,
        responder: Responder::default(),
        observer: Arc::new(Nobody),
        session: None,
        run_clock: host_tool::PausableClock::default(),
        gate: None,
    };
    let mut executor = Executor::new(definition, setup).expect("the definition is good");
    for _ in 0..2 {
        executor.run(&Map::new(), &CancellationToken::new()).await;
    }

    let logged = lines.0.lock().expect("the test does not panic with it").clone();
    let logged = String::from_utf8(logged).expect("log lines are text");
    let line = logged.lines().find(|line| line.contains("in the tool")).expect("the tool was called");
    assert!(line.contains("turn{prompt_id=main#1}"), "{line}");
}

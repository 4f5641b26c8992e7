//! One long run: whether the host's own time for a turn grows with the number of turns before it, and how long the
//! session of a much longer one takes to be read again.
//!
//! The model and the tool answer at once, and the session is recorded in a file, so a turn is what the loop itself
//! costs: from one request to the next. The first and the last quarter of the same run are compared. Reading a session
//! includes the check of its chain. Prints a line for each measurement as `runs` does: its name, the median and the
//! least over the rounds, parted by tabs.
//!
//! Deliberately not here: putting a history into a provider's JSON, which grows with it, and compression.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use host_agent::{
    AgentDefinition, Budget, Completion, Event, Executor, InputConfig, ModelConfig, Observer, PromptConfig, RunConfig,
    Setup, ToolConfig, TreeLimits,
};
use host_files::ChainStore;
use host_journal::{About, Clock, SessionLog, TerminateReason};
use host_message::{
    AgentId, Annotations, CallId, FinishReason, FunctionCall, ModelId, Output, Part, PartData, ToolName, ToolSpec,
    Usage,
};
use host_model::{Chunk, ModelEvent, ModelStream, Provider, Request};
use host_tool::{CallContext, Outcome, Registry, Responder, Tool};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

/// Turns of the run.
const TURNS: usize = 2_000;

/// Turns of the session that is read again: about 100 MB.
const LONG: usize = 37_000;

/// How often all of it is done.
const ROUNDS: usize = 5;

/// What a call returns, in bytes: as much as a short file.
const OUTCOME: usize = 2_000;

/// The argument with which this program reads the session in a folder, and ends: only a process that has done nothing
/// else yet shows how much memory that takes.
const LOAD: &str = "load";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [LOAD, log, folder] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return load(Path::new(log), Path::new(folder));
    }
    let folder = tempfile::tempdir()?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (mut first, mut last, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms.
    for round in 0..=ROUNDS {
        let turns = threads.block_on(one_run(folder.path(), TURNS))?.turns;
        let quarter = turns.len() / 4;
        let (early, late) = (median(&turns[..quarter]), median(&turns[turns.len() - quarter..]));
        if round > 0 {
            first.push(early);
            last.push(late);
            ratio.push(late / early);
        }
    }
    let (mut rate, mut memory) = (Vec::new(), Vec::new());
    let log = threads.block_on(one_run(folder.path(), LONG))?.log;
    let size = std::fs::metadata(&log)?.len() as f64;
    for round in 0..=ROUNDS {
        let output = Command::new(std::env::current_exe()?).arg(LOAD).args([log.as_path(), folder.path()]).output()?;
        let said = String::from_utf8(output.stdout)?;
        let numbers: Vec<f64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [seconds, grown] = numbers[..] else {
            return Err(format!("the session was not read: {}", String::from_utf8_lossy(&output.stderr)).into());
        };
        if round > 0 {
            rate.push(size / 1e6 / seconds);
            memory.push(grown / size);
        }
    }
    let mut out = std::io::stdout().lock();
    for (name, mut values) in [
        ("turn, first quarter (us)", first),
        ("turn, last quarter (us)", last),
        ("turn, last to first (x)", ratio),
        ("session of 100 MB read again (MB/s)", rate),
        ("session of 100 MB read again, memory of its size (x)", memory),
    ] {
        values.sort_by(f64::total_cmp);
        writeln!(out, "{name}\t{:.3}\t{:.3}", values[values.len() / 2], values[0])?;
    }
    Ok(())
}

/// A run.
struct Run {
    /// How long each turn took.
    turns: Vec<Duration>,
    /// Its session.
    log: PathBuf,
}

async fn one_run(folder: &Path, turns: usize) -> Result<Run, Box<dyn Error>> {
    let model = Arc::new(Model { turns, asked: Mutex::default() });
    let mut tools = Registry::new();
    tools.register(Arc::new(Answer::new()))?;
    let run = RunConfig::unlimited();
    let definition = AgentDefinition {
        name: "main".to_owned(),
        display_name: "Main".to_owned(),
        description: "turns".to_owned(),
        prompt: PromptConfig::default(),
        model: ModelConfig::default(),
        run,
        tools: ToolConfig::All,
        inputs: InputConfig::default(),
        output: None,
        completion: Completion::Text,
    };
    let about = About { workspace: folder, model: &ModelId::new("bench") };
    let chains = ChainStore::open(&folder.join("audit"))?;
    let session = SessionLog::create(folder, about, Clock::system(), &chains)?;
    let log = session.path().to_owned();
    let setup = Setup {
        budget: Budget::new(AgentId::new("main"), TreeLimits::default()),
        provider: Arc::clone(&model) as Arc<dyn Provider>,
        tools,
        responder: Responder::default(),
        observer: Arc::new(Nobody),
        session: Some(Arc::new(session)),
        run_clock: host_tool::PausableClock::default(),
        gate: None,
    };
    let mut executor = Executor::new(definition, setup)?;
    let result = executor.run(&Map::new(), &CancellationToken::new()).await;
    if result.terminate_reason != TerminateReason::Goal {
        return Err(format!("the run ended as {:?}: {:?}", result.terminate_reason, result.error).into());
    }
    let asked = model.asked.lock().unwrap_or_else(PoisonError::into_inner);
    let turns = asked.windows(2).map(|pair| pair[1].duration_since(pair[0])).collect();
    Ok(Run { turns, log })
}

/// Reads a session, and prints how many seconds that took and by how many bytes the memory of this process grew.
fn load(log: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let chains = ChainStore::open(&folder.join("audit"))?;
    let before = peak_memory()?;
    let begun = Instant::now();
    let reopened = SessionLog::reopen(log, Clock::system(), &chains)?;
    let took = begun.elapsed();
    let past = reopened.recorded().past(&AgentId::new("main")).ok_or("the session has no conversation")?;
    // A call and its outcome for each turn.
    if past.history().contents().len() < 2 * LONG || !reopened.found().is_empty() {
        return Err(format!("{} messages, {:?}", past.history().contents().len(), reopened.found()).into());
    }
    Ok(writeln!(std::io::stdout(), "{} {}", took.as_secs_f64(), peak_memory()?.saturating_sub(before))?)
}

/// The most memory that this process had, in bytes.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the system does not say")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Wants a call in each reply but the last, each with other arguments.
struct Model {
    turns: usize,
    asked: Mutex<Vec<Instant>>,
}

impl Provider for Model {
    fn name(&self) -> &str {
        "bench"
    }

    fn stream<'a>(&'a self, _: Request<'a>) -> ModelStream<'a> {
        let turn = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(Instant::now());
            asked.len()
        };
        let part = if turn > self.turns {
            Part::text("done")
        } else {
            let (id, name) = (CallId::new(""), ToolName::new("answer"));
            let arguments = Map::from_iter([("path".to_owned(), json!(format!("src/file_{turn}.rs")))]);
            PartData::FunctionCall(FunctionCall::new(id, name, arguments)).into()
        };
        let usage = Some(Usage { input: 10, output: 10, ..Usage::default() });
        let chunk = Chunk { parts: vec![part], finish: Some(FinishReason::Stop), usage, ..Chunk::default() };
        stream::iter([Ok(ModelEvent::Chunk(chunk))]).boxed()
    }
}

/// Answers at once.
struct Answer(ToolSpec, String);

impl Answer {
    fn new() -> Self {
        let spec = ToolSpec {
            name: ToolName::new("answer"),
            title: None,
            description: "Answers.".to_owned(),
            input_schema: json!({"type": "object"}).into(),
            output_schema: None,
            annotations: Annotations { read_only: true, ..Annotations::default() },
        };
        Self(spec, "a line of text\n".repeat(OUTCOME / 15))
    }
}

impl Tool for Answer {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, _: CallContext) -> BoxFuture<'a, Outcome> {
        async { Outcome::Success(Output::text(format!("{}\n{}", call.id, self.1))) }.boxed()
    }
}

struct Nobody;

impl Observer for Nobody {
    fn event(&self, _: &Event<'_>) {}
}

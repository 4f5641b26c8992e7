//! One agent that works for a long time in one process: whether memory, threads and descriptors stay as they are.
//!
//! The model answers at once, and asks for calls of built-in plugins, each in a sandbox of its own; the session is
//! recorded, and the conversation is shortened whenever it fills its window, as in any long run. Prints a table, and
//! fails if anything grows. What it measures is flatness, not speed.
//!
//!     cargo bench -p host-benches --bench soak -- 10000 10     # turns, and calls in each of them

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use host_agent::{
    AgentDefinition, Budget, Completion, CompressionConfig, Event, EventKind, Executor, InputConfig, ModelConfig,
    Observer, PromptConfig, RunConfig, Setup, ToolConfig, TreeLimits,
};
use host_files::ChainStore;
use host_journal::{About, CallStatus, Clock, Fact, SessionLog, TerminateReason};
use host_message::{AgentId, CallId, FinishReason, FunctionCall, ModelId, Part, PartData, ToolName};
use host_model::{Chunk, ModelEvent, ModelStream, Provider, Request};
use host_plugin::{Limits, Runtime, RuntimeOptions, Workspace};
use host_tests::{built_in, built_in_manifest, cache, parse_grants};
use host_tool::{FailureWords, PluginTool, ProgramInput, Registry, Responder, Sandbox};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// Turns, and calls in each, if the command line names no others.
const TURNS: usize = 10_000;
const CALLS: usize = 10;

/// Tokens of the model's window: some forty turns, so that the conversation is shortened over and over.
const WINDOW: u64 = 50_000;

/// The share of the run that warms up, in percent: the allocator, the pool of instances, the threads.
const WARM: usize = 10;

/// How many samples are taken.
const SAMPLES: usize = 200;

/// The most that memory may grow behind the warm-up, in bytes for a call. The ids of all calls stay, since the session
/// log has them and none may come twice: that is about a hundred bytes. A call or its result would be thousands.
const SLOPE: f64 = 192.0;

/// Threads and descriptors that may be about more than before: those of a call that ends while a sample is taken.
const SLACK: usize = 2;

fn main() -> ExitCode {
    match soak() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // A failure of this line cannot be reported.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn soak() -> Result<bool, Box<dyn Error>> {
    // Cargo passes a flag of its own.
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (turns, calls) = match numbers[..] {
        [] => (TURNS, CALLS),
        [turns, calls] if turns >= SAMPLES && calls > 0 => (turns, calls),
        _ => return Err(format!("two numbers: at least {SAMPLES} turns, and the calls in each").into()),
    };
    let folder = tempfile::tempdir()?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let begun = Instant::now();
    let (samples, settled) = threads.block_on(run(folder.path(), turns, calls))?;
    report(&samples, settled, turns, calls, begun.elapsed())
}

/// What the process held when a turn began.
#[derive(Clone, Copy, Debug)]
struct Sample {
    turn: usize,
    resident: usize,
    threads: usize,
    descriptors: usize,
}

impl Sample {
    fn take(turn: usize) -> std::io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.trim().trim_end_matches(" kB").parse::<usize>().map_err(std::io::Error::other)
        };
        let descriptors = fs::read_dir("/proc/self/fd")?.count();
        Ok(Self { turn, resident: value("VmRSS:")? << 10, threads: value("Threads:")?, descriptors })
    }
}

/// Prints the table, and answers whether everything stayed as it was.
fn report(
    samples: &[Sample],
    settled: usize,
    turns: usize,
    calls: usize,
    took: Duration,
) -> Result<bool, Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{turns} turns, {settled} calls, {:.0} s", took.as_secs_f64())?;
    writeln!(out, "{:>6} {:>9} {:>12} {:>8} {:>12}", "done", "calls", "memory, MiB", "threads", "descriptors")?;
    for percent in [1, 10, 25, 50, 75, 100] {
        let wanted = turns * percent / 100;
        let Some(sample) = samples.iter().rev().find(|sample| sample.turn <= wanted) else { continue };
        writeln!(
            out,
            "{percent:>4} % {:>9} {:>12.1} {:>8} {:>12}",
            sample.turn * calls,
            sample.resident as f64 / f64::from(1 << 20),
            sample.threads,
            sample.descriptors
        )?;
    }
    let warm: Vec<Sample> = samples.iter().copied().filter(|sample| sample.turn >= turns * WARM / 100).collect();
    let slope = slope(&warm) / calls as f64;
    let (early, late) = warm.split_at(warm.len() / 2);
    let most = |part: &[Sample], of: fn(&Sample) -> usize| part.iter().map(of).max().unwrap_or_default();
    let mut flat = settled == turns * calls;
    let mut judge = |what: &str, is: bool| {
        flat &= is;
        writeln!(out, "{what}: {}", if is { "ok" } else { "GROWS" })
    };
    judge(&format!("memory grows by {slope:.1} bytes a call, at most {SLOPE}"), slope <= SLOPE)?;
    for (what, of) in [
        ("threads", (|sample: &Sample| sample.threads) as fn(&Sample) -> usize),
        ("descriptors", |sample: &Sample| sample.descriptors),
    ] {
        let (before, behind) = (most(early, of), most(late, of));
        judge(
            &format!("{what}: at most {before} in the first half, {behind} in the second"),
            behind <= before + SLACK,
        )?;
    }
    Ok(flat)
}

/// Bytes a turn: the slope of the line that lies closest to the samples.
fn slope(samples: &[Sample]) -> f64 {
    let count = samples.len() as f64;
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (turn, resident) = (mean(|sample| sample.turn as f64), mean(|sample| sample.resident as f64));
    let (mut both, mut square) = (0.0, 0.0);
    for sample in samples {
        let off = sample.turn as f64 - turn;
        both += off * (sample.resident as f64 - resident);
        square += off * off;
    }
    both / square
}

async fn run(folder: &Path, turns: usize, calls: usize) -> Result<(Vec<Sample>, usize), Box<dyn Error>> {
    let root = fs::canonicalize(folder)?.join("workspace");
    fs::create_dir(&root)?;
    for file in 0..20 {
        let line = |line| format!("    let value_{line} = compute(value_{file}, {line}); // keeps the total\n");
        fs::write(root.join(format!("file_{file:02}.rs")), (0..40).map(line).collect::<String>())?;
    }
    let runtime = Arc::new(Runtime::new(RuntimeOptions {
        cache: Some(cache()),
        state: None,
        environment: Vec::new(),
        limits: Limits::default(),
        ..RuntimeOptions::default()
    }));
    let grants = Arc::new(parse_grants(&["fs-read=."], &root));
    let mut tools = Registry::new();
    for name in ["read_file", "ls", "glob", "grep"] {
        let manifest = built_in_manifest(name);
        let spec = manifest.tools.first().ok_or("a built-in plugin is a tool")?.spec.clone();
        let sandbox = Sandbox {
            runtime: Arc::clone(&runtime),
            grants: Arc::clone(&grants),
            ceiling: Arc::clone(&grants),
            workspace: Arc::new(Workspace::new(root.clone())),
            config: Arc::default(),
            secrets: Arc::default(),
            network: Default::default(),
            input: ProgramInput::default(),
            failures: FailureWords::default(),
            background: None,
            changes: None,
            seen: None,
            mcp: None,
            only_reads: None,
        };
        tools.register(Arc::new(PluginTool::new(spec, (*grants).clone(), built_in(name), sandbox)))?;
    }
    let model = Arc::new(Model { turns, calls, state: Mutex::default() });
    let compression = CompressionConfig { window: Some(WINDOW), ..CompressionConfig::default() };
    let definition = AgentDefinition {
        name: "main".to_owned(),
        display_name: "Main".to_owned(),
        description: "soak".to_owned(),
        prompt: PromptConfig::default(),
        model: ModelConfig::default(),
        run: RunConfig { compression, ..RunConfig::unlimited() },
        tools: ToolConfig::All,
        inputs: InputConfig::default(),
        output: None,
        completion: Completion::Text,
    };
    let about = About { workspace: folder, model: &ModelId::new("soak") };
    let chains = ChainStore::open(&folder.join("audit"))?;
    let settled = Arc::new(Settled::default());
    let setup = Setup {
        budget: Budget::new(AgentId::new("main"), TreeLimits::default()),
        provider: Arc::clone(&model) as Arc<dyn Provider>,
        tools,
        responder: Responder::default(),
        observer: Arc::clone(&settled) as Arc<dyn Observer>,
        session: Some(Arc::new(SessionLog::create(folder, about, Clock::system(), &chains)?)),
        run_clock: host_tool::PausableClock::default(),
        gate: None,
    };
    let mut executor = Executor::new(definition, setup)?;
    let result = executor.run(&Map::new(), &CancellationToken::new()).await;
    if result.terminate_reason != TerminateReason::Goal {
        return Err(format!("the run ended as {:?}: {:?}", result.terminate_reason, result.error).into());
    }
    let failed = settled.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(failed) = &failed.1 {
        return Err(format!("a call did not succeed: {failed}").into());
    }
    let state = model.state.lock().unwrap_or_else(PoisonError::into_inner);
    match &state.error {
        Some(error) => Err(error.clone().into()),
        None if state.shortened == 0 => Err("the conversation was never shortened, so it had to grow".into()),
        None => Ok((state.samples.clone(), failed.0)),
    }
}

/// Asks for calls in each reply but the last, and summarises when it is asked to.
struct Model {
    turns: usize,
    calls: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    turn: usize,
    samples: Vec<Sample>,
    shortened: usize,
    error: Option<String>,
}

impl Model {
    fn parts(&self, request: &Request<'_>) -> Vec<Part> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = request.contents.last().map(|content| content.parts.as_slice()).unwrap_or_default();
        let summarises =
            last.iter().any(|part| matches!(&part.data, PartData::Text(text) if text.contains("<state_snapshot>")));
        if summarises {
            state.shortened += 1;
            return vec![Part::text("<state_snapshot>\nEverything is as it was.\n</state_snapshot>")];
        }
        state.turn += 1;
        let turn = state.turn;
        if turn.is_multiple_of((self.turns / SAMPLES).max(1)) {
            match Sample::take(turn) {
                Ok(sample) => state.samples.push(sample),
                Err(error) => state.error = Some(error.to_string()),
            }
        }
        if turn > self.turns {
            return vec![Part::text("done")];
        }
        (0..self.calls).map(|call| called(turn, call)).collect()
    }
}

/// A call, each with other arguments than those before it: a model that repeats itself would be stopped.
fn called(turn: usize, call: usize) -> Part {
    let number = turn * 31 + call;
    let file = format!("file_{:02}.rs", number % 20);
    let (name, arguments) = match number % 4 {
        0 => ("ls", json!({"path": ".", "ignore": [format!("none-{number}")]})),
        1 => ("glob", json!({"pattern": format!("file_*{}.rs", number % 10)})),
        2 => ("grep", json!({"pattern": format!("value_{}\\b", number % 40), "path": file})),
        _ => ("read_file", json!({"path": file, "offset": number % 30, "limit": 10})),
    };
    let Value::Object(arguments) = arguments else { unreachable!("it was written as an object") };
    PartData::FunctionCall(FunctionCall::new(CallId::new(""), ToolName::new(name), arguments)).into()
}

impl Provider for Model {
    fn name(&self) -> &str {
        "soak"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        // Without a count of tokens the size of the conversation is estimated.
        let chunk = Chunk { parts: self.parts(&request), finish: Some(FinishReason::Stop), ..Chunk::default() };
        stream::iter([Ok(ModelEvent::Chunk(chunk))]).boxed()
    }
}

/// Counts the calls that succeeded, and keeps how the first one ended that did not.
#[derive(Default)]
struct Settled(Mutex<(usize, Option<String>)>);

impl Observer for Settled {
    fn event(&self, event: &Event<'_>) {
        let EventKind::Fact(Fact::CallSettled { end, .. }) = event.kind else { return };
        let mut settled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match end.status {
            CallStatus::Success => settled.0 += 1,
            CallStatus::Error { .. } | CallStatus::Cancelled | CallStatus::Interrupted => {
                settled.1.get_or_insert_with(|| format!("{}: {:?}", end.tool(), end.status));
            }
        }
    }
}

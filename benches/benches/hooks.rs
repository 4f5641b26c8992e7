//! What a hook costs: the example of `tests/guests/safety` as a component, and the same check as a program, confined
//! and not.
//!
//! They take turns, so that a machine that is busy for a while spoils all alike. Prints a line for each measurement:
//! its name, the median and the least in milliseconds, parted by tabs, and how many times as long the confined program
//! takes.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use host_capability::PluginName;
use host_plugin::{
    HookCommand, HookComponent, HookDecided, HookEnd, HookMoment, HookQuestion, HookToolCall, ProgramAccess, Runtime,
    RuntimeOptions,
};
use host_process::{ConfineMode, Places};

/// How often each is asked.
const ROUNDS: usize = 200;

/// The arguments of the call that is checked.
const ARGUMENTS: &str = r#"{"command":"rm -rf build"}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let environment: Vec<_> = std::env::vars_os().collect();
    let programs = ProgramAccess {
        installed: Places::new(std::env::home_dir().as_deref(), environment.clone()),
        writable: vec![folder.path().to_owned()],
        ..ProgramAccess::default()
    };
    let runtime = Runtime::new(RuntimeOptions { environment, access: programs.into(), ..RuntimeOptions::default() });
    let component = host_tests::guest("safety").component().expect("it is read").into_owned();
    let component = HookComponent::new(PluginName::new("safety"), component)?;
    let ways = ["hook as a component (ms)", "hook as a program (ms)", "hook as a confined program (ms)"];
    let mut times = ways.map(|_| Vec::with_capacity(ROUNDS));
    // The first round compiles the component.
    for round in 0..=ROUNDS {
        for (way, times) in times.iter_mut().enumerate() {
            let begun = Instant::now();
            match way {
                0 => threads.block_on(asked(&runtime, &component))?,
                1 => threads.block_on(run(&runtime, folder.path(), ConfineMode::Off))?,
                _ => threads.block_on(run(&runtime, folder.path(), ConfineMode::Auto))?,
            }
            if round > 0 {
                times.push(begun.elapsed());
            }
        }
    }
    let mut out = std::io::stdout();
    let mut medians = Vec::new();
    for (name, times) in ways.iter().zip(&mut times) {
        times.sort();
        medians.push(times[times.len() / 2]);
        writeln!(out, "{name}\t{}\t{}", milliseconds(times[times.len() / 2]), milliseconds(times[0]))?;
    }
    let ratio = medians[2].as_secs_f64() / medians[0].as_secs_f64();
    writeln!(out, "confined program / component\t{ratio:.1}")?;
    Ok(())
}

async fn asked(runtime: &Runtime, component: &HookComponent) -> Result<(), Box<dyn Error>> {
    let call = HookToolCall { id: "c".to_owned(), tool: "shell".to_owned(), arguments: ARGUMENTS.to_owned() };
    let question = HookQuestion {
        moment: HookMoment::PreToolUse,
        agent: "main".to_owned(),
        subagent: false,
        mode: "default".to_owned(),
        workspace: "/".to_owned(),
        call: Some(call),
        text: String::new(),
        active: false,
    };
    let reply = runtime.ask_hook(component, question, Duration::from_secs(5)).await?;
    if reply.decision == Some(HookDecided::Deny) { Ok(()) } else { Err(format!("it did not deny: {reply:?}").into()) }
}

async fn run(runtime: &Runtime, folder: &std::path::Path, confine: ConfineMode) -> Result<(), Box<dyn Error>> {
    let line = "case $(cat) in *'rm -rf'*) echo no >&2; exit 2;; esac";
    let command = HookCommand {
        argv: ["sh", "-c", line].map(str::to_owned).into(),
        directory: folder.to_owned(),
        environment: Vec::new(),
        resources: host_capability::Resources::default(),
        confine,
        only_reads: false,
        limit: Duration::from_secs(5),
        changes: None,
    };
    let input = format!("{{\"tool_input\":{ARGUMENTS}}}\n").into_bytes();
    match runtime.run_hook(&command, input).await.0 {
        HookEnd::Code(2) => Ok(()),
        other => Err(format!("it ended otherwise: {other:?}").into()),
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1_000.0)
}

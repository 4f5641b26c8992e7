//! What confining a program costs: from its start to its end, with and without walls, and with the standard library.
//! Commands that may change the workspace share the network of their session; those that only read, and servers, have
//! one of their own.
//!
//! They take turns, so that a machine that is busy for a while spoils all alike, with a pause before each: in a
//! session the model thinks between two programs, and what one leaves for the next is then ready. Prints a line for
//! each measurement as `runs` does: its name, the median and the least in milliseconds, parted by tabs.

use std::error::Error;
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_process::{Command, Confinement, Ended, Network, NotConnected, Places, SessionNetwork, start, start_in};

/// How often each is done.
const ROUNDS: usize = 200;

/// The pause before each.
const PAUSE: Duration = Duration::from_millis(10);

/// What runs: nothing of its own counts.
const PROGRAM: &str = "true";

fn main() -> Result<(), Box<dyn Error>> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let temporary = tempfile::tempdir()?;
    let environment: Vec<_> = std::env::vars_os().collect();
    for path in [".git/hooks", ".git/objects", "src"] {
        std::fs::create_dir_all(folder.path().join(path))?;
    }
    std::fs::write(folder.path().join(".git/config"), "")?;
    let confinement = Confinement {
        readable: Places::new(std::env::home_dir().as_deref(), environment.clone()).paths().to_vec(),
        writable: vec![folder.path().to_owned()],
        protected: [".git/hooks", ".git/config"].map(|path| folder.path().join(path)).to_vec(),
        temporary: Some(temporary.path().to_owned()),
        ..Confinement::default()
    };
    let command = Command {
        program: PROGRAM.into(),
        arguments: Vec::new(),
        directory: folder.path().to_owned(),
        environment,
        input: host_process::Input::Empty,
    };
    let session = SessionNetwork::default();
    let ways = [
        "program with the standard library (ms)",
        "program (ms)",
        "confined program (ms)",
        "confined program in the network of a session (ms)",
    ];
    let mut times = ways.map(|_| Vec::with_capacity(ROUNDS));
    // The first round finds out what the machine can do.
    for round in 0..=ROUNDS {
        for (way, times) in times.iter_mut().enumerate() {
            std::thread::sleep(PAUSE);
            let begun = Instant::now();
            match way {
                0 => plainly(&command)?,
                1 => threads.block_on(once(&command, None, None))?,
                2 => threads.block_on(once(&command, Some(&confinement), None))?,
                _ => threads.block_on(once(&command, Some(&confinement), Some(&session)))?,
            }
            if round > 0 {
                times.push(begun.elapsed());
            }
        }
    }
    let mut out = std::io::stdout();
    for (name, times) in ways.iter().zip(&mut times) {
        times.sort();
        writeln!(out, "{name}\t{}\t{}", milliseconds(times[times.len() / 2]), milliseconds(times[0]))?;
    }
    Ok(())
}

fn plainly(command: &Command) -> Result<(), Box<dyn Error>> {
    let mut builder = std::process::Command::new(&command.program);
    builder.current_dir(&command.directory).env_clear().envs(command.environment.iter().cloned());
    let ended = builder.stdin(Stdio::null()).output()?;
    if ended.status.success() { Ok(()) } else { Err(format!("`{PROGRAM}` failed: {ended:?}").into()) }
}

async fn once(
    command: &Command,
    confinement: Option<&Confinement>,
    session: Option<&SessionNetwork>,
) -> Result<(), Box<dyn Error>> {
    // As in every call: there is a proxy, and it denies.
    let denying = || Network::new(Arc::new(|_| Box::pin(async { Err(NotConnected::Denied(String::new())) })));
    let network = confinement.map(|_| denying());
    let mut process = match session {
        Some(session) => start_in(session, command, confinement, network)?,
        None => start(command, confinement, network)?,
    };
    match process.wait().await {
        Ended::Code(0) => Ok(()),
        other => Err(format!("`{PROGRAM}` failed: {other:?}").into()),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

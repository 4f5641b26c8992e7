//! `host mcp serve` beside Wassette: both serve one component over the Model Context Protocol, on standard streams, and
//! make a fresh store and instance for each call.
//!
//! Takes the two programs and how many rounds; both take turns within a round, so that a machine that is busy for a
//! while spoils both alike. Prints a line for each measurement: its name, the medians of the host and of Wassette, and
//! the median of their ratio within each round, parted by tabs. The core or cores are those that the bench may use
//! (`taskset`).

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use host_tests::host::guest_file;
use serde_json::{Value, json};

use crate::server::Server;

#[path = "mcp/server.rs"]
mod server;

/// Calls of a round, for each of the two measurements.
const CALLS: usize = 2_000;

/// Calls that are under way at once.
const ABREAST: usize = 8;

/// What is measured; higher is better in the last alone.
const NAMES: [&str; 4] =
    ["start to the first call's result (ms)", "peak memory (MB)", "a call, median (us)", "calls a second, 8 abreast"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut argument = || arguments.next().ok_or("name the host's binary, Wassette's and the number of rounds");
    let (host, wassette, rounds) = (argument()?, argument()?, argument()?.parse::<usize>()?);
    let folder = tempfile::tempdir()?;
    let (work, components) = (folder.path().join("work"), folder.path().join("components"));
    std::fs::create_dir_all(work.join(".git"))?;
    std::fs::create_dir(&components)?;
    let plugin = tokio::runtime::Runtime::new()?.block_on(guest_file("nothing", folder.path()));
    let in_folder = |program: &str| {
        let mut command = Command::new(program);
        command.env("HOME", folder.path()).env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME");
        command
    };
    load(in_folder(&wassette), &components, &plugin)?;

    let mut ours = in_folder(&host);
    ours.args(["mcp", "serve", "--plugin"]).arg(&plugin).arg("-C").arg(&work);
    let mut theirs = in_folder(&wassette);
    theirs.args(["run", "--component-dir"]).arg(&components);
    let call = json!({"id": "1", "tool": "nothing", "arguments": "{}"});
    let mut served = [
        Served { command: ours, tool: "nothing", arguments: json!({}) },
        Served { command: theirs, tool: "host_tool_tool_0_1_0_call", arguments: json!({"call": call}) },
    ];
    let mut values: [[Vec<f64>; 3]; NAMES.len()] = Default::default();
    // The first round fills caches.
    for round in 0..=rounds {
        let [ours, theirs] = &mut served;
        let (ours, theirs) = (ours.measure()?, theirs.measure()?);
        if round > 0 {
            for ((values, ours), theirs) in values.iter_mut().zip(ours).zip(theirs) {
                values.iter_mut().zip([ours, theirs, ours / theirs]).for_each(|(values, value)| values.push(value));
            }
        }
    }
    let mut out = std::io::stdout();
    for (name, values) in NAMES.into_iter().zip(values) {
        let [ours, theirs, ratio] = values.map(median);
        writeln!(out, "{name}\t{ours:.2}\t{theirs:.2}\t{ratio:.2}")?;
    }
    Ok(())
}

/// Has Wassette compile and keep the component.
fn load(mut wassette: Command, components: &Path, plugin: &Path) -> Result<(), Box<dyn Error>> {
    let source = format!("file://{}", plugin.display());
    let output = wassette.args(["component", "load", "--component-dir"]).arg(components).arg(source).output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}

/// A server, and the tool of it that does nothing.
struct Served {
    command: Command,
    tool: &'static str,
    arguments: Value,
}

impl Served {
    fn measure(&mut self) -> Result<[f64; NAMES.len()], Box<dyn Error>> {
        let begun = Instant::now();
        let mut server = Server::start(&mut self.command)?;
        // Wassette knows its components a moment after it answers.
        while let Err(error) = server.call(self.tool, &self.arguments) {
            if begun.elapsed() > Duration::from_secs(10) {
                return Err(error);
            }
        }
        let start = begun.elapsed();
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let begun = Instant::now();
            server.call(self.tool, &self.arguments)?;
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        let begun = Instant::now();
        server.calls(self.tool, &self.arguments, CALLS, ABREAST)?;
        let rate = CALLS as f64 / begun.elapsed().as_secs_f64();
        Ok([start.as_secs_f64() * 1e3, server.peak_memory()?, median(times), rate])
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

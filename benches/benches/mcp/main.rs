//! What `host mcp serve` costs: its start, its memory, and a call on an open connection.
//!
//! A call is compared with a list of the tools and with a ping, which take turns with it, so that a machine that is
//! busy for a while spoils all alike. Prints a line for each measurement as `runs` does: its name, the median and the
//! least, parted by tabs.

use std::error::Error;
use std::io::Write;
use std::process::Command;
use std::time::Instant;

use host_tests::host::guest_file;
use serde_json::json;

use crate::server::Server;

mod server;

/// How often each request is sent on an open connection.
const ROUNDS: usize = 2_000;

/// Calls that are under way at once.
const ABREAST: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let host = arguments.next().ok_or("name the binary")?;
    let runs: usize = arguments.next().map_or(Ok(15), |runs| runs.parse())?;
    let folder = tempfile::tempdir()?;
    std::fs::create_dir_all(folder.path().join("work/.git"))?;
    let plugin = tokio::runtime::Runtime::new()?.block_on(guest_file("misbehave", folder.path()));
    let start = || {
        let mut command = Command::new(&host);
        command.args(["mcp", "serve", "--plugin"]).arg(&plugin).arg("-C").arg(folder.path().join("work"));
        Server::start(command.env_clear().env("HOME", folder.path()))
    };
    let text = json!({"text": "x"});
    // The first one fills the cache of compiled components.
    start()?.call("echo", &text)?;
    let (mut starts, mut memory, mut memory_of_call) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let begun = Instant::now();
        let mut server = start()?;
        starts.push(begun.elapsed().as_secs_f64() * 1e3);
        server.request("tools/list", &json!({}))?;
        memory.push(server.peak_memory()?);
        server.call("echo", &text)?;
        memory_of_call.push(server.peak_memory()?);
    }
    let mut server = start()?;
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..=ROUNDS {
        for (kind, times) in times.iter_mut().enumerate() {
            let begun = Instant::now();
            match kind {
                0 => drop(server.request("ping", &json!({}))?),
                1 => drop(server.request("tools/list", &json!({}))?),
                _ => server.call("echo", &text)?,
            }
            if round > 0 {
                times.push(begun.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let mut abreast = Vec::new();
    for round in 0..=runs {
        let begun = Instant::now();
        server.calls("echo", &text, ROUNDS, ABREAST)?;
        if round > 0 {
            abreast.push(begun.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64);
        }
    }
    print("MCP server, to its first answer (ms)", starts);
    print("MCP server, peak memory after a list (MB)", memory);
    print("MCP server, peak memory after a call (MB)", memory_of_call);
    let [_, lists, calls] = &times;
    let mut over: Vec<f64> = calls.iter().zip(lists).map(|(call, list)| call - list).collect();
    // The least call happened to follow a slow list.
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    line("MCP call, over the list before it (us)", median(&mut over), least(calls) - least(lists));
    for (name, times) in ["MCP ping (us)", "MCP list of the tools (us)", "MCP call (us)"].iter().zip(times) {
        print(name, times);
    }
    print("MCP calls, 8 under way, each (us)", abreast);
    Ok(())
}

/// Prints the median and the least.
fn print(name: &str, mut values: Vec<f64>) {
    let median = median(&mut values);
    line(name, median, values[0]);
}

/// Returns the median of `values` and leaves them sorted.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn line(name: &str, median: f64, least: f64) {
    // A reader that is gone does not want it.
    let _ = std::io::stdout().write_all(format!("{name}\t{median}\t{least}\n").as_bytes());
}

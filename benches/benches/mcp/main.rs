//! What `host mcp serve` costs: its start, its memory, and a call on an open connection.
//!
//! A call is compared with a list of the tools and with a ping, which take turns with it, so that a machine that is busy
//! for a while spoils all alike. Prints a line for each measurement as `runs` does: its name, the median and the least,
//! parted by tabs.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use host_tests::host::guest_file;
use serde_json::{Value, json};

/// How often each request is sent on an open connection.
const ROUNDS: usize = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let host = arguments.next().ok_or("name the binary")?;
    let runs: usize = arguments.next().map_or(Ok(15), |runs| runs.parse())?;
    let folder = tempfile::tempdir()?;
    std::fs::create_dir_all(folder.path().join("work/.git"))?;
    let plugin = tokio::runtime::Runtime::new()?.block_on(guest_file("misbehave", folder.path()));
    let start = || Server::start(&host, folder.path(), &plugin.display().to_string());
    // The first one fills the cache of compiled components.
    start()?.call("echo", json!({"text": "x"}))?;
    let (mut starts, mut memory, mut memory_of_call) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let begun = Instant::now();
        let mut server = start()?;
        starts.push(begun.elapsed().as_secs_f64() * 1e3);
        server.request("tools/list", &json!({}))?;
        memory.push(server.peak_memory()?);
        server.call("echo", json!({"text": "x"}))?;
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
                _ => server.call("echo", json!({"text": "x"}))?,
            }
            if round > 0 {
                times.push(begun.elapsed().as_secs_f64() * 1e6);
            }
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

/// A server that has shaken hands.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn start(host: &str, home: &std::path::Path, plugin: &str) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(host)
            .args(["mcp", "serve", "--plugin", plugin, "-C"])
            .arg(home.join("work"))
            .env_clear()
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let mut server = Self { child, input, output, next: 0 };
        let about = json!({"name": "bench", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        server.request("initialize", &hello)?;
        Ok(server)
    }

    /// Sends a request and waits for its response, as a text.
    fn request(&mut self, method: &str, params: &Value) -> Result<String, Box<dyn Error>> {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.input.write_all(format!("{request}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if !line.contains("\"result\"") {
            return Err(format!("{method}: {line}").into());
        }
        Ok(line)
    }

    fn call(&mut self, name: &str, arguments: Value) -> Result<(), Box<dyn Error>> {
        let answer = self.request("tools/call", &json!({"name": name, "arguments": arguments}))?;
        if answer.contains("\"isError\":true") { Err(answer.into()) } else { Ok(()) }
    }

    /// The most memory that it has had, in MB.
    fn peak_memory(&self) -> Result<f64, Box<dyn Error>> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak")?;
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024.0 / 1e6)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

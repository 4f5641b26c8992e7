//! A server of the Model Context Protocol on its standard streams, as a bench uses one.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A server that has shaken hands; it ends with this value.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    /// Starts `command` and waits for its answer to `initialize`.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let mut server = Self { child, input, output, next: 0 };
        let about = json!({"name": "bench", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        server.request("initialize", &hello)?;
        server.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(server)
    }

    /// Sends a request and waits for its response, as a text.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<String, Box<dyn Error>> {
        self.send(method, params)?;
        self.receive()
    }

    /// Calls a tool and waits for its result.
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Result<(), Box<dyn Error>> {
        check(self.request("tools/call", &json!({"name": name, "arguments": arguments}))?)
    }

    /// Calls a tool `count` times, of which `abreast` are always under way.
    pub(crate) fn calls(
        &mut self,
        name: &str,
        arguments: &Value,
        count: usize,
        abreast: usize,
    ) -> Result<(), Box<dyn Error>> {
        let params = json!({"name": name, "arguments": arguments});
        for _ in 0..abreast {
            self.send("tools/call", &params)?;
        }
        for call in 0..count {
            check(self.receive()?)?;
            if call + abreast < count {
                self.send("tools/call", &params)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<(), Box<dyn Error>> {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        Ok(self.input.write_all(format!("{request}\n").as_bytes())?)
    }

    /// The next response; notifications are passed over.
    fn receive(&mut self) -> Result<String, Box<dyn Error>> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err("the server ended".into());
            }
            if line.contains("\"result\"") {
                return Ok(line);
            }
            if line.contains("\"error\"") {
                return Err(line.into());
            }
        }
    }

    /// The most memory that it has had, in MB.
    pub(crate) fn peak_memory(&self) -> Result<f64, Box<dyn Error>> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak")?;
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024.0 / 1e6)
    }
}

/// Fails for the response of a call that failed.
fn check(response: String) -> Result<(), Box<dyn Error>> {
    if response.contains("\"isError\":true") { Err(response.into()) } else { Ok(()) }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

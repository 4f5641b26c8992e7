//! The inert part of WASI 0.2, for languages whose runtime imports it whatever the tool does.
//!
//! Promises: nothing linked here reaches a file, a program, the network, the environment or the terminal. There are
//! clocks and random numbers; printed text goes to the log, line by line and bounded; there is no folder and no input.
//!
//! It is linked one interface at a time: the all-in-one functions of `wasmtime-wasi` link sockets too. Those of
//! [`crate::admission::EMPTY_WASI`] are not linked at all: each of their functions is a trap.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use host_capability::PluginName;
use tokio::io::AsyncWrite;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream, WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io, random};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiView};

use crate::store::CallState;

/// The longest printed line, in bytes. Protects the log; the rest of a longer one becomes the next line.
const MAX_LINE: usize = 8 << 10;

/// The most bytes that a call may print in all. Protects the log; the rest is dropped, and the log says so.
const MAX_PRINTED: usize = 1 << 20;

/// Creates a context that contains only two streams to the log.
pub(crate) fn inert(plugin: &PluginName) -> WasiCtx {
    WasiCtxBuilder::new().stdout(Printed::new(plugin)).stderr(Printed::new(plugin)).build()
}

/// The text that a guest prints, on its way to the log.
#[derive(Clone, Debug)]
struct Printed(Arc<Mutex<Lines>>);

#[derive(Debug)]
struct Lines {
    plugin: PluginName,
    line: Vec<u8>,
    taken: usize,
}

impl Printed {
    fn new(plugin: &PluginName) -> Self {
        Self(Arc::new(Mutex::new(Lines { plugin: plugin.clone(), line: Vec::new(), taken: 0 })))
    }
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        let left = MAX_PRINTED - self.taken;
        let kept = bytes.get(..left.min(bytes.len())).unwrap_or_default();
        self.taken += kept.len();
        for byte in kept {
            if *byte != b'\n' {
                self.line.push(*byte);
            }
            if *byte == b'\n' || self.line.len() == MAX_LINE {
                self.end();
            }
        }
        if left > 0 && left < bytes.len() {
            self.end();
            tracing::warn!(
                plugin = self.plugin.as_str(),
                "it printed more than {MAX_PRINTED} bytes; the rest is dropped"
            );
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            tracing::info!(plugin = self.plugin.as_str(), "{}", String::from_utf8_lossy(&line));
        }
    }
}

/// Logs the last line, which may have no newline.
impl Drop for Lines {
    fn drop(&mut self) {
        self.end();
    }
}

impl IsTerminal for Printed {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Printed {
    /// Only WASI 0.3 uses this, and it is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Printed {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_PRINTED)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Printed {
    async fn ready(&mut self) {}
}

struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}

/// Adds the interfaces of [`crate::admission::INERT_WASI`].
pub(crate) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    let table: fn(&mut CallState) -> &mut ResourceTable = |state| state.ctx().table;
    io::error::add_to_linker::<_, Table>(linker, table)?;
    io::poll::add_to_linker::<_, Table>(linker, table)?;
    io::streams::add_to_linker::<_, Table>(linker, table)?;

    clocks::wall_clock::add_to_linker::<_, WasiClocks>(linker, |state| state.clocks())?;
    clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(linker, |state| state.clocks())?;

    random::random::add_to_linker::<_, WasiRandom>(linker, |state| state.ctx().ctx.random())?;
    random::insecure::add_to_linker::<_, WasiRandom>(linker, |state| state.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<_, WasiRandom>(linker, |state| state.ctx().ctx.random())?;

    cli::exit::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::environment::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::stdin::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::stdout::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::stderr::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::terminal_stdin::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::terminal_stdout::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;
    cli::terminal_stderr::add_to_linker::<_, WasiCli>(linker, |state| state.cli())?;

    filesystem::types::add_to_linker::<_, WasiFilesystem>(linker, |state| state.filesystem())?;
    filesystem::preopens::add_to_linker::<_, WasiFilesystem>(linker, |state| state.filesystem())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise wasi.printing
    #[test]
    fn wasi_printed_text_of_a_guest_is_limited() {
        let mut lines = Lines { plugin: PluginName::new("p"), line: Vec::new(), taken: 0 };
        lines.take(b"one\ntwo");
        assert_eq!(lines.line, b"two", "a line goes out when it ends");
        let much = vec![b'x'; MAX_LINE];
        for _ in 0..2 * MAX_PRINTED / MAX_LINE {
            lines.take(&much);
            assert!(lines.line.len() < MAX_LINE, "so does one that is too long");
        }
        assert_eq!(lines.taken, MAX_PRINTED, "the rest is dropped");
        assert!(lines.line.is_empty());
    }
}

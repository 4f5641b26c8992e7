//! The inert part of WASI 0.2, for languages whose runtime imports it whatever the tool does.
//!
//! Promises: nothing linked here reaches a file, a program, the network, the environment or the terminal. There are
//! clocks and random numbers; printed text goes to the log, line by line and bounded; there is no folder and no input.
//!
//! It is linked one interface at a time: the all-in-one functions of `wasmtime-wasi` link sockets too. Those of
//! [`crate::admission::EMPTY_WASI`] are not linked at all: each of their functions is a trap.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream, WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io, random};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::bindings::context::Level;
use crate::guest_log::GuestLog;
use crate::store::StoreData;

/// The longest printed line, in bytes. Protects the log; the rest of a longer one becomes the next line.
const MAX_LINE: usize = 8 << 10;

/// The most bytes that a guest may print at once. The log has its own limits.
const MAX_PRINTED: usize = 1 << 20;

impl WasiView for StoreData {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: self.wasi.get_or_insert_with(|| inert(&self.log)), table: &mut self.table }
    }
}

/// Creates a context that contains only two streams to the log.
fn inert(log: &GuestLog) -> WasiCtx {
    WasiCtxBuilder::new().stdout(Printed::new(log)).stderr(Printed::new(log)).build()
}

/// The text that a guest prints, on its way to the log.
#[derive(Clone, Debug)]
struct Printed(Arc<Mutex<Lines>>);

#[derive(Debug)]
struct Lines {
    log: GuestLog,
    line: Vec<u8>,
}

impl Printed {
    fn new(log: &GuestLog) -> Self {
        Self(Arc::new(Mutex::new(Lines { log: log.clone(), line: Vec::new() })))
    }
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
            }
            if *byte == b'\n' || self.line.len() == MAX_LINE {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.log.entry(Level::Info, &String::from_utf8_lossy(&line));
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
pub(crate) fn add_to_linker(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    let table: fn(&mut StoreData) -> &mut ResourceTable = |state| state.ctx().table;
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
    fn wasi_printed_text_of_a_guest_becomes_lines_that_are_limited() {
        let log = GuestLog::new(&host_capability::PluginName::new("p"), &Arc::default());
        let mut lines = Lines { log, line: Vec::new() };
        lines.take(b"one\ntwo");
        assert_eq!(lines.line, b"two", "a line goes out when it ends");
        lines.take(&vec![b'x'; MAX_LINE]);
        assert_eq!(lines.line, b"xxx", "so does one that is too long");
    }
}

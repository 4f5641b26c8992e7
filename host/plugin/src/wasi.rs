//! The inert part of WASI 0.2, for languages whose runtime imports it whatever the tool does.
//!
//! Promises: nothing linked here reaches a file, a program, the network, the environment or the terminal. There
//! are clocks and random numbers; streams lead nowhere; there is no folder.
//!
//! It is linked one interface at a time: the all-in-one functions of `wasmtime-wasi` link sockets too.

use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io, random};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiView};

use crate::store::CallState;

/// A context with nothing in it.
pub(crate) fn inert() -> WasiCtx {
    WasiCtxBuilder::new().build()
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

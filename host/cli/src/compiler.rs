//! The processes that compile: this binary under the names [`COMPILER_NAME`] and [`AHEAD_NAME`], as the host starts
//! it.
//!
//! The first compiles one component. It limits itself, reads the component from its standard input and writes the
//! machine code to its standard output. It ends when that is done, or when its input ends: then the host is gone, or
//! nobody waits for the code any more.
//!
//! The second compiles the built-in tools for the user's cache, once after an installation. It is the only process of
//! the host that goes on when the host has ended: a run with one prompt ends long before they are compiled. It prints
//! nothing, touches nothing but the cache, and ends by itself.
//!
//! Deliberately not here: how much a compilation may take, and what becomes of the code.

use std::ffi::OsString;
use std::io;
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use host_plugin::{AHEAD_NAME, COMPILER_NAME, compile_to, read_component};

/// The exit code if the component does not compile.
const NOT_COMPILED: u8 = 1;
/// The exit code if nothing was compiled.
const UNABLE: u8 = 2;

/// The most processor time in which the built-in tools are compiled. They take some seconds; it ends a compiler that
/// never would.
const AHEAD_TIME: Duration = Duration::from_secs(300);

/// Why there is no code: the exit code and the words for it.
type Failed = (u8, String);

/// The arguments of a compilation; `None` if this process is to do anything else.
pub(crate) fn arguments() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os();
    (arguments.next()? == COMPILER_NAME).then(|| arguments.collect())
}

/// Does the work of this process.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    host_process::prepare_host();
    match compile(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, why)) => {
            crate::printer::to_stderr(&format!("{why}\n"));
            code.into()
        }
    }
}

/// The folder of the cache for which the built-in tools are to be compiled; `None` if this process is to do anything
/// else.
pub(crate) fn ahead() -> Option<PathBuf> {
    let mut arguments = std::env::args_os();
    if arguments.next()? != AHEAD_NAME {
        return None;
    }
    arguments.next().map(PathBuf::from)
}

/// Compiles the built-in tools. Nobody reads why it cannot: the calls that need one compile it, and report that.
pub(crate) fn run_ahead(cache: PathBuf) -> ExitCode {
    host_process::prepare_host();
    let detached = host_process::detach_own(AHEAD_TIME);
    let is_done = detached.is_ok() && host_app::built_in::compile_for(cache).is_ok();
    if is_done { ExitCode::SUCCESS } else { UNABLE.into() }
}

fn compile(arguments: &[OsString]) -> Result<(), Failed> {
    let unable = |error: io::Error| (UNABLE, error.to_string());
    let number = |at: usize| arguments.get(at)?.to_str()?.parse::<u64>().ok();
    let (Some(memory), Some(seconds)) = (number(0), number(1)) else {
        return Err((UNABLE, format!("`{COMPILER_NAME}` is started by the host itself")));
    };
    host_process::limit_own(memory, Duration::from_secs(seconds)).map_err(unable)?;
    let component = read_component(io::stdin().lock()).map_err(unable)?;
    let (compiled, ended) = channel();
    let gone = compiled.clone();
    let watch = move || {
        // Nothing more is sent: this waits for the end.
        io::copy(&mut io::stdin().lock(), &mut io::sink()).ok();
        gone.send(Err((UNABLE, "the host is gone".to_owned()))).ok();
    };
    thread::Builder::new().spawn(watch).map_err(unable)?;
    let work = move || {
        let panicked = |_| Err("the compiler panicked".to_owned());
        let done = catch_unwind(|| compile_to(&component, io::stdout().lock())).unwrap_or_else(panicked);
        compiled.send(done.map_err(|why| (NOT_COMPILED, why))).ok();
    };
    thread::Builder::new().spawn(work).map_err(unable)?;
    // One of the two threads sends before it ends.
    ended.recv().unwrap_or_else(|_| Err((UNABLE, "no thread is left".to_owned())))
}

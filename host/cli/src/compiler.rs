//! The process that compiles one component: this binary under the name [`COMPILER_NAME`], as the host starts it.
//!
//! It limits itself, reads the component from its standard input and writes the machine code to its standard output. It
//! ends when that is done, or when its input ends: then the host is gone, or nobody waits for the code any more.
//!
//! Deliberately not here: how much a compilation may take, and what becomes of the code.

use std::ffi::OsString;
use std::io;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use host_plugin::{COMPILER_NAME, compile_to, read_component};

/// The exit code if the component does not compile.
const NOT_COMPILED: u8 = 1;
/// The exit code if nothing was compiled.
const UNABLE: u8 = 2;

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

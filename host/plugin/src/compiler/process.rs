//! The process that compiles one component, from both sides of its pipes.
//!
//! The host writes the length of the component and the component, and reads the machine code. The input stays open
//! until the code has come, so that its end tells the process that the host is gone.
//!
//! Deliberately not here: limiting the process, which it does itself before it reads.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use host_capability::PluginName;
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::cache::MAX_ENTRY;
use crate::compile_limits::{CompileLimit, CompileLimits};
use crate::engine;
use crate::error::RuntimeError;
use crate::limits::MAX_COMPONENT;

/// The name under which the binary is started to compile one component: its first argument, `argv[0]`.
pub const COMPILER_NAME: &str = "host-compiler";

/// The most threads of a compilation. Each takes memory of its own, and more than a few gain little.
const MAX_THREADS: usize = 8;
/// The longest message of the compiler's process, in bytes. Protects memory.
const MAX_WORDS: u64 = 4 << 10;
/// How many times longer than its processor time a compilation may take in all, on a machine that is busy. Protects the
/// user from one that waits.
const PATIENCE: u32 = 4;
/// Bytes before the component in the input of the process: how long it is.
const LENGTH: usize = size_of::<u64>();

/// Compiles a component in a process of this program; returns the machine code. Dropping the future ends the process.
pub(super) async fn compile(
    program: &Path,
    limits: CompileLimits,
    plugin: &PluginName,
    component: &[u8],
) -> Result<Vec<u8>, RuntimeError> {
    let failed = |error: io::Error| RuntimeError::Compiler { plugin: plugin.to_string(), why: error.to_string() };
    // They grow with the code, so a small component cannot take what a large one may.
    let (memory, time) = limits.of(component);
    let mut process = start(program, memory, time).map_err(failed)?;
    // Besides the processor time: a process that waits for nothing uses none.
    let whole = tokio::time::timeout(time.saturating_mul(PATIENCE), exchange(&mut process, component));
    let size = component.len();
    let too_much = |limit| RuntimeError::TooCostly { plugin: plugin.to_string(), size, limit };
    let Ok(ended) = whole.await else { return Err(too_much(CompileLimit::Time(time))) };
    let Ended { status, code, words } = ended.map_err(failed)?;
    if status.success() {
        return Ok(code);
    }
    // Told apart from a crash, since the remedy differs: a smaller plugin, or a bug report.
    Err(match limit_met(status, &words) {
        Some(Resource::Memory) => too_much(CompileLimit::Memory(memory)),
        Some(Resource::Time) => too_much(CompileLimit::Time(time)),
        None if status.code() == Some(1) => {
            RuntimeError::Compile { plugin: plugin.to_string(), error: wasmtime::Error::msg(words) }
        }
        None => {
            let words = host_text::one_line(&words, 500);
            RuntimeError::Compiler {
                plugin: plugin.to_string(),
                why: format!("its process ended with {status}: {words}"),
            }
        }
    })
}

fn start(program: &Path, memory: u64, time: Duration) -> io::Result<Child> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    Command::new(program)
        .arg0(COMPILER_NAME)
        .arg(memory.to_string())
        .arg(time.as_secs().max(1).to_string())
        // It needs nothing of the host's environment, in which there are keys.
        .env_clear()
        .env("RAYON_NUM_THREADS", threads.to_string())
        // The allocator of releases for Linux would take a gigabyte at once, which is over the limit, used or not.
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .current_dir("/")
        // Ctrl-C is for the host, which ends the process itself.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// How a process ended.
struct Ended {
    status: ExitStatus,
    code: Vec<u8>,
    words: String,
}

async fn exchange(process: &mut Child, component: &[u8]) -> io::Result<Ended> {
    let missing = || io::Error::other("a pipe is missing");
    let mut input = process.stdin.take().ok_or_else(missing)?;
    let output = process.stdout.take().ok_or_else(missing)?;
    let errors = process.stderr.take().ok_or_else(missing)?;
    let feed = async {
        // One that ended early does not read, and says why.
        let written = input.write_all(&(component.len() as u64).to_le_bytes()).await;
        if written.is_ok() {
            input.write_all(component).await.ok();
        }
        // It stays open: its end would say that the host is gone.
        input
    };
    let (input, code, words) = tokio::join!(feed, bounded(output, MAX_ENTRY), bounded(errors, MAX_WORDS));
    let status = process.wait().await?;
    drop(input);
    Ok(Ended { status, code: code?, words: String::from_utf8_lossy(&words?).trim().to_owned() })
}

async fn bounded(stream: impl AsyncRead + Unpin, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Memory,
    Time,
}

/// Returns the limit by which a process ended. Without memory Rust's allocator aborts, and the system's calls fail.
fn limit_met(status: ExitStatus, words: &str) -> Option<Resource> {
    use std::os::unix::process::ExitStatusExt as _;
    let lacks_memory =
        ["memory allocation of", "annot allocate memory", "failed to spawn thread", "ThreadPoolBuildError"];
    match status.signal() {
        Some(XCPU) => Some(Resource::Time),
        _ if lacks_memory.iter().any(|known| words.contains(known)) => Some(Resource::Memory),
        Some(_) | None => None,
    }
}

/// The signal with which the system ends a process that used up its processor time.
const XCPU: i32 = Signal::XCPU.as_raw();

/// Reads a component as [`compile`] writes it.
///
/// # Errors
///
/// If it is not complete.
pub fn read_component(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; LENGTH];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_COMPONENT as u64 {
        return Err(io::Error::other("the component is too large"));
    }
    let mut component = Vec::new();
    input.take(length).read_to_end(&mut component)?;
    match component.len() as u64 == length {
        true => Ok(component),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Compiles a component and writes its machine code: the work of the process that answers to [`COMPILER_NAME`]. Its
/// caller limits the process first.
///
/// # Errors
///
/// If it does not compile, or nobody takes the code.
pub fn compile_to(component: &[u8], mut output: impl Write) -> Result<(), String> {
    let engine = engine::compiling_engine().map_err(|error| format!("{error:#}"))?;
    let code = engine.precompile_component(component).map_err(|error| format!("{error:#}"))?;
    output.write_all(&code).and_then(|()| output.flush()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn compile_process_that_ended_is_explained() {
        for (status, words, expected) in [
            (0x100, "function 3 does not validate", None),
            (0x100, "failed to make code memory: Cannot allocate memory (os error 12)", Some(Resource::Memory)),
            (6, "memory allocation of 64 bytes failed", Some(Resource::Memory)),
            (XCPU, "", Some(Resource::Time)),
            (11, "", None),
        ] {
            assert_eq!(limit_met(ExitStatus::from_raw(status), words), expected, "{status} {words}");
        }
    }

    #[test]
    fn compile_input_that_is_cut_is_an_error() {
        let whole = [&3_u64.to_le_bytes()[..], b"abc", b"more"].concat();
        assert_eq!(read_component(&whole[..]).expect("it is complete"), b"abc");
        for cut in [0, 7, 8, 10] {
            assert!(read_component(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(read_component(&u64::MAX.to_le_bytes()[..]).is_err());
    }
}

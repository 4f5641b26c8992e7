//! The process that compiles the plugins of the binary ahead of their first calls, from the side that starts it.
//!
//! Promises: there is one at a time for a cache, and at most one a minute begins, whatever goes wrong in it. It has
//! nothing of the run that starts it: no terminal, no pipe, no environment, no folder.
//!
//! Deliberately not here: what the process does with itself (session, priority, limits), which the binary does when it
//! begins.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::record;

/// The name under which the binary is started to compile its own plugins: its first argument, `argv[0]`. The second one
/// is the folder of the cache.
pub const AHEAD_NAME: &str = "host-compile-ahead";

/// Starts the process and waits for its end, unless one is running, or was a moment ago. It does not end with this
/// process.
pub(super) fn run(program: &Path, cache: &Path) -> io::Result<()> {
    if !record::claim(cache)? {
        return Ok(());
    }
    // As an absolute path: the process works in another folder.
    let cache = std::path::absolute(cache)?;
    let mut command = Command::new(program);
    command.arg0(AHEAD_NAME).arg(cache).env_clear().current_dir("/");
    // An inherited pipe would keep whoever reads the run's output waiting.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // What it could not compile is compiled by the calls.
    command.spawn()?.wait().map(drop)
}

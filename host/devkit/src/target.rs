//! The target of Rust plugins: whether the compiler has it, and adding it with rustup.
//!
//! Promises: nothing is downloaded if the compiler has the target, and a plugin exists without it: what fails here is
//! reported with the command that does it later. Deliberately not here: toolchains that rustup does not manage, whose
//! targets come from a system's packages.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::{TARGET, Tools};

/// Why the target was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddTargetError {
    /// There is no rustup, or it does not run.
    #[error(
        "the compiler has no target `{TARGET}`, and `rustup` cannot be run: {0}; install the target as you installed Rust"
    )]
    Program(io::Error),
    /// It failed; its output went to standard error.
    #[error("`rustup target add {TARGET}` failed ({0}); run it again once you are online")]
    Failed(String),
    /// It added the target to another compiler.
    #[error(
        "`{0}` still has no target `{TARGET}`, since rustup does not manage it; install the target as you installed Rust"
    )]
    OtherCompiler(String),
}

/// Whether the compiler that builds in this folder lacks the target. `false` if there is no compiler, which a build
/// reports.
pub fn lacks_target(folder: &Path, tools: &Tools) -> bool {
    let mut command = Command::new(&tools.rustc);
    // A folder can name its toolchain.
    command.current_dir(folder).args(["--print", "target-libdir", "--target", TARGET]).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success());
    output.is_some_and(|output| !Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Adds the target with rustup, whose progress goes to standard error.
///
/// # Errors
///
/// If rustup does not run or fails, or the compiler is not one of rustup's.
pub fn add_target(folder: &Path, tools: &Tools) -> Result<(), AddTargetError> {
    let mut command = Command::new("rustup");
    command.current_dir(folder).args(["target", "add", TARGET]).stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().map_err(AddTargetError::Program)?;
    if !status.success() {
        return Err(AddTargetError::Failed(status.to_string()));
    }
    if lacks_target(folder, tools) {
        return Err(AddTargetError::OtherCompiler(tools.rustc.to_string_lossy().into_owned()));
    }
    Ok(())
}

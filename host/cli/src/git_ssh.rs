//! What a confined git starts as its ssh: this binary with the first argument [`GIT_SSH_ARGUMENT`].
//!
//! It reads no configuration and has no rights but those of the program that started it. Deliberately not here: what is
//! said to the proxy (`host-process`).

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use host_process::{GIT_SSH_ARGUMENT, GitSshCall, run_git_ssh};

/// The arguments that git gives to ssh; `None` if this process is to do anything else.
pub(crate) fn arguments() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == GIT_SSH_ARGUMENT).then(|| arguments.collect())
}

/// Does the work of this process.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    let proxy = variable("https_proxy").or_else(|| variable("HTTPS_PROXY"));
    let call = GitSshCall { arguments, proxy, protocol: variable("GIT_PROTOCOL") };
    run_git_ssh(call, io::stdin(), &mut io::stdout(), &mut io::stderr()).into()
}

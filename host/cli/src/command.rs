//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod doctor;
pub(crate) mod place;
pub(crate) mod plugin;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod tool;
pub(crate) mod trust;

use clap::CommandFactory as _;
use clap_complete::Shell;
use tokio_util::sync::CancellationToken;

use crate::arguments::Arguments;
use crate::exit::{Code, Failure};
use crate::printer::Out;

/// `host completions`: a script for a shell.
pub(crate) fn completions(shell: Shell) -> Result<Code, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "host", &mut script);
    Out::new(CancellationToken::new()).write(&String::from_utf8_lossy(&script));
    Ok(Code::Done)
}

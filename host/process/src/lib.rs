//! Starts programs, confines them, and ends them with everything that they started.
//!
//! Owns the one way to start a program ([`start`]), what it may touch ([`Confinement`]), the walls that the machine can
//! put up ([`Level`]), the running program ([`Process`]) and the terminal that it may have ([`Terminal`]), the network
//! that the programs of a session share ([`SessionNetwork`]), the way of git to the user's ssh ([`GitSsh`]), and what
//! a program changed in a copy ([`Layer`], [`changed`]).
//!
//! Promises: a confined program reads and changes only the files that its confinement names and reaches no network but
//! its own, or that of its session, where nobody else but the user reaches what listens; no descriptor of the host, no
//! capability of the user and no signal mask is passed on; when a [`Process`] ends or is dropped, so are all processes
//! that the program started, whatever group or session they moved to. A wall that the machine cannot put up is named by
//! its level, never skipped in silence.
//!
//! Deliberately not here: which program may start and what it may touch, which its caller decides, and the variables of
//! its environment.

use std::io;
use std::path::PathBuf;

mod command;
mod confinement;
mod error;
mod layer;
mod level;
#[cfg(target_os = "linux")]
mod linux;
mod mode;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "the proxy is there on Linux alone"))]
mod network;
mod own;
mod places;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(any(test, not(target_os = "linux")))]
mod seatbelt;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "the proxy is there on Linux alone"))]
mod server;
mod shell;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "the proxy is there on Linux alone"))]
mod ssh;
mod terminal;

pub use command::{Command, Input};
pub use confinement::Confinement;
pub use error::StartError;
pub use layer::{Changed, Layer, Now};
pub use level::{Missing, Wall};
#[cfg(target_os = "linux")]
pub use linux::{
    Level, Process, SessionNetwork, changed, clear_layer, level, move_aside, remove_tree, start, start_in,
};
pub use mode::{ConfineMode, UnknownConfineMode};
pub use network::{Connect, Connecting, Forwarded, GitSsh, Network, NotConnected, SshStreams, StartingSsh};
pub use own::{detach_own, limit_own, prepare_host, yield_to_other_threads};
pub use places::Places;
#[cfg(not(target_os = "linux"))]
pub use portable::{
    Level, Process, SessionNetwork, changed, clear_layer, level, move_aside, remove_tree, start, start_in,
};
pub use server::Server;
pub use shell::{Shell, shell};
pub use ssh::{Family, GIT_SSH_ARGUMENT, GitRequest, GitService, GitSshCall, WrongRequest, run_git_ssh};
pub use terminal::{Terminal, TerminalSize};

/// What a program made in a protected place where nothing was.
#[derive(Debug)]
pub struct Moved {
    /// The protected place.
    pub from: PathBuf,
    /// What became of it.
    pub to: MovedTo,
}

/// What became of something in a protected place.
#[derive(Debug)]
pub enum MovedTo {
    /// It has this name now.
    Aside(PathBuf),
    /// It could not be renamed, and was removed.
    Removed,
    /// It is still there.
    Left(io::Error),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

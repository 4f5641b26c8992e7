//! The servers that a program may reach.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::Ended;
use crate::server::Server;
use crate::ssh::{GIT_SSH_ARGUMENT, GitRequest, quoted};

/// Why a program is not connected to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotConnected {
    /// It may not reach the server; the text says why and what would allow it.
    Denied(String),
    /// The server does not answer; the text says why.
    Unreachable(String),
}

/// The result of connecting.
pub type Connecting = Pin<Box<dyn Future<Output = Result<TcpStream, NotConnected>> + Send>>;

/// Connects a program to a server, if it may reach it. Resolves the name itself: the program cannot.
pub type Connect = Arc<dyn Fn(Server) -> Connecting + Send + Sync>;

/// What a program reaches.
#[derive(Clone)]
pub struct Network {
    /// The servers.
    pub connect: Connect,
    /// Git's repositories over ssh; `None` if it reaches none.
    pub ssh: Option<GitSsh>,
}

impl Network {
    /// Creates one of servers alone.
    pub fn new(connect: Connect) -> Self {
        Self { connect, ssh: None }
    }
}

/// A running ssh, with its streams.
pub struct SshStreams {
    /// Its standard input.
    pub input: Option<Sender>,
    /// Its standard output.
    pub output: Option<Receiver>,
    /// Its standard error.
    pub errors: Option<Receiver>,
    /// Waits until it has ended, and ends what it left behind. Dropping this ends all of it.
    pub ended: Pin<Box<dyn Future<Output = Ended> + Send>>,
}

/// Starts the user's ssh for a request, if the program may make it.
pub type StartingSsh = Pin<Box<dyn Future<Output = Result<SshStreams, NotConnected>> + Send>>;

/// How a confined git reaches servers over ssh.
#[derive(Clone)]
pub struct GitSsh {
    /// The program that git starts as its ssh: the host's own binary, which the program must be able to run.
    pub client: PathBuf,
    /// Starts the user's ssh.
    pub start: Arc<dyn Fn(GitRequest) -> StartingSsh + Send + Sync>,
}

impl fmt::Debug for GitSsh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitSsh").field("client", &self.client).finish_non_exhaustive()
    }
}

impl GitSsh {
    /// Returns the variables by which git finds it.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        let client = quoted(&self.client.to_string_lossy());
        // Git asks another variant than `ssh` first what it can do.
        [("GIT_SSH_COMMAND", format!("{client} {GIT_SSH_ARGUMENT}")), ("GIT_SSH_VARIANT", "ssh".to_owned())]
    }
}

/// A port of a session's network that the user reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Forwarded {
    /// The port on which a program listens.
    pub inside: u16,
    /// The port of the user's loopback address that leads to it: the same one if it was free.
    pub outside: u16,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network")
    }
}

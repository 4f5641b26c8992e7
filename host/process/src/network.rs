//! The servers that a program may reach.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::net::TcpStream;

/// A server, as a program names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    /// Its name in lower case, of letters, digits, hyphens and dots, or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

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
#[derive(Clone)]
pub struct Network(pub Arc<dyn Fn(Server) -> Connecting + Send + Sync>);

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

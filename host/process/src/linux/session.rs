//! The network of a session: one loopback device, which the programs of its calls share.
//!
//! A server that one of them starts is reached by the next, and by the user through ports of the same numbers.
//! Promises: it is reached by nobody else, neither by programs of other sessions and other users nor from elsewhere;
//! each program has a user, PID, mount and IPC namespace of its own, and no right over the network; it reaches the
//! servers of its own grant and not those of the others, whose proxies serve only who knows their token.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::door::{BACKLOG, Door};
use super::forward::forward;
use super::holder::Holder;
use super::join::Joins;
use super::means::Means;
use super::table::Table;
use crate::{Forwarded, StartError};

/// The network of a session. It is made when the first confined program starts in it, and ends with the last one once
/// this is dropped.
#[derive(Debug, Default)]
pub struct SessionNetwork {
    ports: watch::Sender<Vec<Forwarded>>,
    held: Mutex<Option<Held>>,
}

#[derive(Debug)]
struct Held {
    holder: Arc<Holder>,
    /// How many programs there are.
    running: watch::Sender<usize>,
    /// Ends when it is dropped.
    _forwarding: JoinSet<()>,
}

impl SessionNetwork {
    /// Returns the ports that the user reaches now, in their order.
    pub fn forwarded(&self) -> Vec<Forwarded> {
        self.ports.borrow().clone()
    }

    /// Returns what is told of each change of these ports.
    pub fn changes(&self) -> watch::Receiver<Vec<Forwarded>> {
        self.ports.subscribe()
    }

    /// Lets a program in. Must be called within a tokio runtime.
    pub(super) fn enter(&self, means: Means) -> Result<Member, StartError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let held = match &mut *held {
            Some(held) if !held.holder.is_broken() => held,
            other => other.insert(Held::new(means, self.ports.clone())?),
        };
        held.running.send_modify(|count| *count += 1);
        Ok(Member { holder: Arc::clone(&held.holder), running: held.running.clone(), door: None })
    }
}

impl Held {
    fn new(means: Means, ports: watch::Sender<Vec<Forwarded>>) -> Result<Self, StartError> {
        let (holder, inside) = Holder::new(means)?;
        let holder = Arc::new(holder);
        let (running, count) = watch::channel(0);
        let mut forwarding = JoinSet::new();
        // A kernel without such tables shows nobody's ports, and nobody else's connections can be distinguished.
        let tables = inside.and_then(|socket| Table::with(socket).ok()).zip(Table::new().ok());
        if let Some((inside, outside)) = tables {
            forwarding.spawn(forward(Arc::clone(&holder), inside, outside, count, ports));
        }
        Ok(Self { holder, running, _forwarding: forwarding })
    }
}

/// The part of one program in the network of a session, until it is dropped.
#[derive(Debug)]
pub(super) struct Member {
    holder: Arc<Holder>,
    running: watch::Sender<usize>,
    door: Option<u16>,
}

impl Member {
    /// Returns what its guard joins. Valid as long as this lives.
    pub(super) fn joins(&self) -> Joins {
        self.holder.joins()
    }

    /// Makes the program's way to its proxy, on a port that the kernel chooses.
    pub(super) fn door(&mut self) -> io::Result<Door> {
        let socket = self.holder.door()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let port = socket.local_addr()?.port();
        // Before it listens, so that it is never taken for a server of the program's.
        self.has_door(port);
        Door::open(socket.listen(BACKLOG.unsigned_abs())?, port)
    }

    /// Makes a TCP socket in the network.
    #[cfg(test)]
    pub(super) fn socket(&self, is_v6: bool) -> io::Result<tokio::net::TcpSocket> {
        self.holder.socket(is_v6)
    }

    /// Returns the process that holds the network.
    #[cfg(test)]
    pub(super) fn holder(&self) -> rustix::process::Pid {
        self.holder.pid()
    }

    /// Keeps the port of its proxy from being forwarded.
    pub(super) fn has_door(&mut self, port: u16) {
        self.holder.doors().insert(port);
        self.door = Some(port);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(port) = self.door {
            self.holder.doors().remove(&port);
        }
        self.running.send_modify(|count| *count = count.saturating_sub(1));
    }
}

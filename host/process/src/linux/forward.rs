//! Carries connections from the user's loopback address to what listens in the network of a session.
//!
//! Promises: a port is forwarded while something listens on it, on the same port outside if that is free; only
//! processes of the host's own user are let through, and each connection ends up in the session's network. Proxies of
//! programs are never forwarded, nor is what listens for a moment only, as the servers of tests do.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::net::{Shutdown, shutdown};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use super::holder::Holder;
use super::table::Table;
use crate::Forwarded;

/// The most ports of a session that are forwarded at once, those with the lowest numbers first. Protects the user's
/// ports.
const MAX_FORWARDED_PORTS: usize = 16;
/// The most connections of a session that are forwarded at once; others wait. Protects the host's descriptors.
const MAX_FORWARDED_CONNECTIONS: usize = 256;
/// How often ports are looked for while programs run. What listens at two looks in a row is forwarded.
const INTERVAL: Duration = Duration::from_millis(300);
/// How long nothing is accepted after the system could not: it has no descriptors left, for example.
const PAUSE: Duration = Duration::from_millis(100);
/// How many ports that the system chooses are tried: one is no use if it is taken on the other loopback address.
const ATTEMPTS: usize = 8;

/// A port that is forwarded.
struct Open {
    to: SocketAddr,
    outside: u16,
    /// Accepts connections until it is dropped.
    accepting: JoinSet<()>,
}

/// Listens until it is dropped.
struct Listening(TcpListener);

impl Drop for Listening {
    fn drop(&mut self) {
        // Closing is not enough: the guard of a program that is cloned just now has a copy of the descriptor, and the
        // port would go on to take connections that nobody answers.
        shutdown(&self.0, Shutdown::Both).ok();
    }
}

/// What all ports share.
#[derive(Clone)]
struct Way {
    holder: Arc<Holder>,
    /// The sockets outside.
    table: Arc<Mutex<Table>>,
    places: Arc<Semaphore>,
    /// They go on when the port closes, since a server can stop listening before it has answered.
    connections: Arc<Mutex<JoinSet<()>>>,
}

/// Forwards what listens in a network while programs run in it. `inside` has the sockets there, `outside` those of the
/// host's own network.
pub(super) async fn forward(
    holder: Arc<Holder>,
    mut inside: Table,
    outside: Table,
    mut running: watch::Receiver<usize>,
    ports: watch::Sender<Vec<Forwarded>>,
) {
    let places = Arc::new(Semaphore::new(MAX_FORWARDED_CONNECTIONS));
    let table = Arc::new(Mutex::new(outside));
    let way = Way { holder, table, places, connections: Arc::default() };
    let mut open: BTreeMap<u16, Open> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    loop {
        // Marked as seen, so that the wait below ends for what happens after this look.
        if *running.borrow_and_update() == 0 {
            // What listened has ended.
            seen.clear();
            close(&mut open, |_, _| true).await;
            publish(&ports, &open);
            if running.wait_for(|count| *count > 0).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = sleep(INTERVAL) => {}
            _ = running.wait_for(|count| *count == 0) => continue,
        }
        // On both sides of the look: a door is there before it listens, and until it does not.
        let mut doors = way.holder.doors().clone();
        // The socket blocks, so it is asked on a thread that may.
        let looked = spawn_blocking(move || {
            let found = inside.listening();
            (inside, found)
        });
        // It fails only when the runtime ends.
        let Ok((table, found)) = looked.await else { return };
        inside = table;
        doors.extend(way.holder.doors().iter());
        // A look that failed shows nothing new, and nothing that ended.
        let Ok(found) = found else { continue };
        let reached = reached(&found, &doors);
        let stays = |port: &u16, to: &SocketAddr| reached.get(port) == Some(to);
        // Closed before new ones open, so that a port that changed its server never leads to the old one.
        close(&mut open, |port, to| !stays(port, to)).await;
        // Only what was there at the look before as well: servers of tests listen for a moment and would flicker.
        for (port, to) in seen.iter().filter(|(port, to)| stays(port, to)) {
            if open.len() < MAX_FORWARDED_PORTS && !open.contains_key(port) {
                open.extend(opened(*port, *to, &way).map(|opened| (*port, opened)));
            }
        }
        seen = reached;
        publish(&ports, &open);
    }
}

/// Opens a port on the host's side; `None` if it is taken there.
fn opened(port: u16, to: SocketAddr, way: &Way) -> Option<Open> {
    let (outside, listeners) = listen(port).ok()?;
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(listener, to, way.clone()));
    }
    Some(Open { to, outside, accepting })
}

/// Closes those of these ports, which are free then.
async fn close(open: &mut BTreeMap<u16, Open>, ends: impl Fn(&u16, &SocketAddr) -> bool) {
    let ended: Vec<u16> = open.iter().filter(|(port, open)| ends(port, &open.to)).map(|(port, _)| *port).collect();
    for port in ended {
        if let Some(mut open) = open.remove(&port) {
            open.accepting.shutdown().await;
        }
    }
}

fn publish(ports: &watch::Sender<Vec<Forwarded>>, open: &BTreeMap<u16, Open>) {
    let now: Vec<_> = open.iter().map(|(inside, open)| Forwarded { inside: *inside, outside: open.outside }).collect();
    ports.send_if_modified(|ports| {
        let is_new = *ports != now;
        *ports = now;
        is_new
    });
}

/// Returns the ports on which something listens, each with an address that leads there.
fn reached(listening: &[SocketAddr], doors: &BTreeSet<u16>) -> BTreeMap<u16, SocketAddr> {
    let mut reached = BTreeMap::new();
    for address in listening.iter().filter(|address| !doors.contains(&address.port())) {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        // Those of IPv4 come first.
        reached.entry(address.port()).or_insert_with(|| SocketAddr::new(ip, address.port()));
    }
    reached
}

/// Listens on the user's loopback addresses, on this port if it is free.
fn listen(wanted: u16) -> io::Result<(u16, Vec<Listening>)> {
    let mut ports = iter::once(wanted).chain(iter::repeat_n(0, ATTEMPTS));
    ports.find_map(|port| listen_on(port).ok()).ok_or_else(|| io::ErrorKind::AddrInUse.into())
}

fn listen_on(port: u16) -> io::Result<(u16, Vec<Listening>)> {
    let bind = |ip: IpAddr, port: u16| {
        let listener = std::net::TcpListener::bind((ip, port))?;
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener).map(Listening)
    };
    // IPv4 decides the port: `localhost` must then be the same port on both.
    let v4 = bind(Ipv4Addr::LOCALHOST.into(), port)?;
    let port = v4.0.local_addr()?.port();
    // `localhost` is both: a different user's server on the other one would be taken for this one.
    match bind(Ipv6Addr::LOCALHOST.into(), port) {
        Ok(v6) => Ok((port, vec![v4, v6])),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        // This machine has no IPv6.
        Err(_) => Ok((port, vec![v4])),
    }
}

async fn accept(listener: Listening, to: SocketAddr, way: Way) {
    loop {
        // Before accepting: what waits in the kernel's queue costs the host nothing.
        let Ok(place) = Arc::clone(&way.places).acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.0.accept().await else {
            // Out of descriptors: without a pause this loop would use a whole processor until one is free.
            sleep(PAUSE).await;
            continue;
        };
        // Another user of the machine could connect to this loopback port like any process.
        if !way.is_own(&stream, peer) {
            continue;
        }
        let mut connections = way.connections.lock().unwrap_or_else(PoisonError::into_inner);
        // Ended connections stay in the set until they are taken, so they are taken here.
        while connections.try_join_next().is_some() {}
        connections.spawn(carry(stream, Arc::clone(&way.holder), to, place));
    }
}

impl Way {
    /// Whether a process of the host's own user is at the other end. Any user of the machine can connect.
    fn is_own(&self, stream: &TcpStream, peer: SocketAddr) -> bool {
        let Ok(local) = stream.local_addr() else { return false };
        let user = self.table.lock().unwrap_or_else(PoisonError::into_inner).user_of(peer, local);
        user.is_ok_and(|user| user == Some(rustix::process::geteuid().as_raw()))
    }
}

/// Carries one connection to its end. What fails concerns the two ends alone, which see it end.
async fn carry(mut stream: TcpStream, holder: Arc<Holder>, to: SocketAddr, _place: OwnedSemaphorePermit) {
    let Ok(socket) = holder.socket(to.is_ipv6()) else { return };
    if let Ok(mut inside) = socket.connect(to).await {
        copy_bidirectional(&mut stream, &mut inside).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn forwarded_port_is_free_as_soon_as_it_is_closed() {
        let (port, listening) = listen(0).expect("a port");
        // As a clone has them that begins just now.
        let copies: Vec<_> = listening.iter().map(|listening| rustix::io::dup(&listening.0).expect("copied")).collect();
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("it listens"));
        drop(listening);
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect_err("nothing listens");
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(listen_on(port).expect("it is free").0, port);
        drop(copies);
    }
}

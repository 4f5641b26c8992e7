//! The proxy through which a confined program reaches the servers that it may reach.
//!
//! It listens within the program's network, and speaks HTTP (`CONNECT`, and requests with whole addresses), SOCKS 5
//! with names, and a method of its own for git over ssh. Promises: only the program can use it, because the network is
//! its own or because a [`Token`] is asked for; nothing is resolved or connected to before [`Network`] agreed to the
//! name and the port; a TLS connection to a name greets that name and no other; what is slow or too long ends.

mod hello;
mod http;
mod socks;
mod ssh;
mod token;

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::network::{Network, NotConnected};
use crate::server::Server;

pub(crate) use token::Token;

/// The most connections of a program at once; others wait. Protects the host's descriptors.
const CONNECTIONS: usize = 256;
/// How long a program may take to say where it wants to go. A user who is asked about that takes the time that they
/// need.
const PATIENCE: Duration = Duration::from_secs(30);
/// A connection that was asked for and made.
struct Opened {
    server: Server,
    upstream: TcpStream,
    /// What is sent first.
    early: Vec<u8>,
    /// How many more bytes of the program's are sent; `None` if it is a tunnel.
    rest: Option<u64>,
}

/// Serves the connections of a program until it is dropped; with a token, those that know it.
pub(crate) async fn serve(listener: TcpListener, network: Network, token: Option<Token>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // Before accepting: a program can open connections without end, and each accepted one costs the host a task.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        // The listener fails for good only if it is closed, or the program's network is gone.
        let Ok((stream, _)) = listener.accept().await else { return };
        let (network, token) = (network.clone(), token.clone());
        connections.spawn(async move {
            // A failed connection concerns the program alone, which sees it end.
            connection(stream, network, token).await.ok();
            drop(place);
        });
        // Results of ended tasks stay in the set until they are taken.
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(mut stream: TcpStream, network: Network, token: Option<Token>) -> std::io::Result<()> {
    let opened = match timeout(PATIENCE, stream.read_u8()).await?? {
        // SOCKS begins with its version, 5, which no method of HTTP begins with: one port serves both.
        socks::VERSION => socks::open(&mut stream, &network, token.as_ref()).await?,
        first => http::open(first, &mut stream, &network, token.as_ref()).await?,
    };
    let Some(Opened { server, mut upstream, mut early, rest }) = opened else { return Ok(()) };
    // One request and its body: more on this connection could be for another server, and would not be looked at.
    if let Some(rest) = rest {
        upstream.write_all(&early).await?;
        let (mut from, mut to) = stream.split();
        let (mut answer, mut request) = upstream.split();
        let body = async {
            tokio::io::copy(&mut (&mut from).take(rest), &mut request).await?;
            // Otherwise a server that waits for the end of the request answers only when the client goes away.
            request.shutdown().await
        };
        let (sent, answered) = tokio::join!(body, tokio::io::copy(&mut answer, &mut to));
        sent.and(answered.map(drop))?;
        return stream.shutdown().await;
    }
    // Whoever speaks first shows what kind of connection it is: a client of TLS greets first.
    let mut first = [0];
    // A server that speaks first (SSH, SMTP) must not wait for a client that says nothing.
    let speaks = tokio::select! {
        client = stream.peek(&mut first) => client.map(|count| count > 0 && first[0] == hello::HANDSHAKE)?,
        server = upstream.readable() => server.map(|()| false)?,
    };
    if speaks {
        let greeted = timeout(PATIENCE, hello::read(&mut stream)).await??;
        // Behind one address there are many servers: a CDN would lead a client of an allowed name to any other.
        if greeted.name.as_deref() != server.name() {
            return Ok(());
        }
        early = greeted.bytes;
    }
    upstream.write_all(&early).await?;
    copy_bidirectional(&mut stream, &mut upstream).await?;
    Ok(())
}

/// Connects to a server.
async fn connect(network: &Network, server: &Server) -> Result<TcpStream, NotConnected> {
    (network.connect)(server.clone()).await
}

#[cfg(test)]
mod tests;

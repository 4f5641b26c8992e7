//! The proxy through which a confined program reaches the servers that it may reach.
//!
//! It listens within the program's network, and speaks HTTP (`CONNECT`, and requests with whole addresses) and SOCKS 5 with
//! names. Promises: only the program can use it, because the network is its own or because a [`Token`] is asked for;
//! nothing is resolved or connected to before [`Network`] agreed to the name and the port; a TLS connection to a name
//! greets that name and no other; what is slow or too long ends.

mod hello;
mod http;
mod socks;
mod token;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::network::{Network, NotConnected, Server};

pub(crate) use token::Token;

/// The most connections of a program at once; others wait. Protects the host's descriptors.
const CONNECTIONS: usize = 256;
/// How long a program may take to say where it wants to go, and a server to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest name of a host (RFC 1035, 2.3.4), and the longest label of one.
const NAME: usize = 253;
const LABEL: usize = 63;

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
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        // The listener fails for good only if it is closed, or the program's network is gone.
        let Ok((stream, _)) = listener.accept().await else { return };
        let (network, token) = (network.clone(), token.clone());
        connections.spawn(async move {
            // A failed connection concerns the program alone, which sees it end.
            connection(stream, network, token).await.ok();
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(mut stream: TcpStream, network: Network, token: Option<Token>) -> std::io::Result<()> {
    let asked = async {
        match stream.read_u8().await? {
            socks::VERSION => socks::open(&mut stream, &network, token.as_ref()).await,
            first => http::open(first, &mut stream, &network, token.as_ref()).await,
        }
    };
    let Some(Opened { server, mut upstream, mut early, rest }) = timeout(PATIENCE, asked).await?? else {
        return Ok(());
    };
    if let Some(rest) = rest {
        upstream.write_all(&early).await?;
        let (mut from, mut to) = stream.split();
        let (mut answer, mut request) = upstream.split();
        let body = async {
            tokio::io::copy(&mut (&mut from).take(rest), &mut request).await?;
            request.shutdown().await
        };
        let (sent, answered) = tokio::join!(body, tokio::io::copy(&mut answer, &mut to));
        sent.and(answered.map(drop))?;
        return stream.shutdown().await;
    }
    // Whoever speaks first shows what kind of connection it is: a client of TLS greets first.
    let mut first = [0];
    let speaks = tokio::select! {
        client = stream.peek(&mut first) => client.map(|count| count > 0 && first[0] == hello::HANDSHAKE)?,
        server = upstream.readable() => server.map(|()| false)?,
    };
    if speaks {
        let greeted = timeout(PATIENCE, hello::read(&mut stream)).await??;
        if greeted.name.as_deref() != server.name() {
            return Ok(());
        }
        early = greeted.bytes;
    }
    upstream.write_all(&early).await?;
    copy_bidirectional(&mut stream, &mut upstream).await?;
    Ok(())
}

impl Server {
    /// Returns the server with this name, if it is one that a resolver can only take for a name or an address in its
    /// usual form.
    pub(crate) fn parse(host: &[u8], port: u16) -> Option<Self> {
        let host = std::str::from_utf8(host).ok()?.to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if let Some(address) = bare.or(Some(host)).and_then(|host| host.parse::<Ipv6Addr>().ok()) {
            return Some(Self { host: address.to_string(), port });
        }
        let is_label = |label: &str| {
            (1..=LABEL).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let last = host.rsplit('.').next().unwrap_or_default();
        // Resolvers take `127.1`, `2130706433` and `0x7f000001` for addresses.
        let is_number = last.starts_with(|c: char| c.is_ascii_digit());
        let is_name = (1..=NAME).contains(&host.len()) && host.split('.').all(is_label) && port != 0;
        let fits = is_name && (!is_number || host.parse::<Ipv4Addr>().is_ok());
        fits.then(|| Self { host: host.to_owned(), port })
    }

    /// The name that a client of TLS greets; `None` for an address, which has none.
    fn name(&self) -> Option<&str> {
        let is_address = self.host.contains(':') || self.host.parse::<Ipv4Addr>().is_ok();
        (!is_address).then_some(self.host.as_str())
    }
}

/// Connects to a server.
async fn connect(network: &Network, server: &Server) -> Result<TcpStream, NotConnected> {
    (network.0)(server.clone()).await
}

#[cfg(test)]
mod tests;

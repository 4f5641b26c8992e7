//! SOCKS 5 (RFC 1928), with a user and a password (RFC 1929) if a token is asked for: `CONNECT` to a name or an
//! address.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use tokio::time::timeout;

use super::{Opened, PATIENCE, Token, connect};
use crate::network::{Network, NotConnected};
use crate::server::Server;

/// The first byte of a connection.
pub(super) const VERSION: u8 = 5;

const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The version of what follows if a password is asked for, and the answers to it.
const PASSWORD_VERSION: u8 = 1;
const PASSWORD_RIGHT: u8 = 0;
const PASSWORD_WRONG: u8 = 1;

const SUCCEEDED: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const HOST_UNREACHABLE: u8 = 4;
const NOT_SUPPORTED: u8 = 7;
const WRONG_ADDRESS: u8 = 8;

/// Reads where the program wants to go, behind the first byte, and connects to it.
pub(super) async fn open(
    stream: &mut TcpStream,
    network: &Network,
    token: Option<&Token>,
) -> io::Result<Option<Opened>> {
    let Some(server) = timeout(PATIENCE, asked(stream, token)).await?? else { return Ok(None) };
    match connect(network, &server).await {
        Ok(upstream) => {
            answer(stream, SUCCEEDED).await?;
            Ok(Some(Opened { server, upstream, early: Vec::new(), rest: None }))
        }
        Err(NotConnected::Denied(_)) => refuse(stream, NOT_ALLOWED).await,
        Err(NotConnected::Unreachable(_)) => refuse(stream, HOST_UNREACHABLE).await,
    }
}

/// Reads where the program wants to go; `None` if the answer was a refusal.
async fn asked(stream: &mut TcpStream, token: Option<&Token>) -> io::Result<Option<Server>> {
    let methods = counted(stream).await?;
    let wanted = if token.is_some() { PASSWORD } else { NO_AUTHENTICATION };
    // No weaker method: without the password another program of the session would use these grants.
    if !methods.contains(&wanted) {
        stream.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    stream.write_all(&[VERSION, wanted]).await?;
    if let Some(token) = token {
        let version = stream.read_u8().await?;
        let (user, password) = (counted(stream).await?, counted(stream).await?);
        if version != PASSWORD_VERSION || !token.is(&user, &password) {
            stream.write_all(&[PASSWORD_VERSION, PASSWORD_WRONG]).await?;
            stream.shutdown().await?;
            return Ok(None);
        }
        stream.write_all(&[PASSWORD_VERSION, PASSWORD_RIGHT]).await?;
    }
    let [version, command, _, kind] = read(stream).await?;
    if version != VERSION || command != CONNECT {
        return refuse(stream, NOT_SUPPORTED).await;
    }
    let host = match kind {
        IPV4 => Ipv4Addr::from(read::<4>(stream).await?).to_string().into_bytes(),
        IPV6 => Ipv6Addr::from(read::<16>(stream).await?).to_string().into_bytes(),
        // As it is: the host resolves it, and the grants are about names.
        NAME => counted(stream).await?,
        _ => return refuse(stream, WRONG_ADDRESS).await,
    };
    let port = stream.read_u16().await?;
    match Server::parse(&host, port) {
        Some(server) => Ok(Some(server)),
        None => refuse(stream, WRONG_ADDRESS).await,
    }
}

/// Reads a number of bytes, and as many bytes.
async fn counted(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(stream.read_u8().await?)];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn read<const SIZE: usize>(stream: &mut TcpStream) -> io::Result<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn refuse<T>(stream: &mut TcpStream, code: u8) -> io::Result<Option<T>> {
    answer(stream, code).await?;
    stream.shutdown().await?;
    Ok(None)
}

/// Answers with a code. The address that the server sees is none of the program's business.
async fn answer(stream: &mut TcpStream, code: u8) -> io::Result<()> {
    stream.write_all(&[VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]).await
}

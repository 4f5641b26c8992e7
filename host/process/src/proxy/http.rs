//! HTTP/1.1 as a proxy speaks it: `CONNECT`, one request with a whole address, and [`METHOD`] for git over ssh.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use tokio::time::timeout;

use super::{Opened, PATIENCE, Token, connect, ssh};
use crate::network::{Network, NotConnected};
use crate::server::Server;
use crate::ssh::{COMMAND_FIELD, FAMILY_FIELD, Family, GitRequest, METHOD, PROTOCOL_FIELD};

/// The longest head of a request, and the most header fields of one.
const HEAD: usize = 16 << 10;
const FIELDS: usize = 100;

/// Fields between a client and its proxy (RFC 9110, 7.6.1), which a server does not get.
const HOP_BY_HOP: &[&str] = &["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "upgrade"];

/// The answer to who does not know the token: clients that send it only when asked ask again.
const UNKNOWN: &str = "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"host\"";

/// A request of a program.
enum Asked {
    Tunnel(Server),
    /// A request for a server, and the length of its body.
    Request(Server, Vec<u8>, u64),
    /// A request of git's, over ssh.
    Git(GitRequest),
    /// A request without the token.
    Unknown,
    /// Something else, with the answer to it.
    Wrong(&'static str, String),
}

/// Reads where the program wants to go, behind the first byte, and connects to it.
pub(super) async fn open(
    first: u8,
    stream: &mut TcpStream,
    network: &Network,
    token: Option<&Token>,
) -> io::Result<Option<Opened>> {
    let Some(head) = timeout(PATIENCE, head(first, stream)).await?? else {
        return refuse(stream, "431 Request Header Fields Too Large", "the request to the proxy is too long").await;
    };
    let (server, early, rest) = match asked(&head, token) {
        Asked::Tunnel(server) => (server, Vec::new(), None),
        Asked::Request(server, request, body) => (server, request, Some(body)),
        Asked::Git(request) => return ssh::serve(stream, network, request).await,
        Asked::Unknown => return refuse(stream, UNKNOWN, "this is the proxy of a different program").await,
        Asked::Wrong(status, why) => return refuse(stream, status, &why).await,
    };
    match connect(network, &server).await {
        Ok(upstream) => {
            if rest.is_none() {
                stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            }
            Ok(Some(Opened { server, upstream, early, rest }))
        }
        Err(NotConnected::Denied(why)) => refuse(stream, "403 Forbidden", &why).await,
        Err(NotConnected::Unreachable(why)) => refuse(stream, "502 Bad Gateway", &why).await,
    }
}

/// Reads the head of a request behind its first byte; `None` if it is too long.
async fn head(first: u8, stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = vec![first];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD {
            return Ok(None);
        }
        // Byte by byte, so that nothing behind the head is taken; the stream's buffer is in the kernel.
        head.push(stream.read_u8().await?);
    }
    Ok(Some(head))
}

fn invalid() -> Asked {
    Asked::Wrong("400 Bad Request", "the proxy does not understand this request".to_owned())
}

fn asked(head: &[u8], token: Option<&Token>) -> Asked {
    // A fixed number, as the parser wants it; a request with more is invalid.
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    if !matches!(request.parse(head), Ok(httparse::Status::Complete(_))) {
        return invalid();
    }
    // Before the request is read any further: other programs of the session reach this port, with their own grants.
    if token.is_some_and(|token| !named(&request, "proxy-authorization").any(|field| token.is_in(field))) {
        return Asked::Unknown;
    }
    let (Some(method), Some(target)) = (request.method, request.path) else { return invalid() };
    match method {
        "CONNECT" => server(target, None).map_or_else(invalid, Asked::Tunnel),
        METHOD => git(&request, target),
        method => plain(&request, method, target).unwrap_or_else(|wrong| wrong),
    }
}

/// Returns the values of the fields with this name.
fn named<'b>(request: &httparse::Request<'_, 'b>, name: &'static str) -> impl Iterator<Item = &'b [u8]> {
    request.headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// What git asks for through the host's own ssh.
fn git(request: &httparse::Request<'_, '_>, target: &str) -> Asked {
    let one = |name: &'static str| {
        let mut fields = named(request, name);
        let field = fields.next().filter(|_| fields.next().is_none())?;
        std::str::from_utf8(field).ok()
    };
    match GitRequest::parse(target, one(COMMAND_FIELD).unwrap_or_default()) {
        Ok(request) => {
            let family = Family::ALL.into_iter().find(|family| one(FAMILY_FIELD) == Some(family.option()));
            Asked::Git(request.with_protocol(one(PROTOCOL_FIELD).unwrap_or_default()).with_family(family))
        }
        Err(wrong) => Asked::Wrong("400 Bad Request", wrong.to_string()),
    }
}

/// A request without TLS, as it is passed on; the error is the answer to it.
fn plain(request: &httparse::Request<'_, '_>, method: &str, target: &str) -> Result<Asked, Asked> {
    // A path alone would be a request to the proxy as a server, which serves nothing.
    let rest = target.strip_prefix("http://").ok_or_else(|| {
        Asked::Wrong("501 Not Implemented", "the proxy takes CONNECT and addresses with http://".to_owned())
    })?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let server = server(authority, Some(80)).ok_or_else(invalid)?;
    // Another name here would reach a different server behind the same address.
    if named(request, "host").any(|host| !host.eq_ignore_ascii_case(authority.as_bytes()))
        // A body of chunks ends where the chunks say; two readers that disagree let a second request through.
        || named(request, "transfer-encoding").count() > 0
    {
        return Err(invalid());
    }
    let mut body = 0;
    for length in named(request, "content-length") {
        match std::str::from_utf8(length).ok().and_then(|length| length.parse().ok()) {
            // Two lengths are the same trick.
            Some(length) if named(request, "content-length").count() == 1 => body = length,
            _ => return Err(invalid()),
        }
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    // The next request of a kept connection could name another host.
    let mut early = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n").into_bytes();
    for field in request.headers.iter() {
        let name = field.name.to_ascii_lowercase();
        // These are between the program and the proxy; `Proxy-Authorization` has the program's password.
        if name != "host" && !HOP_BY_HOP.contains(&name.as_str()) {
            early.extend([field.name.as_bytes(), b": ", field.value, b"\r\n"].concat());
        }
    }
    early.extend(b"\r\n");
    Ok(Asked::Request(server, early, body))
}

/// Reads `HOST:PORT`, or `HOST` if there is a usual port.
fn server(authority: &str, usual: Option<u16>) -> Option<Server> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            let digits = port.bytes().all(|byte| byte.is_ascii_digit());
            (host, port.parse().ok().filter(|_| digits)?)
        }
        _ => (authority, usual?),
    };
    Server::parse(host.as_bytes(), port)
}

pub(super) async fn refuse(stream: &mut TcpStream, status: &str, why: &str) -> io::Result<Option<Opened>> {
    let body = if why.is_empty() { String::new() } else { format!("host: {why}\n") };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(None)
}

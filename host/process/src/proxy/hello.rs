//! The greeting of a client of TLS: the name that it asks for.

use std::io;

use rustls::server::Acceptor;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The first byte of a handshake (RFC 8446, 5.1).
pub(super) const HANDSHAKE: u8 = 22;

/// The longest greeting that is read; that of a client with many keys has some 2 KiB.
const LONGEST: usize = 64 << 10;

/// A greeting.
pub(super) struct Greeting {
    /// The name that is asked for.
    pub(super) name: Option<String>,
    /// What was read.
    pub(super) bytes: Vec<u8>,
}

/// Reads a greeting.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Greeting> {
    let mut acceptor = Acceptor::default();
    let mut bytes = Vec::new();
    let mut piece = [0; 4 << 10];
    loop {
        let count = stream.read(&mut piece).await?;
        let read = piece.get(..count).unwrap_or_default();
        bytes.extend_from_slice(read);
        // A greeting has no end of its own that a program could not move away.
        if count == 0 || bytes.len() > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut rest = read;
        while !rest.is_empty() {
            // Parsed by rustls: a reader of our own could see another name than servers do.
            acceptor.read_tls(&mut rest)?;
            match acceptor.accept() {
                Ok(None) => {}
                Ok(Some(accepted)) => {
                    let name = accepted.client_hello().server_name().map(str::to_ascii_lowercase);
                    return Ok(Greeting { name, bytes });
                }
                Err(_) => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }
}

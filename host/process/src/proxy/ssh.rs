//! Git over ssh: starts the user's ssh for a request, and carries its streams.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::http::refuse;
use super::{NotConnected, Opened};
use crate::Ended;
use crate::network::{Network, SshStreams};
use crate::ssh::{Frame, GitRequest};

/// The most bytes that are carried at once.
const PIECE: usize = 16 << 10;

/// The exit code where a signal ended ssh, besides the signal, as shells count.
const SIGNALLED: i32 = 128;

/// Serves a request to its end.
pub(super) async fn serve(
    stream: &mut TcpStream,
    network: &Network,
    request: GitRequest,
) -> io::Result<Option<Opened>> {
    let Some(ssh) = &network.ssh else {
        return refuse(stream, "501 Not Implemented", "this program does not reach servers over ssh").await;
    };
    match (ssh.start)(request).await {
        Ok(streams) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            carry(stream, streams).await?;
            stream.shutdown().await?;
            Ok(None)
        }
        Err(NotConnected::Denied(why)) => refuse(stream, "403 Forbidden", &why).await,
        Err(NotConnected::Unreachable(why)) => refuse(stream, "502 Bad Gateway", &why).await,
    }
}

/// Carries the streams of ssh until it has ended. Dropping the future ends it.
async fn carry(stream: &mut TcpStream, streams: SshStreams) -> io::Result<()> {
    let SshStreams { input, output, errors, ended } = streams;
    let (mut from, to) = stream.split();
    let to = Mutex::new(to);
    let feed = async {
        if let Some(mut input) = input {
            // Whichever end closes first: the rest of ssh's answer still counts.
            tokio::io::copy(&mut from, &mut input).await.ok();
        }
        std::future::pending::<()>().await;
    };
    let ended = async { Ok(ended.await) };
    let answered =
        async { tokio::try_join!(frames(output, Frame::Output, &to), frames(errors, Frame::Errors, &to), ended) };
    // `feed` never ends by itself: it is dropped with the rest once ssh has ended, or the client takes nothing more.
    let ((), (), ended) = tokio::select! {
        answered = answered => answered?,
        () = feed => return Ok(()),
    };
    let code = match ended {
        Ended::Code(code) => code,
        Ended::Signal(signal) => SIGNALLED.saturating_add(signal),
    };
    let last = Frame::Ended(u8::try_from(code).unwrap_or(u8::MAX));
    to.into_inner().write_all(&last.bytes()).await
}

async fn frames(
    stream: Option<impl AsyncRead + Unpin>,
    frame: fn(Vec<u8>) -> Frame,
    to: &Mutex<impl AsyncWrite + Unpin>,
) -> io::Result<()> {
    let Some(mut stream) = stream else { return Ok(()) };
    let mut piece = vec![0; PIECE];
    loop {
        let count = stream.read(&mut piece).await?;
        let read = piece.get(..count).filter(|read| !read.is_empty());
        let Some(read) = read else { return Ok(()) };
        // Held while it waits, on purpose: frames must not mix.
        to.lock().await.write_all(&frame(read.to_vec()).bytes()).await?;
    }
}

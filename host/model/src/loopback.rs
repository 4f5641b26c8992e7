//! A model's service for tests: real HTTP/1.1 on loopback, one connection, with the answer cut where the test needs it.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use futures::StreamExt;
use host_message::Content;

use crate::{Access, ApiKey, Chunk, ModelError, ModelEvent, Provider, Request, Settings};

/// How an answer ends.
pub(crate) enum End {
    /// As HTTP requires.
    Whole,
    /// The connection is cut.
    Cut,
    /// No more data comes, and the connection stays open until the client closes it.
    Open,
}

/// The service's answer.
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) headers: &'static str,
    /// The body, each piece a chunk of its own in the transfer.
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) end: End,
}

impl Answer {
    /// Creates an event stream.
    pub(crate) fn events<'p>(pieces: impl IntoIterator<Item = &'p [u8]>, end: End) -> Self {
        let pieces = pieces.into_iter().map(<[u8]>::to_vec).collect();
        Self { status: "200 OK", headers: "content-type: text/event-stream\r\n", pieces, end }
    }

    /// Creates an answer of one JSON value, after which the connection ends.
    pub(crate) fn json(body: &str) -> Self {
        Self::refusal("200 OK", "content-type: application/json\r\nconnection: close\r\n", body)
    }

    /// Creates an error response.
    pub(crate) fn refusal(status: &'static str, headers: &'static str, body: &str) -> Self {
        Self { status, headers, pieces: vec![body.as_bytes().to_vec()], end: End::Whole }
    }
}

/// The service while it runs.
pub(crate) struct Loopback {
    pub(crate) address: String,
    /// Receives the request, head and body.
    pub(crate) request: oneshot::Receiver<String>,
    /// Fires when the client closed the connection that an [`End::Open`] left open.
    pub(crate) closed: oneshot::Receiver<()>,
}

impl Loopback {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (request_sender, request) = oneshot::channel();
        let (closed_sender, closed) = oneshot::channel();
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("the client comes");
            let _ = request_sender.send(read_request(&mut socket).await);
            write_answer(&mut socket, answer, closed_sender).await;
        });
        Self { address, request, closed }
    }

    pub(crate) fn access(&self) -> Access {
        Access { address: Some(self.address.clone()), key: ApiKey::new("secret-key-1234"), ..Access::default() }
    }
}

/// A service that answers one request after the other, each over a connection of its own.
pub(crate) struct Series {
    pub(crate) address: String,
    /// The requests in order, head and body.
    pub(crate) requests: mpsc::Receiver<String>,
}

impl Series {
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (sender, requests) = mpsc::channel(answers.len().max(1));
        tokio::spawn(async move {
            for answer in answers {
                let (mut socket, _) = listener.accept().await.expect("the client comes");
                // A test that is over reads no more requests.
                let _ = sender.send(read_request(&mut socket).await).await;
                write_answer(&mut socket, answer, oneshot::channel().0).await;
            }
        });
        Self { address, requests }
    }

    pub(crate) async fn next(&mut self) -> String {
        self.requests.recv().await.expect("there is one more request")
    }

    /// Returns how many requests have arrived but were not read.
    pub(crate) fn left(&self) -> usize {
        self.requests.len()
    }
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse().expect("a number") {
                return text;
            }
        }
        let mut bytes = [0; 4096];
        match socket.read(&mut bytes).await.expect("the client sends") {
            0 => return text,
            length => request.extend_from_slice(&bytes[..length]),
        }
    }
}

async fn write_answer(socket: &mut TcpStream, answer: Answer, closed: oneshot::Sender<()>) {
    let head = format!("HTTP/1.1 {}\r\n{}transfer-encoding: chunked\r\n\r\n", answer.status, answer.headers);
    let mut bytes = head.into_bytes();
    for piece in &answer.pieces {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    if matches!(answer.end, End::Whole) {
        bytes.extend_from_slice(b"0\r\n\r\n");
    }
    // Some tests are about a client that has gone.
    let _ = socket.write_all(&bytes).await;
    if matches!(answer.end, End::Open) {
        while !matches!(socket.read(&mut [0; 64]).await, Ok(0) | Err(_)) {}
        let _ = closed.send(());
    }
}

/// Sends `hi` and collects the whole reply, or the chunks before the error.
pub(crate) async fn ask(provider: Arc<dyn Provider>) -> (Vec<Chunk>, Option<ModelError>) {
    let contents = [Content::user("hi")];
    let settings = Settings::default();
    let request =
        Request { model: "m", system: None, contents: &contents, tools: &[], settings: &settings, conversation: None };
    let mut stream = provider.stream(request);
    let mut chunks = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Chunk(chunk)) => chunks.push(chunk),
            Ok(ModelEvent::Retry(_) | ModelEvent::Switched(_)) => panic!("no provider asks again by itself"),
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error ends the stream");
                return (chunks, Some(error));
            }
        }
    }
    (chunks, None)
}

/// Returns the text of the chunks, joined.
pub(crate) fn text(chunks: &[Chunk]) -> String {
    chunks.iter().flat_map(|chunk| &chunk.parts).filter_map(|part| part.as_text()).collect()
}

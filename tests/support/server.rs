//! A web server on this machine that speaks real HTTP/1.1, on a port that the system chose; it ends with the test.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The pause between two pieces of an answer that drips.
const DRIP: Duration = Duration::from_millis(20);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, ….
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Request {
    /// A header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }
}

/// What to answer.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    ending: Ending,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Whole,
    /// The connection breaks before the body's end.
    Torn,
    /// Nothing more comes, and the connection stays.
    Hangs,
    /// The last piece comes again and again until the client goes away.
    Repeats,
    /// The same, but slowly.
    Drips,
}

impl Answer {
    /// 200 with a body.
    pub fn ok(body: impl AsRef<[u8]>) -> Self {
        Self { status: 200, headers: Vec::new(), pieces: vec![body.as_ref().to_vec()], ending: Ending::Whole }
    }

    /// Any status with a body.
    pub fn status(status: u16, body: &str) -> Self {
        Self { status, ..Self::ok(body) }
    }

    /// The same with another status.
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::status(status, "").header("location", location)
    }

    /// A stream of server-sent events, each sent by itself.
    pub fn events(events: impl IntoIterator<Item = impl ToString>) -> Self {
        let pieces = events.into_iter().map(|event| format!("data: {}\n\n", event.to_string()).into_bytes()).collect();
        Self { pieces, ..Self::ok("") }.header("content-type", "text/event-stream")
    }

    /// 200 with a body that comes in these pieces.
    pub fn pieces(pieces: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self { pieces: pieces.into_iter().collect(), ..Self::ok("") }
    }

    /// Adds a header field.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Breaks off before the body's end.
    pub fn torn(self) -> Self {
        Self { ending: Ending::Torn, ..self }
    }

    /// Says the last piece again and again until the client goes away.
    pub fn endless(self) -> Self {
        Self { ending: Ending::Repeats, ..self }
    }

    /// Says the last piece again and again, with a pause each time, until the client goes away.
    pub fn dripping(self) -> Self {
        Self { ending: Ending::Drips, ..self }
    }

    /// A stream of bytes that are whatever they are.
    pub fn stream(bytes: impl AsRef<[u8]>) -> Self {
        Self::ok(bytes).header("content-type", "text/event-stream")
    }

    /// Never ends.
    pub fn hanging(self) -> Self {
        Self { ending: Ending::Hangs, ..self }
    }
}

/// A server. Dropping it ends it.
#[derive(Debug)]
pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// A server that answers as told.
    pub async fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move { serve(stream, &seen, &*answer).await.ok() });
            }
        });
        Self { port, requests, task }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What was asked until now.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no test panics with it").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request) -> Answer + ?Sized),
) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    seen.lock().expect("no test panics with it").push(request.clone());
    let answer = answer(&request);
    let fields: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head =
        format!("HTTP/1.1 {} x\r\n{fields}transfer-encoding: chunked\r\nconnection: close\r\n\r\n", answer.status);
    stream.write_all(head.as_bytes()).await?;
    for piece in answer.pieces.iter().filter(|piece| !piece.is_empty()) {
        let size = format!("{:x}\r\n", piece.len());
        stream.write_all(&[size.as_bytes(), piece, b"\r\n"].concat()).await?;
    }
    match answer.ending {
        Ending::Whole => stream.write_all(b"0\r\n\r\n").await?,
        Ending::Torn => return Ok(()),
        Ending::Hangs => std::future::pending().await,
        Ending::Repeats | Ending::Drips => loop {
            if answer.ending == Ending::Drips {
                tokio::time::sleep(DRIP).await;
            }
            let piece = answer.pieces.last().map(Vec::as_slice).unwrap_or_default();
            stream.write_all(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()).await?;
        },
    }
    stream.shutdown().await
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().expect("a number"));
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Request { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

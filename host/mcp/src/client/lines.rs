//! Messages as lines over the streams of a program.
//!
//! Promises: no line grows without bound, nor does what is made of it: one that is too large, or that has the id of a
//! request and is no message, ends that request with an error; what is no message otherwise is skipped, up to a bound.
//!
//! Written here and not taken from the library, which drops a line that is too long without ending its request.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::trouble::Trouble;

/// The longest message of an MCP server, in bytes: 16 MiB of data as base64, and text. Protects the host's memory.
pub(super) const MAX_MESSAGE: usize = 24 << 20;

/// The most values in a message of an MCP server. Protects the host's memory: a value may be two characters long and
/// takes up to some 700 bytes once it is read.
const MAX_MESSAGE_VALUES: usize = 200_000;

/// The most lines of an MCP server that are not messages. Protects the host from a program that is not an MCP server:
/// it is given up. Some print a few lines of their own when they start.
const MAX_RUBBISH: usize = 200;

/// How much of the beginning and the end of a line that is too long is kept, to find the request that it answers.
const EDGE: usize = 1 << 10;

/// The data of an error that stands for an answer which cannot be used. If a server sends the same, its own words are
/// shown without saying that they are its words.
pub(super) const FOUND_HERE: &str = "found by this host";

/// The longest part of a line that is shown.
const SHOWN: usize = 200;

/// The streams of a program as a transport.
pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<Option<W>>>,
    line: Line,
    rubbish: usize,
    trouble: Arc<Trouble>,
}

/// The line that is being read. It outlives a read that is dropped half-way.
#[derive(Debug, Default)]
struct Line {
    kept: Vec<u8>,
    /// The end of a line that is too long.
    tail: Vec<u8>,
    length: usize,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        if self.length <= MAX_MESSAGE {
            self.kept.extend_from_slice(bytes);
            return;
        }
        // Only its edges are looked at any more.
        if self.kept.len() > EDGE {
            self.kept = self.kept.get(..EDGE).unwrap_or_default().to_vec();
        }
        self.tail.extend_from_slice(bytes);
        let over = self.tail.len().saturating_sub(EDGE);
        self.tail.drain(..over);
    }
}

/// What a line turned out to be.
#[derive(Debug)]
enum Read {
    Message(Box<ServerJsonRpcMessage>),
    Empty,
    Rubbish(String),
    /// Too large, and the answer to no request that is known.
    TooLarge,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(read: R, write: W, trouble: Arc<Trouble>) -> Self {
        let write = Arc::new(Mutex::new(Some(write)));
        Self { read: BufReader::new(read), write, line: Line::default(), rubbish: 0, trouble }
    }

    /// Reads one line; `None` at the end of the stream. Can be dropped and called again.
    async fn next_line(&mut self) -> Option<Line> {
        loop {
            let available = self.read.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            self.line.push(available.get(..end.unwrap_or(taken)).unwrap_or_default());
            self.read.consume(taken);
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        // A task of its own: a message that is dropped half-way would break the stream.
        let sending = tokio::spawn(async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let stream = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            stream.write_all(&line).await?;
            stream.flush().await
        });
        async move { sending.await.map_err(io::Error::other)? }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = self.next_line().await?;
            match read(line) {
                Read::Message(message) => return Some(*message),
                Read::Empty => {}
                Read::TooLarge => {
                    let limits = format!("over {} MiB or {MAX_MESSAGE_VALUES} values", MAX_MESSAGE >> 20);
                    self.trouble.set(format!("it sent a message that is {limits}"));
                    return None;
                }
                Read::Rubbish(line) => {
                    tracing::debug!(line, "a line that is not a message");
                    self.trouble.hint(|| format!("it printed `{line}` where only messages may be"));
                    self.rubbish += 1;
                    if self.rubbish > MAX_RUBBISH {
                        self.trouble.set(format!("it printed over {MAX_RUBBISH} lines that are not messages"));
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Waits for what is being sent; a program that reads nothing is ended by its owner.
        self.write.lock().await.take();
        Ok(())
    }
}

fn read(line: Line) -> Read {
    // Its beginning and end are enough to find the request that it belongs to.
    if line.length > MAX_MESSAGE {
        return too_large(&line.kept, &line.tail);
    }
    // Some servers on Windows begin with a mark of the encoding.
    let text = line.kept.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line.kept).trim_ascii();
    if text.is_empty() {
        return Read::Empty;
    }
    // Small text can become large values: each of a million empty lists takes more than its two bytes.
    if values_in(text) > MAX_MESSAGE_VALUES {
        return too_large(
            text.get(..EDGE).unwrap_or(text),
            text.get(text.len().saturating_sub(EDGE)..).unwrap_or(text),
        );
    }
    match serde_json::from_slice(text) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) => {
            let shown = host_text::excerpt(&String::from_utf8_lossy(text), SHOWN);
            // A request whose answer cannot be read would wait until its limit.
            match answered(text) {
                Some(id) => failed(id, format!("it answered with no JSON-RPC message: `{shown}`")),
                // Programs print greetings and warnings to the wrong stream.
                None => Read::Rubbish(shown),
            }
        }
    }
}

/// Returns the request that a line was meant to answer which is no message: the id of an object that names no method. A
/// text that is not even JSON counts if it looks like one. Nobody else would answer that request.
fn answered(text: &[u8]) -> Option<RequestId> {
    if text.first() != Some(&b'{') {
        return None;
    }
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(object) if object.contains_key("method") => None,
        Ok(object) => object.get("id")?.as_i64().map(RequestId::Number),
        Err(_) => {
            let text = String::from_utf8_lossy(text);
            let is_meant = ["\"jsonrpc\"", "\"result\"", "\"error\""].iter().any(|key| text.contains(key));
            if is_meant && !text.contains("\"method\"") { id_in(text.as_bytes()) } else { None }
        }
    }
}

/// Returns the error that ends a request. The server did not send it.
fn failed(id: RequestId, message: String) -> Read {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, message, Some(FOUND_HERE.into()));
    Read::Message(Box::new(ServerJsonRpcMessage::error(error, Some(id))))
}

/// Returns the error that ends the request which a message answers that is too large.
fn too_large(start: &[u8], end: &[u8]) -> Read {
    let Some(id) = id_in(start).or_else(|| id_in(end)) else { return Read::TooLarge };
    let message = format!("the answer is over {} MiB or {MAX_MESSAGE_VALUES} values; ask for less", MAX_MESSAGE >> 20);
    failed(id, message)
}

/// Returns the id of a message of which only an edge is known. The requests of this host have numbers.
fn id_in(edge: &[u8]) -> Option<RequestId> {
    let edge = String::from_utf8_lossy(edge);
    let (_, rest) = edge.split_once("\"id\"")?;
    let digits = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok().map(RequestId::Number)
}

/// Counts the values of a JSON text, at most: each is followed by a comma or a closing bracket.
fn values_in(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in text {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b',' | b'{' | b'[') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn received(sent: Vec<u8>) -> (Vec<String>, Option<String>) {
        let trouble = Arc::new(Trouble::default());
        let mut lines = Lines::new(io::Cursor::new(sent), tokio::io::sink(), Arc::clone(&trouble));
        let mut found = Vec::new();
        while let Some(message) = lines.receive().await {
            found.push(serde_json::to_string(&message).expect("JSON"));
        }
        (found, trouble.why())
    }

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[tokio::test]
    async fn lines_that_are_no_messages_are_skipped_up_to_a_bound() {
        let mut sent = b"Starting...\n\n\x1b[31mred\x1b[0m\n".to_vec();
        sent.extend(format!("{ANSWER}\r\n").into_bytes());
        assert_eq!(received(sent).await.0, [ANSWER]);

        let mut sent = b"\x1b]0;x\x07rubbish\n".repeat(MAX_RUBBISH + 1);
        sent.extend(format!("{ANSWER}\n").into_bytes());
        let (found, why) = received(sent).await;
        let why = why.expect("it is given up");
        assert!(found.is_empty() && why.contains("rubbish") && !why.contains('\x1b'), "{why}");
    }

    #[tokio::test]
    async fn line_that_is_too_long_ends_its_request_and_no_other() {
        for long in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{}"}}"#, "x".repeat(MAX_MESSAGE)),
            format!(r#"{{"jsonrpc":"2.0","result":"{}","id":7}}"#, "x".repeat(MAX_MESSAGE)),
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":[{}0]}}"#, "[],".repeat(MAX_MESSAGE_VALUES)),
        ] {
            let (found, _) = received(format!("{long}\n{ANSWER}\n").into_bytes()).await;
            assert_eq!(found.len(), 2, "{:?}", long.get(..40));
            assert!(found[0].contains(r#""id":7"#) && found[0].contains("ask for less"), "{}", found[0]);
            assert_eq!(found[1], ANSWER);
        }
    }

    #[tokio::test]
    async fn long_line_without_a_request_gives_the_server_up() {
        let (found, why) = received(format!("{}\n{ANSWER}\n", "x".repeat(MAX_MESSAGE + 1)).into_bytes()).await;
        assert!(found.is_empty() && why.expect("it is given up").contains("24 MiB"));
    }

    #[tokio::test]
    async fn answer_that_is_no_message_ends_its_request() {
        for wrong in [
            r#"{"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
            r#"{"id":7,"answer":"x"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#,
        ] {
            let (found, why) = received(format!("{wrong}\n{ANSWER}\n").into_bytes()).await;
            assert_eq!((found.len(), why), (2, None), "{wrong}: {found:?}");
            assert!(found[0].contains(r#""id":7"#) && found[0].contains("no JSON-RPC message"), "{}", found[0]);
        }
        // What a program prints about a request answers nothing.
        for printed in [
            r#"{"id":7,"method":"tools/call","wrong":1}"#,
            r#"got {"jsonrpc":"2.0","id":7}"#,
            r#"{'id': 7}"#,
            r#"{"level":"info","message":"started"}"#,
            r#"[{"id":7}]"#,
        ] {
            assert_eq!(received(format!("{printed}\n{ANSWER}\n").into_bytes()).await.0, [ANSWER], "{printed}");
        }
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (text, expected) in [("{}", 2), ("[1,2,3]", 4), (r#"{"a":"[,,\",]"}"#, 2), ("1", 1)] {
            assert_eq!(values_in(text.as_bytes()), expected, "{text}");
        }
    }
}

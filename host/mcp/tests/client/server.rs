//! A small web server on this machine, on a port that the system chose; it ends with the test.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(crate) fn method(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// An answer: its status, header lines, and body. A body that is torn ends before its announced length.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) torn: bool,
}

impl Answer {
    pub(crate) fn json(value: &Value) -> Self {
        Self {
            status: 200,
            head: "Content-Type: application/json\r\n".to_owned(),
            body: value.to_string().into(),
            torn: false,
        }
    }

    pub(crate) fn result(request: &Request, result: Value) -> Self {
        Self::json(&serde_json::json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}))
    }

    pub(crate) fn status(status: u16, head: &str) -> Self {
        Self { status, head: head.to_owned(), body: Vec::new(), torn: false }
    }
}

/// A running server.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) seen: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                tokio::spawn(async move {
                    let mut read = Vec::new();
                    let mut piece = [0; 4096];
                    let request = loop {
                        let count = stream.read(&mut piece).await.unwrap_or(0);
                        if count == 0 {
                            return;
                        }
                        read.extend_from_slice(&piece[..count]);
                        let text = String::from_utf8_lossy(&read).into_owned();
                        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                        let length = head.lines().find_map(|line| {
                            let (name, value) = line.split_once(':')?;
                            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
                        });
                        if body.len() >= length.unwrap_or(0) {
                            let line = head.lines().next().unwrap_or_default().to_owned();
                            break Request { line, head: head.to_lowercase(), body: body.to_owned() };
                        }
                    };
                    log.lock().expect("a lock").push(request.clone());
                    let Answer { status, head, body, torn } = answer(&request);
                    let length = body.len() + usize::from(torn);
                    let head =
                        format!("HTTP/1.1 {status} X\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n");
                    stream.write_all(head.as_bytes()).await.ok();
                    stream.write_all(&body).await.ok();
                    stream.shutdown().await.ok();
                });
            }
        });
        Self { port, seen, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().expect("a lock").clone()
    }
}

/// Answers as a server of the stateless era with one tool, whose calls `call` answers.
pub(crate) fn stateless(request: &Request, call: impl Fn(&Request) -> Answer) -> Answer {
    match request.method().as_str() {
        "server/discover" => Answer::result(
            request,
            serde_json::json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private",
            }),
        ),
        "tools/list" => Answer::result(
            request,
            serde_json::json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{"name": "echo", "inputSchema": {"type": "object"}}],
            }),
        ),
        "tools/call" => call(request),
        _ => Answer::status(202, ""),
    }
}

//! Replies of models' services, over real HTTP on this machine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::StreamExt;
use host_message::{Content, PartData};
use host_model::{
    Access, Anthropic, ApiKey, Chunk, Gemini, ModelEvent, Ollama, OpenAi, OpenAiResponses, Provider, Request, Settings,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::answer::waits;

/// A key that no reply contains.
const KEY: &str = "sk-0123456789abcdef";

/// A service that answers each request with the same bytes, and a client of it.
struct Bench {
    waits: tokio::runtime::Runtime,
    provider: Arc<dyn Provider>,
    answer: Arc<Mutex<Vec<u8>>>,
}

/// What a client got of a reply, and how it ended.
#[derive(Debug, PartialEq)]
struct Got {
    chunks: Vec<Chunk>,
    error: Option<String>,
}

macro_rules! targets {
    ($($name:ident $provider:ty, $kind:literal;)*) => {$(
        #[doc = concat!("The bytes are a reply in the wire format of `", stringify!($provider), "`.")]
        pub fn $name(data: &[u8]) {
            static BENCH: OnceLock<Mutex<Bench>> = OnceLock::new();
            let connect = |access| Arc::new(<$provider>::new(access).expect("an address")) as Arc<dyn Provider>;
            let bench = BENCH.get_or_init(|| Mutex::new(Bench::new(connect)));
            check(&bench.lock().unwrap_or_else(PoisonError::into_inner), $kind, data);
        }
    )*};
}

targets! {
    anthropic Anthropic, "text/event-stream";
    gemini Gemini, "text/event-stream";
    ollama Ollama, "application/x-ndjson";
    openai OpenAi, "text/event-stream";
    openai_responses OpenAiResponses, "text/event-stream";
}

/// A reply is the same however its bytes were cut; its calls have names; neither it nor its error has the key. A reply
/// that begins with `!` and three digits is an error with this status.
fn check(bench: &Bench, kind: &str, data: &[u8]) {
    let status = data.strip_prefix(b"!").and_then(|rest| rest.split_first_chunk::<3>());
    let (status, body) = match status {
        Some((digits, rest)) if (b'4'..=b'5').contains(&digits[0]) && digits.iter().all(u8::is_ascii_digit) => {
            (String::from_utf8_lossy(digits).into_owned(), rest)
        }
        _ => ("200".to_owned(), data),
    };
    let kind = if status == "200" { kind } else { "application/json" };
    let whole = bench.ask(&status, kind, body, body.len());
    let cut = bench.ask(&status, kind, body, 1 + body.len() % 23);
    assert_eq!(whole, cut);
    assert!(!format!("{whole:?}").contains(KEY));
    for part in whole.chunks.iter().flat_map(|chunk| &chunk.parts) {
        if let PartData::FunctionCall(call) = &part.data {
            assert!(!call.name.as_str().is_empty(), "{whole:?}");
        }
    }
}

impl Bench {
    fn new(connect: impl FnOnce(Access) -> Arc<dyn Provider>) -> Self {
        let waits = waits();
        let answer = Arc::new(Mutex::new(Vec::new()));
        let listener = waits.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = format!("http://{}/", listener.local_addr().expect("an address"));
        let answers = Arc::clone(&answer);
        waits.spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, Arc::clone(&answers)));
            }
        });
        let access = Access { address: Some(address), key: ApiKey::new(KEY), ..Access::default() };
        Self { waits, provider: connect(access), answer }
    }

    fn ask(&self, status: &str, kind: &str, body: &[u8], piece: usize) -> Got {
        let head = format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
        let mut answer = head.into_bytes();
        for piece in body.chunks(piece.max(1)) {
            answer.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            answer.extend_from_slice(piece);
            answer.extend_from_slice(b"\r\n");
        }
        answer.extend_from_slice(b"0\r\n\r\n");
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        let settings = Settings::default();
        let contents = [Content::user("hello")];
        let request = Request {
            model: "m",
            system: None,
            contents: &contents,
            tools: &[],
            settings: &settings,
            conversation: None,
        };
        self.waits.block_on(async {
            let mut stream = self.provider.stream(request);
            let (mut chunks, mut error) = (Vec::new(), None);
            while let Some(event) = stream.next().await {
                match event {
                    Ok(ModelEvent::Chunk(chunk)) => chunks.push(chunk),
                    Ok(other) => panic!("a provider by itself does not say {other:?}"),
                    Err(why) => error = Some(why.to_string()),
                }
            }
            Got { chunks, error }
        })
    }
}

/// Answers the requests of one connection.
async fn serve(mut connection: TcpStream, answer: Arc<Mutex<Vec<u8>>>) {
    let mut request = Vec::new();
    loop {
        while !is_whole(&request) {
            match connection.read_buf(&mut request).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        request.clear();
        let bytes = answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if connection.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Whether a request has its head, and as much of a body as that says.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    body.len() >= length.unwrap_or_default()
}

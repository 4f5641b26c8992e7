//! A model's service that speaks OpenAI's chat completions on this machine, says what it was told to say, and
//! remembers when.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The service. Its threads end with the process.
pub(crate) struct Service {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    seen: Vec<Seen>,
}

/// What a model writes about code, over and over.
const MARKDOWN: &str = "## Findings

The burn rate is computed in **`src/fuel.rs`**, *not* in the scheduler. Two callers depend on it; see
[the guide](https://example.com/guide/fuel) for the reasons why it is computed so late, and what would have to change.

1. The first finding is long enough that it has to be wrapped on every terminal, and it hangs under its text:
   - nested **bold** item with `code`
   - another one
2. The second finding

```rust
/// Burns fuel.
pub fn burn(litres: u32) -> Result<(), Error> {
    let left = 42 - litres; // may underflow
    todo!(\"not yet\")
}
```

| Tool | Calls | What it does |
|:-----|------:|--------------|
| `grep` | 12 | finds lines that match |
| `ls` | 3 | lists a folder |

> A quote that goes on for long enough to be wrapped.

";

/// One request and its reply.
pub(crate) struct Seen {
    /// When its first byte was there.
    pub(crate) arrived: Instant,
    /// When the last bytes of the reply were handed to the system. Taken just before: whoever waits for them may be
    /// awake before this thread is again.
    pub(crate) answered: Instant,
}

/// What to say: a reply as bytes, made before anybody asks, so that making it is not measured.
pub(crate) struct Reply {
    /// How long it takes to begin.
    pause: Duration,
    /// What is handed to the system at once.
    packets: Vec<Vec<u8>>,
    /// How long it waits before each of them.
    pace: Duration,
}

impl Reply {
    /// An answer of so many characters, in so many events.
    pub(crate) fn text(characters: usize, events: usize) -> Self {
        let piece = "x".repeat(characters / events);
        let mut events = vec![json!({"choices": [{"index": 0, "delta": {"content": piece}}]}); events];
        events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
        Self::of(&events)
    }

    /// An answer of so many characters of Markdown with every element, in so many events.
    pub(crate) fn markdown(characters: usize, events: usize) -> Self {
        let text: Vec<char> = MARKDOWN.chars().cycle().take(characters).collect();
        let delta =
            |piece: &[char]| json!({"choices": [{"index": 0, "delta": {"content": piece.iter().collect::<String>()}}]});
        let mut events: Vec<Value> = text.chunks(characters / events).map(delta).collect();
        events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
        Self::of(&events)
    }

    /// A call of a tool.
    pub(crate) fn call(tool: &str, arguments: &str) -> Self {
        Self::calls(tool, &[arguments.to_owned()])
    }

    /// Calls of a tool, one with each of these arguments.
    pub(crate) fn calls(tool: &str, arguments: &[String]) -> Self {
        let call = |(index, arguments): (usize, &String)| {
            let function = json!({"name": tool, "arguments": arguments});
            json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function})
        };
        let calls: Vec<_> = arguments.iter().enumerate().map(call).collect();
        Self::of(&[
            json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ])
    }

    fn of(events: &[Value]) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunk =
            |event: String| format!("{:x}\r\ndata: {event}\n\n\r\n", event.len() + "data: \n\n".len()).into_bytes();
        let events = events.iter().map(Value::to_string).chain(["[DONE]".to_owned()]);
        let mut packets = vec![head.as_bytes().to_vec()];
        packets.extend(events.map(chunk));
        packets.push(b"0\r\n\r\n".to_vec());
        Self { pause: Duration::ZERO, packets, pace: Duration::ZERO }
    }

    /// All of it at once, as far as the system takes it. Event by event, most of the cost is on the side that sends.
    pub(crate) fn sent_at_once(self) -> Self {
        Self { packets: vec![self.packets.concat()], ..self }
    }

    /// Each event comes so long after the one before, as a model writes.
    pub(crate) fn paced(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// It begins after so long; a real model takes much longer.
    pub(crate) fn after(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

impl Service {
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // A connection that breaks shows in what was seen.
                std::thread::spawn(move || serve(stream, &state).ok());
            }
        });
        Ok(Self { port, state })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What to answer to the next requests, one after the other.
    pub(crate) fn will_say(&self, replies: Vec<Reply>) {
        *lock(&self.state) = State { replies: replies.into(), seen: Vec::new() };
    }

    /// What was asked since, in order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut lock(&self.state).seen)
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let arrived = Instant::now();
        read_request(&mut reader)?;
        let reply = lock(state).replies.pop_front().ok_or_else(|| io::Error::other("nothing is left to say"))?;
        // Seen before it is answered in full, since the host may end as soon as it has what it needs.
        let place = {
            let seen = &mut lock(state).seen;
            seen.push(Seen { arrived, answered: arrived });
            seen.len() - 1
        };
        std::thread::sleep(reply.pause);
        for packet in &reply.packets {
            if !reply.pace.is_zero() {
                std::thread::sleep(reply.pace);
            }
            if let Some(seen) = lock(state).seen.get_mut(place) {
                seen.answered = Instant::now();
            }
            stream.write_all(packet)?;
        }
    }
}

/// Reads a request with its body to the end.
fn read_request(reader: &mut impl BufRead) -> io::Result<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    io::copy(&mut reader.take(length), &mut io::sink())?;
    Ok(())
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

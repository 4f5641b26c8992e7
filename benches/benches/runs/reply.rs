//! What the service says to one request.
//!
//! A reply is bytes that are made before anybody asks, so that making it is not measured. Deliberately not here: the
//! events of each wire format ([`Wire`]).

use std::time::Duration;

use serde_json::json;

use crate::wire::Wire;

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

/// A reply.
pub(crate) struct Reply {
    /// How long it takes to begin.
    pub(crate) pause: Duration,
    /// What is handed to the system at once.
    pub(crate) packets: Vec<Vec<u8>>,
    /// How long it waits before each of them.
    pub(crate) pace: Duration,
}

impl Reply {
    /// An answer of so many characters, in so many events.
    pub(crate) fn text(characters: usize, events: usize) -> Self {
        Self::answer(Wire::Chat, &vec!["x".repeat(characters / events); events])
    }

    /// An answer of so many characters of Markdown with every element, in so many events.
    pub(crate) fn markdown(wire: Wire, characters: usize, events: usize) -> Self {
        let text: Vec<char> = MARKDOWN.chars().cycle().take(characters).collect();
        let pieces: Vec<String> = text.chunks(characters / events).map(|piece| piece.iter().collect()).collect();
        Self::answer(wire, &pieces)
    }

    /// An answer in pieces, one in each event.
    pub(crate) fn answer(wire: Wire, pieces: &[String]) -> Self {
        Self::of(wire, &wire.answer(pieces))
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
        let events = [
            json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ];
        Self::of(Wire::Chat, &events.map(|event| format!("data: {event}\n\n")))
    }

    fn of(wire: Wire, events: &[String]) -> Self {
        let media_type = wire.media_type();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\r\n");
        let chunk = |event: &String| format!("{:x}\r\n{event}\r\n", event.len()).into_bytes();
        let mut packets = vec![head.into_bytes()];
        packets.extend(events.iter().map(chunk));
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

//! Cuts the bytes of a streamed reply into the data of whole events.
//!
//! Promises the same events wherever the bytes were cut, even inside a character. Server-sent events: line ends as
//! CRLF, CR or LF; comments and other fields are skipped; a last event without its blank line is still an event. JSON
//! lines: each line that is not blank is an event, including a last one without a line end. Each size is limited. Data
//! is bytes: the JSON parser checks whether it is text.
//!
//! Deliberately not here: the fields `event`, `id` and `retry`, which no wire format of this crate needs, and
//! reconnecting, since a reply cannot be resumed. The crate `sse-stream` was considered: it drops a last event without
//! a blank line, and has no limit for an event's size.

use bytes::{Buf, Bytes};

use crate::ReplyFault;

/// The most bytes of one event. Protects the host's memory from a server that never ends a line; the largest legitimate
/// event is an image in base64.
const MAX_EVENT_BYTES: usize = 32 << 20;

/// The most bytes of one reply. Protects against a server that sends events endlessly.
const MAX_REPLY_BYTES: usize = 256 << 20;

/// Buffers that grew beyond this for one event are released after it.
const KEPT_BYTES: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a reply is split into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events, as in the HTML standard.
    Events,
    /// A JSON value on each line.
    Lines,
}

impl Framing {
    /// Returns the media type to request.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}

/// Splits bytes into events. Pass it bytes with [`Decoder::push`] when [`Decoder::next_event`] has no more.
pub(crate) struct Decoder {
    framing: Framing,
    /// Bytes that were pushed but not read.
    input: Bytes,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// The data lines of the event that is being read, each with a line feed after it.
    data: Vec<u8>,
    /// Whether `data` was returned, so that the next event starts with an empty one.
    handed_out: bool,
    /// Whether the last line ended with a CR at the end of the input, so that an LF now belongs to it.
    after_return: bool,
    /// Whether no line has ended yet: it may begin with a byte order mark.
    first_line: bool,
    ended: bool,
    received: usize,
    max_event: usize,
    max_reply: usize,
}

impl Decoder {
    pub(crate) fn new(framing: Framing) -> Self {
        Self::with_limits(framing, MAX_EVENT_BYTES, MAX_REPLY_BYTES)
    }

    fn with_limits(framing: Framing, max_event: usize, max_reply: usize) -> Self {
        Self {
            framing,
            input: Bytes::new(),
            line: Vec::new(),
            data: Vec::new(),
            handed_out: false,
            after_return: false,
            first_line: true,
            ended: false,
            received: 0,
            max_event,
            max_reply,
        }
    }

    /// Takes the next bytes of the reply.
    ///
    /// # Errors
    ///
    /// If the reply is larger than any legitimate one.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Result<(), ReplyFault> {
        self.received = self.received.saturating_add(bytes.len());
        if self.received > self.max_reply {
            return Err(ReplyFault::ReplyTooLarge { limit: self.max_reply });
        }
        if self.input.is_empty() {
            self.input = bytes;
        } else {
            self.input = [&self.input[..], &bytes[..]].concat().into();
        }
        Ok(())
    }

    /// Marks the end of the bytes. Data without its line end or blank line then counts as complete.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the data of the next event, or `None` if more bytes are needed or none are left.
    ///
    /// # Errors
    ///
    /// If the event is larger than any legitimate one.
    pub(crate) fn next_event(&mut self) -> Result<Option<&[u8]>, ReplyFault> {
        // The event is borrowed by the caller until here, so that it is never copied.
        if std::mem::take(&mut self.handed_out) {
            self.data.clear();
            self.data.shrink_to(KEPT_BYTES);
        }
        loop {
            // A CR may end a line, and the LF that belongs to it come in the next piece.
            if self.after_return && !self.input.is_empty() {
                self.after_return = false;
                if self.input[0] == b'\n' {
                    self.input.advance(1);
                }
            }
            let end = match self.framing {
                Framing::Events => memchr::memchr2(b'\n', b'\r', &self.input),
                // Between the tokens of a JSON value, a CR is white space.
                Framing::Lines => memchr::memchr(b'\n', &self.input),
            };
            let Some(at) = end else {
                let rest = std::mem::take(&mut self.input);
                // Before it is kept: a server can send a line without an end.
                self.check_size(self.line.len() + rest.len())?;
                self.line.extend_from_slice(&rest);
                if !self.ended {
                    return Ok(None);
                }
                let last = std::mem::take(&mut self.line);
                // The connection ended without the last line's end; the event counts all the same.
                self.take_line(&last)?;
                return Ok(self.hand_out());
            };
            let head = self.input.split_to(at);
            self.after_return = self.input[0] == b'\r';
            self.input.advance(1);
            // The usual case: a line that came whole is read where it lies.
            let is_end = if self.line.is_empty() {
                self.take_line(&head)?
            } else {
                self.check_size(self.line.len() + head.len())?;
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&head);
                let is_end = self.take_line(&line)?;
                line.clear();
                // One very long event must not keep its memory for the rest of the reply.
                line.shrink_to(KEPT_BYTES);
                self.line = line;
                is_end
            };
            if is_end {
                match self.data.len() {
                    // A lone line feed of an empty data line is not an event.
                    0 | 1 => self.data.clear(),
                    _ => return Ok(self.hand_out()),
                }
            }
        }
    }

    /// Reads one line without its end; returns whether an event ends with it.
    fn take_line(&mut self, mut line: &[u8]) -> Result<bool, ReplyFault> {
        if std::mem::take(&mut self.first_line) {
            // Only at the very start, where some servers write one.
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if self.framing == Framing::Lines {
            self.check_size(line.len())?;
            if !line.trim_ascii().is_empty() {
                self.data.extend_from_slice(line);
                self.data.push(b'\n');
            }
            return Ok(true);
        }
        let value = match line.strip_prefix(b"data") {
            _ if line.is_empty() => return Ok(true),
            // `data` without a colon is a field with an empty value, as the standard has it.
            Some([]) => &[],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            // A comment, or a field that is not needed.
            Some(_) | None => return Ok(false),
        };
        self.check_size(self.data.len() + value.len())?;
        self.data.extend_from_slice(value);
        // Several lines of data in one event are joined by line ends.
        self.data.push(b'\n');
        Ok(false)
    }

    /// Returns the data without its last line feed, unless it consists only of line feeds.
    fn hand_out(&mut self) -> Option<&[u8]> {
        self.handed_out = true;
        match self.data.split_last() {
            Some((_, [])) | None => None,
            Some((_, data)) => Some(data),
        }
    }

    fn check_size(&self, size: usize) -> Result<(), ReplyFault> {
        if size > self.max_event { Err(ReplyFault::EventTooLarge { limit: self.max_event }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns every event of the pieces, pushed one after the other.
    fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        framed(Framing::Events, pieces)
    }

    fn framed<'a>(framing: Framing, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = Decoder::new(framing);
        let mut events = Vec::new();
        let mut drain = |decoder: &mut Decoder| {
            while let Some(data) = decoder.next_event().expect("small enough") {
                events.push(String::from_utf8_lossy(data).into_owned());
            }
        };
        for piece in pieces {
            decoder.push(Bytes::copy_from_slice(piece)).expect("small enough");
            drain(&mut decoder);
        }
        decoder.end();
        drain(&mut decoder);
        events
    }

    #[test]
    fn framing_reads_events_as_the_standard_defines_them() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(events([text.as_bytes()]), expected, "{text:?}");
            assert_eq!(events(text.as_bytes().chunks(1)), expected, "byte by byte: {text:?}");
        };
        check("", &[]);
        check("\n\n\r\n", &[]);
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data: a\r\n\rdata: b\n\r\n", &["a", "b"]);
        check("data:a\n\ndata:  b\n\n", &["a", " b"]);
        check("data: a\ndata: b\ndata:\n\n", &["a\nb\n"]);
        check("data\n\ndata:\n\ndata: \n\ndata: a\n\n", &["a"]);
        check("data:\ndata:\n\n", &["\n"]);
        check(": keep-alive\n\n:\n\ndata: a\n: between\ndata: b\n\n", &["a\nb"]);
        check("event: ping\nid: 7\nretry: 10\n\ndata: a\nevent: x\n\n", &["a"]);
        check("database: x\ndata : x\n data: x\n\n", &[]);
        check("\u{feff}data: a\n\n", &["a"]);
        check("\n\u{feff}data: a\n\n", &[]);
        check("data: größe 😀\n\n", &["größe 😀"]);
        check("data: a\n\ndata: [DONE]\n\n", &["a", "[DONE]"]);
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        for end in ["", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n"] {
            let text = format!("data: a\n\ndata: b{end}");
            assert_eq!(events([text.as_bytes()]), ["a", "b"], "{end:?}");
        }
    }

    #[test]
    fn each_line_is_an_event() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(framed(Framing::Lines, [text.as_bytes()]), expected, "{text:?}");
            assert_eq!(framed(Framing::Lines, text.as_bytes().chunks(1)), expected, "byte by byte: {text:?}");
        };
        check("", &[]);
        check("\n \n\r\n", &[]);
        check("{}\n{\"a\":1}\n", &["{}", "{\"a\":1}"]);
        check("{}\n{\"größe\":\"😀\"}", &["{}", "{\"größe\":\"😀\"}"]);
        check("\u{feff}1\n\n2\n", &["1", "2"]);
        check("data: 1\n", &["data: 1"]);
        check("7\n", &["7"]);
    }

    // promise model.stream
    #[test]
    fn a_line_without_end_is_refused() {
        let mut decoder = Decoder::with_limits(Framing::Lines, 10, 1000);
        decoder.push(Bytes::from_static(b"{}\n1234567")).expect("small enough");
        assert_eq!(decoder.next_event(), Ok(Some(&b"{}"[..])));
        assert_eq!(decoder.next_event(), Ok(None));
        decoder.push(Bytes::from_static(b"8901")).expect("small enough");
        assert_eq!(decoder.next_event(), Err(ReplyFault::EventTooLarge { limit: 10 }));
    }

    // promise model.stream
    #[test]
    fn an_event_without_end_is_refused() {
        for endless in ["data: xxxxxxxxxxx", "data: xxxxx\ndata: xxxxx\n", ": xxxxxxxxxxxx"] {
            let mut decoder = Decoder::with_limits(Framing::Events, 10, 1000);
            let result = endless.as_bytes().chunks(3).try_for_each(|piece| {
                decoder.push(Bytes::copy_from_slice(piece))?;
                decoder.next_event().map(|event| assert_eq!(event, None, "{endless:?}"))
            });
            assert_eq!(result, Err(ReplyFault::EventTooLarge { limit: 10 }), "{endless:?}");
        }
    }

    // promise model.stream
    #[test]
    fn a_reply_without_end_is_refused() {
        let mut decoder = Decoder::with_limits(Framing::Events, 100, 20);
        assert_eq!(decoder.push(Bytes::from_static(b"data: a\n\n")), Ok(()));
        assert_eq!(decoder.next_event(), Ok(Some(&b"a"[..])));
        assert_eq!(decoder.next_event(), Ok(None));
        assert_eq!(decoder.push(Bytes::from_static(b"data: abcdef")), Err(ReplyFault::ReplyTooLarge { limit: 20 }));
    }

    #[test]
    fn bytes_pushed_early_are_not_lost() {
        let mut decoder = Decoder::new(Framing::Events);
        decoder.push(Bytes::from_static(b"data: a\n\nda")).unwrap();
        decoder.push(Bytes::from_static(b"ta: b\n\n")).unwrap();
        assert_eq!(decoder.next_event(), Ok(Some(&b"a"[..])));
        assert_eq!(decoder.next_event(), Ok(Some(&b"b"[..])));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(
            lines in prop::collection::vec("(data|data: ?|: ?|event: |\u{feff})?[a-zäß😀 ]{0,4}(\n|\r|\r\n){1,3}", 0..12),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let text = lines.concat();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let pieces = at.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]);
            prop_assert_eq!(events(pieces), events([text.as_bytes()]));
        }

        #[test]
        fn no_bytes_are_too_strange(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
        ) {
            let whole = pieces.concat();
            prop_assert_eq!(events(pieces.iter().map(Vec::as_slice)), events([&whole[..]]));
            let lines = framed(Framing::Lines, pieces.iter().map(Vec::as_slice));
            prop_assert_eq!(lines, framed(Framing::Lines, [&whole[..]]));
        }
    }
}

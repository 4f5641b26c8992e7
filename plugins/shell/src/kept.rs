//! What a program printed to one output, bounded: the head and the tail, since a build says at the end why it failed
//! and at the start what it is.

use std::collections::VecDeque;

/// How many bytes of the head are kept.
const HEAD: usize = 256 * 1024;

/// How many bytes of the tail are kept. With the head a mebibyte, so that a command that prints without end cannot
/// fill the memory.
const TAIL: usize = 768 * 1024;

/// The output so far.
#[derive(Default)]
pub(crate) struct Kept {
    head: String,
    tail: VecDeque<u8>,
    /// How many bytes between head and tail were dropped.
    dropped: u64,
    /// The start of a character whose end has not been printed yet.
    pending: Vec<u8>,
}

impl Kept {
    /// Takes the next bytes, and returns them as text for the live display. A character that comes in two pieces is
    /// returned with the second; what is no UTF-8 is replaced.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let complete = self.pending.len() - unfinished(&self.pending);
        let text = String::from_utf8_lossy(self.pending.get(..complete).unwrap_or(&[])).into_owned();
        self.pending.drain(..complete);
        self.keep(&text);
        text
    }

    /// All that was kept, with a note where something is missing.
    pub(crate) fn finish(mut self) -> String {
        let rest = String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned();
        self.keep(&rest);
        let mut text = self.head;
        if self.dropped > 0 {
            text.push_str(&format!("\n[cut: {} bytes here]\n", self.dropped));
        }
        // The tail may begin in the middle of a character, of which at most three bytes are left.
        let tail = Vec::from(self.tail);
        let start = tail.iter().take(3).take_while(|byte| *byte & 0xc0 == 0x80).count();
        let start = if self.dropped > 0 { start } else { 0 };
        text.push_str(&String::from_utf8_lossy(tail.get(start..).unwrap_or(&[])));
        text
    }

    fn keep(&mut self, text: &str) {
        let room = if self.tail.is_empty() { HEAD.saturating_sub(self.head.len()) } else { 0 };
        let (head, rest) = text.split_at(text.floor_char_boundary(room));
        self.head.push_str(head);
        self.tail.extend(rest.as_bytes());
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }
}

/// How many bytes at the end begin a character that is not finished.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_stays_whole() {
        let bytes = "a é € 🦀 z".as_bytes();
        for step in 1..=bytes.len() {
            let mut kept = Kept::default();
            let live: String = bytes.chunks(step).map(|piece| kept.take(piece)).collect();
            assert_eq!(live, "a é € 🦀 z", "{step}");
            assert_eq!(kept.finish(), "a é € 🦀 z", "{step}");
        }
    }

    #[test]
    fn shell_output_that_is_not_text_is_replaced_and_not_held_back() {
        let check = |bytes: &[u8], live: &str, all: &str| {
            let mut kept = Kept::default();
            assert_eq!(kept.take(bytes), live);
            assert_eq!(kept.finish(), all);
        };
        check(b"a\xff", "a\u{fffd}", "a\u{fffd}");
        check(b"a\x80", "a\u{fffd}", "a\u{fffd}");
        check(b"a\xe2\x82", "a", "a\u{fffd}");
        check(b"", "", "");
    }

    #[test]
    fn shell_long_output_keeps_its_head_and_its_tail_and_reports_what_is_missing() {
        let mut kept = Kept::default();
        for i in 0..200_000 {
            kept.take(format!("line {i:06} €\n").as_bytes());
        }
        let text = kept.finish();
        assert!(text.starts_with("line 000000 €\n") && text.ends_with("line 199999 €\n"));
        // A line has 16 bytes, so head and tail end between two.
        assert!(text.contains(&format!("€\n\n[cut: {} bytes here]\nline", 200_000 * 16 - HEAD - TAIL)));
    }

    #[test]
    fn the_cut_is_between_characters() {
        let mut kept = Kept::default();
        // Neither head nor tail is a multiple of three.
        for _ in 0..500 {
            kept.take("€".repeat(1_000).as_bytes());
        }
        let text = kept.finish();
        assert!(text.contains("€\n[cut: ") && text.contains(" bytes here]\n€"));
        assert!(!text.contains('\u{fffd}') && text.len() <= HEAD + TAIL + 64);
    }
}

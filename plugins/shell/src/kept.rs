//! What a program printed to both outputs, in one text and bounded: the head and the tail, since a build says at the
//! end why it failed and at the start what it is.

use std::collections::VecDeque;

use host_sdk::process::Source;

/// How many bytes of the head are kept.
const HEAD: usize = 1 << 20;

/// How many bytes of the tail are kept. With the head 7 MiB: what a call may return is 8 MiB, and the host puts what
/// the model does not get into a file.
const TAIL: usize = 6 << 20;

/// The output so far.
#[derive(Default)]
pub(crate) struct Kept {
    head: String,
    tail: VecDeque<u8>,
    /// How many bytes between head and tail were dropped.
    dropped: u64,
    /// For each output, the start of a character whose end has not been printed yet.
    pending: [Vec<u8>; 2],
    /// Whether the last text was one of the standard error.
    in_errors: bool,
    /// Whether the last text ended in the middle of a line.
    in_line: bool,
}

impl Kept {
    /// Takes the next bytes, and returns them as text for the live display. A character that comes in two pieces is
    /// returned with the second; what is no UTF-8 is replaced.
    pub(crate) fn take(&mut self, source: Source, bytes: &[u8]) -> String {
        let pending = self.pending(source);
        pending.extend_from_slice(bytes);
        let complete = pending.len() - unfinished(pending);
        let text = String::from_utf8_lossy(pending.get(..complete).unwrap_or(&[])).into_owned();
        pending.drain(..complete);
        self.add(source, &text);
        text
    }

    /// All that was kept, with a note where something is missing.
    pub(crate) fn finish(mut self) -> String {
        for source in [Source::Stdout, Source::Stderr] {
            let rest = String::from_utf8_lossy(&std::mem::take(self.pending(source))).into_owned();
            self.add(source, &rest);
        }
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

    fn pending(&mut self, source: Source) -> &mut Vec<u8> {
        let [output, errors] = &mut self.pending;
        match source {
            Source::Stdout => output,
            Source::Stderr => errors,
        }
    }

    /// Adds text, behind a mark where the output changes: a mark for each line would cost more than most lines say.
    fn add(&mut self, source: Source, text: &str) {
        let in_errors = matches!(source, Source::Stderr);
        // White space looks the same whichever output it came from.
        if in_errors != self.in_errors && !text.trim().is_empty() {
            self.in_errors = in_errors;
            if self.in_line {
                self.keep("\n");
            }
            self.keep(if in_errors { "[stderr]\n" } else { "[stdout]\n" });
        }
        if !text.is_empty() {
            self.in_line = !text.ends_with('\n');
        }
        self.keep(text);
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
            let live: String = bytes.chunks(step).map(|piece| kept.take(Source::Stdout, piece)).collect();
            assert_eq!(live, "a é € 🦀 z", "{step}");
            assert_eq!(kept.finish(), "a é € 🦀 z", "{step}");
        }
    }

    #[test]
    fn shell_output_is_marked_where_it_changes_from_one_output_to_the_other() {
        let check = |pieces: &[(char, &str)], expected: &str| {
            let mut kept = Kept::default();
            for (output, text) in pieces {
                let source = if *output == 'o' { Source::Stdout } else { Source::Stderr };
                assert_eq!(kept.take(source, text.as_bytes()), *text);
            }
            assert_eq!(kept.finish(), expected, "{pieces:?}");
        };
        check(&[('o', "a\n"), ('o', "b\n")], "a\nb\n");
        check(&[('e', "a\n"), ('e', "b\n")], "[stderr]\na\nb\n");
        check(&[('o', "a\n"), ('e', "b\n"), ('e', "c\n"), ('o', "d\n")], "a\n[stderr]\nb\nc\n[stdout]\nd\n");
        // In the order in which it came, also within a line.
        check(&[('o', "loading "), ('e', "slow\n"), ('o', "done\n")], "loading \n[stderr]\nslow\n[stdout]\ndone\n");
        check(&[('o', "a"), ('e', "\n"), ('o', "b"), ('e', "")], "a\nb");
    }

    #[test]
    fn a_character_is_not_mixed_with_one_of_the_other_output() {
        let mut kept = Kept::default();
        let (start, end) = "€".as_bytes().split_at(1);
        assert_eq!(kept.take(Source::Stdout, start), "");
        assert_eq!(kept.take(Source::Stderr, b"x\n"), "x\n");
        assert_eq!(kept.take(Source::Stdout, end), "€");
        assert_eq!(kept.finish(), "[stderr]\nx\n[stdout]\n€");
    }

    #[test]
    fn shell_output_that_is_not_text_is_replaced_and_not_held_back() {
        let check = |bytes: &[u8], live: &str, all: &str| {
            let mut kept = Kept::default();
            assert_eq!(kept.take(Source::Stdout, bytes), live);
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
        for i in 0..600_000 {
            kept.take(Source::Stdout, format!("line {i:06} €\n").as_bytes());
        }
        let text = kept.finish();
        assert!(text.starts_with("line 000000 €\n") && text.ends_with("line 599999 €\n"));
        // A line has 16 bytes, so head and tail end between two.
        assert!(text.contains(&format!("€\n\n[cut: {} bytes here]\nline", 600_000 * 16 - HEAD - TAIL)));
    }

    #[test]
    fn the_cut_is_between_characters() {
        let mut kept = Kept::default();
        // Neither head nor tail is a multiple of three.
        for _ in 0..3_000 {
            kept.take(Source::Stdout, "€".repeat(1_000).as_bytes());
        }
        let text = kept.finish();
        assert!(text.contains("€\n[cut: ") && text.contains(" bytes here]\n€"));
        assert!(!text.contains('\u{fffd}') && text.len() <= HEAD + TAIL + 64);
    }
}

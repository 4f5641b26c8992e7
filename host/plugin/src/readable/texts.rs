//! The texts of a search, of which a file must contain one to be handed over.
//!
//! What the guest would read only to find nothing is not copied to it, and all threads of the walk look, with vector
//! instructions that a guest does not have. Promises: linear time, and memory within the limits, whatever the texts
//! are.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem::Finder;
use wide::u8x16;

use crate::bindings::fs_read::Error;

/// The most texts of one search. Protects the automaton.
const MAX_TEXTS: usize = 64;

/// The longest text, in bytes. Protects the automaton.
const MAX_TEXT: usize = 256;

/// How many bytes are lowercased at once: they stay in the fastest cache, and a file that has a text early is not
/// lowercased to its end.
const WINDOW: usize = 16 << 10;

/// What a file must contain.
#[derive(Debug)]
pub(super) struct Texts {
    finder: OneOrMore,
    /// Whether the texts are lowercase and stand for the capitals of ASCII too.
    folds: bool,
    longest: usize,
}

#[derive(Debug)]
enum OneOrMore {
    One(Box<Finder<'static>>),
    More(AhoCorasick),
}

impl Texts {
    /// Prepares to look for these texts.
    pub(super) fn new(mut texts: Vec<Vec<u8>>, ignore_case: bool) -> Result<Self, Error> {
        if texts.is_empty() || texts.len() > MAX_TEXTS {
            return Err(Error::Invalid(format!("a search has 1 to {MAX_TEXTS} texts, not {}", texts.len())));
        }
        if let Some(text) = texts.iter().find(|text| text.is_empty() || text.len() > MAX_TEXT) {
            return Err(Error::Invalid(format!("a text of a search has 1 to {MAX_TEXT} bytes, not {}", text.len())));
        }
        if ignore_case {
            texts.iter_mut().for_each(|text| text.make_ascii_lowercase());
        }
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let finder = match texts.as_slice() {
            [text] => OneOrMore::One(Box::new(Finder::new(text).into_owned())),
            texts => {
                let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(texts);
                OneOrMore::More(automaton.map_err(|error| Error::Invalid(error.to_string()))?)
            }
        };
        Ok(Self { finder, folds: ignore_case, longest })
    }

    /// Whether the bytes contain one of them. `lower` is room for lowercase bytes, used again and again.
    pub(super) fn are_in(&self, bytes: &[u8], lower: &mut Vec<u8>) -> bool {
        if !self.folds {
            return self.find(bytes);
        }
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            // A text may begin in this window and end in the next.
            let window = rest.get(..WINDOW + self.longest - 1).unwrap_or(rest);
            if self.find(lowercase(window, lower)) {
                return true;
            }
            at += WINDOW;
        }
        false
    }

    fn find(&self, bytes: &[u8]) -> bool {
        match &self.finder {
            OneOrMore::One(finder) => finder.find(bytes).is_some(),
            OneOrMore::More(automaton) => automaton.is_match(bytes),
        }
    }
}

/// Returns the bytes with ASCII's capitals as small letters, written to `room`. In vectors of its own: a release is
/// optimised for size, and then no loop becomes vector instructions, which took 1.4 times as long for a whole search.
fn lowercase<'a>(bytes: &[u8], room: &'a mut Vec<u8>) -> &'a [u8] {
    if room.len() < bytes.len() {
        room.resize(bytes.len(), 0);
    }
    let lower = &mut room[..bytes.len()];
    let ((blocks, rest), (into, last)) = (bytes.as_chunks::<16>(), lower.as_chunks_mut::<16>());
    let (first, count, bit) = (u8x16::splat(b'A'), u8x16::splat(25), u8x16::splat(b'a' - b'A'));
    for (block, into) in blocks.iter().zip(into) {
        let block = u8x16::new(*block);
        let letter = block - first;
        let is_capital = letter.simd_eq(letter.min(count));
        *into = (block | (is_capital & bit)).to_array();
    }
    for (byte, into) in rest.iter().zip(last) {
        *into = byte.to_ascii_lowercase();
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_lowercased_as_ascii_is_whatever_was_in_the_room() {
        let all: Vec<u8> = (0..=255).cycle().take(1_000).collect();
        let mut room = vec![b'X'; 100];
        for (from, to) in [(0, 1_000), (0, 0), (7, 8), (65, 91), (1, 17), (3, 700), (0, 16)] {
            assert_eq!(lowercase(&all[from..to], &mut room), all[from..to].to_ascii_lowercase(), "{from} to {to}");
        }
    }

    fn texts(all: &[&str], ignore_case: bool) -> Texts {
        Texts::new(all.iter().map(|text| text.as_bytes().to_vec()).collect(), ignore_case).expect("they are valid")
    }

    #[test]
    fn texts_of_a_search_are_found_wherever_they_are() {
        for (all, ignore_case, text) in [
            (&["needle"][..], false, "needle"),
            (&["needle", "hay"], false, "hay"),
            (&["Needle"], true, "nEEdle"),
            (&["NEEDLE", "hay"], true, "Hay"),
        ] {
            let texts = texts(all, ignore_case);
            let other = if ignore_case { "nee-dle" } else { "NEEDLE" };
            for at in (0..50).chain(WINDOW - 20..WINDOW + 20).chain(2 * WINDOW - 20..2 * WINDOW + 20) {
                for rest in [0, 1, WINDOW] {
                    let with = |text: &str| [".".repeat(at), text.to_owned(), ".".repeat(rest)].concat().into_bytes();
                    assert!(texts.are_in(&with(text), &mut Vec::new()), "{all:?} {at} {rest}");
                    assert!(!texts.are_in(&with(other), &mut Vec::new()), "{all:?} {at} {rest}");
                }
            }
            assert!(!texts.are_in(b"", &mut Vec::new()));
        }
    }

    #[test]
    fn texts_that_are_not_letters_of_ascii_keep_their_case() {
        let texts = texts(&["é\u{0}x"], true);
        assert!(texts.are_in("é\u{0}X".as_bytes(), &mut Vec::new()));
        assert!(!texts.are_in("É\u{0}x".as_bytes(), &mut Vec::new()));
    }

    // promise files.search-limits: A search has a bounded number of texts, each of a bounded length, and none is empty.
    #[test]
    fn texts_over_the_limits_are_refused() {
        for (texts, expected) in [
            (Vec::new(), "1 to 64 texts, not 0"),
            (vec![vec![b'a']; 65], "1 to 64 texts, not 65"),
            (vec![vec![b'a'], Vec::new()], "1 to 256 bytes, not 0"),
            (vec![vec![b'a'; 257]], "1 to 256 bytes, not 257"),
        ] {
            let Err(Error::Invalid(why)) = Texts::new(texts, false) else { panic!("{expected}") };
            assert!(why.contains(expected), "{why}");
        }
        assert!(Texts::new(vec![vec![b'a'; 256]; 64], true).is_ok());
    }
}

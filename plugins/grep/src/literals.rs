//! Short texts of which every match begins or ends with one, and finding them with vector instructions.
//!
//! On other machines the regex engine does this by itself. On WebAssembly it has vector instructions for a single text
//! only, and goes byte by byte, several times as slow, for more than one text and for one without regard to case;
//! and with a text in the middle of a pattern it does not look at the end. What finds a single text fast is here put
//! to use for a few. A line that holds one may match; the regex decides.
//!
//! Deliberately not here: texts in the middle of a pattern, which are left to the regex.

use std::cell::Cell;

use memchr::memmem::Finder;
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};

/// How many texts are looked for at once. Each is a pass of its own.
const MAX_TEXTS: usize = 4;

/// The shortest text that is looked for; one byte is found too often to be of use.
const MIN_LENGTH: usize = 2;

/// The longest part of a text that is looked for. Protects the size of the window.
const MAX_LENGTH: usize = 64;

/// How many bytes each pass goes through before the next begins, at first: after a match they are gone through again,
/// by all passes but one.
const FIRST_WINDOW: usize = 512;

/// And at most, doubling on the way: small enough to stay in the fastest cache, large enough that the start of a pass
/// does not count.
const WINDOW: usize = 16 * 1024;

/// Leaves that many bytes of each text, of one side.
type Cut = fn(&mut Seq, usize);

/// What to look for: every match holds one of these.
pub(crate) struct Literals {
    finders: Vec<Finder<'static>>,
    /// Whether the texts are in small letters and stand for the capitals of ASCII too.
    fold: bool,
    longest: usize,
    /// The window in small letters; its memory is used again and again.
    small: Cell<Vec<u8>>,
}

impl Literals {
    /// What every match of the expression begins with, or ends with, whichever is easier to find; none when there is
    /// nothing of use.
    pub(crate) fn of(hir: &Hir) -> Option<Self> {
        let sides: [(ExtractKind, Cut); 2] =
            [(ExtractKind::Suffix, Seq::keep_last_bytes), (ExtractKind::Prefix, Seq::keep_first_bytes)];
        let mut best: Option<(usize, Vec<Vec<u8>>, bool)> = None;
        for (kind, cut) in sides {
            let mut all = Extractor::new().kind(kind).extract(hir);
            // As they are, and where that is too many, what they have in common.
            for length in [MAX_LENGTH, 4, 3] {
                cut(&mut all, length);
                for fold in [false, true] {
                    let Some(texts) = texts(&all, fold) else { continue };
                    let worth = worth(&texts, fold);
                    if best.as_ref().is_none_or(|(other, ..)| worth > *other) {
                        best = Some((worth, texts, fold));
                    }
                }
            }
        }
        let (_, texts, fold) = best?;
        Some(Self {
            finders: texts.iter().map(|text| Finder::new(text).into_owned()).collect(),
            fold,
            longest: texts.iter().map(Vec::len).max()?,
            small: Cell::default(),
        })
    }

    /// Where the first text begins.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        let mut size = FIRST_WINDOW;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            // A text may begin in this window and end in the next.
            let window = rest.get(..size + self.longest - 1).unwrap_or(rest);
            let found = if self.fold {
                let mut small = self.small.take();
                small.clear();
                small.extend(window.iter().map(u8::to_ascii_lowercase));
                let found = self.first(&small);
                self.small.set(small);
                found
            } else {
                self.first(window)
            };
            if let Some(found) = found {
                return Some(at + found);
            }
            at += size;
            size = (size * 2).min(WINDOW);
        }
        None
    }

    fn first(&self, window: &[u8]) -> Option<usize> {
        self.finders.iter().filter_map(|finder| finder.find(window)).min()
    }
}

/// The texts, each once; none when they are of no use.
fn texts(all: &Seq, fold: bool) -> Option<Vec<Vec<u8>>> {
    let mut texts: Vec<Vec<u8>> = all.literals()?.iter().map(|literal| literal.as_bytes().to_owned()).collect();
    if fold {
        texts.iter_mut().for_each(|text| text.make_ascii_lowercase());
    }
    texts.sort();
    texts.dedup();
    let useful = (1..=MAX_TEXTS).contains(&texts.len()) && texts.iter().all(|text| text.len() >= MIN_LENGTH);
    useful.then_some(texts)
}

/// Few passes and long texts are worth the most. To make small letters is a pass too.
fn worth(texts: &[Vec<u8>], fold: bool) -> usize {
    let shortest = texts.iter().map(Vec::len).min().unwrap_or(0);
    shortest * MAX_LENGTH / (texts.len() + usize::from(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(pattern: &str) -> Option<Literals> {
        Literals::of(&regex_syntax::parse(pattern).expect("a pattern"))
    }

    #[test]
    fn grep_literals_of_a_pattern_are_what_every_match_contains() {
        let check = |pattern: &str, expected: &[&str], fold: bool| {
            let literals = literals(pattern).expect("literals");
            let texts: Vec<_> =
                literals.finders.iter().map(|finder| String::from_utf8_lossy(finder.needle())).collect();
            assert_eq!(texts, expected, "{pattern}");
            assert_eq!(literals.fold, fold, "{pattern}");
        };
        check("TODO", &["TODO"], false);
        check("TODO|FIXME|XXX", &["FIXME", "TODO", "XXX"], false);
        check("(?i)todo", &["todo"], true);
        check(r"\bunsafe\b", &["unsafe"], false);
        check(r"\w+::\w+_lock", &["_lock"], false);
        check(r"fn [a-z]+_timeout\(", &["_timeout("], false);
        check("foo[0-9]", &["foo"], false);
        for pattern in ["[a-z]+", "a", "x*", "", "(abc)?", "abc|d", "[ab][cd][ef]", r"\w+foo\w+", "[a&&b]"] {
            assert!(literals(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn a_text_is_found_at_each_place() {
        for (pattern, text) in [("needle|hay", "hay"), ("(?i)needle", "NeedLE"), ("(?i)task", "Ta\u{17f}\u{212a}")] {
            let literals = literals(pattern).expect("literals");
            for at in (0..200).chain(WINDOW - 20..WINDOW + 20).chain(2 * WINDOW - 20..2 * WINDOW + 20) {
                for rest in [0, 1, 100, WINDOW] {
                    let bytes = [".".repeat(at), text.to_owned(), ".".repeat(rest)].concat();
                    assert_eq!(literals.find(bytes.as_bytes()), Some(at), "{pattern} {at} {rest}");
                    assert_eq!(literals.find(&bytes.as_bytes()[at + 1..]), None, "{pattern} {at} {rest}");
                }
            }
        }
    }
}

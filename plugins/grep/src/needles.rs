//! Short texts of which every match holds one, and finding them fast.
//!
//! A regex engine that knows no such text goes through every byte one by one, several times as slow as looking for
//! two bytes at once with vector instructions. The engine in use does the same for the start of a pattern; but
//! its way for more than one text, or one without regard to case, has no wasm version, and of what is in the middle
//! it uses little. Lines that hold a needle are then given to the engine, which alone decides.

use memchr::memmem::Finder;
use regex_syntax::hir::{Class, Hir, HirKind, Literal, Repetition};

/// How many needles are looked for at once. Each costs a comparison for each byte.
const MAX_NEEDLES: usize = 8;

/// The shortest needle that is looked for; one byte is found too often to be of use.
const MIN_LENGTH: usize = 2;

/// How many places are compared before anyone looks at the result. Four vectors, enough to hide the look.
const BLOCK: usize = 64;

/// Bytes by how often they stand in source code and prose, the most frequent first.
const FREQUENT: &[u8] = b" etaoinsrlcdup_mfg.h(),ybx;=:w\"v-k/1>0<*T&S'2{}EAR";

/// What to look for: every match holds one of these.
pub(crate) enum Needles {
    /// One text.
    One(Box<Finder<'static>>),
    /// Several, or one without regard to case.
    Several(Vec<Needle>),
}

/// One text, byte by byte.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Needle {
    bytes: Vec<Byte>,
    /// The two places in it whose bytes are the rarest.
    pair: (usize, usize),
}

/// One byte of a needle; with `fold` 0x20 it is a small letter that stands for the capital too.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Byte {
    value: u8,
    fold: u8,
}

/// What is known of a part of a pattern.
enum Part {
    /// It matches exactly this.
    Exact(Vec<Byte>),
    /// Each of its matches holds one of these, or nothing is known.
    Holds(Option<Vec<Vec<Byte>>>),
}

impl Needles {
    /// What every match of the expression holds; none when there is nothing of use.
    pub(crate) fn of(hir: &Hir) -> Option<Self> {
        let texts = match part(hir) {
            Part::Exact(text) => vec![text],
            Part::Holds(texts) => texts?,
        };
        if !is_useful(&texts) {
            return None;
        }
        Some(match texts.as_slice() {
            [text] if text.iter().all(|byte| byte.fold == 0) => {
                let text: Vec<u8> = text.iter().map(|byte| byte.value).collect();
                Self::One(Box::new(Finder::new(&text).into_owned()))
            }
            _ => Self::Several(texts.into_iter().map(Needle::new).collect()),
        })
    }

    /// Where the first needle begins, from `at` on.
    pub(crate) fn find(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::One(finder) => finder.find(bytes.get(at..)?).map(|found| at + found),
            Self::Several(needles) => find(needles, bytes, at),
        }
    }
}

impl Byte {
    fn exact(value: u8) -> Self {
        Self { value, fold: 0 }
    }

    #[inline(always)]
    fn matches(self, byte: u8) -> bool {
        (byte | self.fold) == self.value
    }

    /// The larger, the rarer.
    fn rarity(self) -> usize {
        let rank = |byte| FREQUENT.iter().position(|&frequent| frequent == byte).unwrap_or(FREQUENT.len());
        if self.fold == 0 { rank(self.value) } else { rank(self.value).min(rank(self.value.to_ascii_uppercase())) }
    }
}

impl Needle {
    fn new(bytes: Vec<Byte>) -> Self {
        let mut places: Vec<usize> = (0..bytes.len()).collect();
        places.sort_by_key(|&place| std::cmp::Reverse(bytes[place].rarity()));
        // A useful needle has two bytes or more.
        let pair = (places.first().copied().unwrap_or(0), places.get(1).copied().unwrap_or(0));
        Self { bytes, pair }
    }

    fn is_at(&self, bytes: &[u8], at: usize) -> bool {
        let Some(there) = bytes.get(at..at + self.bytes.len()) else { return false };
        there.iter().zip(&self.bytes).all(|(&byte, wanted)| wanted.matches(byte))
    }
}

fn find(needles: &[Needle], bytes: &[u8], mut at: usize) -> Option<usize> {
    let longest = needles.iter().map(|needle| needle.bytes.len()).max()?;
    while at + BLOCK + longest <= bytes.len() {
        if let Some(found) = needles.iter().filter_map(|needle| in_block(needle, bytes, at)).min() {
            return Some(found);
        }
        at += BLOCK;
    }
    (at..bytes.len()).find(|&at| needles.iter().any(|needle| needle.is_at(bytes, at)))
}

/// Where the needle begins, if that is in the block at `at`. Whether its pair is there at all is asked in a way of
/// which the compiler makes vector instructions: arrays of a fixed size, and no way out of the loop.
#[inline(always)]
fn in_block(needle: &Needle, bytes: &[u8], at: usize) -> Option<usize> {
    let first = bytes.get(at + needle.pair.0..)?.first_chunk::<BLOCK>()?;
    let second = bytes.get(at + needle.pair.1..)?.first_chunk::<BLOCK>()?;
    let (wanted_first, wanted_second) = (needle.bytes[needle.pair.0], needle.bytes[needle.pair.1]);
    let at_place = |i: usize| wanted_first.matches(first[i]) & wanted_second.matches(second[i]);
    let mut any = 0;
    for i in 0..BLOCK {
        any |= u8::from(at_place(i));
    }
    if any == 0 {
        return None;
    }
    (0..BLOCK).filter(|&i| at_place(i)).map(|i| at + i).find(|&at| needle.is_at(bytes, at))
}

fn part(hir: &Hir) -> Part {
    match hir.kind() {
        // What matches no byte does not part its neighbours.
        HirKind::Empty | HirKind::Look(_) => Part::Exact(Vec::new()),
        HirKind::Literal(Literal(bytes)) => Part::Exact(bytes.iter().copied().map(Byte::exact).collect()),
        HirKind::Class(class) => match one_byte(class) {
            Some(byte) => Part::Exact(vec![byte]),
            None => Part::Holds(None),
        },
        HirKind::Repetition(Repetition { min: 0, .. }) => Part::Holds(None),
        HirKind::Repetition(repetition) => match part(&repetition.sub) {
            Part::Exact(text) => Part::Holds(Some(vec![text])),
            holds => holds,
        },
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Concat(parts) => sequence(parts),
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for one in parts {
                match part(one) {
                    Part::Exact(text) => all.push(text),
                    Part::Holds(Some(texts)) => all.extend(texts),
                    Part::Holds(None) => return Part::Holds(None),
                }
            }
            Part::Holds(Some(all))
        }
    }
}

/// The best of what the parts hold, where neighbours that match exactly are one text.
fn sequence(parts: &[Hir]) -> Part {
    let mut run = Vec::new();
    let mut best: Option<Vec<Vec<Byte>>> = None;
    let mut exact = true;
    let mut offer = |texts: Vec<Vec<Byte>>| {
        if is_useful(&texts) && best.as_ref().is_none_or(|best| worth(&texts) > worth(best)) {
            best = Some(texts);
        }
    };
    for one in parts {
        match part(one) {
            Part::Exact(text) => run.extend(text),
            Part::Holds(texts) => {
                exact = false;
                offer(vec![std::mem::take(&mut run)]);
                offer(texts.unwrap_or_default());
            }
        }
    }
    if exact {
        return Part::Exact(run);
    }
    offer(vec![run]);
    Part::Holds(best)
}

fn is_useful(texts: &[Vec<Byte>]) -> bool {
    (1..=MAX_NEEDLES).contains(&texts.len()) && texts.iter().all(|text| text.len() >= MIN_LENGTH)
}

/// Few long texts of rare bytes are worth the most.
fn worth(texts: &[Vec<Byte>]) -> usize {
    let rarity = |text: &Vec<Byte>| text.iter().map(|byte| byte.rarity() + 1).sum::<usize>();
    texts.iter().map(rarity).min().unwrap_or(0) / texts.len().max(1)
}

/// The one byte that a class stands for, or the one letter in both cases.
fn one_byte(class: &Class) -> Option<Byte> {
    let mut bytes = Vec::new();
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    for (start, end) in ranges {
        // More than two bytes, or characters of more than one byte, are no use here.
        if end - start > 1 || end > 0x7f {
            return None;
        }
        bytes.extend((start..=end).filter_map(|byte| u8::try_from(byte).ok()));
    }
    match bytes.as_slice() {
        [byte] => Some(Byte::exact(*byte)),
        [capital, small] if capital.is_ascii_uppercase() && capital.to_ascii_lowercase() == *small => {
            Some(Byte { value: *small, fold: 0x20 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needles(pattern: &str) -> Vec<String> {
        let hir = regex_syntax::parse(pattern).expect("a pattern");
        let shown = |needle: &Needle| -> String {
            let letter = |byte: &Byte| if byte.fold == 0 { byte.value } else { byte.value.to_ascii_uppercase() };
            needle.bytes.iter().map(|byte| char::from(letter(byte))).collect()
        };
        match Needles::of(&hir) {
            None => Vec::new(),
            Some(Needles::One(finder)) => vec![String::from_utf8_lossy(finder.needle()).into_owned()],
            Some(Needles::Several(needles)) => needles.iter().map(shown).collect(),
        }
    }

    #[test]
    fn what_every_match_holds_is_found_in_the_pattern() {
        let check = |pattern: &str, expected: &[&str]| assert_eq!(needles(pattern), expected, "{pattern}");
        check("TODO", &["TODO"]);
        check(r"\bunsafe\b", &["unsafe"]);
        check(r"\w+::\w+_lock", &["_lock"]);
        check("(?i)todo", &["TODO"]);
        check("(?i)fixme|hack", &["FIXME", "HAC"]);
        check("TODO|FIXME", &["TODO", "FIXME"]);
        check("(abc)+x?", &["abc"]);
        check("a(bc|de)f", &["bc", "de"]);
        check(r"fn [a-z]+_timeout\(", &["_timeout("]);
        for pattern in ["[a-z]+", "a", "x*", "", "(abc)?", "abc|d", "a|b|c", "[ab][cd]"] {
            check(pattern, &[]);
        }
    }

    #[test]
    fn a_needle_is_found_at_each_place_of_a_long_text() {
        for pattern in ["(?i)ab", "needle|hay", "(?i)xyz|q_"] {
            let found = Needles::of(&regex_syntax::parse(pattern).expect("a pattern")).expect("needles");
            for (text, length) in [("aB", 2), ("hay", 3), ("XyZ", 3), ("Q_", 2)] {
                let matches = regex_lite(pattern, text);
                for at in 0..200 {
                    for rest in [0, 1, 100] {
                        let bytes = [".".repeat(at), text.to_owned(), ".".repeat(rest)].concat();
                        assert_eq!(found.find(bytes.as_bytes(), 0), matches.then_some(at), "{pattern} {text} {at}");
                        assert_eq!(found.find(bytes.as_bytes(), (at + 1).min(at + length)), None);
                    }
                }
            }
        }
    }

    fn regex_lite(pattern: &str, text: &str) -> bool {
        regex_automata::meta::Regex::new(pattern).expect("a pattern").is_match(text)
    }
}

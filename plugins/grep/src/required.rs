//! What every match of a pattern contains, for the host to look for before a file is read here.
//!
//! Deliberately not here: finding lines in what was read (`literals`), which has other limits.

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, HirKind};

/// The most texts that are looked for at once. More are found too often to be of use, and the host takes 64.
const MAX_TEXTS: usize = 64;

/// The shortest text that is looked for: one byte is in nearly every file.
const MIN_LENGTH: usize = 2;

/// The longest part of a text that is looked for; what is longer is found as seldom.
const MAX_LENGTH: usize = 64;

/// From how many places of a pattern texts are taken. Protects from patterns of thousands of parts.
const MAX_PLACES: usize = 64;

/// How many parts of it are looked at from each place.
const MAX_PARTS: usize = 16;

/// Texts of which a line that matches contains at least one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Required {
    pub(crate) texts: Vec<Vec<u8>>,
    /// Whether they are lowercase and stand for the capitals of ASCII too.
    pub(crate) ignore_case: bool,
}

/// Leaves that many bytes of each text, of one side.
type Cut = fn(&mut Seq, usize);

impl Required {
    /// Returns the texts that are found least often: those at the beginning, at the end, or from a place within the
    /// expression. `None` if there are none of use.
    pub(crate) fn of(hir: &Hir) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        let mut take = |kind: ExtractKind, cut: Cut, hir: &Hir| {
            let mut all = Extractor::new().kind(kind).extract(hir);
            // As they are, and where that is too many, what they have in common.
            for length in [MAX_LENGTH, 4, 3] {
                cut(&mut all, length);
                for ignore_case in [false, true] {
                    let Some(texts) = texts(&all, ignore_case) else { continue };
                    let required = Self { texts, ignore_case };
                    let worth = required.worth();
                    if best.as_ref().is_none_or(|(other, _)| worth > *other) {
                        best = Some((worth, required));
                    }
                }
            }
        };
        take(ExtractKind::Suffix, Seq::keep_last_bytes, hir);
        take(ExtractKind::Prefix, Seq::keep_first_bytes, hir);
        // What stands from a place on is a part of every match, and so is what that begins with.
        let parts = parts(hir);
        for place in 1..parts.len().min(MAX_PLACES) {
            let rest = Hir::concat(parts.iter().skip(place).take(MAX_PARTS).cloned().collect());
            take(ExtractKind::Prefix, Seq::keep_first_bytes, &rest);
        }
        best.map(|(_, required)| required)
    }

    /// Long texts are found seldom, which is worth the most; more texts are found more often.
    fn worth(&self) -> usize {
        let shortest = self.texts.iter().map(Vec::len).min().unwrap_or(0).min(16);
        let cost = self.texts.len().ilog2() as usize + usize::from(self.ignore_case);
        (shortest * 4).saturating_sub(cost)
    }
}

/// The parts of an expression that stand one behind the other.
fn parts(hir: &Hir) -> &[Hir] {
    match hir.kind() {
        HirKind::Concat(parts) => parts,
        HirKind::Capture(group) => parts(&group.sub),
        _ => &[],
    }
}

/// The texts, each once; none when they are of no use.
fn texts(all: &Seq, ignore_case: bool) -> Option<Vec<Vec<u8>>> {
    let mut texts: Vec<Vec<u8>> = all.literals()?.iter().map(|literal| literal.as_bytes().to_owned()).collect();
    if ignore_case {
        texts.iter_mut().for_each(|text| text.make_ascii_lowercase());
    }
    texts.sort();
    texts.dedup();
    let is_useful = (1..=MAX_TEXTS).contains(&texts.len()) && texts.iter().all(|text| text.len() >= MIN_LENGTH);
    is_useful.then_some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(pattern: &str) -> Option<Required> {
        Required::of(&regex_syntax::parse(pattern).expect("a pattern"))
    }

    #[test]
    fn grep_requires_what_every_match_contains() {
        for (pattern, texts, ignore_case) in [
            ("TODO", &["TODO"][..], false),
            ("TODO|FIXME|XXX", &["FIXME", "TODO", "XXX"], false),
            ("(?i)todo", &["todo"], true),
            (r"\bunsafe\b", &["unsafe"], false),
            (r"let\s\w+_timeout\s", &["_timeout"], false),
            (r"\w+foo_bar\w+", &["foo_bar"], false),
            (r"(\w+foo_bar\w+)", &["foo_bar"], false),
            (r"\d+ (seconds|minutes) \d+", &[" minutes ", " seconds "], false),
            (r"\w{2,}(foo)?bar", &["bar"], false),
        ] {
            let found = required(pattern).expect(pattern);
            let found_texts: Vec<_> = found.texts.iter().map(|text| String::from_utf8_lossy(text)).collect();
            assert_eq!(found_texts, texts, "{pattern}");
            assert_eq!(found.ignore_case, ignore_case, "{pattern}");
        }
        for pattern in ["[a-z]+", "a", "x*", "", "(abc)?", "abc|d", r"\d+", "[a&&b]", "(foo)*"] {
            assert_eq!(required(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn grep_of_each_line_that_matches_finds_a_text_in_it() {
        let words = ["foo", "Foo", "bar", "_", "\u{17f}", "\u{212a}", "sk", " ", "12", "\u{e9}"];
        let lines = |n: usize| {
            (0..words.len().pow(4)).map(move |i| {
                (0..n).map(|place| words[i / words.len().pow(place as u32) % words.len()]).collect::<String>()
            })
        };
        for source in [
            "foo",
            "(?i)foo",
            "(?i)sk",
            "foo|bar",
            "(?i)foo|sk_",
            r"\w+bar\d",
            r"(foo|bar) \d+",
            r"\bbar\b",
            "fo+_",
            "(foo)?bar",
            r"[^ ]+foo[^ ]+",
            "^foo|bar$",
            r"(?:foo){2}",
            r"\d\d é",
            r"(?i:É)foo",
            r"(foo|_)(bar|12)",
            r".*foo.*bar.*",
            r"foo\B",
        ] {
            let pattern = crate::pattern::Pattern::new(source, false, false).expect("a pattern");
            let required = pattern.required().unwrap_or_else(|| panic!("{source} requires something"));
            for line in lines(4).filter(|line| pattern.first_in(line.as_bytes()).is_some()) {
                let text = if required.ignore_case { line.to_ascii_lowercase() } else { line.clone() };
                let has =
                    |wanted: &Vec<u8>| text.as_bytes().windows(wanted.len()).any(|part| part == wanted.as_slice());
                assert!(required.texts.iter().any(has), "{source}: {line:?} without {required:?}");
            }
        }
    }

    #[test]
    fn grep_of_a_pattern_of_many_parts_is_quick_to_prepare() {
        let pattern = format!("{}needle", r"\w\d".repeat(5_000));
        assert_eq!(required(&pattern).expect("it ends so").texts, [b"needle"]);
    }
}

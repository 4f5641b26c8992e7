//! The regular expression, made so that no match leaves its line.
//!
//! Its own, on `regex-automata`, instead of ripgrep's crate `grep-regex`: that one brings every Unicode table and
//! three more engines, which triples the component. What it does for lines is small, and done here.

use std::ops::Range;

use host_sdk::Failure;
use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::{Cache, Config, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Literal, Look, LookSet,
    Repetition,
};

use crate::needles::Needles;

/// How large a compiled pattern may be, in bytes: `(a{1000}){1000}` would fill the memory.
const MAX_COMPILED: usize = 10 * 1024 * 1024;

/// How much the lazy automaton may remember, in bytes, before it starts anew.
const AUTOMATON_CACHE: usize = 8 * 1024 * 1024;

/// A compiled pattern, with the memory that searching needs.
pub(crate) struct Pattern {
    regex: Regex,
    cache: Cache,
    /// How the lines are found that may match.
    candidates: Candidates,
}

/// How the lines are found that may match.
enum Candidates {
    /// By what every match holds. The pattern decides about the line.
    Needles(Needles),
    /// By a pattern that matches at least where the real one does. The real one decides.
    Looser(Box<(Regex, Cache)>),
    /// By the pattern itself, so there is nothing left to decide.
    Exact,
}

impl Pattern {
    /// Compiles a regular expression, or plain text when it is `fixed`.
    ///
    /// # Errors
    ///
    /// `invalid-arguments` when it is no regular expression, is too large, or can only match a line break.
    pub(crate) fn new(pattern: &str, fixed: bool, ignore_case: bool) -> Result<Self, Failure> {
        let invalid = |why: &dyn std::fmt::Display| Failure::InvalidArguments(format!("`{pattern}`: {why}"));
        let escaped = if fixed { &regex_syntax::escape(pattern) } else { pattern };
        // With `crlf` a `$` stands before `\r\n` too, so that files from Windows match as one expects.
        let hir = ParserBuilder::new()
            .multi_line(true)
            .crlf(true)
            .utf8(false)
            .case_insensitive(ignore_case)
            .build()
            .parse(escaped)
            .map_err(|error| invalid(&error))?;
        let hir =
            within_a_line(hir).ok_or_else(|| invalid(&"it has a line break, and lines are searched one by one"))?;
        let compile = |hir: &Hir| {
            let config = Config::new()
                .utf8_empty(false)
                .nfa_size_limit(Some(MAX_COMPILED))
                .hybrid_cache_capacity(AUTOMATON_CACHE);
            let regex = Regex::builder().configure(config).build_from_hir(hir);
            regex.map(|regex| (regex.create_cache(), regex)).map_err(|error| match error.size_limit() {
                Some(_) => invalid(&"it is too large when compiled: use fewer or smaller repetitions"),
                None => invalid(&error),
            })
        };
        let (cache, regex) = compile(&hir)?;
        let candidates = match Needles::of(&hir) {
            Some(needles) => Candidates::Needles(needles),
            None if hir.properties().look_set().contains_word_unicode() => {
                let (cache, regex) = compile(&without_word_boundaries(hir))?;
                Candidates::Looser(Box::new((regex, cache)))
            }
            None => Candidates::Exact,
        };
        Ok(Self { regex, cache, candidates })
    }

    /// The first line at or behind `at` that matches, without its line break. `at` is the start of a line.
    pub(crate) fn next_line(&mut self, bytes: &[u8], mut at: usize) -> Option<Range<usize>> {
        while at < bytes.len() {
            let (place, sure) = match &mut self.candidates {
                // A needle holds no line break, so its line is the one that it begins in.
                Candidates::Needles(needles) => (needles.find(bytes, at)?, false),
                Candidates::Looser(looser) => (end(&looser.0, &mut looser.1, bytes, at..bytes.len())?, false),
                Candidates::Exact => (end(&self.regex, &mut self.cache, bytes, at..bytes.len())?, true),
            };
            let line = line_around(bytes, at, place)?;
            if sure || end(&self.regex, &mut self.cache, bytes, line.clone()).is_some() {
                return Some(line);
            }
            at = line.end + 1;
        }
        None
    }

    /// Where the first match in a line lies.
    pub(crate) fn find(&mut self, line: &[u8]) -> Option<Range<usize>> {
        self.regex.search_with(&mut self.cache, &Input::new(line)).map(|found| found.range())
    }
}

/// Where the first match in `range` ends. What is around it counts for `^`, `$` and `\b`: cut out of its file, a line
/// that ends in `\r\n` would have another end.
fn end(regex: &Regex, cache: &mut Cache, bytes: &[u8], range: Range<usize>) -> Option<usize> {
    regex.search_half_with(cache, &Input::new(bytes).range(range)).map(|half| half.offset())
}

/// The line that `place` lies in, where `at` is the start of a line at or before it; none when that is behind the
/// last line break.
fn line_around(bytes: &[u8], at: usize, place: usize) -> Option<Range<usize>> {
    let start = memrchr(b'\n', bytes.get(at..place)?).map_or(at, |found| at + found + 1);
    let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
    Some(start..memchr(b'\n', rest).map_or(bytes.len(), |found| start + found))
}

/// The same expression, matching at least where it did. A word boundary of Unicode stops the fast engines at each
/// character that is no ASCII.
fn without_word_boundaries(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Look(look) if LookSet::singleton(look).contains_word_unicode() => Hir::empty(),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_word_boundaries(*repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition })
        }
        HirKind::Concat(subs) => Hir::concat(subs.into_iter().map(without_word_boundaries).collect()),
        HirKind::Alternation(subs) => Hir::alternation(subs.into_iter().map(without_word_boundaries).collect()),
        HirKind::Capture(capture) => without_word_boundaries(*capture.sub),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(Literal(bytes)) => Hir::literal(bytes),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
    }
}

/// The same expression without what could match a line break; none when a line break is asked for outright.
///
/// Start and end of the text become start and end of the line, since every line is matched for itself. Groups go:
/// nobody asks for what they hold.
fn within_a_line(hir: Hir) -> Option<Hir> {
    Some(match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(Literal(bytes)) if bytes.contains(&b'\n') => return None,
        HirKind::Literal(Literal(bytes)) => Hir::literal(bytes),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start | Look::StartLF) => Hir::look(Look::StartCRLF),
        HirKind::Look(Look::End | Look::EndLF) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(within_a_line(*repetition.sub)?);
            Hir::repetition(Repetition { sub, ..repetition })
        }
        HirKind::Capture(capture) => within_a_line(*capture.sub)?,
        HirKind::Concat(subs) => Hir::concat(subs.into_iter().map(within_a_line).collect::<Option<_>>()?),
        HirKind::Alternation(subs) => Hir::alternation(subs.into_iter().map(within_a_line).collect::<Option<_>>()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> Option<Range<usize>> {
        Pattern::new(pattern, false, false).expect("a pattern").find(text.as_bytes())
    }

    #[test]
    fn no_match_leaves_its_line() {
        let check = |pattern: &str, text: &str, found: Option<Range<usize>>| {
            assert_eq!(matches(pattern, text), found, "{pattern} {text:?}");
        };
        check(r"a\s+b", "a\nb a b", Some(4..7));
        check(r"a[^x]b", "a\nb", None);
        check(r"(?s)a.b", "a\nb", None);
        check(r"(?-u:a[^x]b)", "a\nb", None);
        check(r"\Ab$", "a\nb\nc", Some(2..3));
        check(r"(?-m)^b\z", "a\nb\nc", Some(2..3));
        check("b$", "ab\r\n", Some(1..2));
        check("a.b", "a\rb", None);
        check(r"\bé\w+", "an éclair", Some(3..10));
    }

    #[test]
    fn each_way_to_find_candidates_finds_the_same_lines() {
        let text = "one two\n\nTwo a.two\r\n\u{e9}two two\u{e9}\n two\nx\n\u{212a}two_";
        for pattern in [r"\btwo\b", r"\b[tx]\w*\b", "(?i)two$", r"^\W*$", "two|one", r"\b", r"\Bwo|x", "[a-z]wo"] {
            let mut pattern = Pattern::new(pattern, false, false).expect("a pattern");
            let mut found = Vec::new();
            let mut at = 0;
            while let Some(line) = pattern.next_line(text.as_bytes(), at) {
                at = line.end + 1;
                found.push(line);
            }
            let mut start = 0;
            let mut expected = Vec::new();
            for line in text.split('\n') {
                let line_range = start..start + line.len();
                if end(&pattern.regex, &mut pattern.cache, text.as_bytes(), line_range.clone()).is_some() {
                    expected.push(line_range);
                }
                start += line.len() + 1;
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_pattern_that_can_not_be_searched_says_why() {
        let check = |pattern: &str, fixed, part: &str| match Pattern::new(pattern, fixed, false) {
            Err(Failure::InvalidArguments(why)) => assert!(why.contains(part), "{why}"),
            _ => panic!("{pattern:?} is refused"),
        };
        check("a(", false, "unclosed group");
        check(r"a\nb", false, "line break");
        check("a\nb", true, "line break");
        check("(a{1000}){1000}", false, "too large");
    }

    #[test]
    fn plain_text_and_case_are_what_was_asked_for() {
        let find = |pattern, fixed, ignore_case, text: &str| {
            Pattern::new(pattern, fixed, ignore_case).expect("a pattern").find(text.as_bytes())
        };
        assert_eq!(find("a.b(", true, false, "axb( a.b("), Some(5..9));
        assert_eq!(find("TODO", false, true, "x todo"), Some(2..6));
        assert_eq!(find("straße", true, true, "STRAßE"), Some(0..7));
    }
}

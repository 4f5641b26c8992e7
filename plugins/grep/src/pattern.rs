//! The regular expression, made so that no match leaves its line: ripgrep's, with ripgrep's way to find the lines
//! that may match by the texts that every match must hold.
//!
//! A line ends in `\n` or `\r\n`, and its ending is no part of it: `$` stands before either, and `\s` matches
//! neither. A pattern that asks for `\r` outright is the exception: for it a line ends in `\n` alone. Start and end of
//! the text are start and end of the line, since every line is matched for itself.
//!
//! What finds the lines that may match is replaced where the machine or the buffer makes ripgrep's way slow: by
//! [`Literals`], and, without such, for word boundaries of Unicode. The fast engines give up at the first character
//! that is not ASCII when there is one, and what takes over is many times as slow; so the pattern without its
//! boundaries goes ahead.

use std::convert::Infallible;
use std::ops::Range;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use host_sdk::Failure;
use regex_syntax::ast::{self, AssertionKind, Ast, Visitor};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

use crate::literals::Literals;
use crate::required::Required;

/// How large a compiled pattern may be, in bytes: `(a{1000}){1000}` would fill the memory.
pub(crate) const MAX_COMPILED: usize = 10 * 1024 * 1024;

/// How much the lazy automaton may remember, in bytes, before it starts anew.
pub(crate) const AUTOMATON_CACHE: usize = 8 * 1024 * 1024;

/// Why an expression that is one is not taken.
pub(crate) const TOO_LARGE: &str = "it is too large when compiled: use fewer or smaller repetitions";

/// The failure that a pattern is no good, in these words.
pub(crate) fn invalid(pattern: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::InvalidArguments(format!("`{pattern}`: {why}"))
}

/// A pattern that is an expression.
pub(crate) struct Parsed {
    pub(crate) ast: Ast,
    pub(crate) hir: Hir,
    pub(crate) comments: Vec<ast::Comment>,
}

impl Parsed {
    /// Parses `source`, which the user knows as `pattern`. The builder of the matcher would do so too, but puts the
    /// source in a group, which its errors then show, and which makes an expression of `a)|(b`.
    pub(crate) fn new(pattern: &str, source: &str, ignore_case: bool) -> Result<Self, Failure> {
        let parsed = ast::parse::Parser::new().parse_with_comments(source).map_err(|error| invalid(pattern, &error))?;
        let ast::WithComments { ast, comments } = parsed;
        let mut translator = TranslatorBuilder::new().utf8(false).case_insensitive(ignore_case).build();
        let hir = translator.translate(source, &ast).map_err(|error| invalid(pattern, &error))?;
        Ok(Self { ast, hir, comments })
    }
}

/// The source without its comments, the last of which would swallow the end of the builder's group.
pub(crate) fn without_comments(source: &str, comments: &[ast::Comment]) -> String {
    let mut assertions = Assertions(Vec::new());
    assertions.add_comments(comments);
    assertions.replaced(source, ("", ""), None)
}

/// A compiled pattern.
pub(crate) struct Pattern {
    regex: RegexMatcher,
    candidates: Candidates,
    required: Option<Required>,
    line_end: LineTerminator,
}

/// How the lines are found that may match.
enum Candidates {
    /// By what every match holds.
    Literals(Literals),
    /// By a regex that matches at least the lines that the real one does.
    Looser(Box<RegexMatcher>),
    /// As the regex itself has it.
    Own,
}

impl Pattern {
    /// Compiles a regular expression, or plain text when it is `fixed`.
    ///
    /// # Errors
    ///
    /// `invalid-arguments` when it is no regular expression, is too large, or can only match a line break.
    pub(crate) fn new(pattern: &str, fixed: bool, ignore_case: bool) -> Result<Self, Failure> {
        let source = if fixed { &regex_syntax::escape(pattern) } else { pattern };
        let Parsed { ast, hir, comments } = Parsed::new(pattern, source, ignore_case)?;
        let Ok(mut assertions) = ast::visit(&ast, Assertions(Vec::new()));
        // The last of them would swallow the end of the builder's group.
        assertions.add_comments(&comments);
        let mut builder = RegexMatcherBuilder::new();
        builder.crlf(true).case_insensitive(ignore_case).size_limit(MAX_COMPILED).dfa_size_limit(AUTOMATON_CACHE);
        let mut line_end = LineTerminator::crlf();
        let mut anchors = ("(?mR:^)", "(?mR:$)");
        let regex = match builder.build(&assertions.replaced(source, anchors, None)) {
            Err(error) if matches!(error.kind(), ErrorKind::NotAllowed(_)) => {
                line_end = LineTerminator::byte(b'\n');
                anchors = ("(?m-R:^)", "(?m-R:$)");
                builder.crlf(false).line_terminator(Some(b'\n'));
                builder.build(&assertions.replaced(source, anchors, None))
            }
            built => built,
        };
        let compiled = |built: Result<RegexMatcher, grep_regex::Error>| {
            built.map_err(|error| match error.kind() {
                ErrorKind::NotAllowed(_) => invalid(
                    pattern,
                    &"it has a line break, and lines are searched one by one: for matches over several lines set \
                      `multiline`",
                ),
                // That it is an expression is known by now: all that is left is its size.
                ErrorKind::Regex(_) => invalid(pattern, &TOO_LARGE),
                _ => invalid(pattern, &error),
            })
        };
        let regex = compiled(regex)?;
        let candidates = if let Some(literals) = Literals::of(&hir) {
            Candidates::Literals(literals)
        } else if assertions.any_boundary() {
            // Empty, and can still be repeated.
            let looser = builder.build(&assertions.replaced(source, anchors, Some("(?:)")));
            Candidates::Looser(Box::new(compiled(looser)?))
        } else {
            Candidates::Own
        };
        Ok(Self { regex, candidates, required: Required::of(&hir), line_end })
    }

    /// Texts of which each line that matches contains at least one, if there are such.
    pub(crate) fn required(&self) -> Option<&Required> {
        self.required.as_ref()
    }

    /// What ends a line for this pattern; whoever searches has to be told the same.
    pub(crate) fn line_end(&self) -> LineTerminator {
        self.line_end
    }

    /// Where the first match in a line lies. The line has no ending.
    pub(crate) fn first_in(&self, line: &[u8]) -> Option<Range<usize>> {
        let found = self.regex.find(line).ok().flatten()?;
        Some(found.start()..found.end())
    }
}

impl Matcher for Pattern {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, bytes: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        self.regex.find_at(bytes, at)
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, bytes: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        self.regex.shortest_match_at(bytes, at)
    }

    /// For one line. The searcher leaves a lone `\n` at its end, behind which `^$` would match.
    fn is_match(&self, line: &[u8]) -> Result<bool, NoError> {
        self.regex.is_match(line.strip_suffix(b"\n").unwrap_or(line))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.regex.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.regex.line_terminator()
    }

    fn find_candidate_line(&self, bytes: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match &self.candidates {
            Candidates::Literals(literals) => Ok(literals.find(bytes).map(LineMatchKind::Candidate)),
            Candidates::Looser(looser) => Ok(looser.find_candidate_line(bytes)?.map(|found| match found {
                LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => LineMatchKind::Candidate(at),
            })),
            Candidates::Own => self.regex.find_candidate_line(bytes),
        }
    }
}

/// What may be replaced in a pattern, from left to right: what says something about a place without matching a byte
/// there.
struct Assertions(Vec<(Range<usize>, Assertion)>);

#[derive(Clone, Copy, PartialEq)]
enum Assertion {
    /// Of a line or of the text.
    Start,
    /// Of a line or of the text.
    End,
    /// Of a word, or the lack of one.
    Boundary,
    /// No assertion at all, but what a reader is told.
    Comment,
}

impl Assertions {
    fn add_comments(&mut self, comments: &[ast::Comment]) {
        let span = |comment: &ast::Comment| comment.span.start.offset..comment.span.end.offset;
        self.0.extend(comments.iter().map(|comment| (span(comment), Assertion::Comment)));
        self.0.sort_by_key(|(span, _)| span.start);
    }

    fn any_boundary(&self) -> bool {
        self.0.iter().any(|(_, assertion)| *assertion == Assertion::Boundary)
    }

    /// The pattern with other anchors for start and end, and with another text for its boundaries if there is one.
    fn replaced(&self, pattern: &str, (start, end): (&str, &str), boundary: Option<&str>) -> String {
        let mut text = String::with_capacity(pattern.len());
        let mut done = 0;
        for (span, assertion) in &self.0 {
            text.push_str(pattern.get(done..span.start).unwrap_or_default());
            text.push_str(match assertion {
                Assertion::Start => start,
                Assertion::End => end,
                Assertion::Boundary => boundary.or(pattern.get(span.clone())).unwrap_or_default(),
                Assertion::Comment => "",
            });
            done = span.end;
        }
        text.push_str(pattern.get(done..).unwrap_or_default());
        text
    }
}

impl Visitor for Assertions {
    type Output = Self;
    type Err = Infallible;

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::Assertion(found) = ast {
            let assertion = match found.kind {
                AssertionKind::StartLine | AssertionKind::StartText => Assertion::Start,
                AssertionKind::EndLine | AssertionKind::EndText => Assertion::End,
                AssertionKind::WordBoundary
                | AssertionKind::NotWordBoundary
                | AssertionKind::WordBoundaryStart
                | AssertionKind::WordBoundaryEnd
                | AssertionKind::WordBoundaryStartAngle
                | AssertionKind::WordBoundaryEndAngle
                | AssertionKind::WordBoundaryStartHalf
                | AssertionKind::WordBoundaryEndHalf => Assertion::Boundary,
            };
            self.0.push((found.span.start.offset..found.span.end.offset, assertion));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(pattern: &str, fixed: bool, ignore_case: bool) -> Pattern {
        Pattern::new(pattern, fixed, ignore_case).expect("a pattern")
    }

    #[test]
    fn the_first_match_of_a_line_is_found() {
        let check = |source: &str, line: &str, found: Option<Range<usize>>| {
            assert_eq!(pattern(source, false, false).first_in(line.as_bytes()), found, "{source} {line:?}");
        };
        check("b$", "ab", Some(1..2));
        check("a.b", "a\rb", None);
        check(r"\bé\w+", "an éclair", Some(3..10));
        check(r"\Ab\z", "b", Some(0..1));
        check("x", "y", None);
    }

    #[test]
    fn assertions_are_replaced_and_nothing_else_is() {
        let check = |pattern: &str, expected: &str| {
            let ast = ast::parse::Parser::new().parse(pattern).expect("a pattern");
            let Ok(found) = ast::visit(&ast, Assertions(Vec::new()));
            assert_eq!(found.replaced(pattern, ("<", ">"), Some("_")), expected);
            assert_eq!(found.any_boundary(), expected.contains('_'), "{pattern}");
            assert_eq!(found.replaced(pattern, ("^", "$"), None), pattern.replace(r"\A", "^").replace(r"\z", "$"));
        };
        check(r"\bé(x|\B+)\b{start}$", "_é(x|_+)_>");
        check(r"\<a\>|^*b", "_a_|<*b");
        check(r"\Aa\z", "<a>");
        check(r"[\x08^$]\\b\^\$", r"[\x08^$]\\b\^\$");
    }

    #[test]
    fn grep_pattern_that_cannot_be_searched_is_reported_with_the_reason() {
        let check = |pattern: &str, fixed, part: &str| match Pattern::new(pattern, fixed, false) {
            Err(Failure::InvalidArguments(why)) => assert!(why.contains(part), "{why}"),
            _ => panic!("{pattern:?} is refused"),
        };
        check("a(", false, "unclosed group");
        check("a)|(b", false, "unopened group");
        check(r"a\nb", false, "line break");
        check(r"a\r\nb", false, "line break");
        check("a\nb", true, "line break");
        check("(a{1000}){1000}", false, "too large");
    }

    #[test]
    fn plain_text_and_case_are_what_was_asked_for() {
        let check = |source: &str, fixed, ignore_case, line: &str, found| {
            assert_eq!(pattern(source, fixed, ignore_case).first_in(line.as_bytes()), found, "{source}");
        };
        check("a.b(", true, false, "axb( a.b(", Some(5..9));
        check("a\\b", true, false, "a\\b", Some(0..3));
        check("TODO", false, true, "x todo", Some(2..6));
        check("straße", true, true, "STRAßE", Some(0..7));
        check("(?x) a b # ^ c", false, false, "a b ab", Some(4..6));
        check("(?x) a # c\n b $", false, false, "ab ab", Some(3..5));
        check("x)", true, true, "(X)", Some(1..3));
    }
}

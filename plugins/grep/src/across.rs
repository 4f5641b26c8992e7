//! Matches that may go over several lines: `multiline`.
//!
//! Each file is searched for itself and as a whole, with the plain regex: no line can be passed over, since a match may
//! begin on any and end on any other. That is slower than [`crate::scan`], which is why it is asked for. The host still
//! leaves out the files without the texts that every match contains.
//!
//! Matches that share a line are one, as ripgrep has it. `^` and `$` are beginning and end of a line, `\A` and `\z`
//! those of the file.

use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use host_sdk::Failure;
use host_sdk::fs_read::Batch;
use memchr::{memchr, memrchr};

use crate::pattern::{AUTOMATON_CACHE, MAX_COMPILED, Parsed, TOO_LARGE, invalid, without_comments};
use crate::required::Required;
use crate::scan::{Hit, Next};

/// A compiled pattern.
pub(crate) struct AcrossLines {
    regex: RegexMatcher,
    required: Option<Required>,
}

impl AcrossLines {
    /// Compiles a regular expression, or plain text when it is `fixed`.
    ///
    /// # Errors
    ///
    /// `invalid-arguments` when it is no regular expression or too large.
    pub(crate) fn new(pattern: &str, fixed: bool, ignore_case: bool) -> Result<Self, Failure> {
        let source = if fixed { &regex_syntax::escape(pattern) } else { pattern };
        let Parsed { ast: _, hir, comments } = Parsed::new(pattern, source, ignore_case)?;
        let mut builder = RegexMatcherBuilder::new();
        builder.crlf(true).line_terminator(None).multi_line(true).case_insensitive(ignore_case);
        let regex = builder.size_limit(MAX_COMPILED).dfa_size_limit(AUTOMATON_CACHE);
        let regex = regex.build(&without_comments(source, &comments));
        // That it is an expression is known by now: all that is left is its size.
        let regex = regex.map_err(|_| invalid(pattern, &TOO_LARGE))?;
        Ok(Self { regex, required: Required::of(&hir) })
    }

    /// Texts of which each match contains at least one, if there are such.
    pub(crate) fn required(&self) -> Option<&Required> {
        self.required.as_ref()
    }

    /// Hands over the lines of each match, in the order of the batch. Files with a NUL byte are binary and left out.
    pub(crate) fn scan(&self, batch: &Batch, mut take: impl FnMut(Hit) -> Next) {
        for file in 0..batch.len() {
            let span = batch.content_span(file);
            let content = batch.content(file);
            let mut found = self.lines_in(content).peekable();
            if found.peek().is_none() || memchr(0, content).is_some() {
                continue;
            }
            for (lines, start) in found {
                let lines = span.start + lines.start..span.start + lines.end;
                match take(Hit { file, lines, start: Some(span.start + start) }) {
                    Next::Line => {}
                    Next::File => break,
                }
            }
        }
    }

    /// The lines of each match, and where the match begins in the text.
    fn lines_in<'c>(&'c self, text: &'c [u8]) -> impl Iterator<Item = (Range<usize>, usize)> + 'c {
        let mut matches = self.matches_in(text).peekable();
        std::iter::from_fn(move || {
            let first = matches.next()?;
            let mut lines = lines_of(text, &first);
            // A last line without a line break has its end too.
            let is_on = |next: &Range<usize>, end| next.start < end || next.start == end && end == text.len();
            while let Some(next) = matches.next_if(|next| is_on(next, lines.end)) {
                lines.end = lines.end.max(lines_of(text, &next).end);
            }
            Some((lines, first.start))
        })
    }

    /// The matches that are on a line: the place behind the last line break is none.
    fn matches_in<'c>(&'c self, text: &'c [u8]) -> impl Iterator<Item = Range<usize>> + 'c {
        let mut at = 0;
        std::iter::from_fn(move || {
            // Looking on at the end would find the empty match there once more.
            let found = (at <= text.len()).then(|| self.regex.find_at(text, at).ok().flatten()).flatten()?;
            at = found.end().max(found.start() + 1);
            Some(found.start()..found.end())
        })
        .filter(|found| found.start < text.len() || text.last().is_some_and(|last| *last != b'\n'))
    }
}

/// The lines that a match is on, with their line breaks.
fn lines_of(text: &[u8], found: &Range<usize>) -> Range<usize> {
    let start = memrchr(b'\n', &text[..found.start]).map_or(0, |at| at + 1);
    // A match that ends with a line break is not on the line behind it.
    let last = found.end.saturating_sub(1).max(found.start);
    let end = memchr(b'\n', &text[last..]).map_or(text.len(), |at| last + at + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(pattern: &str, files: &[(&str, &[u8])], next: fn() -> Next) -> Vec<(String, String)> {
        let batch = Batch::of(files);
        let mut found = Vec::new();
        AcrossLines::new(pattern, false, false).expect("a pattern").scan(&batch, |hit| {
            let lines = String::from_utf8_lossy(&batch.contents()[hit.lines]).into_owned();
            found.push((batch.name(hit.file).into_owned(), lines));
            next()
        });
        found
    }

    #[test]
    fn grep_multiline_matches_have_all_their_lines() {
        let check = |pattern: &str, text: &str, expected: &[&str]| {
            let found = hits(pattern, &[("a", text.as_bytes())], || Next::Line);
            let found: Vec<_> = found.iter().map(|(_, lines)| lines.as_str()).collect();
            assert_eq!(found, expected, "{pattern} {text:?}");
        };
        check(r"b\n+c", "a\nb\n\nc d\ne\n", &["b\n\nc d\n"]);
        check(r"struct \{[^}]*\}", "struct {\n  a\n}\nx\nstruct {}", &["struct {\n  a\n}\n", "struct {}"]);
        // What shares a line is one; what lies on the next line is another.
        check(r"\{[^}]*\}", "{a}{\nb}{c\n}\n{d}\n", &["{a}{\nb}{c\n}\n", "{d}\n"]);
        check("x", "x x\nx\n", &["x x\n", "x\n"]);
        check("a\n", "a\nb\na\n", &["a\n", "a\n"]);
        check("a.b", "a\nb", &[]);
        check("(?s)a.b", "a\nb", &["a\nb"]);
        check("(?s)b.*", "a\nb\nc\n", &["b\nc\n"]);
        check(r"\s+b", "a \n b\n", &["a \n b\n"]);
        check("^b$", "a\nb\r\nb\nab\n", &["b\r\n", "b\n"]);
        check(r"\Aa|b\z", "a\na\nb\nb", &["a\n", "b"]);
        check("(?x) a \n # and\n \\n b # the end", "a\nb", &["a\nb"]);
        check("a$\r?\n^b", "a\r\nb", &["a\r\nb"]);
    }

    #[test]
    fn grep_multiline_empty_matches_are_lines_of_the_file() {
        for (pattern, text, expected) in [
            ("", "1\n\n2", vec!["1\n", "\n", "2"]),
            ("", "1\n", vec!["1\n"]),
            ("$", "1\n2\n", vec!["1\n", "2\n"]),
            ("^$", "1\n\n2", vec!["\n"]),
            ("z*", "", vec![]),
            (r"\z", "1\n2", vec!["2"]),
            (r"\z", "1\n2\n", vec![]),
            ("(b\nc)?", "a b\nc", vec!["a b\nc"]),
            ("", "é\n", vec!["é\n"]),
        ] {
            let found = hits(pattern, &[("a", text.as_bytes())], || Next::Line);
            assert_eq!(
                found.iter().map(|(_, lines)| lines.as_str()).collect::<Vec<_>>(),
                expected,
                "{pattern} {text:?}"
            );
        }
    }

    #[test]
    fn grep_multiline_leaves_no_file_and_binary_ones_out() {
        let files: &[(&str, &[u8])] =
            &[("a", b"foo\n"), ("b", b"bar\nfoo"), ("c", b""), ("d", b"foo\nbar\0"), ("e", b"foo\nbar foo\nbar")];
        let all = hits("foo\nbar", files, || Next::Line);
        assert_eq!(all, [("e".to_owned(), "foo\nbar foo\nbar".to_owned())]);
        let first: Vec<_> = hits("foo", files, || Next::File).into_iter().map(|(name, _)| name).collect();
        assert_eq!(first, ["a", "b", "e"]);
    }

    #[test]
    fn grep_multiline_requires_only_what_each_match_contains() {
        let texts = ["foo", "bar", "\n", " ", "12", "\r\n"];
        for source in [r"foo\s+bar", "foo\nbar", r"(?s)foo.*12", r"^bar$", "foo$\n|12\r\n", r"(?i)FOO\n", "\\Afoo bar"]
        {
            let pattern = AcrossLines::new(source, false, false).expect("a pattern");
            let required = pattern.required().unwrap_or_else(|| panic!("{source} requires something"));
            for i in 0..texts.len().pow(4) {
                let text: String = (0..4_u32).map(|place| texts[i / texts.len().pow(place) % texts.len()]).collect();
                let has =
                    |wanted: &Vec<u8>| text.as_bytes().windows(wanted.len()).any(|part| part == wanted.as_slice());
                if pattern.lines_in(text.as_bytes()).next().is_some() {
                    assert!(required.texts.iter().any(has), "{source}: {text:?} without {required:?}");
                }
            }
        }
    }

    #[test]
    fn grep_multiline_takes_plain_text_and_refuses_what_is_no_pattern() {
        let pattern = AcrossLines::new("a(\nB", true, true).expect("plain text");
        assert_eq!(pattern.lines_in(b"x A(\nb y\n").next(), Some((0..9, 2)));
        for (source, says) in [("a(", "`a(`: "), ("(a{1000}){1000}", "too large when compiled"), ("a)|(b", "unopened")]
        {
            let Err(Failure::InvalidArguments(words)) = AcrossLines::new(source, false, false) else {
                panic!("{source}")
            };
            assert!(words.contains(says), "{words}");
        }
    }
}

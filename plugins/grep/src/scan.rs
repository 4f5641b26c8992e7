//! One pass over the bytes of many files.
//!
//! The files of a batch lie in one buffer without a gap. Searching the buffer as a whole saves the start-up of a
//! search for each file, which for a tree of small files is most of the time. It is right only where a file
//! ends with a line break: then no match straddles two files, since none contains a line break, and `^` and `$` see
//! what they would see in the file alone. So the buffer is searched in runs, each ending behind a file that has no
//! line break at its end.

use std::io;
use std::ops::Range;

use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use host_sdk::Failure;
use host_sdk::fs_read::Batch;
use memchr::memchr;

use crate::pattern::Pattern;

/// A line that matches, or the lines of a match that goes over several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Which file of the batch.
    pub(crate) file: usize,
    /// Where the lines are in the batch's contents, with their line breaks.
    pub(crate) lines: Range<usize>,
    /// Where in the contents the match begins, if that is known: finding it costs another search of the line.
    pub(crate) start: Option<usize>,
}

/// How to go on after a hit.
pub(crate) enum Next {
    /// With the next line, or the next match that goes over several.
    Line,
    /// With the next file.
    File,
}

/// What goes through the batches.
pub(crate) struct Scanner(Searcher);

impl Scanner {
    /// For searching with this pattern.
    pub(crate) fn new(pattern: &Pattern) -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(pattern.line_end())
            // Counted where they are shown: here they would go on from file to file.
            .line_number(false)
            // A file in UTF-16 would take the files behind it with it. It has NULs, and is left out as binary.
            .bom_sniffing(false)
            // Here a NUL would end the search of the files behind it too.
            .binary_detection(BinaryDetection::none());
        Self(builder.build())
    }

    /// Hands over each line that matches, in the order of the batch. Files with a NUL byte are binary and left out.
    ///
    /// # Errors
    ///
    /// When the search itself fails, which is not known to happen in memory.
    pub(crate) fn scan(
        &mut self,
        pattern: &Pattern,
        batch: &Batch,
        take: impl FnMut(Hit) -> Next,
    ) -> Result<(), Failure> {
        let mut lines = Lines { batch, take, start: 0, file: usize::MAX, is_binary: false, passed_over: None };
        for run in runs(batch) {
            let mut start = run.start;
            // What is around the run belongs to other files: out of sight.
            while let Some(bytes) = batch.contents().get(start..run.end).filter(|bytes| !bytes.is_empty()) {
                lines.start = start;
                let searched: Result<(), io::Error> = self.0.search_slice(pattern, bytes, &mut lines);
                searched.map_err(|error| Failure::Failed(error.to_string()))?;
                match lines.passed_over.take() {
                    Some(end) => start = end,
                    None => break,
                }
            }
        }
        Ok(())
    }
}

/// Takes the matching lines of a run that begins at `start`.
struct Lines<'b, F> {
    batch: &'b Batch,
    take: F,
    start: usize,
    /// The file that was hit last. Looking for a NUL goes through the whole file: once for each file with a hit.
    file: usize,
    is_binary: bool,
    /// Where the file ends whose rest is passed over: the search ends, and begins anew there.
    passed_over: Option<usize>,
}

impl<F: FnMut(Hit) -> Next> Sink for Lines<'_, F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let offset = usize::try_from(found.absolute_byte_offset()).map_err(io::Error::other)?;
        let line = self.start + offset..self.start + offset + found.bytes().len();
        let file = self.batch.file_at(line.start);
        let file_end = self.batch.content_span(file).end.max(line.end);
        if self.file != file {
            self.file = file;
            self.is_binary = memchr(0, self.batch.content(file)).is_some();
        }
        let next = if self.is_binary { Next::File } else { (self.take)(Hit { file, lines: line, start: None }) };
        Ok(match next {
            Next::Line => true,
            Next::File => {
                self.passed_over = Some(file_end);
                false
            }
        })
    }
}

/// The stretches of the contents that can be searched as one.
fn runs(batch: &Batch) -> impl Iterator<Item = Range<usize>> {
    let contents = batch.contents();
    let mut start = 0;
    let mut file = 0;
    std::iter::from_fn(move || {
        while file < batch.len() {
            let end = batch.content_span(file).end;
            file += 1;
            let open = end > start && contents.get(end - 1) != Some(&b'\n');
            if open || file == batch.len() {
                let run = start..end;
                start = end;
                return Some(run);
            }
        }
        None
    })
    .filter(|run| run.start < run.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(pattern: &str, files: &[(&str, &[u8])], next: fn() -> Next) -> Vec<(String, String)> {
        let batch = Batch::of(files);
        let mut found = Vec::new();
        let pattern = Pattern::new(pattern, false, false).expect("a pattern");
        let scanned = Scanner::new(&pattern).scan(&pattern, &batch, |hit| {
            let line = String::from_utf8_lossy(&batch.contents()[hit.lines]).into_owned();
            found.push((batch.name(hit.file).into_owned(), line));
            next()
        });
        assert!(scanned.is_ok());
        found
    }

    fn check(pattern: &str, files: &[(&str, &[u8])], expected: &[(&str, &str)]) {
        let found = hits(pattern, files, || Next::Line);
        let found: Vec<_> = found.iter().map(|(name, line)| (name.as_str(), line.as_str())).collect();
        assert_eq!(found, expected, "{pattern}");
    }

    #[test]
    fn every_matching_line_is_found_once_in_its_file() {
        let files: &[(&str, &[u8])] = &[("a", b"x1\ny\nx x2\n"), ("empty", b""), ("b", b"x3\n")];
        check("x", files, &[("a", "x1\n"), ("a", "x x2\n"), ("b", "x3\n")]);
        check("nothing", files, &[]);
    }

    #[test]
    fn no_match_straddles_two_files() {
        let files: &[(&str, &[u8])] = &[("a", b"foo"), ("b", b"bar\nfoo"), ("c", b""), ("d", b"bar")];
        check("foobar", files, &[]);
        check("foo.*", files, &[("a", "foo"), ("b", "foo")]);
        check("^bar$", files, &[("b", "bar\n"), ("d", "bar")]);
        check(r"\bbar", files, &[("b", "bar\n"), ("d", "bar")]);
        check("o$", files, &[("a", "foo"), ("b", "foo")]);
    }

    #[test]
    fn no_match_leaves_its_line() {
        let check = |pattern: &str, text: &str, expected: &[&str]| {
            let found = hits(pattern, &[("a", text.as_bytes())], || Next::Line);
            let found: Vec<_> = found.iter().map(|(_, line)| line.as_str()).collect();
            assert_eq!(found, expected, "{pattern} {text:?}");
        };
        check(r"a\s+b", "a\nb a b\n", &["b a b\n"]);
        check(r"a[^x]b", "a\nb", &[]);
        check(r"(?s)a.b", "a\nb", &[]);
        check(r"(?-u:a[^x]b)", "a\nb", &[]);
        check(r"[\r\n]", "a\nb\r\n", &["b\r\n"]);
        check(r"\Ab$", "a\nb\r\nc", &["b\r\n"]);
        check(r"(?-m)^b\z", "a\nb\nc", &["b\n"]);
    }

    #[test]
    fn a_line_of_either_ending_ends_before_it() {
        let files: &[(&str, &[u8])] = &[("a", b"xab\r\nxab\nab x\r\n"), ("b", b"xab\r\n\r\n")];
        let ab = [("a", "xab\r\n"), ("a", "xab\n"), ("b", "xab\r\n")];
        for pattern in ["ab$", r"\w+ab$", r"\Axab\z", r"\bxab\b$", r"^\w+$"] {
            check(pattern, files, &ab);
        }
        check(r"\s", files, &[("a", "ab x\r\n")]);
        check(r"\w+ab\s$", files, &[]);
        for pattern in ["^$", r"^\B$", r"\A\z"] {
            check(pattern, files, &[("b", "\r\n")]);
        }
        check(r"x\r$", files, &[("a", "ab x\r\n")]);
    }

    #[test]
    fn each_way_to_find_candidates_finds_the_same_lines() {
        let text = "one two\n\nTwo a.two\r\n\u{e9}two two\u{e9}\n two\nx\n\u{212a}two_";
        for source in [r"\btwo\b", r"\b[tx]\w*\b", "(?i)two$", r"^\W*$", "two|one", r"\b", r"\Bwo|x", r"\w+\ba|[a-z]wo"]
        {
            let pattern = Pattern::new(source, false, false).expect("a pattern");
            let expected: Vec<_> = text
                .split_inclusive('\n')
                .filter(|line| pattern.first_in(line.trim_end().as_bytes()).is_some())
                .map(|line| ("a", line))
                .collect();
            check(source, &[("a", text.as_bytes())], &expected);
        }
    }

    #[test]
    fn a_pattern_that_matches_nothing_at_all_matches_each_line_once() {
        let files: &[(&str, &[u8])] = &[("a", b"1\n\n2"), ("b", b"\n"), ("c", b""), ("d", b"3\n")];
        let all = [("a", "1\n"), ("a", "\n"), ("a", "2"), ("b", "\n"), ("d", "3\n")];
        for pattern in ["", "^", "$", "z*", "()"] {
            check(pattern, files, &all);
        }
        check("^$", files, &[("a", "\n"), ("b", "\n")]);
    }

    #[test]
    fn binary_files_are_left_out_and_their_neighbours_are_not() {
        check("x", &[("a", b"x\n"), ("b", b"x\nx\0x"), ("c", b"x\n")], &[("a", "x\n"), ("c", "x\n")]);
        // A run that begins with the mark of UTF-16.
        check("x", &[("a", b"\xff\xfex\0\n\0"), ("b", b"x\n")], &[("b", "x\n")]);
        check("^.x", &[("a", b"\xef\xbb\xbfx\n"), ("b", b"x\n")], &[("a", "\u{feff}x\n")]);
    }

    #[test]
    fn the_rest_of_a_file_can_be_passed_over() {
        let files: &[(&str, &[u8])] = &[("a", b"x\nx\n"), ("b", b"x\nx"), ("c", b"x")];
        let names: Vec<_> = hits("x", files, || Next::File).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn searching_the_whole_buffer_finds_what_searching_each_file_finds() {
        let pieces: [&[u8]; 6] = [b"ab\n", b"a", b"", b"b\r\n", b"\n\nab", b"ba\0\n"];
        for pattern in ["a", "ab", "^b", "a$", r"\Aa", "", r"[^a]+$", r"\s"] {
            for seed in 0..pieces.len().pow(3) {
                let files: Vec<_> =
                    (0..3_u32).map(|i| ("f", pieces[seed / pieces.len().pow(i) % pieces.len()])).collect();
                let together = hits(pattern, &files, || Next::Line);
                let apart: Vec<_> = files.iter().flat_map(|file| hits(pattern, &[*file], || Next::Line)).collect();
                assert_eq!(together, apart, "{pattern} {files:?}");
            }
        }
    }
}

//! One pass over the bytes of many files.
//!
//! The files of a batch lie in one buffer without a gap. Searching the buffer as a whole saves the start-up of a
//! search for each file, which for a tree of small files is most of the time. It is right only where a file
//! ends with a line break: then no match straddles two files, since none contains a line break, and `^` and `$` see
//! what they would see in the file alone. So the buffer is searched in runs, each ending behind a file that has no
//! line break at its end.

use std::ops::Range;

use host_sdk::fs_read::Batch;
use memchr::memchr;

use crate::pattern::Pattern;

/// A line that matches.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Which file of the batch.
    pub(crate) file: usize,
    /// Where the line lies in the batch's contents, its line break included.
    pub(crate) line: Range<usize>,
}

/// How to go on after a hit.
pub(crate) enum Next {
    /// With the next line.
    Line,
    /// With the next file.
    File,
}

/// Hands over each line that matches, in the order of the batch. Files with a NUL byte are binary and left out.
pub(crate) fn scan(pattern: &mut Pattern, batch: &Batch, mut take: impl FnMut(&mut Pattern, Hit) -> Next) {
    let contents = batch.contents();
    // Looking for a NUL goes through the whole file: once for each file with a hit.
    let mut looked_at = (usize::MAX, false);
    for run in runs(batch) {
        // What is before the run belongs to another file, which does not end in a line break: out of sight.
        let Some(bytes) = contents.get(run.clone()) else { return };
        // Always the start of a line.
        let mut at = 0;
        while let Some(line) = pattern.next_line(bytes, at) {
            let start = run.start + line.start;
            let line = start..(run.start + line.end + 1).min(run.end);
            let file = batch.file_at(start);
            let file_end = batch.content_span(file).end.max(line.end);
            if looked_at.0 != file {
                looked_at = (file, memchr(0, batch.content(file)).is_some());
            }
            let next = line.end;
            let next = match looked_at.1 {
                true => file_end,
                false => match take(pattern, Hit { file, line }) {
                    Next::Line => next,
                    Next::File => file_end,
                },
            };
            at = next - run.start;
        }
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
        scan(&mut Pattern::new(pattern, false, false).expect("a pattern"), &batch, |_, hit| {
            let line = String::from_utf8_lossy(&batch.contents()[hit.line]).into_owned();
            found.push((batch.name(hit.file).into_owned(), line));
            next()
        });
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

//! The place of a file that looks most like a text which is not there.

use std::collections::HashMap;
use std::fmt;

use tool_text::{MAX_LINE_CHARACTERS, cut_line};

use crate::fold::fold;

/// How many lines are shown.
const MAX_LINES: usize = 20;

/// How many places one line of the copy may stand for: one that is everywhere says nothing about the place.
const MAX_PLACES: usize = 50;

/// Lines of a file.
#[derive(Debug, PartialEq)]
pub struct Nearest<'t> {
    /// The number of the first one, from 1.
    pub first: usize,
    /// The lines, without their ends.
    pub lines: Vec<&'t str>,
    /// How many lines of the copy are among them, in their place.
    pub agreeing: usize,
}

/// The lines behind their numbers, as `read_file` shows them.
impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbered = (self.first..).zip(&self.lines);
        numbered.try_for_each(|(number, line)| writeln!(f, "{number}\t{}", cut_line(line, MAX_LINE_CHARACTERS)))
    }
}

/// The lines of `text` that are nearest to `wanted`; `None` if none of its lines is there.
///
/// Each line that both have in common speaks for one place of the whole; the place with the most of them wins, and of
/// several the first.
pub fn nearest<'t>(text: &'t str, wanted: &str) -> Option<Nearest<'t>> {
    let plain = |line: &str| line.split_whitespace().flat_map(str::chars).map(fold).collect::<String>();
    let wanted: Vec<String> = wanted.trim_matches('\n').split('\n').map(plain).collect();
    let mut by_line: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        by_line.entry(line).or_default().push(index);
    }
    let lines: Vec<&str> = text.lines().collect();
    // By how far the copy's first line is from the file's first one; before the file's start it is negative.
    let mut votes: HashMap<isize, (usize, usize)> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        let line = plain(line);
        let Some(indexes) = by_line.get(line.as_str()) else { continue };
        // A bracket alone, or nothing, agrees with any place; it counts only where more does.
        let weight = usize::from(line.chars().filter(|c| c.is_alphanumeric()).count() >= 2);
        for index in indexes.iter().take(MAX_PLACES) {
            let vote = votes.entry(number as isize - *index as isize).or_default();
            *vote = (vote.0 + weight, vote.1 + 1);
        }
    }
    let (&start, &(weight, agreeing)) =
        votes.iter().max_by_key(|&(&start, &(weight, agreeing))| (weight, agreeing, std::cmp::Reverse(start)))?;
    if weight == 0 {
        return None;
    }
    let first = usize::try_from(start).unwrap_or(0);
    let count = wanted.len().min(MAX_LINES);
    Some(Nearest { first: first + 1, lines: lines.iter().skip(first).take(count).copied().collect(), agreeing })
}

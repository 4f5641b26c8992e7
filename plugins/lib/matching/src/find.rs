//! The places of a text in a file, by the closest way in which it is there.

use std::ops::Range;

use crate::carry::carry;
use crate::fold::fold;
use crate::reading::{Reading, readings};

/// How close the text of a file is to the text that was looked for. The closest comes first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Closeness {
    /// The same characters.
    Exact,
    /// Quotes, dashes or spaces have another form.
    Punctuation,
    /// Lines differ in the white space at their ends, too.
    LineEnds,
    /// Lines differ in their indentation, too.
    Indentation,
    /// As before, and the text begins or ends within a line.
    PartOfLines,
    /// Lines differ in the amount of white space within them, too.
    Spacing,
}

impl Closeness {
    /// The ways in which lines are compared, the closest first.
    const OF_LINES: [Self; 6] =
        [Self::Exact, Self::Punctuation, Self::LineEnds, Self::Indentation, Self::PartOfLines, Self::Spacing];
}

/// A text that was found.
#[derive(Debug, PartialEq)]
pub struct Found {
    /// Where it is. The places do not overlap, and come in order.
    pub places: Vec<Range<usize>>,
    /// How close what is there is to what was looked for.
    pub closeness: Closeness,
    /// How the text was read if it is not there as it was given: `without its line numbers`.
    pub read_as: Option<&'static str>,
    /// Whether each place is one of whole lines, without the line break behind the last one.
    whole_lines: bool,
    old: String,
    new: String,
}

impl Found {
    /// What comes in place of the text at `place`, and where: characters that the edit does not change stay as they are
    /// in `text`, new lines are indented as those around them.
    pub fn replacement(&self, text: &str, place: Range<usize>) -> (Range<usize>, String) {
        let found = text.get(place.clone()).unwrap_or("");
        if !self.whole_lines {
            let is_exact = self.closeness == Closeness::Exact;
            let new = if is_exact { self.new.clone() } else { carry(found, &self.old, &self.new, self.closeness) };
            return (place, new);
        }
        // Nothing in place of whole lines takes their last line break with it.
        let takes_break = self.new.is_empty() && text.get(place.end..).is_some_and(|rest| rest.starts_with('\n'));
        let end = if takes_break { place.end + 1 } else { place.end };
        // A line break at the end belongs to the last line, whose own stays.
        let bare = |text: &'_ str| text.strip_suffix('\n').unwrap_or(text).to_owned();
        (place.start..end, carry(found, &bare(&self.old), &bare(&self.new), self.closeness))
    }
}

/// Finds `old` in `text`, to be replaced by `new`; `None` if it is not there in any way.
///
/// Both texts have `\n` as the end of lines. The closest way decides: what is there to the letter hides what is there
/// with other white space.
pub fn find(text: &str, old: &str, new: &str) -> Option<Found> {
    for Reading { old, new, first_line, changed, whole_lines } in readings(old, new) {
        if old.is_empty() {
            continue;
        }
        let within = if whole_lines { None } else { within_lines(text, &old) };
        let is_within = within.is_some();
        let Some((closeness, mut places)) = within.or_else(|| in_lines(text, &old, whole_lines)) else { continue };
        if let Some(line) = first_line
            && places.len() > 1
            && let Some(start) = start_of(text, line)
            && let Some(place) = places.iter().find(|place| place.start == start)
        {
            // The number that the model copied says which of them it means.
            places = vec![place.clone()];
        }
        let whole_lines = !is_within && closeness != Closeness::PartOfLines;
        return Some(Found { places, closeness, read_as: changed, whole_lines, old, new });
    }
    None
}

/// Where the line with this number begins, counted from 1; `None` if the text has fewer. Found once and compared with
/// each place, of which there may be millions.
fn start_of(text: &str, line: usize) -> Option<usize> {
    match line.checked_sub(2) {
        None => (line == 1).then_some(0),
        Some(before) => text.match_indices('\n').nth(before).map(|(at, _)| at + 1),
    }
}

/// Returns the line that a place is in, counted from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().get(..at).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// The places of `old` as a part of the text, wherever it begins.
fn within_lines(text: &str, old: &str) -> Option<(Closeness, Vec<Range<usize>>)> {
    let some = |closeness, places: Vec<Range<usize>>| (!places.is_empty()).then_some((closeness, places));
    let exact = text.match_indices(old).map(|(at, found)| at..at + found.len()).collect();
    some(Closeness::Exact, exact).or_else(|| some(Closeness::Punctuation, folded(text, old)))
}

/// The places of `old` as lines, in the closest way in which they are there.
fn in_lines(text: &str, old: &str, whole: bool) -> Option<(Closeness, Vec<Range<usize>>)> {
    let mut lines = Lines::new(text);
    // With a line break behind it, the last line is a whole one.
    lines.ends_whole = old.ends_with('\n');
    let wanted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    // White space alone would fit any blank line.
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    Closeness::OF_LINES.into_iter().filter(|&closeness| !whole || closeness != Closeness::PartOfLines).find_map(
        |closeness| {
            let places = lines.places(&wanted, closeness, 0..lines.spans.len());
            (!places.is_empty()).then(|| (closeness, places.into_iter().map(|place| place.bytes).collect()))
        },
    )
}

/// The places of `old` when quotes, dashes and spaces are one each.
fn folded(text: &str, old: &str) -> Vec<Range<usize>> {
    let wanted: String = old.chars().map(fold).collect();
    // Where the file has none of these characters it is what it was: no exact match, no other one either.
    if wanted == old && !text.chars().any(|c| fold(c) != c) {
        return Vec::new();
    }
    let mut plain = String::with_capacity(text.len());
    // For each byte of the folded text that begins a character, where that character begins in the text.
    let mut origin = vec![0; text.len() + 1];
    for (at, c) in text.char_indices() {
        if let Some(origin) = origin.get_mut(plain.len()) {
            *origin = at;
        }
        plain.push(fold(c));
    }
    if let Some(origin) = origin.get_mut(plain.len()) {
        *origin = text.len();
    }
    let at = |place: usize| origin.get(place).copied().unwrap_or(text.len());
    plain.match_indices(&wanted).map(|(place, found)| at(place)..at(place + found.len())).collect()
}

/// Lines of a text that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct LinesPlace {
    /// The number of the first one, from 0.
    pub first: usize,
    /// Where they are, without the line break at the end.
    pub bytes: Range<usize>,
}

/// A text by its lines.
struct Lines<'t> {
    text: &'t str,
    /// Where each line is, without its line break.
    spans: Vec<Range<usize>>,
    /// Whether the last line of what is looked for ends where a line of the text does, in each way of looking.
    ends_whole: bool,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let mut at = 0;
        let spans = text
            .split_inclusive('\n')
            .map(|line| {
                let start = at;
                at += line.len();
                start..start + line.strip_suffix('\n').unwrap_or(line).len()
            })
            .collect();
        Self { text, spans, ends_whole: false }
    }

    fn line(&self, number: usize) -> &'t str {
        self.spans.get(number).and_then(|span| self.text.get(span.clone())).unwrap_or("")
    }

    /// The places of these lines that begin and end within the `range` of lines.
    fn places(&self, wanted: &[&str], closeness: Closeness, range: Range<usize>) -> Vec<LinesPlace> {
        // The edges of one line would be found inside of words.
        if wanted.is_empty() || (closeness == Closeness::PartOfLines && wanted.len() < 2) {
            return Vec::new();
        }
        let mut places = Vec::new();
        let mut first = range.start;
        while first + wanted.len() <= range.end.min(self.spans.len()) {
            match self.place(wanted, closeness, first) {
                Some(bytes) => {
                    places.push(LinesPlace { first, bytes });
                    first += wanted.len();
                }
                None => first += 1,
            }
        }
        places
    }

    /// Where the lines are if they begin at the line `first`.
    fn place(&self, wanted: &[&str], closeness: Closeness, first: usize) -> Option<Range<usize>> {
        let last = wanted.len() - 1;
        let (mut start, mut end) = (self.spans.get(first)?.start, self.spans.get(first + last)?.end);
        for (index, wanted) in wanted.iter().enumerate() {
            let line = self.line(first + index);
            let is_same = match closeness {
                Closeness::PartOfLines if index == 0 => {
                    let at = end_of_line(line, wanted.trim())?;
                    start += at;
                    true
                }
                Closeness::PartOfLines if index == last && !self.ends_whole => {
                    let length = start_of_line(line, wanted.trim())?;
                    end = self.spans.get(first + last)?.start + length;
                    true
                }
                closeness => is_same(line, wanted, closeness),
            };
            if !is_same {
                return None;
            }
        }
        Some(start..end)
    }
}

/// Finds whole lines among the `range` of lines of a text, counted from 0, in the closest way in which they are there;
/// empty if they are not.
pub fn find_lines(text: &str, wanted: &[&str], range: Range<usize>) -> (Closeness, Vec<LinesPlace>) {
    let lines = Lines::new(text);
    let whole = Closeness::OF_LINES.into_iter().filter(|&closeness| closeness != Closeness::PartOfLines);
    whole
        .map(|closeness| (closeness, lines.places(wanted, closeness, range.clone())))
        .find(|(_, places)| !places.is_empty())
        .unwrap_or((Closeness::Exact, Vec::new()))
}

fn is_same(line: &str, wanted: &str, closeness: Closeness) -> bool {
    let folded = |a: &str, b: &str| a.chars().map(fold).eq(b.chars().map(fold));
    match closeness {
        Closeness::Exact => line == wanted,
        Closeness::Punctuation => folded(line, wanted),
        Closeness::LineEnds => folded(line.trim_end(), wanted.trim_end()),
        Closeness::Indentation | Closeness::PartOfLines => folded(line.trim(), wanted.trim()),
        Closeness::Spacing => {
            let (mut words, mut wanted) = (line.split_whitespace(), wanted.split_whitespace());
            loop {
                match (words.next(), wanted.next()) {
                    (None, None) => return true,
                    (Some(word), Some(wanted)) if folded(word, wanted) => {}
                    _ => return false,
                }
            }
        }
    }
}

/// Where in the line its end begins that reads like `wanted`.
fn end_of_line(line: &str, wanted: &str) -> Option<usize> {
    let line = line.trim_end();
    let (count, length) = (wanted.chars().count(), line.chars().count());
    let (at, _) = line.char_indices().nth(length.checked_sub(count)?)?;
    is_same(line.get(at..)?, wanted, Closeness::Punctuation).then_some(at)
}

/// How long the start of the line is that reads like `wanted`, with the indentation.
fn start_of_line(line: &str, wanted: &str) -> Option<usize> {
    let indentation = line.len() - line.trim_start().len();
    let bare = line.get(indentation..)?;
    let length: usize = bare.chars().take(wanted.chars().count()).map(char::len_utf8).sum();
    (!wanted.is_empty() && is_same(bare.get(..length)?, wanted, Closeness::Punctuation)).then_some(indentation + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str, expected: Option<(Closeness, &[&str])>) {
        let found = find(text, old, "");
        let found = found
            .as_ref()
            .map(|found| (found.closeness, found.places.iter().map(|place| &text[place.clone()]).collect::<Vec<_>>()));
        assert_eq!(found, expected.map(|(closeness, places)| (closeness, places.to_vec())), "{text:?} {old:?}");
    }

    #[test]
    fn the_closest_way_in_which_a_text_is_there_hides_the_others() {
        check("a b\n a b\n", "a b", Some((Closeness::Exact, &["a b", "a b"])));
        check("“a”\n\"a\"\n", "\"a\"", Some((Closeness::Exact, &["\"a\""])));
        check("x “a–b” y", "\"a-b\"", Some((Closeness::Punctuation, &["“a–b”"])));
        check("a \n  b\n  a\n b\n", "a\nb\n", Some((Closeness::Indentation, &["a \n  b", "  a\n b"])));
        check("a \nb\n  a\n b\n", "a\nb\n", Some((Closeness::LineEnds, &["a \nb"])));
        check("x = f(a,\n        b);\n", "f(a,\n  b)", Some((Closeness::PartOfLines, &["f(a,\n        b)"])));
        check("a  (b)\n", "a (b)\n", Some((Closeness::Spacing, &["a  (b)"])));
    }

    #[test]
    fn lines_are_never_found_within_others() {
        for (text, old) in [
            ("abc\n", "xabc"),
            ("  abc\n", " ab\n"),
            // Blank lines fit anywhere.
            ("a\n\n\nb\n", " \n"),
            ("a\n  b", "a\nb\nc"),
            // The last line is given whole, and it goes on.
            ("x a\nb c\n", "a\n  b\n"),
            // Read in another way, a text still stands for whole lines.
            ("xfoo\n", "7\tfoo"),
            ("xfoo\n", "\nfoo\n"),
            ("", "a"),
        ] {
            check(text, old, None);
        }
    }

    #[test]
    fn copied_number_says_which_of_several_places_is_meant() {
        let text = "a\nb\na\nb\n";
        let at = |old: &str| {
            let found = find(text, old, "")?;
            Some(found.places.iter().map(|place| (place.start, place.end)).collect::<Vec<_>>())
        };
        assert_eq!(at("3\ta\n4\tb\n"), Some(vec![(4, 7)]));
        assert_eq!(at("1\ta\n"), Some(vec![(0, 1)]));
        // A number at which the text is not says nothing.
        assert_eq!(at("9\ta\n").map(|places| places.len()), Some(2));
    }

    #[test]
    fn what_is_found_has_the_words_that_were_looked_for() {
        let words = |text: &str| text.split_whitespace().flat_map(str::chars).map(fold).collect::<String>();
        let texts = ["a\n b\n", "a b", "\ta\n\n", "“a” b", "b\na", " a  b\nc\n", "1\ta\n2\tb", "c", "a\n\tb c"];
        for text in texts.map(|text| texts.concat() + text) {
            for old in texts {
                let Some(found) = find(&text, old, "") else { panic!("{old:?}") };
                for place in found.places {
                    assert_eq!(words(&text[place]), words(&found.old), "{old:?}");
                }
            }
        }
    }
}

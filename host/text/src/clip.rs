//! Cutting a text to a number of characters, with a mark where it was cut.

use std::borrow::Cow;

/// What ends a text that was cut.
pub const CUT_MARK: &str = "… (cut)";

/// Which part of the budget shows the beginning, as a divisor: the end of a long output (a test's summary, a
/// compiler's last error) is worth more than its start.
const HEAD_SHARE: usize = 5;

/// Returns the text, or its first `most` characters and [`CUT_MARK`]. Does not escape it.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    match nth_character(text, most) {
        None => Cow::Borrowed(text),
        Some(end) => Cow::Owned(format!("{}{CUT_MARK}", &text[..end])),
    }
}

/// The beginning and the end of a text that is too long.
#[derive(Debug, PartialEq, Eq)]
pub struct Ends<'a> {
    /// The first fifth of the budget.
    pub head: &'a str,
    /// The last four fifths of the budget.
    pub tail: &'a str,
    /// How many characters were left out between them.
    pub left_out: usize,
    /// How many characters the text has in all.
    pub all: usize,
}

/// Returns the ends of a text with more than `budget` characters; `None` if it fits.
pub fn ends(text: &str, budget: usize) -> Option<Ends<'_>> {
    nth_character(text, budget)?;
    let all = text.chars().count();
    let head = budget / HEAD_SHARE;
    let tail = budget - head;
    let head_end = nth_character(text, head)?;
    let tail_start = nth_character(text, all - tail)?;
    Some(Ends { head: &text[..head_end], tail: &text[tail_start..], left_out: all - budget, all })
}

/// Returns where the character with this index begins; `None` if the text has no more than `index` characters.
fn nth_character(text: &str, index: usize) -> Option<usize> {
    // No text has more characters than bytes, so most texts need not be counted.
    if text.len() <= index {
        return None;
    }
    text.char_indices().nth(index).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_clipped_is_marked() {
        for (text, most, want) in
            [("", 0, ""), ("abc", 3, "abc"), ("abcd", 3, "abc… (cut)"), ("äöü", 3, "äöü"), ("äöü", 2, "äö… (cut)")]
        {
            assert_eq!(clip(text, most), want);
        }
    }

    #[test]
    fn text_ends_are_a_fifth_and_four_fifths() {
        assert_eq!(ends("0123456789", 10), None);
        assert_eq!(ends("äöüßé", 5), None);
        let got = ends("äbcdefghijklmnö", 10).expect("it is longer");
        assert_eq!(got, Ends { head: "äb", tail: "hijklmnö", left_out: 5, all: 15 });
    }
}

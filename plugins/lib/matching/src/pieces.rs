//! A text in which places were replaced, with where each part comes from.

use std::ops::Range;

/// A text after a replacement, in pieces.
#[derive(Debug, Default, PartialEq)]
pub struct Text {
    /// The pieces in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a text after a replacement.
#[derive(Debug, PartialEq)]
pub struct Piece {
    /// The piece itself.
    pub text: String,
    /// For a piece of the old text: how many line breaks come before it there. `None` for what is new.
    pub kept_from: Option<usize>,
}

/// Puts each text in its place. The places are in order and do not overlap.
pub fn replace_at(text: &str, places: impl IntoIterator<Item = (Range<usize>, String)>) -> Text {
    let mut pieces = Vec::new();
    let (mut at, mut breaks) = (0, 0);
    let count = |part: &str| part.bytes().filter(|&byte| byte == b'\n').count();
    for (place, new) in places {
        let (before, old) = (text.get(at..place.start).unwrap_or(""), text.get(place.clone()).unwrap_or(""));
        pieces.push(Piece { text: before.to_owned(), kept_from: Some(breaks) });
        pieces.push(Piece { text: new, kept_from: None });
        breaks += count(before) + count(old);
        at = place.end;
    }
    let rest = text.get(at..).unwrap_or("");
    let last_is_empty = rest.is_empty();
    pieces.push(Piece { text: rest.to_owned(), kept_from: Some(breaks) });
    // A file that ended with a line break still does, though a model seldom thinks of the last one.
    let ends = pieces.iter().rev().find(|piece| !piece.text.is_empty()).is_none_or(|last| last.text.ends_with('\n'));
    if text.ends_with('\n') && last_is_empty && !ends {
        pieces.push(Piece { text: "\n".to_owned(), kept_from: None });
    }
    Text { pieces }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.pieces.iter().try_for_each(|piece| f.write_str(&piece.text))
    }
}

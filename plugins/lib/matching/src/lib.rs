//! Text of a model's, found in a file that it copied it from.
//!
//! Owns the ways in which a copy may differ from the file (punctuation, white space, line numbers, escapes), and what
//! comes in place of the text that was found: the characters that an edit does not change stay the file's own.
//!
//! Promises: a copy is found by what it says, never by likeness; what is found has as many lines as the copy, blank
//! lines at its ends aside, and the same characters but for white space and the form of quotes, dashes and spaces.
//!
//! Deliberately not here: reading files, and text that is only similar, where an edit may land in a wrong place.

mod carry;
mod find;
mod fold;
mod nearest;
mod pieces;
mod reading;
mod text_file;

pub use carry::carry;
pub use find::{Closeness, Found, LinesPlace, find, find_lines, line_of};
pub use nearest::{Nearest, nearest};
pub use pieces::{Piece, Text, replace_at};
pub use text_file::TextFile;

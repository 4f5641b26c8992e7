//! Typing without a terminal: bytes through the same keys and the same editor.
//!
//! Owns nothing of its own; it is how a caller without a terminal, such as a test, reaches the two. Deliberately not
//! here: keys that the editor does not take, which are dropped.

use crate::editor::Editor;
use crate::keys::{Keys, Lines};

/// The text that was written, and how it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The text; a long paste is one character of it.
    pub text: String,
    /// The byte of the text before which the cursor is.
    pub cursor: usize,
    /// The rows.
    pub drawn: Vec<String>,
    /// The row and the column of the cursor among them.
    pub drawn_cursor: (usize, usize),
}

/// Types what a terminal sends, in these pieces, into an empty text, and draws it on so many columns and rows.
pub fn typed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, columns: usize, rows: usize) -> Typed {
    let mut keys = Keys::new(Lines::Raw);
    let mut editor = Editor::default();
    for piece in pieces {
        for key in keys.feed(piece) {
            editor.key(&key);
        }
    }
    let live = editor.look("> ", columns, rows);
    Typed {
        text: editor.text().to_owned(),
        cursor: editor.before().len(),
        drawn: live.rows,
        drawn_cursor: live.cursor.unwrap_or_default(),
    }
}

//! Bytes from a terminal.

use host_terminal::typed;
use unicode_segmentation::UnicodeSegmentation;

use crate::shown;

/// What is typed is the same however the bytes were cut; the cursor is between two characters as a user sees them; what
/// is drawn is as large as it may be, and steers nothing.
pub fn typing(data: &[u8]) {
    let columns = 1 + data.len() % 30;
    let rows = 1 + data.len() % 5;
    let whole = typed([data], columns, rows);
    let cut = typed(data.chunks(1 + data.len() % 7), columns, rows);
    assert_eq!(whole, cut);
    let boundary = whole.text.grapheme_indices(true).any(|(at, _)| at == whole.cursor);
    assert!(boundary || whole.cursor == whole.text.len(), "{whole:?}");
    assert!(!whole.text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{whole:?}");
    assert!((1..=rows).contains(&whole.drawn.len()), "{whole:?}");
    assert!(whole.drawn_cursor.0 < whole.drawn.len(), "{whole:?}");
    whole.drawn.iter().for_each(|row| shown::line(row));
}

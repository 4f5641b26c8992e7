//! The keys of the prompt line, in words: what `?` and a help page show.
//!
//! Deliberately not here: what a key does (`write`), and sequences of bytes (`keys`).

use super::style::Style;
use super::width::{truncate_to_width, width};

/// A key, and what it does.
pub type Binding = (&'static str, &'static str);

/// The keys of the prompt line.
pub const BINDINGS: &[Binding] = &[
    ("Enter", "send; steers a working model"),
    ("Tab", "complete; or send when it is done"),
    ("Alt-Enter, Ctrl-J", "new line"),
    ("Shift-Tab", "next approval mode"),
    ("/", "commands"),
    ("@", "attach a file"),
    ("!", "run a command yourself"),
    ("Up, Down", "earlier prompts"),
    ("Ctrl-R", "search earlier prompts"),
    ("Ctrl-G, Ctrl-X Ctrl-E", "open the editor"),
    ("Ctrl-O", "show the last call whole"),
    ("Ctrl-V", "attach the image in the clipboard"),
    ("Esc", "clear; stop; twice: rewind"),
    ("Ctrl-C", "stop the model; again: quit now"),
    ("Ctrl-D", "quit"),
    ("Ctrl-U, Ctrl-K, Ctrl-W", "delete to the start, end, word"),
    ("Ctrl-Y, Ctrl-_", "put back, undo"),
    ("Ctrl-L", "clear the screen"),
    ("Ctrl-Z", "suspend"),
];

/// Room for a key in a column.
const KEY: usize = 22;

/// The narrowest column for a key and its words.
const COLUMN: usize = 58;

/// Formats the keys in as many columns as fit.
pub(super) fn look(style: Style, columns: usize, max_rows: usize) -> Vec<String> {
    let side_by_side = (columns / COLUMN).clamp(1, 2);
    // Columns are filled downwards, so that keys which belong together stand below each other.
    let height = BINDINGS.len().div_ceil(side_by_side).min(max_rows.max(1));
    let room = columns / side_by_side;
    // Where the words would get no room, the key takes only what it needs.
    let key_room = if room < COLUMN - 10 { 0 } else { KEY };
    let cell = |(key, words): &Binding| {
        let gap = " ".repeat(key_room.saturating_sub(width(key)));
        let line = truncate_to_width(&format!("{key}{gap}  {words}"), room.saturating_sub(2));
        let words = line.strip_prefix(key).unwrap_or_default();
        let key = line.strip_suffix(words).unwrap_or(&line);
        (width(&line), format!("{}{}", style.bold(key), style.dim(words)))
    };
    (0..height)
        .map(|row| {
            let mut line = String::new();
            for at in (row..BINDINGS.len()).step_by(height).take(side_by_side) {
                let Some(binding) = BINDINGS.get(at) else { break };
                let (wide, text) = cell(binding);
                line.push_str(&text);
                line.push_str(&" ".repeat(room.saturating_sub(wide)));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_help_fits_and_lists_every_key_where_there_is_room() {
        let style = Style { colour: false };
        for columns in [20, 40, 80, 120, 200] {
            let rows = look(style, columns, 30);
            assert!(rows.iter().all(|row| width(row) <= columns), "{rows:?}");
            assert!(BINDINGS.iter().all(|(key, _)| columns < 30 || rows.join("\n").contains(key)), "{rows:#?}");
        }
        assert!(look(style, 120, 30).len() <= BINDINGS.len().div_ceil(2));
        assert_eq!(look(style, 80, 5).len(), 5);
    }
}

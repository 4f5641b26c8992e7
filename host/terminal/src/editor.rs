//! The text that is being written: what keys do to it, and how it is drawn.
//!
//! It has any number of lines. The cursor is between two grapheme clusters, never within one. A long paste is one
//! character, which stands for it. Deliberately not here: where earlier texts come from, and what a text means.

mod folds;
mod undo;
mod vim;

use host_text::{Escaper, Newlines};
use unicode_segmentation::UnicodeSegmentation;

pub(crate) use self::folds::Draft;
use self::folds::{Folds, is_mark, paste_label};
use self::undo::Undo;
use self::vim::Vim;
use super::keys::Key;
use super::screen::Live;
use super::width::{truncate_to_width, width};

/// The longest text that can be written here, in bytes. Protects the time that drawing it takes.
const MAX_TEXT: usize = 1 << 20;

/// A text and the user's position in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Editor {
    text: String,
    /// Always at a boundary between two clusters.
    at: usize,
    /// The text that was deleted last.
    deleted: String,
    /// Whether that was whole lines.
    deleted_lines: bool,
    folds: Folds,
    undo: Undo,
    /// `None` if keys are as in a shell.
    vim: Option<Vim>,
}

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// The text or the cursor has changed, or could not change.
    Yes,
    /// The key goes up from the first line.
    Above,
    /// The key goes down from the last line.
    Below,
    /// The key does not belong to the editor.
    No,
}

impl Editor {
    /// Creates an editor with vim's keys.
    pub(super) fn with_vim() -> Self {
        Self { vim: Some(Vim::default()), ..Self::default() }
    }

    /// Returns the text; each fold is one character.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text with each fold as it was pasted.
    pub(super) fn expanded(&self) -> String {
        self.folds.expanded(&self.text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether letters are commands, as in vim's normal mode; `None` without vim's keys.
    pub(super) fn takes_commands(&self) -> Option<bool> {
        self.vim.is_some().then(|| self.is_commanded())
    }

    /// Returns the text before the cursor.
    pub(super) fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// Whether the cursor is at the end of a word: nothing or a blank is behind it.
    pub(super) fn is_behind_word(&self) -> bool {
        !self.after().starts_with(|c: char| !c.is_whitespace())
    }

    fn after(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Replaces the text and puts the cursor at its end.
    pub(super) fn set(&mut self, text: impl Into<String>) {
        self.clear();
        let text = text.into();
        if text.contains(is_mark) {
            self.insert(&text);
        } else {
            self.text = text;
            self.at = self.text.len();
        }
        self.vim_clamp();
    }

    /// Writes a text again that was taken.
    pub(super) fn restore(&mut self, draft: Draft) {
        self.clear();
        self.text = draft.text;
        self.folds = draft.folds;
        self.at = self.text.len();
        self.vim_clamp();
    }

    /// Returns the text and clears the editor.
    pub(super) fn take_draft(&mut self) -> Draft {
        let draft = Draft { text: std::mem::take(&mut self.text), folds: std::mem::take(&mut self.folds) };
        self.clear();
        draft
    }

    /// Removes the text. Vim's keys begin in the insert mode again.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.at = 0;
        self.folds = Folds::default();
        self.undo.clear();
        if let Some(vim) = &mut self.vim {
            *vim = Vim::default();
        }
    }

    /// Whether a text begins with a fold, so that a reader does not see how it begins.
    pub(super) fn begins_folded(&self) -> bool {
        self.text.trim_start().chars().next().is_some_and(|first| self.folds.label(first).is_some())
    }

    /// Shows every fold as it was pasted.
    pub(super) fn unfold(&mut self) {
        let text = self.expanded();
        self.set(text);
    }

    pub(super) fn insert(&mut self, text: &str) {
        match text.contains(is_mark) {
            true => self.insert_folded(text, &paste_label(text).unwrap_or_default()),
            false => self.insert_plain(text),
        }
    }

    /// Inserts a text that is shown as this label.
    pub(super) fn insert_folded(&mut self, text: &str, label: &str) {
        if self.text.len() + self.folds.bytes() + text.len() <= MAX_TEXT
            && let Some(mark) = self.folds.add(text.to_owned(), label.to_owned())
        {
            self.insert_plain(mark.encode_utf8(&mut [0; 4]));
        }
    }

    /// Returns whether there is room for a text, folded or not.
    pub(super) fn has_room_for(&self, text: &str) -> bool {
        // A fold is one character beside its text.
        self.text.len() + self.folds.bytes() + text.len() + char::MAX.len_utf8() <= MAX_TEXT
    }

    fn insert_plain(&mut self, text: &str) {
        if self.text.len() + self.folds.bytes() + text.len() <= MAX_TEXT {
            self.undo.keep(&self.text, self.at, text.chars().count() == 1 && !text.starts_with(char::is_whitespace));
            self.text.insert_str(self.at, text);
            self.at += text.len();
            self.leave_cluster();
        }
    }

    /// Keeps the text before a change that deletes or replaces.
    fn keep(&mut self) {
        self.undo.keep(&self.text, self.at, false);
    }

    fn undo_once(&mut self) {
        if let Some((text, at)) = self.undo.back(&self.text) {
            self.text = text;
            self.at = at;
            self.leave_cluster();
        }
    }

    /// Leaves the cluster: a mark joins the letter before it, and the cursor cannot be between the two.
    fn leave_cluster(&mut self) {
        let boundaries = self.text.grapheme_indices(true).map(|(at, _)| at);
        self.at = boundaries.into_iter().find(|at| *at >= self.at).unwrap_or(self.text.len());
    }

    /// Replaces the last so many bytes before the cursor with this text.
    pub(super) fn complete(&mut self, bytes: usize, text: &str) {
        let from = self.at.saturating_sub(bytes);
        if self.text.is_char_boundary(from) {
            self.keep();
            self.text.replace_range(from..self.at, "");
            self.at = from;
            self.insert(text);
        }
    }

    /// Applies a key.
    pub(super) fn key(&mut self, key: &Key) -> Edited {
        if let Some(edited) = self.vim_key(key) {
            self.leave_cluster();
            return edited;
        }
        let edited = self.common_key(key);
        self.vim_clamp();
        edited
    }

    fn common_key(&mut self, key: &Key) -> Edited {
        match key {
            Key::Char(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            // A long paste would fill the screen; what stands for it can be moved and deleted as one.
            Key::Paste(text) => match paste_label(text) {
                Some(label) => self.insert_folded(text, &label),
                None => self.insert(text),
            },
            Key::Undo => self.undo_once(),
            Key::NewLine => self.insert("\n"),
            Key::Backspace => self.delete(self.left(), self.at),
            // As in a shell: on a text that is not empty Ctrl-D deletes.
            Key::Delete | Key::EndOfInput => self.delete(self.at, self.right()),
            Key::DeleteWord => self.cut(self.word_left(), self.at),
            Key::DeleteWordAfter => self.cut(self.at, self.word_right()),
            Key::DeleteToStart => self.cut(self.line_start(), self.at),
            // At the end of a line Ctrl-K takes the line break, as in readline.
            Key::DeleteToEnd if self.line_end() == self.at => self.cut(self.at, self.right()),
            Key::DeleteToEnd => self.cut(self.at, self.line_end()),
            Key::PutBack => self.insert(&self.deleted.clone()),
            Key::Left => self.at = self.left(),
            Key::Right => self.at = self.right(),
            Key::WordLeft => self.at = self.word_left(),
            Key::WordRight => self.at = self.word_right(),
            Key::Home => self.at = self.line_start(),
            Key::End => self.at = self.line_end(),
            // Only beyond the first and the last line do arrows mean earlier and later prompts.
            Key::Up if self.line_start() > 0 => self.move_to_line(self.line_start() - 1),
            Key::Down if self.line_end() < self.text.len() => self.move_to_line(self.line_end() + 1),
            Key::Up => return Edited::Above,
            Key::Down => return Edited::Below,
            Key::Enter
            | Key::Tab
            | Key::BackTab
            | Key::Escape
            | Key::Interrupt
            | Key::Redraw
            | Key::Suspend
            | Key::Search
            | Key::Edit
            | Key::Chord
            | Key::LongPaste
            | Key::PasteImage
            | Key::Expand
            | Key::FocusIn
            | Key::FocusOut => return Edited::No,
        }
        Edited::Yes
    }

    fn left(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn right(&self) -> usize {
        self.at + self.after().graphemes(true).next().map_or(0, str::len)
    }

    fn word_left(&self) -> usize {
        let mut words = self.before().split_word_bound_indices().rev();
        words.find(|(_, word)| !word.trim().is_empty()).map_or(0, |(at, _)| at)
    }

    fn word_right(&self) -> usize {
        let mut words = self.after().split_word_bound_indices();
        words.find(|(_, word)| !word.trim().is_empty()).map_or(self.text.len(), |(at, word)| self.at + at + word.len())
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.after().find('\n').map_or(self.text.len(), |at| self.at + at)
    }

    /// Moves to the line of this position, keeping the column.
    fn move_to_line(&mut self, place: usize) {
        let column = width(self.text.get(self.line_start()..self.at).unwrap_or_default());
        self.at = place;
        let (start, end) = (self.line_start(), self.line_end());
        let line = self.text.get(start..end).unwrap_or_default();
        let reached = line.grapheme_indices(true).find(|(at, cluster)| width(&line[..at + cluster.len()]) > column);
        self.at = start + reached.map_or(line.len(), |(at, _)| at);
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.keep();
        self.text.replace_range(from..to, "");
        self.at = from;
        self.leave_cluster();
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to {
            self.deleted = self.text.get(from..to).unwrap_or_default().to_owned();
            self.deleted_lines = false;
            self.delete(from, to);
        }
    }

    /// Draws the text behind a prompt: at most so many rows, those around the cursor.
    pub(super) fn look(&self, prompt: &str, columns: usize, max_rows: usize) -> Live {
        let indent = width(prompt);
        let room = columns.saturating_sub(indent + 1).max(2);
        let mut rows = vec![String::new()];
        let (mut cursor, mut column) = ((0, 0), 0);
        // Whether a joiner stays depends on the cluster behind it.
        let mut escaper = Escaper::new(Newlines::Escape);
        for (at, cluster) in self.text.grapheme_indices(true) {
            if at == self.at {
                cursor = (rows.len() - 1, column);
            }
            if cluster == "\n" {
                rows.push(String::new());
                column = 0;
                continue;
            }
            let label = cluster.chars().next().and_then(|mark| self.folds.label(mark));
            let shown = match label {
                Some(label) => escaper.push(&truncate_to_width(label, room)),
                // A tab has no fixed width, and moves the cursor to where nobody counts it.
                None => escaper.push(if cluster == "\t" { "    " } else { cluster }),
            };
            // Broken by this editor and not by the terminal, which does not say where.
            if column + width(&shown) > room {
                rows.push(String::new());
                column = 0;
                if at == self.at {
                    cursor = (rows.len() - 1, 0);
                }
            }
            column += width(&shown);
            if let Some(row) = rows.last_mut() {
                row.push_str(&shown);
            }
        }
        let rest = escaper.finish();
        column += width(&rest);
        if let Some(row) = rows.last_mut() {
            row.push_str(&rest);
        }
        if self.at == self.text.len() {
            cursor = (rows.len() - 1, column);
        }
        let first = (cursor.0 + 1).saturating_sub(max_rows.max(1));
        let begin = |number: usize| if number == 0 { prompt.to_owned() } else { " ".repeat(indent) };
        let shown = rows.iter().enumerate().skip(first).take(max_rows.max(1));
        Live {
            rows: shown.map(|(number, row)| format!("{}{row}", begin(number))).collect(),
            cursor: Some((cursor.0 - first, indent + cursor.1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(text: &str, keys: &[Key]) -> String {
        let mut editor = Editor::default();
        editor.set(text);
        for key in keys {
            editor.key(key);
        }
        format!("{}|{}", editor.before(), editor.after())
    }

    #[test]
    fn keys_do_what_they_do_everywhere() {
        use Key::*;
        for (text, keys, expected) in [
            ("", vec![Char('a'), Char('b'), Left, Char('c')], "ac|b"),
            ("one two", vec![DeleteWord], "one |"),
            ("one two", vec![WordLeft, WordLeft, DeleteWordAfter], "| two"),
            ("one two", vec![Home, Delete, End, Backspace], "ne tw|"),
            ("one two", vec![WordLeft, DeleteToStart, End, PutBack], "twoone |"),
            ("a\nbc\nd", vec![Up, Up, End], "a|\nbc\nd"),
            ("a\nbc\nd", vec![Up, DeleteToEnd], "a\nb|\nd"),
            ("a\nb", vec![Home, Up, End, DeleteToEnd], "a|b"),
            ("日本", vec![Left, Backspace], "|本"),
            ("e\u{301}x👨‍👩‍👧", vec![Backspace, Left, Backspace], "|x"),
            ("a", vec![Paste("x\ny".to_owned()), NewLine], "ax\ny\n|"),
            ("one two", vec![DeleteWord, DeleteWord, Undo], "one |"),
            ("", vec![Char('a'), Char('b'), Char(' '), Char('c'), Undo], "ab |"),
            ("", vec![Char('a'), Char('b'), Undo, Undo], "|"),
        ] {
            assert_eq!(typed(text, &keys), expected, "{text:?} {keys:?}");
        }
    }

    #[test]
    fn terminal_long_paste_is_one_character_that_is_sent_whole() {
        let paste = "line\n".repeat(200);
        let mut editor = Editor::default();
        editor.insert("see ");
        editor.key(&Key::Paste(paste.clone()));
        assert_eq!(editor.look("> ", 80, 5).rows, ["> see [pasted 200 lines]"]);
        assert_eq!(editor.look("> ", 12, 5).rows, ["> see ", "  [pasted …"], "it is cut where it does not fit");
        editor.key(&Key::Char('!'));
        assert_eq!(editor.expanded(), format!("see {paste}!"));
        editor.key(&Key::Backspace);
        editor.key(&Key::Backspace);
        assert_eq!(editor.expanded(), "see ");
        editor.key(&Key::Undo);
        assert_eq!(editor.expanded(), format!("see {paste}"));
        let draft = editor.take_draft();
        assert_eq!((draft.shown(), draft.expanded()), ("see [pasted 200 lines]".into(), format!("see {paste}")));
        assert!(editor.is_empty());
        editor.restore(draft);
        editor.unfold();
        assert_eq!(editor.text(), format!("see {paste}"));
    }

    #[test]
    fn terminal_text_that_looks_like_a_fold_is_folded_itself_and_not_lost() {
        let mut editor = Editor::default();
        editor.key(&Key::Paste("x\n".repeat(20)));
        for key in [Key::Char('\u{100000}'), Key::Paste("a\u{100000}b".into())] {
            editor.key(&key);
        }
        assert_eq!(editor.expanded(), "x\n".repeat(20) + "\u{100000}a\u{100000}b");
        editor.set("\u{100000}");
        editor.key(&Key::Paste("y\n".repeat(20)));
        assert_eq!(editor.expanded(), "\u{100000}".to_owned() + &"y\n".repeat(20));
    }

    #[test]
    fn a_long_text_is_seen_around_the_cursor() {
        let mut editor = Editor::default();
        editor.set("abcdefghij\nk");
        let live = editor.look("> ", 8, 10);
        assert_eq!((live.rows, live.cursor), (vec!["> abcde".into(), "  fghij".into(), "  k".into()], Some((2, 3))));
        let live = editor.look("> ", 8, 2);
        assert_eq!((live.rows, live.cursor), (vec!["  fghij".into(), "  k".into()], Some((1, 3))));
    }

    #[test]
    fn nothing_in_it_steers_the_terminal() {
        let mut editor = Editor::default();
        editor.set("a\u{202e}b");
        assert_eq!(editor.look("", 40, 1).rows, ["a\\u{202e}b"]);
    }

    proptest! {
        #[test]
        fn no_keys_break_it(keys in proptest::collection::vec(prop_oneof![
            Just(Key::Left), Just(Key::Right), Just(Key::Up), Just(Key::Down), Just(Key::Home), Just(Key::End),
            Just(Key::Backspace), Just(Key::Delete), Just(Key::WordLeft), Just(Key::WordRight), Just(Key::DeleteWord),
            Just(Key::DeleteWordAfter), Just(Key::DeleteToStart), Just(Key::DeleteToEnd), Just(Key::PutBack),
            Just(Key::NewLine), any::<char>().prop_map(Key::Char), Just(Key::Char('\u{301}')), Just(Key::Char('👨')),
            Just(Key::Char('\u{200d}')),
        ], 0..80), columns in 1usize..30) {
            let mut editor = Editor::default();
            for key in &keys {
                editor.key(key);
                prop_assert!(editor.text.is_char_boundary(editor.at));
                let live = editor.look("› ", columns, 3);
                prop_assert!(live.rows.len() <= 3 && live.cursor.is_some_and(|(row, _)| row < live.rows.len()));
            }
        }
    }
}

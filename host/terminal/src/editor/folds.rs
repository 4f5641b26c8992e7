//! Texts that are shown folded: a long paste as `[pasted 200 lines]`, an image by its name.
//!
//! Each is one character of the text that is being written, from a plane of Unicode that has no characters of its own.
//! So the cursor steps over it and Backspace removes it as one. A text from outside that has such a character is folded
//! as a whole, so that none is ever taken for a fold, and none is lost.
//!
//! Deliberately not here: editing.

use host_text::counted;

/// A paste of more lines is folded: it would fill the rows for the text that is being written.
const UNFOLDED_LINES: usize = 8;

/// A paste of more characters is folded, for the same reason.
const UNFOLDED_CHARACTERS: usize = 1_000;

/// The first of the characters that stand for a fold, in the last plane of Unicode, which is for private use.
const FIRST_MARK: u32 = 0x10_0000;

/// The most folds of one text. Protects memory.
const MAX_FOLDS: usize = 1_000;

/// The folds of a text, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folds(Vec<Fold>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fold {
    text: String,
    label: String,
}

/// A text that was written, with its folds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(super) text: String,
    pub(super) folds: Folds,
}

impl Folds {
    /// Adds a text and returns the character that stands for it; `None` if there are too many.
    pub(super) fn add(&mut self, text: String, label: String) -> Option<char> {
        let number = u32::try_from(self.0.len()).ok().filter(|_| self.0.len() < MAX_FOLDS)?;
        let mark = char::from_u32(FIRST_MARK + number)?;
        self.0.push(Fold { text, label });
        Some(mark)
    }

    /// Returns what is shown for a character that stands for a fold.
    pub(super) fn label(&self, mark: char) -> Option<&str> {
        self.find(mark).map(|fold| fold.label.as_str())
    }

    /// Returns how many bytes all folds have.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|fold| fold.text.len()).sum()
    }

    /// Returns the text with each fold as it was pasted.
    pub(super) fn expanded(&self, text: &str) -> String {
        self.replaced(text, |fold| &fold.text)
    }

    /// Returns the text with each fold as it is shown.
    fn shown(&self, text: &str) -> String {
        self.replaced(text, |fold| &fold.label)
    }

    fn replaced<'a>(&'a self, text: &str, by: impl Fn(&'a Fold) -> &'a str) -> String {
        let mut whole = String::with_capacity(text.len());
        for character in text.chars() {
            match self.find(character) {
                Some(fold) => whole.push_str(by(fold)),
                None => whole.push(character),
            }
        }
        whole
    }

    fn find(&self, mark: char) -> Option<&Fold> {
        let number = u32::from(mark).checked_sub(FIRST_MARK)?;
        self.0.get(usize::try_from(number).ok()?)
    }
}

impl Draft {
    /// A text in which nothing is folded.
    pub(crate) fn unfolded(text: &str) -> Self {
        Self { text: text.to_owned(), folds: Folds::default() }
    }

    /// Returns the text with each fold as it was pasted.
    pub(crate) fn expanded(&self) -> String {
        self.folds.expanded(&self.text)
    }

    /// Returns the text with each fold as it is shown.
    pub(crate) fn shown(&self) -> String {
        self.folds.shown(&self.text)
    }
}

/// Whether a character could stand for a fold.
pub(super) fn is_mark(character: char) -> bool {
    u32::from(character) >= FIRST_MARK
}

/// Returns what is shown in place of a pasted text; `None` if it is short enough to be shown itself.
pub(super) fn paste_label(text: &str) -> Option<String> {
    let (lines, characters) = (text.lines().count(), text.chars().count());
    if lines > UNFOLDED_LINES {
        Some(format!("[pasted {}]", counted(lines, "line")))
    } else if characters > UNFOLDED_CHARACTERS || text.contains(is_mark) {
        Some(format!("[pasted {}]", counted(characters, "character")))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fold_is_for_long_pastes_and_for_texts_that_could_pass_for_one() {
        for (text, label) in [
            ("a\nb".to_owned(), None),
            ("x\n".repeat(8), None),
            ("x\n".repeat(9), Some("[pasted 9 lines]")),
            ("x".repeat(1_000), None),
            ("x".repeat(1_001), Some("[pasted 1001 characters]")),
            ("\u{100000}".to_owned(), Some("[pasted 1 character]")),
        ] {
            assert_eq!(paste_label(&text).as_deref(), label, "{} bytes", text.len());
        }
    }

    #[test]
    fn folds_are_limited() {
        let mut folds = Folds::default();
        let added = (0..MAX_FOLDS + 5).filter_map(|n| folds.add(n.to_string(), String::new())).count();
        assert_eq!(added, MAX_FOLDS);
    }
}

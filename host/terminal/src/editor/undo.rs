//! Earlier states of the text that is being written.
//!
//! Typing within a word is one step. Deliberately not here: redoing.

/// The most steps that are kept, and the most bytes of them. Both protect memory.
const MAX_STEPS: usize = 100;
/// See [`MAX_STEPS`].
const MAX_BYTES: usize = 4 << 20;

/// The steps that can be undone, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Undo {
    steps: Vec<(String, usize)>,
    /// Whether the last step is a word that is being typed.
    is_typing: bool,
}

impl Undo {
    /// Keeps a state before it changes. `is_typing`: the change is another character of a word.
    pub(super) fn keep(&mut self, text: &str, at: usize, is_typing: bool) {
        if is_typing && self.is_typing {
            return;
        }
        self.is_typing = is_typing;
        if self.steps.last().is_some_and(|(last, _)| last == text) {
            return;
        }
        self.steps.push((text.to_owned(), at));
        let mut bytes: usize = self.steps.iter().map(|(text, _)| text.len()).sum();
        let mut gone = 0;
        while self.steps.len() - gone > MAX_STEPS || bytes > MAX_BYTES {
            bytes -= self.steps.get(gone).map_or(bytes, |(text, _)| text.len());
            gone += 1;
        }
        self.steps.drain(..gone);
    }

    /// Returns the last state that differs from this text.
    pub(super) fn back(&mut self, text: &str) -> Option<(String, usize)> {
        self.is_typing = false;
        while let Some(step) = self.steps.pop() {
            if step.0 != text {
                return Some(step);
            }
        }
        None
    }

    /// Ends a word: what is typed next is a step of its own.
    pub(super) fn pause(&mut self) {
        self.is_typing = false;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_steps_are_limited_in_number_and_in_bytes() {
        let mut undo = Undo::default();
        (0..MAX_STEPS * 2).for_each(|n| undo.keep(&n.to_string(), 0, false));
        assert_eq!(undo.steps.len(), MAX_STEPS);
        let mut undo = Undo::default();
        (0..9).for_each(|n| undo.keep(&n.to_string().repeat(1 << 20), 0, false));
        assert_eq!(undo.steps.len(), 4);
        undo.keep(&"x".repeat(MAX_BYTES + 1), 0, false);
        assert!(undo.steps.is_empty());
    }
}

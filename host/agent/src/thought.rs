//! The subjects of thoughts: a model that thinks aloud heads each thought with a line `**subject**`.
//!
//! Thoughts arrive in pieces of any length, so the line is collected until it is complete. Other text with asterisks
//! (`a ** b`) does not start its line with them or does not close them, so it is not a subject.

/// The longest subject, in bytes; a longer line is not a heading. Bounds what is collected.
const SUBJECT_BYTES: usize = 400;

const MARK: &str = "**";

/// Finds subjects in the pieces of a thought.
#[derive(Debug, Default)]
pub(crate) struct Subjects {
    line: String,
    /// The rest of this line can no longer be a subject, or its subject has been returned.
    skip: bool,
}

impl Subjects {
    /// Takes the next piece and returns the subject that it completes. One piece rarely completes two; the last one
    /// counts then, since it is what the model is at.
    pub(crate) fn push(&mut self, piece: &str) -> Option<String> {
        let mut found = None;
        for part in piece.split_inclusive('\n') {
            if !self.skip {
                self.line.push_str(part);
                if let Some(subject) = subject(&self.line) {
                    found = Some(subject.to_owned());
                    self.skip = true;
                } else if self.line.len() > SUBJECT_BYTES || !could_begin(&self.line) {
                    self.skip = true;
                }
            }
            if part.ends_with('\n') {
                self.line.clear();
                self.skip = false;
            }
        }
        if self.skip {
            self.line.clear();
        }
        found
    }
}

fn subject(line: &str) -> Option<&str> {
    let (subject, _) = line.trim_start().strip_prefix(MARK)?.split_once(MARK)?;
    let subject = subject.trim();
    (!subject.is_empty() && subject.len() <= SUBJECT_BYTES).then_some(subject)
}

/// Returns whether a line that begins like this can still have a subject.
fn could_begin(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(MARK) || MARK.starts_with(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&str], want: &[&str]) {
        let mut subjects = Subjects::default();
        let got: Vec<_> = pieces.iter().filter_map(|piece| subjects.push(piece)).collect();
        assert_eq!(got, want, "{pieces:?}");
    }

    #[test]
    fn a_line_that_begins_with_one_is_a_subject_however_it_arrives() {
        check(&["**Look around** first"], &["Look around"]);
        check(&["*", "*Look", " around*", "* then ** more **"], &["Look around"]);
        check(&["**One**\n\ntext\n", "  **Two**\nmore"], &["One", "Two"]);
        check(&["**One**\n**Two**\n"], &["Two"]);
    }

    #[test]
    fn other_asterisks_are_no_subject() {
        for text in ["a **b** c", "** **", "****", "**open\nclosed**", "* item", "x\ny **z**\n", ""] {
            check(&[text], &[]);
        }
        check(&["**", &"x".repeat(2 * SUBJECT_BYTES), "**"], &[]);
    }
}

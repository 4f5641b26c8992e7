//! The known options of a program, and what follows them.

use crate::Word;

/// The known options of a program.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The short ones without a value.
    pub flags: &'static str,
    /// The short ones with a value.
    pub valued: &'static str,
    /// The long ones without a value, without their dashes.
    pub long_flags: &'static [&'static str],
    /// The long ones with a value, without their dashes.
    pub long_valued: &'static [&'static str],
}

impl Options {
    /// No option is known.
    pub(crate) const NONE: Self = Self { flags: "", valued: "", long_flags: &[], long_valued: &[] };

    /// Returns the index of the first word after the options and so many operands. The error is the index from which
    /// the words are not understood. Neither is beyond the end of the words.
    pub(crate) fn skip(&self, words: &[Word], operands: usize) -> Result<usize, usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            // A word that is known only at run time can be an option.
            let text = word.literal().ok_or(at)?;
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            at += 1;
            if let Some(long) = text.strip_prefix("--") {
                // A value behind `=` leaves the next word alone.
                let (name, attached) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
                match () {
                    () if self.long_valued.contains(&name) => at += usize::from(!attached),
                    () if self.long_flags.contains(&name) => {}
                    // Abbreviations too: which option one is depends on the version.
                    () => return Err(at),
                }
                continue;
            }
            let mut letters = text[1..].chars();
            while let Some(letter) = letters.next() {
                match letter {
                    // The niceness itself, as in `nice -10`.
                    '0'..='9' if self.long_valued.contains(&"adjustment") => {}
                    letter if self.valued.contains(letter) => {
                        at += usize::from(letters.as_str().is_empty());
                        break;
                    }
                    letter if self.flags.contains(letter) => {}
                    _ => return Err(at),
                }
            }
        }
        for _ in 0..operands {
            words.get(at).and_then(Word::literal).ok_or(at)?;
            at += 1;
        }
        // An option at the end can lack its value: `env -u`. The program itself complains.
        Ok(at.min(words.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_at_the_end_without_their_value_are_read_and_not_beyond() {
        let options = Options { flags: "i", valued: "u", long_flags: &[], long_valued: &["unset"] };
        for line in ["env -u", "env --unset", "env -i -u", "env"] {
            let words: Vec<Word> = line.split(' ').map(Word::literal_of).collect();
            assert_eq!(options.skip(&words, 0), Ok(words.len()), "{line}");
        }
    }
}

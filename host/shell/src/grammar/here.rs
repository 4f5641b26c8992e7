//! Here-documents: their delimiters, and their text, in which substitutions run unless the delimiter is quoted.

use super::parser::{Broken, Parser, Step};
use crate::word::Word;

/// A here-document that begins with the next line.
#[derive(Debug)]
pub(super) struct Here {
    delimiter: String,
    /// Its text is literal.
    quoted: bool,
    /// Tabs at the beginnings of its lines are ignored.
    strip: bool,
}

impl Parser<'_> {
    /// Reads what follows `<<`.
    pub(super) fn here_operator(&mut self) -> Step<()> {
        if self.raw(0) == Some('<') {
            self.mark_unclear("`<<<` is not in every shell");
            self.at += 1;
            return self.target().map(drop);
        }
        let strip = self.raw(0) == Some('-');
        self.at += usize::from(strip);
        let word = self.target()?;
        if word.dynamic || word.glob || word.text.contains('\n') {
            return Err(Broken("the delimiter of a here-document is not a plain word"));
        }
        self.pending.push(Here { delimiter: word.text, quoted: word.quoted, strip });
        Ok(())
    }

    /// Reads the here-documents that begin here, at the start of a line.
    pub(super) fn here_documents(&mut self) {
        // The text begins at the next line, whatever follows the operator on its own line.
        for here in std::mem::take(&mut self.pending) {
            let (mut text, mut ended) = (String::new(), false);
            while !ended && self.at < self.chars.len() {
                let rest = &self.chars[self.at..];
                let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at = (self.at + length + 1).min(self.chars.len());
                // Tabs alone, and no spaces.
                let bare = if here.strip { line.trim_start_matches('\t') } else { &line };
                ended = bare == here.delimiter;
                if !ended {
                    // An odd number continues the line before the delimiter is looked for, so the end moves.
                    let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
                    if !here.quoted && backslashes % 2 == 1 {
                        self.mark_unclear("a line of a here-document is continued");
                    }
                    text.push_str(&line);
                    text.push('\n');
                }
            }
            if !ended {
                self.mark_unclear("a here-document has no end");
            }
            // Only without quotes are there expansions in it, and with them commands.
            if !here.quoted {
                self.here_text(&text);
            }
        }
    }

    /// Reads the substitutions in the text of a here-document.
    fn here_text(&mut self, text: &str) {
        let (chars, found) = (text.chars().collect(), &mut *self.found);
        let (depth, nested) = (self.depth, self.nested);
        let mut parser = Parser { chars, at: 0, depth, nested, pending: Vec::new(), outer_pending: true, found };
        let mut word = Word::default();
        while parser.at < parser.chars.len() {
            if let Err(Broken(why)) = parser.quoted_piece(&mut word) {
                parser.mark_unclear(why);
                return;
            }
        }
    }
}

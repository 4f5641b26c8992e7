//! Words and their quotes; `expansion.rs` reads what begins with a `$` or a backquote.

use super::parser::{Broken, Parser, Step, is_meta};
use crate::word::{UNKNOWN, Word};

/// Where a brace expansion could be: after `{`, and after a `,` or `..` behind it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Brace {
    #[default]
    None,
    Open,
    Parted,
}

/// What unquoted characters of a word have begun.
#[derive(Default)]
struct Unquoted {
    brace: Brace,
    bracket: bool,
}

impl Unquoted {
    /// Follows one more character of a word, and marks what it makes of the word.
    fn follow(&mut self, c: char, word: &mut Word) {
        match c {
            '*' | '?' => word.glob = true,
            '[' => self.bracket = true,
            ']' if self.bracket => word.glob = true,
            '{' => self.brace = Brace::Open,
            ',' if self.brace == Brace::Open => self.brace = Brace::Parted,
            '.' if self.brace == Brace::Open && word.text.ends_with('.') => self.brace = Brace::Parted,
            // Braces without a comma or dots are not expanded.
            '}' if self.brace == Brace::Parted => word.brace = true,
            // A tilde counts at the beginning of a word, and only unquoted.
            '~' if word.text.is_empty() && !word.quoted => word.tilde = true,
            _ => {}
        }
    }
}

impl Parser<'_> {
    /// Reads a word.
    pub(super) fn word(&mut self) -> Step<Word> {
        // Braces, brackets and dots are followed while reading, since quotes end their meaning.
        let (start, mut word, mut unquoted) = (self.at, Word::default(), Unquoted::default());
        // Looked at in front: a quote in the name makes it no assignment.
        let name_end = self.assignment_name();
        while let Some(c) = self.peek() {
            match c {
                // A process runs in it, and its name is a word.
                '<' | '>' if self.raw(1) == Some('(') => {
                    self.mark_unclear("a process substitution is not in every shell");
                    self.at += 2;
                    self.substitution()?;
                    Self::unknown(&mut word, false);
                    continue;
                }
                // `{fd}>x` is one redirection for bash, and a word before one for dash.
                '<' | '>' if word.text.starts_with('{') && word.text.ends_with('}') => {
                    self.mark_unclear("a redirection names its descriptor, which is not in every shell");
                    break;
                }
                c if is_meta(c) => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.at += 1;
                    word.quoted = true;
                    match self.raw(0) {
                        // Taken as it is: an escaped character never has a meaning.
                        Some(c) => self.push(&mut word, c),
                        None => self.mark_unclear("it ends with a backslash"),
                    }
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backquoted(&mut word, false)?,
                c => {
                    unquoted.follow(c, &mut word);
                    self.push(&mut word, c);
                }
            }
            // Where the name ends the value begins, with a tilde and quotes of its own.
            if name_end == Some(self.at) {
                word.assigns = Some(word.text.len());
                if self.raw(0) == Some('+') {
                    self.mark_unclear("`+=` is not in every shell");
                    self.at += 1;
                }
            }
        }
        self.mark_expansions(&word);
        if self.at == start {
            return Err(Broken("a word is missing"));
        }
        // The text of the here-document begins at the next line break, and here one is within a word.
        if !self.pending.is_empty() && self.chars[start..self.at].contains(&'\n') {
            self.mark_unclear("a word has several lines before a here-document begins");
        }
        Ok(word)
    }

    /// Marks what only some shells expand.
    fn mark_expansions(&mut self, word: &Word) {
        if word.brace {
            self.mark_unclear("a brace expansion is not in every shell");
        }
        if word.tilde && word.text[1..].starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) {
            self.mark_unclear("`~+` and `~-` are not in every shell");
        }
    }

    /// Returns where the name of an assignment ends, if one begins here.
    fn assignment_name(&mut self) -> Option<usize> {
        self.peek();
        let name = self.chars[self.at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
        let starts = self.raw(0).is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let assigns = match self.raw(name) {
            Some('+') => self.raw(name + 1) == Some('='),
            next => next == Some('='),
        };
        (starts && assigns).then_some(self.at + name)
    }

    /// Takes a character literally, and moves on.
    pub(super) fn push(&mut self, word: &mut Word, c: char) {
        if c == UNKNOWN || c.is_control() && !matches!(c, '\t' | '\n') {
            self.mark_unclear("it has a control character");
        } else if !c.is_ascii() && (c.is_whitespace() || host_text::is_unsafe(c)) {
            self.mark_unclear("it has a character that looks like a blank, or like nothing");
        }
        word.text.push(c);
        self.at += 1;
    }

    pub(super) fn single_quoted(&mut self, word: &mut Word) -> Step<()> {
        word.quoted = true;
        self.at += 1;
        loop {
            match self.raw(0) {
                None => return Err(Broken("a `'` is not closed")),
                Some('\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(c) => self.push(word, c),
            }
        }
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word) -> Step<()> {
        self.enter()?;
        word.quoted = true;
        self.at += 1;
        loop {
            match self.raw(0) {
                None => return Err(Broken("a `\"` is not closed")),
                Some('"') => break,
                Some(_) => self.quoted_piece(word)?,
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    /// Reads one piece of text between double quotes, or in a here-document.
    pub(super) fn quoted_piece(&mut self, word: &mut Word) -> Step<()> {
        match (self.raw(0), self.raw(1)) {
            (Some('\\'), Some('\n')) => self.at += 2,
            (Some('\\'), Some(c @ ('$' | '`' | '"' | '\\'))) => {
                self.at += 1;
                self.push(word, c);
            }
            (Some('$'), _) => self.dollar(word, true)?,
            (Some('`'), _) => self.backquoted(word, true)?,
            (Some(c), _) => self.push(word, c),
            (None, _) => {}
        }
        Ok(())
    }
}

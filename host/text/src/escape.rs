//! Escaping: an unsafe character is shown by its code.
//!
//! [`escape`] is for prose that a model, a tool or a server wrote. [`escape_exact`] is for what a decision rests on,
//! such as names, paths, commands and addresses: two texts that differ look different. What either returns has no
//! unsafe character left, and escaping it again changes nothing.
//!
//! A few invisible characters belong to ordinary writing and stay in prose where they change what is seen, one at a
//! time: the zero-width joiner between two symbols (a family is one emoji because of it), a presentation selector
//! behind a symbol or within a keycap, a joiner between letters of a script that joins them (Persian and Hindi are
//! misspelled without), and Mongolian's selectors behind its letters. Tags never stay, not even in the three flags that
//! are made of them: text in tags is not seen at all and is read by every model. A selector or joiner anywhere else
//! could carry data.

use std::borrow::Cow;

use crate::characters::{is_mark, is_mongolian, is_printable, is_symbol, is_unsafe, joins};
use crate::clip::CUT_MARK;

/// What becomes of line feeds and tabs. A carriage return is always escaped: it lets a line write over itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newlines {
    /// They stay: for text of several lines.
    Keep,
    /// They are escaped: the text stays on one line.
    Escape,
}

/// The most combining marks that a letter keeps in an exact text: protects the lines above and below it.
const MOST_MARKS: u8 = 4;

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';
/// Looks like a blank, and is a symbol to Unicode.
const BLANK_BRAILLE: char = '\u{2800}';

/// Makes prose of several lines safe to show: [`escape`], keeping newlines.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, Newlines::Keep)
}

/// Makes prose on one line safe to show: [`escape`], escaping newlines.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, Newlines::Escape)
}

/// Makes a name, path, command or address on one line safe to show: [`escape_exact`], escaping newlines.
pub fn exact(text: &str) -> Cow<'_, str> {
    escape_exact(text, Newlines::Escape)
}

/// Makes prose safe to show.
pub fn escape(text: &str, newlines: Newlines) -> Cow<'_, str> {
    if !text.contains(|c| is_unsafe(c) && !stays(c, newlines)) {
        return Cow::Borrowed(text);
    }
    let mut escaper = Escaper::new(newlines);
    let mut shown = escaper.push(text);
    shown.push_str(&escaper.finish());
    Cow::Owned(shown)
}

/// Returns the first character of a prose text that [`escape`] does not show as it is; `None` if it shows all of it.
pub fn first_escaped(text: &str, newlines: Newlines) -> Option<char> {
    let shown = escape(text, newlines);
    // An escape begins with a backslash, which no character that is escaped is.
    text.chars().zip(shown.chars()).find(|(c, shown)| c != shown).map(|(c, _)| c)
}

/// Makes a text safe to show exactly: besides the unsafe characters, escapes those that look like another one. These
/// are every joiner and selector, blanks other than the usual one, characters of private use, and combining marks that
/// do not follow a letter.
pub fn escape_exact(text: &str, newlines: Newlines) -> Cow<'_, str> {
    let mut marks = Marks::default();
    if text.chars().all(|c| marks.keeps(c, newlines)) {
        return Cow::Borrowed(text);
    }
    let mut marks = Marks::default();
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match marks.keeps(c, newlines) {
            true => shown.push(c),
            false => shown.extend(c.escape_default()),
        }
    }
    Cow::Owned(shown)
}

/// Makes JSON text safe to show, without changing what it means: unsafe characters are escaped as JSON has it, each
/// `\uXXXX`. JSON has them within strings alone, apart from the line feeds and tabs between its values.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.contains(|c| is_unsafe(c) && !stays(c, Newlines::Keep)) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_unsafe(c) && !stays(c, Newlines::Keep) {
            true => shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns the beginning of a foreign text for a message: exact, on one line, at most so many characters.
pub fn excerpt(text: &str, most: usize) -> String {
    exact_and_clipped(text, most, |_| false)
}

/// Returns a foreign name for a message, to be put between backticks: like [`excerpt`], and a backtick cannot end the
/// quotes.
pub fn escape_name(text: &str, most: usize) -> String {
    exact_and_clipped(text, most, |c| c == '`')
}

/// Whether [`excerpt`] returns the text unchanged, so that it can be part of a suggestion.
pub fn is_plain(text: &str, most: usize) -> bool {
    let mut marks = Marks::default();
    text.chars().all(|c| marks.keeps(c, Newlines::Escape)) && text.chars().nth(most).is_none()
}

/// Returns foreign prose for a message: on one line, with one space for each run of white space, at most so many
/// characters.
pub fn one_line(text: &str, most: usize) -> String {
    // Only the part that is shown is read, apart from blanks.
    let mut line = String::with_capacity(text.len().min(most * 4));
    let mut characters = 0;
    for word in text.split_whitespace() {
        if characters > most {
            break;
        }
        let before = line.len();
        if before > 0 {
            line.push(' ');
        }
        line.extend(word.chars().take(most + 1));
        characters += line[before..].chars().count();
    }
    crate::clip(&escape(&line, Newlines::Escape), most).into_owned()
}

fn exact_and_clipped(text: &str, most: usize, quotes: impl Fn(char) -> bool) -> String {
    let mut marks = Marks::default();
    let mut shown = String::new();
    let mut length = 0;
    for c in text.chars() {
        let before = shown.len();
        if quotes(c) {
            shown.extend(c.escape_unicode());
        } else if marks.keeps(c, Newlines::Escape) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
        length += shown[before..].chars().count();
        if length > most {
            shown.truncate(before);
            shown.push_str(CUT_MARK);
            break;
        }
    }
    shown
}

fn stays(c: char, newlines: Newlines) -> bool {
    newlines == Newlines::Keep && matches!(c, '\n' | '\t')
}

/// How many more combining marks are allowed in an exact text.
#[derive(Default)]
struct Marks(u8);

impl Marks {
    /// Whether the next character stays as it is.
    fn keeps(&mut self, c: char, newlines: Newlines) -> bool {
        if c.is_ascii() {
            self.0 = if c.is_ascii_alphabetic() { MOST_MARKS } else { 0 };
            return !c.is_ascii_control() || stays(c, newlines);
        }
        if is_unsafe(c) || !is_printable(c) || c == BLANK_BRAILLE {
            self.0 = 0;
            return false;
        }
        if is_mark(c) {
            let keeps = self.0 > 0;
            self.0 = self.0.saturating_sub(1);
            return keeps;
        }
        self.0 = if c.is_alphabetic() { MOST_MARKS } else { 0 };
        true
    }
}

/// Escapes prose that comes in pieces, of any length.
#[derive(Clone, Debug)]
pub struct Escaper {
    newlines: Newlines,
    before: Before,
    /// A joiner or selector that the next character decides about.
    held: Option<char>,
}

/// What an invisible character follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// Nothing that it could change.
    Other,
    /// A symbol.
    Symbol,
    /// A symbol and its presentation selector.
    Selected,
    /// A digit, `#` or `*`, which can become a keycap.
    Keycap,
    /// A letter of a script that joins its letters.
    Letter,
    /// A letter of Mongolian, which has selectors too.
    Mongolian,
}

impl Escaper {
    /// Creates an escaper at the beginning of a text.
    pub fn new(newlines: Newlines) -> Self {
        Self { newlines, before: Before::Other, held: None }
    }

    /// Takes a piece; returns the text that can be shown so far.
    pub fn push(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.character(c, &mut shown);
        }
        shown
    }

    /// Ends the text: returns what was held back. The next piece begins a new text.
    pub fn finish(&mut self) -> String {
        self.before = Before::Other;
        self.held.take().map(|held| held.escape_default().collect()).unwrap_or_default()
    }

    fn character(&mut self, c: char, shown: &mut String) {
        if let Some(held) = self.held.take() {
            let stays = match held {
                NON_JOINER => joins(c),
                JOINER => is_symbol(c),
                _ => c == KEYCAP,
            };
            match stays {
                true => shown.push(held),
                false => shown.extend(held.escape_default()),
            }
            self.before = Before::Other;
        }
        if !is_unsafe(c) || stays(c, self.newlines) {
            shown.push(c);
            self.before = Before::from_visible(c);
            return;
        }
        match (c, self.before) {
            ('\u{fe0e}' | '\u{fe0f}', Before::Symbol) => {
                shown.push(c);
                self.before = Before::Selected;
            }
            ('\u{fe0e}' | '\u{fe0f}', Before::Keycap)
            | (JOINER, Before::Symbol | Before::Selected)
            | (NON_JOINER, Before::Letter | Before::Mongolian) => self.held = Some(c),
            (JOINER, Before::Letter | Before::Mongolian) => {
                shown.push(c);
                self.before = Before::Other;
            }
            ('\u{180b}'..='\u{180f}', Before::Mongolian) => {
                shown.push(c);
                self.before = Before::Letter;
            }
            _ => {
                shown.extend(c.escape_default());
                self.before = Before::Other;
            }
        }
    }
}

impl Before {
    fn from_visible(c: char) -> Self {
        match c {
            '0'..='9' | '#' | '*' => Self::Keycap,
            c if c.is_ascii() => Self::Other,
            c if is_symbol(c) => Self::Symbol,
            c if is_mongolian(c) => Self::Mongolian,
            c if joins(c) => Self::Letter,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;

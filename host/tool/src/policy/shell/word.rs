//! Words: quoting, expansions and substitutions.

use super::parser::{Broken, Parser, Step, is_meta, program};
use super::{UNKNOWN, Word};

/// Where a brace expansion could be: after `{`, and after a `,` or `..` behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    None,
    Open,
    Parted,
}

impl Parser<'_> {
    /// Reads a word.
    pub(super) fn word(&mut self) -> Step<Word> {
        let (start, mut word, mut brace, mut bracket) = (self.at, Word::default(), Brace::None, false);
        let name_end = self.assignment_name();
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.raw(1) == Some('(') => {
                    self.doubt("a process substitution is not in every shell");
                    self.at += 2;
                    self.substitution()?;
                    Self::unknown(&mut word, false);
                    continue;
                }
                '<' | '>' if word.text.starts_with('{') && word.text.ends_with('}') => {
                    self.doubt("a redirection names its descriptor, which is not in every shell");
                    break;
                }
                c if is_meta(c) => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.at += 1;
                    word.quoted = true;
                    match self.raw(0) {
                        Some(c) => self.push(&mut word, c),
                        None => self.doubt("it ends with a backslash"),
                    }
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backquoted(&mut word, false)?,
                c => {
                    let last_dot = word.text.ends_with('.');
                    match c {
                        '*' | '?' => word.glob = true,
                        '[' => bracket = true,
                        ']' if bracket => word.glob = true,
                        '{' => brace = Brace::Open,
                        ',' if brace == Brace::Open => brace = Brace::Parted,
                        '.' if brace == Brace::Open && last_dot => brace = Brace::Parted,
                        '}' if brace == Brace::Parted => word.brace = true,
                        '~' if word.text.is_empty() && !word.quoted => word.tilde = true,
                        _ => {}
                    }
                    self.push(&mut word, c);
                }
            }
            if name_end == Some(self.at) {
                word.assigns = Some(word.text.len());
                if self.raw(0) == Some('+') {
                    self.doubt("`+=` is not in every shell");
                    self.at += 1;
                }
            }
        }
        if word.brace {
            self.doubt("a brace expansion is not in every shell");
        }
        if self.at == start {
            return Err(Broken("a word is missing"));
        }
        if !self.pending.is_empty() && self.chars[start..self.at].contains(&'\n') {
            self.doubt("a word has several lines before a here-document begins");
        }
        Ok(word)
    }

    /// Where the name of an assignment ends, when one begins here.
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
    fn push(&mut self, word: &mut Word, c: char) {
        if c == UNKNOWN || c.is_control() && !matches!(c, '\t' | '\n') {
            self.doubt("it has a control character");
        } else if !c.is_ascii() && (c.is_whitespace() || is_invisible(c)) {
            self.doubt("it has a character that looks like a blank, or like nothing");
        }
        word.text.push(c);
        self.at += 1;
    }

    fn single_quoted(&mut self, word: &mut Word) -> Step<()> {
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

    fn double_quoted(&mut self, word: &mut Word) -> Step<()> {
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

    /// Reads one piece of what stands between double quotes, or in a here-document.
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

    /// Reads what a `$` begins.
    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Step<()> {
        self.enter()?;
        self.at += 1;
        match self.peek() {
            Some('(') if self.raw(1) == Some('(') => {
                self.at += 2;
                self.arithmetic()?;
                Self::unknown(word, quoted);
            }
            Some('(') => {
                self.at += 1;
                self.substitution()?;
                Self::unknown(word, quoted);
            }
            Some('{') => {
                self.at += 1;
                self.parameter(quoted)?;
                Self::unknown(word, quoted);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                Self::unknown(word, quoted);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                // `"$@"` is several words for all its quotes.
                Self::unknown(word, quoted && c != '@');
            }
            Some('\'') if !quoted => {
                self.doubt("`$'…'` is read differently by different shells");
                self.escaped()?;
                Self::unknown(word, false);
            }
            Some('"') if !quoted => {
                self.doubt("`$\"…\"` is read differently by different shells");
                Self::unknown(word, false);
            }
            Some('[') => {
                self.doubt("`$[…]` is read differently by different shells");
                word.text.push('$');
            }
            _ => word.text.push('$'),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Skips `'…'` in which a backslash escapes.
    fn escaped(&mut self) -> Step<()> {
        self.at += 1;
        loop {
            match self.raw(0) {
                None => return Err(Broken("a `'` is not closed")),
                Some('\'') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads arithmetic behind its `$((`. Bash evaluates the values of variables in it as arithmetic again, in which
    /// a command can be substituted, so only numbers are understood.
    fn arithmetic(&mut self) -> Step<()> {
        let (mut open, mut inner) = (0, Word::default());
        loop {
            match self.raw(0) {
                None => return Err(Broken("an arithmetic expansion is not closed")),
                Some(')') if open > 0 => open -= 1,
                Some(')') if self.raw(1) == Some(')') => {
                    self.at += 2;
                    if inner.dynamic {
                        self.doubt("arithmetic has variables in it");
                    }
                    return Ok(());
                }
                Some(')') => return Err(Broken("`$((` begins no arithmetic")),
                Some('(') => open += 1,
                Some('$') => {
                    self.dollar(&mut inner, true)?;
                    continue;
                }
                Some('`') => {
                    self.backquoted(&mut inner, true)?;
                    continue;
                }
                Some(c) if c.is_ascii_digit() || " \t\n+-*/%<>=!&|^~?:,".contains(c) => {}
                Some(_) => inner.dynamic = true,
            }
            self.at += 1;
        }
    }

    /// Reads a parameter expansion behind its `${`.
    fn parameter(&mut self, quoted: bool) -> Step<()> {
        if self.peek() == Some('#') && self.raw(1) != Some('}') {
            self.at += 1;
        }
        match self.peek() {
            Some('!') if self.raw(1) != Some('}') => self.doubt("an indirect expansion is not in every shell"),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
            }
            Some(c) if c.is_ascii_digit() => {
                while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(c) if "@*#?-$!".contains(c) => self.at += 1,
            _ => return Err(Broken("a parameter expansion names no parameter")),
        }
        if self.peek() == Some(':') && matches!(self.raw(1), Some('-' | '+' | '?' | '=')) {
            self.at += 1;
        }
        match self.peek() {
            Some('}' | '-' | '+' | '?' | '%' | '#') => {}
            Some('=') => self.doubt("an expansion sets a variable"),
            _ => self.doubt("a parameter expansion is not in every shell"),
        }
        let mut operand = Word::default();
        loop {
            match self.peek() {
                None => return Err(Broken("a `${` is not closed")),
                Some('}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\'') => {
                    if quoted {
                        self.doubt("a `'` inside `\"${…}\"` is read differently by different shells");
                        self.at += 1;
                    } else {
                        self.single_quoted(&mut operand)?;
                    }
                }
                Some('"') => self.double_quoted(&mut operand)?,
                Some('\\') => self.at += if self.raw(1).is_some() { 2 } else { 1 },
                Some('$') => self.dollar(&mut operand, quoted)?,
                Some('`') => self.backquoted(&mut operand, quoted)?,
                Some('{' | '(' | '<' | '>') => {
                    self.doubt("an expansion's default is read differently by different shells");
                    if matches!(self.raw(0), Some('<' | '>')) && self.raw(1) == Some('(') {
                        self.at += 2;
                        self.substitution()?;
                    } else {
                        self.at += 1;
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads a command substitution in backquotes, whose text is a program once its backslashes are taken out.
    fn backquoted(&mut self, word: &mut Word, quoted: bool) -> Step<()> {
        self.enter()?;
        self.at += 1;
        let mut text = String::new();
        loop {
            match (self.raw(0), self.raw(1)) {
                (None, _) => return Err(Broken("a backquote is not closed")),
                (Some('`'), _) => break,
                (Some('\\'), Some(c)) if matches!(c, '$' | '`' | '\\') || c == '"' && quoted => {
                    text.push(c);
                    self.at += 2;
                }
                (Some(c), _) => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        program(&text, self.depth, self.nested + 1, self.found);
        Self::unknown(word, quoted);
        self.depth -= 1;
        Ok(())
    }
}

/// Whether the character shows nothing, or moves what stands around it.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

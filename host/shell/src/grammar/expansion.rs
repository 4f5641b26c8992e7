//! Expansions and substitutions in words: their value is unknown, and the commands in them are read.

use super::parser::{Broken, Parser, Step, program};
use crate::word::Word;

impl Parser<'_> {
    /// Reads what begins with a `$`.
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Step<()> {
        // Counted: each level is a call of this function, and a line decides how many there are.
        self.enter()?;
        self.at += 1;
        match self.peek() {
            // `$((` is arithmetic only if it ends with `))`; otherwise it is a substitution that begins with a
            // subshell.
            Some('(') if self.raw(1) == Some('(') => {
                self.at += 2;
                self.arithmetic()?;
                // A number is always one word.
                Self::unknown(word, true);
            }
            Some('(') => {
                self.at += 1;
                self.substitution()?;
                Self::unknown(word, quoted);
            }
            Some('{') => {
                self.at += 1;
                // A length or a status is digits, so it never becomes several words or a pattern.
                let is_number = matches!((self.raw(0), self.raw(1)), (Some('#'), Some(c)) if c != '}')
                    || matches!((self.raw(0), self.raw(1)), (Some('#' | '?' | '$'), Some('}')));
                self.parameter(quoted)?;
                Self::unknown(word, quoted || is_number);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                Self::unknown(word, quoted);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                // `"$@"` is several words despite its quotes, and a number is always one.
                Self::unknown(word, quoted && c != '@' || "#?$".contains(c));
            }
            Some('\'') if !quoted => {
                self.mark_unclear("`$'…'` is read differently by different shells");
                self.escaped()?;
                Self::unknown(word, false);
            }
            Some('"') if !quoted => {
                self.mark_unclear("`$\"…\"` is read differently by different shells");
                Self::unknown(word, false);
            }
            // Arithmetic in bash, and text in dash.
            Some('[') => {
                self.mark_unclear("`$[…]` is read differently by different shells");
                word.text.push('$');
            }
            _ => word.text.push('$'),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Skips `'…'` with backslash escapes.
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

    /// Reads arithmetic after its `$((`. Bash evaluates the values of variables in it as arithmetic again, in which a
    /// command can be substituted, so only numbers are understood.
    fn arithmetic(&mut self) -> Step<()> {
        let (mut open, mut inner) = (0, Word::default());
        loop {
            match self.raw(0) {
                None => return Err(Broken("an arithmetic expansion is not closed")),
                Some(')') if open > 0 => open -= 1,
                Some(')') if self.raw(1) == Some(')') => {
                    self.at += 2;
                    // A variable's value can be `a[$(rm x)]`, which bash evaluates.
                    if inner.dynamic {
                        self.mark_unclear("arithmetic has variables in it");
                    }
                    return Ok(());
                }
                // `$((a) b)` is a subshell in a substitution, and shells differ in where they notice.
                Some(')') => return Err(Broken("`$((` does not begin an arithmetic expansion")),
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

    /// Reads a parameter expansion after its `${`.
    fn parameter(&mut self, quoted: bool) -> Step<()> {
        let is_length = self.peek() == Some('#') && self.raw(1) != Some('}');
        if is_length {
            self.at += 1;
        }
        self.parameter_name()?;
        if self.peek() == Some(':') && matches!(self.raw(1), Some('-' | '+' | '?' | '=')) {
            self.at += 1;
        }
        match self.peek() {
            // Bash and dash disagree about what `${#x-}` is.
            Some(c) if is_length && c != '}' => self.mark_unclear("an operator follows a length"),
            Some('}' | '-' | '+' | '?' | '%' | '#') => {}
            // A default that is assigned stays for the commands behind this one.
            Some('=') => self.mark_unclear("an expansion sets a variable"),
            _ => self.mark_unclear("a parameter expansion is not in every shell"),
        }
        self.operand(quoted)
    }

    /// Reads the name or the sign of a parameter.
    fn parameter_name(&mut self) -> Step<()> {
        match self.peek() {
            // `${!x}` is the value of the variable that `x` names.
            Some('!') if self.raw(1) != Some('}') => self.mark_unclear("an indirect expansion is not in every shell"),
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
            _ => return Err(Broken("a parameter expansion has no name")),
        }
        Ok(())
    }

    /// Reads what follows the operator of a parameter expansion, to its end.
    fn operand(&mut self, quoted: bool) -> Step<()> {
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
                        self.mark_unclear("a `'` inside `\"${…}\"` is read differently by different shells");
                        self.at += 1;
                    } else {
                        self.single_quoted(&mut operand)?;
                    }
                }
                Some('"') => self.double_quoted(&mut operand)?,
                // Whatever it escapes, the value is unknown in any case.
                Some('\\') => self.at += if self.raw(1).is_some() { 2 } else { 1 },
                Some('$') => self.dollar(&mut operand, quoted)?,
                Some('`') => self.backquoted(&mut operand, quoted)?,
                Some('{' | '(' | '<' | '>') => {
                    self.mark_unclear("an expansion's default is read differently by different shells");
                    if matches!(self.raw(0), Some('<' | '>')) && self.raw(1) == Some('(') {
                        self.at += 2;
                        // Read all the same: what may run has to be found, whatever a shell makes of it.
                        self.substitution()?;
                    } else {
                        self.at += 1;
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads a command substitution in backquotes, whose text is a program once its backslashes are removed.
    pub(super) fn backquoted(&mut self, word: &mut Word, quoted: bool) -> Step<()> {
        self.enter()?;
        self.at += 1;
        let mut text = String::new();
        loop {
            match (self.raw(0), self.raw(1)) {
                (None, _) => return Err(Broken("a backquote is not closed")),
                (Some('`'), _) => break,
                // Within quotes a backslash before a quote goes as well.
                (Some('\\'), Some(c)) if matches!(c, '$' | '`' | '\\') || c == '"' && quoted => {
                    self.mark_unclear("a backslash between backquotes is read differently by different shells");
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
        // A program of its own once the backslashes are gone, with the same limits.
        program(&text, self.depth, self.nested + 1, self.found);
        Self::unknown(word, quoted);
        self.depth -= 1;
        Ok(())
    }
}

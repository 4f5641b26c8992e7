//! The grammar of commands: lists and pipelines, and which kind of command begins where.
//!
//! The kinds are read in `compound.rs` and `simple.rs`, words in `words.rs`, here-documents in `here.rs`. The structure
//! is not kept: to find the commands that a line may run, it does not matter whether one runs under an `if`.

use super::here::Here;
use super::{DEPTH, Line};
use crate::word::{UNKNOWN, Word};

/// The error where a text stops being a shell line, with the reason.
#[derive(Debug)]
pub(super) struct Broken(pub(super) &'static str);

pub(super) type Step<T> = Result<T, Broken>;

/// The words that end a list where a command could begin.
pub(super) const CLOSERS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

/// A position in a text.
pub(super) struct Parser<'f> {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// How many substitutions enclose this one.
    pub(super) nested: usize,
    /// Here-documents that begin with the next line.
    pub(super) pending: Vec<Here>,
    /// A command around this substitution waits for a here-document too.
    pub(super) outer_pending: bool,
    pub(super) found: &'f mut Line,
}

/// Reads a whole program into `found`; text that is not a program makes it unclear.
pub(super) fn program(text: &str, depth: usize, nested: usize, found: &mut Line) {
    let chars = text.chars().collect();
    let mut parser = Parser { chars, at: 0, depth, nested, pending: Vec::new(), outer_pending: false, found };
    match parser.list() {
        Err(Broken(why)) => parser.mark_unclear(why),
        Ok(()) if parser.at < parser.chars.len() => parser.mark_unclear("something is out of place"),
        Ok(()) => {}
    }
    if !parser.pending.is_empty() {
        parser.mark_unclear("a here-document has no end");
    }
}

impl Parser<'_> {
    pub(super) fn mark_unclear(&mut self, why: &str) {
        self.found.mark_unclear(why);
    }

    /// Returns the character `ahead` of the position, as it is written.
    pub(super) fn raw(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Returns the next character; line continuations are left out.
    pub(super) fn peek(&mut self) -> Option<char> {
        while self.raw(0) == Some('\\') && self.raw(1) == Some('\n') {
            let before = self.at.checked_sub(1).and_then(|at| self.chars.get(at));
            if !matches!(before, None | Some(' ' | '\t' | '\n')) {
                self.mark_unclear("a line is continued inside a word");
            }
            self.at += 2;
        }
        self.raw(0)
    }

    pub(super) fn ahead(&mut self, text: &str) -> bool {
        self.peek();
        text.chars().enumerate().all(|(at, c)| self.raw(at) == Some(c))
    }

    pub(super) fn enter(&mut self) -> Step<()> {
        self.depth += 1;
        if self.depth > DEPTH { Err(Broken("it is nested too deep")) } else { Ok(()) }
    }

    pub(super) fn blanks(&mut self) {
        while let Some(' ' | '\t') = self.peek() {
            self.at += 1;
        }
        if self.peek() == Some('#') {
            if self.nested > 0 {
                self.mark_unclear("a comment is inside a substitution");
            }
            while self.raw(0).is_some_and(|c| c != '\n') {
                self.at += 1;
            }
        }
    }

    pub(super) fn newlines(&mut self) {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return;
            }
            self.at += 1;
            if self.outer_pending {
                self.mark_unclear("a substitution has several lines before a here-document begins");
            }
            self.here_documents();
        }
    }

    /// Returns the next word if it consists only of characters that reserved words are made of.
    pub(super) fn bare(&mut self) -> Option<String> {
        self.peek();
        let word: String = self.chars[self.at..].iter().take(16).take_while(|c| !is_meta(**c)).collect();
        let plain = |c: char| c.is_ascii_lowercase() || "!{}[".contains(c);
        (!word.is_empty() && word.chars().all(plain)).then_some(word)
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let taken = self.bare().as_deref() == Some(word);
        if taken {
            self.at += word.len();
        }
        taken
    }

    pub(super) fn expect_word(&mut self, word: &str, why: &'static str) -> Step<()> {
        if self.take_word(word) { Ok(()) } else { Err(Broken(why)) }
    }

    pub(super) fn expect(&mut self, c: char, why: &'static str) -> Step<()> {
        if self.peek() != Some(c) {
            return Err(Broken(why));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads commands up to what can end a list.
    pub(super) fn list(&mut self) -> Step<()> {
        self.enter()?;
        loop {
            self.newlines();
            match self.peek() {
                None | Some(')') => break,
                Some(';') if matches!(self.raw(1), Some(';' | '&')) => break,
                Some(_) if self.bare().is_some_and(|word| CLOSERS.contains(&word.as_str())) => break,
                Some(_) => self.and_or()?,
            }
            self.blanks();
            match self.peek() {
                Some('\n') => {}
                Some(';') if !matches!(self.raw(1), Some(';' | '&')) => self.at += 1,
                Some('&') => {
                    // Bash redirects both streams; dash runs the command in the background and empties the file.
                    if self.raw(1) == Some('>') {
                        self.mark_unclear("`&>` is read differently by different shells");
                    }
                    self.at += 1;
                }
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn and_or(&mut self) -> Step<()> {
        loop {
            self.pipeline()?;
            self.blanks();
            if !self.ahead("&&") && !self.ahead("||") {
                return Ok(());
            }
            self.at += 2;
            self.newlines();
        }
    }

    fn pipeline(&mut self) -> Step<()> {
        self.blanks();
        if self.take_word("!") {
            self.blanks();
        }
        loop {
            self.command()?;
            self.blanks();
            if self.peek() != Some('|') || self.raw(1) == Some('|') {
                return Ok(());
            }
            self.at += 1;
            if self.raw(0) == Some('&') {
                self.mark_unclear("`|&` is read differently by different shells");
                self.at += 1;
            }
            self.newlines();
        }
    }

    pub(super) fn command(&mut self) -> Step<()> {
        self.enter()?;
        self.blanks();
        match (self.peek(), self.bare().as_deref()) {
            (None | Some(';' | '&' | '|' | ')' | '\n'), _) => return Err(Broken("a command is missing")),
            (Some('('), _) => {
                self.at += 1;
                // Arithmetic for bash, two subshells for dash.
                if self.raw(0) == Some('(') {
                    self.mark_unclear("`((` is read differently by different shells");
                }
                self.list()?;
                self.expect(')', "a `(` is not closed")?;
                self.redirects()?;
            }
            (_, Some("{")) => {
                self.at += 1;
                self.list()?;
                self.expect_word("}", "a `{` is not closed")?;
                self.redirects()?;
            }
            (_, Some("if")) => self.if_clause()?,
            (_, Some("while" | "until")) => {
                self.at += "while".len();
                self.list()?;
                self.do_group()?;
            }
            (_, Some("for")) => self.for_clause()?,
            (_, Some("case")) => self.case_clause()?,
            (_, Some("function" | "select" | "coproc")) => {
                return Err(Broken("`function`, `select` and `coproc` are not in every shell"));
            }
            (_, Some("!")) => return Err(Broken("a `!` is out of place")),
            // A `done` without a loop: what follows would be read otherwise than a shell does, which stops here.
            (_, Some(word)) if CLOSERS.contains(&word) => return Err(Broken("a reserved word is out of place")),
            (_, word) => {
                if word == Some("[[") {
                    self.mark_unclear("`[[` is not in every shell");
                }
                if word == Some("in") {
                    self.mark_unclear("`in` is a reserved word in some shells");
                }
                self.simple()?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a program up to the `)` that closes it.
    pub(super) fn substitution(&mut self) -> Step<()> {
        let outer = std::mem::take(&mut self.pending);
        let outer_pending = self.outer_pending;
        self.outer_pending |= !outer.is_empty();
        self.nested += 1;
        self.list()?;
        self.nested -= 1;
        if !self.pending.is_empty() {
            self.mark_unclear("a here-document does not end within its substitution");
        }
        self.outer_pending = outer_pending;
        self.pending = outer;
        self.expect(')', "a substitution is not closed")
    }

    /// Adds an unknown part to the word.
    pub(super) fn unknown(word: &mut Word, quoted: bool) {
        word.text.push(UNKNOWN);
        word.dynamic = true;
        word.split |= !quoted;
    }
}

pub(super) fn is_meta(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}

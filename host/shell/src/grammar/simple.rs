//! Simple commands: their assignments, words and redirections.

use super::parser::{Broken, CLOSERS, Parser, Step};
use super::{COMMANDS, Redirect, SimpleCommand};
use crate::word::Word;

impl Parser<'_> {
    fn open(&mut self) -> Step<usize> {
        if self.found.commands.len() >= COMMANDS {
            return Err(Broken("it has too many commands"));
        }
        self.found.commands.push(SimpleCommand::default());
        Ok(self.found.commands.len() - 1)
    }

    /// Reads the redirections after a compound command.
    pub(super) fn redirects(&mut self) -> Step<()> {
        self.blanks();
        let digit = self.peek().is_some_and(|c| c.is_ascii_digit());
        if matches!(self.peek(), Some('<' | '>')) || digit { self.simple_only(true) } else { Ok(()) }
    }

    pub(super) fn simple(&mut self) -> Step<()> {
        self.simple_only(false)
    }

    fn simple_only(&mut self, redirects: bool) -> Step<()> {
        // Its place is taken before its words are read, so that it stands before the commands in them.
        let (start, slot) = (self.at, self.open()?);
        let mut command = SimpleCommand::default();
        // The parts read before a command breaks off are still analysed.
        let read = self.parts(&mut command);
        command.source = self.chars[start..self.at.min(self.chars.len())].iter().collect::<String>().trim().to_owned();
        // Behind an assignment or a redirection a reserved word is a plain one for some shells only.
        if command.words.first().is_some_and(|word| !word.quoted && CLOSERS.contains(&&*word.text)) {
            self.mark_unclear("a reserved word is out of place");
        }
        if is_timed_by_bash(&command.words) {
            self.mark_unclear("what follows `time` is read differently by different shells");
        }
        let words = command.words.len();
        // Also when it broke off: what was read of it may have run.
        self.found.commands[slot] = command;
        read?;
        if redirects && words > 0 {
            return Err(Broken("words follow a compound command"));
        }
        // From here on the name may mean anything, for each later use of it.
        if words == 1 && self.peek() == Some('(') {
            self.mark_unclear("it defines a function");
            self.at += 1;
            self.blanks();
            self.expect(')', "a `(` is out of place")?;
            self.newlines();
            return self.command();
        }
        if self.peek() == Some('(') { Err(Broken("a `(` is out of place")) } else { Ok(()) }
    }

    fn parts(&mut self, command: &mut SimpleCommand) -> Step<()> {
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | '&' | '(' | ')') => return Ok(()),
                Some('<' | '>') if self.raw(1) != Some('(') => self.redirect(command)?,
                Some(c) if c.is_ascii_digit() && self.is_numbered() => self.redirect(command)?,
                Some(_) => {
                    self.check_subscript(&command.words);
                    let word = self.word()?;
                    match word.assigns {
                        Some(_) if command.words.is_empty() => command.assignments.push(word),
                        _ => command.words.push(word),
                    }
                }
            }
        }
    }

    /// Checks a subscript. Where bash accepts an assignment, it reads a subscript up to its `]`, with the blanks and
    /// operators in it: `a[1 + 1]=2 rm x` runs `rm`. To other shells it is a command with the name `a[1`.
    fn check_subscript(&mut self, before: &[Word]) {
        let declares = |word: &Word| matches!(&*word.text, "export" | "readonly" | "declare" | "typeset" | "local");
        let name = self.chars[self.at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
        if name > 0 && self.raw(name) == Some('[') && (before.is_empty() || before.iter().any(declares)) {
            self.mark_unclear("an element of an array is not in every shell");
        }
    }

    /// Whether digits that touch a redirection come next.
    fn is_numbered(&self) -> bool {
        let digits = self.chars[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        matches!(self.raw(digits), Some('<' | '>'))
    }

    fn redirect(&mut self, command: &mut SimpleCommand) -> Step<()> {
        let digits = self.chars[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        // For dash `12>x` is the word `12` and a redirection of the standard output.
        if digits > 1 {
            self.mark_unclear("a descriptor over 9 is read differently by different shells");
        }
        self.at += digits;
        let reads = self.expect('<', "").is_ok();
        if !reads {
            self.expect('>', "a redirection is missing")?;
        }
        match (reads, self.peek()) {
            (true, Some('<')) => {
                self.at += 1;
                return self.here_operator();
            }
            (true, Some('>')) | (false, Some('>' | '|')) => self.at += 1,
            (_, Some('&')) => {
                self.at += 1;
                let target = self.target()?;
                // `>&x` writes a file in bash.
                if !target.literal().is_some_and(is_descriptor) {
                    self.mark_unclear("a redirection to a descriptor lacks its number");
                    command.redirects.push(Redirect { writes: true, target });
                }
                return Ok(());
            }
            _ => {
                let target = self.target()?;
                command.redirects.push(Redirect { writes: !reads, target });
                return Ok(());
            }
        }
        let target = self.target()?;
        command.redirects.push(Redirect { writes: true, target });
        Ok(())
    }

    pub(super) fn target(&mut self) -> Step<Word> {
        self.blanks();
        self.word()
    }
}

/// Whether bash reads the words after `time` as a pipeline in which they are not arguments.
fn is_timed_by_bash(words: &[Word]) -> bool {
    const OPENERS: [&str; 12] =
        ["!", "[[", "case", "coproc", "for", "function", "if", "select", "time", "until", "while", "{"];
    let [time, behind @ ..] = words else { return false };
    let first = behind.iter().find(|word| !word.text.starts_with('-'));
    let is_reserved = |word: &Word| OPENERS.contains(&&*word.text) || CLOSERS.contains(&&*word.text);
    time.is("time") && first.is_some_and(|word| word.assigns.is_some() || is_reserved(word))
}

fn is_descriptor(text: &str) -> bool {
    text == "-" || text.len() == 1 && text.starts_with(|c: char| c.is_ascii_digit())
}

//! Commands that contain commands: conditions, loops, cases.

use super::SimpleCommand;
use super::parser::{Broken, Parser, Step};
use crate::variable::is_own_name;

impl Parser<'_> {
    pub(super) fn if_clause(&mut self) -> Step<()> {
        self.at += "if".len();
        loop {
            self.list()?;
            self.expect_word("then", "an `if` has no `then`")?;
            self.list()?;
            if !self.take_word("elif") {
                break;
            }
        }
        if self.take_word("else") {
            self.list()?;
        }
        self.expect_word("fi", "an `if` has no `fi`")?;
        self.redirects()
    }

    pub(super) fn do_group(&mut self) -> Step<()> {
        self.expect_word("do", "a loop has no `do`")?;
        self.list()?;
        self.expect_word("done", "a loop has no `done`")?;
        self.redirects()
    }

    pub(super) fn for_clause(&mut self) -> Step<()> {
        self.at += "for".len();
        self.blanks();
        let name = self.word()?;
        // `for PATH in …` sets what decides about the next command.
        if !name.literal().is_some_and(is_own_name) {
            self.mark_unclear("a loop sets a variable that others may read");
        }
        self.newlines();
        if self.take_word("in") {
            self.blanks();
            let start = self.at;
            let mut expands = Vec::new();
            while self.peek().is_some_and(|c| !matches!(c, ';' | '\n')) {
                expands.push(self.word()?);
                self.blanks();
            }
            // What a pattern in a loop stands for are names of files, which the loop shows.
            expands.retain(|word| word.glob || word.tilde || word.split);
            if !expands.is_empty() {
                let source = self.chars[start..self.at].iter().collect::<String>().trim().to_owned();
                self.found.commands.push(SimpleCommand { expands, source, ..SimpleCommand::default() });
            }
        }
        if self.peek() == Some(';') {
            self.at += 1;
        }
        self.newlines();
        self.do_group()
    }

    pub(super) fn case_clause(&mut self) -> Step<()> {
        self.at += "case".len();
        self.blanks();
        self.word()?;
        self.newlines();
        self.expect_word("in", "a `case` has no `in`")?;
        loop {
            self.newlines();
            if self.take_word("esac") {
                return self.redirects();
            }
            // Optional in front of a pattern, in every shell.
            if self.peek() == Some('(') {
                self.at += 1;
            }
            loop {
                self.blanks();
                self.word()?;
                self.blanks();
                if self.peek() != Some('|') {
                    break;
                }
                self.at += 1;
            }
            self.expect(')', "a pattern of a `case` has no `)`")?;
            self.list()?;
            if self.ahead(";;") {
                self.at += 2;
            } else if self.bare().as_deref() != Some("esac") {
                return Err(Broken("a `case` has no `esac`"));
            }
        }
    }
}

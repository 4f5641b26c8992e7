//! Comparison with another reader of shell lines: `brush-parser`, which reads as bash does.
//!
//! Two grammars that were written independently seldom fail at the same place. If the grammar here finds a line clear,
//! the other one must not find a command with other words, nor another file that is written.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, DoGroupCommand,
    IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, PipelineTimed, SimpleCommand,
};
use brush_parser::word::{ParameterExpr, TildeExpr, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, word};

use super::super::{DEPTH, Line};
use crate::word::{UNKNOWN, Word};

/// The result of the other reader, compared with what was found in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// It finds nothing else.
    Agrees,
    /// It does not read the line, because of this.
    Unread(&'static str),
    /// It finds this command or redirection, which is missing.
    Missing(String),
}

/// Compares the findings in a line with those of the other reader.
pub(super) fn compare(line: &str, found: &Line) -> Comparison {
    let mut other = BrushReader::default();
    if let Err(Unread(what)) = other.program(line, 0) {
        return Comparison::Unread(what);
    }
    let mut commands: Vec<Vec<String>> = found.commands.iter().map(|command| texts(&command.words)).collect();
    for command in &other.commands {
        match commands.iter().position(|known| known == command) {
            Some(known) => drop(commands.swap_remove(known)),
            None => return Comparison::Missing(shown(command)),
        }
    }
    let writes = found.commands.iter().flat_map(|command| &command.redirects).filter(|redirect| redirect.writes);
    let writes: Vec<String> = writes.map(|redirect| text(&redirect.target)).collect();
    match other.writes.iter().find(|file| !writes.contains(file)) {
        Some(file) => Comparison::Missing(format!("> {}", shown(std::slice::from_ref(file)))),
        None => Comparison::Agrees,
    }
}

fn texts(words: &[Word]) -> Vec<String> {
    words.iter().map(text).collect()
}

/// Returns the word's text, with one mark for each unknown stretch.
fn text(word: &Word) -> String {
    let mut text = word.text.clone();
    collapse(&mut text);
    text
}

fn collapse(text: &mut String) {
    let mut before = None;
    text.retain(|c| before.replace(c) != Some(UNKNOWN) || c != UNKNOWN);
}

fn shown(words: &[String]) -> String {
    words.join(" ").replace(UNKNOWN, "…")
}

/// Syntax that the other reader does not read.
struct Unread(&'static str);

type Read<T> = Result<T, Unread>;

/// The findings of the other reader.
#[derive(Default)]
struct BrushReader {
    commands: Vec<Vec<String>>,
    writes: Vec<String>,
}

impl BrushReader {
    fn program(&mut self, text: &str, depth: usize) -> Read<()> {
        if depth > DEPTH {
            return Err(Unread("what is nested too deep"));
        }
        let program = Parser::new(text.as_bytes(), &options()).parse_program().map_err(|_| Unread("the line"))?;
        program.complete_commands.iter().try_for_each(|list| self.list(list, depth))
    }

    fn list(&mut self, list: &CompoundList, depth: usize) -> Read<()> {
        list.0.iter().try_for_each(|item| self.and_or(&item.0, depth))
    }

    fn and_or(&mut self, list: &AndOrList, depth: usize) -> Read<()> {
        let rest = list.additional.iter().map(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
        });
        std::iter::once(&list.first).chain(rest).try_for_each(|pipeline| self.pipeline(pipeline, depth))
    }

    fn pipeline(&mut self, pipeline: &Pipeline, depth: usize) -> Read<()> {
        // To bash `time` is a reserved word, to the grammar here and to dash a command that runs another one.
        let mut around = match &pipeline.timed {
            None => &[][..],
            Some(PipelineTimed::Timed(_)) => &["time"],
            Some(PipelineTimed::TimedWithPosixOutput(_)) => &["time", "-p"],
        };
        pipeline.seq.iter().try_for_each(|command| match command {
            Command::Simple(simple) => self.simple(simple, std::mem::take(&mut around), depth),
            _ if !around.is_empty() => Err(Unread("a `time` of more than one command")),
            Command::Compound(compound, redirects) => {
                self.compound(compound, depth)?;
                redirects.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect, depth))
            }
            Command::Function(_) => Err(Unread("a function")),
            Command::ExtendedTest(..) => Err(Unread("a `[[ … ]]`")),
        })
    }

    fn compound(&mut self, compound: &CompoundCommand, depth: usize) -> Read<()> {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, depth),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list, depth),
            CompoundCommand::ForClause(clause) => {
                for word in clause.values.iter().flatten() {
                    self.word(&word.value, depth)?;
                }
                self.group(&clause.body, depth)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value, depth)?;
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value, depth)?;
                    }
                    case.cmd.iter().try_for_each(|list| self.list(list, depth))?;
                }
                Ok(())
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, depth)?;
                self.list(&clause.then, depth)?;
                for branch in clause.elses.iter().flatten() {
                    branch.condition.iter().try_for_each(|list| self.list(list, depth))?;
                    self.list(&branch.body, depth)?;
                }
                Ok(())
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, depth)?;
                self.group(&clause.1, depth)
            }
            CompoundCommand::Arithmetic(_) => Err(Unread("a `(( … ))`")),
            CompoundCommand::ArithmeticForClause(_) => Err(Unread("a `for (( … ))`")),
            CompoundCommand::Coprocess(_) => Err(Unread("a coprocess")),
        }
    }

    fn group(&mut self, group: &DoGroupCommand, depth: usize) -> Read<()> {
        self.list(&group.list, depth)
    }

    fn simple(&mut self, simple: &SimpleCommand, around: &[&str], depth: usize) -> Read<()> {
        let mut words: Vec<String> = around.iter().map(ToString::to_string).collect();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, depth)?,
                // An assignment is not a word of the command, but a substitution in it runs.
                Item::Word(word) | Item::AssignmentWord(_, word) => drop(self.word(&word.value, depth)?),
                Item::ProcessSubstitution(..) => return Err(Unread("a process substitution")),
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.push(self.word(&name.value, depth)?);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect, depth)?,
                Item::Word(word) | Item::AssignmentWord(_, word) => words.push(self.word(&word.value, depth)?),
                Item::ProcessSubstitution(..) => return Err(Unread("a process substitution")),
            }
        }
        if !words.is_empty() {
            self.commands.push(words);
        }
        Ok(())
    }

    fn redirect(&mut self, redirect: &IoRedirect, depth: usize) -> Read<()> {
        match redirect {
            IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(file)) => {
                let file = self.word(&file.value, depth)?;
                match kind {
                    IoFileRedirectKind::Read => {}
                    IoFileRedirectKind::Write
                    | IoFileRedirectKind::Append
                    | IoFileRedirectKind::ReadAndWrite
                    | IoFileRedirectKind::Clobber
                    | IoFileRedirectKind::DuplicateInput
                    | IoFileRedirectKind::DuplicateOutput => self.writes.push(file),
                }
                Ok(())
            }
            IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => Ok(()),
            IoRedirect::File(_, _, IoFileRedirectTarget::Duplicate(word)) => match word.value.as_str() {
                "-" => Ok(()),
                digits if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(()),
                _ => Err(Unread("a descriptor that is not literal")),
            },
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(..)) => {
                Err(Unread("a process substitution"))
            }
            IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                let pieces = word::parse_heredoc(&document.doc.value, &options())
                    .map_err(|_| Unread("the text of a here-document"))?;
                self.pieces(&pieces, Quoted::Yes, depth).map(drop)
            }
            IoRedirect::HereDocument(..) => Ok(()),
            IoRedirect::HereString(..) => Err(Unread("a here-string")),
            IoRedirect::OutputAndError(..) => Err(Unread("a `&>`")),
        }
    }

    /// Returns the word's text after quote removal, like [`Word::text`].
    fn word(&mut self, raw: &str, depth: usize) -> Read<String> {
        let pieces = word::parse(raw, &options()).map_err(|_| Unread("one of its words"))?;
        let mut text = self.pieces(&pieces, Quoted::No, depth)?;
        collapse(&mut text);
        Ok(text)
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], quoted: Quoted, depth: usize) -> Read<String> {
        if depth > DEPTH {
            return Err(Unread("what is nested too deep"));
        }
        let mut text = String::new();
        for piece in pieces {
            match &piece.piece {
                // Between double quotes, the other reader keeps the escaped end of a line.
                WordPiece::Text(plain) if quoted == Quoted::Yes => text.push_str(&plain.replace("\\\n", "")),
                WordPiece::Text(plain) | WordPiece::SingleQuotedText(plain) => text.push_str(plain),
                WordPiece::EscapeSequence(escaped) => match escaped.strip_prefix('\\') {
                    Some("\n") => {}
                    Some(plain) => text.push_str(plain),
                    None => return Err(Unread("one of its words")),
                },
                WordPiece::DoubleQuotedSequence(inner) => {
                    text.push_str(&self.pieces(inner, Quoted::Yes, depth + 1)?);
                }
                WordPiece::TildeExpansion(TildeExpr::Home) => text.push('~'),
                WordPiece::TildeExpansion(TildeExpr::UserHome(name)) => {
                    text.push('~');
                    text.push_str(name);
                }
                WordPiece::TildeExpansion(_) => return Err(Unread("a `~` of its kind")),
                WordPiece::CommandSubstitution(command) | WordPiece::BackquotedCommandSubstitution(command) => {
                    self.program(command, depth + 1)?;
                    text.push(UNKNOWN);
                }
                WordPiece::ParameterExpansion(expression) => {
                    if let Some(nested) = nested(expression)? {
                        self.word(nested, depth + 1)?;
                    }
                    text.push(UNKNOWN);
                }
                WordPiece::ArithmeticExpression(expression) => {
                    self.word(&expression.value, depth + 1)?;
                    text.push(UNKNOWN);
                }
                WordPiece::AnsiCQuotedText(_) | WordPiece::GettextDoubleQuotedSequence(_) => {
                    return Err(Unread("a `$'…'` or `$\"…\"`"));
                }
            }
        }
        Ok(text)
    }
}

/// Whether pieces are between double quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Yes,
    No,
}

/// Returns the words within an expansion of a parameter; an error for expansions that only bash has.
fn nested(expression: &ParameterExpr) -> Read<Option<&str>> {
    match expression {
        ParameterExpr::Parameter { indirect: false, .. } | ParameterExpr::ParameterLength { indirect: false, .. } => {
            Ok(None)
        }
        ParameterExpr::UseDefaultValues { indirect: false, default_value: word, .. }
        | ParameterExpr::AssignDefaultValues { indirect: false, default_value: word, .. }
        | ParameterExpr::IndicateErrorIfNullOrUnset { indirect: false, error_message: word, .. }
        | ParameterExpr::UseAlternativeValue { indirect: false, alternative_value: word, .. }
        | ParameterExpr::RemoveSmallestSuffixPattern { indirect: false, pattern: word, .. }
        | ParameterExpr::RemoveLargestSuffixPattern { indirect: false, pattern: word, .. }
        | ParameterExpr::RemoveSmallestPrefixPattern { indirect: false, pattern: word, .. }
        | ParameterExpr::RemoveLargestPrefixPattern { indirect: false, pattern: word, .. } => Ok(word.as_deref()),
        _ => Err(Unread("an expansion that only bash has")),
    }
}

fn options() -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() }
}

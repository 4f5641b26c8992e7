//! A question before there is a session: whether to trust a project, where to work, which model to use.
//!
//! It looks and answers like a question about a call. Promises: there is no question if no user can answer it, and what
//! was typed before it is not an answer. Deliberately not here: what is asked.

use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_terminal::{
    self as terminal, Choice, Chosen, History, Interrupt, Keyboard, Line, Pick, Question, Terminal, TerminalMode,
};

use crate::printer::{self, Style, current_terminal};
use crate::{exit, process};

/// Asks on the terminal of this process.
#[derive(Clone)]
pub(crate) struct Asker<'a> {
    environment: &'a Environment,
    interrupt: Interrupt,
}

/// What a user answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The choice with this index.
    Choice(usize),
    /// None of them.
    Dismissed,
}

impl<'a> Asker<'a> {
    /// `None` if no user can be asked: standard input, output and error must all be terminals.
    pub(crate) fn new(environment: &'a Environment, interrupt: &Interrupt) -> Option<Self> {
        let is_there =
            environment.stdin_is_terminal && environment.stdout_is_terminal && environment.stderr_is_terminal;
        is_there.then(|| Self { environment, interrupt: interrupt.clone() })
    }

    /// The style of a question.
    pub(crate) fn style(&self) -> Style {
        printer::style(self.environment)
    }

    /// What the terminal can show.
    pub(crate) fn mode(&self) -> TerminalMode {
        process::terminal_mode(self.environment)
    }

    /// The width of the terminal.
    pub(crate) fn columns(&self) -> usize {
        terminal::columns()
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be used, or the process is asked to end.
    pub(crate) async fn ask(&self, question: Question) -> Result<Answered, Failure> {
        let terminal = self.open()?;
        let chosen = terminal.ask(question).await;
        self.answered(chosen)
    }

    /// Asks, and waits for the answer; one choice asks for a line of text. Returns that, too.
    ///
    /// # Errors
    ///
    /// Those of [`Asker::ask`].
    pub(crate) async fn ask_with_line(&self, question: Question, line: Line) -> Result<(Answered, String), Failure> {
        let terminal = self.open()?;
        let (chosen, text) = terminal.ask_with_line(question, line).await;
        Ok((self.answered(chosen)?, text))
    }

    /// Lets the user pick one of a list.
    ///
    /// # Errors
    ///
    /// Those of [`Asker::ask`].
    pub(crate) async fn pick(&self, pick: Pick) -> Result<Answered, Failure> {
        Ok(self.pick_or_rename(Pick { renamed: 0, ..pick }).await?.0)
    }

    /// Lets the user pick or rename one of a list. The text is its new title; it is empty if it was picked.
    ///
    /// # Errors
    ///
    /// Those of [`Asker::ask`].
    pub(crate) async fn pick_or_rename(&self, pick: Pick) -> Result<(Answered, String), Failure> {
        let terminal = self.open()?;
        let (chosen, title) = terminal.pick_or_rename(pick).await;
        Ok((self.answered(chosen)?, title))
    }

    fn open(&self) -> Result<Terminal, Failure> {
        let setup = terminal::Setup {
            keyboard: Keyboard::WhenAsked,
            mode: self.mode(),
            style: self.style(),
            interrupt: self.interrupt.clone(),
            history: History::default(),
            assist: terminal::Assist::default(),
            attention: terminal::Attention::default(),
            resize: process::resize(self.environment),
            answers: terminal::Answers::default(),
        };
        current_terminal::open(setup).map_err(exit::terminal_unusable)
    }

    fn answered(&self, chosen: Chosen) -> Result<Answered, Failure> {
        // The session opens the terminal for itself.
        current_terminal::leave();
        if self.interrupt.stop.is_cancelled() {
            return Err(Failure::new(ErrorKind::Cancelled, "cancelled"));
        }
        Ok(match chosen {
            Chosen::Choice(at) => Answered::Choice(at),
            Chosen::Dismissed | Chosen::Nobody => Answered::Dismissed,
        })
    }
}

/// A choice of a question.
pub(crate) fn choice(letter: char, label: impl Into<String>) -> Choice {
    Choice::new(letter, label)
}

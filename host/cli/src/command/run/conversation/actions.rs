//! What the terminal does for a command: its own ones, and how it draws the outcome of the session's.
//!
//! Deliberately not here: what a command of the session does, and its words (`host_app::session::command`).

use std::path::Path;
use std::sync::PoisonError;
use std::time::Instant;

use host_agent::CompressionStatus;
use host_app::context::ContextFile;
use host_app::page::Page;
use host_app::session::command::{Choice, CommandOutcome, SessionCommand};
use host_app::session::pages;
use host_app::session::rewind::{RewindPoint, RewindScope};
use host_extensions::plugins::reload::ReloadTrigger;
use host_settings::error::Failure;
use host_terminal::{Answers, Chosen, Pick, PickEntry, Question, TerminalMode};
use host_text::counted;
use tokio_util::sync::CancellationToken;

use super::commands::{self, OwnCommand};
use super::{Flow, Repl, clipboard};
use crate::approval::edit::Editor;
use crate::ask::choice;
use crate::command::undo;
use crate::printer::page::drawn as drawn_page;
use crate::printer::terminal as drawn;

impl Repl {
    /// Does what a command of the terminal says.
    pub(super) async fn own_command(&mut self, command: OwnCommand) -> Result<Flow, Failure> {
        match command {
            OwnCommand::Quit => return Ok(Flow::Leave),
            OwnCommand::Help => {
                self.terminal.lines(&commands::help(&self.session.app().commands(), self.terminal.columns()));
            }
            OwnCommand::Thoughts => self.note(match self.printer.toggle_thoughts() {
                drawn::Thoughts::Whole => "showing full thoughts",
                drawn::Thoughts::Subjects => "showing thought titles only",
            }),
            OwnCommand::Raw => self.raw(),
            OwnCommand::Copy => self.copy()?,
            OwnCommand::Output(back) => self.call_pages.show(back.as_deref()).await?,
        }
        Ok(Flow::Continue)
    }

    /// Does what a command of the session says. A choice that the user makes is a command again.
    pub(super) async fn session_command(&mut self, command: SessionCommand, line: &str) {
        let mut next = Some(command);
        while let Some(command) = next.take() {
            let is_custom = matches!(command, SessionCommand::Custom(_));
            if is_custom {
                self.reload(ReloadTrigger::FilesChanged).await;
                self.news();
            }
            let turn = self.works();
            let waits = matches!(command, SessionCommand::Compress(_));
            if waits {
                self.printer.waits_for("compressing the conversation");
            }
            let outcome = self.session.command(command, &turn).await;
            if waits {
                self.printer.waits_no_more();
            }
            // A prompt is still to run, and Ctrl-C cancels it as it did the command.
            if !matches!(outcome, Ok(CommandOutcome::Prompt(_))) {
                self.terminal.rests();
            }
            let drawn = match outcome {
                // Only what the user wrote for the model returns to the input if it is not answered.
                Ok(outcome) => self.draw(outcome, &turn, is_custom.then_some(line)).await,
                Err(failure) if is_custom => return self.gives_back(line, &failure),
                Err(failure) => Err(failure),
            };
            match drawn {
                Ok(chosen) => next = chosen,
                Err(failure) => self.told(&failure),
            }
        }
    }

    /// Shows what a command did, or runs its prompt; returns the command that the user chose, if there was a choice.
    async fn draw(
        &mut self,
        outcome: CommandOutcome,
        turn: &CancellationToken,
        typed: Option<&str>,
    ) -> Result<Option<SessionCommand>, Failure> {
        match outcome {
            CommandOutcome::Prompt(prompt) => {
                let began = Instant::now();
                let result = self.send(*prompt, turn).await;
                self.has_run(&result, began, typed);
            }
            CommandOutcome::Notes(notes) => notes.iter().for_each(|note| self.note(&note.to_string())),
            CommandOutcome::Page(page) => self.page(&page),
            CommandOutcome::Steps(items) => {
                let lines = drawn::checklist::lines(&items, "", self.style, self.terminal.columns());
                self.terminal.lines(&lines);
            }
            // The printer has shown the event of any other one.
            CommandOutcome::Compressed { status: CompressionStatus::Nothing, note } => self.note(&note),
            CommandOutcome::Compressed { .. } => {}
            CommandOutcome::Stopped { note } => self.note(&note),
            CommandOutcome::Cleared { note } => {
                let outputs = self.session.outputs().to_owned();
                *self.outputs.lock().unwrap_or_else(PoisonError::into_inner) = outputs;
                self.call_pages.follow(self.session.id());
                self.answer = None;
                self.note(&note.to_string());
            }
            CommandOutcome::FilesUndone(page) => {
                self.page(&page);
                // An empty line behind it, as behind an answer.
                self.terminal.lines("\n");
            }
            CommandOutcome::WentBack { prompt, files, note } => {
                files.iter().for_each(|page| self.page(page));
                self.answer = None;
                self.terminal.suggest(&prompt);
                self.note(&note);
                self.terminal.lines("\n");
            }
            CommandOutcome::Choose(choice) => return self.choose(choice).await,
            CommandOutcome::Edit { file, text, note: _ } => self.edit(&file, text).await?,
        }
        Ok(None)
    }

    fn page(&self, page: &Page) {
        let (columns, mode) = (self.terminal.columns(), self.terminal.mode());
        self.terminal.lines(&drawn_page(page, columns, self.style, mode));
    }

    /// Lets the user choose, where there is a list to pick from.
    async fn choose(&self, choice: Choice) -> Result<Option<SessionCommand>, Failure> {
        let chosen = match &choice {
            Choice::Call(calls) => {
                let chosen = self.terminal.pick(undo::choices(calls, self.style)).await;
                chosen_of(chosen, |at| SessionCommand::Undo(Some(undo::number(calls, at).to_string())))
            }
            Choice::Prompt(points) => {
                let chosen = self.terminal.pick(self.prompts(points, &choice.title())).await;
                chosen_of(chosen, |at| SessionCommand::Rewind(Some(points.len().saturating_sub(at).to_string())))
            }
            Choice::Scope(point) => Picked::of(self.scope(point, &choice.title()).await),
            Choice::Overwrite(path) => {
                self.overwrite(path, choice.title()).await?;
                Picked::Nothing
            }
        };
        match chosen {
            Picked::Command(command) => Ok(Some(command)),
            Picked::Nothing => Ok(None),
            Picked::NoList => {
                self.page(&choice.page());
                Ok(None)
            }
        }
    }

    /// What the user picks from, the latest prompt first.
    fn prompts(&self, points: &[RewindPoint], title: &str) -> Pick {
        let entry = |point: &RewindPoint| PickEntry {
            title: format!("{}  {}", point.number, point.prompt),
            details: pages::rewind::details(point),
            preview: Vec::new(),
        };
        Pick { lines: vec![self.style.bold(title)], entries: points.iter().rev().map(entry).collect(), renamed: 0 }
    }

    async fn scope(&self, point: &RewindPoint, title: &str) -> Option<SessionCommand> {
        let letter = |scope: RewindScope| scope.word().chars().next().unwrap_or_default();
        let question = Question {
            lines: vec![self.style.bold(title), pages::rewind::details(point)],
            choices: RewindScope::ALL.map(|scope| choice(letter(scope), scope.about())).to_vec(),
            ..Question::default()
        };
        let Chosen::Choice(at) = self.terminal.ask(question).await else { return None };
        let scope = RewindScope::ALL.get(at)?;
        Some(SessionCommand::Rewind(Some(format!("{} {}", point.number, scope.word()))))
    }

    async fn overwrite(&self, path: &Path, title: String) -> Result<(), Failure> {
        let question = Question {
            lines: vec![title],
            choices: vec![choice('n', "Keep"), choice('y', "Overwrite")],
            ..Question::default()
        };
        match self.terminal.ask(question).await {
            Chosen::Choice(1) => self.note(&self.session.export_to(path)?),
            Chosen::Choice(_) | Chosen::Dismissed | Chosen::Nobody => self.note("nothing was written"),
        }
        Ok(())
    }

    /// Opens the user's editor on a context file.
    async fn edit(&mut self, file: &ContextFile, before: String) -> Result<(), Failure> {
        let editor = Editor::from_environment(self.session.app().environment());
        let edited = editor.edit(&self.terminal, before.clone(), "context.md".to_owned()).await;
        match edited.map_err(Failure::input)? {
            None => self.note("nothing was changed"),
            Some(text) => {
                let notes = self.session.write_memory(file, &before, &text)?;
                notes.iter().for_each(|line| self.note(line));
            }
        }
        Ok(())
    }

    /// Reloads changed plugins and prints the notices.
    pub(super) async fn reload(&mut self, trigger: ReloadTrigger) {
        self.session.reload(trigger).await.iter().for_each(|line| self.note(&line.to_string()));
    }

    /// Switches between rendered answers and their source, and shows the last answer so.
    fn raw(&self) {
        self.note(match (self.printer.toggle_answers(), self.terminal.mode()) {
            (Answers::Rendered, _) => "showing answers rendered",
            (Answers::Source, TerminalMode::Ansi) => "showing answers as the model wrote them",
            (Answers::Source, TerminalMode::Dumb) => "this terminal shows answers as the model wrote them",
        });
        if let (Some(answer), TerminalMode::Ansi) = (&self.answer, self.terminal.mode()) {
            self.printer.replay(answer);
        }
    }

    fn copy(&self) -> Result<(), Failure> {
        let Some(answer) = &self.answer else {
            return Err(Failure::input("there is no answer to copy").help("ask something first"));
        };
        if self.terminal.mode() == TerminalMode::Dumb {
            return Err(
                Failure::input("this terminal has no clipboard").help("use /export to write the session to a file")
            );
        }
        let sequence = clipboard::sequence(answer, self.session.app().environment())?;
        self.terminal.steer(&sequence);
        let characters = answer.chars().count();
        self.note(&format!("copied {} (if your terminal supports OSC 52)", counted(characters, "character")));
        Ok(())
    }
}

/// What came of a list.
enum Picked {
    Command(SessionCommand),
    Nothing,
    /// There is no list to pick from here, so the choices are read.
    NoList,
}

impl Picked {
    fn of(command: Option<SessionCommand>) -> Self {
        command.map_or(Self::Nothing, Self::Command)
    }
}

fn chosen_of(chosen: Chosen, command: impl FnOnce(usize) -> SessionCommand) -> Picked {
    match chosen {
        Chosen::Choice(at) => Picked::Command(command(at)),
        Chosen::Dismissed => Picked::Nothing,
        Chosen::Nobody => Picked::NoList,
    }
}

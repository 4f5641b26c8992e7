//! `host run` in a terminal without a prompt: a conversation, prompt after prompt, in one session.
//!
//! A prompt is a run of the same executor, so each has its own limits, and Ctrl-C ends the run and not the
//! conversation. What goes wrong with a prompt is told and the conversation goes on; what was queued behind it comes
//! back to be looked at. It ends when the person leaves, which is an end in good order, or when the process is told to
//! end, which is none.
//!
//! Deliberately not here: reading keys and drawing (`terminal`), and what a run looks like (`printer`).

mod clipboard;
mod commands;
mod complete;
mod stats;

use std::sync::Arc;
use std::time::Instant;

use host_agent::{AgentDefinition, CompressionStatus, Left, Reopened, RunResult, Sessions, TerminateReason};
use host_message::AgentId;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::commands::{Command, Meant};
use self::stats::Stats;
use super::begin::{Begun, Workbench};
use super::{MAIN, main_agent};
use crate::arguments::{ApprovalMode, Run};
use crate::attach::{self, Attached};
use crate::environment::Environment;
use crate::exit::{self, Code, Failure};
use crate::interrupt::Interrupt;
use crate::models::{self, Model};
use crate::printer::{Printer as _, Style, is_drawn, terminal as drawn, visible};
use crate::terminal::{self, Choice, Chosen, History, Keyboard, Looks, Question, Said, Terminal};

/// Whether a run without a prompt is a conversation.
pub(super) fn is_possible(run: &Run, environment: &Environment) -> bool {
    is_drawn(run.output_format, environment) && environment.stdin_is_terminal && run.agent.is_none()
}

/// A conversation under way.
struct Talk {
    workbench: Workbench,
    definition: AgentDefinition,
    /// What the prompts of a run are filled in with, besides the prompt itself.
    inputs: Map<String, Value>,
    model: Model,
    begun: Begun,
    terminal: Terminal,
    style: Style,
    printer: Arc<drawn::Terminal>,
    stats: Arc<Stats>,
    /// What the model answered last.
    answer: Option<String>,
    stop: CancellationToken,
}

/// What comes after a command.
enum Then {
    GoOn,
    Leave,
}

/// Holds a conversation until the person leaves.
pub(super) async fn hold(
    mut workbench: Workbench,
    definition: AgentDefinition,
    model: Model,
    inputs: &Map<String, Value>,
    reopened: Option<Reopened>,
    interrupt: Interrupt,
) -> Result<Code, Failure> {
    let stop = interrupt.stop.clone();
    let style = Style::of(&workbench.environment);
    let left = reopened.as_ref().and_then(|reopened| reopened.recorded().past(&AgentId::new(MAIN)));
    let left = left.map_or(Left::Nothing, |past| past.left());
    let is_resumed = reopened.is_some();
    let terminal = open(&workbench, style, interrupt)?;
    let printer = Arc::new(drawn::Terminal::new(terminal.clone(), style));
    let stats = Arc::new(Stats::new(Arc::clone(&printer)));
    let begun = workbench.begin(definition.clone(), &model, reopened, Arc::clone(&stats) as Arc<_>)?;
    let (inputs, answer) = (inputs.clone(), None);
    let mut talk = Talk { workbench, definition, inputs, model, begun, terminal, style, printer, stats, answer, stop };
    talk.greet(is_resumed);
    if left != Left::Nothing {
        talk.note("goes on with what was left to do");
        talk.run(None).await;
    }
    talk.hold().await
}

fn open(workbench: &Workbench, style: Style, interrupt: Interrupt) -> Result<Terminal, Failure> {
    let sessions = &workbench.place.folders.sessions;
    let state = sessions.parent().unwrap_or(sessions);
    let terminal = Terminal::open(terminal::Setup {
        keyboard: Keyboard::Always,
        looks: workbench.environment.looks(),
        style,
        interrupt: interrupt.clone(),
        history: History::open(state.join("history")),
        completer: complete::completer(&workbench.place),
    })
    .map_err(|error| Failure::configuration(format!("the terminal cannot be used: {error}")))?;
    let told = terminal.clone();
    interrupt.divert(move || told.interrupted());
    Ok(terminal)
}

impl Talk {
    async fn hold(mut self) -> Result<Code, Failure> {
        loop {
            let label = format!("{} › ", mode(self.workbench.place.granted.mode()));
            let stop = self.stop.clone();
            let said = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(Failure::new(Code::Cancelled, "cancelled")),
                said = self.terminal.next(&label) => said,
            };
            let Said::Prompt(text) = said else { return Ok(self.left()) };
            match commands::meant(&text) {
                Meant::Prompt(prompt) => self.run(Some(&prompt)).await,
                Meant::Command(command) => match self.command(command).await {
                    Ok(Then::GoOn) => {}
                    Ok(Then::Leave) => return Ok(self.left()),
                    Err(failure) => self.told(&failure),
                },
                Meant::Nothing(failure) => {
                    self.told(&failure);
                    self.terminal.unqueue();
                    self.terminal.suggest(&text);
                }
            }
        }
    }

    /// The person leaves: nothing was cut short.
    fn left(&self) -> Code {
        if !self.begun.executor.history().contents().is_empty() {
            self.note(&format!("host run --resume {} goes on with this", self.begun.session.id()));
        }
        Code::Done
    }

    /// What a conversation begins with.
    fn greet(&self, is_resumed: bool) {
        let mode = mode(self.workbench.place.granted.mode());
        let folder = self.workbench.place.workspace.root().display().to_string();
        let columns = self.terminal.columns();
        let mut lines = vec![
            format!("{} · {} · {mode}", self.style.bold(concat!("host ", env!("CARGO_PKG_VERSION"))), self.model.id),
            terminal::fitting(&visible(&folder), columns),
        ];
        if is_resumed {
            let messages = self.begun.executor.history().contents().len();
            lines.push(format!("goes on with the session {}, {messages} messages", self.begun.session.id()));
        }
        let help = "/help has the commands, @path attaches a file, Ctrl-D leaves";
        lines.push(self.style.dim(&terminal::fitting(help, columns)));
        self.terminal.lines(&(lines.join("\n") + "\n\n"));
    }

    /// Runs a prompt, or what was left to do.
    async fn run(&mut self, prompt: Option<&str>) {
        let turn = self.stop.child_token();
        self.terminal.works_on(&turn);
        let began = Instant::now();
        let result = match prompt {
            Some(prompt) => match self.attached(prompt, &turn).await {
                Ok(Attached { prompt: text, parts, notes }) => {
                    notes.iter().for_each(|note| self.note(note));
                    let inputs = main_agent::with_prompt(&self.inputs, text);
                    self.begun.executor.run_with(&inputs, parts, &turn).await
                }
                Err(failure) => {
                    self.told(&failure);
                    self.terminal.unqueue();
                    return self.terminal.suggest(prompt);
                }
            },
            None => self.begun.executor.go_on(&self.inputs, &turn).await,
        };
        self.stats.ended(&result, began.elapsed());
        self.ended(&result);
    }

    async fn attached(&self, prompt: &str, turn: &CancellationToken) -> Result<Attached, Failure> {
        let place = &self.workbench.place;
        attach::attach(prompt, place, &place.tools()?, turn).await
    }

    fn ended(&mut self, result: &RunResult) {
        if let Some(answer) = &result.result {
            self.answer = Some(answer.clone());
        }
        let (_, failure) = exit::of_run(result);
        if result.terminate_reason == TerminateReason::Aborted {
            self.printer.finish(result, None);
            self.note("stopped");
        } else {
            self.printer.finish(result, failure.as_ref());
        }
        if failure.is_some() {
            // What was to come after it may make no sense now.
            self.terminal.unqueue();
        }
        self.terminal.lines("\n");
    }

    fn note(&self, note: &str) {
        let note = terminal::wrapped(&visible(note), self.terminal.columns(), 0);
        self.terminal.lines(&self.style.dim(&note));
    }

    fn told(&self, failure: &Failure) {
        self.terminal.lines(&exit::words(failure, self.style));
    }

    async fn command(&mut self, command: Command) -> Result<Then, Failure> {
        let place = &self.workbench.place;
        match command {
            Command::Quit => return Ok(Then::Leave),
            Command::Help => self.terminal.lines(&commands::help(self.terminal.columns())),
            Command::Tools => self.terminal.lines(&crate::command::tool::listed(place)),
            Command::Agents => {
                let agents = self.workbench.agents.all();
                self.terminal.lines(&crate::command::agent::list(agents));
            }
            Command::Mode => self.terminal.lines(&about_mode(place.granted.mode(), self.terminal.columns())),
            Command::Stats => self.terminal.lines(&self.stats.text(&self.model.id, self.begun.session.id())),
            Command::Thoughts => self.note(match self.printer.toggle_thoughts() {
                drawn::Thoughts::Whole => "thoughts are shown from here on",
                drawn::Thoughts::Subjects => "only what thoughts are about is shown from here on",
            }),
            Command::Model(None) => self.note(&format!("{}; /model ID asks another", self.model.id)),
            Command::Model(Some(id)) => self.choose(&id)?,
            Command::Compress => self.compress().await?,
            Command::Clear => self.clear()?,
            Command::Copy => self.copy()?,
            Command::Export(file) => self.export(file.as_deref()).await?,
            Command::UndoLastPrompt => self.undo()?,
        }
        Ok(Then::GoOn)
    }

    fn choose(&mut self, id: &str) -> Result<(), Failure> {
        let Workbench { place, environment, recording, .. } = &self.workbench;
        let model = models::connect(id, &place.configuration, environment)?;
        let model = match recording {
            Some(recording) => model.recorded(recording),
            None => model,
        };
        self.workbench.choose(&mut self.begun, &model)?;
        self.definition = main_agent::definition(&self.workbench.run, &self.workbench.place, &model)?;
        self.model = model;
        self.note(&format!("{} is asked from here on", self.model.id));
        Ok(())
    }

    async fn compress(&mut self) -> Result<(), Failure> {
        let turn = self.stop.child_token();
        self.terminal.works_on(&turn);
        self.printer.waits_for("shortening the conversation");
        let status = self.begun.executor.compress(&turn).await;
        self.printer.waits_no_more();
        let status = status.map_err(|error| Failure::of(Code::Configuration, &error))?;
        match status {
            _ if turn.is_cancelled() => self.note("stopped; the conversation is as it was"),
            CompressionStatus::Nothing => self.note("there is nothing to shorten"),
            // The printer has said it.
            CompressionStatus::Summarised
            | CompressionStatus::Shortened
            | CompressionStatus::Inflated
            | CompressionStatus::Empty
            | CompressionStatus::Failed => {}
        }
        Ok(())
    }

    /// A new conversation, in a session of its own. The one before stays as it is.
    fn clear(&mut self) -> Result<(), Failure> {
        let before = self.begun.session.id().clone();
        let observer = Arc::clone(&self.stats) as Arc<_>;
        self.begun = self.workbench.begin(self.definition.clone(), &self.model, None, observer)?;
        self.answer = None;
        self.stats.begin();
        self.note(&format!("a new conversation; host run --resume {before} goes on with the last one"));
        Ok(())
    }

    fn copy(&self) -> Result<(), Failure> {
        let Some(answer) = &self.answer else {
            return Err(Failure::input("there is no answer to copy").help("ask something first"));
        };
        if self.terminal.looks() == Looks::Plain {
            return Err(Failure::input("this terminal has no clipboard").help("/export writes all of it to a file"));
        }
        let sequence = clipboard::sequence(answer, &self.workbench.environment)?;
        self.terminal.steer(&sequence);
        let characters = answer.chars().count();
        self.note(&format!(
            "the last answer, {characters} characters, was handed to the terminal for its clipboard (OSC 52); one that \
             does not take it says nothing"
        ));
        Ok(())
    }

    async fn export(&self, file: Option<&str>) -> Result<(), Failure> {
        let id = self.begun.session.id();
        let place = &self.workbench.place;
        let text = crate::command::session::document(&Sessions::new(&place.folders.sessions), id.as_str())?;
        let file = file.map_or_else(|| format!("session-{id}.md"), str::to_owned);
        let path = place.workspace.root().join(&file);
        let shown = visible(&path.display().to_string()).into_owned();
        if path.symlink_metadata().is_ok() {
            let choice = |letter, label: &str| Choice { letter, label: label.to_owned() };
            let question = Question {
                lines: vec![format!("{shown} is there already.")],
                choices: vec![choice('n', "Keep it"), choice('y', "Write over it")],
                preselected: 0,
            };
            if self.terminal.ask(question).await != Chosen::Choice(1) {
                self.note("nothing was written");
                return Ok(());
            }
        }
        std::fs::write(&path, text).map_err(|error| {
            Failure::input(format!("`{shown}` cannot be written: {error}"))
                .help("name a file in a folder that you may write: /export FILE")
        })?;
        self.note(&format!("the session was written to {shown}"));
        Ok(())
    }

    fn undo(&mut self) -> Result<(), Failure> {
        let undone = self.begun.executor.undo_last_prompt().map_err(|error| {
            let failure = Failure::of(Code::Configuration, &error);
            Failure { help: error.help(), ..failure }
        })?;
        let Some(text) = undone else {
            return Err(Failure::input("there is no prompt to take back"));
        };
        self.answer = None;
        self.note("the last prompt was taken back, with all that came of it; files stay as they are now");
        self.terminal.suggest(&text);
        Ok(())
    }
}

/// The word for a mode.
fn mode(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Plan => "plan",
        ApprovalMode::Default => "default",
        ApprovalMode::AutoEdit => "auto-edit",
        ApprovalMode::Yolo => "yolo",
    }
}

fn about_mode(now: ApprovalMode, columns: usize) -> String {
    let modes = [
        (ApprovalMode::Plan, "reading only, whatever else was granted"),
        (ApprovalMode::Default, "reading, and what was granted besides"),
        (ApprovalMode::AutoEdit, "also changing files of the workspace"),
        (ApprovalMode::Yolo, "also running programs and fetching"),
    ];
    let line = |(this, words): (ApprovalMode, &str)| {
        let mark = if this == now { "›" } else { " " };
        terminal::wrapped(&format!("{mark} {:9}  {words}", mode(this)), columns, 13) + "\n"
    };
    modes.map(line).concat() + &terminal::wrapped("host run --approval-mode MODE begins in another one", columns, 0)
}

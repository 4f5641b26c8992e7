//! `host run` in a terminal without a prompt: a conversation, prompt after prompt, in one session.
//!
//! A prompt is a run of the same executor, so each has its own limits, and Ctrl-C ends the run and not the
//! conversation. A failed prompt is reported and the conversation continues; prompts that were queued after it return
//! to the input for review. The conversation ends when the user leaves, which is a success, or when the process is
//! asked to end, which is not.
//!
//! Deliberately not here: reading keys and drawing (`terminal`), and the display of a run (`printer`).

mod actions;
mod attention;
mod clipboard;
mod commands;
mod complete;
mod image;
mod line;
mod output;
mod resumed;
mod shell;
mod status;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use host_agent::RunResult;
use host_app::attach::Attached;
use host_app::session::cut_short::CutShort;
use host_app::session::hooks::SessionEnd;
use host_app::session::{Session, pages};
use host_extensions::plugins::reload::ReloadTrigger;
use host_journal::TerminateReason;
use host_sessions::report::Report as _;
use host_settings::error::{ErrorKind, Failure, run_failure};
use host_terminal::{self as terminal, History, Interrupt, Keyboard, Terminal, TerminalInput};
use host_text::{counted, exact, visible};
use tokio_util::sync::CancellationToken;

use self::commands::ParsedLine;
use self::line::SharedModes;
use self::output::CallPages;
use crate::approval;
use crate::exit::{self, Code};
use crate::printer::{self, Style, current_terminal, terminal as drawn};
use crate::process;

/// The indent of further rows of the first lines.
const INDENT: usize = 9;

/// The program and its version.
const HOST: &str = concat!("host ", env!("CARGO_PKG_VERSION"));

/// A conversation under way.
struct Repl {
    session: Session,
    terminal: Terminal,
    style: Style,
    printer: Arc<drawn::Terminal>,
    call_pages: CallPages,
    /// The model's last answer.
    answer: Option<String>,
    stop: CancellationToken,
    modes: SharedModes,
    /// Where images of the clipboard go.
    outputs: Arc<Mutex<PathBuf>>,
}

/// The next step after a command.
enum Flow {
    Continue,
    Leave,
}

/// Holds a conversation until the user leaves. `stats` prints the statistics of each prompt; `first` is sent at once.
pub(super) async fn hold(
    session: Session,
    interrupt: Interrupt,
    stats: bool,
    first: Option<String>,
) -> Result<Code, Failure> {
    let stop = interrupt.stop.clone();
    let environment = session.app().environment();
    let style = printer::style(environment);
    let (modes, outputs) = (SharedModes::default(), Arc::new(Mutex::new(session.outputs().to_owned())));
    let terminal = open(&session, style, interrupt, &modes, &outputs)?;
    let _approvals = approval::listen(session.approvals(), terminal.clone(), style, environment);
    let about = session.about(stats, exit::number);
    let shown = if stats { drawn::Stats::Table } else { drawn::Stats::Answer };
    let printer = Arc::new(drawn::Terminal::new(terminal.clone(), style, about, shown));
    let row = status::is_shown(&session).then(|| Arc::new(status::StatusRow::new(&session, terminal.clone())));
    let _status = row.as_ref().map(|row| row.listen());
    row.into_iter().for_each(|row| session.observers().add(row as Arc<_>));
    session.observers().add(Arc::clone(&printer) as Arc<_>);
    let call_pages = CallPages::new(&session, terminal.clone());
    let _pages = call_pages.listen(style);
    let mut repl = Repl { session, terminal, style, printer, call_pages, answer: None, stop, modes, outputs };
    repl.greet();
    let names: Vec<&str> = commands::all().iter().map(|known| known.name.trim_start_matches('/')).collect();
    repl.session.app().hidden_commands(&names).iter().for_each(|line| repl.note(line));
    if repl.session.is_resumed() {
        repl.show_past();
    }
    match first {
        Some(first) => repl.terminal.send(&first),
        None if repl.picks_up().await => repl.run(None).await,
        None => {}
    }
    repl.hold().await
}

fn open(
    session: &Session,
    style: Style,
    interrupt: Interrupt,
    modes: &SharedModes,
    outputs: &Arc<Mutex<PathBuf>>,
) -> Result<Terminal, Failure> {
    let terminal = current_terminal::open(terminal::Setup {
        keyboard: Keyboard::Always,
        mode: process::terminal_mode(session.app().environment()),
        style,
        interrupt: interrupt.clone(),
        history: History::open(session.app().folders().history.clone()),
        resize: process::resize(session.app().environment()),
        answers: process::answers(session.app().configuration()),
        assist: line::assist(session, modes, outputs),
        attention: attention::of(session),
    })
    .map_err(exit::terminal_unusable)?;
    let told = terminal.clone();
    interrupt.divert(move || told.interrupted());
    Ok(terminal)
}

impl Repl {
    async fn hold(mut self) -> Result<Code, Failure> {
        loop {
            let label = line::label(self.session.mode());
            line::now(&self.modes, self.session.mode());
            self.refresh_status();
            let stop = self.stop.clone();
            let input = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.session.end(SessionEnd::Other).await;
                    return Err(Failure::new(ErrorKind::Cancelled, "cancelled"));
                }
                input = self.terminal.next(&label) => input,
            };
            let text = match input {
                TerminalInput::Prompt(text) => text,
                TerminalInput::Mode => {
                    self.next_mode();
                    continue;
                }
                TerminalInput::Leave => return Ok(self.left().await),
            };
            match commands::parse(&text, self.session.app()) {
                ParsedLine::Prompt(prompt) => {
                    self.reload(ReloadTrigger::FilesChanged).await;
                    self.news();
                    self.run(Some(&prompt)).await;
                }
                ParsedLine::Session(command) => self.session_command(command, &text).await,
                ParsedLine::Own(command) => match self.own_command(command).await {
                    Ok(Flow::Continue) => {}
                    Ok(Flow::Leave) => return Ok(self.left().await),
                    Err(failure) => self.told(&failure),
                },
                ParsedLine::Shell(line) => {
                    if let Err(failure) = self.run_command(&line).await {
                        self.told(&failure);
                    }
                }
                ParsedLine::Invalid(failure) => self.gives_back(&text, &failure),
            }
        }
    }

    /// Ends the conversation because the user leaves: nothing was cut short.
    async fn left(&mut self) -> Code {
        self.session.end(SessionEnd::Exit).await;
        if !self.session.history().contents().is_empty() {
            self.note(&format!("resume later: host run --resume {}", self.session.id()));
        }
        Code::Done
    }

    /// Prints the first lines of a conversation.
    fn greet(&self) {
        let mode = self.session.mode();
        let folder = self.session.app().workspace().root().display().to_string();
        let columns = self.terminal.columns();
        let mut lines = vec![
            terminal::wrapped(
                &format!("{} · {} · {mode}", self.style.bold(HOST), exact(self.session.model().id.as_str())),
                columns,
                0,
            ),
            terminal::truncate_to_width(&exact(&folder), columns),
        ];
        let about = pages::start::lines(&self.session).into_iter();
        lines.extend(about.map(|line| self.style.dim(&terminal::wrapped(&line.to_string(), columns, INDENT))));
        if self.session.is_resumed() {
            let messages = counted(self.session.history().contents().len(), "message");
            lines.push(terminal::wrapped(&format!("resumed session {} ({messages})", self.session.id()), columns, 0));
        }
        let help = "/help for commands · @path to attach a file · Ctrl-D to quit";
        lines.push(self.style.dim(&terminal::truncate_to_width(help, columns)));
        self.terminal.lines(&(lines.join("\n") + "\n\n"));
    }

    /// Runs a prompt, or what was left to do.
    async fn run(&mut self, prompt: Option<&str>) {
        let turn = self.works();
        let began = Instant::now();
        let result = match prompt {
            Some(prompt) => match self.session.attach(prompt, &turn).await {
                Ok(attached) => self.send(attached, &turn).await,
                Err(failure) => {
                    self.terminal.rests();
                    return self.gives_back(prompt, &failure);
                }
            },
            None => self.session.finish_left(&turn).await,
        };
        self.has_run(&result, began, prompt);
    }

    fn works(&self) -> CancellationToken {
        let turn = self.stop.child_token();
        self.terminal.works_on(&turn);
        turn
    }

    async fn send(&mut self, prompt: Attached, turn: &CancellationToken) -> RunResult {
        prompt.notes.iter().for_each(|note| self.note(note));
        let steering = line::Steered { terminal: self.terminal.clone(), style: self.style };
        self.session.prompt_steered(prompt, &steering, turn).await
    }

    /// Prints what happened to MCP servers meanwhile.
    fn news(&mut self) {
        self.session.take_notices().iter().for_each(|line| self.note(&line.to_string()));
    }

    /// `typed` is what the user typed for it.
    fn has_run(&mut self, result: &RunResult, began: Instant, typed: Option<&str>) {
        self.terminal.rests();
        self.ended(result, typed);
        self.news();
        self.alert(result, began.elapsed());
    }

    fn ended(&mut self, result: &RunResult, typed: Option<&str>) {
        if let Some(answer) = &result.result {
            self.answer = Some(answer.clone());
        }
        let failure = run_failure(result);
        if failure.is_some() {
            // Queued prompts were written before the user saw how this prompt ended.
            self.terminal.unqueue();
        }
        match result.terminate_reason {
            TerminateReason::Aborted => self.printer.finish(result, None),
            TerminateReason::Timeout | TerminateReason::MaxTurns => {
                let failure = failure.map(|failure| failure.help("send `continue` to continue"));
                self.printer.finish(result, failure.as_ref());
            }
            TerminateReason::Goal | TerminateReason::Error | TerminateReason::ErrorNoCompleteTaskCall => {
                self.printer.finish(result, failure.as_ref());
            }
        }
        if let Some(cut) = self.session.cut_short(result) {
            let how = if result.terminate_reason == TerminateReason::Aborted { "stopped" } else { "failed" };
            self.cut_short(how, &cut, typed);
        }
        self.terminal.lines("\n");
    }

    /// Says what stays of a prompt that was stopped or failed. One without a reply returns to the input.
    fn cut_short(&self, how: &str, cut: &CutShort, typed: Option<&str>) {
        let mut note = format!("{how} · {}", cut.kept());
        match (cut.is_kept, typed) {
            (true, _) => {
                if !cut.changed.is_empty() || cut.may_have_changed_more {
                    note.push_str(" (/undo undoes that)");
                }
                note.push_str(" · /undo-prompt forgets the prompt");
            }
            (false, Some(typed)) => self.terminal.suggest(typed),
            (false, None) => {}
        }
        self.note(&note);
    }

    fn note(&self, note: &str) {
        let note = terminal::wrapped(&visible(note), self.terminal.columns(), 0);
        self.terminal.lines(&self.style.dim(&note));
    }

    /// Returns a prompt without a result to the input, so that the user can change it.
    fn gives_back(&self, input: &str, failure: &Failure) {
        self.terminal.unqueue();
        self.terminal.suggest(input);
        self.told(failure);
    }

    fn told(&self, failure: &Failure) {
        self.terminal.lines(&exit::words(failure, self.style));
    }
}

//! The commands of a conversation.

use std::sync::PoisonError;

use host_agent::CompressionStatus;
use host_app::session::hooks::SessionEnd;
use host_extensions::plugins::reload::ReloadTrigger;
use host_journal::Sessions;
use host_settings::error::Failure;
use host_terminal::{self as terminal, Answers, Choice, Chosen, Question, TerminalMode};
use host_text::{counted, exact, visible, visible_line};
use host_tool::ApprovalMode;

use super::commands::{self, Command, ServerPrompt};
use super::{Flow, Repl, clipboard, cost, hooks, processes, resumed, servers, settings, window};
use crate::command::undo;
use crate::printer::terminal as drawn;

impl Repl {
    /// Does what a command says.
    pub(super) async fn command(&mut self, command: Command) -> Result<Flow, Failure> {
        match command {
            Command::Quit => return Ok(Flow::Leave),
            Command::Help => {
                self.terminal.lines(&commands::help(&self.session.app().commands(), self.terminal.columns()));
            }
            Command::Tools => {
                let tools = crate::command::tool::listed(self.session.app(), self.session.grants());
                self.terminal.lines(&terminal::wrapped_entries(&tools, self.terminal.columns()));
            }
            Command::Reload => {
                if self.reload(ReloadTrigger::Requested).await == 0 {
                    self.note("no plugin changed");
                }
            }
            Command::Agents => {
                let agents = self.session.agents().all();
                self.terminal.lines(&crate::command::agent::list(agents));
            }
            Command::Servers => self.terminal.lines(&servers::text(self.session.app(), self.terminal.columns())),
            Command::ServerPrompt(ServerPrompt { server, prompt, written }) => {
                let turn = self.works();
                let prompt = turn.run_until_cancelled(self.session.server_prompt(&server, &prompt, &written)).await;
                self.terminal.rests();
                match prompt {
                    Some(prompt) => self.run_task(prompt?).await,
                    None => self.note("stopped"),
                }
            }
            Command::Mode(None) => {
                self.terminal.lines(&about_mode(self.session.mode(), self.terminal.columns()));
            }
            Command::Mode(Some(mode)) => self.regrant(&mode)?,
            Command::Permissions(what) => self.permissions(what.as_deref())?,
            Command::AddDir(folder) => self.add_folder(folder.as_deref())?,
            Command::Stats => {
                self.terminal.lines(&visible(&self.stats.text(&self.session.model().id, self.session.id())))
            }
            Command::Cost => self.terminal.lines(&cost::text(&self.session.costs(), self.terminal.columns())),
            Command::Context => self.terminal.lines(&window::text(
                &self.session.window(),
                self.terminal.columns(),
                self.terminal.mode(),
                self.style,
            )),
            Command::Config => {
                self.terminal.lines(&settings::text(&self.session.settings(), self.terminal.columns(), self.style))
            }
            Command::Thoughts => self.note(match self.printer.toggle_thoughts() {
                drawn::Thoughts::Whole => "showing full thoughts",
                drawn::Thoughts::Subjects => "showing thought titles only",
            }),
            Command::Raw => self.raw(),
            Command::Processes(argument) => self.processes(argument.as_deref()).await?,
            Command::Todo => self.todo()?,
            Command::Model(None) => self.note(&format!("{} · /model ID to change", self.session.model().id)),
            Command::Model(Some(id)) => self.choose(&id)?,
            Command::Memory(which) => self.memory(which.as_deref()).await?,
            Command::Init => {
                let prompt = self.session.init_prompt()?;
                self.run_task(prompt).await;
            }
            Command::Review(what) => self.review(what.as_deref()).await?,
            Command::Compress(keep) => self.compress(keep.as_deref()).await?,
            Command::Clear => self.clear().await?,
            Command::Hooks => self.terminal.lines(&hooks::text(&self.session.app().hooks, self.terminal.columns())),
            Command::Copy => self.copy()?,
            Command::Output(back) => self.call_pages.show(back.as_deref()).await?,
            Command::Export(file) => self.export(file.as_deref()).await?,
            Command::Rename(title) => self.rename(title.as_deref().unwrap_or_default())?,
            Command::Undo(to) => self.undo(to.as_deref()).await?,
            Command::UndoPrompt => self.undo_prompt()?,
            Command::Rewind(to) => self.rewind(to.as_deref()).await?,
        }
        Ok(Flow::Continue)
    }

    /// Reloads changed plugins and prints the notices; returns their number of lines.
    pub(super) async fn reload(&mut self, trigger: ReloadTrigger) -> usize {
        let told = self.session.reload(trigger).await;
        told.iter().for_each(|line| self.note(line));
        told.len()
    }

    /// Lists the programs in the background, or ends one.
    async fn processes(&self, argument: Option<&str>) -> Result<(), Failure> {
        let background = self.session.background();
        let ports = self.session.status().status().ports;
        let shown = match argument.map(|argument| argument.split_whitespace().collect::<Vec<_>>()).as_deref() {
            None => background.list(),
            Some(["stop", id]) => vec![background.stop(id).await.ok_or_else(|| {
                Failure::input(format!("no program `{}` runs in the background", exact(id)))
                    .help("/processes lists those that do")
            })?],
            Some(_) => {
                return Err(
                    Failure::input("`/processes` takes `stop ID` or nothing").help("such as /processes stop p1")
                );
            }
        };
        let ports = if argument.is_none() { ports } else { Vec::new() };
        self.terminal.lines(&processes::list(&shown, &ports, self.style, self.terminal.columns()));
        Ok(())
    }

    /// Shows the steps that the model wrote down last, in this process or before the session was resumed.
    fn todo(&self) -> Result<(), Failure> {
        let items = self.session.checklist()?;
        match items.is_empty() {
            true => self.note("the model has no list of steps"),
            false => self.terminal.lines(&drawn::checklist::lines(&items, "", self.style, self.terminal.columns())),
        }
        Ok(())
    }

    fn choose(&mut self, id: &str) -> Result<(), Failure> {
        self.session.set_model(id)?;
        self.note(&format!("model: {}", self.session.model().id));
        Ok(())
    }

    fn regrant(&mut self, mode: &str) -> Result<(), Failure> {
        let mode: ApprovalMode =
            mode.parse().map_err(|error: host_tool::UnknownMode| Failure::input(error.to_string()))?;
        self.session.set_mode(mode)?;
        self.note(&format!("mode: {mode} – {}", mode.about()));
        Ok(())
    }

    /// Reviews a change with tools that only read.
    async fn review(&mut self, what: Option<&str>) -> Result<(), Failure> {
        let prompt = self.session.review_prompt(what)?;
        let before = self.session.begin_review()?;
        self.run_task(prompt).await;
        self.session.end_review(before)
    }

    async fn compress(&mut self, keep: Option<&str>) -> Result<(), Failure> {
        let turn = self.stop.child_token();
        self.terminal.works_on(&turn);
        self.printer.waits_for("compressing the conversation");
        let status = self.session.compress(&turn, keep).await;
        self.printer.waits_no_more();
        self.terminal.rests();
        match status? {
            _ if turn.is_cancelled() => self.note("stopped; the conversation is unchanged"),
            CompressionStatus::Nothing => self.note("nothing to compact yet"),
            // The printer has said it.
            CompressionStatus::Summarised
            | CompressionStatus::Shortened
            | CompressionStatus::LeftOut
            | CompressionStatus::Inflated
            | CompressionStatus::Empty
            | CompressionStatus::Failed => {}
        }
        Ok(())
    }

    /// Starts a new conversation, in a session of its own. The previous one stays as it is.
    async fn clear(&mut self) -> Result<(), Failure> {
        self.session.end(SessionEnd::Clear).await;
        let before = self.session.clear()?;
        *self.outputs.lock().unwrap_or_else(PoisonError::into_inner) = self.session.outputs().to_owned();
        self.call_pages.follow(self.session.id());
        self.answer = None;
        self.stats.begin();
        self.note(&format!("new conversation; to resume the last one: host run --resume {before}"));
        Ok(())
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
        let sequence = clipboard::sequence(answer, &self.session.app().environment)?;
        self.terminal.steer(&sequence);
        let characters = answer.chars().count();
        self.note(&format!("copied {} (if your terminal supports OSC 52)", counted(characters, "character")));
        Ok(())
    }

    fn rename(&self, title: &str) -> Result<(), Failure> {
        self.note(&match self.session.rename(title)? {
            Some(title) => format!("this session is named “{}”", visible_line(&title)),
            None => "this session has no title; lists show its first prompt".to_owned(),
        });
        Ok(())
    }

    async fn export(&self, file: Option<&str>) -> Result<(), Failure> {
        let id = self.session.id();
        let app = self.session.app();
        let text = crate::command::session::document(&Sessions::new(&app.folders.sessions), id.as_str())?;
        let file = file.map_or_else(|| format!("session-{id}.md"), str::to_owned);
        let path = app.workspace.root().join(&file);
        let shown = exact(&path.display().to_string()).into_owned();
        if path.symlink_metadata().is_ok() {
            let choice = |letter, label: &str| Choice { letter, label: label.to_owned() };
            let question = Question {
                lines: vec![format!("{shown} already exists.")],
                choices: vec![choice('n', "Keep"), choice('y', "Overwrite")],
                ..Question::default()
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
        self.note(&format!("session written to {shown}"));
        Ok(())
    }

    /// Takes back what calls changed in files.
    async fn undo(&mut self, to: Option<&str>) -> Result<(), Failure> {
        let undo = self.session.undo()?;
        let calls = undo.calls()?;
        if calls.is_empty() {
            self.note("no call changed a file");
            return Ok(());
        }
        let number = match to.map(str::parse) {
            Some(Ok(number)) => number,
            Some(Err(_)) => {
                return Err(Failure::input("`/undo` takes the number of a call or nothing").help("such as /undo 3"));
            }
            None => match self.terminal.pick(undo::choices(&calls, self.style)).await {
                Chosen::Choice(at) => undo::number(&calls, at),
                Chosen::Dismissed => return Ok(()),
                // Without a list to pick from it is read.
                Chosen::Nobody => {
                    self.terminal.lines(&undo::list(&calls, self.style));
                    self.note("/undo NUMBER takes back what that call and all later ones changed");
                    return Ok(());
                }
            },
        };
        let undone = undo.take_back(number)?;
        self.session.add_undone(&undone);
        // An empty line behind it, as behind an answer.
        self.terminal.lines(&(undo::report(&undone, self.style) + "\n"));
        Ok(())
    }

    fn undo_prompt(&mut self) -> Result<(), Failure> {
        let Some(undone) = self.session.undo_prompt()? else {
            return Err(Failure::input("there is no prompt to remove"));
        };
        self.answer = None;
        self.terminal.suggest(&undone.prompt);
        self.note(&resumed::removed(&undone));
        Ok(())
    }
}

fn about_mode(now: ApprovalMode, columns: usize) -> String {
    let line = |this: ApprovalMode| {
        let words = this.about();
        let mark = if this == now { "›" } else { " " };
        terminal::wrapped(&format!("{mark} {:9}  {words}", this.name()), columns, 13) + "\n"
    };
    ApprovalMode::ALL.map(line).concat() + &terminal::wrapped("/mode MODE to change", columns, 0)
}

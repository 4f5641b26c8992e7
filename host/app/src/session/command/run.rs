//! What each command does.

use std::path::{Path, PathBuf};

use host_agent::CompressionStatus;
use host_extensions::plugins::reload::ReloadTrigger;
use host_model::{Effort, UnknownEffort, UnknownVerbosity, Verbosity};
use host_sessions::find;
use host_sessions::pages::markdown;
use host_sessions::transcript::Transcript;
use host_settings::error::Failure;
use host_settings::models;
use host_text::{Notice, exact, visible_line};
use host_tool::{ApprovalMode, UnknownMode};
use tokio_util::sync::CancellationToken;

use super::outcome::rewind_argument;
use super::{Choice, CommandOutcome, ServerPrompt, SessionCommand};
use crate::attach::{Attached, Author};
use crate::session::Session;
use crate::session::hooks::SessionEnd;
use crate::session::pages;
use crate::session::rewind::RewindScope;
use crate::session::setup;

/// The word that takes a permission back.
const FORGET: &str = "forget";

impl Session {
    /// Does what a command of the user says, while no prompt runs. `cancel` stops what takes its time.
    ///
    /// # Errors
    ///
    /// If its argument is invalid, or it cannot be done. Everything then is as before.
    pub async fn command(
        &mut self,
        command: SessionCommand,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, Failure> {
        self.end_review_if_any()?;
        match command {
            SessionCommand::Tools => {
                let tools = pages::tools::listed(&self.app, self.grants());
                Ok(CommandOutcome::Page(pages::tools::page(&tools)))
            }
            SessionCommand::Agents => Ok(CommandOutcome::Page(pages::agents::page(self.agents.all()))),
            SessionCommand::Servers => Ok(CommandOutcome::Page(pages::servers::page(&self.app))),
            SessionCommand::Hooks => Ok(CommandOutcome::Page(pages::hooks::page(&self.app.hooks))),
            SessionCommand::Context => Ok(CommandOutcome::Page(pages::window::page(&self.window()))),
            SessionCommand::Stats => Ok(CommandOutcome::Page(pages::stats::page(&self.stats()))),
            SessionCommand::Cost => Ok(CommandOutcome::Page(pages::cost::page(&self.costs()))),
            SessionCommand::Settings => Ok(CommandOutcome::Page(pages::settings::page(&self.settings()))),
            SessionCommand::Mode(None) => Ok(CommandOutcome::Page(pages::allowed::modes(self.mode()))),
            SessionCommand::Mode(Some(mode)) => self.change_mode(&mode),
            SessionCommand::Model(None) => Ok(note(format!("{} · /model ID to change", self.model.id))),
            SessionCommand::Model(Some(id)) => {
                self.set_model(&id)?;
                Ok(note(format!("model: {}", self.model.id)))
            }
            SessionCommand::Effort(None) => Ok(note(self.effort())),
            SessionCommand::Effort(Some(effort)) => self.change_effort(&effort),
            SessionCommand::Verbosity(None) => Ok(note(self.verbosity())),
            SessionCommand::Verbosity(Some(verbosity)) => self.change_verbosity(&verbosity),
            SessionCommand::Permissions(what) => self.permissions(what.as_deref()),
            SessionCommand::AddFolder(folder) => self.add_named_folder(folder.as_deref()),
            SessionCommand::Memory(which) => self.edit_memory(which.as_deref()),
            SessionCommand::Steps => self.steps(),
            SessionCommand::Processes(what) => self.processes(what.as_deref()).await,
            SessionCommand::Reload => Ok(self.reload_now().await),
            SessionCommand::Rename(title) => self.retitle(title.as_deref().unwrap_or_default()),
            SessionCommand::Export(file) => self.export(file.as_deref()),
            SessionCommand::Undo(to) => self.undo_files(to.as_deref()),
            SessionCommand::UndoPrompt => self.forget_prompt(),
            SessionCommand::Rewind(to) => self.rewind_to(to.as_deref()),
            SessionCommand::Clear => self.clear_now().await,
            SessionCommand::Compress(keep) => self.compress_now(keep.as_deref(), cancel).await,
            SessionCommand::Init => Ok(prompt(self.init_prompt()?)),
            SessionCommand::Review(what) => self.begin_review_of(what.as_deref()),
            SessionCommand::ServerPrompt(asked) => self.fill_server_prompt(&asked, cancel).await,
            SessionCommand::Custom(line) => self.custom(&line, cancel).await,
        }
    }

    fn change_mode(&mut self, mode: &str) -> Result<CommandOutcome, Failure> {
        let mode: ApprovalMode = mode.parse().map_err(|error: UnknownMode| Failure::input(error.to_string()))?;
        self.set_mode(mode)?;
        Ok(note(format!("mode: {mode} – {}", mode.about())))
    }

    /// How much the model thinks, and how to change it.
    fn effort(&self) -> String {
        let now = self.model.settings.effort.map_or("as its service decides", Effort::name);
        format!("effort: {now} · /effort EFFORT to change: {}", Effort::list())
    }

    fn change_effort(&mut self, effort: &str) -> Result<CommandOutcome, Failure> {
        let effort: Effort = effort.parse().map_err(|error: UnknownEffort| Failure::input(error.to_string()))?;
        self.set_effort(effort)?;
        Ok(note(match self.model.settings.effort {
            Some(chosen) if chosen == effort => format!("effort: {effort}"),
            Some(nearest) => format!("effort: {nearest}, since {} does not have {effort}", self.model.id),
            None if self.model.id.as_str() == models::AUTO => format!("effort: {effort}, for the model that is picked"),
            None => format!("{} has no effort to choose", self.model.id),
        }))
    }

    /// How many words the answers have, and how to change it.
    fn verbosity(&self) -> String {
        let now = self.model.settings.verbosity.map_or("as the model decides", Verbosity::name);
        format!("verbosity: {now} · /verbosity VERBOSITY to change: {}", Verbosity::list())
    }

    fn change_verbosity(&mut self, verbosity: &str) -> Result<CommandOutcome, Failure> {
        let verbosity = verbosity.parse().map_err(|error: UnknownVerbosity| Failure::input(error.to_string()))?;
        self.set_verbosity(verbosity)?;
        Ok(note(match self.model.settings.verbosity {
            Some(verbosity) => format!("verbosity: {verbosity}"),
            None => setup::no_verbosity(&self.model),
        }))
    }

    /// Lists what was allowed, or takes one of it back: `forget NUMBER` or `forget TEXT`.
    fn permissions(&mut self, what: Option<&str>) -> Result<CommandOutcome, Failure> {
        let Some(what) = what else {
            return Ok(CommandOutcome::Page(pages::allowed::permissions(&self.allowed())));
        };
        let Some(what) = what.strip_prefix(FORGET).filter(|rest| rest.starts_with(char::is_whitespace)) else {
            return Err(Failure::input(format!("`/permissions {}` is not a command", exact(what)))
                .help("use /permissions, or /permissions forget with a number or a part of the words"));
        };
        let forgotten = self.forget(what)?;
        Ok(note(format!("no longer allowed: {}", forgotten.words())))
    }

    fn add_named_folder(&mut self, folder: Option<&str>) -> Result<CommandOutcome, Failure> {
        let Some(folder) = folder else {
            return Err(Failure::input("`/add-dir` needs a folder").help("use /add-dir DIR; `~/` is your home"));
        };
        let folder = shown(&self.add_folder(folder)?);
        Ok(note(format!("tools may read and change {folder} like the workspace, for this session")))
    }

    fn edit_memory(&self, which: Option<&str>) -> Result<CommandOutcome, Failure> {
        let mut files = self.memory();
        let Some(which) = which else { return Ok(CommandOutcome::Page(pages::memory::page(&files))) };
        let number = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let number = number.filter(|at| *at < files.len());
        let Some(at) = number.or_else(|| files.iter().position(|file| file.shown == which)) else {
            return Err(Failure::input(format!("there is no context file `{}`", exact(which)))
                .help("/memory lists those that there are, with their numbers"));
        };
        let file = files.swap_remove(at);
        let text = self.memory_text(&file)?;
        let note = format!("{} is {}; a session that begins after a change reads it", file.shown, shown(&file.path));
        Ok(CommandOutcome::Edit { file, text, note })
    }

    /// Shows the steps that the model wrote down last, in this process or before the session was resumed.
    fn steps(&self) -> Result<CommandOutcome, Failure> {
        let steps = self.checklist()?;
        Ok(match steps.is_empty() {
            true => note("the model has no list of steps"),
            false => CommandOutcome::Steps(steps),
        })
    }

    /// Lists the programs in the background, or ends one.
    async fn processes(&self, what: Option<&str>) -> Result<CommandOutcome, Failure> {
        let background = self.background();
        let Some(what) = what else {
            let ports = self.status().status().ports;
            return Ok(CommandOutcome::Page(pages::processes::page(&background.list(), &ports)));
        };
        let words: Vec<&str> = what.split_whitespace().collect();
        let ["stop", id] = words.as_slice() else {
            return Err(Failure::input("`/processes` takes `stop ID` or nothing").help("such as /processes stop p1"));
        };
        let stopped = background.stop(id).await.ok_or_else(|| {
            Failure::input(format!("no program `{}` runs in the background", exact(id)))
                .help("/processes lists those that do")
        })?;
        Ok(CommandOutcome::Page(pages::processes::page(&[stopped], &[])))
    }

    async fn reload_now(&mut self) -> CommandOutcome {
        let told = self.reload(ReloadTrigger::Requested).await;
        if told.is_empty() { note("no plugin changed") } else { CommandOutcome::Notes(told) }
    }

    fn retitle(&self, title: &str) -> Result<CommandOutcome, Failure> {
        Ok(note(match self.rename(title)? {
            Some(title) => format!("this session is named “{}”", visible_line(&title)),
            None => "this session has no title; lists show its first prompt".to_owned(),
        }))
    }

    /// Writes the session to a file of the workspace; one that exists is not overwritten.
    fn export(&self, file: Option<&str>) -> Result<CommandOutcome, Failure> {
        let file = file.map_or_else(|| format!("session-{}.md", self.id()), str::to_owned);
        let path: PathBuf = self.app.workspace.root().join(&file);
        match path.symlink_metadata() {
            Ok(_) => Ok(CommandOutcome::Choose(Choice::Overwrite(path))),
            Err(_) => self.export_to(&path).map(note),
        }
    }

    /// Writes the session to a file as Markdown, over what is there; returns a note.
    ///
    /// # Errors
    ///
    /// If the log cannot be read or the file cannot be written.
    pub fn export_to(&self, path: &Path) -> Result<String, Failure> {
        let stored = find::by_id(&*self.app.journals, self.id().as_str())?;
        let text = markdown::text(&Transcript::read(&stored).whole()?);
        let shown = shown(path);
        std::fs::write(path, text).map_err(|error| {
            Failure::input(format!("`{shown}` cannot be written: {error}"))
                .help("name a file in a folder that you may write: /export FILE")
        })?;
        Ok(format!("session written to {shown}"))
    }

    /// Takes back what a call and all later ones changed in files.
    fn undo_files(&mut self, to: Option<&str>) -> Result<CommandOutcome, Failure> {
        let undo = self.undo()?;
        let calls = undo.calls()?;
        if calls.is_empty() {
            return Ok(note("no call changed a file"));
        }
        let Some(to) = to else { return Ok(CommandOutcome::Choose(Choice::Call(calls))) };
        let number = to
            .parse::<usize>()
            .map_err(|_| Failure::input("`/undo` takes the number of a call or nothing").help("such as /undo 3"))?;
        let undone = undo.take_back(number)?;
        self.add_undone(&undone);
        Ok(CommandOutcome::FilesUndone(pages::undo::report(&undone)))
    }

    fn forget_prompt(&mut self) -> Result<CommandOutcome, Failure> {
        let Some(undone) = self.undo_prompt()? else {
            return Err(Failure::input("there is no prompt to remove"));
        };
        let note = pages::rewind::removed(&undone);
        Ok(CommandOutcome::WentBack { prompt: undone.prompt, files: None, note })
    }

    /// Goes back to before a prompt. What is not written has to be chosen, unless there is nothing to choose.
    fn rewind_to(&mut self, to: Option<&str>) -> Result<CommandOutcome, Failure> {
        let written = to.map(rewind_argument).transpose()?;
        let mut points = self.rewind_points()?;
        if points.is_empty() {
            return Err(Failure::input("there is no prompt to go back to"));
        }
        let Some((number, scope)) = written else { return Ok(CommandOutcome::Choose(Choice::Prompt(points))) };
        let Some(at) = points.iter().position(|point| point.number == number) else {
            return Err(Failure::input(format!("there is no prompt {number} in the conversation"))
                .help(format!("use a number from 1 to {}", points.len())));
        };
        let point = points.swap_remove(at);
        let scope = match scope {
            Some(scope) => scope,
            // Where nothing changed there is nothing to ask.
            None if point.changed.is_empty() => RewindScope::Conversation,
            None => return Ok(CommandOutcome::Choose(Choice::Scope(point))),
        };
        let rewound = self.rewind(&point, scope)?;
        let files = || pages::undo::report(&rewound.files);
        Ok(match (rewound.prompt, scope) {
            (None, _) => CommandOutcome::FilesUndone(files()),
            (Some(prompt), RewindScope::Conversation) => {
                let stay = if point.changed.is_empty() { "" } else { "; files stay as they are" };
                CommandOutcome::WentBack { prompt, files: None, note: format!("back to before prompt {number}{stay}") }
            }
            (Some(prompt), RewindScope::Files | RewindScope::All) => {
                let note = format!("back to before prompt {number}");
                CommandOutcome::WentBack { prompt, files: Some(files()), note }
            }
        })
    }

    /// Starts a new conversation, in a session of its own. The previous one stays as it is.
    async fn clear_now(&mut self) -> Result<CommandOutcome, Failure> {
        self.end(SessionEnd::Clear).await;
        let before = self.clear()?;
        let resumed = format!("run --resume {before}");
        let note = Notice::from("new conversation; to resume the last one: ")
            .plain_command(resumed, "open it from the list of sessions");
        Ok(CommandOutcome::Cleared { note })
    }

    async fn compress_now(
        &mut self,
        keep: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, Failure> {
        let status = self.compress(cancel, keep).await?;
        if cancel.is_cancelled() {
            return Ok(CommandOutcome::Stopped { note: "stopped; the conversation is unchanged".to_owned() });
        }
        let note = match status {
            CompressionStatus::Nothing => "nothing to compact yet".to_owned(),
            CompressionStatus::Summarised
            | CompressionStatus::Shortened
            | CompressionStatus::LeftOut
            | CompressionStatus::Inflated
            | CompressionStatus::Empty
            | CompressionStatus::Failed => {
                format!("the conversation has about {} tokens now", self.window().total.tokens())
            }
        };
        Ok(CommandOutcome::Compressed { status, note })
    }

    /// Returns the prompt of a review; from now on tools only read, until its run has ended.
    fn begin_review_of(&mut self, what: Option<&str>) -> Result<CommandOutcome, Failure> {
        let asked = self.review_prompt(what)?;
        self.reviewing = Some(self.begin_review()?);
        Ok(prompt(asked))
    }

    async fn fill_server_prompt(
        &self,
        ServerPrompt { server, prompt: name, written }: &ServerPrompt,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, Failure> {
        match cancel.run_until_cancelled(self.server_prompt(server, name, written)).await {
            Some(filled) => Ok(prompt(filled?)),
            None => Ok(CommandOutcome::Stopped { note: "stopped".to_owned() }),
        }
    }

    async fn custom(&self, line: &str, cancel: &CancellationToken) -> Result<CommandOutcome, Failure> {
        let found = self.command_prompt(line, Author::User, cancel).await?;
        found.map(prompt).ok_or_else(|| Failure::input(format!("there is no command `{}`", exact(line))))
    }
}

fn note(words: impl Into<Notice>) -> CommandOutcome {
    CommandOutcome::Notes(vec![words.into()])
}

fn prompt(attached: Attached) -> CommandOutcome {
    CommandOutcome::Prompt(Box::new(attached))
}

fn shown(path: &Path) -> String {
    exact(&path.display().to_string()).into_owned()
}

//! The context files of folders that the model enters: when a call has used a file in a folder, the files of that
//! folder and of those above it join the conversation with the next turn.
//!
//! Promises: they are read like those of the working folder, with the same grants, includes and marks; nothing of a
//! folder that the ignore rules leave out, or that is another repository, is read; each file joins a conversation once,
//! and the number and size of all are limited.
//!
//! Deliberately not here: how a conversation keeps them (`host-agent`).

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use host_agent::{ContextSource, Event, EventKind, KeptText, Observer};
use host_extensions::grants::UserGrants;
use host_journal::{CallStatus, Fact};
use host_message::{AgentId, CallId, Content, FunctionCall};
use host_settings::repository::repository_of;
use serde_json::Value;

use super::ContextFile;
use super::files::{FolderFiles, Names, Root};
use crate::app::App;

/// The most characters of such files in one conversation. Protects the model's window: they are never compressed.
const MAX_TOTAL: usize = 60_000;

/// The most folders that are looked at in one conversation. Protects the time between two turns.
const MAX_FOLDERS: usize = 500;

/// The most paths of one call that count. Protects the time between two turns.
const MAX_PATHS: usize = 20;

/// The arguments of tools that name a file or a folder.
const PATHS: [&str; 3] = ["path", "directory", "include"];

/// The beginning of the heading of such a file.
const HEADING: &str = "instructions in `";

/// The context files of entered folders, for one session.
pub(crate) struct EnteredFolders {
    root: Option<Root>,
    names: Names,
    workspace: PathBuf,
    agent: AgentId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The calls that run, with the paths that they use.
    running: HashMap<CallId, Vec<String>>,
    /// Folders that were entered since the last turn.
    entered: Vec<PathBuf>,
    /// Folders that were looked at.
    looked: BTreeSet<PathBuf>,
    /// The headings of the files that the conversation has.
    has: BTreeSet<String>,
    /// Those of files that the user changed since: they join again.
    renewed: BTreeSet<String>,
    characters: usize,
    files: Vec<ContextFile>,
    warnings: Vec<String>,
    is_full: bool,
}

impl EnteredFolders {
    /// Creates those of a session, for its agent with this id.
    pub(crate) fn new(app: &App, grants: &UserGrants, agent: AgentId) -> Self {
        let workspace = app.workspace.root().to_owned();
        Self {
            root: Root::of_repository(app, grants),
            names: Names::of_project(app),
            workspace,
            agent,
            state: Mutex::default(),
        }
    }

    /// Takes over what a conversation has, which may be another one, or may have lost its last messages.
    pub(crate) fn follow(&self, contents: &[Content]) {
        let kept = KeptText::all_in(contents).into_iter().filter(|kept| kept.heading.starts_with(HEADING));
        let mut state = State::default();
        for KeptText { heading, text } in kept {
            state.characters += text.chars().count();
            state.has.insert(heading);
        }
        let mut now = self.state();
        state.files = std::mem::take(&mut now.files);
        state.files.retain(|file| state.has.contains(&heading(&file.shown)));
        state.warnings = std::mem::take(&mut now.warnings);
        // The last calls of a run have no next turn in it.
        state.entered = std::mem::take(&mut now.entered);
        state.renewed = std::mem::take(&mut now.renewed);
        state.has.retain(|heading| !state.renewed.contains(heading));
        *now = state;
    }

    /// Forgets everything, for another conversation.
    pub(crate) fn reset(&self) {
        *self.state() = State::default();
    }

    /// Lets a file join again, which the user changed.
    pub(crate) fn renew(&self, file: &ContextFile) {
        let mut state = self.state();
        state.has.remove(&heading(&file.shown));
        state.renewed.insert(heading(&file.shown));
        if let Some(folder) = file.path.parent() {
            state.looked.remove(folder);
            state.entered.push(folder.to_owned());
        }
        state.files.retain(|known| known.path != file.path);
    }

    /// Returns the files that joined in this process.
    pub(crate) fn files(&self) -> Vec<ContextFile> {
        self.state().files.clone()
    }

    /// Takes what the user should know, a line each.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.state().warnings)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a path that a call used; `None` if there is none in the repository.
    fn folder_of(&self, path: &str) -> Option<PathBuf> {
        // Of a glob, the part without signs.
        let plain = path.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let path = std::fs::canonicalize(self.workspace.join(plain)).ok()?;
        let folder = if path.is_dir() { path.as_path() } else { path.parent()? };
        folder.starts_with(&self.root.as_ref()?.root).then(|| folder.to_owned())
    }

    /// The folders from the top of the repository down to this one whose files the conversation does not have.
    fn below(&self, root: &Root, folder: &Path, state: &mut State) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|above| above.starts_with(&root.root))
            // Those were read before the first turn.
            .filter(|above| !self.workspace.starts_with(above))
            .map(Path::to_owned)
            .collect();
        folders.reverse();
        folders.retain(|folder| state.looked.len() < MAX_FOLDERS && state.looked.insert(folder.clone()));
        folders.retain(|folder| repository_of(folder) == Some(&root.root) || repository_of(folder).is_none());
        folders
    }

    fn read(&self, root: &Root, folder: &Path, state: &mut State) -> Vec<KeptText> {
        let mut texts = Vec::new();
        let FolderFiles { files, warnings } = FolderFiles::read(root, folder, &self.names);
        state.warnings.extend(warnings);
        for (file, text) in files {
            let heading = heading(&file.shown);
            if state.has.contains(&heading) {
                continue;
            }
            if state.characters + file.characters > MAX_TOTAL {
                if !state.is_full {
                    state.warnings.push(format!(
                        "the context file `{}` is left out: those of folders have at most {MAX_TOTAL} characters in a conversation",
                        file.shown
                    ));
                }
                state.is_full = true;
                continue;
            }
            state.characters += file.characters;
            state.has.insert(heading.clone());
            state.renewed.remove(&heading);
            let folder = file.shown.rsplit_once('/').map_or(".", |(folder, _)| folder);
            let about = format!(
                "You work with files in `{folder}`. {} For files in this folder it takes precedence over what is written further up.",
                root.about
            );
            texts.push(KeptText { heading, text: format!("{about}\n\n{text}") });
            state.files.push(file);
        }
        texts
    }
}

impl ContextSource for EnteredFolders {
    fn take(&self, _: &[KeptText]) -> Vec<KeptText> {
        let mut state = self.state();
        let Some(root) = &self.root else { return Vec::new() };
        let entered = std::mem::take(&mut state.entered);
        let mut texts = Vec::new();
        for folder in entered {
            for folder in self.below(root, &folder, &mut state) {
                if !root.is_ignored(&folder) {
                    texts.extend(self.read(root, &folder, &mut state));
                }
            }
        }
        texts
    }
}

impl Observer for EnteredFolders {
    fn event(&self, event: &Event<'_>) {
        if *event.agent_id != self.agent {
            return;
        }
        match event.kind {
            EventKind::ToolCallRequest { call, .. } => {
                let paths = paths(call);
                if !paths.is_empty() {
                    self.state().running.insert(call.id.clone(), paths);
                }
            }
            EventKind::Fact(Fact::CallSettled { call_id, end, .. }) => {
                let Some(paths) = self.state().running.remove(call_id) else { return };
                if end.status == CallStatus::Success {
                    let folders: Vec<PathBuf> = paths.iter().filter_map(|path| self.folder_of(path)).collect();
                    self.state().entered.extend(folders);
                }
            }
            _ => {}
        }
    }
}

/// The heading of a file in a conversation.
fn heading(shown: &str) -> String {
    format!("{HEADING}{shown}`")
}

/// The paths that a call names.
fn paths(call: &FunctionCall) -> Vec<String> {
    let values = PATHS.iter().filter_map(|name| call.arguments.get(*name));
    let texts = values.flat_map(|value| match value {
        Value::Array(all) => all.iter().collect::<Vec<_>>(),
        one => vec![one],
    });
    texts.filter_map(Value::as_str).filter(|path| !path.is_empty()).take(MAX_PATHS).map(str::to_owned).collect()
}

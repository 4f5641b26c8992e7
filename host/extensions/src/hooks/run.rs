//! One hook that is asked about one event.
//!
//! Deliberately not here: which hooks are asked, and what their answers are together (`session`).

use std::sync::Arc;

use host_capability::Resources;
use host_plugin::{HookCommand, HookComponent, HookQuestion, Runtime};
use host_process::ConfineMode;
use host_tool::{ApprovalMode, HookAsker, HookEvent, HookInput};
use host_undo::{CallRecorder, Recorder};
use serde_json::{Map, Value};

use super::answer::{HookFailure, Said, of_program};
use super::input::{HookPlace, written};
use super::{Hook, Runs, component, digest};

/// What all hooks of a session run with.
pub(super) struct Surroundings {
    pub(super) runtime: Arc<Runtime>,
    pub(super) place: HookPlace,
    pub(super) resources: Resources,
    pub(super) confine: ConfineMode,
    /// Keeps what hooks change behind a call or an answer.
    pub(super) changes: Option<std::sync::Arc<Recorder>>,
}

/// How the changes of hooks that belong to no call are named in the journal of undo.
pub const HOOK: &str = "hook-";

impl Surroundings {
    /// Returns what keeps the changes of a hook about this event. Formatters run behind a call, so that its changes and
    /// theirs are undone together; what decides about something is not a program that changes files.
    fn changes(&self, input: &HookInput<'_>) -> Option<CallRecorder> {
        let event = input.event();
        let id = match event {
            HookEvent::PostToolUse => input.call().map(|call| call.id.to_string())?,
            HookEvent::Stop | HookEvent::SubagentStop => {
                format!("{HOOK}{}-{}", event.name(), jiff::Timestamp::now().as_millisecond())
            }
            HookEvent::SessionStart
            | HookEvent::UserPromptSubmit
            | HookEvent::PreToolUse
            | HookEvent::PermissionRequest
            | HookEvent::PreCompact
            | HookEvent::SessionEnd
            | HookEvent::Notification => return None,
        };
        self.changes.as_ref().map(|changes| CallRecorder::new(std::sync::Arc::clone(changes), &id))
    }
}

/// A hook with what it reads: all that is needed to run it.
pub(super) enum Prepared {
    Program(Box<HookCommand>, Value),
    Component(Arc<HookComponent>, HookQuestion),
}

impl Hook {
    /// Prepares it for an event.
    pub(super) fn prepare(&self, around: &Surroundings, asker: &HookAsker<'_>, input: &HookInput<'_>) -> Prepared {
        let place = &around.place;
        let argv = match &self.runs {
            Runs::Program(argv) => argv,
            Runs::Component(_, component) => {
                return Prepared::Component(Arc::clone(component), component::question(asker, input, place));
            }
        };
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let (project, workspace) = (text(&place.project), text(&place.workspace));
        let mut resources = around.resources.clone();
        resources.reads.extend(self.reads.iter().cloned());
        // Its input names it.
        resources.reads.extend(place.transcript.iter().cloned());
        let environment = [
            ("HOST_PROJECT_DIR", &project),
            ("CLAUDE_PROJECT_DIR", &project),
            ("GEMINI_PROJECT_DIR", &project),
            ("GEMINI_CWD", &workspace),
            ("GEMINI_SESSION_ID", &place.session),
        ];
        let filled = |word: &String| {
            let names = ["${CLAUDE_PROJECT_DIR}", "${GEMINI_PROJECT_DIR}", "${HOST_PROJECT_DIR}"];
            names.iter().fold(word.clone(), |word, name| word.replace(name, &project))
        };
        // A shell fills them in by itself, within its quotes.
        let is_line = argv.first().is_some_and(|program| program == "sh");
        let command = HookCommand {
            argv: if is_line { argv.clone() } else { argv.iter().map(filled).collect() },
            directory: place.workspace.clone(),
            environment: environment.map(|(name, value)| (name.to_owned(), value.clone())).into(),
            resources,
            confine: around.confine,
            only_reads: asker.mode == ApprovalMode::Plan,
            limit: self.limit,
            changes: around.changes(input),
        };
        Prepared::Program(Box::new(command), written(self.convention, asker, input, place))
    }

    /// Runs it to its end. The error says why it failed. Dropping the future ends it.
    pub(super) async fn ask(&self, prepared: Prepared, runtime: &Runtime) -> Result<Said, HookFailure> {
        let (command, input) = match prepared {
            Prepared::Program(command, input) => (command, input),
            Prepared::Component(component, question) => {
                let reply = runtime.ask_hook(&component, question, self.limit).await;
                let reply = reply.map_err(HookFailure::Component)?;
                return component::said(reply, self.event).map_err(HookFailure::Arguments);
            }
        };
        let programs = self.programs.clone();
        let changed = tokio::task::spawn_blocking(move || {
            programs.into_iter().find(|(path, before)| digest(path).as_ref() != Some(before)).map(|(path, _)| path)
        });
        if let Some(path) = changed.await.map_err(|error| HookFailure::Unchecked(error.to_string()))? {
            return Err(HookFailure::Changed(path));
        }
        let nothing = Map::new();
        let sent = input.get("tool_input").and_then(Value::as_object).unwrap_or(&nothing);
        let mut line = input.to_string().into_bytes();
        line.push(b'\n');
        let (end, printed) = runtime.run_hook(&command, line).await;
        of_program(self.convention, self.event, sent, &end, &printed)
    }
}

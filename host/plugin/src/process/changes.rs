//! What programs change is kept, so that it can be undone.
//!
//! Promises: a program does not start if what it may change cannot be kept; what is known not to be kept is written down
//! before it starts; what it changed is written down when it has ended, also when its call was dropped.

use std::path::{Path, PathBuf};

use host_message::with_causes;
use host_undo::{CallRecorder, ProgramRecorder, Recorder};

use crate::Runtime;
use crate::bindings::process::Error;
use crate::preview_guard::Lasts;
use crate::programs::Unkept;
use crate::store::CallState;

/// Looks at what there is before a program changes it, for a call whose changes can be undone. If that fails, no program may
/// run; the error says why what it may change cannot be kept, a clause.
pub(crate) async fn before_program(changes: Option<CallRecorder>) -> Result<Option<ProgramRecorder>, String> {
    let Some(changes) = changes else { return Ok(None) };
    let looked = tokio::task::spawn_blocking(move || changes.before_program()).await;
    looked.map_err(|error| error.to_string())?.map(Some).map_err(|error| with_causes(&error))
}

impl CallState {
    /// Writes down what of its changes is not kept.
    pub(super) fn not_kept(&self, command: &str, granted: &[PathBuf], lasts: Lasts) -> Result<(), Error> {
        let Some(changes) = &self.changes else { return Ok(()) };
        let command = host_text::excerpt(command, 60);
        let is_kept = |path: &Path| changes.recorder().covers(path);
        let mut unkept = self.shared.programs.unkept(is_kept);
        if unkept != [Unkept::Elsewhere] {
            unkept.extend(granted.iter().filter(|path| !is_kept(path)).cloned().map(Unkept::In));
        }
        let in_files = unkept.iter().map(|place| match place {
            Unkept::Elsewhere => {
                format!("`{command}` was not confined: what it changed outside of the workspace is not kept")
            }
            Unkept::In(path) => format!("what `{command}` changed in `{}` is not kept", path.display()),
        });
        let later = format!("`{command}` went on in the background: what it changed later is not kept");
        let mut gaps = in_files.chain((lasts == Lasts::Session).then_some(later));
        gaps.try_for_each(|why| changes.gap(&why)).map_err(|error| cannot_be_kept(&with_causes(&error)))
    }
}

impl Runtime {
    /// Returns what of a program's changes `recorder` will not keep, as far as that is known before the program starts: a
    /// noun phrase each, such as `its changes outside of the workspace`.
    pub fn not_undone(&self, recorder: &Recorder, in_background: bool) -> Vec<String> {
        let unkept = self.shared().programs.unkept(|path| recorder.covers(path));
        let in_files = unkept.iter().map(|place| match place {
            Unkept::Elsewhere => "its changes outside of the workspace".to_owned(),
            Unkept::In(path) => format!("its changes in `{}`", path.display()),
        });
        let unseen =
            recorder.unseen().into_iter().map(|(root, why)| format!("its changes in `{}`: {why}", root.display()));
        let later = in_background.then(|| "what it changes in the background".to_owned());
        in_files.chain(unseen).chain(later).collect()
    }
}

pub(super) fn cannot_be_kept(why: &str) -> Error {
    Error::Io(format!("no program was started, since what it may change cannot be kept: {why}"))
}

/// What is written down when a program has ended, also if this is dropped.
#[derive(Debug)]
pub(crate) struct AfterProgram(Option<ProgramRecorder>);

impl AfterProgram {
    /// For a program that was started.
    pub(crate) fn new(program: Option<ProgramRecorder>) -> Self {
        Self(program)
    }

    /// Writes down what it changed.
    pub(crate) async fn look(&mut self) {
        let Some(program) = self.0.take() else { return };
        // Dropped with its call, it still ends.
        tokio::task::spawn_blocking(move || look(program)).await.ok();
    }
}

impl Drop for AfterProgram {
    fn drop(&mut self) {
        let Some(program) = self.0.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || look(program))),
            Err(_) => look(program),
        }
    }
}

fn look(program: ProgramRecorder) {
    if let Err(error) = program.after_program() {
        tracing::error!(error = with_causes(&error), "what a program changed cannot be written down");
    }
}

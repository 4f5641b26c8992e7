//! What programs change is kept, so that it can be undone.
//!
//! Promises: a program does not start if what it may change cannot be kept; what is known not to be kept is written down
//! before it starts; what it changed is written down when it has ended, also when its call was dropped.

use host_message::with_causes;
use host_process::Confinement;
use host_undo::CallRecorder;

use crate::bindings::process::Error;
use crate::preview_guard::Lasts;
use crate::store::CallState;

/// Looks at what there is before a program changes it.
pub(super) async fn before_program(changes: Option<CallRecorder>) -> Result<(), Error> {
    let Some(changes) = changes else { return Ok(()) };
    let looked = tokio::task::spawn_blocking(move || changes.before_program()).await;
    looked.map_err(|error| Error::Io(error.to_string()))?.map_err(|error| cannot_be_kept(&error))
}

impl CallState {
    /// Writes down what of its changes is not kept.
    pub(super) fn not_kept(&self, command: &str, confinement: Option<&Confinement>, lasts: Lasts) -> Result<(), Error> {
        let Some(changes) = &self.changes else { return Ok(()) };
        let command = host_text::excerpt(command, 60);
        let mut gaps = Vec::new();
        match confinement {
            None => {
                gaps.push(format!("`{command}` was not confined: what it changed outside of the workspace is not kept"))
            }
            Some(confinement) => {
                let outside = confinement.writable.iter().filter(|path| !changes.recorder().covers(path));
                // The repository's own folder is said once, in the documents.
                let outside = outside.filter(|path| !path.components().any(|part| part.as_os_str() == ".git"));
                gaps.extend(
                    outside.map(|path| format!("what `{command}` changed in `{}` is not kept", path.display())),
                );
            }
        }
        if lasts == Lasts::Session {
            gaps.push(format!("`{command}` went on in the background: what it changed later is not kept"));
        }
        gaps.iter().try_for_each(|why| changes.gap(why)).map_err(|error| cannot_be_kept(&error))
    }
}

fn cannot_be_kept(error: &host_undo::JournalError) -> Error {
    let why = with_causes(error);
    Error::Io(format!("no program was started, since what it may change cannot be kept: {why}"))
}

/// What is written down when a program has ended.
#[derive(Debug)]
pub(crate) struct AfterProgram(Option<CallRecorder>);

impl AfterProgram {
    pub(crate) fn new(changes: CallRecorder) -> Self {
        Self(Some(changes))
    }

    /// Writes down what it changed.
    pub(crate) async fn look(&mut self) {
        let Some(changes) = self.0.take() else { return };
        // Dropped with its call, it still ends.
        tokio::task::spawn_blocking(move || look(&changes)).await.ok();
    }
}

impl Drop for AfterProgram {
    fn drop(&mut self) {
        let Some(changes) = self.0.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || look(&changes))),
            Err(_) => look(&changes),
        }
    }
}

fn look(changes: &CallRecorder) {
    if let Err(error) = changes.after_program() {
        tracing::error!(error = with_causes(&error), "what a program changed cannot be written down");
    }
}

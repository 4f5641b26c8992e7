//! What programs change is kept, so that it can be undone.
//!
//! Promises: what it may not leave in repositories does not stay; a program does not start if what it may change cannot
//! be kept; what is known not to be kept is written down before it starts; what it changed is written down when it has
//! ended, also when its call was dropped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_programs::{ProgramReach, Repositories, Unkept};
use host_text::with_causes;
use host_undo::{CallRecorder, ProgramRecorder, Recorder, run_later_by};

use crate::Runtime;
use crate::access::Access;
use crate::answer::Ground;
use crate::bindings::process::Error;
use crate::shared::Shared;
use crate::store::StoreData;

/// Looks at what there is before a program changes it, for a call whose changes can be undone. If that fails, no
/// program may run; the error says why what it may change cannot be kept, a clause.
pub(crate) async fn before_program(changes: Option<CallRecorder>) -> Result<Option<ProgramRecorder>, String> {
    let Some(changes) = changes else { return Ok(None) };
    let looked = tokio::task::spawn_blocking(move || changes.before_program()).await;
    looked.map_err(|error| error.to_string())?.map(Some).map_err(|error| with_causes(&error))
}

/// Finds the repositories that a program can change, before it starts.
pub(crate) async fn repositories(
    shared: Arc<Shared>,
    access: Arc<Access>,
    reach: ProgramReach,
) -> Result<Option<Repositories>, String> {
    let found = tokio::task::spawn_blocking(move || shared.programs.repositories(&access.programs, reach)).await;
    found.map_err(|error| error.to_string())
}

impl StoreData {
    /// Writes down what of its changes is not kept.
    pub(super) fn not_kept(&self, command: &str, granted: &[PathBuf], ground: Ground) -> Result<(), Error> {
        let Some(changes) = &self.changes else { return Ok(()) };
        let command = host_text::excerpt(command, 60);
        let is_kept = |path: &Path| changes.recorder().covers(path);
        let mut unkept = match self.call.reach {
            ProgramReach::Everything => vec![Unkept::Elsewhere],
            ProgramReach::Reading | ProgramReach::Workspace => self.access.programs.unkept(is_kept),
        };
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
        let mut gaps = in_files.chain(ground.outlasts_call().then_some(later));
        gaps.try_for_each(|why| changes.gap(&why)).map_err(|error| cannot_be_kept(&with_causes(&error)))
    }
}

impl Runtime {
    /// Returns the files that others run later and that confined programs changed so far, in folders of which others
    /// run everything, such as `node_modules/.bin`: also where version control ignores them, so that no journal has
    /// them.
    pub fn run_later_changed(&self) -> Vec<PathBuf> {
        self.shared().programs.run_later_changed()
    }

    /// Returns what of a program's changes `recorder` will not keep, as far as that is known before the program starts:
    /// a noun phrase each, such as `what it changes in the background`.
    pub fn not_undone(&self, recorder: &Recorder, in_background: bool) -> Vec<String> {
        let unkept = self.access().programs.unkept(|path| recorder.covers(path));
        let in_files = unkept.iter().map(|place| match place {
            Unkept::Elsewhere => "its changes elsewhere, since undo covers the workspace only".to_owned(),
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

/// What is to be done when a program has ended, also if this is dropped: the repositories are settled, and what it
/// changed is written down.
#[derive(Debug)]
pub(crate) struct AfterProgram {
    recorder: Option<ProgramRecorder>,
    repositories: Option<Repositories>,
}

impl AfterProgram {
    /// For a program that was started.
    pub(crate) fn new(recorder: Option<ProgramRecorder>, repositories: Option<Repositories>) -> Self {
        Self { recorder, repositories }
    }

    /// Takes what is still to be done.
    fn take(&mut self) -> Option<Self> {
        if self.recorder.is_none() && self.repositories.is_none() {
            return None;
        }
        Some(Self { recorder: self.recorder.take(), repositories: self.repositories.take() })
    }

    /// Does it. Returns what the user should know of it, a line each.
    pub(crate) async fn look(&mut self) -> Vec<String> {
        let Some(after) = self.take() else { return Vec::new() };
        // Dropped with its call, it still ends.
        tokio::task::spawn_blocking(move || after.finish()).await.unwrap_or_default()
    }

    fn finish(mut self) -> Vec<String> {
        // First: what is moved aside is what the program made.
        let mut lines = Vec::new();
        let mut changed = BTreeSet::new();
        if let Some(mut repositories) = self.repositories.take() {
            lines = repositories.settle();
            changed.extend(repositories.take_run_later());
        }
        changed.extend(self.recorder.take().map(look).unwrap_or_default());
        lines.extend(run_later(&changed));
        lines
    }
}

impl Drop for AfterProgram {
    fn drop(&mut self) {
        // At once: when its call is dropped the process may be about to end, and nothing may be left half done.
        drop(self.repositories.take());
        let Some(recorder) = self.recorder.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || look(recorder))),
            Err(_) => drop(look(recorder)),
        }
    }
}

/// Writes down what a program changed, and returns the paths.
fn look(recorder: ProgramRecorder) -> Vec<PathBuf> {
    recorder.after_program().unwrap_or_else(|error| {
        tracing::error!(error = with_causes(&error), "what a program changed cannot be written down");
        Vec::new()
    })
}

/// The most files that others run later of which a line names each.
const MOST: usize = 6;

/// Names the changed files that others run later, on one line.
fn run_later(changed: &BTreeSet<PathBuf>) -> Option<String> {
    let found = changed.iter().filter_map(|path| Some((path, run_later_by(path)?.first()?)));
    let mut named: Vec<String> = found
        .map(|(path, by)| {
            format!("`{}` ({by})", host_text::exact(&path.file_name().unwrap_or_default().to_string_lossy()))
        })
        .collect();
    named.dedup();
    let more = named.len().saturating_sub(MOST);
    named.truncate(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty())
        .then(|| format!("this changed what others run later, without walls: {}{more}", named.join(", ")))
}

//! What writes down the changes of a session while they happen.
//!
//! Promises: nothing is opened or read before the first change or program; a change that cannot be written down is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host_files::ChainStore;

use crate::journal::{Change, Journal, JournalError};
use crate::place::PERMISSIONS;
use crate::snapshot::{Difference, RulesOf, Snapshot, SnapshotError};
use crate::state::State;

/// The largest file whose content is kept when it is removed or renamed, in bytes. Bounds the time that the call waits.
pub const MAX_KEPT_FILE: u64 = 64 << 20;

/// Writes down the changes of a session.
pub struct Recorder {
    /// The folder of the journal.
    folder: PathBuf,
    rules: Box<RulesOf>,
    folders: Mutex<Folders>,
    /// Chains the lines of the journal.
    chains: Option<ChainStore>,
    /// Held while the folders are looked at, which can take seconds.
    inner: Mutex<Inner>,
}

/// The folders that are looked at for what programs change.
#[derive(Default)]
struct Folders {
    /// Real paths, none beneath another.
    roots: Vec<PathBuf>,
    /// Those that cannot be looked at, and why.
    unseen: Vec<(PathBuf, String)>,
}

struct Inner {
    journal: Option<Journal>,
    snapshots: Vec<Snapshot>,
    /// The number of changes when the snapshots were last up to date.
    looked_at: usize,
}

/// A session's recorder, for the changes of one call.
#[derive(Clone, Debug)]
pub struct CallRecorder {
    recorder: Arc<Recorder>,
    call: Arc<str>,
}

/// What a change replaces.
#[derive(Debug)]
pub enum Old<'a> {
    /// Nothing.
    Absent,
    /// A file with this content and these permission bits.
    File(&'a [u8], u32),
    /// A folder with these permission bits.
    Folder(u32),
    /// Whatever is there: it is looked at.
    There,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Creates a recorder with its journal in a folder. Nothing is opened yet. What folders the rules leave out is not
    /// looked at for changes of programs.
    pub fn new(folder: PathBuf, rules: Box<RulesOf>) -> Self {
        let inner = Inner { journal: None, snapshots: Vec::new(), looked_at: 0 };
        Self { folder, rules, folders: Mutex::default(), chains: None, inner: Mutex::new(inner) }
    }

    /// Chains the lines of the journal, so that a change of them is found.
    #[must_use]
    pub fn chained(self, chains: ChainStore) -> Self {
        Self { chains: Some(chains), ..self }
    }

    /// Sets the folders in which programs change files: the workspace, and what the user added.
    pub fn set_roots<'a>(&self, roots: impl IntoIterator<Item = &'a Path>) {
        let mut all: Vec<PathBuf> = roots.into_iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
        all.sort();
        // One beneath another comes behind it.
        all.dedup_by(|next, kept| next.starts_with(kept));
        *self.folders() = Folders { roots: all, unseen: Vec::new() };
    }

    /// Returns whether a path is in a folder where the changes of programs are kept.
    pub fn covers(&self, path: &Path) -> bool {
        self.folders().roots.iter().any(|root| path.starts_with(root))
    }

    /// Returns the folders of which the changes of programs are not kept, and why: a clause. It is known once they were
    /// looked at.
    pub fn unseen(&self) -> Vec<(PathBuf, String)> {
        self.folders().unseen.clone()
    }

    /// Looks at the folders before any program runs in them, so that the first one does not wait for that.
    ///
    /// # Errors
    ///
    /// When the journal cannot be used.
    pub fn prepare(&self) -> Result<(), JournalError> {
        self.look(None)
    }

    /// Starts [`Recorder::prepare`] on a thread of its own, unless the folders were looked at before.
    pub fn prepare_early(self: &Arc<Self>) {
        // One that is busy is looking.
        if self.inner.try_lock().is_ok_and(|inner| inner.snapshots.is_empty() && self.folders().unseen.is_empty()) {
            let recorder = Arc::clone(self);
            // The program itself finds what fails here.
            std::thread::spawn(move || recorder.prepare().ok());
        }
    }

    /// Looks at the folders, and writes down what changed as changes of this call; `None` writes nothing down.
    fn look(&self, call: Option<&str>) -> Result<(), JournalError> {
        let mut inner = self.inner();
        let roots = self.folders().roots.clone();
        let unseen = inner.look(self, &roots, call)?;
        self.folders().unseen = unseen;
        Ok(())
    }

    /// The folder of the journal.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Does something with the journal, which is opened.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn with_journal<T>(&self, work: impl FnOnce(&mut Journal) -> T) -> Result<T, JournalError> {
        Ok(work(self.inner().journal(self)?))
    }

    fn folders(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A thread that panicked left no half of a line.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn journal(&mut self, of: &Recorder) -> Result<&mut Journal, JournalError> {
        if self.journal.is_none() {
            self.journal = Some(match &of.chains {
                Some(chains) => Journal::open_chained(&of.folder, chains)?,
                None => Journal::open(&of.folder)?,
            });
        }
        self.journal
            .as_mut()
            .ok_or_else(|| JournalError::Io { path: of.folder.clone(), cause: io::Error::other("it is not open") })
    }

    /// Looks at the folders, and writes down what changed as changes of this call. Returns those that cannot be looked at,
    /// and why.
    fn look(
        &mut self,
        of: &Recorder,
        roots: &[PathBuf],
        call: Option<&str>,
    ) -> Result<Vec<(PathBuf, String)>, JournalError> {
        let mut unseen = Vec::new();
        self.journal(of)?;
        let (folder, rules) = (of.folder.as_path(), &*of.rules);
        let Self { journal: Some(journal), snapshots, looked_at } = self else { return Ok(unseen) };
        snapshots.retain(|snapshot| roots.iter().any(|root| root == snapshot.root()));
        for root in roots {
            let at = match snapshots.iter().position(|snapshot| snapshot.root() == root) {
                Some(at) => at,
                None => {
                    snapshots.push(Snapshot::new(root.clone(), folder).map_err(|cause| journal.failed(cause))?);
                    snapshots.len() - 1
                }
            };
            let Some(snapshot) = snapshots.get_mut(at) else { continue };
            match snapshot.look(&*rules(root)) {
                Ok(differences) => {
                    let Some(call) = call else { continue };
                    for difference in differences {
                        record(journal, snapshot, *looked_at, call, difference)?;
                    }
                }
                Err(error) => {
                    snapshots.swap_remove(at);
                    unseen.push((root.clone(), error.to_string()));
                    if let Some(call) = call {
                        journal.record_gap(call, &not_looked_at(root, &error))?;
                    }
                }
            }
        }
        *looked_at = journal.changes().len();
        Ok(unseen)
    }
}

fn not_looked_at(root: &Path, error: &SnapshotError) -> String {
    format!("what programs change in `{}` is not kept: {error}", root.display())
}

fn no_unicode(path: &Path) -> String {
    format!("what `{}` was is not kept: its name is not valid Unicode", path.display())
}

/// Writes a difference down, unless a call that changed the file meanwhile has done so.
fn record(
    journal: &mut Journal,
    snapshot: &Snapshot,
    looked_at: usize,
    call: &str,
    difference: Difference,
) -> Result<(), JournalError> {
    let Difference { path, mut before, after, mut not_kept, old } = difference;
    if path.to_str().is_none() {
        return journal.record_gap(call, &no_unicode(&path));
    }
    let meanwhile = journal.changes().get(looked_at..).unwrap_or_default();
    match meanwhile.iter().rev().find(|change| change.path == path) {
        Some(change) if change.after == after => return Ok(()),
        Some(change) => {
            before = change.after.clone();
            let is_kept = match &before {
                State::File { digest, .. } => journal.objects().has(digest),
                State::Absent | State::Folder { .. } | State::Link { .. } => true,
                State::Other => false,
            };
            not_kept = (!is_kept).then(|| "it was changed by two calls at once".to_owned());
        }
        None => {
            if let Some(extent) = old {
                journal.keep(snapshot.bytes(extent))?;
            }
        }
    }
    journal.record(Change { call: call.to_owned(), path, before, after, not_kept, beside: None })
}

impl CallRecorder {
    /// The recorder for the changes of this call.
    pub fn new(recorder: Arc<Recorder>, call: &str) -> Self {
        Self { recorder, call: call.into() }
    }

    /// Keeps what is about to be replaced at a path, which has no link on the way, and writes the change down.
    ///
    /// # Errors
    ///
    /// When that fails; then the change must not happen.
    pub fn change(&self, path: &Path, old: Old<'_>, after: State) -> Result<(), JournalError> {
        let mut inner = self.recorder.inner();
        let journal = inner.journal(&self.recorder)?;
        if path.to_str().is_none() {
            return journal.record_gap(&self.call, &no_unicode(path));
        }
        let (before, not_kept) = match old {
            Old::Absent => (State::Absent, None),
            Old::File(content, mode) => {
                journal.keep(content)?;
                (State::file(content, mode), None)
            }
            Old::Folder(mode) => (State::Folder { mode }, None),
            Old::There => there(journal, path)?,
        };
        self.record(journal, path, before, after, not_kept)
    }

    /// Writes down that a file or link is about to be renamed. Nothing may be there under its new name.
    ///
    /// # Errors
    ///
    /// As [`CallRecorder::change`].
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), JournalError> {
        let mut inner = self.recorder.inner();
        let journal = inner.journal(&self.recorder)?;
        if let Some(path) = [from, to].into_iter().find(|path| path.to_str().is_none()) {
            return journal.record_gap(&self.call, &no_unicode(path));
        }
        let (what, not_kept) = there(journal, from)?;
        self.record(journal, from, what.clone(), State::Absent, not_kept.clone())?;
        self.record(journal, to, State::Absent, what, not_kept)
    }

    fn record(
        &self,
        journal: &mut Journal,
        path: &Path,
        before: State,
        after: State,
        not_kept: Option<String>,
    ) -> Result<(), JournalError> {
        let (call, path) = (self.call.as_ref().to_owned(), path.to_owned());
        journal.record(Change { call, path, before, after, not_kept, beside: None })
    }

    /// The session's recorder.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Gets ready for a program, or anything else that changes files by itself.
    ///
    /// # Errors
    ///
    /// When the journal cannot be used; then it must not run.
    pub fn before_program(&self) -> Result<(), JournalError> {
        self.recorder.prepare()
    }

    /// Writes down what a program changed that ended.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written.
    pub fn after_program(&self) -> Result<(), JournalError> {
        self.recorder.look(Some(&self.call))
    }

    /// Writes down that the call may have changed something of which nothing is kept. See [`Gap`](crate::Gap).
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn gap(&self, why: &str) -> Result<(), JournalError> {
        let mut inner = self.recorder.inner();
        inner.journal(&self.recorder)?.record_gap(&self.call, why)
    }
}

/// Keeps what is at a path. Returns why it is not kept, if it is not.
fn there(journal: &Journal, path: &Path) -> Result<(State, Option<String>), JournalError> {
    use std::os::unix::fs::MetadataExt as _;
    let failed = |error: io::Error| journal.failed(error);
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((State::Absent, None)),
        Err(error) => return Err(failed(error)),
    };
    let mode = about.mode() & PERMISSIONS;
    if about.is_dir() {
        return Ok((State::Folder { mode }, None));
    }
    if about.is_symlink() {
        return Ok((State::Link { target: fs::read_link(path).map_err(failed)? }, None));
    }
    if !about.is_file() {
        return Ok((State::Other, Some("it is not a regular file".to_owned())));
    }
    if about.len() > MAX_KEPT_FILE {
        return Ok((State::Other, Some(format!("{} bytes are too many to keep", about.len()))));
    }
    let (digest, size) = journal.keep(fs::File::open(path).map_err(failed)?)?;
    Ok((State::File { digest, size, mode }, None))
}

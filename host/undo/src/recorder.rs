//! What writes down the changes of a session while they happen.
//!
//! Promises: nothing is opened or read before the first change or program; a change that cannot be written down is
//! refused; no look at the folders while a program runs loses what the program changed.

mod call;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host_files::ChainStore;

pub use self::call::{CallRecorder, MAX_KEPT_FILE, Old, ProgramRecorder};
use crate::journal::{Began, Change, Journal, JournalError, NOT_LOOKED_AT, UNDO};
use crate::snapshot::{Difference, RulesOf, Snapshot, SnapshotError};
use crate::state::{Digest, State};

/// The longest path of a change that is written down, in bytes. A line of the journal has room for it, however much of
/// it is escaped.
const MAX_PATH: usize = 8 << 10;

/// The most folders that are named of one program. Protects the reader of the list.
const MAX_NAMED: usize = 8;

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
    /// The calls whose programs run now, in the order in which they began, each with the number of its program.
    running: Vec<(u64, Arc<str>)>,
    /// The number of programs so far.
    programs: u64,
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
        let inner = Inner { journal: None, snapshots: Vec::new(), looked_at: 0, running: Vec::new(), programs: 0 };
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

    /// Looks at the folders before any program runs in them, so that the first one does not wait for that. Does nothing
    /// if they were looked at before.
    ///
    /// # Errors
    ///
    /// When the journal cannot be used.
    pub fn prepare(&self) -> Result<(), JournalError> {
        let mut inner = self.inner();
        // Checked while no one else looks: a program may have run by now.
        if inner.programs > 0 || !inner.snapshots.is_empty() { Ok(()) } else { self.look(&mut inner, None) }
    }

    /// Does [`Recorder::prepare`] on a thread of its own.
    pub fn prepare_early(self: &Arc<Self>) {
        // One that is busy is looking.
        if self.inner.try_lock().is_ok_and(|inner| inner.snapshots.is_empty() && self.folders().unseen.is_empty()) {
            let recorder = Arc::clone(self);
            // The program itself finds what fails here.
            std::thread::spawn(move || recorder.prepare().ok());
        }
    }

    /// Looks at the folders, and writes down what changed as changes of this call. With `None`, they are changes of the
    /// program that began last and still runs; if no program runs, they are somebody else's, and are not written down.
    fn look(&self, inner: &mut Inner, call: Option<&str>) -> Result<(), JournalError> {
        let roots = self.folders().roots.clone();
        let running = inner.running.last().map(|(_, call)| Arc::clone(call));
        let unseen = inner.look(self, &roots, call.or(running.as_deref()))?;
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

    /// Whether this session's calls made a file's content what it is now, from what it was then; with `None` from
    /// anything. What an undo changes is the user's, and no call's. Nothing is made by looking.
    ///
    /// # Errors
    ///
    /// When the journal cannot be opened.
    pub fn made(&self, path: &Path, from: Option<&Digest>, now: &Digest) -> Result<bool, JournalError> {
        // Opening the journal would make the folder for a session that changed nothing.
        if !self.folder.exists() {
            return Ok(false);
        }
        let of_file = |state: &State| match state {
            State::File { digest, .. } => Some(digest.clone()),
            State::Absent | State::Folder { .. } | State::Link { .. } | State::Other => None,
        };
        self.with_journal(|journal| {
            // An undo is the user's wish: counting it as the model's own change would let the model write over what it
            // brought back.
            let mut own =
                journal.changes().iter().filter(|change| change.path == path && !change.call.starts_with(UNDO));
            match from {
                None => own.next_back().and_then(|change| of_file(&change.after)).as_ref() == Some(now),
                Some(from) => {
                    let mut at = Some(from.clone());
                    // A chain of changes, each from where the one before it ended; a change by someone else breaks it.
                    own.for_each(|change| {
                        if of_file(&change.before) == at {
                            at = of_file(&change.after);
                        }
                    });
                    at.as_ref() == Some(now)
                }
            }
        })
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

    /// Writes down in which folders that rules leave out the program of this call changed something, of which nothing
    /// is kept.
    fn name_left_out(&mut self, of: &Recorder, call: &str, began: Began) -> Result<(), JournalError> {
        let changed: Vec<PathBuf> =
            self.snapshots.iter().flat_map(|snapshot| snapshot.left_out_since(began)).take(MAX_NAMED).collect();
        for folder in changed {
            let shown = self.snapshots.iter().find_map(|snapshot| folder.strip_prefix(snapshot.root()).ok());
            let shown = shown.unwrap_or(&folder).display().to_string();
            let why = format!("what it changed in `{shown}` is not kept, which ignore rules leave out");
            self.journal(of)?.record_gap(call, &why)?;
        }
        Ok(())
    }

    /// Takes note, once, that nothing more is to be found of a program.
    fn ended(&mut self, program: u64) {
        let before = self.running.len();
        self.running.retain(|(number, _)| *number != program);
        if let Some(journal) = self.journal.as_mut().filter(|_| self.running.len() < before) {
            // If it cannot be written, the list names the call once too often. What the program changed is written
            // down.
            journal.record_end(program).ok();
        }
    }

    /// Looks at the folders, and writes down what changed as changes of this call. Returns those that cannot be looked
    /// at, and why.
    fn look(
        &mut self,
        of: &Recorder,
        roots: &[PathBuf],
        call: Option<&str>,
    ) -> Result<Vec<(PathBuf, String)>, JournalError> {
        let mut unseen = Vec::new();
        // Opened before the look: a difference that cannot be written down must not be taken as seen.
        self.journal(of)?;
        let (folder, rules) = (of.folder.as_path(), &*of.rules);
        let Self { journal: Some(journal), snapshots, looked_at, .. } = self else { return Ok(unseen) };
        // Calls write their own changes down; a program that ran beside them must not be given theirs.
        let meanwhile = Meanwhile::from_changes(journal.changes().get(*looked_at..).unwrap_or_default());
        let mut too_long = 0_u64;
        // What the user took out of the session's folders must not be looked at any more, and frees its memory.
        snapshots.retain(|snapshot| roots.iter().any(|root| root == snapshot.root()));
        for root in roots {
            let at = match snapshots.iter().position(|snapshot| snapshot.root() == root) {
                Some(at) => at,
                None => {
                    // Its file lies in the folder of the journal: the workspace of a program is no place for copies of
                    // files.
                    snapshots.push(Snapshot::new(root.clone(), folder).map_err(|cause| journal.failed(cause))?);
                    snapshots.len() - 1
                }
            };
            let Some(snapshot) = snapshots.get_mut(at) else { continue };
            match snapshot.look(&*rules(root)) {
                Ok(differences) => {
                    // The first look has no call: what it finds is what was there before.
                    let Some(call) = call else { continue };
                    for difference in differences {
                        // A program can nest folders until a path has no room in a line; it is counted and named below.
                        if difference.path.as_os_str().len() > MAX_PATH {
                            too_long += 1;
                        } else {
                            record(journal, snapshot, &meanwhile, call, difference)?;
                        }
                    }
                }
                Err(error) => {
                    // A look that failed in its middle has seen some of the changes. The next one starts again.
                    snapshots.swap_remove(at);
                    unseen.push((root.clone(), error.to_string()));
                    if let Some(call) = call {
                        // Said in the journal, so that undo does not claim to know what this program did.
                        journal.record_gap(call, &not_looked_at(root, &error))?;
                    }
                }
            }
        }
        if let Some(call) = call.filter(|_| too_long > 0) {
            let why = format!("what changed at {too_long} paths of over {MAX_PATH} bytes is not kept");
            journal.record_gap(call, &why)?;
        }
        // Only here: when a look fails before, the next one has to compare with these changes as well.
        *looked_at = journal.changes().len();
        Ok(unseen)
    }
}

/// What calls left at the paths that they changed since the last look. Paths are compared as bytes: a program can nest
/// thousands of folders, and comparing each pair part by part would take longer than any call.
struct Meanwhile {
    after: HashMap<OsString, State>,
}

impl Meanwhile {
    fn from_changes(changes: &[Change]) -> Self {
        let after = changes.iter().map(|change| (change.path.clone().into_os_string(), change.after.clone()));
        Self { after: after.collect() }
    }
}

fn not_looked_at(root: &Path, error: &SnapshotError) -> String {
    format!("{NOT_LOOKED_AT}{}` is not kept: {error}", root.display())
}

fn no_unicode(path: &Path) -> String {
    format!("what `{}` was is not kept: its name is not valid Unicode", path.display())
}

/// Writes a difference down, unless a call that changed the file meanwhile has done so.
fn record(
    journal: &mut Journal,
    snapshot: &Snapshot,
    meanwhile: &Meanwhile,
    call: &str,
    difference: Difference,
) -> Result<(), JournalError> {
    let Difference { path, mut before, after, mut not_kept, old } = difference;
    if path.to_str().is_none() {
        return journal.record_gap(call, &no_unicode(&path));
    }
    match meanwhile.after.get(path.as_os_str()) {
        // The file is as a call left it, so that call has written it down already.
        Some(left) if *left == after => return Ok(()),
        // The program changed it after the call did: its change begins where that of the call ended.
        Some(left) => {
            before = left.clone();
            let is_kept = match &before {
                // What the call wrote is known by its digest alone, unless something else kept it.
                State::File { digest, .. } => journal.objects().has(digest),
                State::Absent | State::Folder { .. } | State::Link { .. } => true,
                State::Other => false,
            };
            not_kept = (!is_kept).then(|| "it was changed by two calls at once".to_owned());
        }
        None => {
            if let Some(extent) = old {
                // Asked first: a content that finds no room is reported as not kept, and the change counts all the
                // same.
                match journal.room_for(extent.size())? {
                    None => drop(journal.keep(snapshot.bytes(extent))?),
                    full => not_kept = not_kept.or(full),
                }
            }
        }
    }
    journal.record(Change { call: call.to_owned(), path, before, after, not_kept, beside: None })
}

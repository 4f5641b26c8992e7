//! Sessions that are kept in memory, for tests that need no log.
//!
//! They are kept as facts: that each comes back from a line as it was is for the tests of the file.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

use host_files::ChainFault;
use host_message::{ModelId, SessionId};

use crate::file::{new_id, put_line};
use crate::store::settle_open;
use crate::stored::Lines;
use crate::{
    About, Artifacts, Clock, Fact, Journal, Journals, Logged, Opened, ReadError, Recorded, SESSION_VERSION,
    SessionError, Stored,
};

/// The record of one session in memory.
#[derive(Debug)]
pub struct MemoryJournal {
    id: SessionId,
    /// Where its log would be.
    path: PathBuf,
    clock: Clock,
    facts: Mutex<Vec<Logged>>,
}

/// Sessions in memory. What belongs to them besides their facts is in files all the same.
#[derive(Debug)]
pub struct MemoryJournals {
    folder: PathBuf,
    clock: Clock,
    all: Mutex<BTreeMap<SessionId, Kept>>,
}

/// A session in its place.
#[derive(Debug)]
struct Kept {
    journal: Arc<MemoryJournal>,
    /// There while somebody writes it.
    writer: Weak<Writer>,
}

/// The one who writes a session.
#[derive(Debug)]
struct Writer(Arc<MemoryJournal>);

/// A session that is about to be resumed.
#[derive(Debug)]
struct OpenedInMemory {
    writer: Arc<Writer>,
    recorded: Recorded,
}

impl MemoryJournal {
    /// Begins a session.
    pub fn new(id: SessionId, clock: Clock) -> Self {
        let path = PathBuf::from(format!("{id}.jsonl"));
        Self::begin(id, path, clock, None)
    }

    fn begin(id: SessionId, path: PathBuf, clock: Clock, about: Option<About<'_>>) -> Self {
        let first = Fact::Session {
            version: SESSION_VERSION,
            id: id.clone(),
            pid: None,
            workspace: about.map(|about| about.workspace.to_string_lossy().into_owned()),
            model: about.map(|about| about.model.clone()),
            copy_of: None,
            found: Vec::new(),
        };
        let facts = Mutex::new(vec![Logged { time: clock.now(), fact: first }]);
        Self { id, path, clock, facts }
    }

    /// Returns all facts, oldest first.
    pub fn facts(&self) -> Vec<Logged> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the facts say taken together.
    ///
    /// # Errors
    ///
    /// When they make no sense together.
    pub fn recorded(&self) -> Result<Recorded, ReadError> {
        Recorded::from_facts(self.facts().into_iter().map(Ok))
    }

    /// Resumes the session as another process would: a call that ran is settled as interrupted, one that had not begun
    /// as not run.
    ///
    /// # Errors
    ///
    /// When the facts make no sense together.
    pub fn resume(&self, model: &ModelId) -> Result<Recorded, ReadError> {
        Ok(self.resumed(self.recorded()?, model))
    }

    fn resumed(&self, mut recorded: Recorded, model: &ModelId) -> Recorded {
        self.put(Fact::Resumed { pid: std::process::id(), model: model.clone(), torn_bytes: 0, found: Vec::new() });
        // Memory takes every fact.
        settle_open(self, &mut recorded).ok();
        recorded
    }

    fn put(&self, fact: Fact) {
        let logged = Logged { time: self.clock.now(), fact };
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).push(logged);
    }

    /// Returns it as a log has it.
    fn stored(&self) -> Result<Stored, SessionError> {
        let (facts, mut bytes) = (self.facts(), Vec::new());
        for Logged { time, fact } in &facts {
            put_line(&mut bytes, *time, fact)
                .map_err(|cause| SessionError::Write { path: self.path.clone(), cause })?;
            bytes.push(b'\n');
        }
        let changed = facts.last().map_or(SystemTime::UNIX_EPOCH, |last| last.time.into());
        let (id, path, size) = (self.id.clone(), self.path.clone(), bytes.len() as u64);
        Ok(Stored { id, path, bytes: size, changed, lines: Lines::InMemory(bytes.into()) })
    }
}

impl MemoryJournals {
    /// A place without sessions. Beneath this folder is what belongs to them besides their facts.
    pub fn new(folder: impl Into<PathBuf>, clock: Clock) -> Self {
        Self { folder: folder.into(), clock, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, Kept>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    /// Why there is no such session, or nobody else may have it.
    fn missing(path: &Path) -> SessionError {
        SessionError::Open { path: path.to_owned(), cause: std::io::ErrorKind::NotFound.into() }
    }
}

impl Kept {
    /// # Errors
    ///
    /// When somebody writes it.
    fn free(&self) -> Result<&Arc<MemoryJournal>, SessionError> {
        match self.writer.upgrade() {
            None => Ok(&self.journal),
            Some(_) => Err(SessionError::Held { path: self.journal.path.clone(), holder: Some(std::process::id()) }),
        }
    }
}

impl Journals for MemoryJournals {
    fn create(&self, about: About<'_>) -> Result<Arc<dyn Journal>, SessionError> {
        let failed = |cause| SessionError::Create { folder: self.folder.clone(), cause };
        let id = new_id(&self.clock).map_err(failed)?;
        let journal = MemoryJournal::begin(id.clone(), self.path(&id), self.clock.clone(), Some(about));
        let journal = Arc::new(journal);
        let writer = Arc::new(Writer(Arc::clone(&journal)));
        self.all().insert(id, Kept { journal, writer: Arc::downgrade(&writer) });
        Ok(writer as Arc<dyn Journal>)
    }

    fn open(&self, id: &SessionId) -> Result<Box<dyn Opened>, SessionError> {
        let path = self.path(id);
        let mut all = self.all();
        let kept = all.get_mut(id).ok_or_else(|| Self::missing(&path))?;
        let journal = Arc::clone(kept.free()?);
        let recorded = journal.recorded().map_err(|cause| SessionError::Read { path, cause })?;
        let writer = Arc::new(Writer(journal));
        kept.writer = Arc::downgrade(&writer);
        Ok(Box::new(OpenedInMemory { writer, recorded }))
    }

    fn list(&self) -> Result<Vec<Stored>, SessionError> {
        let mut listed = self.all().values().map(|kept| kept.journal.stored()).collect::<Result<Vec<_>, _>>()?;
        listed.sort_by(|a, b| (Reverse(a.changed), Reverse(&a.id)).cmp(&(Reverse(b.changed), Reverse(&b.id))));
        Ok(listed)
    }

    fn remove(&self, id: &SessionId) -> Result<(), SessionError> {
        let mut all = self.all();
        let path = self.path(id);
        all.get(id).ok_or_else(|| Self::missing(&path))?.free()?;
        Artifacts::beside(&path).remove().map_err(|(path, cause)| SessionError::Remove { path, cause })?;
        all.remove(id);
        Ok(())
    }
}

impl Opened for OpenedInMemory {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn found(&self) -> &[ChainFault] {
        &[]
    }

    fn resume(self: Box<Self>, model: &ModelId) -> Result<(Arc<dyn Journal>, Recorded), SessionError> {
        let Self { writer, recorded } = *self;
        let recorded = writer.0.resumed(recorded, model);
        Ok((writer as Arc<dyn Journal>, recorded))
    }
}

impl Journal for Writer {
    fn id(&self) -> &SessionId {
        self.0.id()
    }

    fn append(&self, fact: &Fact) -> Result<(), SessionError> {
        self.0.append(fact)
    }

    fn artifacts(&self) -> Artifacts {
        self.0.artifacts()
    }
}

impl Journal for MemoryJournal {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn append(&self, fact: &Fact) -> Result<(), SessionError> {
        self.put(fact.clone());
        Ok(())
    }

    fn artifacts(&self) -> Artifacts {
        Artifacts::beside(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sessions;

    /// What holds of every store.
    fn check(journals: &dyn Journals) {
        assert_eq!(journals.list().expect("listed"), []);
        let model = ModelId::new("a/m");
        let about = About { workspace: Path::new("/work"), model: &model };
        let journal = journals.create(about).expect("begun");
        let id = journal.id().clone();
        journal.append(&Fact::ModelChosen { model: ModelId::new("a/n") }).expect("taken");
        let all = journals.list().expect("listed");
        let [stored] = all.as_slice() else { panic!("there is one: {all:?}") };
        assert_eq!((&stored.id, stored.artifacts()), (&id, journal.artifacts()));
        assert_eq!(stored.workspace().expect("it has a first line").as_deref(), Some("/work"));
        assert_eq!(stored.records().expect("opened").count(), 2);
        for refused in [journals.open(&id).map(drop), journals.remove(&id)] {
            assert!(matches!(refused, Err(SessionError::Held { .. })), "it is written: {refused:?}");
        }
        drop(journal);
        let opened = journals.open(&id).expect("nobody writes it");
        assert!(matches!(journals.remove(&id), Err(SessionError::Held { .. })), "it is taken");
        assert!(opened.found().is_empty());
        assert_eq!(opened.recorded().model, Some(ModelId::new("a/n")));
        let (journal, recorded) = opened.resume(&model).expect("resumed");
        assert_eq!((journal.id(), &recorded.id), (&id, &id));
        let listed = journals.list().expect("listed").pop().expect("it is there");
        assert_eq!(listed.records().expect("opened").count(), 3, "that it is resumed is recorded");
        drop(journal);
        journals.remove(&id).expect("nobody writes it");
        assert_eq!(journals.list().expect("listed"), []);
        assert!(matches!(journals.open(&id), Err(SessionError::Open { .. })), "it is gone");
    }

    #[test]
    fn stores_of_sessions_keep_the_same_promises() {
        let folder = tempfile::tempdir().expect("a folder");
        check(&Sessions::new(folder.path().join("sessions"), folder.path().join("audit")));
        check(&MemoryJournals::new(folder.path().join("memory"), Clock::system()));
    }
}

//! A session that is kept in memory, for tests that need no folder.
//!
//! It keeps facts as they are: that each comes back from a line as it was is for the tests of the file.

use std::sync::{Mutex, PoisonError};

use host_message::{ModelId, SessionId};

use crate::past::settle_open;
use crate::{Clock, Fact, Journal, Logged, ReadError, Recorded, SESSION_VERSION, SessionError};

/// The record of one session in memory.
#[derive(Debug)]
pub struct MemoryJournal {
    id: SessionId,
    clock: Clock,
    facts: Mutex<Vec<Logged>>,
}

impl MemoryJournal {
    /// Begins a session.
    pub fn new(id: SessionId, clock: Clock) -> Self {
        let first = Fact::Session {
            version: SESSION_VERSION,
            id: id.clone(),
            pid: None,
            workspace: None,
            model: None,
            copy_of: None,
            found: Vec::new(),
        };
        let facts = Mutex::new(vec![Logged { time: clock.now(), fact: first }]);
        Self { id, clock, facts }
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
        let mut recorded = self.recorded()?;
        self.put(Fact::Resumed { pid: std::process::id(), model: model.clone(), torn_bytes: 0, found: Vec::new() });
        // Memory takes every fact.
        settle_open(self, &mut recorded).ok();
        Ok(recorded)
    }

    fn put(&self, fact: Fact) {
        let logged = Logged { time: self.clock.now(), fact };
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).push(logged);
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
}

//! What the calls of a session may touch now, besides the grants of each plugin.
//!
//! Promises: it is one value that is replaced as a whole. Whoever decides about a call or runs it takes the value once,
//! so that no call is decided or run by half of an old access and half of a new one.
//!
//! Deliberately not here: what a plugin is granted, and the rules of the user.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use host_programs::ProgramAccess;

use crate::allowed_files::AllowedFiles;

/// What the calls of a session may touch. The default confines no program, adds no folder, and lets the user be asked
/// about no file.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// What programs may touch, with the added folders.
    pub programs: ProgramAccess,
    /// Folders in which a command runs as in the workspace: absolute, without links.
    pub added: Vec<PathBuf>,
    /// What may be read outside of the workspace until the session ends.
    pub reads: AllowedFiles,
    /// What may be changed there until the session ends, by calls that name it beforehand.
    pub writes: AllowedFiles,
}

/// The access that holds now. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct CurrentAccess(Arc<RwLock<Arc<Access>>>);

impl CurrentAccess {
    /// Creates one that holds this access.
    pub fn new(access: Access) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(access))))
    }

    /// Returns the access that holds now. A call takes it once.
    pub fn now(&self) -> Arc<Access> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces it for all calls that start from now on.
    pub fn replace(&self, access: Access) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(access);
    }
}

impl From<ProgramAccess> for CurrentAccess {
    fn from(programs: ProgramAccess) -> Self {
        Self::new(Access { programs, ..Access::default() })
    }
}

//! The seam between who records a session and where it is kept.
//!
//! Deliberately not here: finding sessions ([`Sessions`](crate::Sessions)), and what belongs to one besides its facts
//! ([`Artifacts`](crate::Artifacts)).

use host_message::SessionId;

use crate::{Fact, SessionError};

/// The record of one session. Several agents append to it, from several threads.
///
/// For the implementer: when `append` returns, the fact is stored as far as the end of this process is concerned, since
/// what it announces happens next. After one failure nothing is appended any more: a reader must never find a gap.
pub trait Journal: Send + Sync {
    /// The session's id.
    fn id(&self) -> &SessionId;

    /// Stores a fact, with the time of now.
    ///
    /// # Errors
    ///
    /// When it cannot be stored, and for every fact after that.
    fn append(&self, fact: &Fact) -> Result<(), SessionError>;
}

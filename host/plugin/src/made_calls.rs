//! What a call has made of other tools so far.
//!
//! Deliberately not here: making calls (`tools`).

use crate::guest_clock::GuestClock;

/// The calls of other tools that a call made.
#[derive(Debug, Default)]
pub(crate) struct MadeCalls {
    /// How many.
    pub(crate) count: usize,
    /// How many bytes they returned.
    pub(crate) bytes: usize,
    /// The clock of the call, which stands still meanwhile.
    pub(crate) clock: GuestClock,
}

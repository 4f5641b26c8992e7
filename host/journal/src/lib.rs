//! What happened in a session, written down as it happens and read back.
//!
//! Owns [`Fact`], the one description of what happened; [`Journals`], which keep sessions: [`Sessions`] as files,
//! [`MemoryJournals`] for tests; [`Journal`], to which one of them is recorded; and what reads them back: [`Records`]
//! one by one, [`Calls`] in pairs, [`Recorded`] all together, with the [`History`] in which no call stays without its
//! outcome.
//!
//! It promises that what it announces was written first, that nothing it wrote is refused later, and that any change of
//! a log is found.
//!
//! Deliberately not here: deciding or running anything, what is shown to a user, and the events of a run while it lasts
//! (`host-agent`).

mod artifacts;
mod call_end;
mod call_report;
mod call_status;
mod calls;
mod check_result;
mod clock;
mod error;
mod fact;
mod file;
mod history;
mod hook_result;
mod memory;
mod past;
mod read;
mod store;
mod stored;
mod terminate_reason;

pub use artifacts::Artifacts;
pub use call_end::CallEnd;
pub use call_report::CallReport;
pub use call_status::CallStatus;
pub use calls::{Calls, LoggedCall};
pub use check_result::CheckResult;
pub use clock::Clock;
pub use error::SessionError;
pub use fact::{Fact, Logged, MAIN, SESSION_VERSION};
pub use file::{Finding, FoundWhen, Reopened, SessionLog, Sessions, Verified};
pub use history::{Exchange, History, HistoryError, Replied, Unsettled, is_whole};
pub use hook_result::HookResult;
pub use memory::{MemoryJournal, MemoryJournals};
pub use past::{Left, Past, PastParts, Recorded};
pub use read::{ReadError, Records};
pub use store::{About, Journal, Journals, Opened};
pub use stored::Stored;
pub use terminate_reason::TerminateReason;

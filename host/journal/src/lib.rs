//! What happened in a session, written down as it happens and read back.
//!
//! Owns [`Fact`], the one description of what happened, and the one reader that makes facts a conversation again:
//! [`SessionLog`] appends them, [`Records`] reads them one by one, [`Recorded`] is what they say taken together, and
//! [`History`] is the conversation in which no call stays without its outcome.
//!
//! It promises that what it announces was written first, that nothing it wrote is refused later, and that any change of
//! a log is found.
//!
//! Deliberately not here: deciding or running anything, what is shown to a user, and the events of a run while it lasts
//! (`host-agent`).

mod call_end;
mod call_report;
mod call_status;
mod calls;
mod clock;
mod error;
mod fact;
mod file;
mod history;
mod hook_result;
mod past;
mod read;
mod terminate_reason;

pub use call_end::CallEnd;
pub use call_report::CallReport;
pub use call_status::CallStatus;
pub use calls::{Calls, LoggedCall};
pub use clock::Clock;
pub use error::SessionError;
pub use fact::{Fact, Logged, SESSION_VERSION};
pub use file::{About, Finding, FoundWhen, Reopened, SessionLog, Sessions, Stored, Verified};
pub use history::{Exchange, History, HistoryError, Replied, Unsettled, is_whole};
pub use hook_result::HookResult;
pub use past::{Left, Past, PastParts, Recorded};
pub use read::{ReadError, Records};
pub use terminate_reason::TerminateReason;

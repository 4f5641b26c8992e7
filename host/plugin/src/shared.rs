//! What all calls of a process share.

use std::path::PathBuf;
use std::sync::Arc;

use host_programs::{Programs, Variables};
use host_text::Wording;

use crate::access::CurrentAccess;
use crate::certificates::Certificates;
use crate::guest_log::SessionLogUse;
use crate::open_files::Unsaved;

/// What all calls of a process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) variables: Variables,
    pub(crate) programs: Programs,
    /// What calls may touch; each takes it once.
    pub(crate) access: CurrentAccess,
    pub(crate) state: Option<PathBuf>,
    pub(crate) certificates: Certificates,
    pub(crate) unsaved: Unsaved,
    /// The terms of the frontend, for what would allow something.
    pub(crate) wording: Wording,
    /// What the plugins wrote to the log.
    pub(crate) log: Arc<SessionLogUse>,
}

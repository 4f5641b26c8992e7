//! What a running call can ask the user.
//!
//! Deliberately not here: who asks, and what is asked about at all (`gate`).

use std::fmt;
use std::path::Path;

use futures::future::BoxFuture;
use host_capability::{Denied, Scope};
use host_plugin::{Elicitation, ElicitationAnswer};
use host_shell::quote;
use host_text::{Advice, Flag, Wording, exact};

use crate::{ApprovalMode, CallFailure, FailureKind, Origin};

/// The most paths that one call asks about. Protects the user from a plugin that asks for one after the other.
pub(crate) const MAX_QUESTIONS: usize = 8;

/// Asks the user on behalf of one running call. Dropping a future withdraws its question.
pub trait CallAsker: fmt::Debug + Send + Sync {
    /// Asks whether the call of this plugin may read the path, which is absolute and lexically normal. Nobody is asked
    /// about a file that is not there.
    fn may_read<'a>(&'a self, path: &'a Path, origin: Option<Origin>) -> BoxFuture<'a, ReadAnswer>;

    /// Asks whether a confined program of the call, which runs this command, may reach a server that nothing granted
    /// it: as a grant names it.
    fn may_reach<'a>(
        &'a self,
        argv: &'a [String],
        server: &'a str,
        origin: Option<Origin>,
    ) -> BoxFuture<'a, ReachAnswer>;

    /// Asks the user what an MCP server wants to know. Whatever is answered allows nothing.
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationAnswer>;

    /// Shows the user a plan that the call presents, and asks in which of these approval modes to carry it out.
    fn present_plan(&self, text: String, modes: Vec<ApprovalMode>) -> BoxFuture<'_, PlanAnswer>;
}

/// The answer about a path.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadAnswer {
    /// This call may read it.
    Once(Scope),
    /// It may be read until the session ends.
    ForSession,
    /// Nothing is there, in a folder about which the user can be asked.
    Absent,
    /// The user said no; with the words for the model.
    Rejected(String),
    /// The user was not asked.
    NotAsked(NotAsked),
}

/// The answer about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachAnswer {
    /// The programs of this call may reach these servers, each as a grant names it.
    Allowed(Vec<String>),
    /// They may not, and are not to ask for these again.
    Rejected(Vec<String>),
    /// The user was not asked.
    NotAsked,
}

/// Why the user was not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAsked {
    /// Nobody listens.
    NobodyListens,
    /// A subagent reads what its caller was allowed.
    Subagent,
    /// Nobody is asked about such a path, and no folder that is added covers it.
    Secret,
    /// A symbolic link is on the way, so the name does not say what would be read.
    Link,
    /// A rule denies it, or it cannot be found out where the path leads.
    Denied,
}

impl NotAsked {
    /// Explains to the model why a path outside of the workspace is not read, and what would change it. The words say
    /// nothing of what is there.
    pub(crate) fn explained(self, path: &Path, denied: &Denied, wording: Wording) -> CallFailure {
        let words = match self {
            Self::Secret | Self::Denied => denied.explain(wording),
            Self::NobodyListens => {
                let folder = path.parent().filter(|folder| folder.parent().is_some()).and_then(Path::to_str);
                // Suggested only if pasting it does what it seems to.
                let folder = folder.filter(|folder| exact(folder) == *folder);
                match folder {
                    Some(folder) => {
                        let explained = denied.explain(wording);
                        let or = Advice::from(", or ").flag_with(Flag::AddDir, quote(folder)).text(".");
                        explained.trim_end_matches('.').to_owned() + &wording.of(&or)
                    }
                    None => denied.explain(wording),
                }
            }
            Self::Subagent => {
                format!("{denied}. A subagent cannot ask for it: the agent that called you can, by reading it itself.")
            }
            Self::Link => {
                format!(
                    "{denied}. A symbolic link is on the way: name the place that it leads to, and the user is asked."
                )
            }
        };
        CallFailure::new(FailureKind::Denied, words)
    }
}

/// Returns the failure of a call that asks for one path after the other.
pub(crate) fn too_many_places() -> CallFailure {
    CallFailure::new(FailureKind::Denied, "the call wants to read too many places outside of the workspace")
}

/// The answer about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanAnswer {
    /// It is to be carried out in this mode.
    Approved(ApprovalMode),
    /// The user said no, perhaps with a reason: one line, not escaped.
    Rejected(Option<String>),
    /// Nobody listens.
    NobodyListens,
}

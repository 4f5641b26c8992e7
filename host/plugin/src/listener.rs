//! The listener of a running call.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use host_capability::Resources;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::elicitation::{Elicitation, ElicitationAnswer};

/// Receives what a running call shows before its end. Called during the call: it must not block.
pub trait CallListener: Send + Sync {
    /// Receives live output. Already bounded; may contain anything that a guest can write, including control
    /// characters.
    fn output(&self, text: &str);
    /// Receives the progress of the call: `done` of `total` units.
    fn progress(&self, done: u64, total: Option<u64>, message: &str);
    /// Receives what a confined program was kept from and a user can grant it. The names are the program's.
    fn kept_from(&self, _argv: &[String], _wanted: &Resources) {}
    /// Receives that a confined program failed because it needs something of the machine that no door in its walls
    /// leads to.
    fn needs_machine(&self, _argv: &[String]) {}
    /// Asks whether a confined program of this command may reach a server that nothing granted it yet: as a grant names
    /// it, `HOST:PORT` or `HOST:PORT +private`. The program waits for the answer. By default it may not.
    fn may_reach<'a>(&'a self, _argv: &'a [String], _server: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }
    /// Receives how a program ended, before the guest that started it can know.
    fn ended(&self, _argv: &[String], _end: ProgramEnd) {}

    /// Receives how a program in the background failed of which the call reads. One that was stopped has not failed.
    fn background_failed(&self, _end: ProgramEnd) {}

    /// Asks the user what a server wants to know. Without a user, or by default, the question is cancelled.
    fn elicit(&self, _question: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
        Box::pin(async { ElicitationAnswer::Cancelled })
    }

    /// Receives what an MCP server said beside its answer, for programs; already bounded. It does not pass through the
    /// guest, whose contract has no place for it.
    fn mcp_meta(&self, _meta: Arc<Map<String, Value>>) {}

    /// Receives a path that the call wanted to read and has no grant for: absolute and lexically normal.
    fn read_denied(&self, _path: &Path) {}
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramEnd {
    /// Its exit code, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether the host ended it because it had printed nothing for too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

impl ProgramEnd {
    /// Whether it ended by itself, with exit code 0.
    pub fn is_success(self) -> bool {
        self == Self { code: Some(0), signal: None, timed_out: false }
    }
}

/// Ignores everything.
impl CallListener for () {
    fn output(&self, _text: &str) {}
    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
}

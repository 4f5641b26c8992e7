//! Counts the calls of a run that were refused: by a rule, for want of a grant, or since nobody was there to ask.
//!
//! A refused call is reported to the model, which continues, so the run can reach its end all the same. Deliberately
//! not here: what the user rejected, and calls that ran and failed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use host_agent::{Event, EventKind, Observer};
use host_journal::{CallStatus, Fact};
use host_settings::error::{ErrorKind, Failure};
use host_text::{Advice, Flag, counted, exact};
use host_tool::FailureKind;

/// The most tools that are named.
const NAMED: usize = 5;

/// The refused calls so far, by tool.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<BTreeMap<String, u64>>);

impl Refusals {
    /// Returns the failure that a run with refused calls is, where it must have none; `None` if none was refused.
    pub fn failure(&self) -> Option<Failure> {
        let tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls: u64 = tools.values().sum();
        if calls == 0 {
            return None;
        }
        let mut named: Vec<String> = tools.keys().take(NAMED).map(|name| format!("`{}`", exact(name))).collect();
        if tools.len() > NAMED {
            named.push(format!("{} more", tools.len() - NAMED));
        }
        let were = if calls == 1 { "was" } else { "were" };
        Some(
            Failure::new(ErrorKind::Tool, format!("{} {were} refused: {}", counted(calls, "call"), named.join(", ")))
                .help(
                    Advice::from("allow what the run needs, as the lines above say, or leave ")
                        .flag(Flag::FailOnRefused)
                        .text(" out"),
                ),
        )
    }
}

impl Observer for Refusals {
    fn event(&self, event: &Event<'_>) {
        if let EventKind::Fact(Fact::CallSettled { end, .. }) = event.kind
            && end.status == (CallStatus::Error { kind: FailureKind::Denied })
        {
            let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *tools.entry(end.tool().to_owned()).or_default() += 1;
        }
    }
}

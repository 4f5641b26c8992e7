//! The progress of a call, as notifications to a client that asked for them.
//!
//! Deliberately not here: the output of a call, which is in its result; of what a program prints the last line is
//! shown.

use host_app::tool_service::CallProgress;
use host_text::title_line;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

/// The longest message of a progress, in characters. Protects a client's status line.
const MESSAGE_CHARACTERS: usize = 200;

/// One report of a call, safe to show.
pub(super) struct Progress {
    done: Option<u64>,
    total: Option<u64>,
    message: String,
}

impl From<CallProgress<'_>> for Progress {
    fn from(progress: CallProgress<'_>) -> Self {
        match progress {
            CallProgress::Units { done, total, message } => Self { done: Some(done), total, message: shown(message) },
            CallProgress::Output(text) => {
                let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                Self { done: None, total: None, message: shown(last) }
            }
            CallProgress::Step(step) => Self { done: None, total: None, message: shown(step) },
        }
    }
}

fn shown(text: &str) -> String {
    host_text::one_line(&title_line(text), MESSAGE_CHARACTERS)
}

/// Sends the progress of one request.
pub(super) struct Reporter {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    /// The last value that was sent: the next one has to be larger.
    last: Option<u64>,
}

impl Reporter {
    /// The reporter of a request; without a token nothing is sent.
    pub(super) fn from_request(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { to: token.map(|token| (context.peer.clone(), token)), last: None }
    }

    /// Sends a report. One that does not get further than the one before it is counted as one more step.
    pub(super) async fn report(&mut self, progress: Progress) {
        let Some((peer, token)) = &self.to else { return };
        let Progress { done, total, message } = progress;
        let (done, total) = match (done, self.last) {
            (Some(done), None) => (done, total),
            (Some(done), Some(last)) if done > last => (done, total),
            (_, last) => (last.map_or(1, |last| last.saturating_add(1)), None),
        };
        self.last = Some(done);
        let total = total.filter(|total| *total >= done);
        let mut params = ProgressNotificationParam::new(token.clone(), as_float(done));
        params.total = total.map(as_float);
        params.message = Some(message).filter(|message| !message.is_empty());
        // A client that is gone is noticed elsewhere.
        peer.notify_progress(params).await.ok();
    }
}

/// JSON has floats; beyond 2^53 the steps are larger.
fn as_float(units: u64) -> f64 {
    units as f64
}

//! The requests under way at one server: who hears of their progress, and how long the server has said nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host_plugin::{CallListener, Elicitation, ElicitationAnswer};
use rmcp::model::{ProgressNotificationParam, ProgressToken, RequestId};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The longest message of progress that is passed on, in characters. Protects the user's screen.
const MAX_PROGRESS: usize = 500;

/// The most questions of an MCP server during one request; further ones are cancelled. Protects the user.
const MAX_ASKED: usize = 100;

/// The requests under way at one server.
#[derive(Debug, Default)]
pub(super) struct Requests(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    last: u64,
    entries: BTreeMap<u64, Entry>,
}

#[derive(Clone)]
struct Entry {
    listener: Arc<dyn CallListener>,
    activity: Arc<Activity>,
    sent_as: Option<(RequestId, ProgressToken)>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("sent_as", &self.sent_as).finish_non_exhaustive()
    }
}

/// A request under way. Dropping it ends its part here.
#[derive(Debug)]
pub(super) struct UnderWay {
    requests: Arc<Requests>,
    key: u64,
    /// How long its server has said nothing.
    pub(super) activity: Arc<Activity>,
}

impl Requests {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request that is about to be sent.
    pub(super) fn begin(self: &Arc<Self>, listener: Arc<dyn CallListener>) -> UnderWay {
        let activity = Arc::new(Activity::new());
        let mut known = self.known();
        known.last += 1;
        let key = known.last;
        known.entries.insert(key, Entry { listener, activity: Arc::clone(&activity), sent_as: None });
        UnderWay { requests: Arc::clone(self), key, activity }
    }

    /// Passes on the progress of a request. Progress of a request that has ended is dropped.
    pub(super) fn progress(&self, progress: &ProgressNotificationParam) {
        let of_token =
            |entry: &&Entry| entry.sent_as.as_ref().is_some_and(|(_, token)| *token == progress.progress_token);
        let Some(entry) = self.known().entries.values().find(of_token).cloned() else { return };
        entry.activity.heard();
        let message = progress.message.as_deref().map(|text| host_text::clip(text, MAX_PROGRESS)).unwrap_or_default();
        entry.listener.progress(units(progress.progress), progress.total.map(units), &message);
    }

    /// Asks the user what a server wants to know, for the request on whose stream it asked. Where that is not known it
    /// is for the request that was sent last.
    pub(super) async fn elicit(&self, origin: Option<&RequestId>, question: Elicitation) -> ElicitationAnswer {
        let entry = {
            let known = self.known();
            let of_origin = |entry: &&Entry| {
                origin.is_some_and(|origin| entry.sent_as.as_ref().is_some_and(|(id, _)| id == origin))
            };
            let found = match origin {
                Some(_) => known.entries.values().find(of_origin),
                None => known.entries.values().next_back(),
            };
            found.cloned()
        };
        let Some(entry) = entry else { return ElicitationAnswer::Cancelled };
        entry.activity.ask(&*entry.listener, question).await
    }
}

/// Progress as whole units; a server may count in fractions.
fn units(value: f64) -> u64 {
    // Saturates, and makes nothing of what is not a number.
    value as u64
}

impl UnderWay {
    /// Records under which names the request was sent.
    pub(super) fn sent_as(&self, id: RequestId, token: ProgressToken) {
        if let Some(entry) = self.requests.known().entries.get_mut(&self.key) {
            entry.sent_as = Some((id, token));
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.requests.known().entries.remove(&self.key);
    }
}

/// How long a server has said nothing about a request. While it waits for the user, it is not its silence.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<Silence>,
    changed: Notify,
}

#[derive(Debug)]
struct Silence {
    started: Instant,
    last: Instant,
    asking: usize,
    questions: usize,
    asked_since: Instant,
    asked: Duration,
}

impl Activity {
    fn new() -> Self {
        let now = Instant::now();
        let state =
            Silence { started: now, last: now, asking: 0, questions: 0, asked_since: now, asked: Duration::ZERO };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, Silence> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a word of the server.
    pub(super) fn heard(&self) {
        self.state().last = Instant::now();
        self.changed.notify_one();
    }

    /// Asks the user; meanwhile no time passes for the server.
    pub(super) async fn ask(&self, listener: &dyn CallListener, question: Elicitation) -> ElicitationAnswer {
        let _asking = Asking::new(self);
        let questions = {
            let mut state = self.state();
            state.questions += 1;
            state.questions
        };
        if questions > MAX_ASKED {
            return ElicitationAnswer::Cancelled;
        }
        listener.elicit(question).await
    }

    /// Waits until the server has said nothing for so long, or the request has taken too long in all. Returns which.
    pub(super) async fn over(&self, silence: Duration, total: Duration) -> Duration {
        loop {
            let Some((end, limit)) = self.end(silence, total) else {
                self.changed.notified().await;
                continue;
            };
            if end <= Instant::now() {
                return limit;
            }
            tokio::select! {
                () = tokio::time::sleep_until(end) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// Returns when the request has taken too long, as far as is known now, and by which limit. `None` while the user
    /// is asked.
    fn end(&self, silence: Duration, total: Duration) -> Option<(Instant, Duration)> {
        let state = self.state();
        let (quiet, all) = (state.last + silence.min(total), state.started + state.asked + total);
        (state.asking == 0).then_some(if quiet <= all { (quiet, silence) } else { (all, total) })
    }
}

/// The user is being asked.
struct Asking<'a>(&'a Activity);

impl<'a> Asking<'a> {
    fn new(activity: &'a Activity) -> Self {
        let mut state = activity.state();
        if state.asking == 0 {
            state.asked_since = Instant::now();
        }
        state.asking += 1;
        drop(state);
        activity.changed.notify_one();
        Self(activity)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.asking -= 1;
        if state.asking == 0 {
            let now = Instant::now();
            let took = now - state.asked_since;
            state.asked += took;
            state.last = now;
        }
        drop(state);
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use host_capability::McpServerName;
    use host_plugin::ElicitationForm;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn question() -> Elicitation {
        let server = McpServerName::parse("a").expect("a name");
        Elicitation { server, message: String::new(), form: ElicitationForm::Fields(Vec::new()) }
    }

    struct Slow;

    impl CallListener for Slow {
        fn output(&self, _text: &str) {}
        fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
        fn elicit(&self, _question: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
            Box::pin(async {
                tokio::time::sleep(100 * SECOND).await;
                ElicitationAnswer::Declined
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_a_request_and_progress_restarts_it() {
        let activity = Activity::new();
        let begun = Instant::now();
        let heard = async {
            tokio::time::sleep(8 * SECOND).await;
            activity.heard();
        };
        let (limit, ()) = futures::join!(activity.over(10 * SECOND, 100 * SECOND), heard);
        assert_eq!((limit, begun.elapsed().as_secs()), (10 * SECOND, 18));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_without_end_does_not_outlast_the_total() {
        let activity = Activity::new();
        let chatter = async {
            loop {
                tokio::time::sleep(SECOND).await;
                activity.heard();
            }
        };
        let begun = Instant::now();
        let limit = tokio::select! {
            limit = activity.over(10 * SECOND, 60 * SECOND) => limit,
            () = chatter => Duration::ZERO,
        };
        assert_eq!((limit, begun.elapsed().as_secs()), (60 * SECOND, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_the_user_is_not_the_servers_silence() {
        let requests = Arc::new(Requests::default());
        let under_way = requests.begin(Arc::new(Slow));
        let begun = Instant::now();
        let over = under_way.activity.over(10 * SECOND, 60 * SECOND);
        let (limit, answer) = futures::join!(over, requests.elicit(None, question()));
        assert_eq!(answer, ElicitationAnswer::Declined);
        assert_eq!((limit, begun.elapsed().as_secs()), (10 * SECOND, 110));
    }

    #[tokio::test]
    async fn question_for_a_request_that_ended_is_cancelled() {
        let requests = Arc::new(Requests::default());
        drop(requests.begin(Arc::new(Slow)));
        assert_eq!(requests.elicit(None, question()).await, ElicitationAnswer::Cancelled);
    }
}

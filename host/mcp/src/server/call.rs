//! One call under way: its end, its questions, its progress.
//!
//! Promises: dropping it drops the call with all that it started.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use host_app::tool_service::{CallProgress, CallRequest, ToolService};
use host_settings::error::Failure;
use host_tool::{Answer, ApprovalQueue, Cancel, Listener, Notice, Question, QuestionId, SettledCall};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use super::form::Asks;
use super::progress::{Progress, Reporter};

/// How many reports of one call may wait for a client that reads slowly; the rest is dropped. Protects memory.
const WAITING: usize = 16;

/// Why a cancelled call was cancelled, for its outcome.
const BY_THE_CLIENT: &str = "cancelled by the client";

/// A call that has begun.
pub(super) struct RunningCall {
    ended: BoxFuture<'static, Ended>,
    listener: Option<Listener>,
    progress: mpsc::Receiver<Progress>,
    cancel: Cancel,
    name: String,
    arguments: Map<String, Value>,
    _slot: OwnedSemaphorePermit,
}

/// How a call ended, or why it could not begin.
pub(super) type Ended = Result<SettledCall, Failure>;

/// What a call waits for.
pub(super) enum Step {
    /// It ended.
    Ended(Box<Ended>),
    /// The user is asked.
    Asked {
        /// The id to answer with.
        id: QuestionId,
        /// The question.
        question: Arc<Question>,
    },
}

impl RunningCall {
    /// Begins a call. It runs while [`next`](Self::next) is awaited.
    pub(super) fn start(
        service: &Arc<ToolService>,
        name: String,
        arguments: Map<String, Value>,
        asks: Asks,
        slot: OwnedSemaphorePermit,
    ) -> Self {
        let approvals = ApprovalQueue::new();
        let listener = match asks {
            Asks::InRequest | Asks::InResult => Some(approvals.listen()),
            Asks::Nobody => None,
        };
        let (sender, progress) = mpsc::channel(WAITING);
        // What does not fit is dropped: the next report says more than this one.
        let report = move |progress: CallProgress<'_>| drop(sender.try_send(Progress::from(progress)));
        let cancel = Cancel::under(&CancellationToken::new());
        let request =
            CallRequest { name: name.clone(), arguments: arguments.clone(), approvals, progress: Arc::new(report) };
        let (service, cancels) = (Arc::clone(service), cancel.clone());
        let ended = async move { service.call(request, &cancels).await }.boxed();
        Self { ended, listener, progress, cancel, name, arguments, _slot: slot }
    }

    /// Whether it is a call of this tool with these arguments.
    pub(super) fn is(&self, name: &str, arguments: &Map<String, Value>) -> bool {
        self.name == name && self.arguments == *arguments
    }

    /// Waits until it ends or asks, and reports its progress.
    pub(super) async fn next(&mut self, reporter: &mut Reporter) -> Step {
        loop {
            let notice = async {
                match &mut self.listener {
                    Some(listener) => listener.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // Progress before the end, so that it is not reported behind it.
                biased;
                Some(progress) = self.progress.recv() => reporter.report(progress).await,
                ended = &mut self.ended => {
                    // What it reported at its end comes before that.
                    while let Ok(progress) = self.progress.try_recv() {
                        reporter.report(progress).await;
                    }
                    return Step::Ended(Box::new(ended));
                }
                notice = notice => match notice {
                    Some(Notice::Asked { id, question }) => return Step::Asked { id, question },
                    // No tool that is served asks for a model.
                    Some(Notice::ModelAsked { .. } | Notice::Answered { .. } | Notice::Withdrawn { .. }) => {}
                    None => self.listener = None,
                },
            }
        }
    }

    /// Cancels it and waits for its end, for which it has its grace.
    pub(super) async fn cancelled(self) -> Ended {
        self.cancel.cancel(BY_THE_CLIENT);
        self.ended.await
    }

    /// Answers its question.
    pub(super) fn answer(&mut self, id: QuestionId, answer: Answer) {
        if let Some(listener) = &self.listener {
            // It may have been withdrawn in the meantime.
            listener.answer(id, answer).ok();
        }
    }

    /// Lets its questions fail: the user cannot be asked.
    pub(super) fn leave(&mut self) {
        self.listener = None;
    }
}

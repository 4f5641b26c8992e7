//! The handle of a session: what it is to do, the prompt that runs, and its end.
//!
//! Deliberately not here: the work of a session (`session`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    ContentBlock, PromptResponse, SessionConfigOptionValue, SetSessionConfigOptionResponse, SetSessionModeResponse,
};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::errors::not_now;

/// What a session is to do.
pub(crate) enum Job {
    /// Run a prompt.
    Prompt { blocks: Vec<ContentBlock>, cancel: CancellationToken, responder: Responder<PromptResponse> },
    /// Change the approval mode.
    SetMode { id: String, responder: Responder<SetSessionModeResponse> },
    /// Change an option.
    SetOption { id: String, value: SessionConfigOptionValue, responder: Responder<SetSessionConfigOptionResponse> },
    /// Offer these models too.
    Models(Vec<String>),
}

impl Job {
    /// Answers a job that is not done.
    pub(crate) fn reject(self, error: Error) -> Result<(), Error> {
        match self {
            Self::Prompt { responder, .. } => responder.respond_with_error(error),
            Self::SetMode { responder, .. } => responder.respond_with_error(error),
            Self::SetOption { responder, .. } => responder.respond_with_error(error),
            Self::Models(_) => Ok(()),
        }
    }
}

/// The handle of a session. Its session ends with it.
pub(crate) struct Handle {
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) running: Running,
    pub(crate) begin: Arc<Notify>,
    pub(crate) end: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

/// The prompt that runs, or waits to.
pub(crate) type Running = Arc<Mutex<Option<CancellationToken>>>;

impl Handle {
    /// The queue of its jobs.
    pub(crate) fn jobs(&self) -> mpsc::Sender<Job> {
        self.jobs.clone()
    }

    /// Is notified once the client knows the session: from then on it gets updates.
    pub(crate) fn begin(&self) -> Arc<Notify> {
        Arc::clone(&self.begin)
    }

    /// Reserves the session for a prompt.
    ///
    /// # Errors
    ///
    /// If one runs.
    pub(crate) fn begin_prompt(&self) -> Result<(mpsc::Sender<Job>, CancellationToken), Error> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Err(not_now("a prompt runs in this session; cancel it, or wait for its end"));
        }
        let cancel = self.end.child_token();
        *running = Some(cancel.clone());
        Ok((self.jobs.clone(), cancel))
    }

    /// Cancels the prompt that runs, if one does.
    pub(crate) fn cancel(&self) {
        if let Some(running) = self.running.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            running.cancel();
        }
    }

    /// Ends the session, at the latest after this time.
    pub(crate) async fn end(mut self, limit: Duration) {
        self.end.cancel();
        if tokio::time::timeout(limit, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

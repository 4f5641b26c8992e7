//! Opening a session: what the client hands over is checked, a place is reserved, and the session is started beside the
//! connection.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::McpServer;
use agent_client_protocol::{Error, JsonRpcResponse};
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::model_list;
use tokio::sync::mpsc;

use super::Agent;
use crate::connection::Connection;
use crate::errors::{error, not_now};
use crate::handle::Job;
use crate::handover::{folder, servers};
use crate::session::{Begins, Opened, Request, open};

/// The most sessions that are open at once. Protects memory: each has its tools and its conversation.
const MAX_SESSIONS: usize = 32;

impl Agent {
    pub(super) fn request(
        &self,
        cwd: PathBuf,
        others: &[PathBuf],
        mcp_servers: Vec<McpServer>,
        begins: Begins,
    ) -> Result<Request, Error> {
        let client = self.client()?;
        let setup = self.setup.clone();
        let place = folder(cwd, others, setup.any_folder)?;
        Ok(Request { place, mcp_servers: servers(mcp_servers)?, begins, client, setup })
    }

    pub(super) fn open<T: JsonRpcResponse + 'static>(
        self: &Arc<Self>,
        request: Result<Request, Error>,
        responder: Responder<T>,
        connection: Connection,
        response: impl FnOnce(Opened) -> T + Send + 'static,
    ) -> Result<(), Error> {
        let request = match request.and_then(|request| self.has_room().map(|()| request)) {
            Ok(request) => request,
            Err(error) => return responder.respond_with_error(error),
        };
        // A session of this id that is being opened is not opened twice.
        let reserved = match self.reserve(&request.begins) {
            Ok(reserved) => reserved,
            Err(error) => return responder.respond_with_error(error),
        };
        let agent = Arc::clone(self);
        // Opening reads projects and starts servers, and the connection must not wait for that.
        self.spawn(async move {
            let cancelled = responder.cancellation();
            let end = agent.end.child_token();
            let opening = open(request, connection, agent.outbox.clone(), end);
            let opened =
                // A client that gives up drops the opening and all that it started.
                cancelled.run_until_cancelled(async { opening.await.map_err(|failure| error(&failure)) }).await;
            let answered = match opened {
                Ok((handle, opened)) => {
                    let (id, configuration, environment) =
                        (opened.id.clone(), opened.configuration.clone(), agent.setup.environment.clone());
                    let (jobs, begin) = (handle.jobs(), handle.begin());
                    // Before the answer: the client's next message may come at once.
                    agent.state().sessions.insert(id, handle);
                    let answered = responder.respond(response(opened));
                    // The client knows the session now.
                    begin.notify_one();
                    // Services are asked later: a slow one must not hold up the opening.
                    agent.list_models(jobs, configuration, environment);
                    answered
                }
                Err(error) => responder.respond_with_error(error),
            };
            // The place is held until the session is in the table.
            drop(reserved);
            if let Err(error) = answered {
                tracing::debug!(message = error.message, "a session is not reported");
            }
        });
        Ok(())
    }

    /// Asks the services for their models, and hands them to a session.
    fn list_models(&self, jobs: mpsc::Sender<Job>, configuration: Configuration, environment: Environment) {
        let listed = Arc::clone(&self.listed);
        self.spawn(async move {
            let ask = async || model_list::list(&configuration, &environment).await.models;
            let models = listed.get_or_init(ask).await.clone();
            // A session that has ended needs none.
            jobs.send(Job::Models(models)).await.ok();
        });
    }

    /// Reserves the place of a session that is to be opened.
    fn reserve(self: &Arc<Self>, begins: &Begins) -> Result<Reserved, Error> {
        let mut state = self.state();
        if let Begins::Loads(id) | Begins::Resumes(id) = begins
            && state.sessions.contains_key(id)
        {
            return Err(not_now("the session is open already; close it before it is loaded again"));
        }
        if state.sessions.len() + state.opening >= MAX_SESSIONS {
            return Err(not_now("too many sessions are open; close one that is not needed any more"));
        }
        state.opening += 1;
        Ok(Reserved(Arc::clone(self)))
    }
}

/// The place of a session that is being opened.
struct Reserved(Arc<Agent>);

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.opening = state.opening.saturating_sub(1);
    }
}

//! The connection with one client, from its first message to its last.
//!
//! Promises: nothing is done before the client has introduced itself; the end of the input, of the output, or of the
//! process ends all sessions, and with them what they started.

use std::io::{Read, Write};
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, CloseSessionRequest, InitializeRequest, ListSessionsRequest,
    LoadSessionRequest, NewSessionRequest, PromptRequest, ResumeSessionRequest, SetSessionConfigOptionRequest,
    SetSessionModeRequest,
};
use agent_client_protocol::{Agent as AgentRole, Lines, on_receive_notification, on_receive_request};
use host_settings::error::Failure;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::connection::{Connection, Setup};
use crate::lines;
use crate::outbox::Outbox;

/// Serves one client until it ends the input, or `stop` is cancelled.
///
/// # Errors
///
/// If there are no threads for the streams, or the client has stopped reading.
pub async fn serve(
    setup: Setup,
    input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    // Before anything is read: an error could not be reported otherwise.
    let (sink, written, writing) = lines::write(output).map_err(|error| {
        Failure::configuration(format!("cannot start the thread that writes to the client: {error}"))
    })?;
    let transport = Lines::new(sink, lines::read(input));
    let overrun = stop.child_token();
    let outbox = Outbox::new(overrun.clone());
    let agent = Arc::new(Agent::new(setup, outbox.clone()));
    let ending = Arc::clone(&agent);
    let served = handlers(&agent, transport, async |connection: Connection| {
        let pump = tokio::spawn(outbox.pump(connection.clone(), written));
        tokio::select! {
            () = connection.incoming_closed() => {}
            () = overrun.cancelled() => {}
        }
        // Sessions end while the connection is still there, so that their last answers get out.
        ending.end().await;
        pump.abort();
        Ok(())
    })
    .await;
    // A client that closes its end while it is written to has left.
    if let Err(error) = served {
        tracing::debug!(message = error.message, "the connection ended");
    }
    agent.end().await;
    // What was answered last must be written before the process ends.
    writing.ended().await;
    // `stop` cancels it too, which is no fault of the client's.
    if overrun.is_cancelled() && !stop.is_cancelled() {
        return Err(Failure::input("the client does not read what it is sent")
            .help("restart the editor; if that does not help, report which editor it is"));
    }
    Ok(())
}

/// Registers what is done with each message.
async fn handlers(
    agent: &Arc<Agent>,
    transport: impl agent_client_protocol::ConnectTo<AgentRole> + 'static,
    main: impl AsyncFnOnce(Connection) -> Result<(), agent_client_protocol::Error>,
) -> Result<(), agent_client_protocol::Error> {
    let shared = || Arc::clone(agent);
    let (a, b, c, d, e, f) = (shared(), shared(), shared(), shared(), shared(), shared());
    let (g, h, i, j, k) = (shared(), shared(), shared(), shared(), shared());
    AgentRole
        .v1()
        .name("host")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _cx| responder.respond(a.initialize(request)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: AuthenticateRequest, responder, _cx| b.authenticate(&request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, cx| c.new_session(request, responder, cx),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, cx| d.load_session(request, responder, cx),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, cx| e.resume_session(request, responder, cx),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _cx| f.list_sessions(request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _cx| g.close_session(&request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, _cx| h.prompt(request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _cx| i.set_mode(&request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _cx| j.set_option(request, responder),
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _cx| {
                k.cancel(&cancel);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(transport, main)
        .await
}

//! The task of one server: it connects, reads the lists, keeps them fresh, and connects again.
//!
//! Promises: what was listed stays listed while the server is away; a server that announces changes without end is
//! asked for its lists no more than once in a while; attempts become rarer, and those of a program end.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use host_http::Backoff;
use host_plugin::McpError;
use host_settings::mcp::{McpState, McpTransport};
use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, RoleClient};
use tokio::time::Instant;

use super::connection::{Connection, NotOpen, Opener};
use super::lists;
use super::shared::Shared;

/// The pauses before an MCP server is connected again. They protect the server; those of servers that failed together
/// differ, so that not all are asked together.
const BACKOFF: Backoff =
    Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60), shorter: 0.25, longer: 0.0 };

/// How often in a row a program may fail before it is not started any more. Protects the machine from one that ends at
/// once.
const MAX_STARTS: u32 = 8;

/// How long a connection lasts that counts as a success. See [`MAX_STARTS`].
const STABLE: Duration = Duration::from_secs(30);

/// The least time between two readings of an MCP server's lists. Protects both from a flood of announced changes.
const RELIST_PAUSE: Duration = Duration::from_secs(1);

/// The shortest time that an MCP server may say its lists stay as they are; they are read again after it. Protects the
/// server.
const LEAST_FRESH: Duration = Duration::from_secs(60);

/// The longest instructions of an MCP server, in bytes; the rest is cut. Protects the context of the model.
const MAX_INSTRUCTIONS: usize = 16 << 10;

/// Keeps a server connected for as long as it is polled.
pub(super) async fn run(shared: Arc<Shared>, opener: Opener) {
    // In a row: one that served for a while starts again.
    let mut failures = 0_u32;
    loop {
        let why = match opener.open(&shared).await {
            Ok(connection) => {
                let begun = Instant::now();
                let why = serve(&shared, connection).await;
                // A server that always dies after its first answer counts as failing.
                if begun.elapsed() >= STABLE {
                    failures = 0;
                }
                why
            }
            Err(why) => why,
        };
        // What is called meanwhile gets a reason at once and does not wait.
        shared.set_peer(None);
        match why {
            NotOpen::NeedsLogin(challenge) => {
                shared.challenge().set(challenge.as_deref());
                shared.update(|status| status.state = McpState::NeedsLogin);
                // Until the user has logged in: asking again would only be refused.
                wait(&shared).await;
                failures = 0;
            }
            NotOpen::Again => {}
            // Trying again does not help, such as with a wrong address.
            NotOpen::Final(why) => {
                away(&shared, why, false);
                wait(&shared).await;
                failures = 0;
            }
            NotOpen::Failed(why) => {
                failures += 1;
                let is_program = matches!(shared.config.transport, McpTransport::Program(_));
                // A program that cannot start would be started for the whole session.
                if is_program && failures >= MAX_STARTS {
                    away(&shared, why, false);
                    wait(&shared).await;
                    failures = 0;
                } else {
                    away(&shared, why, true);
                    tokio::select! {
                        () = tokio::time::sleep(BACKOFF.pause(failures)) => {}
                        () = shared.again.notified() => {}
                    }
                }
            }
        }
    }
}

/// Waits until the server is to be connected again.
async fn wait(shared: &Shared) {
    shared.again.notified().await;
    // Who waits for the outcome sees that it is not the one from before.
    shared.update(|status| status.state = McpState::Starting);
}

fn away(shared: &Shared, why: String, is_retried: bool) {
    tracing::info!(server = %shared.config.name, why, is_retried, "the MCP server is away");
    shared.update(|status| status.state = McpState::Unavailable { why, is_retried });
}

/// Serves requests until the connection ends. Returns why it did.
async fn serve(shared: &Arc<Shared>, connection: Connection) -> NotOpen {
    let Connection { service, mut program } = connection;
    // What was asked for before is done.
    shared.again.notified().now_or_never();
    shared.set_hints(program.as_ref().map(super::program::Program::hints));
    let peer = service.peer().clone();
    // Before the lists are read: reading them is a request like any other.
    shared.set_peer(Some(peer.clone()));
    let notes: Vec<String> = program.as_ref().map(|program| program.notes().to_vec()).unwrap_or_default();
    let fresh_for = match read(shared, &peer, &notes).await {
        Ok(fresh_for) => fresh_for,
        Err(McpError::NeedsLogin(_)) => return NotOpen::NeedsLogin(None),
        Err(error) => {
            // Closes its streams, so that the program ends and can say why.
            drop(service);
            return NotOpen::Failed(match &mut program {
                Some(program) => program.explain(error.to_string()).await,
                None => error.to_string(),
            });
        }
    };
    let ended = service.waiting();
    // The end of an earlier connection says nothing about this one.
    shared.end.set(None);
    let left = async {
        let Some(program) = &mut program else { return std::future::pending().await };
        let why = program.left().await;
        // For the requests that have no answer: they fail as soon as the connection is dropped.
        shared.end.set(Some(why.clone()));
        why
    };
    let keeping = keep_fresh(shared, &peer, &notes, fresh_for);
    let why = tokio::select! {
        // The end of the connection first, since the program's end follows it.
        biased;
        _ = ended => "it went away".to_owned(),
        why = left => return NotOpen::Failed(match &mut program {
            Some(program) => program.explain(why).await,
            None => why,
        }),
        never = keeping => match never {},
        never = announced(shared, &peer) => match never {},
        () = shared.again.notified() => return NotOpen::Again,
    };
    shared.set_peer(None);
    NotOpen::Failed(match &mut program {
        Some(program) => program.why(why).await,
        None => why,
    })
}

/// Reads the lists again when they may have changed. Never ends: a server that does not answer keeps its lists, and may
/// still answer calls.
async fn keep_fresh(
    shared: &Arc<Shared>,
    peer: &Peer<RoleClient>,
    notes: &[String],
    mut fresh_for: Option<Duration>,
) -> std::convert::Infallible {
    loop {
        // Announcements until then count as one.
        tokio::time::sleep(RELIST_PAUSE).await;
        let stale = async {
            match fresh_for.filter(|fresh| !fresh.is_zero()) {
                // A server can say that its lists are stale at once.
                Some(fresh) => tokio::time::sleep(fresh.max(LEAST_FRESH)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = shared.lists_changed.notified() => {}
            () = stale => {}
        }
        match read(shared, peer, notes).await {
            Ok(fresh) => fresh_for = fresh,
            Err(error) => tracing::info!(server = %shared.config.name, %error, "its lists are not read again"),
        }
    }
}

/// Passes on changes that a server without a session announces to those who asked for it. Never ends: without
/// announcements the lists stay until they are stale.
async fn announced(shared: &Arc<Shared>, peer: &Peer<RoleClient>) -> std::convert::Infallible {
    let about = peer.peer_info();
    // Those with a session announce by themselves.
    let announces = about.filter(|about| !about.protocol_version.has_initialize()).map(|about| {
        let offers = &about.capabilities;
        let mut filter = SubscriptionFilter::new();
        let on = |announced: Option<bool>| announced.filter(|announced| *announced);
        filter.tools_list_changed = on(offers.tools.as_ref().and_then(|tools| tools.list_changed));
        filter.prompts_list_changed = on(offers.prompts.as_ref().and_then(|prompts| prompts.list_changed));
        filter.resources_list_changed = on(offers.resources.as_ref().and_then(|resources| resources.list_changed));
        filter
    });
    // One that announces nothing is not asked.
    if let Some(filter) = announces.filter(|filter| *filter != SubscriptionFilter::new()) {
        let mut failed = 0;
        while failed < MAX_STARTS {
            if let Ok(mut subscription) = peer.listen(filter.clone()).await {
                while let Ok(Some(announcement)) = subscription.next().await {
                    failed = 0;
                    if let ServerNotification::ToolListChangedNotification(_)
                    | ServerNotification::PromptListChangedNotification(_)
                    | ServerNotification::ResourceListChangedNotification(_) = announcement
                    {
                        shared.lists_changed.notify_one();
                    }
                }
                // What was announced meanwhile is lost.
                shared.lists_changed.notify_one();
            }
            failed += 1;
            tokio::time::sleep(BACKOFF.pause(failed)).await;
        }
    }
    std::future::pending().await
}

/// Reads the lists, and sets the status with them.
async fn read(shared: &Arc<Shared>, peer: &Peer<RoleClient>, notes: &[String]) -> Result<Option<Duration>, McpError> {
    let exchange = shared.exchange(Arc::new(()), "its lists stay as they were")?;
    let Some(about) = peer.peer_info() else {
        return Err(McpError::Protocol("it said nothing about itself".to_owned()));
    };
    let found = lists::read(&exchange, &about.capabilities, shared.config.tools.as_ref()).await?;
    let shown = |text: &str| host_text::excerpt(text, 100);
    shared.update(|status| {
        status.state = McpState::Ready;
        status.program = about.server_info.as_ref().map(|about| (shown(&about.name), shown(&about.version)));
        status.revision = Some(shown(about.protocol_version.as_str()));
        status.instructions =
            about.instructions.as_deref().map(|text| host_text::clip(text, MAX_INSTRUCTIONS).into_owned());
        status.tools = found.tools;
        status.resources = found.resources;
        status.prompts = found.prompts;
        status.notes = notes.iter().cloned().chain(found.notes).collect();
    });
    Ok(found.fresh_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_differ() {
        for (failures, longest) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (1_000, 60)] {
            let longest = Duration::from_secs(longest);
            let pause = BACKOFF.pause(failures);
            assert!(pause <= longest && pause >= longest.mul_f64(0.75), "{failures}: {pause:?}");
        }
    }
}

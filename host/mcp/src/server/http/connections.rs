//! Places for connections: few for those that have not shown the token yet, more for those that have.
//!
//! Promises: a connection is always accepted, and one that sends nothing keeps nobody out: where too many wait, the
//! oldest of them is closed, of the peers that have the most. One that showed the token is never closed for another.
//!
//! Deliberately not here: how long a head may take, and what is answered.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};

/// The most connections at the same time whose client has shown the token. Protects memory and descriptors.
pub(super) const MAX_CONNECTIONS: usize = 128;

/// The most connections at the same time whose client has not shown the token yet, since no whole request came.
/// Protects the clients that have it from any process of this machine that opens connections and sends nothing.
const MAX_WAITING: usize = 64;

/// The most of these of one peer. Protects the peers from each other.
const MAX_WAITING_OF_PEER: usize = 32;

/// The places of a server.
#[derive(Debug)]
pub(super) struct Places {
    waiting: Arc<Mutex<Waiting>>,
    free: Arc<Semaphore>,
}

/// The connections that wait, by their age.
#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    connections: BTreeMap<u64, (IpAddr, Option<AbortHandle>)>,
}

/// The place of one connection. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    waiting: Arc<Mutex<Waiting>>,
    free: Arc<Semaphore>,
    admitted: OnceLock<OwnedSemaphorePermit>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { waiting: Arc::default(), free: Arc::new(Semaphore::new(MAX_CONNECTIONS)) }
    }

    /// Serves a connection of this peer as a task of the set. Others may be closed for it.
    pub(super) fn serve<F>(&self, peer: IpAddr, tasks: &mut JoinSet<()>, serve: impl FnOnce(Arc<Place>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let number = {
            let mut waiting = lock(&self.waiting);
            waiting.next += 1;
            let number = waiting.next;
            waiting.connections.insert(number, (peer, None));
            number
        };
        let (waiting, free) = (Arc::clone(&self.waiting), Arc::clone(&self.free));
        let task = tasks.spawn(serve(Arc::new(Place { number, waiting, free, admitted: OnceLock::new() })));
        let mut waiting = lock(&self.waiting);
        // It may have been admitted, or have ended.
        if let Some((_, handle)) = waiting.connections.get_mut(&number) {
            *handle = Some(task);
        }
        waiting.make_room(peer);
    }
}

impl Place {
    /// Moves the connection to those whose client has shown the token. Waits while there are too many of them.
    pub(super) async fn admit(&self) {
        if self.admitted.get().is_some() {
            return;
        }
        // Nobody closes the semaphore.
        if let Ok(permit) = Arc::clone(&self.free).acquire_owned().await {
            lock(&self.waiting).connections.remove(&self.number);
            self.admitted.set(permit).ok();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.waiting).connections.remove(&self.number);
    }
}

impl Waiting {
    /// Closes the oldest connection of a peer that has too many, or of those that have the most.
    fn make_room(&mut self, peer: IpAddr) {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for (peer, _) in self.connections.values() {
            *counts.entry(*peer).or_default() += 1;
        }
        let of_peer = counts.get(&peer).copied().unwrap_or_default();
        let most = counts.values().copied().max().unwrap_or_default();
        let has_to_close = |other: &IpAddr| match of_peer > MAX_WAITING_OF_PEER {
            true => *other == peer,
            false => self.connections.len() > MAX_WAITING && counts.get(other) == Some(&most),
        };
        let oldest = self.connections.iter().find(|(_, (peer, _))| has_to_close(peer)).map(|(number, _)| *number);
        if let Some((_, Some(task))) = oldest.and_then(|oldest| self.connections.remove(&oldest)) {
            task.abort();
        }
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a connection that waits until it is admitted, and then for ever.
    fn open(places: &Places, tasks: &mut JoinSet<()>, peer: u8) {
        places.serve(IpAddr::from([10, 0, 0, peer]), tasks, |place| async move {
            std::future::pending::<()>().await;
            drop(place);
        });
    }

    /// The ages of those that are left, by their peers.
    fn left(places: &Places) -> HashMap<IpAddr, Vec<u64>> {
        let mut left: HashMap<IpAddr, Vec<u64>> = HashMap::new();
        for (number, (peer, _)) in &lock(&places.waiting).connections {
            left.entry(*peer).or_default().push(*number);
        }
        left
    }

    #[tokio::test]
    async fn connections_that_wait_are_closed_the_oldest_first_of_the_peer_that_has_most() {
        let (places, mut tasks) = (Places::new(), JoinSet::new());
        (0..10).for_each(|_| open(&places, &mut tasks, 1));
        (0..1_000).for_each(|_| open(&places, &mut tasks, 2));
        let (few, many) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let all = left(&places);
        assert_eq!(all[&few], (1..=10).collect::<Vec<_>>());
        assert_eq!(all[&many], (1_011 - MAX_WAITING_OF_PEER as u64..=1_010).collect::<Vec<_>>());
        // From many peers: the one that has most pays.
        (3..=100).for_each(|peer| open(&places, &mut tasks, peer));
        let all = left(&places);
        assert_eq!(all.values().map(Vec::len).sum::<usize>(), MAX_WAITING);
        // Where many have as many, it is the oldest of them all: one that just came is never closed for its own sake.
        assert_eq!(all.values().flatten().copied().min(), Some(1_108 - MAX_WAITING as u64 + 1));
        // Closed means that its task has ended.
        for _ in 0..1_108 - MAX_WAITING {
            assert!(tasks.join_next().await.is_some_and(|ended| ended.is_err_and(|error| error.is_cancelled())));
        }
        assert!(tasks.try_join_next().is_none());
    }

    #[tokio::test]
    async fn connection_that_was_admitted_is_not_closed_for_others() {
        let (places, mut tasks) = (Places::new(), JoinSet::new());
        let (admitted, is_admitted) = tokio::sync::oneshot::channel();
        places.serve(IpAddr::from([10, 0, 0, 1]), &mut tasks, |place| async move {
            place.admit().await;
            admitted.send(()).ok();
            std::future::pending::<()>().await;
            drop(place);
        });
        is_admitted.await.expect("it runs");
        assert!(left(&places).is_empty() && places.free.available_permits() == MAX_CONNECTIONS - 1);
        (0..1_000).for_each(|_| open(&places, &mut tasks, 1));
        for _ in 0..1_000 - MAX_WAITING_OF_PEER {
            tasks.join_next().await.expect("one was closed").expect_err("it was cancelled");
        }
        assert_eq!(places.free.available_permits(), MAX_CONNECTIONS - 1);
        drop(tasks);
        while places.free.available_permits() < MAX_CONNECTIONS {
            tokio::task::yield_now().await;
        }
        assert!(left(&places).is_empty());
    }
}

//! A model's service on this machine, which says what it was told to say and remembers when.
//!
//! Deliberately not here: what a reply consists of ([`Reply`]), and reading what is asked.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::reply::Reply;

/// The service. Its threads end with the process.
pub(crate) struct Service {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    seen: Vec<Seen>,
}

/// One request and its reply.
pub(crate) struct Seen {
    /// When its first byte was there.
    pub(crate) arrived: Instant,
    /// When the last bytes of the reply were handed to the system. Taken just before: whoever waits for them may be
    /// awake before this thread is again.
    pub(crate) answered: Instant,
}

impl Service {
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // A connection that breaks shows in what was seen.
                std::thread::spawn(move || serve(stream, &state).ok());
            }
        });
        Ok(Self { port, state })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What to answer to the next requests, one after the other.
    pub(crate) fn will_say(&self, replies: Vec<Reply>) {
        *lock(&self.state) = State { replies: replies.into(), seen: Vec::new() };
    }

    /// What was asked since, in order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut lock(&self.state).seen)
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let arrived = Instant::now();
        read_request(&mut reader)?;
        let reply = lock(state).replies.pop_front().ok_or_else(|| io::Error::other("nothing is left to say"))?;
        // Seen before it is answered in full, since the host may end as soon as it has what it needs.
        let place = {
            let seen = &mut lock(state).seen;
            seen.push(Seen { arrived, answered: arrived });
            seen.len() - 1
        };
        std::thread::sleep(reply.pause);
        for packet in &reply.packets {
            if !reply.pace.is_zero() {
                std::thread::sleep(reply.pace);
            }
            if let Some(seen) = lock(state).seen.get_mut(place) {
                seen.answered = Instant::now();
            }
            stream.write_all(packet)?;
        }
    }
}

/// Reads a request with its body to the end.
fn read_request(reader: &mut impl BufRead) -> io::Result<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    io::copy(&mut reader.take(length), &mut io::sink())?;
    Ok(())
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

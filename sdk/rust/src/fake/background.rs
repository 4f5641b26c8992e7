//! The programs in the background of a fake host. Nothing is run: one has printed all that the test says at once, and runs
//! until it is waited for or stopped.

use super::ask;
use crate::background::{Output, Program, State};
use crate::process::{Chunk, Exit};

/// The signal with which a host ends a program politely.
const TERMINATED: i32 = 15;

/// A program that was started.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    program: Program,
    unread: Vec<u8>,
    /// How it ends when it is waited for.
    exit: Exit,
}

impl Started {
    pub(crate) fn new(id: String, command: String, chunks: Vec<Chunk>, exit: Exit) -> Self {
        let unread: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.data).collect();
        let printed = unread.len() as u64;
        let program = Program { id, command, state: State::Running, milliseconds: 0, printed };
        Self { program, unread, exit }
    }
}

/// Says, within `preview`, that the command which the preview names goes on after the call.
pub fn announce() {
    ask("background::announce", |world, _| world.announced = true);
}

/// The programs, in the order in which they were started.
pub fn list() -> Vec<Program> {
    ask("background::list", |world, _| world.background.iter().map(|started| started.program.clone()).collect())
}

/// What a program printed since the last time; none if there is no such program.
pub fn read(id: &str) -> Option<Output> {
    with("background::read", id, |started| Output {
        data: std::mem::take(&mut started.unread),
        dropped: 0,
        program: started.program.clone(),
    })
}

/// Waits until a program has ended; none if there is no such program. Here it ends at once, unless no time is given.
pub fn wait(id: &str, milliseconds: u64) -> Option<Program> {
    with("background::wait", id, |started| {
        if milliseconds > 0 && started.program.state == State::Running {
            started.program.state = match (started.exit.code, started.exit.signal) {
                (Some(code), _) => State::Exited(code),
                (None, signal) => State::Signalled(signal.unwrap_or(TERMINATED)),
            };
        }
        started.program.clone()
    })
}

/// Ends a program; none if there is no such program.
pub fn stop(id: &str) -> Option<Program> {
    with("background::stop", id, |started| {
        if started.program.state == State::Running {
            started.program.state = State::Signalled(TERMINATED);
        }
        started.program.clone()
    })
}

fn with<T>(function: &str, id: &str, work: impl FnOnce(&mut Started) -> T) -> Option<T> {
    ask(function, |world, _| world.background.iter_mut().find(|started| started.program.id == id).map(work))
}

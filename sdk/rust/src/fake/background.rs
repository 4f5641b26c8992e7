//! The programs in the background of a fake host. Nothing is run: one has printed all that the test says at once, and runs
//! until it is waited for or stopped.

use super::ask;
use crate::background::{Input, Output, Program, Screen, State, TerminalError};
use crate::process::{Chunk, Exit, TerminalSize};

/// The signal with which a host ends a program politely.
const TERMINATED: i32 = 15;

/// A program that was started.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    program: Program,
    unread: Vec<u8>,
    /// How it ends when it is waited for.
    exit: Exit,
    terminal: Option<FakeTerminal>,
}

/// The terminal of a program, which shows the last lines of what it printed and draws nothing.
#[derive(Clone, Debug)]
struct FakeTerminal {
    size: TerminalSize,
    /// What it prints when something is typed.
    answers: Vec<(String, String)>,
    printed: String,
    /// How many lines had left the screen when it was looked at last.
    seen: usize,
}

impl Started {
    pub(crate) fn new(id: String, command: String, chunks: Vec<Chunk>, exit: Exit) -> Self {
        let unread: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.data).collect();
        let printed = unread.len() as u64;
        let program = Program { id, command, state: State::Running, milliseconds: 0, printed };
        Self { program, unread, exit, terminal: None }
    }

    /// The same on a terminal.
    pub(crate) fn on_terminal(self, size: TerminalSize, answers: Vec<(String, String)>) -> Self {
        let printed = String::from_utf8_lossy(&self.unread).into_owned();
        Self { terminal: Some(FakeTerminal { size, answers, printed, seen: 0 }), ..self }
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

/// Says, within `preview`, that the command which the preview names goes on after the call on a terminal.
pub fn announce_terminal() {
    ask("background::announce_terminal", |world, _| world.announced_terminal = true);
}

/// Types into the terminal of a program. Here it prints what the test says.
///
/// # Errors
///
/// When there is no such program or terminal, it has ended, or a key has no name.
pub fn send(id: &str, input: &[Input]) -> Result<(), TerminalError> {
    let mut typed = String::new();
    for input in input {
        match input {
            Input::Text(text) => typed.push_str(text),
            Input::Key(name) if name.is_empty() => return Err(TerminalError::Invalid("`` is no key".to_owned())),
            Input::Key(name) => typed.push_str(&format!("<{name}>")),
        }
    }
    ask("background::send", |world, _| {
        let started = find(&mut world.background, id)?;
        let (terminal, state) = terminal(started)?;
        if *state != State::Running {
            return Err(TerminalError::Ended);
        }
        let answer = terminal.answers.iter().find(|(known, _)| *known == typed).map(|(_, answer)| answer.clone());
        terminal.printed.push_str(answer.as_deref().unwrap_or_default());
        world.typed.push((id.to_owned(), typed));
        Ok(())
    })
}

/// Shows the terminal of a program. Here it never has to wait.
///
/// # Errors
///
/// When there is no such program or terminal.
pub fn view(id: &str, _quiet: u64, _most: u64) -> Result<Screen, TerminalError> {
    ask("background::view", |world, _| {
        let started = find(&mut world.background, id)?;
        let program = started.program.clone();
        let (terminal, _) = terminal(started)?;
        let TerminalSize { columns, rows } = terminal.size;
        let lines: Vec<&str> = terminal.printed.lines().collect();
        let (scrolled, shown) = lines.split_at(lines.len().saturating_sub(rows.into()));
        let new = scrolled.get(terminal.seen..).unwrap_or_default().join("\n");
        let row = u16::try_from(shown.len()).unwrap_or(rows).min(rows.saturating_sub(1));
        let text = shown.iter().map(|line| format!("{line}\n")).collect();
        terminal.seen = scrolled.len();
        Ok(Screen { text, cursor: Some((row, 0)), columns, rows, scrolled: new, dropped: 0, program })
    })
}

/// Changes the size of the terminal of a program.
///
/// # Errors
///
/// When there is no such program or terminal, it has ended, or the size is none.
pub fn resize(id: &str, columns: u16, rows: u16) -> Result<(), TerminalError> {
    ask("background::resize", |world, _| {
        let (terminal, state) = terminal(find(&mut world.background, id)?)?;
        if *state != State::Running {
            return Err(TerminalError::Ended);
        }
        terminal.size = terminal_size(columns, rows).map_err(TerminalError::Invalid)?;
        Ok(())
    })
}

/// A size, if a host has terminals of it.
pub(crate) fn terminal_size(columns: u16, rows: u16) -> Result<TerminalSize, String> {
    match (columns, rows) {
        (20..=300, 5..=100) => Ok(TerminalSize { columns, rows }),
        _ => Err(format!("a terminal has 20 to 300 columns and 5 to 100 rows, not {columns} and {rows}")),
    }
}

fn find<'s>(all: &'s mut [Started], id: &str) -> Result<&'s mut Started, TerminalError> {
    all.iter_mut().find(|started| started.program.id == id).ok_or(TerminalError::NotFound)
}

fn terminal(started: &mut Started) -> Result<(&mut FakeTerminal, &State), TerminalError> {
    let terminal = started.terminal.as_mut().ok_or(TerminalError::NoTerminal)?;
    Ok((terminal, &started.program.state))
}

fn with<T>(function: &str, id: &str, work: impl FnOnce(&mut Started) -> T) -> Option<T> {
    ask(function, |world, _| world.background.iter_mut().find(|started| started.program.id == id).map(work))
}

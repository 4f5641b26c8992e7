//! The capability `process` of a fake host. Nothing is run: a program is what a test says that it prints.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::Path;

use host_capability::{Capability, Grants, Scope};

use super::background::{Started, terminal_size};
use super::fs_read::may_read;
use super::grants::{denial, plugin};
use super::tree::{Node, absolute, shown};
use super::{WORKSPACE, World, ask};
use crate::bindings::host::cap::types::Denial;
use crate::process::{Chunk, Command, Error, Exit, Source, TerminalSize};

/// Bytes of one chunk of output, as the host has it.
const CHUNK: usize = 64 << 10;
/// Words of a command, and bytes of all of them, as the host has it.
const MAX_WORDS: usize = 10_000;
/// See [`MAX_WORDS`].
const MAX_COMMAND: usize = 1 << 20;
/// The signal with which a host ends a program politely.
const TERMINATED: i32 = 15;

/// What a program prints, and how it ends. A text is what one prints to its standard output that ends well.
#[derive(Clone, Debug)]
pub struct Printed {
    chunks: Vec<Chunk>,
    exit: Exit,
    /// How long it runs, in milliseconds.
    runs_for: u64,
    /// What it prints when something is typed.
    answers: Vec<(String, String)>,
}

impl Printed {
    /// Nothing, with exit code 0.
    pub fn new() -> Self {
        let exit = Exit { code: Some(0), signal: None, timed_out: false, background: Vec::new() };
        Self { chunks: Vec::new(), exit, runs_for: 0, answers: Vec::new() }
    }

    /// Then this to the standard output.
    #[must_use]
    pub fn stdout(self, data: impl AsRef<[u8]>) -> Self {
        self.piece(Source::Stdout, data.as_ref())
    }

    /// Then this to the standard error.
    #[must_use]
    pub fn stderr(self, data: impl AsRef<[u8]>) -> Self {
        self.piece(Source::Stderr, data.as_ref())
    }

    /// It ends with this code.
    #[must_use]
    pub fn code(mut self, code: i32) -> Self {
        self.exit.code = Some(code);
        self
    }

    /// It ends by this signal.
    #[must_use]
    pub fn signal(mut self, signal: i32) -> Self {
        self.exit.code = None;
        self.exit.signal = Some(signal);
        self
    }

    /// The host ends it because it was silent for too long.
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        self.exit.timed_out = true;
        self.signal(TERMINATED)
    }

    /// It runs for so many milliseconds, and has printed everything before; with a shorter limit it is ended.
    #[must_use]
    pub fn runs_for(mut self, milliseconds: u64) -> Self {
        self.runs_for = milliseconds;
        self
    }

    /// On a terminal, it prints this when that is typed: characters as they are, a key as its name in `<` and `>`.
    #[must_use]
    pub fn answering(mut self, typed: &str, printed: &str) -> Self {
        self.answers.push((typed.to_owned(), printed.to_owned()));
        self
    }

    /// It leaves these processes running, which the host then ends.
    #[must_use]
    pub fn background(mut self, ids: impl IntoIterator<Item = u32>) -> Self {
        self.exit.background = ids.into_iter().collect();
        self
    }

    fn piece(mut self, source: Source, data: &[u8]) -> Self {
        self.chunks.extend(data.chunks(CHUNK).map(|data| Chunk { source, data: data.to_vec() }));
        self
    }
}

impl Default for Printed {
    fn default() -> Self {
        Self::new()
    }
}

impl From<&str> for Printed {
    fn from(text: &str) -> Self {
        Self::new().stdout(text)
    }
}

impl From<String> for Printed {
    fn from(text: String) -> Self {
        Self::new().stdout(text)
    }
}

/// A program that runs. Dropping it ends its whole process group.
#[derive(Debug)]
pub struct Child {
    output: RefCell<VecDeque<Chunk>>,
    exit: RefCell<Exit>,
    runs_for: u64,
    longest: Cell<Option<u64>>,
}

impl Child {
    /// Waits for its next output; none when both outputs are at their end.
    pub fn read(&self) -> Option<Chunk> {
        self.output.borrow_mut().pop_front()
    }

    /// Waits for its end. Unread output is thrown away.
    pub fn wait(&self) -> Exit {
        self.output.borrow_mut().clear();
        match self.has_expired() {
            true => Exit { code: None, signal: Some(TERMINATED), timed_out: false, background: Vec::new() },
            false => self.exit.borrow().clone(),
        }
    }

    /// Ends its process group: politely, and a moment later for good.
    pub fn kill(&self) {
        let mut output = self.output.borrow_mut();
        // What has printed everything had ended by itself.
        if !output.is_empty() {
            output.clear();
            let ended = Exit { code: None, signal: Some(TERMINATED), timed_out: false, background: Vec::new() };
            self.exit.replace(ended);
        }
    }

    /// Ends it once it has run for so many milliseconds. Of several times the last one counts.
    pub fn end_after(&self, milliseconds: u64) {
        self.longest.set(Some(milliseconds));
    }

    /// Whether it was ended by `end_after`.
    pub fn has_expired(&self) -> bool {
        self.longest.get().is_some_and(|longest| longest < self.runs_for)
    }
}

/// Starts a program.
///
/// # Errors
///
/// When there is no such program or directory, the command is invalid, or it may not be run.
pub fn spawn(command: &Command) -> Result<Child, Error> {
    ask("process::spawn", |world, grants| {
        let Printed { chunks, exit, runs_for, .. } = start(world, grants, command)?;
        let (output, exit) = (RefCell::new(chunks.into()), RefCell::new(exit));
        Ok(Child { output, exit, runs_for, longest: Cell::new(None) })
    })
}

/// Starts a program that goes on after the call; returns its id. Whether a preview announced it is not looked at here.
///
/// # Errors
///
/// As [`spawn`].
pub fn spawn_background(command: &Command) -> Result<String, Error> {
    ask("process::spawn_background", |world, grants| {
        let Printed { chunks, exit, .. } = start(world, grants, command)?;
        let id = format!("p{}", world.background.len() + 1);
        world.background.push(Started::new(id.clone(), command.argv.join(" "), chunks, exit));
        Ok(id)
    })
}

/// Starts a program that goes on after the call, on a terminal; returns its id. Whether a preview announced it is not
/// looked at here.
///
/// # Errors
///
/// As [`spawn`], and when the size is none.
pub fn spawn_terminal(command: &Command, size: TerminalSize) -> Result<String, Error> {
    ask("process::spawn_terminal", |world, grants| {
        let size = terminal_size(size.columns, size.rows).map_err(Error::Invalid)?;
        let Printed { chunks, exit, answers, .. } = start(world, grants, command)?;
        let id = format!("p{}", world.background.len() + 1);
        let started = Started::new(id.clone(), command.argv.join(" "), chunks, exit);
        world.background.push(started.on_terminal(size, answers));
        Ok(id)
    })
}

fn start(world: &mut World, grants: &Grants, command: &Command) -> Result<Printed, Error> {
    let size = command.argv.iter().map(String::len).sum::<usize>();
    if command.argv.len() > MAX_WORDS || size > MAX_COMMAND {
        let words = command.argv.len();
        return Err(Error::Invalid(format!("the command is too long: {words} words, {size} bytes")));
    }
    let variables = command.environment.iter().flat_map(|(name, value)| [name, value]);
    if command.argv.iter().chain(variables).any(|text| text.contains('\0')) {
        return Err(Error::Invalid("a word of the command contains a NUL character".to_owned()));
    }
    let _permit = grants.permit_process(&plugin(), &command.argv).map_err(|refused| Error::Denied(denial(&refused)))?;
    let Some(program) = command.argv.first() else {
        return Err(Error::Invalid("the command does not name a program".to_owned()));
    };
    may_set(grants, &command.environment)?;
    directory(world, grants, &command.directory)?;
    let Some((_, printed)) = world.programs.iter().rev().find(|(argv, _)| *argv == command.argv) else {
        let known = world.programs.iter().any(|(argv, _)| argv.first() == Some(program));
        return Err(match known {
            true => Error::Io(format!(
                "the fake host was not told what {:?} prints; add `.program({:?}, …)`",
                command.argv.join(" "),
                command.argv
            )),
            false => Error::NotFound(program.clone()),
        });
    };
    let printed = printed.clone();
    world.commands.push(command.clone());
    Ok(printed)
}

/// Variables can change what a program runs, so setting them needs a grant for any program.
fn may_set(grants: &Grants, environment: &[(String, String)]) -> Result<(), Error> {
    let Some((name, _)) = environment.first() else { return Ok(()) };
    if grants.scope(Capability::Process).map(Scope::to_string).as_deref() == Some("*") {
        return Ok(());
    }
    let wanted = format!("the variable {}", name.escape_debug());
    let help = format!(
        "{wanted} cannot be set: variables can change what a program runs, so setting them needs a grant for any \
         program; to allow it, add --grant '{}:process=*'",
        plugin()
    );
    Err(Error::Denied(Denial { capability: Capability::Process.name().to_owned(), wanted, help }))
}

/// The folder to run in: in the workspace, or one that may be read.
fn directory(world: &World, grants: &Grants, path: &str) -> Result<(), Error> {
    let absolute = absolute(path).map_err(Error::Invalid)?;
    match world.tree.find(&absolute) {
        Err(_) => return Err(Error::NotFound(shown(&absolute))),
        Ok(Node::File { .. }) => return Err(Error::Io(format!("{}: it is no folder", shown(&absolute)))),
        Ok(Node::Folder) => {}
    }
    match absolute.starts_with(Path::new(WORKSPACE)) {
        true => Ok(()),
        false => may_read(grants, &absolute).map_err(Error::Denied),
    }
}

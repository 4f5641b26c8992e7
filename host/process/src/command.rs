//! The program to start.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::TerminalSize;

/// A program with its arguments and surroundings. Nothing else of the host's reaches it.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program: a path if it contains a slash, else a name that is looked up in the `PATH` of its environment.
    pub program: OsString,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// The folder that it starts in.
    pub directory: PathBuf,
    /// All variables that it gets.
    pub environment: Vec<(OsString, OsString)>,
    /// What it reads.
    pub input: Input,
}

/// What a program reads on its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    Empty,
    /// What the host writes to a pipe.
    Pipe,
    /// What is typed into a terminal of its own, of this size, to which it also prints.
    Terminal(TerminalSize),
}

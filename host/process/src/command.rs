//! The program to start.

use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Whether its standard input is a pipe; otherwise it is empty.
    pub has_input: bool,
}

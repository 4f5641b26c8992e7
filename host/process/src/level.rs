//! The walls around a program, and those that a machine lacks.

use std::fmt;

/// A wall around a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wall {
    /// It reads and changes only named files.
    Files,
    /// Files within writable folders stay unchanged, and new files can be made beside them.
    Mounts,
    /// It reaches no network but its own.
    Network,
    /// It sees only its own processes, which all end with it.
    Processes,
    /// It cannot use the dangerous parts of the kernel.
    Calls,
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "files",
            Self::Mounts => "mounts",
            Self::Network => "network",
            Self::Processes => "processes",
            Self::Calls => "system calls",
        })
    }
}

/// A wall that is missing or has a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The wall.
    pub wall: Wall,
    /// Why, as a sentence without a full stop.
    pub why: String,
    /// What to do about it; `None` if nothing can be done on this machine.
    pub help: Option<String>,
    /// Whether a program is still confined, by a different wall or by having less.
    pub is_covered: bool,
}

//! Which walls there are around programs, and how far those of one call reach.

use host_process::{ConfineMode, level};

/// How far the programs of a call reach, as it was decided. In every mode they are behind the walls; what differs is
/// what the walls enclose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramReach {
    /// They read the workspace and change nothing but temporary files: what runs without a question because it reads.
    Reading,
    /// They change the workspace, too.
    #[default]
    Workspace,
    /// They have no walls: the user said so about this very call, or chose the mode that asks nothing.
    Everything,
}

/// The walls around programs, as far as they decide what has to be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramWalls {
    /// Whether programs are confined.
    pub mode: ConfineMode,
    /// Whether the user chose that, so that no approval mode lifts it.
    pub is_chosen: bool,
}

impl ProgramWalls {
    /// Whether programs are confined by every wall. The first use tries the machine out, which takes a few
    /// milliseconds.
    pub fn are_complete(self) -> bool {
        self.mode != ConfineMode::Off && level().is_whole()
    }

    /// Whether the user can let one call run without walls: there are some, and nobody said that they have to stand.
    pub fn can_be_left(self) -> bool {
        self.mode == ConfineMode::Auto
    }

    /// Returns why a program that the user lets run is not behind all walls, a clause; `None` if it is.
    pub fn lacking(self) -> Option<String> {
        if self.mode == ConfineMode::Off {
            return Some("confinement is off: the command runs with all your rights".to_owned());
        }
        let missing = level().missing().into_iter().find(|missing| !missing.is_covered)?;
        Some(format!("this machine cannot confine its {}: {}; `host doctor` has more", missing.wall, missing.why))
    }
}

//! What the programs of a process share: the folder for their temporary files, their network, and what is known of
//! repositories. What they may touch comes with each call.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host_process::{ConfineMode, Confinement, SessionNetwork, level};

use crate::access::ProgramAccess;
use crate::caches::CacheLayers;
use crate::hidden;
use crate::repositories::{Known, Repositories};
use crate::temporary::TemporaryFolder;
use crate::walls::ProgramReach;

/// Confines the programs of a process.
#[derive(Debug, Default)]
pub struct Programs {
    /// Programs of several calls share it, as they share `/tmp` elsewhere. It goes with the process.
    temporary: OnceLock<TemporaryFolder>,
    /// That of the programs of calls. It goes with the process, and is not made before one of them is confined.
    pub network: SessionNetwork,
    known: Arc<Known>,
    explained: OnceLock<()>,
}

/// How a program is to be started.
pub struct Confined {
    /// What it may touch; `None` if it is not confined.
    pub confinement: Option<Confinement>,
    /// What the user should know about it, once for a process.
    pub note: Option<String>,
}

impl Programs {
    /// Returns how the next program of a call is to be started. The error says why it must not be.
    pub fn next(&self, access: &ProgramAccess, reach: ProgramReach) -> Result<Confined, String> {
        let walls = access.walls;
        match reach {
            ProgramReach::Reading if !walls.are_complete() => {
                // Such a call runs without a question only because the walls hold. Who decides about it looks at them,
                // too.
                Err("a program that runs without a question needs walls that this machine does not have".to_owned())
            }
            ProgramReach::Everything if walls.mode == ConfineMode::Require => {
                Err("programs have to be confined (confinement is `require`), but this one was to run without walls"
                    .to_owned())
            }
            ProgramReach::Everything => Ok(Confined { confinement: None, note: None }),
            ProgramReach::Reading | ProgramReach::Workspace => self.next_in(access, walls.mode, reach),
        }
    }

    /// The same in this mode, whatever that of the programs of calls is.
    pub fn next_in(&self, access: &ProgramAccess, mode: ConfineMode, reach: ProgramReach) -> Result<Confined, String> {
        // The one reach that lifts the walls, which a rule or the answer `o` gives.
        if mode == ConfineMode::Off || reach == ProgramReach::Everything {
            return Ok(Confined { confinement: None, note: None });
        }
        let missing = level().missing();
        let open: Vec<_> = missing.iter().filter(|missing| !missing.is_covered).collect();
        if let (ConfineMode::Require, Some(first)) = (mode, open.first()) {
            let help = first.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            return Err(format!(
                "programs have to be confined (confinement is `require`), and this machine cannot confine their {}: {}{help}",
                first.wall, first.why
            ));
        }
        // Once a session: it is about the machine and not about the program.
        let note = open.first().filter(|_| self.explained.set(()).is_ok()).map(|first| {
            format!("host: programs are not fully confined on this machine ({}); see `host doctor`\n", first.why)
        });
        let temporary = self.temporary().map_err(|error| format!("no folder for temporary files: {error}"))?;
        let ProgramAccess { installed, mut readable, mut writable, protected, hidden, .. } = access.clone();
        // Before the rest is added: what is installed is not searched for the user's files.
        let hidden = hidden::in_roots(hidden, readable.iter().chain(&writable));
        readable.extend_from_slice(installed.paths());
        if reach == ProgramReach::Reading {
            // Nobody was asked about it, so what others may change it only reads.
            readable.append(&mut writable);
        }
        Ok(Confined {
            confinement: Some(Confinement {
                readable,
                writable,
                protected,
                hidden,
                temporary: Some(temporary),
                ..Confinement::default()
            }),
            note,
        })
    }

    /// Finds the repositories that the next program of a call can change, before it starts; `None` if it can change
    /// none, or is not confined. Blocks for some milliseconds.
    pub fn repositories(&self, access: &ProgramAccess, reach: ProgramReach) -> Option<Repositories> {
        self.repositories_in(access, access.walls.mode, reach)
    }

    /// The same in this mode, whatever that of the programs of calls is.
    pub fn repositories_in(
        &self,
        access: &ProgramAccess,
        mode: ConfineMode,
        reach: ProgramReach,
    ) -> Option<Repositories> {
        let is_confined = mode != ConfineMode::Off && reach == ProgramReach::Workspace;
        is_confined.then(|| Repositories::new(&self.known, access, true))
    }

    /// The same for a program that runs as long as its session, so that what it changes could not come back: it changes
    /// none.
    pub fn fixed_repositories(&self, access: &ProgramAccess, mode: ConfineMode) -> Option<Repositories> {
        (mode != ConfineMode::Off).then(|| Repositories::new(&self.known, access, false))
    }

    /// Returns the files that others run later and that programs of this process changed, in folders of which others
    /// run everything: also in those that version control ignores.
    pub fn run_later_changed(&self) -> Vec<PathBuf> {
        self.known.run_later_changed()
    }

    fn temporary(&self) -> io::Result<PathBuf> {
        if let Some(folder) = self.temporary.get() {
            return Ok(folder.path());
        }
        let made = TemporaryFolder::new()?;
        // If another call was quicker, its folder is used, and this one removed.
        Ok(self.temporary.get_or_init(|| made).path())
    }
}

impl ProgramAccess {
    /// Hides from the next program what the user keeps from all of them, in everything that this one may read. Blocks
    /// for as long as it takes to list that; returns at once if nothing is kept.
    ///
    /// # Errors
    ///
    /// If there is too much to list, a clause: such a program must not start.
    pub fn hide(&self, confinement: &mut Confinement) -> Result<(), String> {
        hidden::hide(self, confinement)
            .map_err(|error| format!("the files that you keep from programs cannot be hidden from this one: {error}"))
    }

    /// Whether the user keeps this file or folder from programs. The path is absolute and normal.
    pub fn hides(&self, path: &Path) -> bool {
        hidden::is_hidden(self, path)
    }

    /// Prepares the layers over the caches of the programs that these commands name.
    pub fn cache_layers(&self, commands: &[Vec<String>]) -> CacheLayers {
        CacheLayers::new(self, commands)
    }
}

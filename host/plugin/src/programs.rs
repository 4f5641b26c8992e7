//! What the programs of all calls may touch, and the folder for their temporary files.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use host_process::{ConfineMode, Confinement, level};
use tempfile::TempDir;

/// Returns the words of each command that a command runs.
pub type CommandsIn = fn(&[String]) -> Vec<Vec<String>>;

/// What programs may touch. The default does not confine them.
#[derive(Clone, Debug, Default)]
pub struct ProgramAccess {
    /// Whether they are confined.
    pub mode: ConfineMode,
    /// Files and folders that they may read and run.
    pub readable: Vec<PathBuf>,
    /// Files and folders that they may change, too.
    pub writable: Vec<PathBuf>,
    /// Files and folders within those that stay unchanged.
    pub protected: Vec<PathBuf>,
    /// Returns the commands that a command runs, such as those of a shell's line: what is granted to them, it may reach.
    pub commands_in: Option<CommandsIn>,
}

/// Confines the programs of a process.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    access: ProgramAccess,
    /// Programs of several calls share it, as they share `/tmp` elsewhere. It goes with the process.
    temporary: OnceLock<TempDir>,
    explained: OnceLock<()>,
}

/// How a program is to be started.
pub(crate) struct Confined {
    /// What it may touch; `None` if it is not confined.
    pub(crate) confinement: Option<Confinement>,
    /// What the user should know about it, once for a process.
    pub(crate) note: Option<String>,
}

impl Programs {
    pub(crate) fn new(access: ProgramAccess) -> Self {
        Self { access, ..Self::default() }
    }

    /// Returns how the next program is to be started. The error says why it must not be.
    pub(crate) fn next(&self) -> Result<Confined, String> {
        let mode = self.access.mode;
        if mode == ConfineMode::Off {
            return Ok(Confined { confinement: None, note: None });
        }
        let missing = level().missing();
        let open: Vec<_> = missing.iter().filter(|missing| !missing.is_covered).collect();
        if let (ConfineMode::Require, Some(first)) = (mode, open.first()) {
            let help = first.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            return Err(format!(
                "programs have to be confined (--confine require), and this machine cannot confine their {}: {}{help}",
                first.wall, first.why
            ));
        }
        let note = open.first().filter(|_| self.explained.set(()).is_ok()).map(|first| {
            format!("host: programs are not fully confined on this machine ({}); see `host doctor`\n", first.why)
        });
        let temporary = self.temporary().map_err(|error| format!("no folder for temporary files: {error}"))?;
        let ProgramAccess { readable, writable, protected, .. } = self.access.clone();
        Ok(Confined {
            confinement: Some(Confinement { readable, writable, protected, temporary: Some(temporary) }),
            note,
        })
    }

    /// Returns the commands that a command runs.
    pub(crate) fn commands_in(&self, argv: &[String]) -> Vec<Vec<String>> {
        self.access.commands_in.map(|commands_in| commands_in(argv)).unwrap_or_default()
    }

    fn temporary(&self) -> io::Result<PathBuf> {
        if let Some(folder) = self.temporary.get() {
            return Ok(folder.path().to_owned());
        }
        let made = tempfile::Builder::new().prefix("host-").tempdir()?;
        // If another call was quicker, its folder is used, and this one removed.
        Ok(self.temporary.get_or_init(|| made).path().to_owned())
    }
}

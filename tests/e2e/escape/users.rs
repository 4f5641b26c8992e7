//! Who attacks: the user of the tests and, if that is root, a user without privileges. Root's programs get their walls
//! by privileges, a user's by a user namespace.

use std::path::Path;
use std::process::{Command, Stdio};

use std::os::unix::fs::lchown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    /// The user of the tests.
    Oneself,
    /// `nobody`, if the tests are run by root.
    Nobody,
}

const NOBODY: u32 = 65_534;

impl As {
    /// Returns those that can be tried.
    pub(crate) fn all() -> &'static [Self] {
        let is_root = rustix::process::geteuid().is_root();
        if is_root { &[Self::Oneself, Self::Nobody] } else { &[Self::Oneself] }
    }

    /// Returns the same command, started by this user. Its input is empty, and its output is read.
    pub(crate) fn starts(self, command: Command) -> Command {
        if self == Self::Oneself {
            return command;
        }
        let mut other = Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]);
        other.arg(command.get_program()).args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            other.env(name, value.expect("none is removed"));
        }
        if let Some(folder) = command.get_current_dir() {
            other.current_dir(folder);
        }
        other.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        other
    }

    /// Gives this user a folder with everything in it.
    pub(crate) fn owns(self, path: &Path) {
        if self == Self::Oneself {
            return;
        }
        lchown(path, Some(NOBODY), Some(NOBODY)).expect("root owns it");
        if std::fs::symlink_metadata(path).expect("there").is_dir() {
            for entry in std::fs::read_dir(path).expect("read") {
                self.owns(&entry.expect("read").path());
            }
        }
    }
}

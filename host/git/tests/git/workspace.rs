//! A workspace with a repository, whose `.git` a program sees as a copy under the same path.
//!
//! What differs between the copy and the real folder is what an overlay would have in its upper layer.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use host_git::{Before, CarriedOver, Change, ChangeKind, Changes, Repository, carry_over};

/// A workspace, and what lies outside of it.
pub(crate) struct Workspace {
    _folder: tempfile::TempDir,
    /// The folder around everything.
    pub(crate) outside: PathBuf,
    /// The workspace.
    pub(crate) root: PathBuf,
}

impl Workspace {
    /// A workspace with a repository of three commits on `main` and one on `side`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().canonicalize().expect("there");
        let workspace = Self { _folder: folder, root: outside.join("w"), outside };
        fs::create_dir(&workspace.root).expect("made");
        workspace.sh("git init -q -b main
            for i in 1 2 3; do echo $i > f; echo $i > g$i; git add .; git commit -qm c$i; done
            git checkout -q -b side main~1; echo side > f; git commit -qam side; git checkout -q main");
        workspace
    }

    /// Where a marker is that only code without walls makes.
    pub(crate) fn marker(&self) -> PathBuf {
        self.outside.join("marker")
    }

    /// Runs a script in a folder as the user does, and returns how it ended.
    pub(crate) fn run_in(&self, folder: &Path, script: &str) -> Output {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(folder).env("MARKER", self.marker()).env("OUTSIDE", &self.outside);
        shell.env("GIT_CONFIG_GLOBAL", self.outside.join("gitconfig")).env("GIT_CONFIG_SYSTEM", "/dev/null");
        shell.env("HOME", &self.outside).env("GIT_EDITOR", "true").env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        for variable in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            shell.env(format!("{variable}_NAME"), "Ada").env(format!("{variable}_EMAIL"), "ada@example.com");
        }
        shell.output().expect("a shell")
    }

    /// Runs a script that succeeds in the workspace, and returns what it printed.
    pub(crate) fn sh(&self, script: &str) -> String {
        let ended = self.run_in(&self.root, &format!("set -e\n{script}"));
        assert!(
            ended.status.success(),
            "{script}: {}",
            String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat())
        );
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    fn real(&self) -> PathBuf {
        self.outside.join("real.git")
    }

    fn git(&self) -> PathBuf {
        self.root.join(".git")
    }

    /// Lets a program change a copy, and brings back what may come back.
    pub(crate) fn call(&self, program: impl FnOnce(&Self)) -> CarriedOver {
        self.call_meanwhile(program, |_| {})
    }

    /// The same, with what the user does to the real folder meanwhile.
    pub(crate) fn call_meanwhile(&self, program: impl FnOnce(&Self), user: impl FnOnce(&Self)) -> CarriedOver {
        let before = self.look();
        self.enter();
        program(self);
        let entries = self.leave();
        user(self);
        let upper = self.outside.join("upper");
        let within = [self.root.clone()];
        let done = carry_over(&before, &Changes { upper: &upper, entries: &entries, within: &within });
        fs::remove_dir_all(upper).expect("removed");
        done
    }

    /// What is remembered of the repository.
    pub(crate) fn look(&self) -> Before {
        let repository = Repository::around(&self.root).expect("clear").expect("there");
        Before::look(&repository).expect("readable")
    }

    /// Puts a copy in the place of the real folder.
    pub(crate) fn enter(&self) {
        fs::rename(self.git(), self.real()).expect("moved");
        let copied = Command::new("cp").arg("-a").arg(self.real()).arg(self.git()).status().expect("cp runs");
        assert!(copied.success());
    }

    /// Puts the real folder back, and returns what the copy has otherwise.
    fn leave(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        differences(&self.real(), &self.git(), Path::new(""), &mut changes);
        fs::rename(self.git(), self.outside.join("upper")).expect("moved");
        fs::rename(self.real(), self.git()).expect("moved");
        changes
    }
}

fn differences(real: &Path, copy: &Path, at: &Path, changes: &mut Vec<Change>) {
    let names = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder.join(at)).into_iter().flatten();
        entries.map(|entry| at.join(entry.expect("an entry").file_name())).collect()
    };
    for path in names(copy) {
        let about = fs::symlink_metadata(copy.join(&path)).expect("there");
        let old = fs::symlink_metadata(real.join(&path));
        let kind = match about.file_type() {
            kind if kind.is_dir() => {
                if !old.is_ok_and(|old| old.is_dir()) {
                    changes.push(Change { path: path.clone(), kind: ChangeKind::Folder });
                }
                differences(real, copy, &path, changes);
                continue;
            }
            kind if kind.is_symlink() => ChangeKind::Link,
            kind if kind.is_fifo() => ChangeKind::Other,
            _ if old.is_ok_and(|old| old.is_file())
                && fs::read(copy.join(&path)).expect("read") == fs::read(real.join(&path)).expect("read") =>
            {
                continue;
            }
            _ => ChangeKind::File,
        };
        changes.push(Change { path, kind });
    }
    for path in names(real) {
        if fs::symlink_metadata(copy.join(&path)).is_err() {
            changes.push(Change { path, kind: ChangeKind::Removed });
        }
    }
}

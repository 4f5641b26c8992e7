//! What the programs of all calls may touch, and what they share: the folder for their temporary files, and their
//! network.

mod caches;
mod hidden;
mod layer_folders;
mod layer_place;
mod repositories;
mod walls;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::{fs, io};

use host_capability::Scope;
use host_process::{ConfineMode, Confinement, Places, SessionNetwork, Wall, level};

use crate::temporary::TemporaryFolder;

pub(crate) use self::caches::CacheLayers;
pub use self::caches::Caches;
pub(crate) use self::repositories::Repositories;
pub use self::walls::{ProgramReach, ProgramWalls};

/// Returns the words of each command that a command runs.
pub type CommandsIn = fn(&[String]) -> Vec<Vec<String>>;

/// What programs may touch. The default does not confine them.
#[derive(Clone, Debug, Default)]
pub struct ProgramAccess {
    /// The walls around them.
    pub walls: ProgramWalls,
    /// What is installed on the machine and for the user, which they may read and run.
    pub installed: Places,
    /// Files and folders that they may read and run besides.
    pub readable: Vec<PathBuf>,
    /// Files and folders that they may change, too.
    pub writable: Vec<PathBuf>,
    /// Files and folders within those that stay unchanged.
    pub protected: Vec<PathBuf>,
    /// What no program reads that does not get it by a name of its own, in a folder that it may read.
    pub hidden: Vec<PathBuf>,
    /// Scopes of reading without the files that the user keeps from programs: what one of them does not have is hidden,
    /// wherever it lies in what is not installed.
    pub shown: Vec<Scope>,
    /// Repositories around those that they may change, each by its `.git`. Those within are found.
    pub repositories: Vec<PathBuf>,
    /// The user's home, as git's settings mean it.
    pub home: Option<PathBuf>,
    /// The folder in which what they change in git's folders lies until it comes back, and what they add to caches. It
    /// is made when it is needed.
    pub layers: Option<PathBuf>,
    /// The caches that they add to without changing them.
    pub caches: Vec<Caches>,
    /// The servers that they reach, each as a grant names it: `HOST:PORT`, or `HOST:PORT +private`.
    pub servers: Vec<String>,
    /// The program that git starts as its ssh: the host's own binary. Without it there is no git over ssh.
    pub ssh_client: Option<PathBuf>,
    /// The folders beneath which a user can be asked whether a program may use more: caches, and nothing that runs
    /// later.
    pub offered: Vec<PathBuf>,
    /// Files and folders that no user is asked about, nor about what contains them or lies in them: secrets, and what
    /// runs later.
    pub never_offered: Vec<PathBuf>,
    /// Returns the commands that a command runs, such as those of a shell's line: what is granted to them, it may
    /// reach.
    pub commands_in: Option<CommandsIn>,
}

/// A folder that has one of these is a project.
const PROJECT: &[&str] = &[".git", ".host", ".hg", ".jj", ".svn"];

/// A file or folder that a program can be granted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Read(PathBuf),
    Write(PathBuf),
}

/// Where a program may change files whose contents are not kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unkept {
    /// Everywhere outside of the workspace.
    Elsewhere,
    /// In this folder, or this file.
    In(PathBuf),
}

impl ProgramAccess {
    /// Returns where programs may change files whose contents are not kept, besides the given folders.
    fn unkept(&self, is_kept: impl Fn(&Path) -> bool) -> Vec<Unkept> {
        let has_walls = self.walls.mode != ConfineMode::Off
            && !level().missing().iter().any(|missing| missing.wall == Wall::Files && !missing.is_covered);
        if !has_walls {
            return vec![Unkept::Elsewhere];
        }
        let outside = self.writable.iter().filter(|path| !is_kept(path));
        // The repository's own folder is named once, in the documents.
        let outside = outside.filter(|path| !path.components().any(|part| part.as_os_str() == ".git"));
        outside.cloned().map(Unkept::In).collect()
    }

    /// Returns what could be granted to a program that failed with this path; `None` if nothing that a user is asked
    /// about would help it. What is to be made needs the folder that is there. Other projects are not offered: their
    /// hooks and settings would be among their files.
    fn offer(&self, path: &Path, changes: bool) -> Option<Offer> {
        // `a/../b` is another place than it seems where `a` is a link.
        if path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let there = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok())?;
        // By its real place: a link in an offered folder may lead out of it.
        let real = fs::canonicalize(there).ok()?;
        let offered = self.offered.iter().filter_map(|folder| fs::canonicalize(folder).ok());
        // The innermost: what is asked about is as little as would help.
        let top = offered.filter(|top| real.starts_with(top)).max_by_key(|top| top.components().count())?;
        let covers = |folders: &[PathBuf]| folders.iter().any(|folder| real.starts_with(folder));
        // Both ways round: a folder that contains something that is never offered would open that as well.
        let is_far = |never: &PathBuf| !real.starts_with(never) && !never.starts_with(&real);
        if covers(&self.writable) || !self.never_offered.iter().all(is_far) {
            return None;
        }
        let is_project =
            |folder: &Path| PROJECT.iter().any(|name| folder.ends_with(name) || folder.join(name).exists());
        if real.ancestors().take_while(|folder| *folder != top).any(is_project) {
            return None;
        }
        // What is missing can only be meant to be made.
        match changes || there != path || covers(&self.readable) || covers(self.installed.paths()) {
            true => Some(Offer::Write(real)),
            false => Some(Offer::Read(real)),
        }
    }
}

/// Confines the programs of a process.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    access: RwLock<ProgramAccess>,
    /// Programs of several calls share it, as they share `/tmp` elsewhere. It goes with the process.
    temporary: OnceLock<TemporaryFolder>,
    /// That of the programs of calls. It goes with the process, and is not made before one of them is confined.
    pub(crate) network: SessionNetwork,
    known: Arc<repositories::Known>,
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
        Self { access: RwLock::new(access), ..Self::default() }
    }

    fn access(&self) -> RwLockReadGuard<'_, ProgramAccess> {
        self.access.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what the programs that start from now on may touch.
    pub(crate) fn set(&self, access: ProgramAccess) {
        *self.access.write().unwrap_or_else(PoisonError::into_inner) = access;
    }

    /// Whether they are confined by every wall.
    pub(crate) fn are_confined(&self) -> bool {
        self.access().walls.are_complete()
    }

    /// Whether the user can let a program run without walls.
    pub(crate) fn can_leave_walls(&self) -> bool {
        self.access().walls.can_be_left()
    }

    /// Returns how the next program of a call is to be started. The error says why it must not be.
    pub(crate) fn next(&self, reach: ProgramReach) -> Result<Confined, String> {
        let walls = self.access().walls;
        match reach {
            ProgramReach::Reading if !walls.are_complete() => {
                // Such a call runs without a question only because the walls hold. Who decides about it looks at them,
                // too.
                Err("a program that runs without a question needs walls that this machine does not have".to_owned())
            }
            ProgramReach::Everything if walls.mode == ConfineMode::Require => {
                Err("programs have to be confined (--confine require), and this one was to run without walls"
                    .to_owned())
            }
            ProgramReach::Everything => Ok(Confined { confinement: None, note: None }),
            ProgramReach::Reading | ProgramReach::Workspace => self.next_in(walls.mode, reach),
        }
    }

    /// The same in this mode, whatever that of the programs of calls is.
    pub(crate) fn next_in(&self, mode: ConfineMode, reach: ProgramReach) -> Result<Confined, String> {
        // The one reach that lifts the walls, which a rule or the answer `o` gives.
        if mode == ConfineMode::Off || reach == ProgramReach::Everything {
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
        // Once a session: it is about the machine and not about the program.
        let note = open.first().filter(|_| self.explained.set(()).is_ok()).map(|first| {
            format!("host: programs are not fully confined on this machine ({}); see `host doctor`\n", first.why)
        });
        let temporary = self.temporary().map_err(|error| format!("no folder for temporary files: {error}"))?;
        let ProgramAccess { installed, mut readable, mut writable, protected, hidden, .. } = self.access().clone();
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
    pub(crate) fn repositories(&self, reach: ProgramReach) -> Option<Repositories> {
        self.repositories_in(self.access().walls.mode, reach)
    }

    /// The same in this mode, whatever that of the programs of calls is.
    pub(crate) fn repositories_in(&self, mode: ConfineMode, reach: ProgramReach) -> Option<Repositories> {
        let is_confined = mode != ConfineMode::Off && reach == ProgramReach::Workspace;
        let access = is_confined.then(|| self.access().clone())?;
        Some(Repositories::new(&self.known, &access, true))
    }

    /// The same for a program that runs as long as its session, so that what it changes could not come back: it changes
    /// none.
    pub(crate) fn fixed_repositories(&self, mode: ConfineMode) -> Option<Repositories> {
        let access = (mode != ConfineMode::Off).then(|| self.access().clone())?;
        Some(Repositories::new(&self.known, &access, false))
    }

    /// Hides from the next program what the user keeps from all of them, in everything that this one may read. Blocks
    /// for as long as it takes to list that; returns at once if nothing is kept.
    ///
    /// # Errors
    ///
    /// If there is too much to list, a clause: such a program must not start.
    pub(crate) fn hide(&self, confinement: &mut Confinement) -> Result<(), String> {
        hidden::hide(&self.access(), confinement)
            .map_err(|error| format!("the files that you keep from programs cannot be hidden from this one: {error}"))
    }

    /// Whether the user keeps this file or folder from programs. The path is absolute and normal.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        hidden::is_hidden(&self.access(), path)
    }

    /// Returns the files that others run later and that programs of this process changed, in folders of which others
    /// run everything: also in those that version control ignores.
    pub(crate) fn run_later_changed(&self) -> Vec<PathBuf> {
        self.known.run_later_changed()
    }

    /// Prepares the layers over the caches of the programs that these commands name.
    pub(crate) fn caches(&self, commands: &[Vec<String>]) -> CacheLayers {
        CacheLayers::new(&self.access(), commands)
    }

    /// Returns the servers that programs of calls may reach.
    pub(crate) fn servers(&self) -> Vec<String> {
        self.access().servers.clone()
    }

    /// Returns the program that git starts as its ssh.
    pub(crate) fn ssh_client(&self) -> Option<PathBuf> {
        self.access().ssh_client.clone()
    }

    /// Returns the user's home.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.access().home.clone()
    }

    /// Returns the folders that programs of calls may change.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        self.access().writable.clone()
    }

    /// Whether every program may read a path.
    pub(crate) fn sees(&self, path: &Path) -> bool {
        let access = self.access();
        let all = access.installed.paths().iter().chain(&access.readable).chain(&access.writable);
        all.into_iter().any(|root| path.starts_with(root))
    }

    /// Returns what could be granted to a program that failed with this path; `changes` if it was certainly to be
    /// changed.
    pub(crate) fn offer(&self, path: &Path, changes: bool) -> Option<Offer> {
        self.access().offer(path, changes)
    }

    /// Returns where programs may change files whose contents are not kept, besides where this says that they are.
    pub(crate) fn unkept(&self, is_kept: impl Fn(&Path) -> bool) -> Vec<Unkept> {
        self.access().unkept(is_kept)
    }

    /// Returns the commands that a command runs.
    pub(crate) fn commands_in(&self, argv: &[String]) -> Vec<Vec<String>> {
        self.access().commands_in.map(|commands_in| commands_in(argv)).unwrap_or_default()
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

/// Returns those of these paths that are not beneath another.
fn roots(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup_by(|next, kept| next.starts_with(kept));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_there_and_holds_no_secret() {
        let home = tempfile::tempdir().expect("a folder");
        let home = fs::canonicalize(home.path()).expect("it is there");
        for folder in [".cache/x", ".config/gh", ".ssh", "tools", "work/sub", "else", "other/.git/hooks", "other/src"] {
            fs::create_dir_all(home.join(folder)).expect("made");
        }
        fs::write(home.join(".ssh/id"), "SECRET").expect("written");
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).expect("linked");
        let access = ProgramAccess {
            readable: vec![home.join("tools")],
            writable: vec![home.join("work")],
            offered: vec![home.join(".cache"), home.join(".ssh"), home.join("work"), home.join("keys")],
            never_offered: vec![home.join(".ssh"), home.join(".config/gh")],
            ..ProgramAccess::default()
        };
        let offer = |path: &str, changes: bool| access.offer(&home.join(path), changes);
        let write = |path: &str| Some(Offer::Write(home.join(path)));
        assert_eq!(offer(".cache/x", true), write(".cache/x"));
        assert_eq!(offer(".cache/x/a/b", false), write(".cache/x"), "what is to be made is written");
        assert_eq!(offer(".cache/x", false), Some(Offer::Read(home.join(".cache/x"))));
        for (path, why) in [
            (".ssh", "secrets"),
            (".ssh/id", "secrets"),
            (".ssh/new", "secrets"),
            ("keys/id", "a link to secrets"),
            (".config/gh/hosts.yml", "not on the list"),
            (".vimrc", "not on the list"),
            ("tools", "not on the list"),
            ("new", "not on the list"),
            ("", "not on the list"),
            ("work/sub/x", "it is writable, so that something else failed"),
            ("other/.git/hooks", "another project"),
            ("other/src", "another project"),
            ("other", "another project"),
            ("../x", "another home"),
            (".cache/../.ssh", "no plain path"),
        ] {
            assert_eq!(offer(path, true), None, "{path}: {why}");
        }
        assert_eq!(access.offer(Path::new("/etc/shadow"), false), None);
        assert_eq!(ProgramAccess::default().offer(&home.join(".cache/x"), false), None);
    }
}

//! What programs may touch, and what of that a user can be asked about.

use std::fs;
use std::path::{Component, Path, PathBuf};

use host_capability::Scope;
use host_process::{ConfineMode, Places, Wall, level};

use crate::caches::Caches;
use crate::walls::ProgramWalls;

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
pub enum Offer {
    /// To be read.
    Read(PathBuf),
    /// To be read and changed.
    Write(PathBuf),
}

/// Where a program may change files whose contents are not kept.
#[derive(Debug, PartialEq, Eq)]
pub enum Unkept {
    /// Everywhere outside of the workspace.
    Elsewhere,
    /// In this folder, or this file.
    In(PathBuf),
}

impl ProgramAccess {
    /// Whether programs are confined by every wall.
    pub fn are_confined(&self) -> bool {
        self.walls.are_complete()
    }

    /// Whether every program may read a path.
    pub fn sees(&self, path: &Path) -> bool {
        let all = self.installed.paths().iter().chain(&self.readable).chain(&self.writable);
        all.into_iter().any(|root| path.starts_with(root))
    }

    /// Returns the commands that a command runs.
    pub fn commands(&self, argv: &[String]) -> Vec<Vec<String>> {
        self.commands_in.map(|commands_in| commands_in(argv)).unwrap_or_default()
    }

    /// Returns where programs may change files whose contents are not kept, besides the given folders.
    pub fn unkept(&self, is_kept: impl Fn(&Path) -> bool) -> Vec<Unkept> {
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
    pub fn offer(&self, path: &Path, changes: bool) -> Option<Offer> {
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

/// Returns those of these paths that are not beneath another.
pub(crate) fn roots(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
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

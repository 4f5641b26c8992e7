//! Protected places where nothing is yet.
//!
//! A mount protects only what exists, and Landlock cannot except a name from a folder that may be written: git needs to
//! make files beside `commondir`, which it obeys. So what appears in such a place while a program runs is moved aside when
//! the program and all that it started have ended. It is moved and not removed, because it can be the user's own. Files
//! that are made beforehand to hold the place, as others do, would appear in every repository.
//!
//! Promises: no link is followed on the way to such a place, so nothing outside a writable folder is moved.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, openat, renameat_with, statat};
use rustix::io::Errno;

use crate::{Confinement, Moved};

/// How many programs that run now found each place vacant. A program that starts later finds there what a different one
/// has just made, and must not be the one for which it counts as the user's.
static KNOWN: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// How often a place is looked at that a program of a different call changes at the same time.
const ATTEMPTS: usize = 64;

/// The most names that are tried for what is moved aside.
const NAMES: usize = 1_000;

/// The protected places that were vacant when a program started.
#[derive(Debug)]
pub(super) struct Vacant(Vec<Place>);

/// A place: a writable folder, and the way from there.
#[derive(Debug)]
struct Place {
    root: PathBuf,
    way: PathBuf,
}

impl Vacant {
    /// Finds them. To be called before the program starts.
    pub(super) fn new(confinement: &Confinement) -> Self {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let places = confinement.protected.iter().filter_map(|path| {
            let roots = confinement.writable.iter().filter(|root| path.starts_with(root) && path != *root);
            let root = roots.max_by_key(|root| root.components().count())?;
            let way = path.strip_prefix(root).ok()?;
            let is_new = !exists(path) || known.contains_key(path);
            (is_new && !leads_through_a_link(root, way)).then(|| Place { root: root.clone(), way: way.to_owned() })
        });
        let places: Vec<Place> = places.collect();
        for place in &places {
            *known.entry(place.path()).or_default() += 1;
        }
        Self(places)
    }

    /// Moves aside what is there now. To be called when all that the program started has ended.
    pub(super) fn clear(self) -> Vec<Moved> {
        self.0.iter().filter_map(Place::clear).collect()
    }
}

impl Drop for Vacant {
    fn drop(&mut self) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        for place in &self.0 {
            let path = place.path();
            match known.get_mut(&path) {
                Some(count) if *count > 1 => *count -= 1,
                _ => {
                    known.remove(&path);
                }
            }
        }
    }
}

/// What is found at a name of the way.
enum Found {
    Nothing,
    /// A folder to go through.
    Folder(OwnedFd),
    /// Something to move aside.
    Thing,
}

impl Place {
    fn path(&self) -> PathBuf {
        self.root.join(&self.way)
    }

    fn clear(&self) -> Option<Moved> {
        let mut last = Errno::AGAIN;
        for _ in 0..ATTEMPTS {
            match self.try_to_clear() {
                Ok(moved) => return moved,
                Err(error) => last = error,
            }
        }
        Some(Moved { from: self.path(), to: Err(last.into()) })
    }

    fn try_to_clear(&self) -> Result<Option<Moved>, Errno> {
        let mut folder = match openat(CWD, &self.root, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        let mut path = self.root.clone();
        let mut names = self.way.components().peekable();
        while let Some(Component::Normal(name)) = names.next() {
            path.push(name);
            match find(&folder, name, names.peek().is_none()).or_else(|error| again(&folder, error))? {
                Found::Nothing => return Ok(None),
                Found::Folder(next) => folder = next,
                Found::Thing => {
                    let aside = move_aside(&folder, name).or_else(|error| again(&folder, error))?;
                    let to = Ok(path.with_file_name(aside));
                    return Ok(Some(Moved { from: path, to }));
                }
            }
        }
        Ok(None)
    }
}

/// Opens a folder to go through, and no link.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn find(folder: &OwnedFd, name: &OsStr, is_last: bool) -> Result<Found, Errno> {
    let about = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Found::Nothing),
        found => found?,
    };
    Ok(match FileType::from_raw_mode(about.st_mode) {
        FileType::Directory if !is_last => Found::Folder(openat(folder, name, FOLDER, Mode::empty())?),
        // A link in place of a folder leads to what others would obey. Anything else there has nothing in it.
        FileType::Symlink => Found::Thing,
        _ if is_last => Found::Thing,
        _ => Found::Nothing,
    })
}

fn move_aside(folder: &OwnedFd, name: &OsStr) -> Result<OsString, Errno> {
    for number in 1..=NAMES {
        let mut aside = name.to_owned();
        aside.push(format!(".moved-{number}"));
        match renameat_with(folder, name, folder, &aside, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(aside),
        }
    }
    Err(Errno::EXIST)
}

/// Returns the error, having prepared the next attempt: a program can take from the user the right to change a folder.
fn again<T>(folder: &OwnedFd, error: Errno) -> Result<T, Errno> {
    if error == Errno::ACCESS {
        let folder = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let mode = fs::metadata(&folder).map(|about| about.permissions().mode()).unwrap_or(0);
        fs::set_permissions(folder, Permissions::from_mode(mode | 0o700)).ok();
    }
    Err(error)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a part of the way is a link: then the folders around it are not writable, and nothing can be made there.
fn leads_through_a_link(root: &Path, way: &Path) -> bool {
    way.ancestors().skip(1).map(|part| root.join(part)).filter(|path| path != root).any(|path| path.is_symlink())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// What is moved if this is done between the start and the end of a program, by the names beneath the root.
    fn moved(before: impl Fn(&Path), made: impl Fn(&Path)) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        fs::create_dir_all(root.join("outside/fish")).expect("made");
        fs::create_dir(root.join("w")).expect("made");
        before(&root);
        let protected = ["hooks", "config", ".config/fish"].map(|name| root.join("w").join(name)).to_vec();
        let confinement = Confinement { writable: vec![root.join("w")], protected, ..Confinement::default() };
        let vacant = Vacant::new(&confinement);
        made(&root);
        let moved = vacant.clear();
        assert!(root.join("outside/fish").is_dir(), "it was not the program's");
        let name = |path: &Path| path.strip_prefix(root.join("w")).expect("beneath").display().to_string();
        let shown = |moved: &Moved| format!("{} {}", name(&moved.from), name(moved.to.as_ref().expect("moved")));
        moved.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    fn make(path: PathBuf) {
        fs::create_dir_all(path).expect("made");
    }

    #[test]
    fn vacant_places_are_vacant_again_without_following_a_link() {
        let nothing = |_: &Path| ();
        assert_eq!(moved(nothing, nothing), "");
        assert_eq!(moved(nothing, |root| make(root.join("w/hooks"))), "hooks hooks.moved-1");
        assert_eq!(moved(|root| make(root.join("w/hooks")), |root| make(root.join("w/hooks/a"))), "");
        assert_eq!(
            moved(|root| make(root.join("w/hooks.moved-1")), |root| make(root.join("w/hooks"))),
            "hooks hooks.moved-2"
        );
        assert_eq!(moved(nothing, |root| make(root.join("w/.config/other"))), "");
        assert_eq!(moved(nothing, |root| make(root.join("w/.config/fish"))), ".config/fish .config/fish.moved-1");
        // Root needs no right; another user takes it back.
        let locked = |root: &Path| {
            make(root.join("w/.config/fish"));
            fs::set_permissions(root.join("w/.config"), Permissions::from_mode(0o500)).expect("set");
        };
        assert_eq!(moved(nothing, locked), ".config/fish .config/fish.moved-1");
        let link = |root: &Path| symlink(root.join("outside"), root.join("w/.config")).expect("linked");
        assert_eq!(moved(nothing, link), ".config .config.moved-1");
        // One that was there before is not writable around, and is the user's.
        assert_eq!(moved(link, nothing), "");
        let replaced = |root: &Path| {
            fs::rename(root.join("w/.config"), root.join("w/old")).expect("moved");
            link(root);
        };
        assert_eq!(moved(|root| make(root.join("w/.config")), replaced), ".config .config.moved-1");
    }

    #[test]
    fn vacant_place_is_vacant_for_a_program_that_starts_while_another_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        let hooks = root.join("hooks");
        let confinement =
            Confinement { writable: vec![root], protected: vec![hooks.clone()], ..Confinement::default() };
        let first = Vacant::new(&confinement);
        make(hooks.clone());
        let second = Vacant::new(&confinement);
        assert_eq!(first.clear().len(), 1);
        make(hooks.clone());
        assert_eq!(second.clear().len(), 1);
        assert!(!hooks.exists());
        // What is there when no program runs is the user's.
        make(hooks.clone());
        assert!(Vacant::new(&confinement).clear().is_empty());
        assert!(hooks.exists());
    }
}

//! Protected places where nothing is yet.
//!
//! A mount protects only what exists, and Landlock cannot except a name from a folder that may be written: git needs to
//! make files beside `commondir`, which it obeys. So what appears in such a place while a program runs is moved aside
//! when the program and all that it started have ended. It is moved and not removed, because it can be the user's own;
//! it is removed only if it cannot be moved. Files that are made beforehand to hold the place, as others do, would
//! appear in every repository.
//!
//! Promises: no link is followed on the way to such a place, so nothing outside a writable folder is moved or removed;
//! what names a program occupies beforehand does not matter.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Mode, RenameFlags, openat, renameat_with, statat};
use rustix::io::Errno;

use super::beneath::{Root, Through, is_beneath, rest};
use super::remove::remove;
use super::way::{FOLDER, take_rights};
use crate::{Confinement, Moved, MovedTo};

/// How many programs that run now found each place vacant. A program that starts later finds there what a different one
/// has just made, and must not be the one for which it counts as the user's.
static KNOWN: LazyLock<Mutex<HashMap<OsString, usize>>> = LazyLock::new(Mutex::default);

/// How often a place is looked at that a program of a different call changes at the same time.
const ATTEMPTS: usize = 64;

/// How many numbered names are tried for what is moved aside, before a name that no program can occupy beforehand.
const NAMES: usize = 64;

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
        // Shared by all programs of this host: two may run over one workspace at a time.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        // Most of them lie in the same few folders, each of which is opened once.
        let mut opened: HashMap<&OsStr, Root> = HashMap::new();
        let places = confinement.protected.iter().filter_map(|path| {
            let roots = confinement.writable.iter().filter(|root| is_beneath(path, root));
            // The innermost root: the way from it is the shortest, and folders above it may not be writable.
            let root = roots.max_by_key(|root| root.as_os_str().len())?;
            let way = rest(path, root)?;
            let opened = opened.entry(root.as_os_str()).or_insert_with(|| Root::open(root));
            let is_there = match opened.through(way) {
                Through::Folders { is_there } => is_there,
                Through::Link { is_last: true } => true,
                // Around a link that was there before, folders are not writable, and nothing can be made in its place.
                Through::Link { is_last: false } => return None,
                Through::Closed => false,
            };
            // What another program that still runs made there is no more the user's than what this one makes.
            let is_new = !is_there || known.contains_key(path.as_os_str());
            is_new.then(|| Place { root: root.clone(), way: way.to_owned() })
        });
        let places: Vec<Place> = places.collect();
        for place in &places {
            *known.entry(place.path().into_os_string()).or_default() += 1;
        }
        Self(places)
    }

    /// Moves aside what is there now. To be called when all that the program started has ended.
    pub(super) fn clear(self) -> Vec<Moved> {
        let mut last: Option<Root> = None;
        let mut moved = Vec::new();
        for place in &self.0 {
            let root = match last.take().filter(|root| root.path() == place.root) {
                Some(root) => root,
                None => Root::open(&place.root),
            };
            // Whatever else is there is found again and cleared, and what cannot be looked at as well: a program can
            // take from the user the right to that.
            if root.through(&place.way) != (Through::Folders { is_there: false }) {
                moved.extend(place.clear());
            }
            last = Some(root);
        }
        moved
    }
}

/// Moves aside what is at a path beneath a folder, whose last name is not followed, nor any other. `None` if nothing is
/// there.
pub fn move_aside(folder: &Path, beneath: &Path) -> Option<Moved> {
    Place { root: folder.to_owned(), way: beneath.to_owned() }.clear()
}

impl Drop for Vacant {
    fn drop(&mut self) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        for place in &self.0 {
            let path = place.path().into_os_string();
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
        for how in [Clear::Move, Clear::Remove] {
            for _ in 0..ATTEMPTS {
                match self.try_to_clear(how) {
                    Ok(moved) => return moved,
                    Err(error) => last = error,
                }
            }
        }
        Some(Moved { from: self.path(), to: MovedTo::Left(last.into()) })
    }

    fn try_to_clear(&self, how: Clear) -> Result<Option<Moved>, Errno> {
        let mut folder = match openat(CWD, &self.root, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        let mut path = self.root.clone();
        let mut names = self.way.components().peekable();
        while let Some(Component::Normal(name)) = names.next() {
            path.push(name);
            // A folder that the program made unreadable must not hide what lies in it.
            match find(&folder, name, names.peek().is_none()).or_else(|error| again(&folder, error))? {
                Found::Nothing => return Ok(None),
                Found::Folder(next) => folder = next,
                Found::Thing => {
                    let cleared = match how {
                        Clear::Move => {
                            rename_aside(&folder, name).map(|aside| MovedTo::Aside(path.with_file_name(aside)))
                        }
                        Clear::Remove => remove(&folder, name).map(|()| MovedTo::Removed),
                    };
                    let to = cleared.or_else(|error| again(&folder, error))?;
                    return Ok(Some(Moved { from: path, to }));
                }
            }
        }
        Ok(None)
    }
}

/// How a place is cleared.
#[derive(Clone, Copy)]
enum Clear {
    Move,
    Remove,
}

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

/// Renames an entry of a folder to a name that is free, and returns that.
pub(super) fn rename_aside(folder: &OwnedFd, name: &OsStr) -> Result<OsString, Errno> {
    let suffixed = |suffix: &str| {
        let mut aside = name.to_owned();
        aside.push(suffix);
        aside
    };
    let numbered = (1..=NAMES).map(|number| suffixed(&format!(".moved-{number}")));
    // The second is short enough whatever the name is.
    let secret = u128::from_ne_bytes(random()?);
    let unpredictable = [suffixed(&format!(".moved-{secret:032x}")), format!("moved-{secret:032x}").into()];
    let mut last = Errno::EXIST;
    for aside in numbered.chain(unpredictable) {
        // A file of the user's may have this name: nothing that is there is written over.
        match renameat_with(folder, name, folder, &aside, RenameFlags::NOREPLACE) {
            Err(error @ (Errno::EXIST | Errno::NAMETOOLONG)) => last = error,
            Err(error) => return Err(error),
            Ok(()) => return Ok(aside),
        }
    }
    Err(last)
}

fn random() -> Result<[u8; 16], Errno> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Errno::IO)?;
    Ok(bytes)
}

/// Returns the error, having prepared the next attempt: a program can take from the user the right to change a folder.
fn again<T>(folder: &OwnedFd, error: Errno) -> Result<T, Errno> {
    if error == Errno::ACCESS {
        take_rights(folder);
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

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
        let shown = |moved: &Moved| {
            let to = match &moved.to {
                MovedTo::Aside(to) => name(to),
                other => format!("{other:?}"),
            };
            format!("{} {to}", name(&moved.from))
        };
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
        for mode in [0o500, 0] {
            let locked = |root: &Path| {
                make(root.join("w/.config/fish"));
                fs::set_permissions(root.join("w/.config"), Permissions::from_mode(mode)).expect("set");
            };
            assert_eq!(moved(nothing, locked), ".config/fish .config/fish.moved-1", "{mode:o}");
        }
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
    fn vacant_places_are_vacant_again_whatever_names_are_occupied() {
        let occupied = |root: &Path| (1..=1_000).for_each(|number| make(root.join(format!("w/hooks.moved-{number}"))));
        let moved = moved(
            |_| (),
            |root| {
                occupied(root);
                make(root.join("w/hooks/a"));
            },
        );
        let aside = moved.strip_prefix("hooks hooks.moved-").expect("moved");
        assert!(aside.len() == 32 && aside.bytes().all(|digit| digit.is_ascii_hexdigit()), "{moved}");
    }

    #[test]
    fn vacant_place_that_cannot_be_moved_is_removed_without_following_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        make(root.join("w/hooks/a/b"));
        make(root.join("outside"));
        symlink(root.join("outside"), root.join("w/hooks/a/link")).expect("linked");
        let place = Place { root: root.join("w"), way: "hooks".into() };
        let moved = place.try_to_clear(Clear::Remove).expect("removed").expect("it was there");
        assert!(matches!(moved.to, MovedTo::Removed), "{moved:?}");
        assert!(!root.join("w/hooks").exists() && root.join("outside").is_dir());
        assert!(place.try_to_clear(Clear::Remove).expect("nothing").is_none());
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

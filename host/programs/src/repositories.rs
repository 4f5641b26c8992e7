//! Git's folders behind the walls.
//!
//! A program sees each through a layer: its changes lie beside the folder, and come back when it has ended, as far as
//! they make the user's own git run nothing (`host-git`). So git beside it never sees what is not checked. What it
//! makes of repositories elsewhere in the workspace is checked, too, and moved aside if it could run something.
//!
//! Promises: a repository that cannot be seen through a layer cannot be changed; nothing that was there before is
//! moved; what does not come back is said, with the reason.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use host_git::{Before, Change, ChangeKind, Changes, Left, Repository, Search, carry_over, check_nested, folders_of};
use host_process::{Changed, Confinement, Layer, Moved, MovedTo, Now, changed, level, move_aside};
use host_undo::holds_what_runs_later;

use crate::access::{ProgramAccess, roots};
use crate::caches::CacheLayers;
use crate::layer_folders::{LayerFolder, LayerFolders};
use crate::lock::lock;

/// The most repositories that a program sees through layers: a mount each. It cannot change the others.
const MAX_LAYERS: usize = 8;

/// The most lines about what did not come back. The rest is counted.
const MAX_LINES: usize = 6;

/// What is known of trees from earlier programs, and where layers lie.
#[derive(Debug, Default)]
pub(crate) struct Known {
    searches: Mutex<HashMap<PathBuf, Search>>,
    /// Files that others run later and that programs changed, besides those that are written down.
    run_later: Mutex<BTreeSet<PathBuf>>,
    folders: LayerFolders,
}

/// The repositories that a program can reach, from before it starts until it has ended.
#[derive(Debug, Default)]
pub struct Repositories {
    known: Arc<Known>,
    layered: Vec<Layered>,
    /// Git's folders that cannot be changed.
    fixed: Vec<PathBuf>,
    /// What git obeys because a repository's settings say so, and files that lead to a repository.
    obeyed: Vec<PathBuf>,
    /// The trees in which it can make repositories, each with those that were there.
    trees: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    within: Vec<PathBuf>,
    /// When they were looked at; `None` if there are none.
    looked: Option<SystemTime>,
    /// Files that others run later and that the program changed, in folders that hold nothing else.
    run_later: Vec<PathBuf>,
    notes: Vec<String>,
    /// Goes with the others when the program has ended.
    caches: CacheLayers,
}

/// A repository that is seen through a layer.
#[derive(Debug)]
struct Layered {
    before: Before,
    layer: Layer,
    /// Has the folders of the layer.
    _folder: LayerFolder,
}

impl Repositories {
    /// Finds them, and prepares their layers. Blocks for some milliseconds.
    pub(crate) fn new(known: &Arc<Known>, access: &ProgramAccess, has_layers: bool) -> Self {
        let mut found = Self::default();
        found.known = Arc::clone(known);
        found.within.clone_from(&access.writable);
        // Before the search, so that what changes meanwhile counts as changed.
        found.looked = Some(SystemTime::now());
        let mut entries = access.repositories.clone();
        for root in roots(access.writable.iter().filter(|path| path.is_dir()).cloned().collect()) {
            match found.known.search(&root) {
                // Remembered whole: what is there afterwards and was not before is what the program made.
                Ok(there) => {
                    entries.extend(there.iter().cloned());
                    found.trees.insert(root, there);
                }
                Err(error) => found.notes.push(format!(
                    "what repositories programs make in `{}` is not checked: {error}",
                    host_text::exact(&root.to_string_lossy())
                )),
            }
        }
        // That of the workspace is named, and found in the tree as well.
        let mut named = HashSet::new();
        entries.retain(|entry| named.insert(entry.as_os_str().to_owned()));
        // Those nearest to the top: what lies deeper is more likely to be somebody else's.
        entries.sort_by_key(|entry| entry.components().count());
        let has_layers = has_layers && level().has_layers();
        for entry in entries {
            found.add(&entry, access, has_layers);
        }
        found
    }

    fn add(&mut self, entry: &Path, access: &ProgramAccess, has_layers: bool) {
        // A file that leads elsewhere.
        if !entry.is_dir() || entry.is_symlink() {
            self.obeyed.push(entry.to_owned());
        }
        // The top of what it may change: only what git would obey there is kept from it.
        if self.trees.contains_key(entry) {
            self.obeyed.extend(["config", "config.worktree", "hooks", "commondir"].map(|name| entry.join(name)));
            return;
        }
        let folders = folders_of(entry);
        let repository = entry.parent().and_then(|top| Repository::at(top).ok()?).filter(|_| entry.ends_with(".git"));
        // Both ways of finding it must agree, or a file only claims to be a part of it.
        let Some(repository) = repository.filter(|repository| folders.contains(&repository.common)) else {
            // What git does not take for a repository, a bare one, or one that nothing confirms.
            self.fixed.extend(folders.into_iter().chain([entry.to_owned()]));
            return;
        };
        match host_git::obeyed(&repository, access.home.as_deref()) {
            Ok(obeyed) => self.obeyed.extend(obeyed),
            // What its settings name is not known.
            Err(_) => return self.fixed.push(repository.common),
        }
        let is_covered = |other: &Path| repository.common.starts_with(other);
        // A submodule lies in its repository's folder and is seen through that one's layer.
        if self.layered.iter().any(|layered| is_covered(&layered.layer.place))
            || self.fixed.iter().any(|path| is_covered(path))
        {
            return;
        }
        let layered = if has_layers && self.layered.len() < MAX_LAYERS {
            self.known.layer(&repository, access)
        } else {
            return self.fixed.push(repository.common);
        };
        match layered {
            Ok(layered) => self.layered.push(layered),
            Err(error) => {
                self.notes.push(format!(
                    "`{}` cannot be changed by this program: {error}",
                    host_text::exact(&repository.common.to_string_lossy())
                ));
                self.fixed.push(repository.common);
            }
        }
    }

    /// Adds the caches that the program sees through layers.
    pub fn with_caches(&mut self, caches: CacheLayers) {
        self.caches = caches;
    }

    /// Adds them to what the program may touch.
    pub fn confine(&self, confinement: &mut Confinement) {
        self.caches.confine(confinement);
        confinement.layers.extend(self.layered.iter().map(|layered| layered.layer.clone()));
        confinement.readable.extend(self.fixed.iter().cloned());
        confinement.protected.extend(self.fixed.iter().chain(&self.obeyed).cloned());
    }

    /// Takes the files that others run later and that the program changed, as far as they lie in folders that hold
    /// nothing else: also in those that version control ignores. They are known once all is settled.
    pub fn take_run_later(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.run_later)
    }

    /// Returns what the user should know before the program starts, a line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Brings back what the program changed, which has ended with all that it started, and moves aside what may not
    /// stay. Returns what the user should know, a line each. Blocks.
    pub fn settle(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let places: Vec<PathBuf> = self.layered.iter().map(|layered| layered.layer.place.clone()).collect();
        for layered in std::mem::take(&mut self.layered) {
            lines.extend(layered.carry_over(&self.within));
        }
        for (root, before) in std::mem::take(&mut self.trees) {
            let now = match self.known.search(&root) {
                Ok(now) => now,
                Err(error) => {
                    lines.push(format!(
                        "what repositories the program made in `{}` is not checked: {error}",
                        host_text::exact(&root.to_string_lossy())
                    ));
                    continue;
                }
            };
            // Only what is new: what was there before is the user's, however it looks.
            for entry in now.difference(&before) {
                let Err(harmful) = check_nested(entry, &places, &self.within) else { continue };
                // Without its `HEAD` the top of the tree is not a repository.
                let beneath = entry.strip_prefix(&root).ok().filter(|beneath| !beneath.as_os_str().is_empty());
                let beneath = beneath.unwrap_or(Path::new("HEAD"));
                // Moved and not removed: the user may want to look at it.
                lines.extend(move_aside(&root, beneath).map(|moved| aside(&moved, &harmful.to_string())));
            }
            if let Some(since) = self.looked {
                self.run_later.extend(self.known.run_later(&root, since));
            }
        }
        lines
    }
}

/// What is left when a call is dropped is settled, too.
impl Drop for Repositories {
    fn drop(&mut self) {
        for line in self.settle() {
            tracing::warn!("{line}");
        }
    }
}

fn aside(moved: &Moved, why: &str) -> String {
    let shown = |path: &Path| host_text::exact(&path.to_string_lossy()).into_owned();
    let from = shown(&moved.from);
    let why = host_text::exact(why);
    match &moved.to {
        MovedTo::Aside(to) => format!(
            "git could run something of the repository `{from}`, which this program made: it is now `{}` ({why})",
            shown(to)
        ),
        MovedTo::Removed => format!(
            "git could run something of the repository `{from}`, which this program made, and it could not be moved: it \
             was removed ({why})"
        ),
        MovedTo::Left(error) => format!(
            "git could run something of the repository `{from}`, which this program made ({why}), and it could not be \
             moved ({error}): remove it"
        ),
    }
}

impl Layered {
    fn carry_over(self, within: &[PathBuf]) -> Vec<String> {
        let place = host_text::exact(&self.layer.place.to_string_lossy()).into_owned();
        let found = match changed(&self.layer) {
            Ok(found) => found,
            Err(error) => return vec![format!("nothing that the program changed in `{place}` was kept: {error}")],
        };
        let entries: Vec<Change> = found.into_iter().map(change).collect();
        let changes = Changes { upper: &self.layer.changes, entries: &entries, within };
        let left = carry_over(&self.before, &changes).left;
        said(&place, &left)
    }
}

/// Says what did not come back. What was left because it belongs to something else is not named where that is.
fn said(place: &str, left: &[Left]) -> Vec<String> {
    let mut lines = Vec::new();
    let own: Vec<&Left> = left.iter().filter(|left| !matches!(left.why, host_git::Why::With(_))).collect();
    for left in own.iter().take(MAX_LINES) {
        lines.push(format!(
            "`{}` in `{place}` is as it was before the program: {}",
            host_text::exact(&left.path.to_string_lossy()),
            host_text::exact(&left.why.to_string())
        ));
    }
    let others = left.len() - own.len().min(MAX_LINES);
    if others > 0 {
        let are = host_text::counted_of(others, "more file is", "more files are");
        lines.push(format!("{are} as before in `{place}`"));
    }
    lines
}

fn change(changed: Changed) -> Change {
    let kind = match changed.now {
        Now::File => ChangeKind::File,
        Now::Folder => ChangeKind::Folder,
        Now::Replaced => ChangeKind::ReplacedFolder,
        Now::Link => ChangeKind::Link,
        Now::Other | Now::TooDeep => ChangeKind::Other,
        Now::Nothing => ChangeKind::Removed,
    };
    Change { path: changed.path, kind }
}

impl Known {
    fn search(&self, root: &Path) -> io::Result<BTreeSet<PathBuf>> {
        lock(&self.searches).entry(root.to_owned()).or_default().look(root)
    }

    /// Returns the files in folders of which others run everything later, in a tree that was just searched, that
    /// changed since. No program can set the time that shows it. They are remembered.
    fn run_later(&self, root: &Path, since: SystemTime) -> Vec<PathBuf> {
        let searches = lock(&self.searches);
        let folders = searches.get(root).into_iter().flat_map(Search::folders);
        let folders: Vec<PathBuf> =
            folders.filter(|folder| holds_what_runs_later(folder)).map(|folder| root.join(folder)).collect();
        drop(searches);
        let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
        let is_changed = |entry: &fs::DirEntry| {
            let about = entry.metadata().ok().filter(|about| !about.is_dir());
            let seconds = about.as_ref().and_then(|about| u64::try_from(about.ctime()).ok());
            let nanoseconds = about.as_ref().and_then(|about| u32::try_from(about.ctime_nsec()).ok());
            seconds.zip(nanoseconds).is_some_and(|(s, ns)| UNIX_EPOCH + Duration::new(s, ns) >= since)
        };
        let mut changed: Vec<PathBuf> = files.filter(is_changed).map(|entry| entry.path()).collect();
        changed.sort();
        lock(&self.run_later).extend(changed.iter().cloned());
        changed
    }

    /// Returns all such files that programs changed in this process.
    pub(crate) fn run_later_changed(&self) -> Vec<PathBuf> {
        lock(&self.run_later).iter().cloned().collect()
    }

    fn layer(&self, repository: &Repository, access: &ProgramAccess) -> io::Result<Layered> {
        let before = Before::look(repository)?;
        let folder = self.folders.take(access.layers.as_deref())?;
        let layer = Layer {
            place: repository.common.clone(),
            below: Vec::new(),
            changes: folder.changes(),
            work: folder.work(),
        };
        Ok(Layered { before, layer, _folder: folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise confine.repositories: A repository that a program cannot see through a layer stays as it is.
    #[test]
    fn repository_without_a_layer_cannot_be_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("there");
        let git = root.join(".git");
        for part in ["objects", "refs/heads"] {
            fs::create_dir_all(git.join(part)).expect("made");
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(git.join("config"), "[core]\n\trepositoryformatversion = 0\n").expect("written");
        let access = ProgramAccess {
            writable: vec![root.clone()],
            repositories: vec![git.clone()],
            layers: Some(root.join("layers")),
            ..ProgramAccess::default()
        };
        for has_layers in [true, false] {
            let found = Repositories::new(&Arc::default(), &access, has_layers);
            let mut confinement = Confinement { writable: access.writable.clone(), ..Confinement::default() };
            found.confine(&mut confinement);
            let is_layered = confinement.layers.iter().any(|layer| layer.place == git);
            assert_eq!(is_layered, has_layers && level().has_layers(), "{:?}", found.notes());
            assert_eq!(confinement.protected.contains(&git), !is_layered, "{:?}", confinement.protected);
        }
    }
}

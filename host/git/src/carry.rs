//! Brings back what a program changed in git's folder, in the order in which git writes: objects, refs, index, `HEAD`.
//!
//! The state of a work tree (branches, index, `HEAD`, a rebase) comes back whole or not at all: its locks are all taken
//! before the first file is replaced. If an object is left, nothing that could name it comes back. So git beside it
//! sees a repository as it was before or after, and never a ref to an object that is missing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::before::{Before, Stamp};
use crate::index::Hash;
use crate::judge::{Action, Item, Judge, Verdict};
use crate::kind::{Base, Class, Part, classify};
use crate::packs::{Table, name_of};
use crate::place::{Lock, Place};
use crate::why::Why;

/// The most names that are looked at where a folder was removed or replaced. Protects the time of a call.
const MAX_EXPANDED: usize = 1_000_000;

/// The largest table of a pack that is read, in bytes: that of 60 million objects.
const MAX_TABLE: u64 = 2 << 30;

/// The largest file that is written again, in bytes. A larger one, such as an index, takes its place as it was left.
const MAX_COPIED: usize = 64 << 10;

/// What a program did at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A regular file is there, new or changed.
    File,
    /// A folder is there. What is in it is listed by itself, and what was in it before is still there.
    Folder,
    /// A folder is there in the place of what was before: of that, only what is listed is still there.
    ReplacedFolder,
    /// A link.
    Link,
    /// A pipe, a device, a socket.
    Other,
    /// What was there is gone, with all that was in it.
    Removed,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path beneath git's folder.
    pub path: PathBuf,
    /// What is there.
    pub kind: ChangeKind,
}

/// What a program changed in git's folder.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    /// The folder that has the new files, each under its path: the upper one of an overlay. Large files are moved out
    /// of it, so nothing may write there any more.
    pub upper: &'a Path,
    /// The changes, in any order.
    pub entries: &'a [Change],
    /// The folders, by their real paths, in which new work trees and submodules may be: the workspace and what was
    /// added.
    pub within: &'a [PathBuf],
}

/// What came back.
#[derive(Debug, Default)]
pub struct CarriedOver {
    /// The paths that were written or removed.
    pub kept: Vec<PathBuf>,
    /// The others, without locks and what git left half written.
    pub left: Vec<Left>,
}

/// A change that did not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The path beneath git's folder.
    pub path: PathBuf,
    /// Why.
    pub why: Why,
}

/// Brings back the changes that are harmless, and says which are left and why.
pub fn carry_over(before: &Before, changes: &Changes<'_>) -> CarriedOver {
    if changes.entries.is_empty() {
        return CarriedOver::default();
    }
    // Opened once: what is judged and what is brought back are then the same folder, whatever its path leads to later.
    let upper = match Place::open(changes.upper) {
        Ok(upper) => upper,
        Err(error) => {
            let why = Why::failed(error);
            let left = changes.entries.iter().map(|change| Left { path: change.path.clone(), why: why.clone() });
            return CarriedOver { kept: Vec::new(), left: left.collect() };
        }
    };
    let files = changes.entries.iter().filter(|change| change.kind == ChangeKind::File);
    // The judge is given all names before the first verdict, since whether a path lies in a submodule depends on the
    // others.
    let judge = Judge::new(&upper, Some(before), files.map(|change| change.path.clone()), changes.within);
    let mut carrier =
        Carrier { judge, before, upper: &upper, items: Vec::new(), folders: Vec::new(), done: CarriedOver::default() };
    // All verdicts before the first change here: a change that is left can take others with it.
    carrier.judge_all(changes.entries);
    carrier.place_all();
    carrier.done
}

struct Carrier<'a> {
    judge: Judge<'a>,
    before: &'a Before,
    upper: &'a Place,
    items: Vec<Item>,
    /// Folders that the program removed: they go once they are empty.
    folders: Vec<PathBuf>,
    done: CarriedOver,
}

impl Carrier<'_> {
    fn judge_all(&mut self, entries: &[Change]) {
        let there: HashSet<&Path> =
            entries.iter().filter(|change| change.kind != ChangeKind::Removed).map(|change| &*change.path).collect();
        for change in entries {
            let path = &change.path;
            match change.kind {
                ChangeKind::File => {
                    // A branch `a` cannot be written while there are branches `a/…`, which lie in a folder of its name.
                    self.remove_in_the_way(path, FileType::Directory, &there);
                    let verdict = self.judge.file(path);
                    self.take(path, verdict);
                }
                // A link in git's folder leads wherever the program wants, each time git opens it.
                ChangeKind::Link | ChangeKind::Other => self.take(path, Err(Why::NotAFile)),
                ChangeKind::Folder => {
                    self.remove_in_the_way(path, FileType::RegularFile, &there);
                    let verdict = self.judge.folder(path);
                    self.take(path, verdict);
                }
                ChangeKind::ReplacedFolder => {
                    self.remove_in_the_way(path, FileType::RegularFile, &there);
                    // Overlayfs names the new folder alone; what was in the old one is gone as well.
                    self.remove_beneath(path, &there);
                    let verdict = self.judge.folder(path);
                    self.take(path, verdict);
                }
                ChangeKind::Removed => self.remove(path, &there),
            }
        }
    }

    fn take(&mut self, path: &Path, verdict: Verdict) {
        match verdict {
            Ok(Some(item)) => self.items.push(item),
            Ok(None) => {}
            Err(why) => self.leave(path, why),
        }
    }

    fn leave(&mut self, path: &Path, why: Why) {
        self.done.left.push(Left { path: path.to_owned(), why });
    }

    /// A file took the place of a folder, or the other way round: what was there is removed.
    fn remove_in_the_way(&mut self, path: &Path, kind: FileType, there: &HashSet<&Path>) {
        if matches!(self.before.now(path), Ok(Some(now)) if now.kind() == kind) {
            self.remove(path, there);
        }
    }

    fn remove(&mut self, path: &Path, there: &HashSet<&Path>) {
        match self.before.now(path) {
            Ok(Some(now)) if now.kind() == FileType::Directory => {
                self.folders.push(path.to_owned());
                self.remove_beneath(path, there);
            }
            Ok(_) => {
                let verdict = self.judge.removal(path);
                self.take(path, verdict);
            }
            Err(error) => self.leave(path, Why::failed(error)),
        }
    }

    fn remove_beneath(&mut self, path: &Path, there: &HashSet<&Path>) {
        // One change of the program can stand for a whole tree, so the list of changes does not bound it.
        let found = match self.before.place.beneath(path, MAX_EXPANDED, &mut |_| true) {
            Ok(found) => found,
            Err(error) => return self.leave(path, Why::failed(error)),
        };
        let (folders, files): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|found| found.kind() == FileType::Directory);
        let files: HashMap<PathBuf, Stamp> =
            files.into_iter().map(|found| (found.path, Stamp::from(found.about))).collect();
        // The folders of work trees and submodules that are gone whole, each with what is in it.
        let mut trees: Vec<&Path> = Vec::new();
        let mut all: Vec<&Path> = folders.iter().map(|found| &*found.path).chain([path]).collect();
        // Outer folders first: what lies in one that goes whole is not judged by itself.
        all.sort_by_key(|folder| folder.components().count());
        for folder in all {
            if there.contains(folder) || trees.iter().any(|tree| folder.starts_with(tree)) {
                continue;
            }
            // As a whole: file by file, a work tree whose index was left would stay half removed.
            if let Some(verdict) = self.judge.tree(folder, &files) {
                trees.push(folder);
                self.take(folder, verdict);
            }
        }
        let is_whole = |path: &Path| trees.iter().any(|tree| path.starts_with(tree));
        let files =
            files.keys().filter(|file| !there.contains(&***file) && !is_whole(file)).cloned().collect::<Vec<_>>();
        let gone = folders.into_iter().map(|found| found.path).filter(|folder| !there.contains(&**folder));
        self.folders.extend(gone);
        for file in files {
            let verdict = self.judge.removal(&file);
            self.take(&file, verdict);
        }
    }

    /// The folder whose state a path belongs to: a further work tree that was there shares it with its repository.
    fn group(&self, path: &Path) -> PathBuf {
        let Some(located) = self.judge.locate(path) else { return PathBuf::new() };
        match located.kind {
            Base::Worktree if self.judge.is_real(&located.base.join("HEAD")) => {
                located.base.parent().and_then(Path::parent).map(Path::to_owned).unwrap_or_default()
            }
            Base::Worktree | Base::Repository => located.base,
        }
    }

    /// The part that a path belongs to, if it is one of the known ones or lies among the files of an operation.
    fn part(&self, path: &Path) -> Option<Part> {
        let located = self.judge.locate(path)?;
        let operation =
            ["rebase-merge/", "rebase-apply/", "sequencer/"].iter().any(|name| located.rest.starts_with(name));
        match classify(&located.rest, located.kind) {
            Class::Known(kind) => Some(kind.part),
            Class::Unknown if operation => Some(Part::Operation),
            Class::Dropped | Class::Obeyed | Class::Unknown => None,
        }
    }

    fn place_all(&mut self) {
        let mut items = std::mem::take(&mut self.items);
        // By what names what: objects come before the refs that name them.
        items.sort_by(|one, other| (one.part, &one.path).cmp(&(other.part, &other.path)));
        let (stored, others): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| item.part.is_stored() && !matches!(item.action, Action::Remove));
        for item in stored {
            let done = self.place(&item);
            self.finish(&item, done);
        }
        // Asked again after each step, since what failed to be placed takes others with it, as what was judged does.
        let others = self.withhold(others);
        let (obsolete, others): (Vec<Item>, Vec<Item>) = others.into_iter().partition(|item| item.part.is_stored());
        // A branch that is in the packed refs now is removed last: otherwise it would be missing in between.
        let is_ref =
            |item: &Item| matches!(item.part, Part::Ref | Part::Branch) && matches!(item.action, Action::Remove);
        let (gone, others): (Vec<Item>, Vec<Item>) = others.into_iter().partition(is_ref);
        // A file where a folder was, or a folder where a file was, waits until that is gone.
        let (late, others): (Vec<Item>, Vec<Item>) = others.into_iter().partition(|item| self.is_late(item, &gone));
        let (state, others): (Vec<Item>, Vec<Item>) = others.into_iter().partition(|item| item.part.is_state());
        for item in others {
            // Refs before the state of a work tree: `HEAD` must not name a branch that is not there.
            let done = self.place(&item);
            self.finish(&item, done);
        }
        let mut groups: BTreeMap<PathBuf, Vec<Item>> = BTreeMap::new();
        for item in state {
            // By work tree, since each has an index and a `HEAD` of its own that belong together.
            groups.entry(self.group(&item.path)).or_default().push(item);
        }
        for group in groups.into_values() {
            self.place_together(group);
        }
        // What the packed refs have now, or nobody has any more. And if the packed refs were left, nothing goes.
        for item in self.withhold(gone) {
            let done = self.place(&item);
            self.finish(&item, done);
        }
        // Git makes a folder for each part of a branch's name; an empty one is in the way of a branch of that name.
        self.remove_empty_folders();
        for item in self.withhold(late) {
            let done = self.place(&item);
            self.finish(&item, done);
        }
        // Last of all: a pack that replaces others must be here before they go.
        self.remove_obsolete(obsolete);
        self.remove_empty_folders();
    }

    fn is_late(&self, item: &Item, gone: &[Item]) -> bool {
        item.now.is_some_and(|now| now.kind() == FileType::Directory)
            || gone.iter().any(|gone| item.path != gone.path && item.path.starts_with(&gone.path))
    }

    fn remove_empty_folders(&mut self) {
        self.folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        for folder in &self.folders {
            self.before.place.remove_if_empty(folder);
        }
    }

    /// Leaves what belongs to something that was left.
    fn withhold(&mut self, items: Vec<Item>) -> Vec<Item> {
        // The first that was left, by what it takes with it.
        let (mut state, mut all, mut essential) = (HashMap::new(), HashMap::new(), HashMap::new());
        for left in &self.done.left {
            let group = self.group(&left.path);
            let Some(part) = self.part(&left.path) else { continue };
            if part.is_state() {
                state.entry(group.clone()).or_insert_with(|| left.path.clone());
            }
            if part.is_stored() {
                all.entry(group.clone()).or_insert_with(|| left.path.clone());
            }
            if matches!(part, Part::Config | Part::Head | Part::Worktree | Part::Index)
                // Of a repository that is new: half of it would be a folder that git takes for none, or for a broken
                // one.
                && !self.judge.is_real(&group.join("HEAD"))
            {
                essential.entry(group).or_insert_with(|| left.path.clone());
            }
        }
        let mut kept = Vec::new();
        for item in items {
            let group = self.group(&item.path);
            // What was to go stays as well: something that was left may still need it.
            let removes = matches!(item.action, Action::Remove | Action::RemoveTree);
            let with = essential.get(&group).or_else(|| {
                let first = state.get(&group).filter(|_| item.part.is_state() || removes);
                first.or_else(|| all.get(&group).filter(|_| item.part.names_objects() || removes))
            });
            match with {
                // The one that is to blame is named, so that the user does not look for a fault in each.
                Some(with) => self.leave(&item.path, Why::With(with.clone())),
                None => kept.push(item),
            }
        }
        kept
    }

    fn finish(&mut self, item: &Item, done: Result<(), Why>) {
        match done {
            Ok(()) => self.done.kept.push(item.path.clone()),
            Err(why) => self.leave(&item.path, why),
        }
    }

    /// Says that nobody changed the file since it was judged.
    fn verify(&self, item: &Item) -> Result<(), Why> {
        let is_folder = item.now.is_some_and(|now| now.kind() == FileType::Directory);
        let now = self.before.now(&item.path).map_err(Why::failed)?;
        if now == item.now || is_folder && now.is_none() { Ok(()) } else { Err(Why::Changed) }
    }

    /// Takes the lock of a file, with what the file will contain.
    fn lock<'i>(&'i self, item: &'i Item) -> io::Result<Lock<'i>> {
        let Action::Write { bytes, left } = &item.action else { return self.before.place.lock(&item.path, None) };
        let lock = self.before.place.lock(&item.path, Some(if bytes.len() > MAX_COPIED { b"" } else { bytes }))?;
        if bytes.len() > MAX_COPIED {
            lock.fill(self.upper, bytes, |about| Stamp::from(*about) == *left)?;
        }
        Ok(lock)
    }

    fn place(&self, item: &Item) -> Result<(), Why> {
        let real = &self.before.place;
        match &item.action {
            Action::Bring { replaces } => real.bring(self.upper, &item.path, *replaces).map_err(Why::failed),
            Action::MakeFolder => real.make_folder(&item.path).map_err(Why::failed),
            Action::RemoveTree => real.remove_tree(&item.path).map_err(Why::failed),
            Action::Write { .. } => {
                // Git's own lock: the user's git beside it waits or fails, and never reads half.
                let lock = self.lock(item).map_err(Why::failed)?;
                // Under the lock: whether it changed since it was judged can be known only while nobody else may change
                // it.
                self.verify(item)?;
                lock.replace().map_err(Why::failed)
            }
            Action::Remove => {
                let _lock = real.lock(&item.path, None).map_err(Why::failed)?;
                self.verify(item)?;
                real.remove(&item.path).map_err(Why::failed)
            }
        }
    }

    /// Places the state of a work tree: all of it, or nothing.
    fn place_together(&mut self, items: Vec<Item>) {
        // All locks before the first rename; dropping one unlocks its file as it was.
        let mut locks: Vec<(usize, Lock<'_>)> = Vec::new();
        let mut failed = None;
        for (number, item) in items.iter().enumerate() {
            let locked = match &item.action {
                Action::Write { .. } => self.lock(item).map(|lock| locks.push((number, lock))),
                Action::Remove | Action::Bring { .. } | Action::MakeFolder | Action::RemoveTree => Ok(()),
            };
            if let Err(why) = locked.map_err(Why::failed).and_then(|()| self.verify(item)) {
                failed = Some((number, why));
                break;
            }
        }
        if let Some((number, why)) = failed {
            // Before anything is reported: the user's git waits for them.
            drop(locks);
            let first = items.get(number).map(|item| item.path.clone()).unwrap_or_default();
            for item in &items {
                let why = if item.path == first { why.clone() } else { Why::With(first.clone()) };
                self.leave(&item.path, why);
            }
            return;
        }
        let mut written = Vec::new();
        for (number, lock) in locks {
            // Only renames from here on. One that fails is reported by itself, since the others are already there.
            written.push((number, lock.replace().map_err(Why::failed)));
        }
        for (number, done) in written {
            if let Some(item) = items.get(number) {
                self.finish(item, done);
            }
        }
        // Git takes an operation for finished when its files go, so they go after what it was about.
        for item in items.iter().filter(|item| matches!(item.action, Action::Remove)) {
            let done = self.verify(item).and_then(|()| self.before.place.remove(&item.path).map_err(Why::failed));
            self.finish(item, done);
        }
    }

    /// Removes objects and packs that a pack which came back has, and tables that name them.
    fn remove_obsolete(&mut self, items: Vec<Item>) {
        // Only packs that came back just now count: those that were here before prove nothing about what is left.
        let came: HashSet<&Path> = self.done.kept.iter().map(PathBuf::as_path).collect();
        let place = &self.before.place;
        let mut removed = Vec::new();
        let mut tables: HashMap<PathBuf, Vec<Table>> = HashMap::new();
        for path in came.iter().filter(|path| path.extension().is_some_and(|end| end == "idx")) {
            let Some(folder) = path.parent() else { continue };
            tables.entry(folder.to_owned()).or_default().extend(read_table(place, path));
        }
        let covered = |item: &Item| {
            let (name, folder) = (item.path.file_name()?.to_str()?, item.path.parent()?);
            match item.part {
                Part::Object => {
                    let digits = format!("{}{name}", folder.file_name()?.to_str()?);
                    let packs = tables.get(&folder.parent()?.join("pack"))?;
                    let id = name_of(&digits)?;
                    packs.iter().any(|table| table.has(&id)).then_some(())
                }
                Part::Pack | Part::PackTable => {
                    let packs = tables.get(folder)?;
                    // A pack goes only if everything in its table is in a pack that came.
                    let own = folder.join(format!("{}.idx", name.split_once('.')?.0));
                    read_table(place, &own)?.is_within(packs).then_some(())
                }
                // They are made again when they are missed.
                _ => Some(()),
            }
        };
        // Tables over packs go before packs, and the table of a pack before the pack. All are asked about before one
        // goes.
        let mut gone: Vec<&Item> = items.iter().filter(|item| covered(item).is_some()).collect();
        gone.sort_by_key(|item| std::cmp::Reverse(item.part));
        for item in gone {
            if place.remove(&item.path).is_ok() {
                removed.push(item.path.clone());
            }
        }
        self.done.kept.extend(removed);
    }
}

/// Reads the table of a pack.
fn read_table(place: &Place, path: &Path) -> Option<Table> {
    // `pack-` and the digits of the name, which is as long as those of objects.
    let size = match path.file_stem()?.len().checked_sub(5)? {
        64 => Hash::Sha256,
        _ => Hash::Sha1,
    };
    Table::read(place.read(path, MAX_TABLE).ok()??, size.size())
}

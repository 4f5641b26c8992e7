//! Whether one change of git's folder may come back, and how.
//!
//! A judge reads what a program left, and never writes. The bytes that it has checked are the ones that are written
//! later, so nothing comes between. What it does not read whole (packs, objects) is obeyed by nobody.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::before::{Before, Stamp};
use crate::config::{Setting, parse};
use crate::content::{replaced_objects, without_end};
use crate::index::{self, Hash, MAX_INDEX};
use crate::inert::{Whose, first_obeyed};
use crate::kind::{Base, Check, Class, Kind, Part, classify, is_needed_folder};
use crate::names::{is_git_folder, is_ref_part};
use crate::place::{Place, kind_of};
use crate::repository::{MAX_POINTER, MAX_SETTINGS, hash_of};
use crate::settings::{Around, resolve};
use crate::why::Why;

/// The largest log, message or list of refs that is read, in bytes. Protects memory.
const MAX_TEXT: u64 = 48 << 20;

/// The bits of a mode that make a file run as somebody else.
const SET_ID: u32 = 0o7000;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Action {
    /// Bring the file, in the place of one that is there or not.
    Bring { replaces: bool },
    /// Write these bytes, which were checked and are those of the file that was left, as it was then.
    Write { bytes: Vec<u8>, left: Stamp },
    /// Remove the file.
    Remove,
    /// Make a folder.
    MakeFolder,
    /// Remove the folder of a work tree or of a submodule with all that is in it.
    RemoveTree,
}

/// A change that may come back.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) path: PathBuf,
    pub(crate) part: Part,
    pub(crate) action: Action,
    /// What is at its place while it is judged.
    pub(crate) now: Option<Stamp>,
}

/// What a judge says of a change: nothing is to be done, something is, or it is left.
pub(crate) type Verdict = Result<Option<Item>, Why>;

/// Where a path lies: in which folder of git beneath the one that was opened, and what remains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) base: PathBuf,
    pub(crate) kind: Base,
    pub(crate) rest: String,
}

impl Located {
    /// Whether it lies among objects, of which nothing is remembered.
    fn is_stored(&self) -> bool {
        ["objects/", "lfs/"].iter().any(|name| self.rest.starts_with(name))
    }
}

/// What judges.
pub(crate) struct Judge<'a> {
    /// What the program left.
    pub(crate) upper: &'a Place,
    /// The real folder; `None` if what was left is judged by itself.
    pub(crate) before: Option<&'a Before>,
    /// Folders that the program left a `HEAD` in.
    heads: HashSet<PathBuf>,
    within: &'a [PathBuf],
    /// The repository's own settings before.
    settings: Vec<Setting>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        upper: &'a Place,
        before: Option<&'a Before>,
        files: impl Iterator<Item = PathBuf>,
        within: &'a [PathBuf],
    ) -> Self {
        let head = |path: PathBuf| path.ends_with("HEAD").then(|| path.parent().map(Path::to_owned)).flatten();
        let mut judge = Self { upper, before, heads: files.filter_map(head).collect(), within, settings: Vec::new() };
        judge.settings = judge.settings_of(Path::new("")).unwrap_or_default();
        judge
    }

    /// Returns where a path lies; `None` if in nothing that git has.
    pub(crate) fn locate(&self, path: &Path) -> Option<Located> {
        let mut located = Located {
            base: PathBuf::new(),
            kind: Base::Repository,
            rest: path.to_str().filter(|text| !text.is_empty())?.to_owned(),
        };
        // Submodules have submodules: each round goes one repository further in.
        loop {
            let parts: Vec<&str> = located.rest.split('/').collect();
            let deeper = match parts.as_slice() {
                // Names that git itself makes; any other could mean another place.
                ["worktrees", name, _, ..] if located.kind == Base::Repository && is_ref_part(name.as_bytes()) => 2,
                ["worktrees", ..] => return None,
                ["modules", names @ ..] if located.kind == Base::Repository => {
                    // The shortest beginning of the name that is a repository. Git allows none within another one.
                    let is_base = |count: &usize| {
                        let base =
                            located.base.join("modules").join(parts.get(1..=*count).unwrap_or_default().join("/"));
                        // A submodule may be there already or come with these changes.
                        self.heads.contains(&base) || self.is_real(&base.join("HEAD"))
                    };
                    (1..names.len()).find(is_base)? + 1
                }
                _ => return Some(located),
            };
            let (base, rest) = parts.split_at(deeper);
            // `..` and its like end here, before a path is put together.
            if !base.iter().all(|name| is_plain(name)) {
                return None;
            }
            located.kind = if base.first() == Some(&"worktrees") { Base::Worktree } else { Base::Repository };
            located.base.push(base.join("/"));
            located.rest = rest.join("/");
        }
    }

    /// Returns whether something was at a path before the program started.
    pub(crate) fn is_real(&self, path: &Path) -> bool {
        self.before.is_some_and(|before| before.then(path).is_some())
    }

    fn now(&self, path: &Path) -> Result<Option<Stamp>, Why> {
        self.before.map_or(Ok(None), |before| before.now(path)).map_err(Why::failed)
    }

    fn real_bytes(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.before?.place.read(path, limit).ok()?
    }

    fn settings_of(&self, base: &Path) -> Option<Vec<Setting>> {
        parse(str::from_utf8(&self.real_bytes(&base.join("config"), MAX_SETTINGS)?).ok()?)
    }

    /// Judges a file that is new or changed.
    pub(crate) fn file(&self, path: &Path) -> Verdict {
        let located = self.locate(path).ok_or(Why::Unknown)?;
        let kind = match classify(&located.rest, located.kind) {
            Class::Known(kind) => kind,
            // Locks and files of an editor: gone after git ends, and nothing to report.
            Class::Dropped => return Ok(None),
            Class::Obeyed => return Err(Why::Obeyed),
            Class::Unknown => return Err(Why::Unknown),
        };
        let about = self.upper.stat(path).map_err(Why::failed)?.ok_or(Why::Unknown)?;
        // A plain file alone: a pipe would hang the reader, a link leads elsewhere, and such a bit gives rights to
        // others.
        if kind_of(&about) != FileType::RegularFile || about.st_mode & SET_ID != 0 {
            return Err(Why::NotAFile);
        }
        // Also looked at here: the user may have something other than a file at this path by now.
        let now = self.now(path)?;
        if now.is_some_and(|now| ![FileType::RegularFile, FileType::Directory].contains(&now.kind())) {
            return Err(Why::NotAFile);
        }
        let item = |action| Ok(Some(Item { path: path.to_owned(), part: kind.part, action, now }));
        // These two have fixed names; every other stored file is named by its content and never replaced.
        let replaces = located.rest.ends_with("/commit-graph") || located.rest.ends_with("/multi-pack-index");
        match kind.check {
            // It is there already, and by its name it is the same.
            Check::Begins(_) | Check::Compressed if now.is_some() && !replaces => Ok(None),
            Check::Begins(begin) => {
                if self.first(path, begin.len())? != begin {
                    return Err(Why::Invalid("it does not begin as such a file does"));
                }
                item(Action::Bring { replaces })
            }
            Check::Compressed => {
                // A cheap look, which shows a mistake; there are too many objects to read each whole, and nobody obeys
                // one.
                let compressed = matches!(*self.first(path, 2)?, [one, two]
                    if one & 0x0f == 8 && u16::from_be_bytes([one, two]) % 31 == 0);
                compressed.then_some(()).ok_or(Why::Invalid("it is not a compressed object"))?;
                item(Action::Bring { replaces })
            }
            Check::Whole(_) | Check::Index | Check::Config | Check::CommonFolder | Check::WorktreeFile => {
                let bytes = self.upper.read(path, MAX_TEXT.max(MAX_INDEX)).map_err(Why::failed)?.ok_or(Why::Unknown)?;
                // A file that was only opened for writing is a change to overlayfs and none to the user.
                if self.is_the_same(path, now, &bytes) {
                    return Ok(None);
                }
                self.check(path, &located, kind, &bytes)?;
                self.unchanged(&located, path, now)?;
                // These bytes are what is written: between check and write the program's file may change.
                item(Action::Write { bytes, left: Stamp::from(about) })
            }
        }
    }

    fn first(&self, path: &Path, count: usize) -> Result<Vec<u8>, Why> {
        let (file, _) = self.upper.file(path).map_err(Why::failed)?;
        let mut first = Vec::new();
        file.take(count as u64).read_to_end(&mut first).map_err(Why::failed)?;
        Ok(first)
    }

    fn is_the_same(&self, path: &Path, now: Option<Stamp>, bytes: &[u8]) -> bool {
        let same_size = now.is_some_and(|now| now.kind() == FileType::RegularFile && now.size() == bytes.len() as u64);
        let real = self.before.filter(|_| same_size).and_then(|before| before.place.file(path).ok());
        let Some((mut real, _)) = real else { return false };
        // Piece by piece: what differs does so soon.
        let mut piece = [0; 1 << 14];
        bytes.chunks(piece.len()).all(|expected| {
            let piece = &mut piece[..expected.len()];
            real.read_exact(piece).is_ok() && piece == expected
        })
    }

    /// Says that a file is as it was before the program started, or differs only in what nobody wrote.
    fn unchanged(&self, located: &Located, path: &Path, now: Option<Stamp>) -> Result<(), Why> {
        let Some(before) = self.before else { return Ok(()) };
        // Nothing is remembered of these: they are named by their contents, or made again from others.
        if located.is_stored() {
            return Ok(());
        }
        // Nothing of the user's is written over, also not what another session brought back meanwhile.
        if before.then(path) == now || now.is_some_and(|now| now.kind() == FileType::Directory) {
            return Ok(());
        }
        // The user's `git status` records again what it saw of the files.
        let refreshed = before.replaced_index(path).is_some_and(|old| {
            let hash = self.hash(Path::new(""));
            self.real_bytes(path, MAX_INDEX).is_some_and(|real| index::lists_the_same(&old, &real, hash))
        });
        if refreshed { Ok(()) } else { Err(Why::Changed) }
    }

    fn hash(&self, base: &Path) -> Hash {
        match base.starts_with("modules") {
            true => self.settings_of(base).map_or(Hash::Sha1, |settings| hash_of(&settings)),
            false => hash_of(&self.settings),
        }
    }

    fn check(&self, path: &Path, located: &Located, kind: Kind, bytes: &[u8]) -> Result<(), Why> {
        match kind.check {
            Check::Whole(check) => {
                check(bytes).map_err(Why::Invalid)?;
                if kind.part == Part::PackedRefs && !replaced_objects(bytes).is_empty() {
                    // `refs/replace` shows another object in the place of one: `git log` would show what is not there.
                    let real = self.real_bytes(path, MAX_TEXT).unwrap_or_default();
                    let known = replaced_objects(&real);
                    if !replaced_objects(bytes).iter().all(|line| known.contains(line)) {
                        return Err(Why::Obeyed);
                    }
                }
                Ok(())
            }
            Check::Index => self.index(path, &located.base, bytes),
            // Settings are the files that make git run something.
            Check::Config => self.config(&located.base, bytes),
            // Of a work tree that was there they never change.
            Check::CommonFolder | Check::WorktreeFile if self.is_real(&located.base.join("HEAD")) => Err(Why::Obeyed),
            // Only of a new work tree, and only with the one content that git writes.
            Check::CommonFolder => {
                (without_end(bytes) == b"../..").then_some(()).ok_or(Why::Invalid("it leads to another repository"))
            }
            Check::WorktreeFile => self
                .worktree(&located.base, bytes)
                .ok_or(Why::Invalid("it does not lead to a work tree of the workspace")),
            Check::Begins(_) | Check::Compressed => Ok(()),
        }
    }

    fn index(&self, path: &Path, base: &Path, bytes: &[u8]) -> Result<(), Why> {
        let hash = self.hash(base);
        let found = index::check(bytes, hash).map_err(Why::Invalid)?;
        // Judged by itself, each repository within is judged too.
        if found.is_empty() || self.before.is_none() {
            return Ok(());
        }
        // A new work tree has the submodules that the repository has.
        let known: HashSet<Vec<u8>> = [path, Path::new("index")]
            .into_iter()
            .filter_map(|path| index::submodules(&self.real_bytes(path, MAX_INDEX)?, hash).ok())
            .flatten()
            .collect();
        // A new submodule is a folder with settings of its own, which git enters by itself.
        match found.into_iter().find(|path| !known.contains(path)) {
            Some(new) => Err(Why::NewSubmodule(String::from_utf8_lossy(&new).into_owned())),
            None => Ok(()),
        }
    }

    fn config(&self, base: &Path, bytes: &[u8]) -> Result<(), Why> {
        let text = str::from_utf8(bytes).ok().filter(|_| bytes.len() as u64 <= MAX_SETTINGS);
        let after = text.and_then(parse).ok_or(Why::Invalid("it is not a file of settings"))?;
        // A submodule or a work tree that came just now has no settings to compare with.
        let is_new = !self.is_real(&base.join("config"));
        let before = match is_new {
            true => None,
            // If the old ones cannot be read, no change of them can be judged.
            false => Some(self.settings_of(base).ok_or(Why::Invalid("the settings before are not understood"))?),
        };
        let known: Vec<String> =
            self.settings.iter().filter(|one| one.name == "url").filter_map(|one| one.value.clone()).collect();
        let folder = self.before.map_or(&self.upper.path, |before| &before.place.path).join(base);
        let submodule = base.iter().any(|name| name == "modules");
        let around =
            Around { before: before.as_deref(), known: &known, folder: &folder, within: self.within, submodule };
        if self.before.is_some() {
            return around.check(&after).map_err(Why::Setting);
        }
        // A repository that came whole may set anything that runs nothing. A submodule says where its files are.
        let located = |setting: &Setting| submodule && setting.short() == "core.worktree";
        let (place, others): (Vec<Setting>, Vec<Setting>) = after.into_iter().partition(located);
        match first_obeyed(&others, Whose::User) {
            Some(setting) => Err(Why::Setting(setting.key())),
            None => around.check(&place).map_err(Why::Setting),
        }
    }

    /// Whether the file of a work tree is one of the workspace that names the folder back.
    fn worktree(&self, base: &Path, bytes: &[u8]) -> Option<()> {
        let folder = self.before.map_or(&self.upper.path, |before| &before.place.path).join(base);
        let named = Path::new(str::from_utf8(without_end(bytes)).ok()?);
        let file = resolve(&folder, named)?;
        // The file is there by now: the program made it.
        let real = file.parent()?.canonicalize().ok()?.join(".git");
        let beneath = self.within.iter().find_map(|within| real.parent()?.strip_prefix(within).ok())?;
        if file.file_name()? != ".git" || beneath.iter().any(|part| is_git_folder(part.as_encoded_bytes())) {
            return None;
        }
        let back = crate::place::read_alone(&real, MAX_POINTER).ok()??;
        let back = str::from_utf8(without_end(&back)).ok()?.strip_prefix("gitdir: ")?;
        (resolve(real.parent()?, Path::new(back))? == folder).then_some(())
    }

    /// Judges the removal of a file that is there.
    pub(crate) fn removal(&self, path: &Path) -> Verdict {
        let Some(now) = self.now(path)? else { return Ok(None) };
        let located = self.locate(path).ok_or(Why::Unknown)?;
        let kind = match classify(&located.rest, located.kind) {
            Class::Known(kind) => kind,
            Class::Dropped => return Ok(None),
            Class::Obeyed => return Err(Why::Obeyed),
            Class::Unknown => return Err(Why::Unknown),
        };
        // Without `HEAD` or its settings a folder is not a repository any more, and git would find the one above.
        if !kind.part.is_removable() {
            return Err(Why::Needed);
        }
        if now.kind() != FileType::RegularFile {
            return Err(Why::NotAFile);
        }
        // What is stored is not remembered by its time.
        if !kind.part.is_stored() {
            self.unchanged(&located, path, Some(now))?;
        }
        Ok(Some(Item { path: path.to_owned(), part: kind.part, action: Action::Remove, now: Some(now) }))
    }

    /// Judges a folder that was made.
    pub(crate) fn folder(&self, path: &Path) -> Verdict {
        let Some(located) = self.locate(path) else { return Ok(None) };
        if !is_needed_folder(&located.rest, located.kind) || self.now(path)?.is_some() {
            return Ok(None);
        }
        Ok(Some(Item { path: path.to_owned(), part: Part::Object, action: Action::MakeFolder, now: None }))
    }

    /// Judges the removal of a whole folder of git that was there: a work tree's, or a submodule's. `None` if it is
    /// none.
    pub(crate) fn tree(&self, path: &Path, files: &HashMap<PathBuf, Stamp>) -> Option<Verdict> {
        let located = self.locate(&path.join("HEAD"))?;
        if located.base != path || !self.is_real(&path.join("HEAD")) {
            return None;
        }
        // The user may have committed in that work tree meanwhile: then all of it stays.
        let changed = files.iter().filter(|(file, _)| file.starts_with(path)).find(|(path, now)| {
            let stored = self
                .locate(path)
                .is_some_and(|located| ["objects/", "lfs/"].iter().any(|name| located.rest.starts_with(name)));
            !stored && self.before.is_some_and(|before| before.then(path) != Some(**now))
        });
        Some(match changed {
            Some(_) => Err(Why::Changed),
            None => Ok(Some(Item { path: path.to_owned(), part: Part::Other, action: Action::RemoveTree, now: None })),
        })
    }
}

/// Whether a name can be the one of a folder that git makes for a submodule.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !is_git_folder(name.as_bytes())
}

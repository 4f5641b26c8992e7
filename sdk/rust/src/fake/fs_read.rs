//! The capability `fs-read` of a fake host.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use host_capability::{Grants, ReadPermit};

use super::grants::{denial, plugin};
use super::ignored::Rules;
use super::tree::{MAX_WHOLE, Missing, Node, absolute, digest, shown};
use super::{World, ask};
use crate::bindings::host::cap::fs_read::Batch;
use crate::fs_read::{Entry, Error, Kind, Metadata, Part, WalkOptions, WalkSummary, Whole};

/// The largest part of a file that is handed over at once, as the host has it.
const MAX_RANGE: u32 = 8 << 20;
/// Entries of one folder, as the host has it.
const MAX_ENTRIES: usize = 100_000;
/// Bytes and files after which a batch is handed over, as the host has it.
const BATCH_BYTES: usize = 1 << 20;
/// See [`BATCH_BYTES`].
const BATCH_FILES: usize = 4_096;
/// Globs of one walk, as the host has it.
const MAX_GLOBS: usize = 1_000;
/// Texts of one search, and bytes of each, as the host has it.
const MAX_TEXTS: usize = 64;
/// See [`MAX_TEXTS`].
const MAX_TEXT: usize = 256;

/// Tells about one path.
///
/// # Errors
///
/// When there is nothing at the path, or it may not be read.
pub fn stat(path: &str) -> Result<Metadata, Error> {
    reading("fs_read::stat", path, |world, at| {
        let node = at.node(world)?;
        let is_folder = matches!(node, Node::Folder);
        Ok(Metadata {
            kind: kind(node),
            size: size(node),
            modified: modified(node),
            ignored: Rules::of(&world.tree).leave_out(&at.path, is_folder),
        })
    })
}

/// The entries of a directory, in no order. At most 100,000; more is [`Error::TooLarge`].
///
/// # Errors
///
/// When there is no directory at the path, it has too many entries, or it may not be read.
pub fn list(path: &str) -> Result<Vec<Entry>, Error> {
    reading("fs_read::list", path, |world, at| {
        if !matches!(at.node(world)?, Node::Folder) {
            return Err(Error::NotDirectory(shown(&at.path)));
        }
        let rules = Rules::of(&world.tree);
        let all_ignored = rules.leave_out(&at.path, true);
        let children = world.tree.children(&at.path).filter(|(path, _)| !at.permit.denies(path));
        let entries: Vec<_> = children
            .map(|(path, node)| Entry {
                name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                kind: kind(node),
                size: size(node),
                modified: modified(node),
                ignored: all_ignored || rules.name(path, matches!(node, Node::Folder)),
            })
            .collect();
        match entries.len() > MAX_ENTRIES {
            true => Err(Error::TooLarge(MAX_ENTRIES as u64 + 1)),
            false => Ok(entries),
        }
    })
}

/// Reads up to `length` bytes from `offset`, at most 8 MiB.
///
/// # Errors
///
/// When there is no file at the path, or it may not be read.
pub fn read(path: &str, offset: u64, length: u32) -> Result<Part, Error> {
    reading("fs_read::read", path, |world, at| {
        let content = at.content(world)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let end = start.saturating_add(length.min(MAX_RANGE) as usize).min(content.len());
        Ok(Part { data: content.get(start..end).unwrap_or_default().to_vec(), size: content.len() as u64 })
    })
}

/// Reads a whole file of at most 20 MiB, with its digest.
///
/// # Errors
///
/// When there is no file at the path, it is too large, or it may not be read.
pub fn read_whole(path: &str) -> Result<Whole, Error> {
    reading("fs_read::read_whole", path, |world, at| {
        let content = at.content(world)?;
        match content.len() as u64 > MAX_WHOLE {
            true => Err(Error::TooLarge(content.len() as u64)),
            false => Ok(Whole { data: content.to_vec(), digest: digest(content) }),
        }
    })
}

/// A walk: all its batches, made when it began.
#[derive(Debug)]
pub(crate) struct Walk {
    batches: RefCell<std::vec::IntoIter<Batch>>,
    summary: RefCell<WalkSummary>,
}

/// Whether a search finds something in a file with these bytes.
type IsFound<'o> = &'o dyn Fn(&[u8]) -> bool;

/// Begins a walk.
pub(crate) fn open_walk(options: &WalkOptions) -> Result<Walk, Error> {
    begin("fs_read::Walk::open", options, None)
}

/// Begins a walk over the files that contain one of these texts.
pub(crate) fn open_search(options: &WalkOptions, texts: &[Vec<u8>], ignore_case: bool) -> Result<Walk, Error> {
    if texts.is_empty() || texts.len() > MAX_TEXTS {
        return Err(Error::Invalid(format!("a search has 1 to {MAX_TEXTS} texts, not {}", texts.len())));
    }
    if let Some(text) = texts.iter().find(|text| text.is_empty() || text.len() > MAX_TEXT) {
        return Err(Error::Invalid(format!("a text of a search has 1 to {MAX_TEXT} bytes, not {}", text.len())));
    }
    let is_same = |one: &[u8], other: &[u8]| if ignore_case { one.eq_ignore_ascii_case(other) } else { one == other };
    let is_found =
        |content: &[u8]| texts.iter().any(|text| content.windows(text.len()).any(|part| is_same(part, text)));
    begin("fs_read::Walk::open_search", options, Some(&is_found))
}

fn begin(function: &str, options: &WalkOptions, is_found: Option<IsFound<'_>>) -> Result<Walk, Error> {
    reading(function, &options.root, |world, at| {
        at.node(world)?;
        let globs = Globs::new(options)?;
        let mut collected = Collected::new(options, is_found);
        let rules = options.respect_ignore.then(|| Rules::of(&world.tree));
        collected.visit(world, &at, &globs, rules.as_ref());
        Ok(collected.walk())
    })
}

impl Walk {
    pub(crate) fn next(&self) -> Result<Option<Batch>, Error> {
        let batch = self.batches.borrow_mut().next();
        if let Some(batch) = &batch {
            self.summary.borrow_mut().files += batch.name_ends.len() as u64;
        }
        Ok(batch)
    }

    pub(crate) fn summary(&self) -> WalkSummary {
        *self.summary.borrow()
    }
}

/// A path that may be read.
struct Readable {
    path: PathBuf,
    permit: ReadPermit,
}

impl Readable {
    fn of(grants: &Grants, path: &str) -> Result<Self, Error> {
        let path = absolute(path).map_err(Error::Invalid)?;
        let permit = grants.permit_read(&plugin(), &path).map_err(|refused| Error::Denied(denial(&refused)))?;
        Ok(Self { path, permit })
    }

    fn node<'w>(&self, world: &'w World) -> Result<&'w Node, Error> {
        world.tree.find(&self.path).map_err(|missing| match missing {
            Missing::Nothing => Error::NotFound(shown(&self.path)),
            Missing::Blocked => Error::NotDirectory(shown(&self.path)),
        })
    }

    fn content<'w>(&self, world: &'w World) -> Result<&'w [u8], Error> {
        match self.node(world)? {
            Node::Folder => Err(Error::IsDirectory(shown(&self.path))),
            Node::File { content, .. } => Ok(content),
        }
    }
}

fn reading<T>(function: &str, path: &str, work: impl FnOnce(&World, Readable) -> Result<T, Error>) -> Result<T, Error> {
    ask(function, |world, grants| work(world, Readable::of(grants, path)?))
}

/// Whether something may be read by these grants; for where a program runs.
pub(super) fn may_read(grants: &Grants, path: &Path) -> Result<(), crate::bindings::host::cap::types::Denial> {
    grants.permit_read(&plugin(), path).map(drop).map_err(|refused| denial(&refused))
}

fn kind(node: &Node) -> Kind {
    match node {
        Node::Folder => Kind::Directory,
        Node::File { .. } => Kind::File,
    }
}

fn size(node: &Node) -> u64 {
    match node {
        Node::Folder => 0,
        Node::File { content, .. } => content.len() as u64,
    }
}

fn modified(node: &Node) -> Option<u64> {
    match node {
        Node::Folder => None,
        Node::File { modified, .. } => Some(*modified),
    }
}

/// The files of a walk, batch after batch.
struct Collected<'o> {
    options: &'o WalkOptions,
    is_found: Option<IsFound<'o>>,
    batches: Vec<Batch>,
    summary: WalkSummary,
}

impl<'o> Collected<'o> {
    fn new(options: &'o WalkOptions, is_found: Option<IsFound<'o>>) -> Self {
        let summary = WalkSummary { files: 0, too_large: 0, unreadable: 0, denied: 0 };
        Self { options, is_found, batches: vec![empty()], summary }
    }

    fn visit(&mut self, world: &World, at: &Readable, globs: &Globs, rules: Option<&Rules>) {
        let mut found = Vec::new();
        let mut folders = vec![(at.path.clone(), 0_u32)];
        let is_file = matches!(world.tree.find(&at.path), Ok(Node::File { .. }));
        if is_file {
            folders.clear();
            found.push(at.path.clone());
        }
        while let Some((folder, depth)) = folders.pop() {
            if self.options.max_depth.is_some_and(|most| depth >= most) {
                continue;
            }
            for (path, node) in world.tree.children(&folder) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let is_folder = matches!(node, Node::Folder);
                if name == ".git"
                    || (!self.options.hidden && name.starts_with('.'))
                    || rules.is_some_and(|rules| rules.name(path, is_folder))
                {
                    continue;
                }
                if at.permit.denies(path) {
                    self.summary.denied += 1;
                } else if is_folder {
                    folders.push((path.to_owned(), depth + 1));
                } else {
                    found.push(path.to_owned());
                }
            }
        }
        // Unsorted means no order that a tool could rely on.
        found.sort();
        if !self.options.sorted {
            found.reverse();
        }
        let start = if is_file { at.path.parent().unwrap_or(Path::new("/")) } else { at.path.as_path() };
        for path in found {
            let relative = path.strip_prefix(start).unwrap_or(&path);
            if let Ok(Node::File { content, modified }) = world.tree.find(&path)
                && globs.take(relative)
            {
                self.take(&path, content, *modified);
            }
        }
    }

    fn take(&mut self, path: &Path, content: &[u8], modified: u64) {
        let is_read = self.options.contents || self.is_found.is_some();
        if is_read && content.len() as u64 > self.options.max_file_size.min(MAX_WHOLE) {
            self.summary.too_large += 1;
            return;
        }
        if self.is_found.is_some_and(|is_found| !is_found(content)) {
            return;
        }
        if self
            .batches
            .last()
            .is_none_or(|last| last.contents.len() >= BATCH_BYTES || last.name_ends.len() >= BATCH_FILES)
        {
            self.batches.push(empty());
        }
        let Some(batch) = self.batches.last_mut() else { return };
        let end = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a batch of a test fits into 4 GiB");
        batch.names.extend_from_slice(shown(path).as_bytes());
        batch.name_ends.push(end(&batch.names));
        if self.options.contents {
            batch.contents.extend_from_slice(content);
            batch.content_ends.push(end(&batch.contents));
        } else {
            batch.sizes.push(content.len() as u64);
            batch.modified.push(modified);
        }
    }

    fn walk(self) -> Walk {
        let mut batches = self.batches;
        batches.retain(|batch| !batch.name_ends.is_empty());
        Walk { batches: RefCell::new(batches.into_iter()), summary: RefCell::new(self.summary) }
    }
}

fn empty() -> Batch {
    Batch {
        names: Vec::new(),
        name_ends: Vec::new(),
        contents: Vec::new(),
        content_ends: Vec::new(),
        sizes: Vec::new(),
        modified: Vec::new(),
    }
}

/// Which files are wanted, by their path beneath the start.
struct Globs {
    wanted: Option<GlobSet>,
    unwanted: GlobSet,
}

impl Globs {
    fn new(options: &WalkOptions) -> Result<Self, Error> {
        if options.globs.len() > MAX_GLOBS {
            return Err(Error::Invalid(format!("{} globs are over the limit of {MAX_GLOBS}", options.globs.len())));
        }
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut any = false;
        for text in &options.globs {
            let (set, pattern) = match text.strip_prefix('!') {
                Some(pattern) => (&mut unwanted, pattern),
                None => {
                    any = true;
                    (&mut wanted, text.as_str())
                }
            };
            let pattern = pattern.trim_start_matches("./");
            let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
            let glob = GlobBuilder::new(&anywhere)
                .literal_separator(true)
                .case_insensitive(options.globs_ignore_case)
                .build()
                .map_err(|error| Error::Invalid(format!("invalid glob `{text}`: {}", error.kind())))?;
            set.add(glob);
        }
        let build = |set: GlobSetBuilder| set.build().map_err(|error| Error::Invalid(error.to_string()));
        Ok(Self { wanted: if any { Some(build(wanted)?) } else { None }, unwanted: build(unwanted)? })
    }

    fn take(&self, relative: &Path) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(relative)) && !self.unwanted.is_match(relative)
    }
}

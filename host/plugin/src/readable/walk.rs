//! A walk: many files with one host call, read on other threads while the guest works on the previous batch.
//!
//! One thread for each core walks and reads; each fills a batch of its own and sends it through a bounded channel. A
//! small tree is read on one, which is faster than waiting for several ([`FEW`]). A guest that stops asking pauses the
//! threads, since the channel is full; dropping the walk ends them, since the channel is closed.
//!
//! The names come from the `ignore` crate, which walks by path. The bytes do not: the kernel opens each file beneath
//! the folder that was opened when the walk began, so a folder that is swapped for a link during the walk yields
//! nothing from outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use host_capability::ReadPermit;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use tokio::sync::mpsc;

use super::found::{beneath, folder_of};
use super::ignored::{Rules, Verdict};
use super::texts::Texts;
use super::{Readable, bounded, milliseconds};
use crate::bindings::fs_read::{Batch, Error, WalkOptions, WalkSummary};
use crate::limits::MAX_WHOLE;
use crate::workspace::real_path;

/// The size at which a batch is sent, in bytes. Large enough that the cost of a call vanishes, small enough to stay in
/// the cache and to keep the guest busy early.
const BATCH_BYTES: usize = 1 << 20;
/// Room after [`BATCH_BYTES`] for the file that fills the batch; a larger one makes it grow.
const BATCH_ROOM: usize = 256 << 10;
/// Room for one read of a file that reports no size.
const LEAST_READ: usize = 16 << 10;
/// The number of files at which a batch is sent.
const BATCH_FILES: usize = 4_096;
/// The most batches that wait for the guest. Protects memory: each holds at most [`BATCH_BYTES`] and one more file.
const WAITING: usize = 4;
/// The most globs of one walk. Protects the matcher.
const MAX_GLOBS: usize = 1_000;
/// How much of a glob that is not taken is shown, in characters. Protects the model's context.
const SHOWN: usize = 200;
/// The most threads that one walk gets: more do not read faster from one disk.
const MAX_THREADS: usize = 12;

// The threads of a walk look for work and sleep for a millisecond where they find none (`ignore::WalkParallel`): ten
// times as long as it takes to walk 20 files. A larger tree is begun twice, which is 1 % of a walk over 20,000 files.
/// The most entries of a tree that is walked on one thread.
const FEW: usize = 100;
/// The most bytes that are read in such a walk.
const FEW_BYTES: u64 = 1 << 20;

/// A running walk.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated bindings name it")]
pub struct Walk {
    batches: mpsc::Receiver<Batch>,
    counts: Arc<Counts>,
}

/// What the files of a walk must contain: one of the texts.
pub(crate) struct Search {
    pub(crate) texts: Vec<Vec<u8>>,
    pub(crate) ignore_case: bool,
}

#[derive(Debug, Default)]
struct Counts {
    files: AtomicU64,
    too_large: AtomicU64,
    unreadable: AtomicU64,
    denied: AtomicU64,
}

/// What all threads of a walk share.
struct Plan {
    permit: ReadPermit,
    /// The folder that the walk begins in, open.
    folder: Dir,
    /// The real path of that folder; the names that the walker returns start with it.
    start: PathBuf,
    /// The path of that folder as the guest sees it.
    shown: PathBuf,
    /// A walk over a single file: its name in the folder.
    only: Option<PathBuf>,
    globs: Globs,
    /// The project's ignore rules, if the walk respects them.
    rules: Option<Arc<Rules>>,
    /// What a file must contain, if this is a search.
    texts: Option<Texts>,
    contents: bool,
    max_file_size: u64,
    counts: Arc<Counts>,
    out: mpsc::Sender<Batch>,
}

impl Walk {
    /// Begins a walk; returns once its threads are started.
    pub(crate) fn begin(at: Readable, options: WalkOptions, search: Option<Search>) -> Result<Self, Error> {
        let file = at.open()?;
        let globs = Globs::new(&options)?;
        let texts = search.map(|Search { texts, ignore_case }| Texts::new(texts, ignore_case)).transpose()?;
        let about = at.about(&file)?;
        // The walk goes by path, and only the real one is the folder that was opened.
        let start = real_path(&file, &at.absolute).map_err(|error| at.failed(&error))?;
        let (folder, start, shown, only) = if about.is_dir() {
            (Dir::from_std_file(file.into_std()), start, at.absolute.clone(), None)
        } else if about.is_file() {
            let (Some(parent), Some(name)) = (start.parent(), start.file_name()) else {
                return Err(Error::Invalid(format!("`{}` has no folder", at.shown())));
            };
            // The folder of the one file; which file it is was checked when that was opened.
            let folder = Dir::open_ambient_dir(parent, cap_std::ambient_authority());
            let folder = folder.map_err(|error| at.failed(&error))?;
            let shown = at.absolute.parent().unwrap_or(Path::new("/")).to_owned();
            (folder, parent.to_owned(), shown, Some(PathBuf::from(name)))
        } else {
            return Err(Error::Invalid(format!("`{}` is neither a folder nor a regular file", at.shown())));
        };
        let (out, batches) = mpsc::channel(WAITING);
        let counts = Arc::new(Counts::default());
        // A file that is named is read even where rules leave it out.
        let rules = (options.respect_ignore && only.is_none()).then(|| Arc::new(Rules::at(&start)));
        let plan = Plan {
            shown: PathBuf::from(at.workspace.shown(&shown)),
            permit: at.permit,
            folder,
            start,
            only,
            globs,
            rules,
            texts,
            contents: options.contents,
            max_file_size: options.max_file_size.min(MAX_WHOLE),
            counts: Arc::clone(&counts),
            out,
        };
        std::thread::Builder::new()
            .name("walk".to_owned())
            .spawn(move || plan.run(&options))
            .map_err(|error| Error::Io(format!("no thread for the walk: {error}")))?;
        Ok(Self { batches, counts })
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Batch>, Error> {
        Ok(self.batches.recv().await)
    }

    pub(crate) fn summary(&self) -> WalkSummary {
        WalkSummary {
            files: self.counts.files.load(Ordering::Relaxed),
            too_large: self.counts.too_large.load(Ordering::Relaxed),
            unreadable: self.counts.unreadable.load(Ordering::Relaxed),
            denied: self.counts.denied.load(Ordering::Relaxed),
        }
    }
}

impl Plan {
    fn run(self, options: &WalkOptions) {
        let in_turn = || self.builder(options, Some(self.permit.clone()));
        if options.sorted || self.only.is_some() {
            self.take_all(in_turn().sort_by_file_path(Ord::cmp).build());
        } else if let Some(few) = self.few(in_turn().build()) {
            self.take_all(few.into_iter());
        } else {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
            self.builder(options, None).threads(threads).build_parallel().visit(&mut Readers(&self));
        }
        // The guest hears of the end when the plan, and with it the last sender, is dropped.
        self.count_rules();
    }

    fn take_all(&self, entries: impl Iterator<Item = Result<DirEntry, ignore::Error>>) {
        let mut reader = Reader::new(self);
        for entry in entries {
            if matches!(reader.take(entry), WalkState::Quit) {
                return;
            }
        }
    }

    /// Returns the entries of a tree that is read faster on one thread; `None` if it is larger.
    fn few(&self, walk: ignore::Walk) -> Option<Vec<Result<DirEntry, ignore::Error>>> {
        let is_read = self.contents || self.texts.is_some();
        let (mut few, mut bytes) = (Vec::new(), 0_u64);
        for entry in walk {
            if let Ok(entry) = &entry {
                let kind = entry.file_type();
                if is_read && kind.is_some_and(|kind| kind.is_file()) {
                    bytes = bytes.saturating_add(entry.metadata().map_or(0, |about| about.len()));
                }
            }
            few.push(entry);
            if few.len() > FEW || bytes > FEW_BYTES {
                return None;
            }
        }
        Some(few)
    }

    /// Appends the bytes of a file. `None` if it is too large or cannot be read, which is counted.
    fn read(&self, relative: &Path, bytes: &mut Vec<u8>) -> Option<()> {
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for a writer, for ever.
        options.read(true).custom_flags(crate::workspace::NONBLOCK | NO_FOLLOW);
        let read = self.folder.open_with(relative, &options).and_then(|file| {
            let file = file.into_std();
            let about = file.metadata()?;
            // Asked of the open file: its name may lead to another one by now.
            if !about.is_file() {
                return Err(std::io::ErrorKind::InvalidInput.into());
            }
            if about.len() > self.max_file_size {
                return Ok(None);
            }
            // As many bytes as the file has, so that its end needs no second read. A file that grows meanwhile had this
            // length when it was opened; one that reports no length may be a virtual file of the kernel's, which is
            // read to find out.
            let length = if about.len() == 0 { self.max_file_size } else { about.len() };
            bytes.reserve(usize::try_from(about.len()).unwrap_or(0));
            append(&file, length, bytes).map(Some)
        });
        let count = match read {
            Ok(Some(())) => return Some(()),
            Ok(None) => &self.counts.too_large,
            Err(_) => &self.counts.unreadable,
        };
        // Counted, so that a search says what it left out and is not taken for complete.
        count.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Counts the files with rules that could not be used.
    fn count_rules(&self) {
        let unreadable = self.rules.as_ref().map_or(0, |rules| rules.unreadable());
        self.counts.unreadable.fetch_add(unreadable, Ordering::Relaxed);
    }

    /// With a permit, the walk does not enter folders that it denies. The threads of a large walk find out themselves.
    fn builder(&self, options: &WalkOptions, permit: Option<ReadPermit>) -> WalkBuilder {
        let root = self.only.as_ref().map_or_else(|| self.start.clone(), |name| self.start.join(name));
        let mut builder = WalkBuilder::new(&root);
        // The crate's own rules would be read without a limit. Names that a rule takes in are not hidden.
        let rules = self.rules.clone();
        builder
            // Ours are bounded and follow no links.
            .standard_filters(false)
            .hidden(rules.is_none() && !options.hidden)
            .follow_links(false)
            .max_depth(options.max_depth.map(|depth| depth as usize));
        let hides = !options.hidden;
        builder.filter_entry(move |entry| {
            let is_denied = |folder| permit.as_ref().is_some_and(|permit| permit.denies(folder));
            // The start itself was permitted; what lies in a denied folder is not even listed.
            if entry.depth() > 1 && folder_of(entry.path()).is_some_and(is_denied) {
                return false;
            }
            let Some(rules) = &rules else { return entry.depth() == 0 || entry.file_name() != ".git" };
            entry.depth() == 0
                || (entry.file_name() != ".git"
                    && match rules.verdict(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir())) {
                        Verdict::Unmatched => !(hides && entry.file_name().as_encoded_bytes().starts_with(b".")),
                        Verdict::LeftOut => false,
                        Verdict::TakenIn => true,
                    })
        });
        builder
    }
}

/// Creates one reader for each thread.
struct Readers<'p>(&'p Plan);

impl<'p> ParallelVisitorBuilder<'p> for Readers<'p> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'p> {
        Box::new(Reader::new(self.0))
    }
}

/// One thread's part of the walk.
struct Reader<'p> {
    plan: &'p Plan,
    batch: Batch,
    /// The file that a search looks into.
    file: Vec<u8>,
    /// Room for small letters.
    small: Vec<u8>,
}

impl ParallelVisitor for Reader<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        self.take(entry)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<'p> Reader<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self { plan, batch: empty(plan), file: Vec::new(), small: Vec::new() }
    }

    fn take(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let plan = self.plan;
        // A walk that finds nothing sends nothing, so it would never notice that nobody waits for it.
        if plan.out.is_closed() {
            return WalkState::Quit;
        }
        // One folder without rights must not end a walk over all others.
        let Ok(entry) = entry else {
            plan.counts.unreadable.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        };
        let Some(file_type) = entry.file_type() else { return WalkState::Continue };
        let Some(relative) = beneath(entry.path(), &plan.start) else { return WalkState::Continue };
        if plan.permit.denies(entry.path()) {
            // Counted regardless of the globs: a count for each glob would reveal the names of denied files.
            plan.counts.denied.fetch_add(1, Ordering::Relaxed);
            // A denied folder is not entered: its names are denied as well.
            return if file_type.is_dir() { WalkState::Skip } else { WalkState::Continue };
        }
        if !file_type.is_file() || !plan.globs.take(relative) {
            return WalkState::Continue;
        }
        let added = match (&plan.texts, plan.contents) {
            (Some(texts), _) => self.add_found(texts, relative, &entry),
            (None, true) => self.add_contents(relative),
            (None, false) => self.add_facts(&entry),
        };
        match added {
            Some(()) => self.add_name(relative),
            None => return WalkState::Continue,
        }
        // By bytes or by number: many empty files would never fill a batch.
        let full = self.batch.contents.len() >= BATCH_BYTES || self.batch.name_ends.len() >= BATCH_FILES;
        if full && !self.flush() { WalkState::Quit } else { WalkState::Continue }
    }

    /// Reads the file to the end of the flat buffer; adds nothing if it is too large or cannot be read.
    fn add_contents(&mut self, relative: &Path) -> Option<()> {
        let before = self.batch.contents.len();
        if self.plan.read(relative, &mut self.batch.contents).is_none() {
            self.batch.contents.truncate(before);
            return None;
        }
        self.end_contents()
    }

    /// Reads the file and adds it if it contains one of the texts: with its bytes, or what is known about it.
    fn add_found(&mut self, texts: &Texts, relative: &Path, entry: &DirEntry) -> Option<()> {
        self.file.clear();
        self.plan.read(relative, &mut self.file)?;
        if !texts.are_in(&self.file, &mut self.small) {
            return None;
        }
        if !self.plan.contents {
            return self.add_facts(entry);
        }
        self.batch.contents.extend_from_slice(&self.file);
        self.end_contents()
    }

    fn end_contents(&mut self) -> Option<()> {
        let end = u32::try_from(self.batch.contents.len()).ok()?;
        self.batch.content_ends.push(end);
        Some(())
    }

    fn add_facts(&mut self, entry: &DirEntry) -> Option<()> {
        let Ok(about) = entry.metadata() else {
            self.plan.counts.unreadable.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.batch.sizes.push(about.len());
        self.batch.modified.push(about.modified().ok().and_then(milliseconds).unwrap_or(0));
        Some(())
    }

    fn add_name(&mut self, relative: &Path) {
        let shown =
            if self.plan.shown == Path::new(".") { relative.to_owned() } else { self.plan.shown.join(relative) };
        self.batch.names.extend_from_slice(shown.as_os_str().as_encoded_bytes());
        // Names of at most 4,096 files always fit in 32 bits.
        self.batch.name_ends.push(u32::try_from(self.batch.names.len()).unwrap_or(u32::MAX));
        self.plan.counts.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends the batch; returns false if the receiver is gone.
    fn flush(&mut self) -> bool {
        if self.batch.name_ends.is_empty() {
            return !self.plan.out.is_closed();
        }
        let batch = std::mem::replace(&mut self.batch, empty(self.plan));
        self.plan.out.blocking_send(batch).is_ok()
    }
}

/// Appends at most `length` bytes of a file. The standard library's reading clears the room first, which is one more
/// pass over everything that a search reads.
fn append(file: &std::fs::File, length: u64, contents: &mut Vec<u8>) -> std::io::Result<()> {
    let mut left = usize::try_from(length).unwrap_or(usize::MAX);
    while left > 0 {
        if contents.capacity() == contents.len() {
            contents.reserve(left.min(LEAST_READ));
        }
        let room = contents.spare_capacity_mut();
        let room = match room.split_at_mut_checked(left) {
            Some((wanted, _)) => wanted,
            None => room,
        };
        let count = match rustix::io::read(file, room) {
            Ok((read, _)) => read.len(),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if count == 0 {
            break;
        }
        // SAFETY: the system has written this many bytes after the end.
        unsafe { contents.set_len(contents.len() + count) };
        left -= count;
    }
    Ok(())
}

const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// Creates a batch with room for its expected content: growing step by step would copy all of it twice. Memory that is
/// not written costs nothing.
fn empty(plan: &Plan) -> Batch {
    let room = if plan.contents { BATCH_BYTES + BATCH_ROOM } else { 0 };
    Batch {
        names: Vec::new(),
        name_ends: Vec::new(),
        contents: Vec::with_capacity(room),
        content_ends: Vec::new(),
        sizes: Vec::new(),
        modified: Vec::new(),
    }
}

/// The globs that select files, by their path beneath the start.
struct Globs {
    wanted: Option<GlobSet>,
    unwanted: GlobSet,
}

impl Globs {
    fn new(options: &WalkOptions) -> Result<Self, Error> {
        // All globs become one automaton, which grows with them.
        if options.globs.len() > MAX_GLOBS {
            return Err(Error::Invalid(format!("{} globs are over the limit of {MAX_GLOBS}", options.globs.len())));
        }
        let mut wanted = GlobSetBuilder::new();
        let mut unwanted = GlobSetBuilder::new();
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
            // A glob of a few characters can expand to millions.
            bounded::check(pattern)
                .map_err(|why| Error::Invalid(format!("invalid glob `{}`: {why}", host_text::excerpt(text, SHOWN))))?;
            // As in ignore files: a glob without a slash matches in every folder.
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

#[cfg(test)]
mod tests {
    use host_capability::{Capability, Grants, PluginName, Scope};
    use host_text::Wording;

    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn walk_of_a_small_tree_and_of_a_large_one_count_alike() {
        for (files, size) in [(0, 0), (3, 10), (FEW + 50, 1), (3, FEW_BYTES as usize)] {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().canonicalize().expect("a path");
            for name in ["secret/deep", "open"] {
                std::fs::create_dir_all(root.join(name)).expect("made");
            }
            std::fs::write(root.join("secret/a"), "").expect("written");
            for file in 0..files {
                std::fs::write(root.join(format!("open/{file}")), vec![b'x'; size]).expect("written");
            }
            let workspace = Arc::new(Workspace::new(root.clone()));
            let grants = Grants::none().with(Scope::parse(Capability::FsRead, ".,!secret", &root).expect("a scope"));
            let at = Readable::new(&workspace, &grants, &PluginName::new("p"), ".", Wording::default())
                .expect("it is granted");
            let options = WalkOptions {
                root: ".".to_owned(),
                globs: Vec::new(),
                globs_ignore_case: false,
                respect_ignore: true,
                hidden: true,
                max_depth: None,
                contents: true,
                max_file_size: u64::MAX,
                sorted: false,
            };
            let mut walk = Walk::begin(at, options, None).expect("it begins");
            let mut bytes = 0;
            while let Some(batch) = walk.batches.blocking_recv() {
                bytes += batch.contents.len();
            }
            let summary = walk.summary();
            assert_eq!(
                (summary.files, summary.denied, summary.unreadable, bytes),
                (files as u64, 1, 0, files * size),
                "{files} files of {size} bytes"
            );
        }
    }

    #[test]
    fn walk_that_finds_nothing_ends_when_nothing_waits_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        std::fs::write(root.join("a.txt"), "").expect("written");
        let workspace = Arc::new(Workspace::new(root.clone()));
        let grants = Grants::none().with(Scope::parse(Capability::FsRead, ".", &root).expect("a scope"));
        let at =
            Readable::new(&workspace, &grants, &PluginName::new("p"), ".", Wording::default()).expect("it is granted");
        let globs = vec!["*.none".to_owned()];
        let options = WalkOptions {
            root: ".".to_owned(),
            globs,
            globs_ignore_case: false,
            respect_ignore: false,
            hidden: true,
            max_depth: None,
            contents: false,
            max_file_size: 0,
            sorted: true,
        };
        let (out, waiting) = mpsc::channel(WAITING);
        let plan = Plan {
            permit: at.permit,
            folder: Dir::open_ambient_dir(&root, cap_std::ambient_authority()).expect("opened"),
            shown: root.clone(),
            start: root,
            only: None,
            globs: Globs::new(&options).expect("globs"),
            rules: None,
            texts: None,
            contents: false,
            max_file_size: 0,
            counts: Arc::default(),
            out,
        };
        let entry = || plan.builder(&options, None).build().last().expect("a file");
        assert!(matches!(Reader::new(&plan).take(entry()), WalkState::Continue));
        drop(waiting);
        assert!(matches!(Reader::new(&plan).take(entry()), WalkState::Quit));
    }
}

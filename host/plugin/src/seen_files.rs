//! The files of a conversation as its model last saw them.
//!
//! The rule: a call does not change a file that somebody else changed since the model last saw it, so that nothing that
//! the user wrote meanwhile is lost. The model gets the difference, with which it has seen the file, and can make the
//! call again.
//!
//! Promises: what calls, their programs and the hooks behind them changed is nobody else's change; a failed call has
//! shown the model nothing. What a model sees in another way (through a program, or as part of a file that it does not
//! read whole) is not known here: such a file counts as not seen, and may be changed.
//!
//! Deliberately not here: which files are read and written, and keeping what a change replaces (`host-undo`).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use host_message::{Output, OutputPart};
use host_undo::{Digest, Recorder};

use crate::difference::difference;
use crate::lock::lock;
use crate::open_files;

/// The largest text that is kept to show a difference, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// The most bytes of such texts. Protects memory; without its text a file's change is still noticed.
const MAX_TEXTS: usize = 4 << 20;

/// The most files that are remembered. Protects memory.
const MAX_FILES: usize = 100_000;

/// The most files that one call is known to have read. Protects memory and time: a plugin can read any number.
const MAX_READ: usize = 1_000;

/// The longest difference that is shown, in bytes. Protects the model's context: it can read the file instead.
const MAX_DIFFERENCE: usize = 4 << 10;

/// The most bytes and files of a walk that may turn out to be in a call's result. Protects the time and memory of a
/// walk that only looks for something.
const MAX_WALKED: (usize, usize) = (2 << 20, 500);

/// How far the time of a change may be behind the clock: file systems take the time of the last tick.
const TICK: Duration = Duration::from_millis(10);

/// The files of one conversation, as its model last saw them.
#[derive(Debug, Default)]
pub struct SeenFiles {
    files: Mutex<Files>,
    past: Option<PastFiles>,
}

/// What the model saw of files in a part of the conversation that another process had.
#[derive(Clone, Debug)]
pub struct PastFiles {
    /// When a call last named a file, by the file's absolute path.
    pub named: HashMap<PathBuf, SystemTime>,
    /// When that part ended.
    pub until: SystemTime,
}

#[derive(Debug, Default)]
struct Files {
    /// Each with its number in the order in which they were seen.
    seen: HashMap<PathBuf, (Seen, u64)>,
    /// Those whose texts are kept, by their numbers.
    with_text: BTreeMap<u64, PathBuf>,
    /// The number of the next one.
    next: u64,
    size: usize,
}

/// How a file was when the model last saw it.
#[derive(Clone, Debug)]
enum Seen {
    Content {
        digest: Digest,
        text: Option<Arc<str>>,
    },
    /// As it was then: too large to be known by its content.
    At(SystemTime),
}

/// What is in the place of a file now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current<'t> {
    pub(crate) content: &'t [u8],
    /// When anything about it was last changed.
    pub(crate) changed: SystemTime,
}

/// What somebody else changed.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The difference, if it is known and short.
    pub(crate) difference: Option<String>,
}

impl SeenFiles {
    /// Those of a conversation that continues.
    pub fn continued(past: PastFiles) -> Self {
        Self { past: Some(past), ..Self::default() }
    }

    /// Takes note that the model knows that the file, whose path is real, has this content.
    pub(crate) fn saw(&self, path: PathBuf, content: &[u8]) {
        let text = std::str::from_utf8(content).ok().filter(|text| text.len() <= MAX_TEXT).map(Arc::from);
        self.put(path, Seen::Content { digest: Digest::of(content), text });
    }

    fn put(&self, path: PathBuf, seen: Seen) {
        let mut files = lock(&self.files);
        // What is not kept counts as not seen, which only means that it may be changed.
        if files.seen.len() >= MAX_FILES && !files.seen.contains_key(&path) {
            return;
        }
        let number = files.next;
        files.next += 1;
        if let Seen::Content { text: Some(text), .. } = &seen {
            files.size += text.len();
            files.with_text.insert(number, path.clone());
        }
        if let Some((Seen::Content { text: Some(before), .. }, earlier)) = files.seen.insert(path, (seen, number)) {
            files.size -= before.len();
            files.with_text.remove(&earlier);
        }
        // The oldest text goes, and its digest stays: a change is still noticed, without a difference to show.
        while files.size > MAX_TEXTS
            && let Some((_, oldest)) = files.with_text.pop_first()
        {
            if let Some((Seen::Content { text, .. }, _)) = files.seen.get_mut(&oldest)
                && let Some(text) = text.take()
            {
                files.size -= text.len();
            }
        }
    }

    /// Returns what somebody else changed in a file since the model last saw it. `changes` has what this session
    /// changed. If the difference is known, the model has seen the file from now on: it gets it.
    pub(crate) fn changed(&self, path: &Path, now: Current<'_>, changes: Option<&Recorder>) -> Option<Changed> {
        let seen = lock(&self.files).seen.get(path).map(|(seen, _)| seen.clone());
        let past = || {
            let past = self.past.as_ref()?;
            Some(Seen::At(past.named.get(path).copied().unwrap_or(past.until)))
        };
        let seen = seen.or_else(past)?;
        // A formatter that ran behind a call changed the file as well; that is not a change of the user's.
        let is_own = |from: Option<&Digest>| {
            changes.is_some_and(|changes| changes.made(path, from, &Digest::of(now.content)).unwrap_or(false))
        };
        let text = match seen {
            Seen::Content { digest, .. } if digest == Digest::of(now.content) || is_own(Some(&digest)) => return None,
            // Times are coarse: one that is equal counts as seen.
            Seen::At(time) if now.changed <= time || is_own(None) => return None,
            Seen::Content { text, .. } => text,
            Seen::At(_) => None,
        };
        let texts = text.as_deref().zip(std::str::from_utf8(now.content).ok());
        // An editor may have shown the file with other line ends than it has.
        if texts.is_some_and(|(seen, now)| open_files::normal(seen) == open_files::normal(now)) {
            return None;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let difference = texts.map(|(seen, now)| difference(&name, seen, now));
        // A difference that is not shown leaves the file unseen, so that the call stays denied until the model reads
        // it.
        let difference = difference.filter(|difference| difference.len() <= MAX_DIFFERENCE);
        if difference.is_some() {
            // The model gets the difference with the error, so the next attempt is about what it has seen.
            self.saw(path.to_owned(), now.content);
        }
        Some(Changed { difference })
    }

    /// Takes note of what a call that succeeded showed the model.
    pub(crate) fn take(&self, looked: Looked, output: &Output) {
        for (path, seen) in looked.read {
            // By the real path: a link and its target are one file.
            if let Ok(real) = std::fs::canonicalize(path) {
                self.put(real, seen);
            }
        }
        let Some(walked) = looked.walked else { return };
        let texts = output.content.iter().filter_map(|part| match part {
            OutputPart::Text(text) => Some(text.as_str()),
            OutputPart::Data(_) | OutputPart::Link { .. } => None,
        });
        let shown = texts.collect::<Vec<_>>().join("\n");
        // They are shown in the order in which they were handed over.
        let mut from = 0;
        for (path, content) in walked {
            // Plugins may drop the blank end of a file.
            let whole = content.trim_ascii();
            let rest = shown.as_bytes().get(from..).unwrap_or_default();
            // A file counts as seen only if all of it is in the output: a plugin can read it and show a part.
            let found = if whole.is_empty() { None } else { memchr::memmem::find(rest, whole) };
            if let Some(at) = found
                && let Ok(real) = std::fs::canonicalize(path)
            {
                // Behind the last one, so that two files with one content are not both found at the first place.
                from += at + whole.len();
                self.saw(real, &content);
            }
        }
    }
}

/// What one call read, which the model sees if the call succeeds.
#[derive(Debug)]
pub(crate) struct Looked {
    /// By absolute path.
    read: HashMap<PathBuf, Seen>,
    /// The files of its walks; `None` if they are too many, or the call only looks for something.
    walked: Option<Vec<(PathBuf, Vec<u8>)>>,
    /// The bytes of the texts that are kept of both.
    size: usize,
}

impl Default for Looked {
    fn default() -> Self {
        Self { read: HashMap::new(), walked: Some(Vec::new()), size: 0 }
    }
}

impl Looked {
    /// It read a whole file.
    pub(crate) fn whole(&mut self, path: PathBuf, content: &[u8]) {
        let has_room = content.len() <= MAX_TEXT && self.size + content.len() <= MAX_TEXTS;
        let text: Option<Arc<str>> = std::str::from_utf8(content).ok().filter(|_| has_room).map(Arc::from);
        self.size += text.as_ref().map_or(0, |text| text.len());
        self.put(path, Seen::Content { digest: Digest::of(content), text });
    }

    fn put(&mut self, path: PathBuf, seen: Seen) {
        if self.read.len() < MAX_READ || self.read.contains_key(&path) {
            self.read.insert(path, seen);
        }
    }

    /// It begins to read a file in parts.
    pub(crate) fn part(&mut self, path: PathBuf) {
        if !self.read.contains_key(&path) {
            self.put(path, Seen::At(SystemTime::now() - TICK));
        }
    }

    /// It changed what it may have read: what is there now, it knows by having written it.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.read.remove(path);
    }

    /// A walk handed this file over.
    pub(crate) fn walked(&mut self, path: PathBuf, content: &[u8]) {
        let (most, files) = MAX_WALKED;
        let Some(walked) = &mut self.walked else { return };
        self.size += content.len();
        if self.size > most || walked.len() == files {
            self.walked = None;
        } else {
            walked.push((path, content.to_vec()));
        }
    }

    /// It looks for something in files, of which the model sees only what was found.
    pub(crate) fn searches(&mut self) {
        self.walked = None;
    }

    /// Whether files of walks are of interest.
    pub(crate) fn wants_walked(&self) -> bool {
        self.walked.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(content: &str) -> Current<'_> {
        Current { content: content.as_bytes(), changed: SystemTime::now() }
    }

    // promise files.seen: A call changes no file that has changed since the model last read it; the model gets the
    //   difference.
    #[test]
    fn seen_file_that_somebody_changed_is_reported_once_with_the_difference() {
        let (files, path) = (SeenFiles::default(), Path::new("/w/a"));
        // What was never seen may be changed.
        assert!(files.changed(path, now("one\n"), None).is_none());
        files.saw(path.to_owned(), b"one\n");
        assert!(files.changed(path, now("one\n"), None).is_none());
        let changed = files.changed(path, now("one\nmine\n"), None).expect("it changed");
        assert_eq!(changed.difference.as_deref(), Some("--- a/a\n+++ b/a\n@@ -1,0 +2,1 @@\n+mine\n"));
        // With the difference the model has seen it.
        assert!(files.changed(path, now("one\nmine\n"), None).is_none());
        // Only the ends of its lines: an editor showed it.
        assert!(files.changed(path, now("one\r\nmine\r\n"), None).is_none());
        // Of what cannot be shown the model has to read the file.
        for large in ["x".repeat(MAX_DIFFERENCE), "\u{0}".repeat(MAX_TEXT + 1)] {
            for _ in 0..2 {
                assert!(files.changed(path, now(&large), None).is_some_and(|changed| changed.difference.is_none()));
            }
        }
    }

    #[test]
    fn seen_file_of_an_earlier_process_is_known_by_the_time_of_its_change() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let named = HashMap::from([(PathBuf::from("/w/named"), at(100))]);
        let files = SeenFiles::continued(PastFiles { named, until: at(200) });
        let changed = |path: &str, seconds| {
            let current = Current { content: b"x", changed: at(seconds) };
            files.changed(Path::new(path), current, None).is_some()
        };
        for (path, seconds, is_changed) in [
            ("/w/named", 100, false),
            ("/w/named", 101, true),
            ("/w/other", 101, false),
            ("/w/other", 200, false),
            ("/w/other", 201, true),
        ] {
            assert_eq!(changed(path, seconds), is_changed, "{path} {seconds}");
        }
        files.saw("/w/named".into(), b"x");
        assert!(!changed("/w/named", 300));
    }

    #[test]
    fn call_that_reads_many_files_keeps_little_of_them() {
        let mut looked = Looked::default();
        for number in 0..2 * MAX_READ {
            looked.whole(format!("/w/{number}").into(), "x".repeat(MAX_TEXT).as_bytes());
            looked.part(format!("/p/{number}").into());
        }
        assert!(looked.read.len() == MAX_READ && looked.size <= MAX_TEXTS, "{} {}", looked.read.len(), looked.size);
        // A walk has a limit of its own, and takes no more of this one.
        looked.walked("/w/more".into(), b"x");
        assert!(!looked.wants_walked());
    }

    #[test]
    fn texts_of_seen_files_are_bounded_and_changes_are_noticed_without_them() {
        let files = SeenFiles::default();
        let content = |number: usize| format!("{number}{}", "x".repeat(MAX_TEXT - 10));
        let count = MAX_TEXTS / (MAX_TEXT - 10) + 5;
        // Again and again, which takes no more room.
        for number in (0..count).chain(0..3).chain(0..3) {
            files.saw(format!("/w/{number}").into(), content(number).as_bytes());
        }
        {
            let files = lock(&files.files);
            assert!(files.size <= MAX_TEXTS && files.seen.len() == count, "{} {}", files.size, files.seen.len());
            let texts = files.seen.values().filter_map(|(seen, _)| match seen {
                Seen::Content { text, .. } => text.as_ref().map(|text| text.len()),
                Seen::At(_) => None,
            });
            let texts: Vec<usize> = texts.collect();
            assert_eq!((texts.iter().sum::<usize>(), texts.len()), (files.size, files.with_text.len()));
        }
        for number in 0..count {
            let path = PathBuf::from(format!("/w/{number}"));
            assert!(files.changed(&path, now(&content(number)), None).is_none());
            assert!(files.changed(&path, now(&format!("{}y", content(number))), None).is_some());
        }
    }
}

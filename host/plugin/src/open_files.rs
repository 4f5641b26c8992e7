//! Files that the user has open in an editor, whose texts may differ from those on the disk.
//!
//! The rule: a file that a call opens by its name is read as the editor has it, if it has changes that are not saved;
//! and such a file is not written until the user saved it or undid the changes, so that nothing of the user's is lost.
//!
//! Promises: an editor is asked only about a file that the call may read, beneath the workspace, without a symbolic
//! link on the way to it, before and after the answer; what it answers is bounded in size and time; an editor that does
//! not answer leaves the file as it is on the disk. Line ends do not count as a difference: many editors have only one
//! kind. Nor does a text that a call of this process has just replaced: the editor has not loaded the new one yet.
//!
//! Deliberately not here: folders that are walked and searched, which are read from the disk, and programs, which read
//! and write it themselves.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;

use crate::digest::Digest;
use crate::limits::MAX_WHOLE;
use crate::lock::lock;

/// How long an editor may take for a text. Protects a call from an editor that does not answer.
const ANSWER: Duration = Duration::from_secs(5);

/// The most replaced texts that are remembered. Protects memory; an editor loads a file that changed within a moment.
const REPLACED: usize = 256;

/// The open files of an editor.
///
/// For the implementer: return the text that the user sees in the file at this absolute path, or `None` if it is not
/// known; an error belongs into a log. The path was checked: do not resolve it to another file. Dropping the future
/// withdraws the question.
pub trait OpenFiles: Send + Sync {
    /// Returns the text of a file.
    fn text<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Option<String>>;
}

/// The open files of the session's editor, if it has one.
#[derive(Default)]
pub(crate) struct Unsaved {
    files: OnceLock<Arc<dyn OpenFiles>>,
    /// The files that calls replaced, each with the digest of the text before.
    replaced: Mutex<VecDeque<(PathBuf, Digest)>>,
}

/// A file, and each folder on the way to it, as they were.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Unsaved {
    /// Sets the editor. A second one is ignored: a session has one.
    pub(crate) fn set(&self, files: Arc<dyn OpenFiles>) {
        self.files.set(files).ok();
    }

    /// Whether there is an editor.
    pub(crate) fn has_editor(&self) -> bool {
        self.files.get().is_some()
    }

    /// Returns the text of a file as the editor has it, if that has changes that are not saved. The caller has checked
    /// that the path may be read or written.
    pub(crate) async fn text(&self, root: &Path, path: &Path) -> Option<String> {
        let files = Arc::clone(self.files.get()?);
        // By the disk first: no text of the editor's counts for what the call may not read.
        let (before, saved) = look(root, path).await?;
        let saved = String::from_utf8(saved).ok()?;
        // An editor that hangs must not hang the call; the disk has the truth that a program would see as well.
        let text = match tokio::time::timeout(ANSWER, files.text(path)).await {
            Ok(text) => text?,
            Err(_) => {
                tracing::warn!(file = %path.display(), "the editor does not answer; the file is read from the disk");
                return None;
            }
        };
        if text.len() as u64 > MAX_WHOLE {
            tracing::warn!(file = %path.display(), "the editor's text is too large; the file is read from the disk");
            return None;
        }
        // Editors with one kind of line end would have every file as changed.
        if normal(&text) == normal(&saved) || self.was_replaced(path, &text) {
            return None;
        }
        // Once more: a link on the way since then would have the editor's text stand for another file.
        let (after, _) = look(root, path).await?;
        if before != after {
            tracing::warn!(file = %path.display(), "the file changed while the editor was asked; it is read from the disk");
            return None;
        }
        Some(text)
    }

    /// Remembers that a call replaced this text, which the editor may still have.
    pub(crate) fn replaces(&self, path: &Path, before: &[u8]) {
        if !self.has_editor() {
            return;
        }
        let Ok(before) = std::str::from_utf8(before) else { return };
        let mut replaced = lock(&self.replaced);
        replaced.push_back((path.to_owned(), Digest::of(normal(before).as_bytes())));
        if replaced.len() > REPLACED {
            replaced.pop_front();
        }
    }

    fn was_replaced(&self, path: &Path, text: &str) -> bool {
        let digest = Digest::of(normal(text).as_bytes());
        lock(&self.replaced).iter().any(|(replaced, before)| replaced == path && *before == digest)
    }
}

impl fmt::Debug for Unsaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsaved").field("has_editor", &self.has_editor()).finish_non_exhaustive()
    }
}

/// The message for a call that would write such a file.
pub(crate) fn refusal(shown: &str) -> String {
    format!(
        "`{shown}` has changes in the user's editor that are not saved, so it was not written. Ask the user to save the \
         file or to undo the changes, and read it again."
    )
}

/// A text without what editors change by themselves.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// Reads a regular file beneath the root that is reached without a symbolic link; `None` if it is none.
async fn look(root: &Path, path: &Path) -> Option<(Vec<Stamp>, Vec<u8>)> {
    let (root, path) = (root.to_owned(), path.to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        let stamps = stamps(&root, &path)?;
        let read = host_files::read_found(&path, MAX_WHOLE).ok()?;
        Some((stamps, read))
    });
    looked.await.ok()?
}

fn stamps(root: &Path, path: &Path) -> Option<Vec<Stamp>> {
    let beneath = path.strip_prefix(root).ok().filter(|beneath| !beneath.as_os_str().is_empty())?;
    let mut at = root.to_owned();
    let mut stamps = Vec::new();
    for name in beneath.components() {
        let folder = std::fs::symlink_metadata(&at).ok().filter(std::fs::Metadata::is_dir)?;
        stamps.push(stamp(&folder));
        at.push(name);
    }
    let file = std::fs::symlink_metadata(&at).ok().filter(std::fs::Metadata::is_file)?;
    stamps.push(stamp(&file));
    Some(stamps)
}

fn stamp(about: &std::fs::Metadata) -> Stamp {
    Stamp { device: about.dev(), inode: about.ino(), changed: (about.ctime(), about.ctime_nsec()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// An editor that has this text in every file, and does something before it answers.
    struct Editor<F>(&'static str, F);

    impl<F: Fn(&Path) + Send + Sync> OpenFiles for Editor<F> {
        fn text<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Option<String>> {
            (self.1)(path);
            Box::pin(async { Some(self.0.to_owned()) })
        }
    }

    fn unsaved<F: Fn(&Path) + Send + Sync + 'static>(text: &'static str, first: F) -> Unsaved {
        let unsaved = Unsaved::default();
        unsaved.set(Arc::new(Editor(text, first)));
        unsaved
    }

    fn root() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("it is there");
        (folder, root)
    }

    #[tokio::test]
    async fn open_files_text_is_the_editors_only_where_it_differs() {
        let (_folder, root) = root();
        for (saved, editor, expected) in [
            ("a\n", "b\n", Some("b\n")),
            ("a\n", "a\n", None),
            ("a\r\nb\r\n", "a\nb\n", None),
            ("\u{feff}a\n", "a\n", None),
            ("a\n", "a", Some("a")),
        ] {
            fs::write(root.join("x"), saved).expect("written");
            assert_eq!(unsaved(editor, |_| {}).text(&root, &root.join("x")).await.as_deref(), expected, "{saved:?}");
        }
        fs::write(root.join("x"), [0xff, 0xfe]).expect("written");
        assert_eq!(unsaved("b", |_| {}).text(&root, &root.join("x")).await, None, "not text");
        assert_eq!(Unsaved::default().text(&root, &root.join("x")).await, None, "no editor");
    }

    // promise acp.buffers: An editor is never asked about a file outside of the workspace or behind a symbolic link,
    //   even one that appears while it is asked.
    #[tokio::test]
    async fn open_files_editor_is_not_asked_about_what_is_elsewhere() {
        let (_folder, root) = root();
        let (_other, outside) = self::root();
        fs::write(outside.join("secret"), "s").expect("written");
        symlink(outside.join("secret"), root.join("link")).expect("a link");
        symlink(&outside, root.join("folder")).expect("a link");
        fs::create_dir(root.join("sub")).expect("made");
        let asked = || unsaved("b", |path| panic!("{path:?} was asked about"));
        for path in ["link", "folder/secret", "sub", "missing", "../x"] {
            assert_eq!(asked().text(&root, &root.join(path)).await, None, "{path}");
        }
        assert_eq!(asked().text(&root, &outside.join("secret")).await, None);
        assert_eq!(asked().text(&root, &root).await, None);
    }

    // promise acp.buffers
    #[tokio::test]
    async fn open_files_answer_is_not_used_if_the_file_was_swapped_meanwhile() {
        let (_folder, root) = root();
        fs::create_dir(root.join("sub")).expect("made");
        let file = root.join("sub/x");
        fs::write(&file, "a").expect("written");
        let swaps = |path: &Path| {
            fs::rename(path, path.with_extension("kept")).expect("moved");
            symlink("/etc/passwd", path).expect("a link");
        };
        let and_back = move |path: &Path| {
            swaps(path);
            fs::rename(path.with_extension("kept"), path).expect("moved");
        };
        assert_eq!(unsaved("secret", and_back).text(&root, &file).await, None, "swapped and back");
        assert_eq!(unsaved("secret", swaps).text(&root, &file).await, None, "swapped");
    }

    #[tokio::test]
    async fn open_files_text_that_was_just_replaced_is_not_the_users_change() {
        let (_folder, root) = root();
        let file = root.join("x");
        fs::write(&file, "new\n").expect("written");
        let unsaved = unsaved("old\n", |_| {});
        assert_eq!(unsaved.text(&root, &file).await.as_deref(), Some("old\n"));
        unsaved.replaces(&root.join("y"), b"old\n");
        assert_eq!(unsaved.text(&root, &file).await.as_deref(), Some("old\n"), "another file was");
        unsaved.replaces(&file, b"old\r\n");
        assert_eq!(unsaved.text(&root, &file).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn open_files_editor_that_does_not_answer_is_not_waited_for() {
        struct Silent;
        impl OpenFiles for Silent {
            fn text<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Option<String>> {
                Box::pin(std::future::pending())
            }
        }
        let (_folder, root) = root();
        fs::write(root.join("x"), "a").expect("written");
        let unsaved = Unsaved::default();
        unsaved.set(Arc::new(Silent));
        assert_eq!(unsaved.text(&root, &root.join("x")).await, None);
    }
}

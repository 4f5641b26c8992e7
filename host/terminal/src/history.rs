//! The prompts of earlier conversations, in a file of the user's own: the arrow keys bring them back.
//!
//! One JSON text a line, since a prompt has lines of its own. A prompt that begins with a space is not kept. Bounded in
//! entries and in bytes; a line that is not a JSON text is skipped. A file that cannot be written costs its entries and
//! nothing else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use host_files::Mode;

/// The most entries that are kept.
const MAX_ENTRIES: usize = 1_000;

/// The largest file that is read, and the longest entry of it, in bytes. Protects the start of a conversation.
const MAX_FILE: u64 = 4 << 20;
/// See [`MAX_FILE`].
const MAX_ENTRY: usize = 64 << 10;

/// The prompts, oldest first, and the user's position among them.
#[derive(Debug, Default)]
pub struct History {
    path: Option<PathBuf>,
    entries: Vec<String>,
    /// The entry that is shown; `None` while it is the user's own text.
    seen: Option<usize>,
    /// The text that the user had written before going back.
    own: String,
}

impl History {
    /// Opens the file and reads its entries; empty if there is no file.
    pub fn open(path: PathBuf) -> Self {
        let entries = match read(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                tracing::warn!("cannot read the prompt history `{}`: {error}", path.display());
                Vec::new()
            }
        };
        Self { path: Some(path), entries, ..Self::default() }
    }

    /// Adds a prompt. Returns why the history cannot be saved, once.
    pub(super) fn add(&mut self, text: &str) -> Option<String> {
        self.seen = None;
        let is_kept =
            !text.starts_with(' ') && text.len() <= MAX_ENTRY && self.entries.last().is_none_or(|last| last != text);
        if !is_kept {
            return None;
        }
        self.entries.push(text.to_owned());
        let path = self.path.take()?;
        match append(&path, text) {
            Ok(()) => {
                self.path = Some(path);
                None
            }
            Err(error) => Some(format!("cannot save the prompt history in `{}`: {error}", path.display())),
        }
    }

    /// Returns the previous entry that begins with what the user had written.
    pub(super) fn back(&mut self, text: &str) -> Option<&str> {
        if self.seen.is_none() {
            text.clone_into(&mut self.own);
        }
        let before = self.entries.get(..self.seen.unwrap_or(self.entries.len()))?;
        let found = before.iter().rposition(|entry| entry.starts_with(&self.own) && entry != text)?;
        self.seen = Some(found);
        self.entries.get(found).map(String::as_str)
    }

    /// Returns the next entry; at the end, the user's own text again.
    pub(super) fn forward(&mut self, text: &str) -> Option<&str> {
        let behind = self.seen? + 1;
        let mut after = self.entries.iter().enumerate().skip(behind);
        let found = after.find(|(_, entry)| entry.starts_with(&self.own) && *entry != text).map(|(at, _)| at);
        self.seen = found;
        match found {
            Some(at) => self.entries.get(at).map(String::as_str),
            None => Some(&self.own),
        }
    }

    /// Returns the entries, oldest first.
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.entries.iter().map(String::as_str)
    }

    /// Makes the shown entry the user's own text, because the user edits it.
    pub(super) fn left(&mut self) {
        self.seen = None;
    }
}

fn read(path: &Path) -> io::Result<Vec<String>> {
    let size = fs::metadata(path)?.len();
    if size > MAX_FILE {
        // No conversation wrote that much.
        rewrite(path, &[])?;
        return Ok(Vec::new());
    }
    let text = fs::read(path)?;
    let lines = text.split(|byte| *byte == b'\n');
    let mut entries: Vec<String> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let too_many = entries.len().saturating_sub(MAX_ENTRIES);
    entries.drain(..too_many);
    if too_many > 0 || size > MAX_FILE / 2 {
        while entries.iter().map(String::len).sum::<usize>() as u64 > MAX_FILE / 4 {
            entries.drain(..entries.len().div_ceil(2));
        }
        rewrite(path, &entries)?;
    }
    Ok(entries)
}

/// Replaces the file in one step, so that it is never half written.
fn rewrite(path: &Path, entries: &[String]) -> io::Result<()> {
    let text: String = entries.iter().map(|entry| line(entry)).collect();
    host_files::replace(path, text.as_bytes(), Mode::Private)
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    // One write, so that two conversations do not mix their lines.
    host_files::append_private(path)?.write_all(line(text).as_bytes())
}

fn line(text: &str) -> String {
    format!("{}\n", serde_json::Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(entries: &[&str]) -> History {
        History { entries: entries.iter().map(|entry| (*entry).to_owned()).collect(), ..History::default() }
    }

    #[test]
    fn the_arrows_go_through_what_begins_alike_and_back_to_ones_own_words() {
        let mut history = history(&["git one", "other", "git two", "git two"]);
        assert_eq!(history.back("git"), Some("git two"));
        assert_eq!(history.back("git two"), Some("git one"));
        assert_eq!(history.back("git one"), None);
        assert_eq!(history.forward("git one"), Some("git two"));
        assert_eq!(history.forward("git two"), Some("git"));
        assert_eq!(history.forward("git"), None);
        assert_eq!(history.back(""), Some("git two"));
    }

    #[test]
    fn prompt_history_is_kept_private_to_the_user_and_limited() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history");
        let mut first = History::open(path.clone());
        ["one\nline", "two", "two", " secret"].iter().for_each(|text| drop(first.add(text)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        }
        fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("opened")
            .write_all(b"no text\n\xff\n")
            .expect("written");
        assert_eq!(History::open(path.clone()).entries, ["one\nline", "two"]);
        let mut many = History::open(path.clone());
        (0..MAX_ENTRIES + 10).for_each(|n| drop(many.add(&n.to_string())));
        let again = History::open(path.clone());
        assert_eq!((again.entries.len(), again.entries[0].as_str()), (MAX_ENTRIES, "10"));
        assert_eq!(fs::read_to_string(path).expect("read").lines().count(), MAX_ENTRIES);
    }
}

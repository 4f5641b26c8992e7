//! What belongs to a session besides its facts, found by its log.
//!
//! Deliberately not here: what is in it. The journal of changed files is `host-undo`'s.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The places of what belongs to a session besides its facts. They need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts {
    log: PathBuf,
}

impl Artifacts {
    /// Those of the session with this log.
    pub fn beside(log: &Path) -> Self {
        Self { log: log.to_owned() }
    }

    /// The log itself; a store without files has none there.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The folder with the large outputs of calls.
    pub fn outputs(&self) -> PathBuf {
        self.log.with_extension("outputs")
    }

    /// Returns the file with a large output; `None` if the host gives no such name. Names come from logs: only one that
    /// the host gives is joined to a path.
    pub fn output(&self, name: &str) -> Option<PathBuf> {
        let number = name.strip_prefix("output-")?.strip_suffix(".txt")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.outputs().join(name))
    }

    /// The folder with the changed files, to undo what was done.
    pub fn undo(&self) -> PathBuf {
        self.log.with_extension("undo")
    }

    /// The file with the title that the user gave it.
    pub fn title(&self) -> PathBuf {
        self.log.with_extension("title")
    }

    /// Removes all but the log. Returns the first that cannot be removed.
    pub(crate) fn remove(&self) -> Result<(), (PathBuf, io::Error)> {
        for path in [self.outputs(), self.undo(), self.title()] {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err((path, error)),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifacts_have_only_outputs_that_the_host_names() {
        let artifacts = Artifacts::beside(Path::new("/s/20260301-120000-ab.jsonl"));
        assert_eq!(artifacts.outputs(), Path::new("/s/20260301-120000-ab.outputs"));
        assert_eq!(artifacts.output("output-12.txt"), Some(artifacts.outputs().join("output-12.txt")));
        for name in ["output-.txt", "output-1", "output-../1.txt", "../output-1.txt", "output-1.txt/x", "x", ""] {
            assert_eq!(artifacts.output(name), None, "{name}");
        }
    }
}

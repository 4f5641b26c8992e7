//! What a plugin brings besides its component: the files of its folders `skills`, `commands`, `agents` and `hooks`.
//!
//! A plugin that has nothing else needs no compiler: its component is empty.
//!
//! Promises: a link is an error and not followed, and so is a file that no bundle may bring; what is hidden is left
//! out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use host_manifest::{FileKind, Files, SourceManifest};
use host_plugin::admission::EMPTY_COMPONENT;
use sha2::{Digest, Sha256};

use super::{BuildError, BuiltComponent, Toolchain, hex};

/// The most entries that are looked at. Protects the build from a folder that is not a plugin's.
const MAX_ENTRIES: usize = 4_000;

/// The largest file that is read, in bytes: more than a manifest may bring, which then says so.
const MAX_READ: u64 = 9 << 20;

/// Reads what a plugin brings, from the folder of its `plugin.toml`.
///
/// # Errors
///
/// When a file cannot be read, or may not be brought.
pub(crate) fn brought(folder: &Path) -> Result<Files, BuildError> {
    let mut files = BTreeMap::new();
    let mut waiting: Vec<String> = FileKind::ALL.map(|kind| kind.folder().to_owned()).to_vec();
    let mut count = 0;
    while let Some(inner) = waiting.pop() {
        let path = folder.join(&inner);
        let unreadable = |error| BuildError::Read { path: path.clone(), error };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !inner.contains('/') => continue,
            Err(error) => return Err(unreadable(error)),
        };
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let (name, kind) = (entry.file_name(), entry.file_type().map_err(unreadable)?);
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            count += 1;
            if count > MAX_ENTRIES {
                return Err(BuildError::TooMany { folder: folder.to_owned(), limit: MAX_ENTRIES, what: "files" });
            }
            // A name that is not text fails the check of its path.
            let inner = format!("{inner}/{}", name.to_string_lossy());
            if kind.is_dir() {
                waiting.push(inner);
            } else if kind.is_file() {
                let path = entry.path();
                let content = host_files::read_file(&path, MAX_READ);
                let content = content.map_err(|error| BuildError::Read { path, error: error.into() })?;
                files.insert(inner, content);
            } else {
                let error = io::Error::other("a plugin brings regular files, and this is a link or something else");
                return Err(BuildError::Read { path: entry.path(), error });
            }
        }
    }
    Files::new(files).map_err(|error| BuildError::Files { folder: folder.to_owned(), error })
}

/// Builds a plugin that has no code; `None` if it brings nothing.
pub(super) fn build(folder: &Path, manifest: &SourceManifest) -> Result<Option<BuiltComponent>, BuildError> {
    let files = brought(folder)?;
    if files.is_empty() {
        return Ok(None);
    }
    let mut digest = Sha256::new();
    for (path, content) in files.iter() {
        digest.update(format!("{}  {path}\n", hex(&Sha256::digest(content))));
    }
    Ok(Some(BuiltComponent {
        manifest: manifest.clone(),
        folder: folder.to_owned(),
        component: EMPTY_COMPONENT.to_vec(),
        sources: hex(&digest.finalize()),
        elsewhere: Vec::new(),
        toolchain: Toolchain {
            compiler: "none".to_owned(),
            target: "none".to_owned(),
            componentizer: "none".to_owned(),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::write;

    // promise bundle.links: A plugin brings no link, and nothing that is hidden.
    #[test]
    fn files_that_are_links_are_not_brought() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        assert!(brought(folder.path()).expect("there is nothing").is_empty());
        for path in ["skills/x/SKILL.md", "skills/x/.DS_Store", "skills/.git/config", "commands/c.md", "src/main.rs"] {
            write(&at(path), path.as_bytes()).expect("written");
        }
        let files = brought(folder.path()).expect("all are fine");
        let paths: Vec<&str> = files.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["commands/c.md", "skills/x/SKILL.md"]);
        std::os::unix::fs::symlink("/etc", at("skills/x/etc")).expect("linked");
        let error = brought(folder.path()).expect_err("a folder of the machine").to_string();
        assert!(error.contains("skills/x/etc"), "{error}");
        fs::remove_file(at("skills/x/etc")).expect("removed");
        write(&at("skills/x/two words"), b"").expect("written");
        let error = brought(folder.path()).expect_err("the name is not a plain one").to_string();
        assert!(error.contains("skills/x/two words"), "{error}");
        fs::remove_dir_all(at("skills")).expect("removed");
        std::os::unix::fs::symlink("/etc", at("skills")).expect("linked");
        brought(folder.path()).expect_err("a folder of the machine");
    }
}

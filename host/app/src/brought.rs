//! What plugins bring besides tools: their files, in a folder where they can be read.
//!
//! A plugin's skills and commands are used from a folder of the host's own, since a skill has scripts and other files.
//! Promises: the folder has exactly the files of the manifest that was signed, whoever changed it since; nobody but the user
//! can write it.
//!
//! Deliberately not here: what a skill, a command or an agent is.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_manifest::{FileKind, Files};
use host_plugin::Digest;

use crate::environment::Folders;
use crate::error::Failure;

/// What a plugin brings.
#[derive(Clone, Copy, Debug)]
pub struct Brought<'p> {
    /// The plugin's name.
    pub plugin: &'p str,
    /// Its files.
    pub files: &'p Files,
}

/// A text that a plugin brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtText {
    /// The plugin's name.
    pub plugin: String,
    /// The path among its files.
    pub path: String,
    /// The text.
    pub text: String,
}

impl Brought<'_> {
    /// Returns the texts of one kind; what is no text is left out.
    pub fn texts(self, kind: FileKind) -> Vec<BroughtText> {
        let Self { plugin, files } = self;
        let of_kind = files.items().into_iter().filter(|(other, _)| *other == kind);
        let paths: Vec<(&str, &[u8])> =
            of_kind.flat_map(|(kind, name)| files.of(kind, &name).collect::<Vec<_>>()).collect();
        let text = |(path, content): (&str, &[u8])| {
            let text = std::str::from_utf8(content).ok()?.to_owned();
            Some(BroughtText { plugin: plugin.to_owned(), path: path.to_owned(), text })
        };
        paths.into_iter().filter_map(text).collect()
    }

    /// Returns the folder with the files that the plugin brings, with `skills` and `commands` in it; `None` if it brings
    /// nothing. The folder is made, or made right.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn unpacked(self, folders: &Folders) -> Result<Option<PathBuf>, Failure> {
        let files = self.files;
        if files.is_empty() {
            return Ok(None);
        }
        let folder = folders.brought.join(digest(files).to_string());
        let unwritable = |error: io::Error| {
            Failure::configuration(format!("the files of the plugin `{}` cannot be kept: {error}", self.plugin))
                .help(format!("make `{}` writable for you", folder.display()))
        };
        if !is_right(&folder, files) {
            unpack(&folder, files).map_err(unwritable)?;
        }
        Ok(Some(folder))
    }
}

/// A digest over the paths and contents.
fn digest(files: &Files) -> Digest {
    let lines = files.iter().map(|(path, content)| format!("{}  {path}\n", Digest::of(content)));
    Digest::of(lines.collect::<String>().as_bytes())
}

/// Whether the folder has exactly these files.
fn is_right(folder: &Path, files: &Files) -> bool {
    let wanted: BTreeMap<PathBuf, &[u8]> = files.iter().map(|(path, content)| (folder.join(path), content)).collect();
    let mut found = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(inner) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&inner) else { return false };
        for entry in entries {
            let Ok((path, Ok(kind))) = entry.map(|entry| (entry.path(), entry.file_type())) else { return false };
            if kind.is_dir() {
                waiting.push(path);
                continue;
            }
            let Some(content) = wanted.get(&path).filter(|_| kind.is_file()) else { return false };
            let Ok(there) = host_files::read_file(&path, content.len() as u64) else { return false };
            let is_executable = path.metadata().is_ok_and(|about| about.permissions().mode() & 0o100 != 0);
            if there != *content || is_executable != is_script(content) {
                return false;
            }
            found += 1;
        }
    }
    found == wanted.len()
}

/// Writes the files beside the folder and puts them in its place.
fn unpack(folder: &Path, files: &Files) -> io::Result<()> {
    let above = folder.parent().unwrap_or(Path::new("."));
    host_files::make_private_folder(above)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
    for (path, content) in files.iter() {
        let path = new.path().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, content)?;
        let mode = if is_script(content) { 0o700 } else { 0o600 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    // Of two processes one finds the folder of the other, which is the same.
    match fs::rename(new.path(), folder) {
        Ok(()) => {}
        Err(_) if is_right(folder, files) => return Ok(()),
        Err(_) => {
            fs::remove_dir_all(folder)?;
            fs::rename(new.path(), folder)?;
        }
    }
    drop(new.keep());
    Ok(())
}

/// Whether a file says which program runs it.
fn is_script(content: &[u8]) -> bool {
    content.starts_with(b"#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Files {
        Files::new(all.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect())
            .expect("all are fine")
    }

    // promise bundle.unpacked: The files of an installed plugin are what was signed at each start, even if a file was changed since.
    #[test]
    fn brought_files_that_were_changed_are_made_right() {
        let home = tempfile::tempdir().expect("a folder");
        let files = files(&[("skills/x/SKILL.md", "text"), ("skills/x/run.sh", "#!/bin/sh\n"), ("commands/c.md", "c")]);
        let folder = home.path().join("files").join("x");
        let skill = folder.join("skills/x/SKILL.md");
        assert!(!is_right(&folder, &files));
        let check = || {
            unpack(&folder, &files).expect("unpacked");
            assert!(is_right(&folder, &files));
            assert_eq!(fs::read_to_string(&skill).expect("there"), "text");
            assert_eq!(skill.metadata().expect("there").permissions().mode() & 0o777, 0o600);
            let script = folder.join("skills/x/run.sh").metadata().expect("there");
            assert_eq!(script.permissions().mode() & 0o777, 0o700);
            assert_eq!(fs::read_dir(home.path().join("files")).expect("a folder").count(), 1, "nothing is left beside");
        };
        check();
        let attacks: [&dyn Fn(); 5] = [
            &|| fs::write(&skill, "TEXT").expect("written"),
            &|| fs::write(folder.join("skills/x/more"), "").expect("written"),
            &|| fs::remove_file(&skill).expect("removed"),
            &|| fs::set_permissions(&skill, fs::Permissions::from_mode(0o755)).expect("set"),
            &|| {
                fs::remove_file(&skill).expect("removed");
                let elsewhere = home.path().join("elsewhere");
                fs::write(&elsewhere, "text").expect("written");
                std::os::unix::fs::symlink(elsewhere, &skill).expect("linked");
            },
        ];
        for (at, attack) in attacks.iter().enumerate() {
            attack();
            assert!(!is_right(&folder, &files), "attack {at}");
            check();
        }
    }
}

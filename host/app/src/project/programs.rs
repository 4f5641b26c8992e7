//! Copies of the programs of a trusted project; only the copies are run.
//!
//! Promises: the bytes that run are those that were trusted. The file in the project can change before it runs, by a
//! `git pull` or by a program that a tool started. So the bytes that were compared are written into a folder of the host,
//! named by their digest, and the programs run there. A wrong copy is replaced.
//!
//! Deliberately not here: what a program reads outside its folder.

use std::collections::BTreeMap;
use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use host_files::{Access, is_private};
use host_plugin::Digest;

use super::ProjectFile;
use crate::error::Failure;

/// Maximum number of attempts to make the folder, if other processes make the same one.
const TRIES: usize = 3;

/// The folder with exactly these programs, by their names; makes it if needed. `folder` is the host's own.
pub fn placed(programs: &BTreeMap<String, ProjectFile>, folder: &Path) -> Result<PathBuf, Failure> {
    let place = folder.join(name(programs));
    let unusable = |error: std::io::Error| {
        Failure::configuration(format!("the project's programs cannot be put into `{}`", place.display()))
            .cause(error.to_string())
            .help("make that folder one that only you can write, or set XDG_CACHE_HOME to another folder")
    };
    let mut failed = None;
    for _ in 0..TRIES {
        if is_right(&place, programs) {
            return Ok(place);
        }
        // Another process may have been faster: then its copy is looked at.
        failed = make(&place, programs, folder).err();
    }
    if is_right(&place, programs) {
        return Ok(place);
    }
    Err(unusable(failed.unwrap_or_else(|| std::io::Error::other("it is changed again and again"))))
}

/// The name of the folder with these programs.
fn name(programs: &BTreeMap<String, ProjectFile>) -> String {
    let all: String = programs.iter().map(|(name, file)| format!("{} {}/{name}\n", file.digest, name.len())).collect();
    Digest::of(all.as_bytes()).to_string()
}

/// Returns whether each program has its bytes, and no other user could have written it.
fn is_right(place: &Path, programs: &BTreeMap<String, ProjectFile>) -> bool {
    let is_mine = |path: &Path| {
        let about = std::fs::symlink_metadata(path).ok()?;
        is_private(&about, Access::Write).then_some(about)
    };
    let is_folder = is_mine(place).is_some_and(|about| about.is_dir());
    is_folder
        && programs.iter().all(|(name, file)| {
            let path = place.join(name);
            let size = file.bytes.len() as u64;
            is_mine(&path).is_some_and(|about| about.is_file() && about.len() == size && about.mode() & 0o100 != 0)
                && std::fs::read(&path).is_ok_and(|bytes| bytes == file.bytes)
        })
}

fn make(place: &Path, programs: &BTreeMap<String, ProjectFile>, folder: &Path) -> std::io::Result<()> {
    host_files::make_private_folder(folder)?;
    let made =
        tempfile::Builder::new().prefix(".new-").permissions(Permissions::from_mode(0o700)).tempdir_in(folder)?;
    for (name, file) in programs {
        let mut options = OpenOptions::new();
        let mut copy = options.write(true).create_new(true).mode(0o500).open(made.path().join(name))?;
        copy.write_all(&file.bytes)?;
    }
    match std::fs::symlink_metadata(place) {
        Ok(about) if about.is_dir() => std::fs::remove_dir_all(place)?,
        Ok(_) => std::fs::remove_file(place)?,
        Err(_) => {}
    }
    std::fs::rename(made.path(), place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Part;

    fn programs(files: &[(&str, &str)]) -> BTreeMap<String, ProjectFile> {
        let file = |(name, text): &(&str, &str)| {
            let bytes = text.as_bytes().to_vec();
            let digest = Digest::of(&bytes);
            let path = PathBuf::from("/p/.host/tools").join(name);
            ((*name).to_owned(), ProjectFile { path, part: Part::Program, bytes, digest })
        };
        files.iter().map(file).collect()
    }

    // promise command-tools.bytes
    #[test]
    fn project_programs_are_placed_as_trusted_whatever_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("tools");
        let wanted = programs(&[("list", "#!/bin/sh\n"), ("data", "x")]);
        let place = placed(&wanted, &folder).expect("it is made");
        let is_whole = || std::fs::read(place.join("list")).is_ok_and(|bytes| bytes == b"#!/bin/sh\n");
        assert!(is_whole() && place.join("data").exists());
        let replace = |change: &dyn Fn()| {
            change();
            assert_eq!(placed(&wanted, &folder).expect("it is replaced"), place);
            assert!(is_right(&place, &wanted) && is_whole());
        };
        let list = place.join("list");
        replace(&|| {
            std::fs::remove_file(&list).expect("it was there");
        });
        replace(&|| {
            std::fs::remove_file(&list).expect("it was there");
            std::fs::write(&list, "#!/bin/sh\nevil\n").expect("written");
        });
        replace(&|| {
            let other = folder.join("other");
            std::fs::write(&other, "#!/bin/sh\n").expect("written");
            std::fs::remove_file(&list).expect("it was there");
            std::os::unix::fs::symlink(other, &list).expect("linked");
        });
        replace(&|| std::fs::set_permissions(&list, Permissions::from_mode(0o722)).expect("it is mine"));
        replace(&|| std::fs::set_permissions(&place, Permissions::from_mode(0o777)).expect("it is mine"));
        replace(&|| {
            std::fs::remove_dir_all(&place).expect("it was there");
            std::fs::write(&place, "no folder").expect("written");
        });
        // Other files, such as an interpreter's cache, stay.
        std::fs::write(place.join("more"), "x").expect("written");
        assert_eq!(placed(&wanted, &folder).expect("it is there"), place);
        assert!(place.join("more").exists());
    }

    #[test]
    fn project_programs_that_differ_have_different_folders() {
        let of = |files: &[(&str, &str)]| name(&programs(files));
        let all = [
            of(&[]),
            of(&[("a", "1")]),
            of(&[("a", "2")]),
            of(&[("b", "1")]),
            of(&[("a", "1"), ("b", "1")]),
            of(&[("a", "1"), ("b", "2")]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{one}");
        }
    }
}

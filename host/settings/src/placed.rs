//! Folders of the host's own with files that a user agreed to: the programs of a trusted project, what a plugin brings.
//!
//! Promises: the bytes that are used are those that were agreed to. Where they came from can change at any time, by a
//! `git pull` or by a program that a tool started; so they are written into a folder that is named by their digests,
//! and a file there that is not as it was agreed to is replaced. Nobody but the user and the superuser can write there.
//!
//! Deliberately not here: further files in such a folder, as an interpreter's cache, which stay.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use host_files::{Access, is_private};
use host_plugin::Digest;

/// Maximum number of attempts to make the folder, if other processes make the same one.
const TRIES: usize = 3;

/// The right of the owner to run a file, in its mode.
const EXECUTABLE: u32 = 0o100;

/// A file that was agreed to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgreedFile<'f> {
    /// Its path in the folder: names only, with `/` between them.
    pub(crate) path: &'f str,
    pub(crate) bytes: &'f [u8],
    pub(crate) is_program: bool,
}

/// Returns the folder with these files, in `above`; makes it, or makes it right, if needed.
///
/// # Errors
///
/// If it cannot be made.
pub(crate) fn placed(files: &[AgreedFile<'_>], above: &Path) -> io::Result<PathBuf> {
    let folder = above.join(name(files));
    let mut failed = None;
    for _ in 0..TRIES {
        if is_right(&folder, files) {
            return Ok(folder);
        }
        // Another process may have been faster: then its folder is looked at.
        failed = make(&folder, files, above).err();
    }
    if is_right(&folder, files) {
        return Ok(folder);
    }
    Err(failed.unwrap_or_else(|| io::Error::other("it is changed again and again")))
}

/// The name of the folder with these files.
fn name(files: &[AgreedFile<'_>]) -> String {
    let line = |file: &AgreedFile<'_>| {
        let AgreedFile { path, bytes, is_program } = file;
        format!("{} {is_program} {}/{path}\n", Digest::of(bytes), path.len())
    };
    Digest::of(files.iter().map(line).collect::<String>().as_bytes()).to_string()
}

/// Returns whether each file has its bytes, and no other user could have written it or put another in its place.
fn is_right(folder: &Path, files: &[AgreedFile<'_>]) -> bool {
    let mine = |path: &Path| {
        let about = fs::symlink_metadata(path).ok()?;
        is_private(&about, Access::Write).then_some(about)
    };
    let folders: BTreeSet<PathBuf> = files.iter().flat_map(|file| folders_of(folder, file)).collect();
    folders.iter().all(|folder| mine(folder).is_some_and(|about| about.is_dir()))
        && files.iter().all(|file| {
            let path = folder.join(file.path);
            mine(&path).is_some_and(|about| {
                about.is_file()
                    && about.len() == file.bytes.len() as u64
                    && (about.mode() & EXECUTABLE != 0) == file.is_program
            }) && fs::read(&path).is_ok_and(|bytes| bytes == file.bytes)
        })
}

/// The folder, and those in it that lead to a file.
fn folders_of(folder: &Path, file: &AgreedFile<'_>) -> Vec<PathBuf> {
    let inner = Path::new(file.path).ancestors().skip(1);
    inner.map(|inner| if inner == Path::new("") { folder.to_owned() } else { folder.join(inner) }).collect()
}

/// Writes the files beside the folder and puts them in its place.
fn make(folder: &Path, files: &[AgreedFile<'_>], above: &Path) -> io::Result<()> {
    host_files::make_private_folder(above)?;
    let beside =
        || tempfile::Builder::new().prefix(".new-").permissions(Permissions::from_mode(0o700)).tempdir_in(above);
    let new = beside()?;
    for file in files {
        let path = new.path().join(file.path);
        if let Some(inner) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(inner)?;
        }
        let mode = if file.is_program { 0o500 } else { 0o400 };
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        copy.write_all(file.bytes)?;
    }
    // What is there may be in use by another session: it is out of the way at once, and removed afterwards.
    let old = beside()?;
    match fs::rename(folder, old.path().join("old")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::rename(new.path(), folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [AgreedFile<'_>; 3] = [
        AgreedFile { path: "list", bytes: b"#!/bin/sh\n", is_program: true },
        AgreedFile { path: "data", bytes: b"x", is_program: false },
        AgreedFile { path: "skills/x/SKILL.md", bytes: b"text", is_program: false },
    ];

    // promise command-tools.bytes
    // promise bundle.unpacked: The files of an installed plugin are what was signed at each start, even if a file was
    //   changed since.
    #[test]
    fn agreed_files_are_placed_whatever_was_there() {
        let above = tempfile::tempdir().expect("a folder");
        let above = above.path().join("files");
        let folder = placed(&FILES, &above).expect("it is made");
        let check = || {
            for AgreedFile { path, bytes, is_program } in FILES {
                let about = fs::symlink_metadata(folder.join(path)).expect("it is there");
                assert_eq!(about.mode() & 0o777, if is_program { 0o500 } else { 0o400 }, "{path}");
                assert_eq!(fs::read(folder.join(path)).expect("it is there"), bytes, "{path}");
            }
            let beside: Vec<_> =
                fs::read_dir(&above).expect("a folder").map(|entry| entry.expect("one").path()).collect();
            assert_eq!(beside, std::slice::from_ref(&folder), "nothing is left beside it");
        };
        check();
        let (list, skill) = (folder.join("list"), folder.join("skills/x/SKILL.md"));
        let replaced = |path: &Path, text: &str| {
            fs::remove_file(path).expect("it was there");
            fs::write(path, text).expect("written");
        };
        let elsewhere = above.with_file_name("elsewhere");
        fs::write(&elsewhere, "text").expect("written");
        let linked = |path: &Path| {
            fs::remove_file(path).expect("it was there");
            std::os::unix::fs::symlink(&elsewhere, path).expect("linked");
        };
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is mine");
        let attacks: [(&str, &dyn Fn()); 12] = [
            ("a program is removed", &|| fs::remove_file(&list).expect("it was there")),
            ("a program has other bytes", &|| replaced(&list, "#!/bin/sh\nevil\n")),
            ("a text has other bytes", &|| replaced(&skill, "TEXT")),
            ("a text is a link to the same text", &|| linked(&skill)),
            ("others can write a program", &|| set(&list, 0o722)),
            ("a text is a program", &|| set(&skill, 0o500)),
            ("a program is none", &|| set(&list, 0o400)),
            ("others can write in the folder", &|| set(&folder, 0o777)),
            ("others can write in a folder of it", &|| set(&folder.join("skills"), 0o777)),
            ("a folder of it is a link", &|| {
                fs::rename(folder.join("skills"), folder.join("moved")).expect("moved");
                std::os::unix::fs::symlink("moved", folder.join("skills")).expect("linked");
            }),
            ("the folder is a file", &|| {
                fs::remove_dir_all(&folder).expect("it was there");
                fs::write(&folder, "no folder").expect("written");
            }),
            ("the folder is gone", &|| fs::remove_dir_all(&folder).expect("it was there")),
        ];
        for (what, attack) in attacks {
            attack();
            assert!(!is_right(&folder, &FILES), "{what}");
            assert_eq!(placed(&FILES, &above).expect("it is replaced"), folder, "{what}");
            check();
        }
        // Other files, such as an interpreter's cache, stay.
        fs::write(folder.join("more"), "x").expect("written");
        assert_eq!(placed(&FILES, &above).expect("it is there"), folder);
        assert!(folder.join("more").exists());
    }

    #[test]
    fn agreed_files_that_differ_have_different_folders() {
        let file = |path, bytes: &'static str, is_program| AgreedFile { path, bytes: bytes.as_bytes(), is_program };
        let all = [
            name(&[]),
            name(&[file("a", "1", true)]),
            name(&[file("a", "1", false)]),
            name(&[file("a", "2", true)]),
            name(&[file("b", "1", true)]),
            name(&[file("a", "1", true), file("b", "1", true)]),
            name(&[file("a", "1", true), file("b", "2", true)]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{one}");
        }
    }
}

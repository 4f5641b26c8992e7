//! Files that a user keeps for the host: whether other users could have read or written them, and changes by one
//! process at a time.
//!
//! The rule: a file is private if it belongs to this user, or to root, who can change any file, and its mode gives no
//! other user the access that [`Access`] names. For files that the user writes ([`check_own`]) a group that is this
//! user's alone gives no other user anything: many systems make one for each user, and let it write what the user
//! makes. The rule does not check whether the folders above it are private.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::{FileError, Mode, make_private_folder, open_file, read_text, read_text_limited, replace};

/// Access that other users must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Write it: for files that the host trusts.
    Write,
    /// Read or write it: for secrets.
    ReadOrWrite,
}

impl Access {
    fn bits(self) -> u32 {
        match self {
            Self::Write => 0o022,
            Self::ReadOrWrite => 0o077,
        }
    }
}

/// How another user could have read or written a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exposed {
    /// Its owner could.
    #[error("it belongs to another user")]
    Owner,
    /// Its mode lets others write it.
    #[error("other users can write to it (its mode is {0:o})")]
    Writable(u32),
    /// Its mode lets others read or write it.
    #[error("other users can read or write it (its mode is {0:o})")]
    Readable(u32),
}

/// Checks that no other user has this access to a file or folder.
///
/// # Errors
///
/// With the way in which another user has it.
pub fn check(about: &Metadata, access: Access) -> Result<(), Exposed> {
    rule(about.uid(), rustix::process::geteuid().as_raw(), about.mode(), access)
}

/// Checks that no other user can have written a file by which the user configures the host, or that the host obeys in
/// another way.
///
/// # Errors
///
/// With the way in which another user can.
pub fn check_own(about: &Metadata) -> Result<(), Exposed> {
    let user = rustix::process::geteuid().as_raw();
    let mut mode = about.mode();
    if mode & GROUP_WRITES != 0 && about.uid() == user && is_alone_in(about.gid(), user) {
        mode &= !GROUP_WRITES;
    }
    rule(about.uid(), user, mode, Access::Write).map_err(|how| match how {
        Exposed::Writable(_) => Exposed::Writable(about.mode() & 0o777),
        Exposed::Owner | Exposed::Readable(_) => how,
    })
}

/// The right of the group to write, in the mode of a file.
const GROUP_WRITES: u32 = 0o020;

/// The largest list of users or groups that is read. Protects memory.
const MAX_LIST: u64 = 1 << 20;

/// Whether a group has no member but this user, as the lists of the system say. A group that is in no list may have
/// any.
fn is_alone_in(group: u32, user: u32) -> bool {
    let list = |path: &str| read_text(Path::new(path), MAX_LIST).unwrap_or_default();
    has_no_other(&list("/etc/group"), &list("/etc/passwd"), group, user)
}

fn has_no_other(groups: &str, users: &str, group: u32, user: u32) -> bool {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let number = |fields: &[String], at: usize| fields.get(at).and_then(|text| text.parse::<u32>().ok());
    let users: Vec<Vec<String>> = users.lines().map(fields).collect();
    let names: Vec<&String> =
        users.iter().filter(|fields| number(fields, 2) == Some(user)).filter_map(|fields| fields.first()).collect();
    // A user's first group is not listed among the group's members.
    let others_begin_in_it =
        users.iter().any(|fields| number(fields, 3) == Some(group) && number(fields, 2) != Some(user));
    let mut listed = groups.lines().map(fields).filter(|fields| number(fields, 2) == Some(group)).peekable();
    let is_listed = listed.peek().is_some();
    let has_only_user = |fields: Vec<String>| {
        let members = fields.get(3).map(String::as_str).unwrap_or_default();
        members.split(',').filter(|name| !name.is_empty()).all(|name| names.iter().any(|known| *known == name))
    };
    // A group that nobody describes may have any members.
    is_listed && !others_begin_in_it && listed.all(has_only_user)
}

/// Reads a file for which [`check_own`] holds: a regular one, perhaps behind a link.
///
/// # Errors
///
/// [`FileError::Exposed`] if it does not hold; those of [`read_text`].
pub fn read_own(path: &Path, limit: u64) -> Result<String, FileError> {
    let file = open_file(path)?;
    check_own(&file.metadata()?)?;
    read_text_limited(file, limit)
}

/// Returns whether no other user has this access to a file or folder.
pub fn is_private(about: &Metadata, access: Access) -> bool {
    check(about, access).is_ok()
}

fn rule(owner: u32, user: u32, mode: u32, access: Access) -> Result<(), Exposed> {
    const ROOT: u32 = 0;
    if owner != user && owner != ROOT {
        return Err(Exposed::Owner);
    }
    match (mode & access.bits(), access) {
        (0, _) => Ok(()),
        (_, Access::Write) => Err(Exposed::Writable(mode & 0o777)),
        (_, Access::ReadOrWrite) => Err(Exposed::Readable(mode & 0o777)),
    }
}

/// A text file that the host keeps for its user.
#[derive(Clone, Debug)]
pub struct PrivateFile {
    path: PathBuf,
    access: Access,
    limit: u64,
}

impl PrivateFile {
    /// Creates the file at this path, which need not exist, with the access that other users must not have and the
    /// largest size.
    pub fn new(path: impl Into<PathBuf>, access: Access, limit: u64) -> Self {
        Self { path: path.into(), access, limit }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text; `None` if there is no file.
    ///
    /// # Errors
    ///
    /// When it is not a regular file, is exposed, too large, not UTF-8, or cannot be read.
    pub fn read(&self) -> Result<Option<String>, FileError> {
        // A pipe would have no writer for ever.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = match File::options().read(true).custom_flags(flags).open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let about = file.metadata()?;
        FileError::unless_regular(&about)?;
        // Of the open file: the name may lead to another one in between.
        check(&about, self.access)?;
        read_text_limited(file, self.limit).map(Some)
    }

    /// Waits until no other process changes the file. Makes its folder if there is none.
    ///
    /// # Errors
    ///
    /// When the folder or the lock cannot be made.
    pub fn lock(&self) -> io::Result<Locked<'_>> {
        make_private_folder(crate::write::folder_of(&self.path))?;
        // A file of its own, since the file itself is replaced.
        let lock = lock(&self.path.with_extension("lock"))?;
        Ok(Locked { file: self, _lock: lock })
    }
}

/// A private file that no other process changes while this value lives.
#[derive(Debug)]
pub struct Locked<'a> {
    file: &'a PrivateFile,
    _lock: File,
}

impl Locked<'_> {
    /// Puts another text in its place, whole or not at all.
    ///
    /// # Errors
    ///
    /// When it cannot be written. It is then as it was.
    pub fn replace(&self, text: &str) -> io::Result<()> {
        replace(&self.file.path, text.as_bytes(), Mode::Private)
    }
}

/// Waits for the lock with this file, which is made if it is missing. It ends when the file is closed, and with the
/// process however that ends.
///
/// # Errors
///
/// When the file cannot be made or locked.
pub fn lock(path: &Path) -> io::Result<File> {
    let lock = File::options().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    lock.lock()?;
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn private_files_are_not_owned_or_accessible_by_others() {
        for (owner, mode, write, read_or_write) in [
            (7, 0o600, Ok(()), Ok(())),
            (7, 0o100_400, Ok(()), Ok(())),
            (0, 0o600, Ok(()), Ok(())),
            (8, 0o600, Err(Exposed::Owner), Err(Exposed::Owner)),
            (7, 0o644, Ok(()), Err(Exposed::Readable(0o644))),
            (7, 0o620, Err(Exposed::Writable(0o620)), Err(Exposed::Readable(0o620))),
            (7, 0o602, Err(Exposed::Writable(0o602)), Err(Exposed::Readable(0o602))),
            (7, 0o610, Ok(()), Err(Exposed::Readable(0o610))),
        ] {
            assert_eq!(rule(owner, 7, mode, Access::Write), write, "{owner} {mode:o}");
            assert_eq!(rule(owner, 7, mode, Access::ReadOrWrite), read_or_write, "{owner} {mode:o}");
        }
    }

    #[test]
    fn private_group_is_one_that_the_system_lists_with_no_other_user() {
        let users = "root:x:0:0::/root:/bin/sh\nann:x:7:7::/home/ann:/bin/sh\nbob:x:8:100::/home/bob:/bin/sh\nbroken\n";
        for (groups, group, alone) in [
            ("ann:x:7:\n", 7, true),
            ("root:x:0:\nann:x:7:ann\n", 7, true),
            ("ann:x:7:bob\n", 7, false),
            ("ann:x:7:ann,bob\n", 7, false),
            ("ann:x:7:\nmore:x:7:bob\n", 7, false),
            ("users:x:100:\n", 100, false),
            ("", 7, false),
            ("ann:x:seven:\n", 7, false),
        ] {
            assert_eq!(has_no_other(groups, users, group, 7), alone, "{groups:?}");
        }
    }

    #[test]
    fn own_file_is_read_through_a_link_and_not_if_others_can_write_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "abc").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        for (mode, read) in [(0o600, true), (0o644, true), (0o646, false), (0o666, false), (0o642, false)] {
            set_permissions(&file, Permissions::from_mode(mode)).expect("set");
            for path in [&file, &link] {
                let text = read_own(path, 3);
                assert_eq!(text.as_deref().ok(), read.then_some("abc"), "{mode:o}");
                assert_eq!(matches!(text, Err(FileError::Exposed(Exposed::Writable(_)))), !read, "{mode:o}");
            }
        }
    }

    #[test]
    fn files_are_read_only_if_they_are_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = PrivateFile::new(folder.path().join("new/a.toml"), Access::ReadOrWrite, 3);
        assert!(matches!(file.read(), Ok(None)));
        file.lock().and_then(|locked| locked.replace("abc")).expect("written");
        assert_eq!(file.read().expect("read").as_deref(), Some("abc"));
        let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
        assert_eq!((mode(file.path()), mode(&folder.path().join("new"))), (0o600, 0o700));
        set_permissions(file.path(), Permissions::from_mode(0o640)).expect("set");
        assert!(matches!(file.read(), Err(FileError::Exposed(Exposed::Readable(0o640)))));
        file.lock().and_then(|locked| locked.replace("abcd")).expect("written");
        assert!(matches!(file.read(), Err(FileError::TooLarge { limit: 3 })));
        let pipe = PrivateFile::new(folder.path().join("pipe"), Access::Write, 3);
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe.path(), rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe");
        assert!(matches!(pipe.read(), Err(FileError::NotAFile { what: "a pipe" })));
    }

    #[test]
    fn files_are_changed_by_one_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = PrivateFile::new(folder.path().join("count"), Access::Write, 100);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let locked = file.lock().expect("locked");
                    let text = file.read().expect("read").unwrap_or_default();
                    locked.replace(&(text + "x")).expect("written");
                });
            }
        });
        assert_eq!(file.read().expect("read").expect("it is there"), "x".repeat(16));
    }
}

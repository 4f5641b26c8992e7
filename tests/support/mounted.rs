//! A file system in memory, mounted by FUSE, that ends with its owner.
//!
//! It takes names for the same that differ in the case of their letters, as those of macOS, Windows and some folders of
//! Linux do, and it can break as a disk does.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use tempfile::TempDir;

/// Nothing is cached: each look-up is asked of the file system.
const NOW: Duration = Duration::ZERO;

/// A mounted file system.
pub struct Mounted {
    /// Ended before the folder is removed.
    session: Option<BackgroundSession>,
    folder: TempDir,
    broken: Arc<AtomicU8>,
}

/// What answers with `EIO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Broken {
    /// Reading from files.
    Reads = 1,
    /// Writing to files.
    Writes,
    /// Writing what was taken before out to the disk, as with a disk that fails behind a cache.
    Syncs,
}

impl Mounted {
    /// Mounts one; `None`, said on standard error, where this machine does not let it.
    pub fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let broken = Arc::new(AtomicU8::new(0));
        let all = Mutex::new(BTreeMap::from([(INodeNo::ROOT.0, Node::folder(0o755))]));
        let files = Files { all, broken: Arc::clone(&broken) };
        match fuser::spawn_mount(files, folder.path(), &Config::default()) {
            Ok(session) => Some(Self { session: Some(session), folder, broken }),
            Err(error) => {
                // Not by a macro, whose output a test that passes keeps to itself.
                let words = format!("\nNOT TESTED: this machine mounts no file system by FUSE ({error})\n");
                std::io::stderr().write_all(words.as_bytes()).expect("written");
                None
            }
        }
    }

    /// From now on this answers with `EIO`.
    pub fn breaks(&self, what: Broken) {
        self.broken.store(what as u8, Ordering::SeqCst);
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.umount_and_join().ok();
        }
    }
}

/// All files by their numbers.
struct Files {
    all: Mutex<BTreeMap<u64, Node>>,
    broken: Arc<AtomicU8>,
}

struct Node {
    kind: FileType,
    mode: u16,
    content: Vec<u8>,
    /// The entries of a folder: a name in small letters, and as it was written with its number.
    entries: BTreeMap<String, (String, u64)>,
}

impl Node {
    fn folder(mode: u32) -> Self {
        let mode = (mode & 0o7777) as u16;
        Self { kind: FileType::Directory, mode, content: Vec::new(), entries: BTreeMap::new() }
    }

    fn file(mode: u32) -> Self {
        Self { kind: FileType::RegularFile, ..Self::folder(mode) }
    }

    fn about(&self, number: u64) -> FileAttr {
        FileAttr {
            ino: INodeNo(number),
            size: self.content.len() as u64,
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: self.kind,
            perm: self.mode,
            nlink: 1,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: 512,
            flags: 0,
        }
    }
}

fn small(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

impl Files {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Node>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_broken(&self, what: Broken) -> bool {
        self.broken.load(Ordering::SeqCst) == what as u8
    }

    fn add(&self, parent: INodeNo, name: &OsStr, node: Node) -> Result<FileAttr, Errno> {
        let mut all = self.all();
        let number = all.keys().last().copied().unwrap_or_default() + 1;
        let entries = &mut all.get_mut(&parent.0).ok_or(Errno::ENOENT)?.entries;
        if entries.contains_key(&small(name)) {
            return Err(Errno::EEXIST);
        }
        entries.insert(small(name), (name.to_string_lossy().into_owned(), number));
        let about = node.about(number);
        all.insert(number, node);
        Ok(about)
    }

    fn take(&self, parent: INodeNo, name: &OsStr) -> Result<(), Errno> {
        let mut all = self.all();
        let entries = &mut all.get_mut(&parent.0).ok_or(Errno::ENOENT)?.entries;
        entries.remove(&small(name)).map(drop).ok_or(Errno::ENOENT)
    }
}

fn entry(reply: ReplyEntry, about: Result<FileAttr, Errno>) {
    match about {
        Ok(about) => reply.entry(&NOW, &about, Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn done(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let all = self.all();
        let number = all.get(&parent.0).and_then(|folder| Some(folder.entries.get(&small(name))?.1));
        let about = number.and_then(|number| Some(all.get(&number)?.about(number)));
        entry(reply, about.ok_or(Errno::ENOENT));
    }

    fn getattr(&self, _: &Request, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.all().get(&file.0) {
            Some(node) => reply.attr(&NOW, &node.about(file.0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        file: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.all().get_mut(&file.0) {
            Some(node) => {
                if let Some(mode) = mode {
                    node.mode = (mode & 0o7777) as u16;
                }
                if let Some(size) = size {
                    node.content.resize(size as usize, 0);
                }
                reply.attr(&NOW, &node.about(file.0));
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        entry(reply, self.add(parent, name, Node::folder(mode)));
    }

    fn create(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, _: i32, reply: ReplyCreate) {
        match self.add(parent, name, Node::file(mode)) {
            Ok(about) => reply.created(&NOW, &about, Generation(0), FileHandle(0), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(reply, self.take(parent, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(reply, self.take(parent, name));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut all = self.all();
        let taken = all.get(&new_parent.0).is_some_and(|folder| folder.entries.contains_key(&small(new_name)));
        if taken && flags.contains(RenameFlags::RENAME_NOREPLACE) {
            return reply.error(Errno::EEXIST);
        }
        let moved = all.get_mut(&parent.0).and_then(|folder| folder.entries.remove(&small(name)));
        let Some((_, number)) = moved else { return reply.error(Errno::ENOENT) };
        if let Some(folder) = all.get_mut(&new_parent.0) {
            folder.entries.insert(small(new_name), (new_name.to_string_lossy().into_owned(), number));
        }
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if self.is_broken(Broken::Reads) {
            return reply.error(Errno::EIO);
        }
        match self.all().get(&file.0) {
            Some(node) => {
                let rest = node.content.get(offset as usize..).unwrap_or_default();
                reply.data(&rest[..rest.len().min(size as usize)]);
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn write(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if self.is_broken(Broken::Writes) {
            return reply.error(Errno::EIO);
        }
        match self.all().get_mut(&file.0) {
            Some(node) => {
                let end = offset as usize + data.len();
                node.content.resize(node.content.len().max(end), 0);
                node.content[offset as usize..end].copy_from_slice(data);
                reply.written(data.len() as u32);
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdir(&self, _: &Request, file: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let all = self.all();
        let Some(folder) = all.get(&file.0) else { return reply.error(Errno::ENOENT) };
        for (at, (name, number)) in folder.entries.values().enumerate().skip(offset as usize) {
            let kind = all.get(number).map_or(FileType::RegularFile, |node| node.kind);
            if reply.add(INodeNo(*number), at as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        done(reply, if self.is_broken(Broken::Syncs) { Err(Errno::EIO) } else { Ok(()) });
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}

//! The host side of `host:cap/fs-write`.
//!
//! Promises: a file is replaced completely or not at all. The new content is written to a file beside it, synchronised,
//! and renamed over it, in a folder that is held open, so that a folder swapped for a link changes nothing elsewhere. A
//! caller that states what it expects to replace (`expected`) overwrites nothing else: the check and the rename are
//! under a lock of this process, which leaves other programs the moment between the two. A rename gives the plugin
//! nothing that it could not read or change before. In a session, what a change replaces is kept before it happens.

mod beside;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use host_capability::{Denied, Grants, PluginName, WritePermit};
use host_files::letter_case;
use host_text::{Wording, with_causes};
use host_undo::{CallRecorder, JournalError, Old, ProgramRecorder, State};

use crate::bindings::denial::{denial, escape};
use crate::bindings::fs_write::{Error, Expected, Host, Span, Written};
use crate::digest::Digest;
use crate::limits::MAX_WHOLE;
use crate::lock::lock;
use crate::open_files;
use crate::preview_guard::{Change, PreviewGuard};
use crate::seen_files::{Current, SeenFiles};
use crate::shared::Shared;
use crate::store::StoreData;
use crate::workspace::{MakeFolders, OpenError, Target, Workspace, changed};

/// The most spans of one edit. Protects the host's time.
const MAX_SPANS: usize = 10_000;

/// The most files and folders beneath a folder that is renamed. Protects the host's time: each is checked.
const MAX_MOVED: usize = 100_000;

/// Prevents two writes of this process from interleaving between their check and their rename.
static WRITING: Mutex<()> = Mutex::new(());

impl Host for StoreData {
    async fn write(
        &mut self,
        path: String,
        content: Vec<u8>,
        expected: Expected,
    ) -> wasmtime::Result<Result<Written, Error>> {
        if let Some(refused) = self.unsaved_in(&path).await {
            return Ok(Err(refused));
        }
        self.writing(path, Change::Content, move |at| at.write(&content, &expected)).await
    }

    async fn edit(
        &mut self,
        path: String,
        digest: String,
        spans: Vec<Span>,
    ) -> wasmtime::Result<Result<Written, Error>> {
        if let Some(refused) = self.unsaved_in(&path).await {
            return Ok(Err(refused));
        }
        self.writing(path, Change::Content, move |at| at.edit(&digest, &spans)).await
    }

    async fn rename(&mut self, source: String, target: String) -> wasmtime::Result<Result<(), Error>> {
        let target = match self.writable(&target, Change::Name) {
            Ok(target) => target,
            Err(error) => return Ok(self.denials.noting(Err(error))),
        };
        let (grants, plugin) = (self.call.grants.clone(), self.plugin.clone());
        self.writing(source, Change::Name, move |source| {
            let from = source.parent(MakeFolders::No)?;
            let to = target.parent(MakeFolders::No)?;
            // A name in another case would be moved away from a deny that holds for it.
            if let Ok(permit) = grants.permit_read(&plugin, &source.absolute)
                // Only a question of file systems that ignore case; elsewhere the two are different names.
                && let Err(refused) = permit.recheck_folded(&source.absolute)
                && letter_case::is_ignored_on_the_way(permit.root(), &source.absolute)
            {
                return Err(source.denied(&refused));
            }
            let wording = source.shared.wording;
            let moved =
                Moved { grants: &grants, plugin: &plugin, from: &source.absolute, to: &target.absolute, wording };
            // Everything in a folder gets a new name, which may be outside of the grants or out of a deny.
            moved.check(&from.folder, &from.name)?;
            let about = source.io(from.folder.symlink_metadata(&from.name), &source.shown())?;
            // Before it is written down as a change.
            if to.folder.symlink_metadata(&to.name).is_ok() {
                return Err(Error::Exists(target.shown()));
            }
            let rename = || source.io(rename_new(&from.folder, &from.name, &to.folder, &to.name), &target.shown());
            if !about.is_dir() {
                // Before the rename: whatever interrupts it, the journal has it.
                source.keep(|changes| changes.rename(&from.real, &to.real))?;
                return rename();
            }
            // Everything in it is renamed, too.
            let program = source.keep(|changes| changes.before_program().map(Some))?;
            rename()?;
            source.keep(|_| program.map_or(Ok(Vec::new()), ProgramRecorder::after_program).map(drop))
        })
        .await
    }

    async fn remove(&mut self, path: String) -> wasmtime::Result<Result<(), Error>> {
        self.writing(path, Change::Name, |at| {
            let target = at.parent(MakeFolders::No)?;
            let _alone = lock(&WRITING);
            let about = at.io(target.folder.symlink_metadata(&target.name), &at.shown())?;
            if about.is_file() {
                at.is_as_seen(&target)?;
            }
            let Target { folder, name, real, .. } = target;
            if !about.is_dir() {
                at.keep(|changes| changes.change(&real, Old::There, State::Absent))?;
                return at.io(folder.remove_file(&name), &at.shown());
            }
            // It is removed only if it is empty, so that nothing has to be kept before.
            at.io(folder.remove_dir(&name), &at.shown())?;
            at.keep(|changes| changes.change(&real, Old::Folder(mode(&about.permissions())), State::Absent))
        })
        .await
    }

    async fn make_directory(&mut self, path: String) -> wasmtime::Result<Result<(), Error>> {
        self.writing(path, Change::Name, |at| {
            let Target { folder, name, real, .. } = at.parent(MakeFolders::Yes)?;
            match folder.create_dir(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match folder.symlink_metadata(&name) {
                    Ok(about) if about.is_dir() => Ok(()),
                    _ => Err(Error::Exists(at.shown())),
                },
                Err(error) => Err(at.error(&error, &at.shown())),
                Ok(()) => at.made(&real),
            }
        })
        .await
    }
}

/// A path that may be changed.
struct Writable {
    workspace: Arc<Workspace>,
    shown: PreviewGuard,
    absolute: PathBuf,
    permit: WritePermit,
    shared: Arc<Shared>,
    changes: Option<CallRecorder>,
    seen: Option<Arc<SeenFiles>>,
}

impl StoreData {
    async fn writing<T: Send + 'static>(
        &mut self,
        path: String,
        change: Change,
        work: impl FnOnce(Writable) -> Result<T, Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let at = match self.writable(&path, change) {
            Ok(at) => at,
            Err(error) => return Ok(self.denials.noting(Err(error))),
        };
        let absolute = at.absolute.clone();
        let done = tokio::task::spawn_blocking(move || work(at)).await?;
        if done.is_ok() {
            self.looked.forget(&absolute);
        }
        Ok(self.denials.noting(done))
    }

    /// Why a file is not written: the user changed it in an editor and did not save it. A path that may not be written
    /// is left to the write itself.
    async fn unsaved_in(&mut self, path: &str) -> Option<Error> {
        if !self.shared.unsaved.has_editor() {
            return None;
        }
        let at = self.writable(path, Change::Content).ok()?;
        self.shared.unsaved.text(self.call.workspace.root(), &at.absolute).await?;
        Some(Error::Io(open_files::refusal(&at.shown())))
    }

    fn writable(&self, path: &str, change: Change) -> Result<Writable, Error> {
        let absolute = self.call.workspace.absolute(path).map_err(|error| Error::Invalid(error.to_string()))?;
        let permit = self.call.grants.permit_write(&self.plugin, &absolute);
        let permit = permit.map_err(|refused| Error::Denied(denial(&refused, self.shared.wording)))?;
        self.shown.change(&absolute, change, &self.call.workspace).map_err(Error::Denied)?;
        let (workspace, shared) = (Arc::clone(&self.call.workspace), Arc::clone(&self.shared));
        let (changes, seen) = (self.changes.clone(), self.call.seen.clone());
        Ok(Writable { workspace, shown: self.shown.clone(), absolute, permit, shared, changes, seen })
    }
}

impl Writable {
    fn denied(&self, refused: &Denied) -> Error {
        Error::Denied(denial(refused, self.shared.wording))
    }

    fn shown(&self) -> String {
        self.workspace.shown(&self.absolute)
    }

    fn parent(&self, make: MakeFolders) -> Result<Target, Error> {
        let target = self.workspace.parent(&self.permit, make).map_err(|error| match error {
            OpenError::Denied(refused) => self.denied(&refused),
            OpenError::Escapes => Error::Denied(escape("fs-write", &self.absolute)),
            OpenError::Io(error) => self.error(&error, &self.shown()),
        })?;
        target.made.iter().try_for_each(|folder| self.made(folder))?;
        Ok(target)
    }

    /// Keeps what is about to be changed, for a call whose changes can be undone. What cannot be kept is not changed.
    fn keep<T: Default>(&self, work: impl FnOnce(&CallRecorder) -> Result<T, JournalError>) -> Result<T, Error> {
        self.changes.as_ref().map_or_else(|| Ok(T::default()), work).map_err(|error| {
            let why = with_causes(&error);
            Error::Io(format!("{}: it was not changed, since what it was before cannot be kept: {why}", self.shown()))
        })
    }

    /// Writes down that a folder was created.
    fn made(&self, folder: &Path) -> Result<(), Error> {
        self.keep(|changes| {
            // Who removed it at once has nothing to undo.
            let Ok(about) = std::fs::symlink_metadata(folder) else { return Ok(()) };
            let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & PERMISSIONS;
            changes.change(folder, Old::Absent, State::Folder { mode })
        })
    }

    fn write(&self, content: &[u8], expected: &Expected) -> Result<Written, Error> {
        if content.len() as u64 > MAX_WHOLE {
            return Err(Error::TooLarge(content.len() as u64));
        }
        // Before any folder is created for it.
        self.shown.content(&self.absolute, content, &self.workspace).map_err(Error::Denied)?;
        let target = self.parent(MakeFolders::Yes)?;
        let _alone = lock(&WRITING);
        let there = self.there(&target)?;
        let found = there.as_ref().map(|there| there.digest.as_str());
        match (expected, found) {
            (Expected::Anything, _) | (Expected::Absent, None) => {}
            (Expected::Digest(wanted), Some(found)) if wanted == found => {}
            (Expected::Absent | Expected::Digest(_), found) => return Err(Error::Changed(found.map(str::to_owned))),
        }
        self.replace(&target, content, there)
    }

    fn edit(&self, digest: &str, spans: &[Span]) -> Result<Written, Error> {
        if spans.len() > MAX_SPANS {
            return Err(Error::Invalid(format!("{} spans are over the limit of {MAX_SPANS}", spans.len())));
        }
        let target = self.parent(MakeFolders::No)?;
        let _alone = lock(&WRITING);
        let Some(there) = self.there(&target)? else { return Err(Error::NotFound(self.shown())) };
        if there.digest != digest {
            return Err(Error::Changed(Some(there.digest)));
        }
        let content = spliced(&there.content, spans)?;
        if content.len() as u64 > MAX_WHOLE {
            return Err(Error::TooLarge(content.len() as u64));
        }
        self.replace(&target, &content, Some(there))
    }

    /// Returns what exists at the name now. A symbolic link is not followed: replacing it would leave its target
    /// unchanged.
    fn there(&self, Target { folder, name, .. }: &Target) -> Result<Option<There>, Error> {
        let about = match folder.symlink_metadata(name) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.error(&error, &self.shown())),
        };
        if about.is_symlink() {
            return Err(Error::Invalid(format!("`{}` is a symbolic link; write to what it points to", self.shown())));
        }
        if !about.is_file() {
            return Err(Error::Invalid(format!("`{}` is not a regular file", self.shown())));
        }
        if about.len() > MAX_WHOLE {
            return Err(Error::TooLarge(about.len()));
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(crate::workspace::NONBLOCK | NO_FOLLOW);
        let read = folder.open_with(name, &options).and_then(|file| Ok(host_files::read_limited(file, MAX_WHOLE)?));
        let content = self.io(read, &self.shown())?;
        let digest = Digest::of(&content).as_str().to_owned();
        Ok(Some(There { content, digest, changed: changed(&about), permissions: about.permissions() }))
    }

    /// Checks that a file which is to be removed is the one that was shown, and as the model last saw it.
    fn is_as_seen(&self, target: &Target) -> Result<(), Error> {
        let there = match self.there(target) {
            Ok(there) => there,
            // Nobody saw its content: there is nothing to compare with, unless a preview showed one.
            Err(Error::TooLarge(_)) if self.shown.replaces(&self.absolute, None, &self.workspace) => return Ok(()),
            Err(error) => return Err(error),
        };
        let Some(there) = there else { return Err(Error::NotFound(self.shown())) };
        if self.shown.replaces(&self.absolute, Some(&there.content), &self.workspace)
            && !self.is_changed(target, &there)
        {
            return Ok(());
        }
        Err(Error::Changed(Some(there.digest)))
    }

    /// Whether somebody else changed the file since the model last saw it.
    fn is_changed(&self, target: &Target, there: &There) -> bool {
        let changes = self.changes.as_ref().map(CallRecorder::recorder);
        let now = Current { content: &there.content, changed: there.changed };
        self.seen.as_ref().is_some_and(|seen| seen.changed(&target.real, now, changes).is_some())
    }

    fn replace(&self, target: &Target, content: &[u8], there: Option<There>) -> Result<Written, Error> {
        let Target { folder, name, real, .. } = target;
        // First of all: the user agreed to one content for one file.
        self.shown.content(&self.absolute, content, &self.workspace).map_err(Error::Denied)?;
        // What nobody saw in the preview is never overwritten, whatever the plugin expects.
        let content_now = there.as_ref().map(|there| there.content.as_slice());
        if !self.shown.replaces(&self.absolute, content_now, &self.workspace) {
            return Err(Error::Changed(there.map(|there| there.digest)));
        }
        if let Some(there) = &there
            // The model would write over lines of the user's that it has never seen.
            && self.is_changed(target, there)
        {
            return Err(Error::Changed(Some(there.digest.clone())));
        }
        let created = there.is_none();
        if let Some(there) = &there {
            // The editor will go on showing the old text for a moment, which is then no unsaved change.
            self.shared.unsaved.replaces(&self.absolute, &there.content);
        }
        let permissions = there.as_ref().map(|there| there.permissions.clone());
        // In the same folder, since only there a rename is one step.
        let beside = self.io(beside::write(folder, name, content, permissions), &self.shown())?;
        // The file is unchanged when this is dropped before the end; what is beside it must be removed too.
        let beside = Beside { folder, name: &beside };
        // Written down once the new content is complete, and before the rename: an error here leaves the file as it
        // was.
        self.keep(|changes| {
            let old = match &there {
                Some(there) => Old::File(&there.content, mode(&there.permissions)),
                None => Old::Absent,
            };
            let new = folder.symlink_metadata(beside.name).map(|about| mode(&about.permissions()));
            changes.change(real, old, State::file(content, new.unwrap_or_default()))
        })?;
        let renamed = match created {
            // A plain rename would replace a file that another program has made since the look.
            true => rename_new(folder, beside.name, folder, name),
            false => folder.rename(beside.name, folder, name),
        };
        if let Err(error) = renamed {
            return Err(if error.kind() == io::ErrorKind::AlreadyExists {
                // Another program was faster.
                Error::Changed(self.there(target)?.map(|there| there.digest))
            } else {
                self.error(&error, &self.shown())
            });
        }
        // Only now does the name belong to the file.
        beside.keep();
        if let Some(seen) = &self.seen {
            seen.saw(real.clone(), content);
        }
        // The new name survives a power failure only if its folder is synchronised too.
        if let Err(error) = folder.open(".").and_then(|folder| folder.sync_all()) {
            tracing::debug!(%error, "the folder cannot be synchronised");
        }
        Ok(Written { digest: Digest::of(content).as_str().to_owned(), size: content.len() as u64, created })
    }

    fn io<T>(&self, result: io::Result<T>, path: &str) -> Result<T, Error> {
        result.map_err(|error| self.error(&error, path))
    }

    fn error(&self, error: &io::Error, path: &str) -> Error {
        match error.kind() {
            io::ErrorKind::NotFound => Error::NotFound(path.to_owned()),
            io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
                Error::Exists(path.to_owned())
            }
            _ => Error::Io(format!("{path}: {error}")),
        }
    }
}

/// Checks that a move gives a plugin nothing: what it may not read or change under the old name, it may not under the
/// new one.
struct Moved<'g> {
    grants: &'g Grants,
    plugin: &'g PluginName,
    /// The old name, absolute.
    from: &'g Path,
    /// The new name, absolute.
    to: &'g Path,
    wording: Wording,
}

impl Moved<'_> {
    /// Checks the file or folder with this name in the folder, and everything beneath it.
    fn check(&self, folder: &Dir, name: &Path) -> Result<(), Error> {
        // The folder itself as well: it may be what a grant or a deny is about.
        self.name(Path::new(""))?;
        let mut folders = match folder.symlink_metadata(name) {
            Ok(about) if about.is_dir() => vec![PathBuf::new()],
            // The move itself reports what is missing.
            _ => return Ok(()),
        };
        // No recursion, and a bound: the grants are checked for each name, and a tree can be as large as a disk.
        let mut found = 0;
        while let Some(beneath) = folders.pop() {
            let failed = |error: io::Error| Error::Io(format!("{}: {error}", self.from.join(&beneath).display()));
            for entry in folder.read_dir(name.join(&beneath)).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = beneath.join(entry.file_name());
                // Old and new name: a move must neither take something out of a deny nor put it into one.
                self.name(&path)?;
                found += 1;
                if found > MAX_MOVED {
                    return Err(Error::Invalid(format!(
                        "the folder holds over {MAX_MOVED} files, too many to move at once: move those in it one by one"
                    )));
                }
                if entry.file_type().map_err(failed)?.is_dir() {
                    folders.push(path);
                }
            }
        }
        Ok(())
    }

    /// Checks what is at this path beneath both names.
    fn name(&self, beneath: &Path) -> Result<(), Error> {
        // Joining nothing would add a slash, which asks for a folder.
        let at = |name: &Path| if beneath.as_os_str().is_empty() { name.to_owned() } else { name.join(beneath) };
        let (from, to) = (at(self.from), at(self.to));
        let reads = |path: &Path| self.grants.permit_read(self.plugin, path).map(drop);
        let writes = |path: &Path| self.grants.permit_write(self.plugin, path).map(drop);
        let gained = |before: Result<(), Denied>, after: Result<(), Denied>| before.err().filter(|_| after.is_ok());
        let refused = gained(reads(&from), reads(&to)).or_else(|| gained(writes(&from), writes(&to)));
        refused.map_or(Ok(()), |refused| Err(Error::Denied(denial(&refused, self.wording))))
    }
}

/// A file that was written beside another, to be renamed over it.
struct Beside<'t> {
    folder: &'t Dir,
    name: &'t Path,
}

impl Beside<'_> {
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.folder.remove_file(self.name) {
            tracing::warn!(file = %self.name.display(), %error, "a file that was to be renamed is left over");
        }
    }
}

/// Returns the permission bits.
fn mode(permissions: &Permissions) -> u32 {
    permissions.mode() & PERMISSIONS
}

/// The bits of a mode that say who may do what.
const PERMISSIONS: u32 = 0o7777;

struct There {
    content: Vec<u8>,
    digest: String,
    /// When anything about it was last changed.
    changed: SystemTime,
    permissions: Permissions,
}

/// Renames, and fails if the new name is taken.
fn rename_new(from: &Dir, old: &Path, to: &Dir, new: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
            // The file system does not support the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
    }
    if to.symlink_metadata(new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    from.rename(old, to, new)
}

/// Returns the content with each span replaced.
fn spliced(content: &[u8], spans: &[Span]) -> Result<Vec<u8>, Error> {
    let mut new = Vec::with_capacity(content.len());
    let mut at = 0usize;
    for span in spans {
        let wrong = || {
            Error::Invalid(format!(
                "the span {}..{} overlaps the one before, or ends after the file's {} bytes",
                span.start,
                span.end,
                content.len()
            ))
        };
        let start = usize::try_from(span.start).map_err(|_| wrong())?;
        let end = usize::try_from(span.end).map_err(|_| wrong())?;
        let kept = content.get(at..start).ok_or_else(wrong)?;
        content.get(start..end).ok_or_else(wrong)?;
        new.extend_from_slice(kept);
        new.extend_from_slice(&span.replacement);
        at = end;
    }
    new.extend_from_slice(content.get(at..).unwrap_or_default());
    Ok(new)
}

const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_replace_in_order_and_never_overlap() {
        let span = |start, end, text: &str| Span { start, end, replacement: text.as_bytes().to_vec() };
        let check =
            |spans: &[Span]| spliced(b"0123456789", spans).ok().map(|new| String::from_utf8(new).expect("ASCII"));
        assert_eq!(check(&[]).as_deref(), Some("0123456789"));
        assert_eq!(check(&[span(2, 4, "ab"), span(4, 4, "+"), span(9, 10, "")]).as_deref(), Some("01ab+45678"));
        assert_eq!(check(&[span(2, 4, ""), span(3, 5, "")]), None);
        assert_eq!(check(&[span(5, 4, "")]), None);
        assert_eq!(check(&[span(9, 11, "")]), None);
        assert_eq!(check(&[span(u64::MAX, u64::MAX, "")]), None);
    }
}

//! The capability `fs-write` of a fake host.

use std::path::{Path, PathBuf};

use host_capability::{Grants, WritePermit};

use super::grants::{denial, plugin};
use super::tree::{MAX_WHOLE, Missing, Node, absolute, digest, shown};
use super::{World, ask};
use crate::fs_write::{Error, Expected, Span, Written};

/// Spans of one edit, as the host has it.
const MAX_SPANS: usize = 10_000;

/// Writes a whole file; missing directories above it are made.
///
/// # Errors
///
/// When something else is there than was expected, the content is too large, or it may not be changed.
pub fn write(path: &str, content: &[u8], expected: &Expected) -> Result<Written, Error> {
    changing("fs_write::write", path, |world, at| {
        if content.len() as u64 > MAX_WHOLE {
            return Err(Error::TooLarge(content.len() as u64));
        }
        let found = at.there(world)?.map(digest);
        match (expected, &found) {
            (Expected::Anything, _) | (Expected::Absent, None) => {}
            (Expected::Digest(wanted), Some(found)) if wanted == found => {}
            (Expected::Absent | Expected::Digest(_), _) => return Err(Error::Changed(found)),
        }
        world.tree.write(&at.path, content);
        Ok(Written { digest: digest(content), size: content.len() as u64, created: found.is_none() })
    })
}

/// Replaces spans of a file whose content must have this digest. Spans are in order and do not overlap.
///
/// # Errors
///
/// When there is no such file, it has another digest, a span is invalid, or it may not be changed.
pub fn edit(path: &str, expected: &str, spans: &[Span]) -> Result<Written, Error> {
    changing("fs_write::edit", path, |world, at| {
        if spans.len() > MAX_SPANS {
            return Err(Error::Invalid(format!("{} spans are over the limit of {MAX_SPANS}", spans.len())));
        }
        let Some(there) = at.there(world)? else { return Err(Error::NotFound(shown(&at.path))) };
        let found = digest(there);
        if found != expected {
            return Err(Error::Changed(Some(found)));
        }
        let content = spliced(there, spans)?;
        if content.len() as u64 > MAX_WHOLE {
            return Err(Error::TooLarge(content.len() as u64));
        }
        world.tree.write(&at.path, &content);
        Ok(Written { digest: digest(&content), size: content.len() as u64, created: false })
    })
}

/// Gives a file or directory another name beneath the granted roots; never over something that exists.
///
/// # Errors
///
/// When there is nothing to rename, the new name is taken or its directory missing, or either may not be changed.
pub fn rename(source: &str, target: &str) -> Result<(), Error> {
    ask("fs_write::rename", |world, grants| {
        let target = Writable::of(grants, target)?;
        let source = Writable::of(grants, source)?;
        source.parent_is_there(world)?;
        target.parent_is_there(world)?;
        if world.tree.find(&source.path).is_err() {
            // The host names the new path here too: it is the one error of the one system call.
            return Err(Error::NotFound(shown(&target.path)));
        }
        if world.tree.find(&target.path).is_ok() {
            return Err(Error::Exists(shown(&target.path)));
        }
        if target.path.starts_with(&source.path) {
            return Err(Error::Io(format!("{}: a folder cannot be moved into itself", shown(&target.path))));
        }
        world.tree.rename(&source.path, &target.path);
        Ok(())
    })
}

/// Removes a file or an empty directory.
///
/// # Errors
///
/// When there is nothing, a directory is not empty, or it may not be changed.
pub fn remove(path: &str) -> Result<(), Error> {
    changing("fs_write::remove", path, |world, at| {
        at.parent_is_there(world)?;
        match world.tree.find(&at.path) {
            Err(_) => return Err(Error::NotFound(shown(&at.path))),
            Ok(Node::Folder) if world.tree.children(&at.path).next().is_some() => {
                return Err(Error::Io(format!("{}: Directory not empty", shown(&at.path))));
            }
            Ok(Node::Folder | Node::File { .. }) => {}
        }
        world.tree.remove(&at.path);
        Ok(())
    })
}

/// Makes a directory and those above it that are missing.
///
/// # Errors
///
/// When a file is in the way, or it may not be changed.
pub fn make_directory(path: &str) -> Result<(), Error> {
    changing("fs_write::make_directory", path, |world, at| match world.tree.find(&at.path) {
        Ok(Node::Folder) => Ok(()),
        Ok(Node::File { .. }) | Err(Missing::Blocked) => Err(Error::Exists(shown(&at.path))),
        Err(Missing::Nothing) => {
            world.tree.make_folder(&at.path);
            Ok(())
        }
    })
}

/// A path that may be changed.
struct Writable {
    path: PathBuf,
}

impl Writable {
    fn of(grants: &Grants, path: &str) -> Result<Self, Error> {
        let path = absolute(path).map_err(Error::Invalid)?;
        let permit: WritePermit =
            grants.permit_write(&plugin(), &path).map_err(|refused| Error::Denied(denial(&refused)))?;
        // The folder that was granted is where changes happen, and no such change itself.
        match permit.relative().as_os_str().is_empty() && path == Path::new(super::WORKSPACE) {
            true => Err(Error::Io(format!("{}: it is the granted root itself", shown(&path)))),
            false => Ok(Self { path }),
        }
    }

    /// The content of the file that is there; none when there is nothing.
    fn there<'w>(&self, world: &'w World) -> Result<Option<&'w [u8]>, Error> {
        match world.tree.find(&self.path) {
            Ok(Node::File { content, .. }) => Ok(Some(content)),
            Ok(Node::Folder) => Err(Error::Invalid(format!("`{}` is not a regular file", shown(&self.path)))),
            Err(Missing::Blocked) => Err(Error::Exists(shown(&self.path))),
            Err(Missing::Nothing) => Ok(None),
        }
    }

    fn parent_is_there(&self, world: &World) -> Result<(), Error> {
        match world.tree.find(self.path.parent().unwrap_or(Path::new("/"))) {
            Ok(Node::Folder) => Ok(()),
            Ok(Node::File { .. }) | Err(Missing::Blocked) => Err(Error::Exists(shown(&self.path))),
            Err(Missing::Nothing) => Err(Error::NotFound(shown(&self.path))),
        }
    }
}

fn changing<T>(
    function: &str,
    path: &str,
    work: impl FnOnce(&mut World, Writable) -> Result<T, Error>,
) -> Result<T, Error> {
    ask(function, |world, grants| work(world, Writable::of(grants, path)?))
}

/// The content with each span replaced.
fn spliced(content: &[u8], spans: &[Span]) -> Result<Vec<u8>, Error> {
    let mut new = Vec::with_capacity(content.len());
    let mut at = 0;
    for span in spans {
        let wrong = || {
            let (start, end, size) = (span.start, span.end, content.len());
            Error::Invalid(format!(
                "the span {start}..{end} overlaps the one before, or ends after the file's {size} bytes"
            ))
        };
        let start = usize::try_from(span.start).map_err(|_| wrong())?;
        let end = usize::try_from(span.end).map_err(|_| wrong())?;
        new.extend_from_slice(content.get(at..start).ok_or_else(wrong)?);
        content.get(start..end).ok_or_else(wrong)?;
        new.extend_from_slice(&span.replacement);
        at = end;
    }
    new.extend_from_slice(content.get(at..).unwrap_or_default());
    Ok(new)
}

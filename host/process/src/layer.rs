//! Folders that a program changes without changing them.

use std::path::PathBuf;

/// A folder over which a program's changes lie: it sees both, and the folder stays as it is.
///
/// All folders exist before the program starts. `changes` and `work` are on the same file system, which is not an
/// overlay itself, lie in no place that the program may touch, and belong to one program at a time. They are empty, or
/// from an earlier program with the same `place`. What is in them does not survive a crash of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The folder.
    pub place: PathBuf,
    /// Folders whose entries are seen in the place, too, unless there is an entry of that name above: topmost first.
    pub below: Vec<PathBuf>,
    /// What the program changed; see [`changed`](crate::changed).
    pub changes: PathBuf,
    /// Where the kernel prepares changes.
    pub work: PathBuf,
}

/// Something that programs changed in a [`Layer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path beneath the place.
    pub path: PathBuf,
    /// What is there now.
    pub now: Now,
}

/// What is in the place of something that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// A file, new or changed.
    File,
    /// A folder that is new, or in which something was changed. What else the place has there is still there.
    Folder,
    /// A folder in place of what the place has there, of which nothing is left.
    Replaced,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Other,
    /// Nothing: it was removed.
    Nothing,
    /// A folder so deep that what is in it is not listed.
    TooDeep,
}

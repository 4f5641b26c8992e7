//! What a program may touch.

use std::path::PathBuf;

use crate::Layer;

/// What a program may touch. The default is nothing; a path covers everything beneath it, and one that does not exist
/// is ignored. `/tmp` is the folder for temporary files, with the paths beneath `/tmp` that are named here in their
/// places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Files and folders that it may read and run.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it may change, too.
    pub writable: Vec<PathBuf>,
    /// Files and folders within those that stay unchanged and cannot be moved away. What a program makes where there is
    /// none of them is moved aside when it has ended.
    pub protected: Vec<PathBuf>,
    /// Files and folders that it cannot read wherever they lie: it finds something that cannot be opened in place of a
    /// file, and an empty folder in place of a folder. They cannot be moved away. Only what exists when it starts is
    /// hidden, and only until someone else replaces it.
    pub hidden: Vec<PathBuf>,
    /// Folders that it may read and seems to change, while they stay as they are. They need not be within the others.
    pub layers: Vec<Layer>,
    /// The folder for temporary files. It may be changed and is shown as `/tmp`, unless `/tmp` itself is named above.
    pub temporary: Option<PathBuf>,
}

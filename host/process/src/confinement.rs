//! What a program may touch.

use std::path::PathBuf;

/// What a program may touch. The default is nothing; a path covers everything beneath it, and one that does not exist is
/// ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Files and folders that it may read and run.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it may change, too.
    pub writable: Vec<PathBuf>,
    /// Files and folders within those that stay unchanged and cannot be moved away. What a program makes where there is
    /// none of them is moved aside when it has ended.
    pub protected: Vec<PathBuf>,
    /// The folder for temporary files; it may be changed, and is shown as `/tmp` if nothing else there is allowed.
    pub temporary: Option<PathBuf>,
}

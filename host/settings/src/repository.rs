//! The repository that a folder lies in.

use std::path::Path;

/// Names that mark the top folder of a repository.
pub const REPOSITORY_MARKS: &[&str] = &[".git", ".hg", ".jj", ".svn", ".host"];

/// The top folder of the repository that contains a folder.
pub fn repository_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| REPOSITORY_MARKS.iter().any(|mark| above.join(mark).symlink_metadata().is_ok()))
}

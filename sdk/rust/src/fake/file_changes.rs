//! The changes to files that previews name, as a fake host hears of them.

use super::ask;
use crate::FileDifference;

/// A change that a preview named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedChange {
    /// The file gets this content.
    Write(FileDifference),
    /// The file is removed.
    Remove(String),
}

/// Says, within `preview`, that the call writes this file with this content.
pub fn write(difference: &FileDifference) {
    ask("file_changes::write", |world, _| world.named.push(NamedChange::Write(difference.clone())));
}

/// Says, within `preview`, that the call removes this file.
pub fn remove(path: &str) {
    ask("file_changes::remove", |world, _| world.named.push(NamedChange::Remove(path.to_owned())));
}

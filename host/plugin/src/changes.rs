//! What keeps the changes of a session, with the rules by which folders are left out of it.

use std::path::PathBuf;

use host_undo::Recorder;

use crate::readable;

/// Creates what keeps the changes of a session in a folder, which is made when something changes. Programs are looked
/// at in the folders that it is given later; what ignore rules leave out is not.
pub fn recorder(folder: PathBuf) -> Recorder {
    Recorder::new(folder, Box::new(|root| readable::folders_left_out(root)))
}
